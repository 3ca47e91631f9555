"""Lays out texts, tables and documents as lines, as many as fit the terminal's height."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from ...display.screen import WIDEST, CutForm, Part, full_rest, screen
from ..page_model.document import RunsPage, ScreenBlock
from ..page_model.table import Table

TRAILING = re.compile(r"[ \t]+((?:\x1b\[[0-9;]*m)*)$")
LABEL = 11  # columns that a text column needs at least


def width_of(console: Console) -> int:
    """Returns the width to print in: the console's, at most WIDEST columns, for easy reading."""
    return min(WIDEST, console.width)


def lines_of(console: Console, shown: RenderableType, wide: bool = False) -> list[str]:
    """Returns the lines that a console prints, right-stripped. wide: True to wrap nothing."""
    with console.capture() as captured:
        console.print(shown, width=None if wide else width_of(console), soft_wrap=wide)
    return [TRAILING.sub(r"\1", line) for line in captured.get().splitlines()]


def text_lines(console: Console, text: str, style: str = "") -> list[str]:
    """Wraps a text for easy reading, in one line if piped. All text is literal, never markup."""
    return lines_of(console, Text(text, style), wide=not console.is_terminal)


def print_parts(
    parts: Sequence[Part],
    console: Console,
    full: bool = False,
    taken: int = 0,
    rest: Callable[[str], list[str]] = full_rest,
) -> None:
    """Prints as much as fits the terminal, or everything if `full`. taken: lines of the screen
    already used by standard error. rest: writes the last line from a summary of the omitted parts.
    """
    # A line is the shell's. LINES alone is no screen: readers of lines hand it to what they start.
    rows = console.height - 1 - taken if console.is_terminal and not full else None
    size = None if rows is None else (console.width, rows)
    console.file.write("".join(f"{line}\n" for line in screen(parts, size, rest)))


def print_document(
    document: RunsPage, console: Console, full: bool = False, taken: int = 0
) -> None:
    """Prints a document's headline, lede and blocks: as much as fits, or all of it if `full`."""
    head = text_lines(console, " · ".join(filter(None, document.line)), "dim")
    first = [*(head if document.with_line else ()), *text_lines(console, document.headline, "bold")]
    pills = " · ".join(f"{pill.symbol} {pill.text}" for pill in document.pills)
    for text in (" ".join(document.lede), pills):
        first += text_lines(console, text) if text else []
    parts = [Part([CutForm(first)]), *(_block_forms(block, console) for block in document.blocks)]

    def rest(left: str) -> list[str]:
        return [*full_rest(left), *filter(None, [document.end])]

    print_parts(parts, console, full, taken, rest)


def _block_forms(block: ScreenBlock, console: Console) -> Part:
    """Returns a block in several forms: with all rows, then with fewer."""
    rows = block.rows.rows if isinstance(block.rows, Table) else block.rows
    numbers = dict.fromkeys(min(n, len(rows)) for n in (len(rows), *block.fewer))
    return Part([_form(block, number, console) for number in numbers], block.weight)


def _form(block: ScreenBlock, most: int, console: Console) -> CutForm:
    rows = block.rows.rows if isinstance(block.rows, Table) else block.rows
    places = sorted((block.order or range(len(rows)))[:most])
    omitted = block.hidden + len(rows) - len(places)
    if isinstance(block.rows, Table):
        lines = column_lines(block.rows, [block.rows.rows[n] for n in places], console)
    else:
        texts = (f"{block.begin}{block.rows[n]}" for n in places)
        lines = [line for text in texts for line in text_lines(console, text, block.style)]
    return CutForm(lines, ((omitted, block.noun),) if omitted and block.noun else ())


def column_lines(table: Table, rows: Sequence[Sequence[str]], console: Console) -> list[str]:
    """Lays out a table; as a paragraph per row if its text columns would get too narrow."""
    if not rows:
        return []
    places = [n for n, column in enumerate(table.columns) if column.brief]
    texts = [n for n in places if table.columns[n].kind == "text"]
    widths = {n: max(map(len, (table.columns[n].name, *(row[n] for row in rows)))) for n in places}
    least = sum(min(widths[n], LABEL) if n in texts else widths[n] for n in places)
    if least + 2 * len(places) > width_of(console):
        paragraphs = map(Text, _paragraphs(table, rows, places))
        return [line for text in paragraphs for line in lines_of(console, text)]
    table_grid = grid()
    for n in places:
        broken = n in texts and widths[n] >= LABEL
        add_column(
            table_grid, table.columns[n].name, table.columns[n].kind == "number", broken=broken
        )
    for row in rows:
        table_grid.add_row(*(Text(row[n]) for n in places))
    return lines_of(console, table_grid)


def grid() -> Grid:
    """Returns an empty table with a rule under its header."""
    return Grid(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def add_column(made: Grid, name: str, right: bool, *, broken: bool = True) -> None:
    """Adds a column. right: True to align right; broken: True if its cells may wrap."""
    made.add_column(
        Text(name), justify="right" if right else "left", overflow="fold", no_wrap=not broken
    )


def _paragraphs(
    table: Table, rows: Sequence[Sequence[str]], places: Sequence[int]
) -> Iterator[str]:
    for row in rows:
        first, *rest = (f"{table.columns[n].name} {row[n]}" for n in places if row[n])
        yield f"  {first.partition(' ')[2]}: {', '.join(rest)}"
