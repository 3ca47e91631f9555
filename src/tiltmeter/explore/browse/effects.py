"""The difference of labels between the columns of each row, by which items and pairs are sorted.

An effect is the total variation distance between the labels of two columns: the share of labels
that would have to change to make both equal, 0 to 1. Of more than two columns, the largest distance
counts, from the baseline if the protocol has one. It is descriptive, not a test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from ..selection.index import Index
from ..selection.parts import NONE, Effect
from ..selection.view import View
from . import cells

Weights = Mapping[str, float]
NO_EFFECT = Effect(0.0, False)


def distance(a: Weights, b: Weights) -> float:
    """Returns the total variation distance. By hand: (x 3, y 1) and (x 1, y 1): .25."""
    whole_a, whole_b = sum(a.values()), sum(b.values())
    if not whole_a or not whole_b:
        return 0.0
    values = dict.fromkeys((*a, *b))
    return sum(abs(a.get(v, 0) / whole_a - b.get(v, 0) / whole_b) for v in values) / 2


def commonest(weights: Weights) -> frozenset[str]:
    """Returns the commonest value; all such values if tied."""
    largest = max(weights.values(), default=0.0)
    return frozenset(value for value, weight in weights.items() if weight >= largest - 1e-9)


def compare(columns: Mapping[str, Weights], baseline: str) -> Effect:
    """Compares columns with the baseline, or all pairs without one: the largest distance counts."""
    if baseline in columns:
        others = (column for level, column in columns.items() if level != baseline)
        pairs: Sequence[tuple[Weights, Weights]] = [(columns[baseline], other) for other in others]
    else:
        pairs = list(combinations(columns.values(), 2))
    return Effect(
        max((distance(a, b) for a, b in pairs), default=0.0),
        any(not commonest(a) & commonest(b) for a, b in pairs),
    )


def by_row(index: Index, view: View, factor: str) -> dict[str, Effect]:
    """Returns {level of a factor: effect over the columns}; {} for the factor of the columns."""
    if factor == view.columns or factor not in (*index.factors, "subject", "mode"):
        return {}
    chosen = cells.selection(view, narrow=False, tab=False)
    values = index.table.cell_values(factor, view.columns, None, chosen, (view.attribute, NONE))
    rows: dict[str, dict[str, Weights]] = {}
    for (row, column), weights in values.items():
        rows.setdefault(row, {})[column] = weights
    baseline = cells.baseline(index, view)
    return {row: compare(columns, baseline) for row, columns in rows.items()}


def order_levels(
    index: Index, view: View, factor: str, effects: Mapping[str, Effect], levels: Sequence[str]
) -> list[str]:
    """Sorts levels of a factor for the list of items: by effect (first the levels whose commonest
    label changes), by mean surprise, or by how often annotators disagree.
    """
    if view.order == "effect" or not effects:
        effect_of = {level: effects.get(level, NO_EFFECT) for level in levels}
        return sorted(levels, key=lambda one: (not effect_of[one].changed, -effect_of[one].size))
    chosen = cells.selection(view, narrow=False, tab=False)
    marks = index.table.level_marks(factor, view.attribute, chosen)
    place = 0 if view.order == "surprise" else 1
    return sorted(levels, key=lambda level: -marks.get(level, (0.0, 0.0))[place])
