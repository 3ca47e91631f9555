"""Content → what fits one screen of a terminal: the verdict, the headline numbers, what to mind,
and where the rest is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from ...analyse.words import numerals
from ...stats.results import count_of
from ..first_screen.summary import place_on_screen
from ..page_model.page import Content, Finding
from .fit_terminal import WIDTH, print_first_that_fits

CAUTIONS = 3  # that are told; the others are in the rest
SIGNATURES = 2  # that fit; of more the rest has them


class Room(NamedTuple):
    """The limits of a screen: the numbers of findings, cautions and sentences below the first.
    limits: what not to conclude.
    """

    findings: int
    cautions: int
    sentences: int
    signatures: bool
    limits: bool


def _rooms(content: Content) -> Iterator[Room]:
    """Everything, then less and less."""
    every, sentences = len(content.findings), len(content.screen.lede)
    yield Room(every, CAUTIONS, sentences, True, True)
    yield Room(every, CAUTIONS, sentences, False, True)
    for number in dict.fromkeys(min(every, most) for most in (every, 6, 4, 3, 2)):
        for cautions in (CAUTIONS, 1, 0):
            yield Room(number, cautions, 1 if number > 3 else sentences, False, True)
            yield Room(number, cautions, 1, False, True)
    yield Room(min(every, 2), 0, 1, False, False)


def print_screen(content: Content, console: Console, run: str) -> None:
    """Prints the first screen within 100 columns and the height of the terminal, as far as that
    goes; all of it where there is none. run: the folder, as a command names it. All text is
    literal: a model's words are never markup.
    """
    rooms = _rooms(content)
    print_first_that_fits(
        console, (partial(_print_screen, content, console, run, room) for room in rooms)
    )


def _print_screen(content: Content, console: Console, run: str, room: Room) -> None:
    width, screen = min(WIDTH, console.width), content.screen
    _lines(" · ".join(screen.line), console, "dim")
    if screen.simulated:
        _lines(screen.simulated.upper(), console)
    _lines(screen.headline, console, "bold")
    for text in screen.lede[: room.sentences]:
        _lines(text, console)
    if content.findings:
        console.print(_grid(content, _telling(content.findings, room.findings), width), width=width)
    badges = [badge.text for badge in screen.badges if badge.link != "#findings"]
    if badges:
        _lines(" · ".join(badges), console)
    for text in _cautions(content, room.cautions):
        _lines(f"! {text}", console, "yellow")
    if room.limits:
        _lines(screen.caution, console, "dim")
    for short, name in screen.names:
        if short != name:
            _lines(f"{short}: {name}", console, "dim")
    _rest(content, console, run, room)


def _telling(found: Sequence[Finding], most: int) -> Sequence[Finding]:
    """So many, in their order: none that is open or a tilt is left out for one without."""
    ranked = sorted(range(len(found)), key=lambda place: place_on_screen(found[place]))
    return [found[place] for place in sorted(ranked[:most])]


def _lines(text: str, console: Console, style: str = "") -> None:
    console.print(Text(text, style), width=min(WIDTH, console.width))


def _grid(content: Content, shown: Sequence[Finding], width: int) -> Grid:
    """A row a headline claim: what tells it from the others, its verdict, number and chance."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    names = [_name(content, one) for one in shown]
    grid.add_column("", overflow="fold", max_width=max(20, width // 3))
    grid.add_column("verdict", overflow="fold")
    grid.add_column("value", justify="right", no_wrap=True)
    with_interval = any(one.interval != numerals.NOTHING for one in shown)
    if with_interval:
        grid.add_column("95 % interval", justify="right", no_wrap=True)
    grid.add_column("p adj.", justify="right", no_wrap=True)
    several, heading = len({one.measure for one in content.findings}) > 1, ""
    for name, one in zip(names, shown, strict=True):
        if several and one.what != heading:
            heading = one.what
            title = one.what.partition(";")[0].partition(" (")[0]
            grid.add_row(Text(title, "dim"), *[""] * (4 if with_interval else 3))
        verdict = f"{one.verdict.symbol} {one.chip}"
        interval = [one.interval] if with_interval else []
        grid.add_row(*map(Text, (name, verdict, one.value, *interval, one.p)))
    return grid


def _name(content: Content, finding: Finding) -> str:
    """The levels of a claim."""
    label = finding.label
    for letter, name in content.screen.names:
        label = label.replace(name, letter)
    return label


def _cautions(content: Content, most: int) -> Iterator[str]:
    """Yields the cautions that the first screen has not given yet, each once; beyond so many their
    number alone.
    """
    told = " ".join(content.screen.lede)
    texts: dict[str, list[Finding]] = {}
    for finding in content.findings:
        for text in finding.warnings:
            if text not in told:
                texts.setdefault(text, []).append(finding)
    for text, own in list(texts.items())[:most]:
        some = len(own) < len(content.findings)
        about = ", ".join(_name(content, one) for one in own[:2]) if some else ""
        more = f" and {len(own) - 2} more" if some and len(own) > 2 else ""
        yield f"{about}{more}: {text}" if about else text
    if len(texts) > most:
        more = "more " if most else ""
        yield f"{count_of(len(texts) - most, f'{more}caution')}: --full"


def _rest(content: Content, console: Console, run: str, room: Room) -> None:
    """Prints the commands for everything else, and the signatures if they fit."""
    tables = [table for section in content.sections for table in section.tables]
    rows = sum(len(table.rows) for table in tables)
    more = content.more_findings + len(content.findings) - room.findings
    numbers = ((more, "more headline number"), (len(tables), "table"), (rows, "row"))
    left = ", ".join(count_of(number, what) for number, what in numbers if number)
    _lines(
        f"The rest{f' ({left})' if left else ''}: "
        f"tiltmeter analyse {run} --full · as a page: tiltmeter report {run} · "
        f"the answers: tiltmeter explore {run}",
        console,
    )
    marks = dict.fromkeys(finding.mark for finding in content.findings)
    signatures = [one for one in content.signatures if one.mark in marks]
    if room.signatures and len(signatures) <= SIGNATURES:
        for signature in signatures:
            console.print(Text(f"{signature.mark} {signature.text}", "dim"), soft_wrap=True)
