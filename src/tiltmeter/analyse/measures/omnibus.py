"""The omnibus question of several groups: are they all alike?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...protocol import MeasureSpec
from ...records import Estimate
from ...stats.results import join_notes
from ...stats.shuffles import conditions
from ..counts.count_table import CountTable, Group
from .estimate_rows import DRAWS, finite, generator_of, row_of


def alike(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Yields the largest share over the levels of a factor less the smallest, in shares, with p of
    all shares being equal: shares are shuffled over the levels inside each item. No interval, since
    a range is above 0 whatever the truth.

    By hand: items at levels a, b, c with shares (1, 0, .5) and (1, 1, .5): means 1, .5, .5, so .5.
    """
    factor = (measure.contrast or {})["factor"]
    for added, values in table.values(measure):
        for key, cuts in table.sides(measure, by, factor).items():
            groups = {
                level: table.group(cut, measure, values)
                for level, cut in cuts.items()
                if cut.outputs.sum() > 0
            }
            if len(groups) > 1:
                yield _row(table, measure, {**dict(key), **added}, factor, groups)


def _row(
    table: CountTable,
    measure: MeasureSpec,
    condition: dict[str, str],
    factor: str,
    groups: dict[str, Group],
) -> Estimate:
    shares = {
        level: float(g.hits.sum() / g.among.sum()) for level, g in groups.items() if g.among.sum()
    }
    top, bottom = (pick(shares, key=lambda level: shares[level]) for pick in (max, min))
    items = list(dict.fromkeys(item for group in groups.values() for item in group.items))
    columns = []
    for group in groups.values():
        hits, among = group.align_to(items)
        columns.append(np.divide(hits, among, out=np.full(len(items), np.nan), where=among > 0))
    row = row_of(
        measure,
        condition,
        {factor: f"all {len(groups)} levels"},
        finite(shares[top] - shares[bottom]),
        n=round(sum(float(group.among.sum()) for group in groups.values()), 6),
        clusters=len(items),
        note=f"largest for {top} ({shares[top]:.3f}), smallest for {bottom} ({shares[bottom]:.3f})",
    )
    if not table.drawn or not table.variant.intervals:
        return row
    test = conditions.conditions_alike(
        rates=np.stack(columns, axis=1), draws=DRAWS, generator=generator_of(row)
    )
    return replace(
        row, test=test.method, p=finite(test.p), note=join_notes(row.note, test.note) or ""
    )
