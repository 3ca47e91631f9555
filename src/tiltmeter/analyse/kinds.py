"""The kinds of measures that a protocol can declare: each turns groups into estimates by a function
of `stats/`.

A kind yields estimates with measure, condition, contrast and numbers; `estimates` adds who, where
and the signature.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from ..protocol import MeasureSpec, few_items
from ..records import OUTCOMES, Estimate
from ..stats import association, divergence, permutation, power, rates, resampling
from ..stats.permutation import Permuted
from ..stats.results import Interval, Test, joined
from . import attributes
from .groups import Floats, Group, Pair, Table

DRAWS = 9_999
Kind = Callable[[Table, MeasureSpec, Sequence[str]], Iterator[Estimate]]


def share(table: Table, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Σhits/Σamong over items, clustered; with bounds for what is neither where a denominator is
    declared.
    """
    for more, groups in table.counted(measure, by):
        for group in groups:
            group = replace(group, condition={**group.condition, **more})
            found = (
                _one_item(group)
                if group.fixed
                else rates.clustered_share(successes=group.hits, n=group.among)
            )
            estimate = _row(group, measure, found, table)
            if measure.null is not None and not group.fixed:
                estimate = _tested(estimate, _from_null(group, measure.null), found, table)
            yield estimate
            if measure.among and table.variant.intervals:
                yield _bounds(group, measure)


