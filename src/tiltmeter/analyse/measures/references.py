"""Measures against a reference distribution: labour shares, a census, the shares of a catalogue.

A measure's `reference` is the name of a column of the tables, a share from 0 to 1 for each item
(women among nurses), or {value = share} for the whole (a census). The reference is taken as known:
no interval contains its error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...protocol import MeasureSpec
from ...protocol.design.tables import SEVERAL
from ...records import Estimate
from ...stats import means, rates
from ...stats.results import Interval, count_of, join_notes
from ..counts.count_table import CountTable, Floats, Group
from .estimate_rows import (
    estimate_row,
    from_null,
    one_item,
    share_of_items,
    with_sign_flip,
    with_test,
)
from .lineup_rows import lineups_of, with_lineups

WHOLE = "given shares"  # names a reference that is no column


def from_reference(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    """Yields a share less its reference, over items, paired: Σ(hits_i −
    reference_i·among_i)/Σamong, clustered by item.

    By hand: items with 3 of 4 and 1 of 4 hits, references .5 and .25: 4/8 − (2 + 1)/8 = .125.
    """
    if isinstance(measure.reference, Mapping):
        yield from _from_whole(table, measure, by, measure.reference)
        return
    for group, reference, note in _with_references(table, measure, by):
        interval = _difference(group, reference)
        estimate = replace(
            estimate_row(group, measure, interval, table),
            contrast={"reference": str(measure.reference)},
            sides=_sides(interval.value, _mean(reference, group.among)),
        )
        if measure.null is not None and not group.fixed and group.among.sum() > 0:
            expected = (reference + measure.null) * group.among
            gaps = (group.hits - expected) * (group.among.size / group.among.sum())
            estimate = with_sign_flip(estimate, gaps, interval, table)
        yield replace(estimate, note=join_notes(estimate.note or None, note) or "")


def reference_slope(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    """Yields the slope of the share on the reference over items: 1 if the share follows the
    reference, above 1 if it exaggerates, 0 if it ignores it.

    Every item counts alike. By hand: references .2, .5, .8 and shares .1, .5, .9: .24/.18 = 1.33.
    """
    for group, reference, note in _with_references(table, measure, by):
        slope = means.slope(successes=group.hits, n=group.among, reference=reference)
        estimate = replace(
            estimate_row(group, measure, slope, table),
            contrast={"reference": str(measure.reference)},
        )
        if measure.null is not None and table.variant.intervals and not group.fixed:
            estimate = with_test(estimate, means.slope_test(slope=slope, null=measure.null), slope)
        yield replace(estimate, note=join_notes(estimate.note or None, note) or "")


def _from_whole(
    table: CountTable, measure: MeasureSpec, by: Sequence[str], reference: Mapping[str, float]
) -> Iterator[Estimate]:
    """Yields each value's share (of `among`, else of the reference's values) less its reference."""
    measure = replace(measure, among=measure.among or tuple(reference))
    cuts = list(table.cuts(measure, by))
    rankings = lineups_of(table, measure, by, reference)
    for number, (value, expected) in enumerate(reference.items()):
        for group in (table.group(cut, measure, (value,)) for cut in cuts):
            interval = _shift_interval(share_of_items(group), expected)
            place = tuple(group.condition.items())
            condition = {**group.condition, measure.attribute: value}
            row = estimate_row(replace(group, condition=condition), measure, interval, table)
            sides = _sides(row.value, expected)
            row = replace(row, contrast={"reference": f"{WHOLE} ({expected:g})"}, sides=sides)
            if measure.null is not None and not group.fixed:
                row = with_sign_flip(
                    row, from_null(group, expected + measure.null), interval, table
                )
                row = with_lineups(row, rankings.get(place), number, interval, measure.null)
            yield row


def _mean(reference: Floats, among: Floats) -> float:
    """Returns the mean reference over a group's answers: the share that the reference implies."""
    total = float(among.sum())
    return float((reference * among).sum()) / total if total else 0.0


def _sides(difference: float | None, expected: float) -> dict[str, float] | None:
    """Returns the share and its reference as the two sides of a row."""
    return None if difference is None else {"level": difference + expected, "baseline": expected}


def _difference(group: Group, reference: Floats) -> Interval:
    """Returns a share less its reference; for one item, the share's own interval, shifted."""
    if group.fixed:
        return _shift_interval(one_item(group), float(reference[0]) if reference.size else 0.0)
    interval = rates.clustered_difference(
        successes_a=group.hits,
        n_a=group.among,
        successes_b=reference * group.among,
        n_b=group.among,
    )
    return replace(interval, n=float(group.among.sum()))


def _shift_interval(found: Interval, by: float) -> Interval:
    ends = (None if end is None else end - by for end in (found.value, found.low, found.high))
    value, low, high = ends
    return replace(found, value=value, low=low, high=high)


def _with_references(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[tuple[Group, Floats, str | None]]:
    """Yields (group of items that have references, these references, note on other items)."""
    for added, groups in table.count_groups(measure, by):
        for group in groups:
            references = _of_items(table, measure, group.condition)
            places = [place for place, item in enumerate(group.items) if item in references]
            missing = len(group.items) - len(places)
            restricted = replace(
                group,
                condition={**group.condition, **added},
                items=[group.items[place] for place in places],
                hits=group.hits[places],
                among=group.among[places],
            )
            note = f"{count_of(missing, 'item')} without a reference left out" if missing else None
            yield (
                restricted,
                np.array([references[item] for item in restricted.items], dtype=np.float64),
                note,
            )


def _of_items(
    table: CountTable, measure: MeasureSpec, condition: Mapping[str, str]
) -> dict[str, float]:
    """Averages the reference of each item over its cells, with equal weights."""
    rows, protocol, column = table.rows, table.protocol, str(measure.reference)
    # What the stratum has one level of (a language) is its condition too.
    fixed = {
        name: str(rows[name][0])
        for name in protocol.factors
        if name != protocol.item and name in rows.columns and rows[name].n_unique() == 1
    }
    levels_by_name: dict[str, tuple[str, ...]] = {
        name: levels for name, levels in measure.where.items() if name != "mode"
    }
    levels_by_name |= {
        name: (level,) for name, level in {**fixed, **condition}.items() if name in protocol.factors
    }
    by_item: dict[str, list[float]] = {}
    for cell in protocol.cells:
        levels = {name: {cell[name], *cell[name].split(SEVERAL)} for name in levels_by_name}
        if cell[column].strip() and all(
            levels[name] & set(allowed) for name, allowed in levels_by_name.items()
        ):
            by_item.setdefault(cell[protocol.item], []).append(float(cell[column]))
    return {item: sum(shares) / len(shares) for item, shares in by_item.items()}
