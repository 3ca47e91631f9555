"""How far the label distributions of the levels of a factor lie apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import polars as pl

from ..protocol import MeasureSpec
from ..records import Estimate
from ..stats import divergence, permutation
from ..stats.detectable import divergence_shift
from ..stats.permutation import Permuted
from ..stats.results import join_notes
from .groups import Table
from .rows import Detect, finite

Codes = np.ndarray[tuple[int, int], np.dtype[np.int64]]  # of each output its value, shape (n, 1)


def divergences(table: Table, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Jensen–Shannon divergence of the label distributions between the levels of a factor,
    chance-adjusted.

    Over all pairs of levels, then each pair; null band and p by shuffling outputs. No interval is
    claimed. Without `among` every answer counts, and what is none (refusals, …) does not.
    """
    factor = (measure.contrast or {})["factor"]
    among = table.answers(measure)
    codes: dict[str, Codes] = {}
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
        for value in among:  # in the order of the protocol; polars' groups have none
            if value in counts:
                outcomes[value] = outcomes.get(value, 0.0) + counts[value]
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
    found = permutation.pairs_within(groups=list(codes.values()), shuffles=table.shuffles)
    yield replace(_with_permutation(whole, found), detect=_smallest_found(codes, len(codes)))
    of_two = _smallest_found(codes, 2)
    for a, b in combinations(codes, 2):
        one = replace(blank, contrast={factor: f"{a} − {b}"}, outcomes={})
        found = permutation.base_against_group(
            base=codes[a], group=codes[b], shuffles=table.shuffles
        )
        yield replace(_with_permutation(one, found), detect=of_two)


def _smallest_found(codes: Mapping[str, Codes], groups: int) -> Detect:
    """How the divergence that shuffling finds with 80 % power follows from the level of the test:
    one of so many groups moves towards the rarest value, the others are as all levels together.
    Every group has as many outputs as a level has, by their harmonic mean.
    """
    pooled = np.bincount(np.concatenate(list(codes.values()))[:, 0])
    shares = pooled[pooled > 0]
    outputs = round(len(codes) / sum(1 / len(one) for one in codes.values()))

    @cache
    def smallest(level: float) -> float | None:
        if shares.size < 2:
            return None
        found = divergence_shift(shares=shares, outputs=outputs, groups=groups, level=level)
        return None if found is None else found[1]

    return smallest


def _with_permutation(estimate: Estimate, found: Permuted) -> Estimate:
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
        join_notes(f"plug-in {found.value:.4f} bits, by chance {found.expected:.4f}", found.note)
        or ""
    )
    return replace(
        estimate,
        value=finite(found.adjusted),
        null_low=finite(low),
        null_high=finite(high),
        test=found.method,
        p=finite(found.p),
        n=float(sum(found.sizes)),
        note=note,
    )
