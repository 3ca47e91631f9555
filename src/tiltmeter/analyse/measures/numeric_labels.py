"""Measures of labels that are numbers (lengths, scores of a rubric) or that the measure scores as
+1, −1 and 0. Other labels (a refusal) are counted among the outcomes but have no number.

Every output counts alike; the items are the clusters, as for shares. If probabilities were read, a
number is weighted by its probability, so the mean is the expected number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...protocol import MeasureSpec
from ...records import OUTCOMES, Estimate
from ...stats import means
from ...stats.results import Interval, join_notes
from ...stats.shuffles.resampling import parts_of_difference
from ..counts.count_table import CountTable, Cut, Floats, Group, Key, together
from .cue_word_rows import PromptsByValue, with_cue_words
from .estimate_rows import estimate_row, with_shuffled_items, with_sign_flip


@dataclass(frozen=True, slots=True)
class NumberSums:
    """The numbers of a group by item, shape (C,): their sums, their n; counts: {number: weight}."""

    cut: Cut
    sums: Floats
    n: Floats
    counts: Mapping[float, float]
    note: str | None

    def align_to(self, items: Sequence[str]) -> tuple[Floats, Floats]:
        """Returns (sums, n) in the order of `items`, 0 for items that this group lacks."""
        return Group({}, self.cut.items, self.sums, self.n, {}).align_to(items)


def mean(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """The mean number per output, with items as clusters; for a single item, over its outputs.

    By hand: two items whose outputs have 100, 120 and 80, 100 words: 400/4 = 100.
    """
    for cut in table.cuts(measure, by):
        sums = _sums(cut, measure)
        if cut.fixed and table.drawn:
            interval = means.counted_mean(
                numbers=list(sums.counts), counts=list(sums.counts.values())
            )
        else:
            interval = means.pooled_mean(sums=sums.sums, n=sums.n)
        estimate = _estimate(measure, cut, sums.n, interval, table)
        estimate = replace(estimate, sides=_scored_sides(measure, sums))
        if measure.null is not None and interval.value is not None and not cut.fixed:
            total = float(sums.n.sum())
            estimate = with_sign_flip(
                estimate,
                (sums.sums - measure.null * sums.n) * (sums.n.size / total),
                interval,
                table,
            )
        yield replace(estimate, note=join_notes(estimate.note or None, sums.note) or "")


def _scored_sides(measure: MeasureSpec, found: NumberSums) -> dict[str, float] | None:
    """Returns the shares of +1 and of −1 if labels are scored as ±1 and 0; else None."""
    total = sum(found.counts.values())
    if not {-1, 1} <= {*measure.scores.values()} <= {-1, 0, 1} or not total:
        return None
    return {
        name: found.counts.get(score, 0.0) / total
        for name, score in (("level", 1.0), ("baseline", -1.0))
    }


def mean_difference(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    """Yields the mean at one level of a factor less the mean at its baseline, paired by item if
    items occur on both sides.

    By hand: an item with 100 and 120 words at the level, 80 and 100 at the baseline: 110 − 90 = 20.
    """
    prompts = PromptsByValue(table, measure, by)
    for a, b in _pairs(table, measure, by):
        items = list(dict.fromkeys((*a.cut.items, *b.cut.items)))
        (sa, na), (sb, nb) = a.align_to(items), b.align_to(items)
        interval = means.pooled_difference(sums_a=sa, n_a=na, sums_b=sb, n_b=nb)
        cut = replace(a.cut, outcomes=together(a.cut.outcomes, b.cut.outcomes))
        estimate = _estimate(measure, cut, na + nb, interval, table)
        estimate = replace(estimate, note=join_notes(estimate.note or None, a.note or b.note) or "")
        if a.n.any() and b.n.any():
            estimate = replace(estimate, sides={"level": _pooled(a), "baseline": _pooled(b)})
        has_both = (na > 0) & (nb > 0)
        if has_both.any():
            parts = parts_of_difference(sa, na, sb, nb)
            row = with_sign_flip(estimate, parts, interval, table)
            yield with_cue_words(row, prompts.of(cut.condition), null=0.0)
        else:
            yield with_shuffled_items(
                estimate, (sa[na > 0] / na[na > 0], sb[nb > 0] / nb[nb > 0]), interval, table
            )


def _pairs(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[tuple[NumberSums, NumberSums]]:
    """Yields the numbers at (level, baseline) per group that has both."""
    contrast = measure.contrast or {}
    for cuts in table.contrast_groups(measure, by).values():
        if len(cuts) == 2:
            first, second = (_sums(cuts[contrast[end]], measure) for end in ("level", "baseline"))
            yield first, second


def item_means(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> dict[Key, dict[str, dict[str, float]]]:
    """Returns {group: {level of the contrast: {item: its mean}}}."""
    numbers: dict[Key, dict[str, dict[str, float]]] = {}
    for key, cuts in table.contrast_groups(measure, by).items():
        sides = {level: _sums(cut, measure) for level, cut in cuts.items()}
        numbers[key] = {
            level: {
                item: float(total / n)
                for item, total, n in zip(side.cut.items, side.sums, side.n, strict=True)
                if n
            }
            for level, side in sides.items()
        }
    return numbers


def _pooled(side: NumberSums) -> float:
    return float(side.sums.sum() / side.n.sum())


def mean_ratio(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Divides the mean at one level by the mean at its baseline: the geometric mean over items.

    By hand: items with 110 by 100 and 100 by 110 words: the ratio is 1.
    """
    for a, b in _pairs(table, measure, by):
        items = list(dict.fromkeys((*a.cut.items, *b.cut.items)))
        (sa, na), (sb, nb) = a.align_to(items), b.align_to(items)
        interval = means.geometric_ratio(sums_a=sa, n_a=na, sums_b=sb, n_b=nb)
        cut = replace(a.cut, outcomes=together(a.cut.outcomes, b.cut.outcomes))
        row = _estimate(measure, cut, na + nb, interval, table)
        has_both = (na > 0) & (nb > 0) & (sa > 0) & (sb > 0)
        logs = np.log(sa[has_both] / na[has_both]) - np.log(sb[has_both] / nb[has_both])
        yield with_sign_flip(row, logs, interval, table, math.expm1)


def number(value: str) -> float | None:
    """Parses a label as a number; None if it is not a finite number."""
    try:
        parsed = float(value)
    except ValueError:
        return None
    return parsed if math.isfinite(parsed) else None


def _sums(cut: Cut, measure: MeasureSpec) -> NumberSums:
    sums, n = np.zeros(len(cut.items)), np.zeros(len(cut.items))
    counts: dict[float, float] = {}
    odd = []
    for value, weights in cut.values.items():
        score = measure.scores.get(value) if measure.scores else number(value)
        if score is None:
            odd += [value] if value not in OUTCOMES and not measure.scores else []
        elif measure.scores or not measure.values or value in measure.values:
            sums, n = sums + score * weights, n + weights
            counts[score] = counts.get(score, 0.0) + float(weights.sum())
    note = f"labels that are no numbers are left out: {', '.join(sorted(odd)[:3])}" if odd else None
    return NumberSums(cut, sums, n, counts, note)


def _estimate(
    measure: MeasureSpec, cut: Cut, n: Floats, found: Interval, table: CountTable
) -> Estimate:
    contrast = measure.contrast
    about = contrast and {contrast["factor"]: f"{contrast['level']} − {contrast['baseline']}"}
    group = Group(cut.condition, cut.items, n, n, cut.outcomes)
    return estimate_row(group, measure, found, table, about)
