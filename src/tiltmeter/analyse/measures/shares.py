"""Shares, odds, and differences and ratios of the shares at two levels, over items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from ...protocol import MeasureSpec, few_items
from ...records import OUTCOMES, Estimate
from ...stats import association, independent, rates
from ...stats.results import Interval, Test
from ...stats.share_shifts import shift_from_value, shift_of_share
from ...stats.shuffles import resampling
from ..counts.count_table import CountTable, Floats, Group, Pair
from ..counts.prompt_counts import PromptCounts
from ..words.reading import MISSING
from .cue_word_rows import PromptsByValue, with_cue_words, with_few_items
from .estimate_rows import (
    bounds,
    bounds_of_pair,
    estimate_row,
    from_null,
    generator_of,
    share_of_items,
    shift_as_odds,
    with_shuffled_items,
    with_sides,
    with_sign_flip,
    with_studentised_shuffle,
    with_test,
)
from .interactions import interactions
from .item_heterogeneity import with_items_of_group, with_items_of_pair


def share(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Computes Σhits/Σamong over items, clustered; with bounds if a denominator is declared."""
    prompts = PromptsByValue(table, measure, by)
    for added, groups in table.count_groups(measure, by):
        for group in groups:
            place = group.condition
            group = replace(group, condition={**group.condition, **added})
            interval = share_of_items(group)
            estimate = estimate_row(group, measure, interval, table)
            if measure.null is not None and not group.fixed:
                flipped, as_unit = from_null(group, measure.null), _shift_from(group, measure.null)
                estimate = with_sign_flip(estimate, flipped, interval, table, as_unit)
                estimate = with_items_of_group(estimate, group, measure, table)
                tested = prompts.of(place, added)
                estimate = with_cue_words(estimate, tested, null=measure.null)
            yield estimate
            if leaves_out(measure) and table.variant.intervals:
                yield bounds(group, measure)


def leaves_out(measure: MeasureSpec) -> bool:
    """True if some labels may lie outside the denominator, so that bounds are due."""
    return bool(measure.among) or not {*OUTCOMES}.isdisjoint(measure.without)


def _shift_from(group: Group, null: float) -> Callable[[float], float | None]:
    """Converts a shift of per-item differences into a shift of the group's share."""
    total = float(group.among.sum())
    share = float(group.hits.sum()) / total if total else null
    return lambda shift: shift_from_value(shift=shift, share=share, null=null)


