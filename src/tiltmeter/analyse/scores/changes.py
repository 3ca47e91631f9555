"""The effect of a mitigation on a tilt: a measure's value with it less the value without, by item.

The change of a share or mean is one difference; that of a difference of two levels, or of an
effect, is a difference of differences. The row's `sides` holds both numbers, as `even` the value of
no tilt, and `turned` if the whole interval with the mitigation lies on the other side of `even`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from ...protocol import MeasureSpec
from ...protocol.design.contrasts import each_contrast
from ...protocol.design.mitigations import CELLS, CHANGE, MEANS, SHARES
from ...records import Estimate
from ...stats import means, rates
from ...stats.results import Interval
from ..counts.count_table import CountTable, Floats, Group, Key, Pair
from ..counts.prompt_counts import change_of_prompts
from ..measures import numeric_labels, shares
from ..measures.cue_word_rows import PromptsByValue, with_cue_words
from ..measures.estimate_rows import estimate_row, with_shuffled_items, with_sign_flip
from ..measures.interactions import double_difference
from ..measures.joint_effect import effects_by_item
from .changed_cells import changed_cells

EVEN, TURNED = "even", "turned"


def change(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Yields the change of the measure named before the suffix: its value at the contrast's level
    less that at the baseline. A measure without the suffix (a cost) is compared as a share, if it
    occurs.

    By hand: a share of .8 without and of .6 with a mitigation: -.2; a difference of .8 - .4 without
    and of .6 - .4 with it: -.2."""
    name = measure.name.removesuffix(CHANGE)
    specs = [spec for spec in table.protocol.measures if spec.name == name]
    if not specs:
        plain = replace(measure, kind="difference")
        rows_of_shares = shares.difference(table, plain, by)
        yield from (row for row in rows_of_shares if {*measure.values} & row.outcomes.keys())
        return
    base = replace(specs[0], where=measure.where)
    if base.kind in SHARES:
        yield from _of_shares(table, measure, base, by)
    elif base.kind == "joint_effect":
        yield from _of_effects(table, measure, base, by)
    elif base.kind == "mean":
        yield from _of_means(table, measure, base, by)
    elif base.kind in MEANS:
        yield from _of_mean_differences(table, measure, base, by)
    elif base.kind in CELLS:
        yield from changed_cells(table, measure, base)
    else:
        for one in each_contrast(table.protocol, base):
            yield from _of_differences(table, measure, one, by)


