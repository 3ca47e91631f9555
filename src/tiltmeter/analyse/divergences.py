"""How far the label distributions of the levels of a factor lie apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from ..protocol import MeasureSpec
from ..records import Estimate
from ..stats import divergence, permutation
from ..stats.permutation import Permuted
from ..stats.results import join_notes
from .groups import Table
from .rows import finite


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
    yield _with_permutation(
        whole, permutation.pairs_within(groups=list(codes.values()), shuffles=table.shuffles)
    )
    for a, b in combinations(codes, 2):
        one = replace(blank, contrast={factor: f"{a} − {b}"}, outcomes={})
        yield _with_permutation(
            one,
            permutation.base_against_group(base=codes[a], group=codes[b], shuffles=table.shuffles),
        )


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
