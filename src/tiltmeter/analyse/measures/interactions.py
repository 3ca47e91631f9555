"""Differences that depend on a factor outside the protocol's question, which can reverse them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...protocol import MeasureSpec
from ...protocol.design.contrasts import each_contrast, nuisance_measures
from ...records import Estimate
from ...stats import rates
from ...stats.shuffles.resampling import parts_of_difference
from ..counts.count_table import CountTable, Floats, Group, Pair
from ..words.reading import INTERACTION
from .estimate_rows import estimate_row, with_sign_flip


class DoubleDifference(NamedTuple):
    """A difference of differences at two levels of another factor. differences: by item."""

    value: float
    differences: Floats
    n: Floats

    def row(self, pair: Pair, measure: MeasureSpec, table: CountTable) -> Estimate:
        """Makes the estimate, with a sign flip. pair: gives condition, contrast and outcomes."""
        interval = replace(rates.clustered_mean(values=self.differences), value=self.value)
        group = Group(pair.condition, (), np.zeros_like(self.n), self.n, pair.outcomes)
        row = estimate_row(group, measure, interval, table, pair.contrast)
        return with_sign_flip(row, self.differences, interval, table)


def interactions(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Yields interactions: the difference at one level of a factor less that at another, for the
    pairs of levels that the measure of the factor's own effect compares. Yields none if the last
    factor of ``by`` has no such measure, or this measure is no headline.

    Value: pooled shares, (p₁ - p₀) at one level less (p₁ - p₀) at the other; the test flips the
    sign of each item's part. By hand: one item with .8 - .4 at one level, .5 - .5 at the other: .4.
    """
    nuisances = [
        spec for name, spec in nuisance_measures(table.protocol, measure) if by[-1:] == (name,)
    ]
    if not nuisances or not measure.headline or not table.variant.intervals:
        return
    factor = by[-1]
    pairs: dict[tuple[tuple[str, str], ...], dict[str, Pair]] = {}
    for added, pair in table.pairs(measure, by):
        rest = {name: level for name, level in pair.condition.items() if name != factor} | added
        pairs.setdefault(tuple(rest.items()), {})[pair.condition[factor]] = pair
    for condition, levels in pairs.items():
        for other in each_contrast(table.protocol, nuisances[0]):
            contrast = other.contrast or {}
            ends = (contrast["level"], contrast["baseline"])
            if not {*ends} <= levels.keys():
                continue
            first, second = (levels[end] for end in ends)
            about = {**first.contrast, factor: " − ".join(ends)}
            renamed = replace(measure, name=measure.name + INTERACTION)
            placed = replace(first, condition=dict(condition), contrast=about)
            double = double_difference(placed, second)
            if double is not None:
                yield double.row(placed, renamed, table)


def double_difference(first: Pair, second: Pair) -> DoubleDifference | None:
    """Returns the double difference over both pairs' items; None if a side of a pair is empty."""
    if first.gap is None or second.gap is None:
        return None
    items = list(dict.fromkeys((*first.items, *second.items)))
    parts = []
    for pair in (first, second):
        (xa, xb), (na, nb) = pair.hits, pair.among
        places = [items.index(item) for item in pair.items]
        parts_here = np.zeros(len(items))
        is_counted = (na + nb) > 0
        parts_here[np.array(places)[is_counted]] = parts_of_difference(xa, na, xb, nb) / max(
            1, int(is_counted.sum())
        )
        parts.append(parts_here * len(items))
    n = np.array([float(sum(part.sum() for part in pair.among)) for pair in (first, second)])
    return DoubleDifference(first.gap - second.gap, parts[0] - parts[1], n)
