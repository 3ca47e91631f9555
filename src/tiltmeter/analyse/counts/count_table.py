"""The counted labels of a stratum by groups of items: the input of every kind of measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...protocol import EVERY, MeasureSpec, Protocol, Variant
from ...protocol.design.tables import SEVERAL
from ...records import OUTCOMES
from ...stats.shuffles.shuffling import Shuffles
from .whole_outputs import DRAWS, LabelledOutputs, shuffles_of

Floats = NDArray[np.float64]
Levels = tuple[str, ...]  # of the factors of a grouping, in their order
Key = tuple[tuple[str, str], ...]  # a condition: (factor, level)
Weight = tuple[str, str, float]  # item, value, weight
MANY = 30  # values of an attribute: from here on they are not listed one by one as outcomes


@dataclass(frozen=True, slots=True)
class Group:
    """One cell of a table: sums by item. `hits` and `among` have one entry per item, shape (C,).

    fixed: True if the group is one item, so that its outputs are the sample, not the items. drawn:
    True if outputs were sampled, False if read from probabilities.
    """

    condition: Mapping[str, str]
    items: Sequence[str]
    hits: Floats
    among: Floats
    outcomes: Mapping[str, float]
    fixed: bool = False
    drawn: bool = True

    @property
    def missing(self) -> float:
        """The number of labels outside the denominator."""
        return max(0.0, sum(self.outcomes.values()) - float(self.among.sum()))

    def align_to(self, items: Sequence[str]) -> tuple[Floats, Floats]:
        """Returns hits and denominators in the order of `items`, 0 for items not in this group."""
        if self.items == items:
            return self.hits, self.among
        place = {item: number for number, item in enumerate(items)}
        hits, among = np.zeros(len(items)), np.zeros(len(items))
        index = [place[item] for item in self.items]
        hits[index], among[index] = self.hits, self.among
        return hits, among


@dataclass(frozen=True, slots=True)
class Cut:
    """The sums of one group before hits are chosen: {value: its weights by item}, and outputs by
    item, shape (C,). expected: by item, the weights of values that the measure's `expected` names
    for the levels of their rows; None if the measure has no `expected`.
    """

    condition: Mapping[str, str]
    items: Sequence[str]
    values: Mapping[str, Floats]
    outputs: Floats
    outcomes: Mapping[str, float]
    fixed: bool
    expected: Floats | None = None
    # of a denominator, which many values share
    _sums: dict[tuple[str, ...], Floats] = field(default_factory=dict)

    def sum(self, values: Sequence[str]) -> Floats:
        """Returns the summed weights of these values by item, shape (C,); 0 where none occurs."""
        key = tuple(values)
        total = self._sums.get(key)
        if total is None:
            columns = (self.values[value] for value in key if value in self.values)
            total = self._sums[key] = sum(columns, start=np.zeros(len(self.items)))
        return total


@dataclass(frozen=True, slots=True)
class Pair:
    """Two groups that differ in the level of one factor, over the same items: (level, baseline).
    missing: by group and item, the labels outside the denominator.
    """

    condition: Mapping[str, str]
    contrast: Mapping[str, str]
    hits: tuple[Floats, Floats]
    among: tuple[Floats, Floats]
    missing: tuple[Floats, Floats]
    outcomes: Mapping[str, float]
    items: Sequence[str] = ()

    @property
    def gap(self) -> float | None:
        """The pooled share of the level less that of the baseline; None if either is empty."""
        (xa, xb), (na, nb) = self.hits, self.among
        return float(xa.sum() / na.sum() - xb.sum() / nb.sum()) if na.sum() and nb.sum() else None


@dataclass(frozen=True, slots=True)
class CountTable:
    """The counted labels of one stratum (see `count_labels`), and settings of how to read them.

    labelled_outputs: reads whole outputs with their labels, of all strata, for measures that need
    them; stratum: this table's key in the result. shuffles: for measures that shuffle outputs;
    draws: the number of samples in a test over items.
    """

    rows: pl.DataFrame
    protocol: Protocol
    variant: Variant
    drawn: bool
    stratum: tuple[str, str, str] = ("", "", "")
    labelled_outputs: Callable[[], LabelledOutputs] = LabelledOutputs
    shuffles: Shuffles = field(default_factory=lambda: shuffles_of("", DRAWS))
    draws: int = DRAWS
    # of these rows, and of those that are filtered from them: what several measures ask for
    computed: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def has_one_label(self, attribute: str) -> bool:
        """True if no answer has several labels of an attribute (as a list of ten words has)."""
        weight = self.rows.filter(pl.col("attribute") == attribute)["weight"].sum()
        return float(weight) <= float(self.rows["outputs"].sum()) + 1e-6

    def values(self, measure: MeasureSpec) -> list[tuple[dict[str, str], tuple[str, ...]]]:
        """Lists (levels to add to the condition, hits): one pair; for EVERY, a pair per value."""
        if measure.values != (EVERY,):
            return [({}, measure.values)]
        return [({measure.attribute: value}, (value,)) for value in self.answers(measure)]

    def answers(self, measure: MeasureSpec) -> tuple[str, ...]:
        """Returns the values in the denominator: the declared ones, else all answers that occur."""
        values = self.rows.filter(pl.col("attribute") == measure.attribute)["value"].unique().sort()
        return measure.among or tuple(
            value for value in values if value not in (*OUTCOMES, *measure.without)
        )

    def once(self, key: Sequence[object], compute: Callable[[], Any]) -> Any:
        """Computes a result from these rows, only once; caches it under the key."""
        if (key := (id(self.rows), *key)) not in self.computed:
            self.computed[key] = self.rows, compute()  # the rows: so no others get their id
        return self.computed[key][1]

    def cuts(self, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Cut]:
        """Yields the groups of one grouping in the order of the design."""
        asked = (measure.attribute, *measure.without, measure.per, repr(measure.expected))
        key = ("cuts", id(self.protocol), self.variant.several, *asked, "by", *by)
        return iter(self.once(key, lambda: list(self._cut(measure, by))))

    def _cut(self, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Cut]:
        frames = self.split_levels(by)
        dropped = [one for one in measure.without if one not in OUTCOMES]  # those are counted still
        left_out = [~pl.col("value").is_in(dropped)] if dropped else []
        rows = frames.filter(pl.col("attribute") == measure.attribute, *left_out)
        keys = list(dict.fromkeys((*by, self.protocol.item)))
        source = frames if measure.per == "outputs" else rows
        sums = source.group_by(keys, maintain_order=True).agg(
            pl.col("outputs").sum().cast(pl.Float64)
        )
        weights = rows.group_by([*keys, "value"], maintain_order=True).agg(pl.col("weight").sum())
        place = keys.index(self.protocol.item)
        outputs_of = _outputs_by_group(sums, len(by), place)
        weights_of = _weights_by_group(weights, len(by), place)
        outcomes = _outcomes(weights_of)
        hits_of = _expected_weights(rows, measure, keys, len(by), place)
        orders = [self.protocol.levels.get(factor, {}) for factor in by]
        for levels in sorted(
            outputs_of,
            key=lambda key: [order.get(level, 0) for order, level in zip(orders, key, strict=True)],
        ):
            items = list(outputs_of[levels])
            yield Cut(
                dict(zip(by, map(str, levels), strict=True)),
                items,
                _by_value(weights_of.get(levels, ()), items),
                np.array(list(outputs_of[levels].values())),
                outcomes.get(levels, {}),
                bool(by) and sums.height == len(outputs_of),
                _expected_hits(hits_of.get(levels, ()), items) if measure.expected else None,
            )

    def groups(
        self, measure: MeasureSpec, by: Sequence[str], values: Sequence[str]
    ) -> Iterator[Group]:
        """Returns the groups of one grouping, with `values` as hits."""
        return (self.group(cut, measure, values) for cut in self.cuts(measure, by))

    def count_groups(
        self, measure: MeasureSpec, by: Sequence[str]
    ) -> Iterator[tuple[dict[str, str], list[Group]]]:
        """Yields, per entry of `values`, (its addition to the condition, the groups)."""
        cuts = list(self.cuts(measure, by))
        for added, values in self.values(measure):
            yield added, [self.group(cut, measure, values) for cut in cuts]

    def group(self, cut: Cut, measure: MeasureSpec, values: Sequence[str]) -> Group:
        """Returns the group of this cut with `values` as hits, and the measure's denominator."""
        hits = cut.sum(values) if cut.expected is None else cut.expected
        counted = measure.among or [one for one in cut.values if one not in measure.without]
        among = cut.outputs if measure.per == "outputs" else cut.sum(counted)
        if measure.per == "labels":
            hits = np.minimum(hits, among)  # rounding of summed probabilities
        return Group(cut.condition, cut.items, hits, among, cut.outcomes, cut.fixed, self.drawn)

    def pairs(
        self, measure: MeasureSpec, by: Sequence[str]
    ) -> Iterator[tuple[dict[str, str], Pair]]:
        """Yields (levels to add to the condition, Pair of level and baseline), value by value."""
        contrast = measure.contrast or {}
        factor, level, baseline = contrast["factor"], contrast["level"], contrast["baseline"]
        sides = [
            (cuts[level], cuts[baseline])
            for cuts in self.contrast_groups(measure, by).values()
            if len(cuts) == 2
        ]
        both = [
            (list(dict.fromkeys((*a.items, *b.items))), together(a.outcomes, b.outcomes))
            for a, b in sides
        ]
        for added, values in self.values(measure):
            for cuts, (items, outcomes) in zip(sides, both, strict=True):
                a, b = (self.group(cut, measure, values) for cut in cuts)
                (hits_a, among_a), (hits_b, among_b) = a.align_to(items), b.align_to(items)
                about = {factor: f"{level} − {baseline}"}
                hits, among = (hits_a, hits_b), (among_a, among_b)
                missing = (_left_out(cuts[0], a, items), _left_out(cuts[1], b, items))
                pair = Pair(a.condition, about, hits, among, missing, outcomes, items)
                yield added, pair

    def contrast_groups(self, measure: MeasureSpec, by: Sequence[str]) -> dict[Key, dict[str, Cut]]:
        """Returns {group: {level or baseline of the contrast: its Cut}}."""
        contrast = measure.contrast or {}
        factor, *ends = (contrast[name] for name in ("factor", "level", "baseline"))
        rows = self.once(
            ("rows", factor, *ends), lambda: self.rows.filter(pl.col(factor).is_in(ends))
        )
        return replace(self, rows=rows).sides(measure, by, factor)

    def sides(
        self, measure: MeasureSpec, by: Sequence[str], factor: str
    ) -> dict[Key, dict[str, Cut]]:
        """Returns {group: {level of a factor outside `by`: its Cut}}."""
        groups: dict[Key, dict[str, Cut]] = {}
        for cut in self.cuts(measure, (*by, factor)):
            condition = dict(cut.condition)
            level = condition.pop(factor)
            groups.setdefault(tuple(condition.items()), {})[level] = replace(
                cut, condition=condition
            )
        return groups

    def split_levels(self, by: Sequence[str]) -> pl.DataFrame:
        """Splits or drops rows with several levels of a factor in `by`, as the variant requires."""
        rows = self.rows
        for factor in by:
            if self.variant.several == "each":
                rows = rows.with_columns(pl.col(factor).str.split(SEVERAL)).explode(factor)
            elif factor != self.protocol.item:
                rows = rows.filter(~pl.col(factor).str.contains(SEVERAL, literal=True))
        return rows


