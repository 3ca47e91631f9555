"""Counts the items of a design, as a table and a figure (GRAMVIS, Tables 4–9, Figures 6–11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...errors import UnknownName
from ...protocol import Protocol
from ...protocol.design.tables import SEVERAL
from ..page_model import audits
from ..page_model.figures import Bar, Stacked
from .cross_tables import CrossTable

ALL = "all"
Counts = dict[str, Counter[str]]  # a level of the rows → levels of the columns → items


def counts(protocol: Protocol, rows: str, column: str) -> Counts:
    """Counts items by two columns of the design, in its order. Raises UnknownName for an unknown
    column. Each item counts once; a cell that several items share does not count.
    """
    for name in (rows, column):
        if name not in protocol.cells[0]:
            raise UnknownName("column", name, protocol.cells[0])
    items = {
        cell[protocol.item]: cell for cell in protocol.cells if SEVERAL not in cell[protocol.item]
    }
    by_level: Counts = {}
    for cell in items.values():
        by_level.setdefault(cell[rows], Counter())[cell[column]] += 1
    return by_level


def table(protocol: Protocol, by: Sequence[str]) -> CrossTable:
    """Tabulates items by one column or two, with per cent of the total, or of each row."""
    rows, column = by[0], by[-1]
    by_row = counts(protocol, rows, column)
    items = sum(one.total() for one in by_row.values())
    title = f"{protocol.item}s of {protocol.name} by {' and '.join(by)}"
    if len(by) == 1:
        lines = [(level, str(n.total()), _percent(n.total(), items)) for level, n in by_row.items()]
        each = tuple(((level,), (n, share)) for level, n, share in lines)
        total = ((ALL,), (str(items), _percent(items, items)))
        return CrossTable(title, (rows,), ("items",), (("number",), ("%",)), (*each, total))
    levels = list(dict.fromkeys(level for one in by_row.values() for level in one))
    summed = Counter[str]()
    for one in by_row.values():
        summed.update(one)
    lines_of = tuple(
        ((level,), (*(_cell(one[name], one.total()) for name in levels), str(one.total())))
        for level, one in (*by_row.items(), (ALL, summed))
    )
    columns = (*((name,) for name in levels), (ALL,))
    notes = (f"items, and their per cent of the row; {items} in all",)
    return CrossTable(title, (rows,), (column,), columns, lines_of, notes)


def figure(protocol: Protocol, by: Sequence[str]) -> Stacked:
    """Draws a bar per level of the first column, split by the second; without a second, one bar."""
    rows, column = by[0], by[-1]
    by_level = counts(protocol, rows, column)
    if len(by) == 1:
        summed = Counter({level: one.total() for level, one in by_level.items()})
        by_level = {ALL: summed}
    levels = list(dict.fromkeys(level for one in by_level.values() for level in one))
    bars = tuple(
        Bar("", level, tuple(one[name] / one.total() for name in levels), str(one.total()))
        for level, one in by_level.items()
    )
    composition = table(protocol, by)
    described = "; ".join(f"{level[0]}: {', '.join(cells)}" for level, cells in composition.rows)
    return Stacked(
        id=audits.slug("composition", *by),
        title=composition.title,
        text=f"{composition.title}. {described}.",
        note=f"Shares of {protocol.item}s; their number behind each bar.",
        parts=tuple(levels),
        answers=len(levels),
        bars=bars,
    )


def _cell(number: int, of: int) -> str:
    return f"{number} ({_percent(number, of)})" if number else "0"


def _percent(number: int, of: int) -> str:
    return f"{100 * number / of:.1f} %" if of else "–"
