"""For each value, the level of a factor at which its share is largest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...protocol import MeasureSpec
from ...records import Estimate
from ...stats.results import join_notes
from ...stats.shuffles import permutation
from ...stats.shuffles.permutation import Permuted
from ..counts.count_table import CountTable, Group
from .estimate_rows import estimate_row, finite, one_item


def leader(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Finds the level at which each value's share is largest, with p for alike shares at levels."""
    counted = [
        (added, [group for group in groups if group.among.sum() > 0])
        for added, groups in table.count_groups(measure, by)
    ]
    tests = (
        _values_alike(table, [groups for _, groups in counted])
        if table.drawn and table.variant.intervals
        else ()
    )
    for number, (added, groups) in enumerate(counted):
        shares = [float(group.hits.sum() / group.among.sum()) for group in groups]
        if not groups or max(shares) == 0:
            continue
        first = groups[int(np.argmax(shares))]
        ties = [
            ", ".join(g.condition.values())
            for g, s in zip(groups, shares, strict=True)
            if s == max(shares)
        ]
        estimate = estimate_row(
            replace(first, condition={**first.condition, **added}),
            measure,
            one_item(_pool_items(first)),
            table,
        )
        estimate = replace(
            estimate,
            note=join_notes(
                estimate.note or None, f"tie of {'; '.join(ties)}" if ties[1:] else None
            )
            or "",
        )
        if tests:
            estimate = replace(estimate, test=tests[number].method, p=finite(tests[number].p))
        yield estimate


def _values_alike(table: CountTable, counted: Sequence[Sequence[Group]]) -> list[Permuted]:
    """Tests, per value, if all groups have the same share. counted: the groups of each value."""
    if not any(counted):
        return []
    sums = np.array([[round(float(group.hits.sum())) for group in groups] for groups in counted])
    misses = np.array([round(float(group.among.sum())) for group in counted[0]]) - sums.sum(axis=0)
    if (misses < 0).any():  # several values an output: one by one
        return [permuted for groups in counted for permuted in _values_alike(table, [groups])]
    sides = [
        np.repeat(np.arange(len(sums) + 1), [*one, remainder])
        for one, remainder in zip(sums.T, misses, strict=True)
    ]
    permuted = permutation.each_value(groups=sides, shuffles=table.shuffles)
    # none for one group
    rows = dict(zip(np.unique(np.concatenate(sides)).tolist(), permuted.attributes, strict=False))
    return [rows.get(value, permuted) for value in range(len(sums))]


def _pool_items(group: Group) -> Group:
    return replace(group, hits=group.hits.sum(keepdims=True), among=group.among.sum(keepdims=True))
