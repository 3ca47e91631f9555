"""Measures of items with several prompts each: each item is compared with its own controls.

A measure's contrast names the factor and its control levels, {factor = "prompt_language", controls
= "en|zh"}; all other levels together are the tested side. A hit is a value that the measure's
`expected` names for the group, so that an effect is positive in the direction of the grammatical
gender for nouns of both genders.

Items are the clusters, or groups of items that share their controls (see `pooling.spread_shared`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from ...protocol import MeasureSpec
from ...protocol.design.tables import SEVERAL
from ...records import Estimate
from ...stats import association, rates
from ...stats.power.detectable import observed_shift
from ...stats.results import ALPHA, Interval, Test, join_notes
from ...stats.shuffles import resampling
from ..counts.count_table import CountTable, Cut, Floats, Group, Key, together
from ..counts.shared_items import SHARED
from .estimate_rows import by_t, estimate_row, finite, sign_flip_of, with_test

TESTED = "tested"  # the side that is no control


@dataclass(frozen=True)
class Sides:
    """One group of items by side. Arrays have one entry per item, shape (C,).

    hits, among, total: by side, the hits, the denominator, and all labels; clusters: the index of
    each item's cluster; names: names of the clusters; items: names of the items.
    """

    condition: Mapping[str, str]
    hits: Mapping[str, Floats]
    among: Mapping[str, Floats]
    total: Mapping[str, Floats]
    outcomes: Mapping[str, Mapping[str, float]]
    clusters: np.ndarray[tuple[int], np.dtype[np.int64]]
    names: Sequence[str] = ()
    items: Sequence[str] = ()

    def sum_by_cluster(self, values: Floats) -> Floats:
        """Sums values by item into values by cluster."""
        sums: Floats = np.bincount(self.clusters, weights=values).astype(np.float64)
        return sums

    @cached_property
    def defined(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """True for items with a denominator above 0 on every side, as the paper's test requires."""
        flags: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.all(
            [n > 0 for n in self.among.values()], axis=0
        )
        return flags

    def share(self, side: str, rest: float) -> float:
        """Returns the share if a fraction `rest` (0 to 1) of labels outside `among` were hits."""
        total = self.total[side].sum()
        missing = total - self.among[side].sum()
        return float((self.hits[side].sum() + rest * missing) / total) if total > 0 else np.nan

    def differences(self, control: str) -> Floats:
        """Returns the tested share less the control's, of defined items, averaged per cluster."""
        defined = self.defined
        gap = (
            self.hits[TESTED][defined] / self.among[TESTED][defined]
            - self.hits[control][defined] / self.among[control][defined]
        )
        number = np.bincount(self.clusters[defined], minlength=1)
        return (
            np.bincount(self.clusters[defined], weights=gap, minlength=1) / np.maximum(number, 1)
        )[number > 0]


