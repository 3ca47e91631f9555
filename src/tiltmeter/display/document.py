"""A document of blocks, which a terminal and a notebook lay out differently.

A notebook cuts lists and tables to their first rows, so that its cells stay readable for designs of
any size. A small terminal shows blocks of higher weight whole, and only the brief lines of the
others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from . import visible

MOST_ROWS = 20  # of a list or a table in a notebook
MOST_CHARACTERS = 400  # of one text there


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines, or the rows of a table, under a heading (or none).

    table: the first row names the columns; the first `words` columns hold words, the others
    numbers; a narrow terminal omits the columns in `spare`, in that order. brief: indices of the
    lines that a small terminal keeps; noun: the word for the other lines in "3 more …", "" for no
    count; weight: blocks of higher weight are shown whole first. strong: print the lines in bold.
    """

    heading: str = ""
    lines: Sequence[str] = ()
    table: Sequence[Sequence[str]] = ()
    words: int = 0
    spare: Sequence[str] = ()
    brief: Sequence[int] = ()
    noun: str = ""
    weight: int = 0
    strong: bool = False

    def html(self) -> Iterator[str]:
        """Yields the block as HTML without inline styles; every text is escaped."""
        if not self.lines and len(self.table) < 2:
            return
        if self.heading:
            yield f"<p><b>{_text(self.heading)}</b></p>"
        shown = [_text(line.strip()) for line in self.lines[:MOST_ROWS] if line]
        if self.heading and shown:
            yield f"<ul>{''.join(f'<li>{line}</li>' for line in shown)}</ul>"
        else:
            yield from (
                f"<p><b>{line}</b></p>" if self.strong else f"<p>{line}</p>" for line in shown
            )
        if self.table:
            head, *body = self.table
            rows = [_cells(head, "th"), *(_cells(row, "td") for row in body[:MOST_ROWS])]
            yield f"<table>{''.join(rows)}</table>"
        left = max(len(self.lines), len(self.table) - 1) - MOST_ROWS
        yield f"<p>… and {left:,} more</p>" if left > 0 else ""


@dataclass(frozen=True, slots=True)
class Document:
    """A title and the blocks under it."""

    title: str
    blocks: Sequence[Block]

    def html(self) -> str:
        """Returns the document as an HTML fragment for a notebook."""
        parts = (part for block in self.blocks for part in block.html())
        return f"<div><h4>{_text(self.title)}</h4>{''.join(parts)}</div>"


def _cells(row: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{_text(cell)}</{tag}>' for cell in row)}</tr>"


def _text(words: str) -> str:
    """Escapes a text for HTML, cut to MOST_CHARACTERS."""
    shown = visible(words)
    short_text = shown if len(shown) <= MOST_CHARACTERS else shown[:MOST_CHARACTERS] + " …"
    return escape(short_text)
