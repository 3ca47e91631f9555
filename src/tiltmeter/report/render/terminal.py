"""Prints all findings and tables to the terminal, within 100 columns (`--full`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from ...analyse.words import numerals
from ...analyse.words.verdict_words import Word
from ...display.screen import CutForm, Part, part
from ..page_model.page import Content, Finding
from ..page_model.table import Table
from ..tables import judges, taxonomies
from .terminal_lines import add_column, grid, lines_of, print_parts, width_of

SHORT = {"signature": "sig.", "p adjusted": "p adj."}
LABEL = 12  # columns that a label needs at least
FEWER = (24, 16, 10, 6, 4, 3, 2, 1)  # rows of the first table
STYLES = {Word.TILT: "bold", Word.NOT_MEASURED: "dim"}
ELSEWHERE = {  # the tables of which sections stand in the report alone, and the verb that has them
    judges.VALIDATION: ", or: tiltmeter validate RUN",
    taxonomies.TAXONOMY: "",
}


def print_table(content: Content, console: Console, papers: Sequence[Table] = ()) -> None:
    """Prints all findings, brief tables and signatures. All text is literal: a model's words are
    never markup.

    papers: a variant's tables in a paper's shape, printed whole instead of the brief tables.
    """
    print_parts([part(list(_lines(content, console, papers)))], console, full=True)


def print_one(table: Table, console: Console) -> None:
    """Prints one table in full."""
    print_parts([part(table_lines(table, console))], console, full=True)


def print_tables(tables: Sequence[Table], console: Console, full: bool) -> None:
    """Prints as many tables as fit, or as many rows of the first as fit if it is too long."""

    def form(table: Table, most: int) -> CutForm:
        omitted = ((len(table.rows) - most, "row"),) if most else ((1, "more table"),)
        shortened = replace(table, rows=table.rows[:most], folded=False)
        return CutForm(
            table_lines(shortened, console) if most else (), [one for one in omitted if one[0]]
        )

    parts = []
    for number, table in enumerate(tables):
        every = len(table.rows)
        fewer = (0,) if number else (n for n in FEWER if n < every)
        parts.append(Part([form(table, n) for n in (every, *fewer)], worth=-number))
    print_parts(parts, console, full)


def _lines(content: Content, console: Console, papers: Sequence[Table]) -> Iterator[str]:
    title, about = (content.title, "bold"), (f"{content.protocol} · {content.date}", "dim")
    yield from lines_of(console, Text.assemble(title, " ", about), wide=True)
    yield from lines_of(console, Text(content.question, "italic"))
    findings = [one for one in content.findings if not papers or one.verdict != Word.NO_TEST]
    for finding in findings:
        yield from _finding(finding, console)
    if content.more_findings and findings:
        yield f"  and {content.more_findings} more in the tables"
    printed: list[Table] = []
    for section in content.sections:
        if section.variant != "default":
            yield from lines_of(console, Text(f"\n{section.title}: {section.text}", "bold"))
        tables: Sequence[Table] = section.tables
        if section.variant in ELSEWHERE:
            where = f"  its tables: in the report{ELSEWHERE[section.variant]}"
            yield from lines_of(console, Text(where, "dim"))
            continue
        if papers and section.variant != "default":
            tables, others = papers, section.tables
        else:
            printed, others = [*printed, *tables], ()
        for table in tables:
            yield from table_lines(table, console)
        yield from _not_printed(others, console)
    yield from _signatures(content, printed, console)


def _not_printed(tables: Sequence[Table], console: Console) -> list[str]:
    """Returns a line on the number of tables not printed and where to find them; [] if none."""
    if not tables:
        return []
    rows = sum(len(table.rows) for table in tables)
    more = (
        f"{len(tables)} more table{'s' * (len(tables) > 1)} with {rows:,} rows: in the "
        "report, or: tiltmeter analyse RUN --csv"
    )
    return lines_of(console, Text(f"\n{more}", "dim"))


def _finding(finding: Finding, console: Console) -> Iterator[str]:
    about = f" ({finding.about})" if finding.about else ""
    style = STYLES.get(finding.verdict, "")
    yield ""
    yield from lines_of(
        console, Text.assemble(f"[{finding.mark}] ", (finding.sentence, style), about)
    )
    for line in finding.more_warnings:
        yield from _hanging(f"! {line}", console, "yellow")
    for line in finding.sure:
        yield from _hanging(f"· {line}", console)


def _hanging(line: str, console: Console, style: str = "") -> list[str]:
    """Returns a line with its continuation lines indented."""
    return lines_of(console, Padding(Text(line, style), (0, 0, 0, 4)))


def table_lines(table: Table, console: Console) -> list[str]:
    """Lays out a table under its title, with its notes."""
    laid_out = _grid(table, width_of(console))
    notes = [table.about] if table.about else []
    notes += [f"{letter}  {text}" for letter, text in table.notes]
    return [
        *lines_of(console, Text(f"\n{table.title}", "bold")),
        *(lines_of(console, laid_out) if laid_out else _paragraphs(table, console)),
        *(line for note in notes for line in lines_of(console, Text(f"  {note}", "dim"))),
    ]


def _paragraphs(table: Table, console: Console) -> Iterator[str]:
    """Lays out a table that is too wide as a paragraph per row; omits zeros, with a note."""
    for row in table.rows:
        brief = [
            (column, cell) for column, cell in zip(table.columns, row, strict=True) if column.brief
        ]
        texts = [cell for column, cell in brief if column.kind == "text"]
        others = [
            (SHORT.get(column.name, column.name), cell)
            for column, cell in brief
            if column.kind != "text"
        ]
        numbers = [f"{name} {cell}" for name, cell in others if cell not in ("0", numerals.NOTHING)]
        numbers += ["all others 0"] * any(cell == "0" for _, cell in others)
        yield from lines_of(console, Text(f"  {' · '.join(texts)}"))
        yield from _hanging(", ".join(numbers), console)


def _grid(table: Table, width: int) -> Grid | None:
    """Lays out the brief columns, with text columns joined; None if the numbers do not fit."""
    brief = [place for place, column in enumerate(table.columns) if column.brief]
    group = [place for place in brief if table.columns[place].name == "group"]
    texts = [place for place in brief if table.columns[place].kind == "text" and place not in group]
    rest = [place for place in brief if place not in (*group, *texts)]
    together = [places for places in (group, texts) if places]
    names = [
        *(" · ".join(table.columns[p].name for p in places) for places in together),
        *(SHORT.get(table.columns[p].name, table.columns[p].name) for p in rest),
    ]
    rows = [
        [*(" · ".join(row[p] for p in places) for places in together), *(row[p] for p in rest)]
        for row in table.rows
    ]
    numbers = sum(
        max(len(row[place]) for row in [names, *rows]) + 2
        for place in range(len(together), len(names))
    )
    if numbers + LABEL * len(together) > width:
        return None
    table_grid = grid()
    for place, name in enumerate(names):
        number = place >= len(together)
        right = number and table.columns[rest[place - len(together)]].kind == "number"
        add_column(table_grid, name, right, broken=not number)
    for row in rows:
        table_grid.add_row(*map(Text, row))
    return table_grid


def _signatures(content: Content, printed: Sequence[Table], console: Console) -> Iterator[str]:
    """Yields the signatures of all printed numbers, each on one line that is not wrapped."""
    marks = {finding.mark for finding in content.findings} | {
        mark for table in printed for mark, _ in table.marks
    }
    yield ""
    for signature in content.signatures:
        if signature.mark in marks:
            line = Text(f"{signature.mark:<4} {signature.text}", "dim")
            yield from lines_of(console, line, wide=True)
