"""Content → what fits one screen of a terminal: the verdict, the headline numbers, what to mind,
and where the rest is.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from ..analyse import numerals
from ..stats.results import count_of
from .findings import SYMBOLS
from .model import Content, Finding
from .terminal import WIDTH, nothing_trailing

CAUTIONS = 3  # that are told; the others are in the rest
SIGNATURES = 2  # that fit; of more the rest has them


def print_screen(content: Content, console: Console, run: str) -> None:
    """Prints the first screen within 100 columns. run: the folder, as a command names it. All text
    is literal: a model's words are never markup.
    """
    with nothing_trailing(console):
        _print_screen(content, console, run)


def _print_screen(content: Content, console: Console, run: str) -> None:
    width, screen = min(WIDTH, console.width), content.screen
    _lines(" · ".join(screen.line), console, "dim")
    _lines(screen.headline, console, "bold")
    for text in screen.lede:
        _lines(text, console)
    if content.findings:
        console.print(_grid(content, width), width=width)
    badges = [badge.text for badge in screen.badges if badge.link != "#findings"]
    if badges:
        _lines(" · ".join(badges), console)
    for text in _cautions(content):
        _lines(f"! {text}", console, "yellow")
    _lines(screen.caution, console, "dim")
    for short, name in screen.names:
        if short != name:
            _lines(f"{short}: {name}", console, "dim")
    _rest(content, console, run)


def _lines(text: str, console: Console, style: str = "") -> None:
    console.print(Text(text, style), width=min(WIDTH, console.width))


def _grid(content: Content, width: int) -> Grid:
    """A row a headline claim: what tells it from the others, its verdict, number and chance."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    names = [_name(content, one) for one in content.findings]
    grid.add_column("", overflow="fold", max_width=max(20, width // 3))
    grid.add_column("verdict", overflow="fold")
    grid.add_column("value", justify="right", no_wrap=True)
    with_interval = any(one.interval != numerals.NOTHING for one in content.findings)
    if with_interval:
        grid.add_column("95 % interval", justify="right", no_wrap=True)
    grid.add_column("p adj.", justify="right", no_wrap=True)
    for name, one in zip(names, content.findings, strict=True):
        verdict = f"{SYMBOLS[one.verdict]} {one.chip}"
        interval = [one.interval] if with_interval else []
        grid.add_row(*map(Text, (name, verdict, one.value, *interval, one.p)))
    return grid


def _name(content: Content, finding: Finding) -> str:
    """The levels of a claim, and its measure where there are several."""
    several = len({one.measure for one in content.findings}) > 1
    short = {name: short for short, name in content.screen.names}
    label = finding.label
    for name, letter in short.items():
        label = label.replace(name, letter)
    return f"{finding.measure} · {label}" if several else label


def _cautions(content: Content) -> Iterator[str]:
    """What the first screen has not said yet, each once."""
    told = " ".join(content.screen.lede)
    texts: dict[str, list[Finding]] = {}
    for finding in content.findings:
        for text in finding.warnings:
            if text not in told:
                texts.setdefault(text, []).append(finding)
    for text, own in list(texts.items())[:CAUTIONS]:
        some = len(own) < len(content.findings)
        about = ", ".join(_name(content, one) for one in own[:2]) if some else ""
        more = f" and {len(own) - 2} more" if some and len(own) > 2 else ""
        yield f"{about}{more}: {text}" if about else text
    if len(texts) > CAUTIONS:
        yield f"{len(texts) - CAUTIONS} more cautions: --full"


def _rest(content: Content, console: Console, run: str) -> None:
    """Where everything else is, and the signatures where they fit."""
    tables = [table for section in content.sections for table in section.tables]
    rows = sum(len(table.rows) for table in tables)
    left = f"{content.more_findings} more headline numbers, " if content.more_findings else ""
    _lines(
        f"The rest ({left}{count_of(len(tables), 'table')}, {count_of(rows, 'row')}): "
        f"tiltmeter analyse {run} --full · as a page: tiltmeter report {run} · "
        f"the answers: tiltmeter explore {run}",
        console,
    )
    marks = dict.fromkeys(finding.mark for finding in content.findings)
    signatures = [one for one in content.signatures if one.mark in marks]
    if len(signatures) <= SIGNATURES:
        for signature in signatures:
            console.print(Text(f"{signature.mark} {signature.text}", "dim"), soft_wrap=True)