def _of_shares(
    table: CountTable, measure: MeasureSpec, base: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    spec = replace(measure, kind="difference")
    pairs = {_place(pair, added): pair for added, pair in table.pairs(spec, by)}
    for row in shares.difference(table, spec, by):
        pair = pairs.get(tuple(row.condition.items()))
        if row.measure != spec.name or pair is None or row.sides is None:
            yield row
            continue
        no_tilt = _no_tilt(base, row.condition)
        with_mitigation = rates.clustered_share(successes=pair.hits[0], n=pair.among[0])
        yield _with_tilt(row, with_mitigation, (row.sides["level"], row.sides["baseline"]), no_tilt)


def _no_tilt(base: MeasureSpec, condition: Mapping[str, str]) -> float:
    """Returns the value of no tilt: the measure's null, or the counted value's reference share."""
    if isinstance(base.reference, Mapping):
        return base.reference.get(condition.get(base.attribute, ""), 0.0)
    return base.null or 0.0


def _of_differences(
    table: CountTable, measure: MeasureSpec, base: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    ends = _tables(table, measure)
    base = replace(base, kind="difference", unit="share", null=0.0)
    words = [PromptsByValue(end, base, by) for end in ends]
    by_place = [{_place(p, added): (p, added) for added, p in end.pairs(base, by)} for end in ends]
    for place in (place for place in by_place[1] if place in by_place[0]):
        (first, added), (second, _) = by_place[0][place], by_place[1][place]
        double = double_difference(first, second)
        if double is None:
            continue
        about = {**_contrast(measure), **first.contrast}
        row = double.row(replace(first, condition=dict(place), contrast=about), measure, table)
        prompts = [counts.of(first.condition, added) for counts in words]
        if prompts[0] is not None and prompts[1] is not None:
            row = with_cue_words(row, change_of_prompts(prompts[1], prompts[0]), null=0.0)
        (xa, xb), (na, nb) = first.hits, first.among
        with_mitigation = rates.clustered_difference(successes_a=xa, n_a=na, successes_b=xb, n_b=nb)
        yield _with_tilt(row, with_mitigation, (first.gap or 0.0, second.gap or 0.0), 0.0)


def _of_effects(
    table: CountTable, measure: MeasureSpec, base: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    first, second = (effects_by_item(one, base, by) for one in _tables(table, measure))
    for place in (place for place in second if place in first):
        items = [name for name in second[place] if name in first[place]]
        if not items:
            continue
        level, baseline = (np.array([one[place][i] for i in items]) for one in (first, second))
        interval = rates.clustered_mean(values=level - baseline)
        n = np.full(len(items), 1.0)
        group = Group(dict(place), (), np.zeros_like(n), n, {})
        row = estimate_row(group, measure, interval, table, _contrast(measure))
        row = with_sign_flip(row, level - baseline, interval, table)
        with_mitigation = rates.clustered_mean(values=level)
        yield _with_tilt(row, with_mitigation, (float(level.mean()), float(baseline.mean())), 0.0)


def _of_means(
    table: CountTable, measure: MeasureSpec, base: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    spec = replace(base, name=measure.name, contrast=measure.contrast, null=0.0)
    level = numeric_labels.mean(_tables(table, measure)[0], base, by)
    by_condition = {tuple(row.condition.items()): row for row in level}
    for row in numeric_labels.mean_difference(table, spec, by):
        if row.sides:
            sides = (row.sides["level"], row.sides["baseline"])
            yield _with_tilt(
                row, by_condition[tuple(row.condition.items())], sides, base.null or 0.0
            )


def _of_mean_differences(
    table: CountTable, measure: MeasureSpec, base: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    """Yields changes with equally weighted items, paired if the items have both levels."""
    contrast = base.contrast or {}
    ends = (contrast["level"], contrast["baseline"])
    first, second = (numeric_labels.item_means(t, base, by) for t in _tables(table, measure))
    for place in (place for place in second if place in first):
        means_of = [side[place].get(end, {}) for side in (first, second) for end in ends]
        items = [[i for i in means_of[n] if i in means_of[n + 2]] for n in (0, 1)]
        common = [item for item in items[0] if item in items[1]]
        items = [common, common] if common else items
        if not all(items):
            continue
        level, baseline = (
            [np.array([means_of[n + at][item] for item in items[n]]) for n in (0, 1)]
            for at in (0, 2)
        )
        changes = (level[0] - baseline[0], level[1] - baseline[1])
        interval, with_mitigation = (
            _mean_difference(*sides, paired=bool(common)) for sides in (changes, level)
        )
        n = np.ones(len(common) or sum(map(len, items)))
        group = Group(dict(place), (), np.zeros_like(n), n, {})
        row = estimate_row(group, measure, interval, table, _contrast(measure))
        if common:
            row = with_sign_flip(row, changes[0] - changes[1], interval, table)
        else:
            row = with_shuffled_items(row, changes, interval, table)
        gaps = [float(side[0].mean() - side[1].mean()) for side in (level, baseline)]
        yield _with_tilt(row, with_mitigation, (gaps[0], gaps[1]), 0.0)


def _mean_difference(first: Floats, second: Floats, *, paired: bool) -> Interval:
    """Returns the mean of `first` less that of `second`; paired if both have the same items."""
    if paired:
        return rates.clustered_mean(values=first - second)
    sides = [(first, np.zeros_like(second)), (np.zeros_like(first), second)]
    sums_a, sums_b = (np.concatenate(side) for side in sides)
    n_a, n_b = (np.repeat(there, (len(first), len(second))) for there in ((1, 0), (0, 1)))
    return means.pooled_difference(sums_a=sums_a, n_a=n_a, sums_b=sums_b, n_b=n_b)


def _tables(table: CountTable, measure: MeasureSpec) -> list[CountTable]:
    """Returns two tables: the rows at the contrast's level, and those at its baseline."""
    contrast = measure.contrast or {}
    column = pl.col(contrast["factor"])
    ends = (contrast["level"], contrast["baseline"])
    return [replace(table, rows=table.rows.filter(column == end)) for end in ends]


def _contrast(measure: MeasureSpec) -> dict[str, str]:
    contrast = measure.contrast or {}
    return {contrast["factor"]: f"{contrast['level']} − {contrast['baseline']}"}


def _place(pair: Pair, more: Mapping[str, str]) -> Key:
    return tuple({**pair.condition, **more}.items())


def _with_tilt(
    row: Estimate, own: Interval | Estimate, sides: tuple[float, float], even: float
) -> Estimate:
    """Adds the numbers with and without the mitigation. own: the interval with mitigation."""
    level, baseline = sides
    ends = [end for end in (own.low, own.high) if end is not None]
    has_turned = ends and all((end - even) * (baseline - even) < 0 for end in ends)
    known_sides = {"level": level, "baseline": baseline, EVEN: even}
    return replace(row, sides={**known_sides, TURNED: 1.0} if has_turned else known_sides)
