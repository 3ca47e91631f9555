"""The frequency of one value per cell: k of n, the share with its interval, and p against the
baseline. The counts are of single outputs; the report has the numbers over items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...protocol import EVERY, MeasureSpec
from ..selection.index import Index
from ..selection.parts import NONE, Count
from ..selection.view import View
from . import cells

TINY = 1e-6  # of a count that is a whole number


def value_of(index: Index, view: View) -> str:
    """Chooses the value to count: the view's, a measure's (headlines first) or the commonest."""
    values = list(index.values(view.attribute))
    if view.value in values:
        return view.value
    declared = (value for spec in _measures(index, view.attribute) for value in spec.values)
    return next((one for one in declared if one in values), values[0] if values else "")


def among(index: Index, view: View, value: str) -> tuple[str, ...]:
    """Returns the values that make the denominator of a counted value; () for all values."""
    specs = (spec for spec in _measures(index, view.attribute) if value in spec.among)
    return next((spec.among for spec in specs), ())


def _measures(index: Index, attribute: str) -> list[MeasureSpec]:
    specs = [
        s for s in index.protocol.measures if s.attribute == attribute and EVERY not in s.values
    ]
    return sorted(specs, key=lambda spec: not spec.headline)


def table(
    index: Index, view: View, rows: Sequence[str], value: str
) -> dict[tuple[str, str], Count]:
    """Counts the value among the labels of each cell."""
    chosen = cells.selection(view, narrow=False)
    weights_by_cell = index.table.cell_values(
        view.rows, view.columns, rows, chosen, (view.attribute, NONE)
    )
    selected = among(index, view, value)
    sums = {
        cell: (
            weights.get(value, 0.0),
            sum(w for v, w in weights.items() if v != NONE and (not selected or v in selected)),
        )
        for cell, weights in weights_by_cell.items()
    }
    baseline = cells.baseline(index, view)
    return {cell: _count(cell, sums, baseline) for cell in sums}


def _count(
    cell: tuple[str, str], sums: Mapping[tuple[str, str], tuple[float, float]], baseline: str
) -> Count:
    hits, n = sums[cell]
    if n <= 0:
        return Count(0.0, 0.0, None, None, None, None)
    if not _is_whole(hits, n):  # probabilities: read, not drawn
        return Count(hits, n, hits / n, None, None, None)
    from ...stats import association, wilson  # with scipy, which no other view needs

    interval = wilson.wilson(round(hits), round(n))
    other = sums.get((cell[0], baseline), (0.0, 0.0)) if cell[1] != baseline else (0.0, 0.0)
    p = None
    if other[1] > 0 and _is_whole(*other):
        p = association.fisher(
            hits_a=round(hits), n_a=round(n), hits_b=round(other[0]), n_b=round(other[1])
        ).p
    return Count(hits, n, hits / n, interval.low, interval.high, p)


def _is_whole(*numbers: float) -> bool:
    return all(abs(number - round(number)) < TINY for number in numbers)
