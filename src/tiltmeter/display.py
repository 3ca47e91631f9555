"""The view of an object in a notebook: a small page of HTML, and hidden characters written out.

A page holds a heading, paragraphs, lists and tables, each cut to its first rows, so that a cell
stays readable whatever the size of the design.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

MOST_ROWS = 20  # of a list or a table that a page shows
MOST_CHARACTERS = 400  # of one text
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and newline
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"  # soft hyphen and fillers
    # direction, separators, isolates
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e0fff]"  # lone surrogates, non-characters, tags
)


def visible(text: str) -> str:
    """The text with every hidden character written out; line ends are newlines."""
    if text.isascii() and text.isprintable():  # as most are: a tenth of the time
        return text
    return HIDDEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text.replace("\r\n", "\n"))


def shorten(text: str, most: int) -> str:
    """A text of so many characters at most, its middle left out: ends tell names apart."""
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


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
