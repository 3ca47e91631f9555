"""Rows of the table of estimates, each an `Estimate` made from an interval, a test or bounds.

A kind of measure fills in its own results; subject, stratum and signature are added afterwards.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...protocol import MeasureSpec
from ...records import Estimate
from ...stats import rates, wilson
from ...stats.power import power
from ...stats.power.detectable import observed_shift
from ...stats.results import ALPHA, Interval, Test, join_notes
from ...stats.shuffles import resampling
from ...stats.shuffles.divergence import chance_adjusted
from ...stats.shuffles.permutation import Permuted
from ..counts.count_table import CountTable, Floats, Group, Pair
from ..words.numerals import RATIOS
from ..words.reading import BOUNDS

DRAWS = 9_999  # of a test by shuffling
Detect = Callable[[float], float | None]


def row_of(
    measure: MeasureSpec,
    condition: Mapping[str, str],
    contrast: Mapping[str, str] | None = None,
    value: float | None = None,
    **others: Any,
) -> Estimate:
    """Makes a row in the unit of its measure. others: further fields of `Estimate`."""
    fields = {"measure": measure.name, "unit": measure.unit, **others}
    return Estimate("", "", "", condition=condition, contrast=contrast, value=value, **fields)


def estimate_row(
    group: Group,
    measure: MeasureSpec,
    found: Interval,
    table: CountTable,
    contrast: Mapping[str, str] | None = None,
) -> Estimate:
    """Turns an interval into an estimate; numbers that are not finite become None."""
    low, high = (finite(found.low), finite(found.high)) if table.variant.intervals else (None, None)
    return row_of(
        measure,
        group.condition,
        contrast,
        finite(found.value),
        low=low,
        high=high,
        confidence=found.confidence if low is not None else None,
        interval_method=found.method if low is not None else None,
        n=round(float(group.among.sum()), 6),
        clusters=found.clusters,
        outcomes=group.outcomes,
        note=found.note or "",
        cautions=found.cautions,
        spread=spread_of(found),
    )


def with_shuffled(row: Estimate, found: Permuted, **others: Any) -> Estimate:
    """Adds the result of shuffling to a row: value, null band, and p if there is a test. others:
    further fields, which override the result's.
    """
    fields: dict[str, Any] = {"value": found.value, "null_low": found.low, "null_high": found.high}
    if found.p is not None:
        fields |= {"test": found.method, "p": finite(found.p)}
    return row.with_fields(**{**fields, **others})


def with_chance_adjusted(
    row: Estimate, found: Permuted, *notes: str | None, cells: str | None = None, **others: Any
) -> Estimate:
    """Adds the chance-adjusted value, with its null band on the same scale, and p. The note has the
    plain value and its expectation by chance. notes: put at its end; cells: put at its beginning.
    """
    if found.value is None or found.expected is None:
        return replace(row, note=found.note or "not measured")
    expected = found.expected
    low, high = (
        None if x is None else finite(chance_adjusted(divergence=x, expected=expected))
        for x in (found.low, found.high)
    )
    text = f"plug-in {found.value:.4f} bits, by chance {expected:.4f}"
    note = join_notes(cells, text, *notes) or ""
    ends = {"null_low": low, "null_high": high}
    return with_shuffled(row, found, value=finite(found.adjusted), **ends, note=note, **others)


def with_sides(estimate: Estimate, pair: Pair) -> Estimate:
    """Adds the pooled share at both levels, if both have answers."""
    totals = [float(among.sum()) for among in pair.among]
    if not all(totals):
        return estimate
    level, baseline = (float(x.sum()) / n for x, n in zip(pair.hits, totals, strict=True))
    return replace(estimate, sides={"level": level, "baseline": baseline})


def spread_of(found: Interval) -> tuple[float, float] | None:
    """Returns standard error and degrees of freedom of an interval by t; None for any other."""
    return (found.se, found.df) if found.se and found.df else None


def with_test(
    estimate: Estimate, test: Test, found: Interval, detect: Detect | None = None
) -> Estimate:
    """Adds p, and a function from the level of the test to the detectable difference.

    detect: the function of the row's own test; by default that of t, with the interval's error.
    """
    note = join_notes(estimate.note or None, test.note) or ""
    detect = detect or by_t(found, ratio=estimate.unit in RATIOS)
    return replace(estimate, test=test.method, p=finite(test.p), detect=detect, note=note)


def by_t(found: Interval, *, ratio: bool = False) -> Detect:
    """Returns a function: level → the difference that t detects, 80 % power. ratio: log scale."""

    def smallest(level: float) -> float | None:
        clusters = found.clusters or 0
        if not found.se or clusters < 2:
            return None
        shift = power.detectable(se=found.se, clusters=clusters, alpha=level)
        if not ratio:
            return shift
        # this much above a ratio of 1; a ratio of more than 1,000 says nothing
        return math.expm1(shift) if shift < math.log(1000) else None

    return smallest


def with_detectable(estimate: Estimate) -> Estimate:
    """Adds the difference that the row's test detects in its family with 80 % power; none without a
    test. Removes the fields with functions that run later (power, tests of items, cells).
    """
    if estimate.detect is None:
        return estimate
    if estimate.p is None:
        return replace(estimate, detect=None, test_items=None, name_cells=None)
    detectable = estimate.detect(ALPHA / (estimate.family_size or 1))
    return replace(
        estimate, detectable=finite(detectable), detect=None, test_items=None, name_cells=None
    )


def with_sign_flip(
    estimate: Estimate,
    differences: Floats,
    found: Interval,
    table: CountTable,
    as_unit: Callable[[float], float | None] = float,
) -> Estimate:
    """Adds a sign-flip test over items, if the variant has intervals. as_unit: converts a shift."""
    if not table.variant.intervals or not differences.size:
        return estimate

    def detect(level: float) -> float | None:
        shift = observed_shift(differences=differences, level=level)
        return None if shift is None else as_unit(shift)

    return with_test(estimate, sign_flip_of(estimate, differences, table.draws), found, detect)


def with_studentised_shuffle(
    estimate: Estimate,
    sides: tuple[Floats, Floats, Floats, Floats],
    found: Interval,
    table: CountTable,
    as_unit: Callable[[float], float | None] = float,
) -> Estimate:
    """Adds a test that reassigns outcomes to the two sides of each item: for few or unequal
    outputs, for which a sign flip rejects too often. sides: hits and outputs of each side, by item.
    """
    if not table.variant.intervals:
        return estimate
    xa, na, xb, nb = (np.rint(one) for one in sides)
    test = resampling.studentised_shuffle(
        hits_a=xa,
        n_a=na,
        hits_b=xb,
        n_b=nb,
        draws=table.draws,
        generator=generator_of(estimate),
    )

    def detect(level: float) -> float | None:
        parts = resampling.parts_of_difference(xa, na, xb, nb)
        shift = observed_shift(differences=parts, level=level)
        return None if shift is None else as_unit(shift)

    return with_test(estimate, test, found, detect)


def shift_as_odds(shift: float) -> float | None:
    """Converts a shift of a share from ½ into odds less 1. By hand: shift .1: .6/.4 - 1 = .5."""
    return 2 * shift / (0.5 - shift) if shift < 0.5 else None


def sign_flip_of(estimate: Estimate, differences: Floats, draws: int = DRAWS) -> Test:
    """Tests a row's differences by sign flips, seeded by the row's measure and condition."""
    is_sampled = np.count_nonzero(differences) > resampling.ENUMERATED
    generator = generator_of(estimate) if is_sampled else None
    return resampling.sign_flip(differences=differences, draws=draws, generator=generator)


def with_shuffled_items(
    estimate: Estimate, sides: tuple[Floats, Floats], found: Interval, table: CountTable
) -> Estimate:
    """Shuffles items over two sides that share no item (male- and female-typed nouns)."""
    if not table.variant.intervals:
        return estimate
    test = resampling.permuted_means(
        first=sides[0], second=sides[1], draws=DRAWS, generator=generator_of(estimate)
    )
    return with_test(estimate, test, found)


def bounds(group: Group, measure: MeasureSpec) -> Estimate:
    """Bounds a share: with all labels outside the denominator as non-hits, and as hits."""
    hits, among = float(group.hits.sum()), float(group.among.sum())
    bounds_of = rates.bounds(successes=hits, failures=max(0.0, among - hits), missing=group.missing)
    return bounds_row(group, measure, bounds_of)


def bounds_of_pair(pair: Pair, group: Group, measure: MeasureSpec) -> Estimate:
    """Bounds the difference over all values that labels outside the denominators could have."""
    (first, other) = (
        rates.bounds(successes=x.sum(), failures=max(0.0, (n - x).sum()), missing=missing.sum())
        for x, n, missing in zip(pair.hits, pair.among, pair.missing, strict=True)
    )

    def less(a: float | None, b: float | None) -> float | None:
        return None if a is None or b is None else a - b

    value, low, high = (
        less(first.value, other.value),
        less(first.low, other.high),
        less(first.high, other.low),
    )
    bounds = replace(first, value=value, low=low, high=high, note=None)
    return bounds_row(group, measure, bounds, pair.contrast)


def bounds_row(
    group: Group,
    measure: MeasureSpec,
    found: Interval,
    contrast: Mapping[str, str] | None = None,
) -> Estimate:
    """Makes a row of bounds, which stands next to the measure's own row."""
    return row_of(
        replace(measure, name=measure.name + BOUNDS),
        group.condition,
        contrast,
        finite(found.value),
        low=finite(found.low),
        high=finite(found.high),
        interval_method=found.method,
        n=round(sum(group.outcomes.values()), 6),
        clusters=group.among.size,
        outcomes=group.outcomes,
        note=found.note or "",
    )


