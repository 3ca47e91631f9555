"""Draws a table of rows × columns: as points by column in each row; or as a heat map if there are
more columns than distinct shapes, or if marks show the highest cell of each row.
"""

from __future__ import annotations

from dataclasses import replace

from ...analyse.words import reading
from ...analyse.words.numerals import LEADER, OPEN_LEADER
from ...protocol import MeasureSpec
from ...records import Estimate
from ..page_model import strata
from ..page_model.audits import Audit, slug
from ..page_model.figures import FigureRow, Heat, Plot
from ..tables.cross_table_axes import Levels
from ..tables.cross_tables import CrossTable
from . import axes, forest, heat

JOIN = " · "


def figure(read: Audit, table: CrossTable) -> Plot | Heat:
    """Returns a table as a plot or a heat map."""
    marked = any(cell.endswith((LEADER, OPEN_LEADER)) for _, cells in table.rows for cell in cells)
    if marked or len(table.columns) > strata.SERIES:
        return _heat(read, table)
    return _plot(read, table)


def _plot(read: Audit, table: CrossTable) -> Plot:
    """Returns a plot with a row per row of the table, headed by the first of its levels."""
    spec, estimates = _spec(read, table), list(table.estimates.values())
    rows, texts = [], []
    for levels, cells in table.rows:
        points = [
            forest.point(read, spec, table.estimates[levels, column], number, digits=2)
            for number, column in enumerate(table.columns)
            if (levels, column) in table.estimates
        ]
        named = [level for level in levels if level]
        heading, label = (named[0], JOIN.join(named[1:])) if named[1:] else ("", "".join(named))
        rows.append(FigureRow(heading, label or "all", tuple(points)))
        texts.append(f"{', '.join(levels)}: {', '.join(cells)}")
    return Plot(
        id=slug("table", table.title),
        title=table.title,
        text=f"{table.title}. {'; '.join(texts[: strata.SAID])}.",
        note=" ".join(table.notes),
        series=tuple(_titled(table.column_names, column) for column in table.columns),
        rows=tuple(rows),
        axis=axes.axis(spec, estimates, whole=False),
        joined=len(table.columns) < 3,
    )


def _titled(names: Levels, levels: Levels) -> str:
    axis = JOIN.join(filter(None, names))
    return f"{axis}: {JOIN.join(levels)}" if axis else JOIN.join(filter(None, levels))


def _heat(read: Audit, table: CrossTable) -> Heat:
    """Returns a heat map of the table's cells, with the symbols that mark cells in the table."""
    rows: dict[str, dict[str, Estimate]] = {}
    words: dict[tuple[str, str], tuple[str, str]] = {}
    spec = _spec(read, table)
    for levels, cells in table.rows:
        row = rows.setdefault(JOIN.join(levels), {})
        for column, text in zip(table.columns, cells, strict=True):
            if (levels, column) not in table.estimates:
                continue
            e = row[JOIN.join(column)] = table.estimates[levels, column]
            mark = next((one for one in (LEADER, OPEN_LEADER) if text.endswith(one)), "")
            number = reading.value(e, spec, 2)
            words[JOIN.join(levels), JOIN.join(column)] = number, mark
    estimates = list(table.estimates.values())
    grid = heat.Grid(JOIN.join(table.column_names), rows, estimates, words)
    figure = heat.heat(read, spec, grid, [*map(JOIN.join, table.columns)])
    name, note = slug("table", table.title), " ".join(table.notes)
    return replace(figure, id=name, title=table.title, note=note)


def _spec(read: Audit, table: CrossTable) -> MeasureSpec:
    """Returns the first estimate's measure, for unit, null value and sign of the whole figure. If
    the estimate is not a contrast, the measure loses its contrast and null value.
    """
    first = next(iter(table.estimates.values()))
    spec = read.spec(first.measure) or MeasureSpec(first.measure, "share", "", (), unit=first.unit)
    return spec if first.contrast else replace(spec, contrast=None, null=None)
