"""Text for a terminal: lines are broken between words at its width, with what begins them kept in
line, and what is too long for its height is told in brief. What goes elsewhere (a file, a pipe)
stays whole, one line a sentence.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import click

from ..display import shorten

WIDEST_COLUMNS = 100  # of a line that is read with ease
ANY_WIDTH = 10_000  # columns
LEAST_COLUMN = 16  # characters of a first column that are kept
BRIEF_ROWS = 2  # of the screen that a line of a brief part takes at most


class PrintedSection(NamedTuple):
    """A part of what is printed. lines: all of it; brief: what stands in its place where there is
    no room; title: what it is called at the end, "" where nothing is lost; worth: parts with a
    higher one are told whole first.
    """

    lines: Sequence[str]
    brief: Sequence[str]
    title: str = ""
    worth: int = 0


def as_text(sections: Sequence[PrintedSection]) -> str:
    """Sections as a text that `of_text` reads."""
    return json.dumps(sections, ensure_ascii=False)


def of_text(text: str) -> list[PrintedSection]:
    """The sections of a text."""
    return [PrintedSection(*row) for row in json.loads(text)]


def echo_sections(sections: Sequence[PrintedSection], full: bool) -> None:
    """Prints as much as fits the terminal, and at the end what is left out; all of it where there
    is none, or where `full` is wanted.
    """
    lines = [line for section in sections for line in section.lines]
    if full or not sys.stdout.isatty():
        _echo(lines)
        return
    columns, rows = shutil.get_terminal_size()
    width = min(WIDEST_COLUMNS, columns)
    if _height(lines, width) < rows:
        _echo(lines)
        return
    shown = _choose_sections(sections, width, rows - 1 - BRIEF_ROWS)
    left_out = [section for section, lines in zip(sections, shown, strict=True) if lines is None]
    for section, whole in zip(sections, shown, strict=True):
        for line in section.brief if whole is None else ():
            click.echo(_cut_line(line, width))
        _echo(whole or ())
    titles = ", ".join(section.title for section in left_out if section.title)
    if titles:
        click.echo(_cut_line(f"The rest ({titles}): --full", width))


def _choose_sections(
    sections: Sequence[PrintedSection], width: int, rows: int
) -> list[Sequence[str] | None]:
    """The lines of the sections that are told whole, None for those told in brief."""
    found: list[Sequence[str] | None] = [None] * len(sections)
    used = sum(_height([_cut_line(line, width)], width) for one in sections for line in one.brief)
    by_worth = sorted(range(len(sections)), key=lambda n: -sections[n].worth)
    for n in by_worth:
        own = sections[n]
        more = _height(own.lines, width)
        less = sum(_height([_cut_line(line, width)], width) for line in own.brief)
        if used + more - less <= rows:
            found[n] = own.lines
            used += more - less
    return found


def _cut_line(line: str, width: int) -> str:
    """A line of a brief part: two rows at most."""
    shown = wrap(line, width).split("\n")
    if len(shown) <= BRIEF_ROWS:
        return "\n".join(shown)
    last = shown[BRIEF_ROWS - 1][: width - 2].rstrip()
    return "\n".join([*shown[: BRIEF_ROWS - 1], f"{last} …"])


def _echo(lines: Sequence[str]) -> None:
    echo_fitted("".join(f"{line}\n" for line in lines))


def _height(lines: Sequence[str], width: int) -> int:
    """Rows that lines take."""
    shown = (row for line in lines for row in wrap(line, width).split("\n"))
    return sum(max(1, -(-_columns(row) // width)) for row in shown)


def _columns(text: str) -> int:
    """Columns that a text takes; East Asian characters are twice as wide."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in click.unstyle(text))


def table_width(full: bool) -> int:
    """Columns that a table may take: those of the terminal, any number where there is none, or
    where all of it is wanted.
    """
    return ANY_WIDTH if full or not sys.stdout.isatty() else shutil.get_terminal_size().columns


def table_lines(
    rows: Sequence[tuple[str, ...]], left: int, last: Sequence[str], width: int
) -> list[str]:
    """Rows under a header, columns as wide as they need; the first `left` columns are words, the
    rest numbers. Where the width is too small, columns are left out as `last` names them, and then
    the first one is shortened in its middle.
    """
    header = rows[0]
    places = list(range(len(header)))
    for name in (*last, ""):
        widths = {place: max(len(row[place]) for row in rows) for place in places}
        if sum(widths.values()) + 2 * len(places) <= width or not name:
            break
        places = [place for place in places if header[place] != name]
    over = sum(widths.values()) + 2 * len(places) - width
    widths[0] = max(min(widths[0], LEAST_COLUMN), widths[0] - max(0, over))
    lines = []
    for row in rows:
        cells = [
            shorten(row[place], widths[place]).ljust(widths[place])
            if place < left
            else row[place].rjust(widths[place])
            for place in places
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def echo_fitted(text: str) -> None:
    """Prints lines as wide as the terminal, or as they are where there is none."""
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    width = min(WIDEST_COLUMNS, shutil.get_terminal_size().columns)
    for line in text.splitlines():
        click.echo(wrap(line, width))


def wrap(line: str, width: int) -> str:
    """A line broken between words, what follows two columns further in than it begins."""
    plain = click.unstyle(line)
    if len(plain) <= width:
        return line
    line = plain
    begin = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=begin,
        subsequent_indent=begin + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
