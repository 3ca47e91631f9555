"""Text that fits the terminal: no more lines than it has, and tables no wider than it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

import click

from ..display import shorten
from ..display.document import Block, Document
from ..display.screen import Part, part, screen

ANY_WIDTH = 10_000  # columns
LEAST_COLUMN = 16  # characters of a first column that are kept


def echo_parts(parts: Sequence[Part], full: bool) -> None:
    """Prints the parts that fit the terminal, and counts the rest; all parts if piped or `full`."""
    size: tuple[int, int] | None = None
    if sys.stdout.isatty():
        columns, rows = shutil.get_terminal_size()
        size = columns, ANY_WIDTH if full else rows - 1
    for line in screen(parts, size):
        click.echo(line)


def table_width(full: bool) -> int:
    """Returns the width that a table may have: the terminal's; unlimited if piped or `full`."""
    return ANY_WIDTH if full or not sys.stdout.isatty() else shutil.get_terminal_size().columns


def parts_of(document: Document, width: int) -> list[Part]:
    """Turns a document's blocks into parts of a screen, tables within `width` if possible."""
    return [_block_part(block, width) for block in document.blocks]


def _block_part(block: Block, width: int) -> Part:
    """Makes a part from a block: its full lines, and its brief form."""
    lines = list(block.lines)
    if block.table:
        lines = table_lines(block.table, block.words, block.spare, width)
    heading = ["", block.heading] if block.heading else []
    brief = [*heading[1:], *(lines[n] for n in block.brief)]
    noun = block.noun if len(block.brief) < len(lines) else ""
    return part([*heading, *lines], brief, noun, block.weight)


def table_lines(
    rows: Sequence[Sequence[str]], left: int, last: Sequence[str], width: int
) -> list[str]:
    """Lays out rows under a header, with columns as wide as needed; the first `left` columns hold
    words, the others numbers. If the width is too small, drops the columns named in `last` one by
    one, then shortens the first column in its middle.
    """
    header = rows[0]
    columns = list(range(len(header)))
    for name in (*last, ""):
        widths = {column: max(len(row[column]) for row in rows) for column in columns}
        if sum(widths.values()) + 2 * len(columns) <= width or not name:
            break
        columns = [column for column in columns if header[column] != name]
    over = sum(widths.values()) + 2 * len(columns) - width
    widths[0] = max(min(widths[0], LEAST_COLUMN), widths[0] - max(0, over))
    lines = []
    for row in rows:
        cells = [
            shorten(row[column], widths[column]).ljust(widths[column])
            if column < left
            else row[column].rjust(widths[column])
            for column in columns
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines
