"""Printing to the height of a terminal: of several attempts, from everything to very little, the
first that fits. Where there is no terminal (a pipe, a file), everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from ..page_model.page import Table

WIDTH = 100  # columns
TRAILING = re.compile(r"[ \t]+((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)
LABEL = 11  # columns that a text column needs at least


def print_first_that_fits(
    console: Console, attempts: Iterable[Callable[[], None]], taken: int = 0
) -> None:
    """Prints the first attempt that fits, else the last; the first where there is no terminal.

    taken: lines of the screen that are printed elsewhere (on standard error).
    """
    # A line is the shell's. LINES alone is no screen: readers of lines hand it to what they start.
    most = console.height - 1 - taken if console.is_terminal else None
    text = ""
    for attempt in attempts:
        with console.capture() as captured:
            attempt()
        text = TRAILING.sub(r"\1", captured.get())
        if most is None or height(text, console.width) <= most:
            break
    console.file.write(text)


def height(text: str, width: int) -> int:
    """Lines that a text takes on a screen of so many columns."""
    lines = (Text.from_ansi(line).cell_len for line in text.splitlines())
    return sum(max(1, -(-length // width)) for length in lines)


def print_lines(text: str, console: Console, style: str = "") -> None:
    """Prints a text as wide as is read with ease; what goes elsewhere stays one line."""
    if console.is_terminal:
        console.print(Text(text, style), width=min(WIDTH, console.width))
    else:
        console.print(Text(text, style), soft_wrap=True)


def print_columns(table: Table, rows: Sequence[Sequence[str]], console: Console) -> None:
    """Prints rows of a table under its brief columns. Numbers are never broken; where texts would
    become too narrow beside them, each row is a paragraph.
    """
    width = min(WIDTH, console.width)
    places = [n for n, column in enumerate(table.columns) if column.brief]
    texts = [n for n in places if table.columns[n].kind == "text"]
    widths = {n: max(map(len, (table.columns[n].name, *(row[n] for row in rows)))) for n in places}
    least = sum(min(widths[n], LABEL) if n in texts else widths[n] for n in places)
    if least + 2 * len(places) > width:
        for line in _paragraphs(table, rows, places):
            console.print(Text(line), width=width)
        return
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for n in places:
        right = table.columns[n].kind == "number"
        grid.add_column(
            Text(table.columns[n].name),
            justify="right" if right else "left",
            overflow="fold",
            no_wrap=n not in texts or widths[n] < LABEL,
        )
    for row in rows:
        grid.add_row(*(Text(row[n]) for n in places))
    console.print(grid, width=width)


def _paragraphs(
    table: Table, rows: Sequence[Sequence[str]], places: Sequence[int]
) -> Iterator[str]:
    for row in rows:
        first, *rest = (f"{table.columns[n].name} {row[n]}" for n in places if row[n])
        yield f"  {first.partition(' ')[2]}: {', '.join(rest)}"