Table = CountTable  # its name in packages of others, which earlier docs gave them


def _left_out(cut: Cut, group: Group, items: Sequence[str]) -> Floats:
    """Returns the number of labels outside the denominator, in the order of `items`."""
    total = cut.sum(tuple(cut.values))
    return replace(group, hits=np.maximum(total - group.among, 0.0)).align_to(items)[0]


def together(a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
    """Adds two sides' outcomes, value by value."""
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in dict.fromkeys((*a, *b))}


def _outputs_by_group(
    frame: pl.DataFrame, levels: int, item: int
) -> dict[Levels, dict[str, float]]:
    """Returns {levels of a group: {item: its outputs}}. Each row of the frame has the levels first,
    the item in column `item`, and the outputs last.
    """
    groups: dict[Levels, dict[str, float]] = {}
    for row in frame.iter_rows():
        groups.setdefault(row[:levels], {})[row[item]] = row[-1]
    return groups


def _weights_by_group(frame: pl.DataFrame, levels: int, item: int) -> dict[Levels, list[Weight]]:
    """Returns {levels of a group: [(item, value, weight)]} from rows that end in value, weight."""
    groups: dict[Levels, list[Weight]] = {}
    for row in frame.iter_rows():
        groups.setdefault(row[:levels], []).append((row[item], row[-2], row[-1]))
    return groups


