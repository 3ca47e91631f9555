"""The counted labels of one stratum, cut into groups of items: what every kind of measure starts from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..protocol import MeasureSpec, Protocol, Variant
from ..records import OUTCOMES
from ..stats.shuffling import Shuffles
from ..tables import SEVERAL
from .wholes import DRAWS, Wholes, shuffled

Floats = NDArray[np.float64]
EVERY = "*"  # in a measure's values: each value of the attribute on a row of its own


@dataclass(frozen=True, slots=True)
class Group:
    """One cell of a table: sums by item. `hits` and `among` have one entry an item, shape (C,).

    fixed: the group is one item, so its outputs and not the items are the population.
    drawn: outputs were sampled, not read from probabilities.
    """

    condition: Mapping[str, str]
    items: Sequence[str]
    hits: Floats
    among: Floats
    outcomes: Mapping[str, float]
    fixed: bool = False
    drawn: bool = True

    def aligned(self, items: Sequence[str]) -> tuple[Floats, Floats]:
        """Hits and denominators in the order of `items`, 0 where this group has none."""
        place = {item: number for number, item in enumerate(items)}
        hits, among = np.zeros(len(items)), np.zeros(len(items))
        index = [place[item] for item in self.items]
        hits[index], among[index] = self.hits, self.among
        return hits, among


@dataclass(frozen=True, slots=True)
class Cut:
    """The sums of one group before it is said what is a hit: for each value its weights by item, and outputs, shape (C,)."""

    condition: Mapping[str, str]
    items: Sequence[str]
    values: Mapping[str, Floats]
    outputs: Floats
    outcomes: Mapping[str, float]
    fixed: bool

    def sum(self, values: Sequence[str]) -> Floats:
        return sum((self.values[value] for value in values if value in self.values), start=np.zeros(len(self.items)))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two groups that differ in the level of one factor, over the same items: level first, baseline second."""

    condition: Mapping[str, str]
    contrast: Mapping[str, str]
    hits: tuple[Floats, Floats]
    among: tuple[Floats, Floats]
    outcomes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Table:
    """The counted labels of one stratum (see `counted`), and how they are to be read.

    wholes: reads the labels of whole outputs, of all strata, for the measures that need them; stratum: the place there.
    shuffles: for measures that shuffle outputs.
    """

    rows: pl.DataFrame
    protocol: Protocol
    variant: Variant
    drawn: bool
    stratum: tuple[str, str, str] = ("", "", "")
    wholes: Callable[[], Wholes] = Wholes
    shuffles: Shuffles = field(default_factory=lambda: shuffled("", DRAWS))

    def values(self, measure: MeasureSpec) -> list[tuple[dict[str, str], tuple[str, ...]]]:
        """What is counted, with what that adds to the condition: the declared values, or each value by itself."""
        if measure.values != (EVERY,):
            return [({}, measure.values)]
        seen = self.rows.filter(pl.col("attribute") == measure.attribute)["value"].unique().sort().to_list()
        each = measure.among or tuple(value for value in seen if value not in (*OUTCOMES, *measure.without))
        return [({measure.attribute: value}, (value,)) for value in each]

    def cuts(self, measure: MeasureSpec, by: Sequence[str], where: Mapping[str, str] | None = None) -> Iterator[Cut]:
        """The groups of one grouping in the order of the design; `where` keeps one level of a factor."""
        everything = self._split(self.rows, by, where or {})
        rows = everything.filter(pl.col("attribute") == measure.attribute)
        if measure.without:
            rows = rows.filter(~pl.col("value").is_in(list(measure.without)))
        keys = list(dict.fromkeys((*by, self.protocol.item)))
        counted = everything if measure.per == "outputs" else rows
        sums = counted.group_by(keys, maintain_order=True).agg(pl.col("outputs").sum().cast(pl.Float64))
        weights = rows.group_by([*keys, "value"], maintain_order=True).agg(pl.col("weight").sum())
        parts = sums.partition_by(list(by), as_dict=True, maintain_order=True) if by else {(): sums}
        shares = weights.partition_by(list(by), as_dict=True) if by else {(): weights}
        outcomes = self._outcomes(rows, by)
        orders = [self.protocol.levels.get(factor, {}) for factor in by]
        for key in sorted(
            parts, key=lambda key: [order.get(level, 0) for order, level in zip(orders, key, strict=True)]
        ):
            items = {item: place for place, item in enumerate(parts[key][self.protocol.item])}
            values: dict[str, Floats] = {}
            for item, value, weight in (
                shares.get(key, weights.clear()).select(self.protocol.item, "value", "weight").iter_rows()
            ):
                values.setdefault(value, np.zeros(len(items)))[items[item]] = weight
            yield Cut(dict(zip(by, map(str, key), strict=True)), list(items), values, parts[key]["outputs"].to_numpy(),
                      outcomes.get(key, {}), bool(by) and sums.height == len(parts))  # fmt: skip

    def groups(self, measure: MeasureSpec, by: Sequence[str], values: Sequence[str]) -> Iterator[Group]:
        """The groups of one grouping with the values that are counted as hits."""
        return (self.group(cut, measure, values) for cut in self.cuts(measure, by))

    def counted(self, measure: MeasureSpec, by: Sequence[str]) -> Iterator[tuple[dict[str, str], list[Group]]]:
        """For each of `values`, what it adds to the condition, and the groups."""
        cuts = list(self.cuts(measure, by))
        for more, values in self.values(measure):
            yield more, [self.group(cut, measure, values) for cut in cuts]

    def group(self, cut: Cut, measure: MeasureSpec, values: Sequence[str]) -> Group:
        hits = cut.sum(values)
        among = cut.outputs if measure.per == "outputs" else cut.sum(measure.among or tuple(cut.values))
        if measure.per == "labels":
            hits = np.minimum(hits, among)  # rounding of summed probabilities
        return Group(cut.condition, cut.items, hits, among, cut.outcomes, cut.fixed, self.drawn)

    def pairs(self, measure: MeasureSpec, by: Sequence[str]) -> Iterator[tuple[dict[str, str], Pair]]:
        """Level against baseline of the measure's contrast, for each of `values` in each group, paired by item."""
        contrast = measure.contrast or {}
        factor, level, baseline = contrast["factor"], contrast["level"], contrast["baseline"]
        first, second = (
            {tuple(cut.condition.items()): cut for cut in self.cuts(measure, by, {factor: side})}
            for side in (level, baseline)
        )
        for more, values in self.values(measure):
            for key in (key for key in first if key in second):
                a, b = (self.group(side[key], measure, values) for side in (first, second))
                items = list(dict.fromkeys((*a.items, *b.items)))
                (hits_a, among_a), (hits_b, among_b) = a.aligned(items), b.aligned(items)
                names = dict.fromkeys((*a.outcomes, *b.outcomes))
                outcomes = {name: a.outcomes.get(name, 0.0) + b.outcomes.get(name, 0.0) for name in names}
                yield (
                    more,
                    Pair(
                        a.condition, {factor: f"{level} − {baseline}"}, (hits_a, hits_b), (among_a, among_b), outcomes
                    ),
                )

    def _split(self, rows: pl.DataFrame, by: Sequence[str], where: Mapping[str, str]) -> pl.DataFrame:
        """Rows in which each factor of the grouping has one level; a cell with several values as the variant says."""
        for factor, level in where.items():
            rows = rows.filter(pl.col(factor) == level)
        for factor in by:
            if self.variant.several == "each":
                rows = rows.with_columns(pl.col(factor).str.split(SEVERAL)).explode(factor)
            elif factor != self.protocol.item:
                rows = rows.filter(~pl.col(factor).str.contains(SEVERAL, literal=True))
        return rows

    def _outcomes(self, rows: pl.DataFrame, by: Sequence[str]) -> dict[tuple[Any, ...], dict[str, float]]:
        """Sums of weights by value, in each group; among many values (words) only those that are no answer."""
        if rows["value"].n_unique() > 30:
            rows = rows.with_columns(
                value=pl.when(pl.col("value").is_in(OUTCOMES)).then("value").otherwise(pl.lit("answer"))
            )
        counts = rows.group_by([*by, "value"], maintain_order=True).agg(pl.col("weight").sum())
        found: dict[tuple[Any, ...], dict[str, float]] = {}
        for *levels, value, weight in counts.iter_rows():
            found.setdefault(tuple(levels), {})[value] = round(weight, 6)
        return found
