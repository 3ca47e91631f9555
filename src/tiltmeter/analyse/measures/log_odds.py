"""Differences of log-odds between two levels of a factor, as mixed models measure them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from ...protocol import MeasureSpec
from ...records import Estimate
from ...stats import association, means
from ..counts.count_table import CountTable, Group
from .estimate_rows import estimate_row, with_test

HALF = 0.5  # labels added to both sides of a prompt whose drawn answers are all alike


def logit_difference(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    """The mean over items of a difference: the mean log-odds log(hits/(among − hits)) of an item's
    prompts at one level, less that at the baseline.

    In a balanced design this is the fixed effect of a linear mixed model of the log-odds with an
    intercept and a slope for each item (Tamkin et al. 2023), and its interval that model's by REML.
    If answers were sampled, ½ is added to both counts of a prompt, which pulls towards 0.
    By hand: two items with .8 and .6 at the level, .5 and .5 at the baseline: (1.386 + .405)/2.
    """
    contrast = measure.contrast or {}
    factor, level, baseline = contrast["factor"], contrast["level"], contrast["baseline"]
    cells = _cells(table, measure)
    for key, part in cells.group_by(list(by), maintain_order=True) if by else [((), cells)]:
        # In one order, else the same labels give other last digits each time.
        sides = part.group_by([table.protocol.item, factor], maintain_order=True).agg(
            pl.col("logit").mean()
        )
        paired = sides.filter(pl.col(factor) == level).join(
            sides.filter(pl.col(factor) == baseline),
            on=table.protocol.item,
            maintain_order="left",
        )
        gaps = (paired["logit"] - paired["logit_right"]).to_numpy().astype(np.float64)
        condition = dict(zip(by, map(str, key), strict=True))
        n = np.full(gaps.size, part.height / max(1, gaps.size))
        interval = means.pooled_mean(sums=gaps, n=np.ones(gaps.size))
        group = Group(condition, (), n, n, {})
        estimate = estimate_row(group, measure, interval, table, {factor: f"{level} − {baseline}"})
        has_test = table.variant.intervals and gaps.size > 1
        if has_test:
            estimate = with_test(estimate, association.paired_t(differences=gaps), interval)
        yield estimate


def _cells(table: CountTable, measure: MeasureSpec) -> pl.DataFrame:
    """Returns the log-odds of a hit, one row per prompt at the two levels."""
    contrast, protocol = measure.contrast or {}, table.protocol
    factor = contrast["factor"]
    names = [name for name in (*protocol.factors, protocol.item) if name in table.rows.columns]
    ends = pl.col(factor).is_in([contrast["level"], contrast["baseline"]])
    rows = table.rows.filter(ends, pl.col("attribute") == measure.attribute)
    among = pl.col("value").is_in(list(measure.among)) if measure.among else pl.lit(True)
    hits = pl.col("weight").filter(pl.col("value").is_in(list(measure.values))).sum()
    sums = (
        rows.filter(among)
        .group_by(names, maintain_order=True)
        .agg(hits=hits, all=pl.col("weight").sum())
    )
    added = HALF if table.drawn else 1e-6
    misses = pl.col("all") - pl.col("hits")
    return sums.with_columns(logit=((pl.col("hits") + added) / (misses + added)).log())