def effect(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Share of hits on the tested side less the share in each control.

    per = "labels": pooled counts, interval by linearisation over clusters, paired t over items that
    are defined on every side; per = "items": the mean of the items' differences with t(C-1), and a
    sign-flip test. `…_bounds`: for all values that labels outside the denominator could have.
    By hand: words with 3 of 4 and 1 of 2 hits, controls 1 of 4 and 1 of 2: pooled 4/6 − 2/6 = .333,
    by item (.5 + 0)/2.
    """
    for sides in item_sides(table, measure, by):
        for control in (measure.contrast or {})["controls"].split(SEVERAL):
            if control in sides.hits:
                yield _effect(sides, control, measure, table)
                if table.variant.intervals and measure.per == "labels":
                    yield bounds(sides, control, measure, table)


def item_sides(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Sides]:
    """Yields each group that has the tested side and a control, as arrays by item."""
    shared = shared_items(table)
    for key, cuts in side_cuts(table, measure, by).items():
        if TESTED in cuts and len(cuts) > 1:
            yield _arrays(measure, dict(key), cuts, shared)


def side_cuts(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> dict[Key, dict[str, Cut]]:
    """Returns the groups of one grouping, each cut into the tested side and the controls."""
    contrast = measure.contrast or {}
    column = pl.col(contrast["factor"])
    side = (
        pl.when(column.is_in(contrast["controls"].split(SEVERAL)))
        .then(column)
        .otherwise(pl.lit(TESTED))
    )
    rows = table.rows.with_columns(side.alias(contrast["factor"]))
    return replace(table, rows=rows).sides(measure, by, contrast["factor"])


def shared_items(table: CountTable) -> dict[str, str]:
    """Returns {item: the name of the group of items that share its controls}."""
    if SHARED not in table.rows.columns:
        return {}
    item = table.protocol.item
    return dict(
        table.rows.filter(pl.col(SHARED) != "")
        .select(item, SHARED)
        .unique()
        .sort(item, SHARED)
        .iter_rows()
    )


def _arrays(
    measure: MeasureSpec,
    condition: dict[str, str],
    cuts: Mapping[str, Cut],
    shared: Mapping[str, str],
) -> Sides:
    items = list(
        dict.fromkeys(item for cut in (cuts[TESTED], *cuts.values()) for item in cut.items)
    )
    places = {item: place for place, item in enumerate(items)}

    def align_values(cut: Cut, values: Sequence[str]) -> Floats:
        aligned = np.zeros(len(items))
        aligned[[places[item] for item in cut.items]] = cut.sum(values)
        return aligned

    names = list(dict.fromkeys(shared.get(item, item) for item in items))
    clusters = np.array([names.index(shared.get(item, item)) for item in items], dtype=np.int64)
    return Sides(
        condition,
        {side: align_values(cut, hits_of(measure, condition)) for side, cut in cuts.items()},
        {side: align_values(cut, measure.among) for side, cut in cuts.items()},
        {side: align_values(cut, tuple(cut.values)) for side, cut in cuts.items()},
        {side: cut.outcomes for side, cut in cuts.items()},
        clusters,
        names,
        items,
    )


def hits_of(measure: MeasureSpec, condition: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the values that are hits in a group: the expected ones, else the measure's values."""
    expected = [
        levels[condition[factor]].split(SEVERAL)
        for factor, levels in measure.expected.items()
        if factor in condition
    ]
    return tuple(value for values in expected for value in values) or measure.values


def _effect(sides: Sides, control: str, measure: MeasureSpec, table: CountTable) -> Estimate:
    (xa, na), (xb, nb) = ((sides.hits[side], sides.among[side]) for side in (TESTED, control))
    differences = sides.differences(control)
    if measure.per == "items":
        interval = rates.clustered_mean(values=differences)
    else:
        interval = rates.clustered_difference(
            successes_a=sides.sum_by_cluster(xa),
            n_a=sides.sum_by_cluster(na),
            successes_b=sides.sum_by_cluster(xb),
            n_b=sides.sum_by_cluster(nb),
        )
    estimate = _estimate_of(sides, control, measure, interval, table, na + nb)
    if measure.null is None:
        return estimate
    test = _test(differences, measure, estimate, table)
    missing = int((~sides.defined).sum())
    note = f"without a share on some side and left out of the test: {missing}" if missing else None

    def detect(level: float) -> float | None:
        if not table.variant.intervals:  # as published: t, and one test
            return by_t(interval)(ALPHA)
        return observed_shift(differences=differences, level=level)

    row = with_test(estimate, test, interval, detect)
    return replace(row, note=join_notes(row.note or None, note) or "")


def _test(differences: Floats, measure: MeasureSpec, estimate: Estimate, table: CountTable) -> Test:
    """Tests differences by t; by sign flips per item, or (unless as published) below 12 items."""
    if measure.per == "items":
        return sign_flip_of(estimate, differences)
    if not table.variant.intervals:
        return association.paired_t(differences=differences)
    return resampling.paired_test(differences=differences)


def _estimate_of(
    sides: Sides,
    control: str,
    measure: MeasureSpec,
    found: Interval,
    table: CountTable,
    among: Floats,
) -> Estimate:
    """Makes the estimate of one contrast from an interval, with the outcomes of both sides."""
    outcomes = together(sides.outcomes[TESTED], sides.outcomes[control])
    group = Group(sides.condition, (), among, among, outcomes)
    return replace(
        estimate_row(group, measure, found, table),
        contrast={(measure.contrast or {})["factor"]: control},
    )


def bounds(sides: Sides, control: str, measure: MeasureSpec, table: CountTable) -> Estimate:
    """Returns the range of the effect if labels outside the denominator are hits or are not."""
    xa, na, xb, nb = (
        values[side].sum() for side in (TESTED, control) for values in (sides.hits, sides.among)
    )
    value = finite(xa / na - xb / nb) if na > 0 and nb > 0 else None
    ends = [sides.share(TESTED, rest) - sides.share(control, 1 - rest) for rest in (0.0, 1.0)]
    n = sides.total[TESTED] + sides.total[control]
    interval = Interval(value, finite(ends[0]), finite(ends[1]), "bounds", 1.0, clusters=n.size)
    estimate = _estimate_of(
        sides, control, replace(measure, name=f"{measure.name}_bounds"), interval, table, n
    )
    return replace(estimate, confidence=None)
