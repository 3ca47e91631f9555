"""Rows of tables and drawers as HTML. A page has tens of thousands of rows, so these are kept
short: numbers, the majority of cells, have no class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from ...analyse.words import numerals
from ..page_model.figures import Pairs
from ..page_model.table import Table

LONG = 40  # characters of a cell from which on its text is broken into lines
MARK, NUMBER = "mark", "number"  # kinds of columns


def table_rows(table: Table, drawers: Mapping[str, str], prefix: str) -> str:
    """Returns the body of a table. drawers: {query: id of its drawer}, to which the first number of
    a row links; prefix: begins every id of the page.
    """
    kinds = [column.kind for column in table.columns]
    linked = kinds.index(NUMBER) if NUMBER in kinds else -1
    several = len({row[0] for row in table.rows}) < len(table.rows)
    parts, before = [], ""
    for place, row in enumerate(table.rows):
        new = several and place > 0 and row[0] != before
        before = row[0]
        drawer = drawers.get(table.links[place], "") if table.links else ""
        parts.append('<tr class="new">' if new else "<tr>")
        parts.extend(_cells(row, kinds, prefix, linked if drawer else -1, drawer))
        parts.append("</tr>\n")
    return "".join(parts)


def _cells(
    row: tuple[str, ...], kinds: list[str], prefix: str, linked: int, drawer: str
) -> Iterator[str]:
    long = ' class="long"' if len(row[0]) > LONG else ""
    yield f'<th scope="row"{long}>{escape(row[0])}</th>'
    for place in range(1, len(row)):
        kind, text = kinds[place], escape(row[place])
        if kind == MARK and text != numerals.NOTHING:
            yield f'<td class="mark"><a href="#{prefix}{text}">{text}</a></td>'
        elif place == linked:
            yield f'<td><a href="#{prefix}{drawer}">{text}</a></td>'
        else:
            names = ("" if kind == NUMBER else kind, "long" if len(row[place]) > LONG else "")
            classes = " ".join(filter(None, names))
            yield f'<td class="{classes}">{text}</td>' if classes else f"<td>{text}</td>"


def place_links(places: Pairs, prefix: str) -> str:
    """Writes a drawer's outputs as HTML list items. places: (id in the page, label)."""
    return "".join(
        f'<li><a href="#{prefix}{target}">{escape(label)}</a></li>' for target, label in places
    )
