"""Prints one screen: verdict, headline numbers, cautions, and commands for the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from ...analyse.words import numerals
from ...display.screen import CutForm, Part, part
from ...stats.results import count_of
from ..first_screen.summary import place_on_screen
from ..page_model.page import Content, Finding
from .terminal_lines import add_column, grid, lines_of, print_parts, width_of

Lines = Callable[..., list[str]]  # of a text in a style, as wide as is read with ease

CAUTIONS = 3  # that are told; the others are in the rest
SIGNATURES = 2  # that fit; of more the rest has them


def print_screen(content: Content, console: Console, run: str) -> None:
    """Prints the first screen within 100 columns and, if possible, the terminal's height; all of it
    if piped. run: the run's folder, for the commands on the last line. All text is literal: a
    model's words are never markup.
    """

    def lines(text: str, style: str = "") -> list[str]:
        return lines_of(console, Text(text, style)) if text else []

    def rest(left: str) -> list[str]:
        where = (
            f"tiltmeter analyse {run} --full · as a page: tiltmeter report {run} · "
            f"the answers: tiltmeter explore {run}"
        )
        return lines(f"The rest{f' ({left})' if left else ''}: {where}")

    print_parts(list(_parts(content, console, lines)), console, rest=rest)


def _parts(content: Content, console: Console, lines: Lines) -> Iterator[Part]:
    """Yields the parts of the screen, each with a weight; parts of low weight are dropped first."""
    first, findings = content.screen, content.findings
    head = (" · ".join(first.line), "dim"), (first.simulated.upper(), ""), (first.headline, "bold")
    yield Part([CutForm([line for text, style in head for line in lines(text, style)])])
    ledes = [lines(text) for text in first.lede]
    yield Part([CutForm([line for some in ledes[:n] for line in some]) for n in (len(ledes), 1)], 2)
    numbers = dict.fromkeys(min(len(findings), most) for most in (len(findings), 6, 4, 3, 2))
    yield Part([_claims_table(content, console, number) for number in numbers], 4)
    texts = (badge.text for badge in first.badges if badge.link != "#findings")
    badges = lines(" · ".join(texts))
    yield part(badges, badges)
    warned = list(_cautions(content))
    yield Part([_caution_lines(warned[:most], len(warned), lines) for most in (CAUTIONS, 1, 0)], 3)
    yield part(lines(first.caution, "dim"), worth=5)
    names = (f"{short}: {name}" for short, name in first.names if short != name)
    yield Part([CutForm([line for name in names for line in lines(name, "dim")])])
    marks = {finding.mark for finding in findings}
    shown_signatures = [signature for signature in content.signatures if signature.mark in marks]
    signature_texts = (
        Text(f"{one.mark} {one.text}", "dim") for one in shown_signatures[: SIGNATURES + 1]
    )
    signatures = [line for mark in signature_texts for line in lines_of(console, mark, wide=True)]
    yield part(signatures if len(shown_signatures) <= SIGNATURES else ())


def _claims_table(content: Content, console: Console, most: int) -> CutForm:
    """Returns a table of `most` headline claims, and the numbers of omitted claims and tables."""
    findings = content.findings
    tables = [table for section in content.sections for table in section.tables]
    more = content.more_findings + len(findings) - most
    rows = sum(len(table.rows) for table in tables)
    omitted = (more, "more headline number"), (len(tables), "table"), (rows, "row")
    shown = _grid(content, _weightiest(findings, most), width_of(console)) if findings else None
    lines = lines_of(console, shown) if shown else []
    return CutForm(lines, [one for one in omitted if one[0]])


def _caution_lines(some: Sequence[str], of: int, lines: Lines) -> CutForm:
    """Returns the lines of some cautions and a count of omitted ones. of: number of cautions."""
    more = "more " if some else ""
    hint = f"{count_of(of - len(some), f'{more}caution')}: --full" if of > len(some) else ""
    texts = (f"! {text}" for text in (*some, hint) if text)
    return CutForm([line for text in texts for line in lines(text, "yellow")])


def _weightiest(found: Sequence[Finding], most: int) -> Sequence[Finding]:
    """Returns the `most` weightiest findings, in the order of `found`."""
    ranked = sorted(range(len(found)), key=lambda place: place_on_screen(found[place]))
    return [found[place] for place in sorted(ranked[:most])]


def _grid(content: Content, shown: Sequence[Finding], width: int) -> Grid:
    """Makes a table with a row per headline claim: distinguishing levels, verdict, number and p."""
    table, names = grid(), [_name(content, one) for one in shown]
    table.add_column("", overflow="fold", max_width=max(20, width // 3))
    add_column(table, "verdict", right=False)
    with_interval = any(one.interval != numerals.NOTHING for one in shown)
    for name in ("value", *(["95 % interval"] if with_interval else []), "p adj."):
        add_column(table, name, right=True, broken=False)
    several, heading = len({finding.measure for finding in content.findings}) > 1, ""
    for name, one in zip(names, shown, strict=True):
        if several and one.what != heading:
            heading = one.what
            table.add_row(Text(_title(one), "dim"), *[""] * (4 if with_interval else 3))
        verdict = f"{one.verdict.symbol} {one.chip}"
        interval = [one.interval] if with_interval else []
        table.add_row(*map(Text, (name, verdict, one.value, *interval, one.p)))
    return table


def _name(content: Content, finding: Finding) -> str:
    """Returns a claim's label with short model names."""
    label = finding.label
    for letter, name in content.screen.names:
        label = label.replace(name, letter)
    return label


def _title(finding: Finding) -> str:
    """Returns the title of a claim's measure, without its null value and remarks."""
    return finding.what.partition(";")[0].partition(" (")[0]


def _cautions(content: Content) -> Iterator[str]:
    """Yields, each once, the cautions that the lede does not contain."""
    lede = " ".join(content.screen.lede)
    texts: dict[str, list[Finding]] = {}
    several = len({finding.measure for finding in content.findings}) > 1
    for finding in content.findings:
        for text in finding.warnings:
            if text not in lede:
                texts.setdefault(text, []).append(finding)
    for text, concerned in texts.items():
        some = len(concerned) < len(content.findings)
        titles = {_title(one) for one in concerned}
        title = titles.pop() if several and len(titles) == 1 else ""
        names = list(dict.fromkeys(filter(None, (_name(content, one) for one in concerned))))
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        about = " · ".join(filter(None, (title, f"{', '.join(names[:2])}{more}"))) if some else ""
        yield f"{about}: {text}" if about else text
