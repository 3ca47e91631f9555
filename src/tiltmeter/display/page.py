"""The view of an object in a notebook: a small page of HTML.

A page holds a heading, paragraphs, lists and tables, each cut to its first rows, so that a cell
stays readable whatever the size of the design.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from . import visible

MOST_ROWS = 20  # of a list or a table that a page shows
MOST_CHARACTERS = 400  # of one text


@dataclass(frozen=True, slots=True)
class Page:
    """title: the heading; paragraphs: texts under it; lists: lines by heading; tables: rows by
    heading, the first row names the columns.
    """

    title: str
    paragraphs: Sequence[str] = ()
    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tables: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)

    def html(self) -> str:
        """The page as a fragment without styles or scripts of its own; every text is escaped."""
        return "".join(self._parts())

    def _parts(self) -> Iterator[str]:
        yield f"<div><h4>{_text(self.title)}</h4>"
        yield from (f"<p>{_text(text)}</p>" for text in self.paragraphs if text)
        for heading, lines in self.lists.items():
            if lines:
                items = "".join(f"<li>{_text(line)}</li>" for line in lines[:MOST_ROWS])
                yield f"<p><b>{_text(heading)}</b></p><ul>{items}</ul>{_rest(lines)}"
        for heading, rows in self.tables.items():
            if len(rows) > 1:
                yield f"<p><b>{_text(heading)}</b></p>{_table(rows)}{_rest(rows[1:])}"
        yield "</div>"


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    lines = [_cells(head, "th"), *(_cells(row, "td") for row in body[:MOST_ROWS])]
    return f"<table>{''.join(lines)}</table>"


def _cells(row: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{_text(cell)}</{tag}>' for cell in row)}</tr>"


def _rest(lines: Sequence[object]) -> str:
    left = len(lines) - MOST_ROWS
    return f"<p>… and {left:,} more</p>" if left > 0 else ""


def _text(words: str) -> str:
    """A text, escaped and cut."""
    shown = visible(words)
    cut = shown if len(shown) <= MOST_CHARACTERS else shown[:MOST_CHARACTERS] + " …"
    return escape(cut)