def share_of_items(group: Group) -> Interval:
    """Returns the share of a group over its items; for a single item, over its outputs."""
    if group.fixed:
        return one_item(group)
    return rates.clustered_share(successes=group.hits, n=group.among)


def one_item(group: Group) -> Interval:
    """Returns the share of one item; its interval is over outputs, if these were sampled."""
    hits, n = float(group.hits.sum()), float(group.among.sum())
    if n == 0:
        return Interval(None, None, None, "wilson", n=0.0, note="no outcomes")
    if not group.drawn:
        return Interval(
            hits / n,
            None,
            None,
            "read",
            n=n,
            note="read from probabilities: no sampling error, one item",
        )
    return wilson.wilson(hits, n)


def from_null(group: Group, null: float) -> Floats:
    """Returns each item's share less the null value, weighted by its fraction of the denominator
    (mean weight 1); the sum is proportional to Σ(x − null·n).
    """
    total = group.among.sum()
    if total == 0:
        return np.zeros(0)
    differences: Floats = (group.hits - null * group.among) * (group.among.size / total)
    return differences


def generator_of(estimate: Estimate) -> np.random.Generator:
    """Returns a generator seeded by measure, condition and contrast: equal rows sample alike."""
    where = [
        estimate.measure,
        sorted(estimate.condition.items()),
        sorted((estimate.contrast or {}).items()),
    ]
    return np.random.default_rng(zlib.crc32(json.dumps(where).encode()))


def finite(value: float | None) -> float | None:
    """Returns the value as a float; None if it is missing, infinite or NaN."""
    return float(value) if value is not None and np.isfinite(value) else None