def odds(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Computes Σhits/Σ(among − hits), interval on the log scale; tests the share against ½."""
    for group in table.groups(measure, by, measure.values):
        misses = group.among - group.hits
        interval = association.odds(first=group.hits, second=misses)
        if not table.variant.intervals:
            sum_ratio = group.hits.sum() / misses.sum() if misses.sum() > 0 else None
            interval = replace(
                interval,
                value=sum_ratio,
                note=None if sum_ratio is not None else "no answer in the denominator",
            )
        estimate = estimate_row(group, measure, interval, table)
        yield (
            with_sign_flip(estimate, from_null(group, 0.5), interval, table, _odds_from_even(group))
            if measure.null == 1
            else estimate
        )


def _odds_from_even(group: Group) -> Callable[[float], float | None]:
    share_of = _shift_from(group, 0.5)

    def as_odds(shift: float) -> float | None:
        smallest = share_of(shift)
        return None if smallest is None else shift_as_odds(smallest)

    return as_odds


def difference(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Share at one level of a factor less the share at its baseline, paired by the items that have
    both. A headline also gets bounds for labels outside the denominator; a group of a single item
    is compared over its outputs.
    """
    prompts = PromptsByValue(table, measure, by)
    for added, pair in table.pairs(measure, by):
        (xa, xb), (na, nb) = pair.hits, pair.among
        if xa.size == 1 and table.drawn and few_items(table.protocol):
            row = _of_outputs(pair, added, measure, table)
            row = with_cue_words(row, prompts.of(pair.condition, added), null=0.0)
            if row.p is not None:
                item_prompts = prompts.of_few_items(pair.condition, added, 1)
                row = with_few_items(row, item_prompts, Test(None, row.p, row.test or ""))
            yield row
            continue
        interval = rates.clustered_difference(successes_a=xa, n_a=na, successes_b=xb, n_b=nb)
        of_pair = prompts.of(pair.condition, added)
        row = _pair_estimate(pair, added, measure, interval, table, of_pair)
        row = with_cue_words(row, of_pair, null=0.0)
        yield _in_few_items(row, pair, added, prompts)
        if measure.headline and leaves_out(measure) and table.variant.intervals:
            group = Group({**pair.condition, **added}, (), xa, na + nb, pair.outcomes)
            yield bounds_of_pair(pair, group, measure)
            yield from _missing_of_pair(pair, group, measure, table)
    yield from interactions(table, measure, by)


def _in_few_items(
    row: Estimate, pair: Pair, more: Mapping[str, str], prompts: PromptsByValue
) -> Estimate:
    """Adds to a difference over few items, if the items themselves are the cue, a test for these
    items only: outcomes of each item are reassigned at random to its sides.
    """
    (xa, xb), (na, nb) = pair.hits, pair.among
    has_both = (na > 0) & (nb > 0)
    items = int(has_both.sum())
    is_tested = items > 1 and row.p is not None
    of_items = prompts.of_few_items(pair.condition, more, items) if is_tested else None
    if of_items is None or any((one != np.rint(one)).any() for one in (xa, na, xb, nb)):
        return row
    test = resampling.studentised_shuffle(
        hits_a=xa, n_a=na, hits_b=xb, n_b=nb, generator=generator_of(row)
    )
    return with_few_items(row, of_items, test)


def non_answers(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Yields the difference in a non-answer, such as refusals, for groups with at least one."""
    rows = table.rows.filter(pl.col("attribute") == measure.attribute)
    values = {*measure.values}
    if not values.isdisjoint(rows["value"].unique()):
        estimates = difference(table, measure, by)
        yield from (row for row in estimates if not values.isdisjoint(row.outcomes))


def _missing_of_pair(
    pair: Pair, group: Group, measure: MeasureSpec, table: CountTable
) -> Iterator[Estimate]:
    """Estimates the difference between two levels in the share of labels outside the denominator,
    if there are any: refusals concentrated in one group are a difference too, which the shares of
    answers do not show.
    """
    a, b = pair.missing
    if not table.drawn or a.size < 2 or a.sum() + b.sum() == 0:
        return
    na, nb = a + pair.among[0], b + pair.among[1]
    difference_of = rates.clustered_difference(successes_a=a, n_a=na, successes_b=b, n_b=nb)
    missing = replace(measure, name=f"{measure.name}{MISSING}")
    row = estimate_row(
        replace(group, hits=a, among=na + nb), missing, difference_of, table, pair.contrast
    )
    yield with_paired_test(row, (a, na, b, nb), difference_of, table, float)


def _of_outputs(
    pair: Pair, more: Mapping[str, str], measure: MeasureSpec, table: CountTable
) -> Estimate:
    """Estimates the difference in one item; tests it by shuffling outputs between the levels."""
    xa, na, xb, nb = (
        round(float(one[0])) for one in (pair.hits[0], pair.among[0], pair.hits[1], pair.among[1])
    )
    sides = {"successes_a": xa, "n_a": na, "successes_b": xb, "n_b": nb}
    interval = replace(independent.difference(**sides), clusters=1)
    group = Group(
        {**pair.condition, **more}, (), pair.hits[0], pair.among[0] + pair.among[1], pair.outcomes
    )
    estimate = with_sides(estimate_row(group, measure, interval, table, pair.contrast), pair)
    if measure.null is None or not table.variant.intervals:
        return estimate
    return with_test(estimate, independent.shuffled_difference(**sides), interval)


def ratio(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Rate at one level over the rate at its baseline (disparate impact), paired by item.

    per = "labels": hits ÷ labels; per = "outputs": hits ÷ outputs, as papers count, a plain ratio
    with no interval.
    """
    prompts = PromptsByValue(table, measure, by)
    for added, pair in table.pairs(measure, by):
        (xa, xb), (na, nb) = pair.hits, pair.among
        if measure.per == "outputs":
            interval = _plain_ratio(xa, na, xb, nb)
        else:
            interval = association.ratio(successes_a=xa, n_a=na, successes_b=xb, n_b=nb)
        of_pair = None if measure.per == "outputs" else prompts.of(pair.condition, added)
        row = _pair_estimate(pair, added, measure, interval, table, of_pair)
        yield with_cue_words(row, of_pair, null=1.0, ratio=True)


def odds_ratio(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Odds of a hit at one level of a factor over the odds at its baseline, paired by item.

    By hand: 2 of 4 words against 1 of 4: (2/2)/(1/3) = 3.
    """
    prompts = PromptsByValue(table, measure, by)
    for added, pair in table.pairs(measure, by):
        (xa, xb), (na, nb) = pair.hits, pair.among
        rates_of_sides = partial(association.ratio, successes_a=xa, n_a=na, successes_b=xb, n_b=nb)
        of_pair = prompts.of(pair.condition, added)
        row = _pair_estimate(pair, added, measure, rates_of_sides(of_odds=True), table, of_pair)
        result = with_cue_words(row, of_pair, null=1.0, ratio=True)
        if (result.low, result.high) != (row.low, row.high) and result.low is not None:
            rates_value = rates_of_sides().value or 1.0  # cue words are of rates
            factor = (row.value or 1.0) / rates_value
            result = replace(result, low=result.low * factor, high=(result.high or 0.0) * factor)
        yield result


def outcome_rates(table: CountTable, attribute: str, named: bool) -> Iterator[Estimate]:
    """Estimates each label's rate among all labels, non-answers included. Leaves answers out if
    they are many (texts).

    Yields nothing for an attribute with several labels per answer (ten picked words), as the rate
    of a label is then no rate of answers. named: adds the attribute to the condition.
    """
    if not table.has_one_label(attribute):
        return
    rows = table.rows.filter(pl.col("attribute") == attribute)
    about = {"attribute": attribute} if named else {}
    values = rows["value"].unique().sort().to_list()
    options = tuple(value for value in values if value not in OUTCOMES)
    ordered = [
        *(options if len(options) <= 12 else ()),
        *(value for value in OUTCOMES if value in values),
    ]
    measure = MeasureSpec("outcome_rate", "share", attribute, ())
    cuts = list(table.cuts(measure, _few_items(table)))
    for value in ordered:
        for group in (table.group(cut, measure, (value,)) for cut in cuts):
            condition = {**group.condition, **about, "outcome": value}
            outcomes = {value: group.outcomes.get(value, 0.0)}
            rated = replace(group, condition=condition, outcomes=outcomes)
            yield estimate_row(rated, measure, share_of_items(group), table)
    if not table.drawn and options:
        measure = MeasureSpec("captured_mass", "share", attribute, options)
        for group in table.groups(measure, (), options):
            yield estimate_row(
                group, measure, rates.clustered_share(successes=group.hits, n=group.among), table
            )


def _few_items(table: CountTable) -> tuple[str, ...]:
    """Returns the grouping: the item if there are too few items to be a sample, else ()."""
    return (table.protocol.item,) if few_items(table.protocol) else ()


def _pair_estimate(
    pair: Pair,
    more: Mapping[str, str],
    measure: MeasureSpec,
    found: Interval,
    table: CountTable,
    prompts: PromptCounts | None,
) -> Estimate:
    (xa, xb), (na, nb) = pair.hits, pair.among
    group = Group({**pair.condition, **more}, (), xa, na + nb, pair.outcomes)
    estimate = with_sides(estimate_row(group, measure, found, table, pair.contrast), pair)
    if measure.per == "outputs":
        return estimate
    has_both = (na > 0) & (nb > 0)
    if has_both.any():
        tested, base = float(xa.sum() / na.sum()), float(xb.sum() / nb.sum())

        def as_unit(shift: float) -> float | None:
            """Converts a shift into a difference of shares, or into a ratio's excess over 1."""
            found = shift_of_share(shift=shift, shares=(tested, base))
            if found is None or measure.kind not in ("ratio", "odds_ratio"):
                return found
            return found / base if base > 0 else None

        estimate = with_items_of_pair(estimate, pair, measure, table, prompts)
        return with_paired_test(estimate, (xa, na, xb, nb), found, table, as_unit)
    return with_shuffled_items(
        estimate, (xa[na > 0] / na[na > 0], xb[nb > 0] / nb[nb > 0]), found, table
    )


def with_paired_test(
    estimate: Estimate,
    sides: tuple[Floats, Floats, Floats, Floats],
    found: Interval,
    table: CountTable,
    as_unit: Callable[[float], float | None],
) -> Estimate:
    """Adds the test of two sides of the same items: reassigns outcomes inside items if a side has
    few outputs, else flips the signs of the items' contributions to the difference. sides, as_unit:
    as in `with_studentised_shuffle` and `with_sign_flip`.
    """
    _, na, _, nb = sides
    if table.drawn and resampling.sides_are_unequal(n_a=na, n_b=nb):
        return with_studentised_shuffle(estimate, sides, found, table, as_unit)
    return with_sign_flip(estimate, resampling.parts_of_difference(*sides), found, table, as_unit)


def _plain_ratio(xa: Floats, na: Floats, xb: Floats, nb: Floats) -> Interval:
    method = "ratio of rates by output"
    if na.sum() == 0 or nb.sum() == 0 or xb.sum() == 0:
        return Interval(
            None, None, None, method, clusters=xa.size, note="nothing in the denominator"
        )
    return Interval(
        float(xa.sum() / na.sum() / (xb.sum() / nb.sum())), None, None, method, clusters=xa.size
    )
