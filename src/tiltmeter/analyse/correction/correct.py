"""Corrects a share, or a difference of two, by gold labels for an annotator's errors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...stats.judges import correction, prediction_powered
from ...stats.judges.confusion import Confusion
from ...stats.judges.correction import Corrected
from ...stats.judges.prediction_powered import Powered, Sums
from ...stats.results import FEW_GOLD, Interval, join_notes
from ..counts.count_table import Floats
from .ratio_estimator import Counts, powered_contrast

Pairs = Mapping[tuple[str, str], float]  # (truth, answer) → how much
ALIKE = (
    "the judge's errors taken as alike in all conditions, since there is too little gold in "
    "this one"
)
# of the gold: from here it is said that person or judge gave no value that counts
MANY_OUTSIDE = 0.05


@dataclass(frozen=True, slots=True)
class Side:
    """A condition. said: weights by item, value; weighted, labels: gold by item, (truth, label)."""

    said: Mapping[str, Mapping[str, float]]
    weighted: Mapping[str, Pairs] = field(default_factory=dict)
    labels: Mapping[str, Pairs] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sense:
    """The definition of a share. hits: values in the numerator; among: values in the denominator,
    () for all values except `without`; clusters: {item: the cluster that it belongs to}.
    """

    hits: Collection[str]
    among: Collection[str] = ()
    without: Collection[str] = ()
    shared: Mapping[str, str] = field(default_factory=dict)

    def counts(self, value: str) -> bool:
        """True if a label with this value is in the denominator."""
        return value in self.among if self.among else value not in self.without


@dataclass(frozen=True, slots=True)
class Result:
    """A correction. found: its value is None if nothing was corrected; note: a remark or reason."""

    found: Interval
    name: str
    note: str


def correct(sides: Sequence[Side], whole: Side, sense: Sense, random: bool) -> Result:
    """Corrects one side's share, or the difference of the first side's share and the second's.

    whole: all gold of the stratum, used if a side has too little of its own; random: True if gold
    was sampled with known weights.
    """
    names = list(
        dict.fromkeys(
            sense.shared.get(item, item)
            for side in (*sides, whole)
            for item in (*side.said, *side.labels)
        )
    )
    places = {name: place for place, name in enumerate(names)}
    sums = [sum_by_cluster(side, sense, places) for side in sides]
    golds = [_confusion(side, sense, places) for side in sides]
    has_enough = all(enough_gold(side, sense, random) for side in sides)
    if has_enough and random:
        powered = (
            powered_contrast([_counts(side, sense, places) for side in sides])
            if any(_has_others(side, sense) for side in sides)
            else _correct_with_gold_items(sums, golds)
        )
        return _result(powered, "ppi++", None)
    others = _outside(sides if has_enough else (whole,), sense)
    if has_enough:
        return _result(_correct_shares(sums, golds), "rogan-gladen", others)
    if len(sides) > 1:
        no_result = Interval(None, None, None, "not corrected")
        return Result(
            no_result,
            "none",
            "too little gold in one of the two conditions: with the same errors in both a gap that "
            "the judge makes would stay"
            if gold_of(whole)
            else "no gold",
        )
    ((x, n),) = sums
    estimate = correction.rogan_gladen(said=x, n=n, gold=_confusion(whole, sense, places))
    return _result(estimate, "rogan-gladen", join_notes(ALIKE, others))


def _has_others(side: Side, sense: Sense) -> bool:
    """True if some label, or truth or answer in the gold, lies outside the denominator."""
    labels = (value for values in side.said.values() for value in values)
    gold = (value for pairs in side.labels.values() for pair in pairs for value in pair)
    return not all(map(sense.counts, labels)) or not all(map(sense.counts, gold))


def _correct_shares(said: Sequence[tuple[Floats, Floats]], own: Sequence[Confusion]) -> Corrected:
    (xa, na), *other = said
    if not other:
        return correction.rogan_gladen(said=xa, n=na, gold=own[0])
    ((xb, nb),) = other
    return correction.rogan_gladen_difference(
        said_a=xa, n_a=na, said_b=xb, n_b=nb, golds=(own[0], own[1])
    )


def _correct_with_gold_items(
    said: Sequence[tuple[Floats, Floats]], own: Sequence[Confusion]
) -> Powered:
    sums = [
        Sums(
            x,
            n,
            gold.weighted[:, :, 1].sum(1),
            gold.weighted[:, 1].sum(1),
            gold.weighted.sum((1, 2)),
        )
        for (x, n), gold in zip(said, own, strict=True)
    ]
    if len(sums) == 1:
        return prediction_powered.prediction_powered(sums=sums[0])
    return prediction_powered.prediction_powered_difference(first=sums[0], second=sums[1])


def _result(made: Corrected | Powered, name: str, note: str | None) -> Result:
    if made.reason:
        return Result(made.corrected, "none", made.reason)
    return Result(made.corrected, name, join_notes(made.corrected.note, note) or "")


def sum_by_cluster(side: Side, sense: Sense, places: Mapping[str, int]) -> tuple[Floats, Floats]:
    """Returns (hits, denominator) per cluster."""
    hits, among = np.zeros(len(places)), np.zeros(len(places))
    for item, values in side.said.items():
        place = places[sense.shared.get(item, item)]
        among[place] += sum(number for value, number in values.items() if sense.counts(value))
        hits[place] += sum(number for value, number in values.items() if value in sense.hits)
    return np.minimum(hits, among), among


def _confusion(side: Side, sense: Sense, places: Mapping[str, int]) -> Confusion:
    """Tabulates (truth, answer) per cluster: 1 for a hit, 0 for other values in the denominator."""
    tables = []
    for pairs in (side.weighted, side.labels):
        table = np.zeros((len(places), 2, 2))
        for item, cells in pairs.items():
            for (truth, called), number in cells.items():
                if sense.counts(truth) and sense.counts(called):
                    table[
                        places[sense.shared.get(item, item)],
                        int(truth in sense.hits),
                        int(called in sense.hits),
                    ] += number
        tables.append(table)
    weighted, labels = tables
    weighted = weighted * (labels.sum() / weighted.sum()) if weighted.sum() else weighted
    return Confusion(labels if np.allclose(weighted, labels) else weighted, labels)


def _counts(side: Side, sense: Sense, places: Mapping[str, int]) -> Counts:
    """Sums all outputs and all gold by cluster, including values outside the denominator."""
    hits, among = sum_by_cluster(side, sense, places)
    n, sums = np.zeros(len(places)), np.zeros((5, len(places)))
    for item, values in side.said.items():
        n[places[sense.shared.get(item, item)]] += sum(values.values())
    labels = sum(number for pairs in side.labels.values() for number in pairs.values())
    scale = labels / (
        sum(number for pairs in side.weighted.values() for number in pairs.values()) or 1.0
    )
    for item, cells in side.weighted.items():
        place = places[sense.shared.get(item, item)]
        for (truth, called), number in cells.items():
            flags = (
                called in sense.hits,
                sense.counts(called),
                truth in sense.hits,
                sense.counts(truth),
                True,
            )
            sums[:, place] += scale * number * np.array(flags, dtype=float)
    return Counts(hits, among, n, *sums)


def gold_of(side: Side) -> float:
    """Counts the gold labels of a side."""
    return sum(number for cells in side.labels.values() for number in cells.values())


def enough_gold(side: Side, sense: Sense, random: bool) -> bool:
    """True if a side has enough gold: in total if sampled at random, else both of hits and of other
    values in the denominator (as error rates need both classes, and a mean does not).
    """
    if random:
        return gold_of(side) >= 2 * FEW_GOLD
    counts = {True: 0.0, False: 0.0}
    for cells in side.labels.values():
        for (truth, called), number in cells.items():
            if sense.counts(truth) and sense.counts(called):
                counts[truth in sense.hits] += number
    return min(counts.values()) >= FEW_GOLD


def _outside(sides: Sequence[Side], sense: Sense) -> str | None:
    """Returns a note if much gold has a truth or an answer outside the denominator."""
    cells = [
        (pair, number)
        for side in sides
        for pairs in side.labels.values()
        for pair, number in pairs.items()
    ]
    total = sum(number for _, number in cells)
    beyond = sum(
        number
        for (truth, called), number in cells
        if not (sense.counts(truth) and sense.counts(called))
    )
    if not total or beyond / total < MANY_OUTSIDE:
        return None
    return (
        f"{beyond:g} of {total:g} gold labels left out, where person or judge gave a value outside "
        "of the denominator: right only where the judge drops all values alike"
    )
