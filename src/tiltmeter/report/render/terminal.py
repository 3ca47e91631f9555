"""Content → all findings and tables in the terminal, within 100 columns (`--full`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from ...analyse.words import numerals
from ...analyse.words.verdict_words import Word
from ..page_model.page import Content, Finding, Table
from ..tables import judges, taxonomies
from .fit_terminal import TRAILING, WIDTH

SHORT = {"signature": "sig.", "p adjusted": "p adj."}
LABEL = 12  # columns that a label needs at least
STYLES = {Word.TILT: "bold", Word.NOT_MEASURED: "dim"}


@contextmanager
def nothing_trailing(console: Console) -> Iterator[None]:
    """Prints what is printed inside, each line without the blanks at its end."""
    with console.capture() as captured:
        yield
    console.file.write(TRAILING.sub(r"\1", captured.get()))


def print_table(content: Content, console: Console, papers: Sequence[Table] = ()) -> None:
    """Prints all findings, brief tables and signatures. All text is literal: a model's words are
    never markup.

    papers: tables of a paper that a variant declares, printed whole in place of its brief ones.
    """
    with nothing_trailing(console):
        _print_table(content, console, papers)


def _print_table(content: Content, console: Console, papers: Sequence[Table]) -> None:
    console.print(Text(content.title, "bold"), Text(f"{content.protocol} · {content.date}", "dim"))
    console.print(Text(content.question, "italic"), width=_width(console))
    told = [one for one in content.findings if not papers or one.verdict != Word.NO_TEST]
    for finding in told:
        _finding(finding, console)
    if content.more_findings and told:
        console.print(Text(f"  and {content.more_findings} more in the tables"))
    printed: list[Table] = []
    for section in content.sections:
        if section.variant != "default":
            console.print(Text(f"\n{section.title}: {section.text}", "bold"), width=_width(console))
        if section.variant in (judges.VALIDATION, taxonomies.TAXONOMY):
            other = ", or: tiltmeter validate RUN" if section.variant == judges.VALIDATION else ""
            console.print(
                Text(f"  its tables: in the report{other}", "dim"),
                width=_width(console),
            )
            continue
        if papers and section.variant != "default":
            for table in papers:
                write_table(table, console)
            _rest(section.tables, console)
            continue
        for table in section.tables:
            write_table(table, console)
        printed += section.tables
    _signatures(content, printed, console)


def _rest(tables: Sequence[Table], console: Console) -> None:
    """Says of tables that are not printed how many there are, and where."""
    if tables:
        rows = sum(len(table.rows) for table in tables)
        more = (
            f"{len(tables)} more table{'s' * (len(tables) > 1)} with {rows:,} rows: in the "
            "report, or: tiltmeter analyse RUN --csv"
        )
        console.print(Text(f"\n{more}", "dim"), width=_width(console))


def _width(console: Console) -> int:
    return min(WIDTH, console.width)


def _finding(finding: Finding, console: Console) -> None:
    width = _width(console)
    about = f" ({finding.about})" if finding.about else ""
    console.print()
    console.print(
        Text.assemble(
            f"[{finding.mark}] ", (finding.sentence, STYLES.get(finding.verdict, "")), about
        ),
        width=width,
    )
    for line in finding.more_warnings:
        _hanging(f"! {line}", console, "yellow")
    for line in finding.sure:
        _hanging(f"· {line}", console)


def _hanging(line: str, console: Console, style: str = "") -> None:
    """A line whose further lines stand under its first word."""
    console.print(Padding(Text(line, style), (0, 0, 0, 4)), width=_width(console))


def print_one(table: Table, console: Console) -> None:
    """Prints a table by itself."""
    with nothing_trailing(console):
        write_table(table, console)


def write_table(table: Table, console: Console) -> None:
    """Writes a table where a caller captures what is printed and takes off blanks at line ends."""
    console.print(Text(f"\n{table.title}", "bold"), width=_width(console))
    grid = _grid(table, _width(console))
    if grid:
        console.print(grid, width=_width(console))
    else:
        _print_paragraphs(table, console)
    if table.about:
        console.print(Text(f"  {table.about}", "dim"), width=_width(console))
    for letter, text in table.notes:
        console.print(Text(f"  {letter}  {text}", "dim"), width=_width(console))


def _print_paragraphs(table: Table, console: Console) -> None:
    """A table with more numbers than the width has room for: a paragraph a row; zeros are summed up
    at its end.
    """
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
        console.print(Text(f"  {' · '.join(texts)}"), width=_width(console))
        console.print(Padding(Text(", ".join(numbers)), (0, 0, 0, 4)), width=_width(console))


def _grid(table: Table, width: int) -> Grid | None:
    """The brief columns; model, instrument, mode and language share one. None where the numbers
    would have to be broken.
    """
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
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for place, name in enumerate(names):
        number = place >= len(together)
        right = number and table.columns[rest[place - len(together)]].kind == "number"
        grid.add_column(
            Text(name), justify="right" if right else "left", overflow="fold", no_wrap=number
        )
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


def _signatures(content: Content, printed: Sequence[Table], console: Console) -> None:
    """The signatures of what was printed, each on a line of its own that nothing breaks."""
    seen = {finding.mark for finding in content.findings} | {
        mark for table in printed for mark, _ in table.marks
    }
    console.print()
    for signature in content.signatures:
        if signature.mark not in seen:
            continue
        console.print(Text(f"{signature.mark:<4} {signature.text}", "dim"), soft_wrap=True)