def _by_value(weights: Sequence[Weight], items: Sequence[str]) -> dict[str, Floats]:
    """Turns (item, value, weight) into {value: its weights in the order of `items`}."""
    column = {item: number for number, item in enumerate(items)}
    line = {
        value: number
        for number, value in enumerate(dict.fromkeys(value for _, value, _ in weights))
    }
    sums = np.zeros((len(line), len(items)))
    sums[[line[value] for _, value, _ in weights], [column[item] for item, _, _ in weights]] = [
        weight[2] for weight in weights
    ]
    return dict(zip(line, sums, strict=True))


def _expected_weights(
    rows: pl.DataFrame, measure: MeasureSpec, keys: Sequence[str], levels: int, item: int
) -> dict[Levels, list[Weight]]:
    """Returns the weights of labels with the value that the measure expects at the row's levels."""
    if not measure.expected:
        return {}
    fits = pl.any_horizontal(
        (pl.col(factor) == level) & pl.col("value").is_in(values.split(SEVERAL))
        for factor, several in measure.expected.items()
        for level, values in several.items()
    )
    weights = rows.filter(fits).group_by([*keys, "value"], maintain_order=True)
    frame = weights.agg(pl.col("weight").sum())
    return _weights_by_group(frame, levels, item)


def _expected_hits(weights: Sequence[Weight], items: Sequence[str]) -> Floats:
    """Returns the summed weights of expected values in the order of `items`."""
    return sum(_by_value(weights, items).values(), start=np.zeros(len(items)))


def _outcomes(weights_of: Mapping[Levels, Sequence[Weight]]) -> dict[Levels, dict[str, float]]:
    """Sums weights by value per group; beyond MANY values, sums all answers as "answer"."""
    has_many = len({value for weights in weights_of.values() for _, value, _ in weights}) > MANY
    outcomes: dict[Levels, dict[str, float]] = {}
    for levels, weights in weights_of.items():
        sums = outcomes.setdefault(levels, {})
        for _, value, weight in weights:
            name = "answer" if has_many and value not in OUTCOMES else value
            sums[name] = sums.get(name, 0.0) + weight
    return {
        levels: {name: round(number, 6) for name, number in sums.items()}
        for levels, sums in outcomes.items()
    }
