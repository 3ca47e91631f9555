"""The distance between the label distributions of a factor's levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, product

import numpy as np
import polars as pl

from ...protocol import MeasureSpec
from ...records import Estimate
from ...stats.arguments import Codes
from ...stats.power.detectable import divergence_shift
from ...stats.shuffles import chance, divergence, permutation
from ...stats.shuffles.permutation import Permuted
from ..counts.count_table import CountTable
from .estimate_rows import Detect, row_of, with_chance_adjusted

UNIT = "share of 1 bit"


def divergences(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Jensen–Shannon divergence of the label distributions between the levels of a factor,
    chance-adjusted, in each group of the grouping.

    One row over all pairs of levels (if three or more), then one per pair; E₀ is exact, null band
    and p by shuffling outputs. No interval is claimed. Without `among`, every answer counts;
    refusals and other non-answers never do.
    """
    for condition, part in _groups(table, by):
        yield from (replace(row, condition=condition) for row in _between_levels(part, measure))


def _groups(table: CountTable, by: Sequence[str]) -> Iterator[tuple[dict[str, str], CountTable]]:
    """Yields ({factor in `by`: level}, its rows) per combination that has rows, in design order."""
    levels = [list(table.protocol.levels[factor]) for factor in by]
    for combination in product(*levels):
        condition = dict(zip(by, combination, strict=True))
        rows = table.rows.filter(*(pl.col(name) == level for name, level in condition.items()))
        if not by or not rows.is_empty():
            yield condition, replace(table, rows=rows)


def codes_of(table: CountTable, measure: MeasureSpec, among: Sequence[str]) -> dict[str, Codes]:
    """Returns the labels at each level of the measure's factor as codes, shape (outputs, 1): the
    index of each value in `among`. Levels without labels are left out.
    """
    factor = (measure.contrast or {})["factor"]
    rows = table.rows.filter(
        (pl.col("attribute") == measure.attribute) & pl.col("value").is_in(list(among))
    )
    codes: dict[str, Codes] = {}
    for level in table.protocol.levels[factor]:
        at_level = rows.filter(pl.col(factor) == level)
        sums = at_level.group_by("value", maintain_order=True).agg(pl.col("weight").sum())
        counts = dict(sums.iter_rows())
        if counts:
            sizes = [round(counts.get(value, 0.0)) for value in among]
            codes[level] = np.repeat(np.arange(len(sizes)), sizes)[:, None]
    return codes


def _between_levels(table: CountTable, measure: MeasureSpec) -> Iterator[Estimate]:
    """Yields the estimate over all pairs of the factor's levels, then that of each pair."""
    factor = (measure.contrast or {})["factor"]
    among = table.answers(measure)
    codes = codes_of(table, measure, among) if table.drawn else {}
    totals = sum((_counts(one, len(among)) for one in codes.values()), start=np.zeros(len(among)))
    outcomes = {value: float(number) for value, number in zip(among, totals, strict=True) if number}
    blank = row_of(measure, {}, unit=UNIT, outcomes=outcomes)
    all_pairs = replace(blank, contrast={factor: "all pairs"})
    if len(codes) < 2:
        reason = (
            f"labels of fewer than two levels of {factor}"
            if table.drawn
            else "read from probabilities: nothing to shuffle"
        )
        yield replace(all_pairs, note=reason)
        return
    counts = {level: _counts(one, len(among)) for level, one in codes.items()}
    if len(codes) > 2:  # of two, all pairs are one
        result = permutation.pairs_within(groups=list(codes.values()), shuffles=table.shuffles)
        row = _with_permutation(all_pairs, result, list(counts.values()))
        yield replace(row, detect=_smallest_found(codes, len(codes)))
        outcomes = {}
    of_two = _smallest_found(codes, 2)
    for a, b in combinations(codes, 2):
        one = replace(blank, contrast={factor: f"{a} − {b}"}, outcomes=outcomes)
        result = permutation.base_against_group(
            base=codes[a], group=codes[b], shuffles=table.shuffles
        )
        row = _with_permutation(one, result, [counts[a], counts[b]])
        yield replace(row, detect=of_two)


def _smallest_found(codes: Mapping[str, Codes], groups: int) -> Detect:
    """Returns a function from the test's level to the divergence that shuffling detects with 80 %
    power. Alternative: one of `groups` groups shifts towards the rarest value, the others stay at
    the pooled distribution; every group has the harmonic mean of the levels' numbers of outputs.
    """
    counts = np.bincount(np.concatenate(list(codes.values()))[:, 0])
    shares = counts[counts > 0]
    outputs = round(len(codes) / sum(1 / len(one) for one in codes.values()))

    @cache
    def smallest(level: float) -> float | None:
        if shares.size < 2:
            return None
        shift = divergence_shift(shares=shares, outputs=outputs, groups=groups, level=level)
        return None if shift is None else shift[1]

    return smallest


def _counts(codes: Codes, values: int) -> Codes:
    return np.bincount(codes[:, 0], minlength=values)


def _with_permutation(estimate: Estimate, found: Permuted, counts: Sequence[Codes]) -> Estimate:
    return adjusted_row(estimate, exact(found, chance.expected_divergence(groups=counts)))


def exact(found: Permuted, expected: float) -> Permuted:
    """Replaces the expectation E₀, estimated over shuffles, by its exact value `expected`."""
    if found.value is None:
        return found
    adjusted = divergence.chance_adjusted(divergence=found.value, expected=expected)
    return replace(found, expected=expected, adjusted=adjusted)


def adjusted_row(estimate: Estimate, found: Permuted) -> Estimate:
    """Sets the chance-adjusted divergence as the row's value; None if it has no null band."""
    if found.low is None or found.high is None:
        found = replace(found, value=None)
    return with_chance_adjusted(estimate, found, found.note, n=float(sum(found.sizes)))