def odds(table: Table, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Σhits/Σ(among − hits) with an interval on the log scale; tested as the share against one
    half.
    """
    for group in table.groups(measure, by, measure.values):
        rest = group.among - group.hits
        found = association.odds(first=group.hits, second=rest)
        if not table.variant.intervals:
            plain = group.hits.sum() / rest.sum() if rest.sum() > 0 else None
            found = replace(
                found,
                value=plain,
                note=None if plain is not None else "no answer in the denominator",
            )
        estimate = _row(group, measure, found, table)
        yield (
            _tested(estimate, _from_null(group, 0.5), found, table)
            if measure.null == 1
            else estimate
        )


def difference(table: Table, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Share at one level of a factor less the share at its baseline, paired by item where items
    stand on both sides.
    """
    for more, pair in table.pairs(measure, by):
        (xa, xb), (na, nb) = pair.hits, pair.among
        found = rates.clustered_difference(successes_a=xa, n_a=na, successes_b=xb, n_b=nb)
        yield _paired(pair, more, measure, found, table)


def ratio(table: Table, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Rate at one level of a factor over the rate at its baseline (disparate impact), paired by
    item.

    per = "labels": hits ÷ labels; per = "outputs": hits ÷ outputs, as papers count, a plain ratio
    with no interval.
    """
    for more, pair in table.pairs(measure, by):
        (xa, xb), (na, nb) = pair.hits, pair.among
        if measure.per == "outputs":
            found = _plain_ratio(xa, na, xb, nb)
        else:
            found = association.ratio(successes_a=xa, n_a=na, successes_b=xb, n_b=nb)
        yield _paired(pair, more, measure, found, table)


def leader(table: Table, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """For each value, the level of one factor at which its share is largest, with p for the levels
    being alike.
    """
    counted = [
        (more, [group for group in groups if group.among.sum() > 0])
        for more, groups in table.counted(measure, by)
    ]
    tests = (
        _values_alike(table, [groups for _, groups in counted])
        if table.drawn and table.variant.intervals
        else ()
    )
    for number, (more, groups) in enumerate(counted):
        shares = [float(group.hits.sum() / group.among.sum()) for group in groups]
        if not groups or max(shares) == 0:
            continue
        first = groups[int(np.argmax(shares))]
        ties = [
            ", ".join(g.condition.values())
            for g, s in zip(groups, shares, strict=True)
            if s == max(shares)
        ]
        estimate = _row(
            replace(first, condition={**first.condition, **more}),
            measure,
            _one_item(_pooled(first)),
            table,
        )
        estimate = replace(
            estimate,
            note=joined(estimate.note or None, f"tie of {'; '.join(ties)}" if ties[1:] else None)
            or "",
        )
        if tests:
            estimate = replace(estimate, test=tests[number].method, p=_number(tests[number].p))
        yield estimate


def _values_alike(table: Table, counted: Sequence[Sequence[Group]]) -> list[Permuted]:
    """For each value, whether its share is the same in all groups; `counted` has the groups of one
    value after another.
    """
    if not any(counted):
        return []
    sums = np.array([[round(float(group.hits.sum())) for group in groups] for groups in counted])
    rest = np.array([round(float(group.among.sum())) for group in counted[0]]) - sums.sum(axis=0)
    if (rest < 0).any():  # several values an output: one by one
        return [found for groups in counted for found in _values_alike(table, [groups])]
    sides = [
        np.repeat(np.arange(len(sums) + 1), [*one, left])
        for one, left in zip(sums.T, rest, strict=True)
    ]
    found = permutation.each_value(groups=sides, shuffles=table.shuffles)
    rows = dict(
        zip(np.unique(np.concatenate(sides)).tolist(), found.attributes, strict=False)
    )  # none for one group
    return [rows.get(value, found) for value in range(len(sums))]


def divergences(table: Table, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Jensen–Shannon divergence of the label distributions between the levels of a factor,
    chance-adjusted.

    Over all pairs of levels, then each pair; null band and p by shuffling outputs. No interval is
    claimed. Without `among` every answer counts, and what is none (refusals, …) does not.
    """
    factor = (measure.contrast or {})["factor"]
    among = table.answers(measure)
    codes: dict[str, np.ndarray[tuple[int, int], np.dtype[np.int64]]] = {}
    outcomes: dict[str, float] = {}
    rows = table.rows.filter(
        (pl.col("attribute") == measure.attribute) & pl.col("value").is_in(list(among))
    )
    for level in table.protocol.levels[factor]:
        counts = dict(
            rows.filter(pl.col(factor) == level)
            .group_by("value")
            .agg(pl.col("weight").sum())
            .iter_rows()
        )
        if not table.drawn or not counts:
            continue
        sizes = [round(counts.get(value, 0.0)) for value in among]
        codes[level] = np.repeat(np.arange(len(sizes)), sizes)[:, None]
        for value, weight in counts.items():
            outcomes[value] = outcomes.get(value, 0.0) + weight
    blank = Estimate("", "", "", measure.name, {}, None, None, "share of 1 bit", outcomes=outcomes)
    whole = replace(blank, contrast={factor: "all pairs"})
    if len(codes) < 2:
        why = (
            f"labels of fewer than two levels of {factor}"
            if table.drawn
            else "read from probabilities: nothing to shuffle"
        )
        yield replace(whole, note=why)
        return
    yield _permuted(
        whole, permutation.pairs_within(groups=list(codes.values()), shuffles=table.shuffles)
    )
    for a, b in combinations(codes, 2):
        one = replace(blank, contrast={factor: f"{a} − {b}"}, outcomes={})
        yield _permuted(
            one,
            permutation.base_against_group(base=codes[a], group=codes[b], shuffles=table.shuffles),
        )


def outcome_rates(table: Table, attribute: str, named: bool) -> Iterator[Estimate]:
    """How often each label occurs among all; what is no answer has a rate too. Many answers (texts)
    are left out.

    None for an attribute with several labels an answer (ten picked words): a rate of labels is no
    rate of answers.
    named: the condition names the attribute, since the protocol has several.
    """
    rows = table.rows.filter(pl.col("attribute") == attribute)
    if float(rows["weight"].sum()) > float(table.rows["outputs"].sum()) + 1e-6:
        return
    about = {"attribute": attribute} if named else {}
    seen = rows["value"].unique().sort().to_list()
    options = tuple(value for value in seen if value not in OUTCOMES)
    shown = [
        *(options if len(options) <= 12 else ()),
        *(value for value in OUTCOMES if value in seen),
    ]
    measure = MeasureSpec("outcome_rate", "share", attribute, ())
    cuts = list(table.cuts(measure, _few_items(table)))
    for value in shown:
        for group in (table.group(cut, measure, (value,)) for cut in cuts):
            found = (
                _one_item(group)
                if group.fixed
                else rates.clustered_share(successes=group.hits, n=group.among)
            )
            condition = {**group.condition, **about, "outcome": value}
            outcomes = {value: group.outcomes.get(value, 0.0)}
            yield _row(
                replace(group, condition=condition, outcomes=outcomes), measure, found, table
            )
    if not table.drawn and options:
        measure = MeasureSpec("captured_mass", "share", attribute, options)
        for group in table.groups(measure, (), options):
            yield _row(
                group, measure, rates.clustered_share(successes=group.hits, n=group.among), table
            )


def _few_items(table: Table) -> tuple[str, ...]:
    """The item as a grouping where a design has only a few and names them as a factor: they are no
    sample of items.
    """
    return (table.protocol.item,) if few_items(table.protocol) else ()


def _row(
    group: Group,
    measure: MeasureSpec,
    found: Interval,
    table: Table,
    contrast: Mapping[str, str] | None = None,
) -> Estimate:
    """An interval as an estimate; what is not finite is null."""
    low, high = (
        (_number(found.low), _number(found.high)) if table.variant.intervals else (None, None)
    )
    return Estimate(
        "",
        "",
        "",
        measure.name,
        group.condition,
        contrast,
        _number(found.value),
        measure.unit,
        low,
        high,
        found.confidence if low is not None else None,
        found.method if low is not None else None,
        n=round(float(group.among.sum()), 6),
        clusters=found.clusters,
        outcomes=group.outcomes,
        note=found.note or "",
    )


def _paired(
    pair: Pair, more: Mapping[str, str], measure: MeasureSpec, found: Interval, table: Table
) -> Estimate:
    (xa, xb), (na, nb) = pair.hits, pair.among
    group = Group({**pair.condition, **more}, (), xa, na + nb, pair.outcomes)
    estimate = _row(group, measure, found, table, pair.contrast)
    if measure.per == "outputs":
        return estimate
    both = (na > 0) & (nb > 0)
    if both.any():
        return _tested(estimate, xa[both] / na[both] - xb[both] / nb[both], found, table)
    return _tested_apart(estimate, (xa[na > 0] / na[na > 0], xb[nb > 0] / nb[nb > 0]), found, table)


def _tested_apart(
    estimate: Estimate, sides: tuple[Floats, Floats], found: Interval, table: Table
) -> Estimate:
    """No item stands on both sides: items are shuffled over the two (as texts about male-typed and
    female-typed nouns).
    """
    if not table.variant.intervals:
        return estimate
    test = resampling.permuted_means(
        first=sides[0], second=sides[1], draws=DRAWS, generator=_generator(estimate)
    )
    return _with(estimate, test, found)


def _tested(estimate: Estimate, differences: Floats, found: Interval, table: Table) -> Estimate:
    """Sign flip over items, where the variant has intervals."""
    if not table.variant.intervals or not differences.size:
        return estimate
    return _with(estimate, sign_flip_of(estimate, differences), found)


def sign_flip_of(estimate: Estimate, differences: Floats) -> Test:
    """Sign flip of a row's differences; its seed comes from what the row is about, and from no
    other row.
    """
    sampled = np.count_nonzero(differences) > resampling.ENUMERATED
    generator = _generator(estimate) if sampled else None
    return resampling.sign_flip(differences=differences, draws=DRAWS, generator=generator)


def _with(estimate: Estimate, test: Test, found: Interval) -> Estimate:
    """With p and the difference that would be found."""
    clusters = found.clusters or 0
    smallest = (
        power.detectable(se=found.se, clusters=clusters) if found.se and clusters > 1 else None
    )
    if smallest is not None and "log" in found.method:
        # From the log scale: this much above a ratio of 1; a ratio of more than 1,000 says nothing.
        smallest = math.expm1(smallest) if smallest < math.log(1000) else None
    note = joined(estimate.note or None, test.note) or ""
    return replace(
        estimate, test=test.method, p=_number(test.p), detectable=_number(smallest), note=note
    )


def _from_null(group: Group, null: float) -> Floats:
    """Each item's share less the null value, weighted by its part of the denominator (mean weight
    1); sums to Σ(x − null·n).
    """
    total = group.among.sum()
    if total == 0:
        return np.zeros(0)
    found: Floats = (group.hits - null * group.among) * (group.among.size / total)
    return found


def _one_item(group: Group) -> Interval:
    """One item is not a population of items: its own outputs are, where they were drawn
    independently.
    """
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
    return rates.wilson(hits, n)


def _pooled(group: Group) -> Group:
    return replace(group, hits=group.hits.sum(keepdims=True), among=group.among.sum(keepdims=True))


def _bounds(group: Group, measure: MeasureSpec) -> Estimate:
    """Between all other outcomes counted against, and all counted for: it holds whatever they would
    have been.
    """
    total, hits, among = (
        sum(group.outcomes.values()),
        float(group.hits.sum()),
        float(group.among.sum()),
    )
    found = rates.bounds(
        successes=hits, failures=max(0.0, among - hits), missing=max(0.0, total - among)
    )
    return Estimate(
        "",
        "",
        "",
        f"{measure.name}_bounds",
        group.condition,
        None,
        _number(found.value),
        measure.unit,
        _number(found.low),
        _number(found.high),
        None,
        found.method,
        n=round(total, 6),
        clusters=len(group.items),
        outcomes=group.outcomes,
        note=found.note or "",
    )


def _plain_ratio(xa: Floats, na: Floats, xb: Floats, nb: Floats) -> Interval:
    method = "ratio of rates by output"
    if na.sum() == 0 or nb.sum() == 0 or xb.sum() == 0:
        return Interval(
            None, None, None, method, clusters=xa.size, note="nothing in the denominator"
        )
    return Interval(
        float(xa.sum() / na.sum() / (xb.sum() / nb.sum())), None, None, method, clusters=xa.size
    )


def _permuted(estimate: Estimate, found: Permuted) -> Estimate:
    """Headline: the chance-adjusted value, with the null band on the same scale; the plug-in and E₀
    in the note.
    """
    if found.value is None or found.expected is None or found.low is None or found.high is None:
        return replace(estimate, note=found.note or "not measured")
    low, high = (
        divergence.chance_adjusted(divergence=x, expected=found.expected)
        for x in (found.low, found.high)
    )
    note = (
        joined(f"plug-in {found.value:.4f} bits, by chance {found.expected:.4f}", found.note) or ""
    )
    return replace(
        estimate,
        value=_number(found.adjusted),
        null_low=_number(low),
        null_high=_number(high),
        test=found.method,
        p=_number(found.p),
        n=float(sum(found.sizes)),
        note=note,
    )


def _generator(estimate: Estimate) -> np.random.Generator:
    where = [
        estimate.measure,
        sorted(estimate.condition.items()),
        sorted((estimate.contrast or {}).items()),
    ]
    return np.random.default_rng(zlib.crc32(json.dumps(where).encode()))


def _number(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None


KINDS: dict[str, Kind] = {
    "share": share,
    "odds": odds,
    "difference": difference,
    "ratio": ratio,
    "leader": leader,
    "divergence": divergences,
    **{name: attributes.scored(score) for name, score in attributes.SCORES.items()},
}
