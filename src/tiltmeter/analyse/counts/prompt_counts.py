"""Counts by prompt: hits and denominator per cue word and item, by side of a comparison.

A prompt here is a cell of side, cue word and item; wordings and orders are summed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ...protocol import MeasureSpec
from ...protocol.design.cue_words import CueWords
from ...stats.crossed.design import Crossed
from .count_table import CountTable, Floats, Key

NUMERIC = ("mean", "mean_difference")  # kinds of measures whose labels are scores
FIXED = "the word itself"
_PLACE = ("side", "word", "item")


@dataclass(frozen=True, slots=True)
class PromptCounts:
    """The prompts of one row of a table of estimates. places: (side, word, item) per prompt;
    shares: each prompt's share of hits, or mean score; within: the variance of that share over the
    prompt's answers, 0 for a single answer; arrays of shape (prompts,), like the design. fewest:
    the smaller of the sides' numbers of cue words (above 0).
    """

    design: Crossed
    places: Sequence[tuple[int, str, str]]
    shares: Floats
    within: Floats
    fewest: int


def change_of_prompts(first: PromptCounts, second: PromptCounts) -> PromptCounts | None:
    """Subtracts the first run's shares from the second's, by prompt. None if the runs share fewer
    than two prompts, or none on one side.
    """
    earlier = {place: n for n, place in enumerate(first.places)}
    pairs = [(earlier[p], n) for n, p in enumerate(second.places) if p in earlier]
    places = [second.places[n] for _, n in pairs]
    sides = {side for side, _, _ in places}
    if len(pairs) < 2 or len(sides) < first.design.sides:
        return None
    before, after = (np.array(one) for one in zip(*pairs, strict=True))
    n = (first.design.n[before] + second.design.n[after]) / 2
    side, word, item = zip(*places, strict=True)
    design = Crossed.of(side=side, word=word, item=item, n=n, matched=first.design.matched)
    change = second.shares[after] - first.shares[before]
    variances = second.within[after] + first.within[before]
    return PromptCounts(design, places, change, variances, min(first.fewest, second.fewest))


def prompt_counts(
    table: CountTable,
    measure: MeasureSpec,
    by: Sequence[str],
    cue: CueWords | None,
    values: Sequence[str],
) -> dict[Key, PromptCounts]:
    """Returns {condition: its prompts}. ``values``: the hits or, if numeric, the numbers averaged.

    If the measure has a contrast, its two levels are the sides; else all prompts are one side. A
    condition is left out if the cue word of some prompt is unknown, or a side is empty. A side
    without cue words (nobody is named) has one fixed word; so does every side if ``cue`` is None.
    """
    rows = table.split_levels(by)
    contrast = measure.contrast
    item = table.protocol.item
    side = pl.lit(0, pl.Int64)
    if contrast is not None:
        factor = pl.col(contrast["factor"])
        rows = rows.filter(factor.is_in([contrast["level"], contrast["baseline"]]))
        side = (factor == contrast["level"]).cast(pl.Int64)
    word = pl.lit(FIXED) if cue is None else pl.col(cue.sets or cue.column)
    places = rows.with_columns(side=side, word=word, item=pl.col(item))
    keys = list(dict.fromkeys((*by, *_PLACE)))
    counted = _with_sums(places, measure, values).group_by(keys, maintain_order=True)
    cells = counted.agg(pl.col("sums", "squares", "among").sum())
    if measure.per == "outputs":
        among = places.group_by(keys).agg(pl.col("outputs").sum().cast(pl.Float64).alias("among"))
        cells = cells.drop("among").join(among, on=keys, how="right").fill_null(0.0)
    cells = cells.filter(pl.col("among") > 0)
    return dict(_by_condition(cells, by, 1 if contrast is None else 2, bool(cue and cue.sets)))


def _with_sums(rows: pl.DataFrame, measure: MeasureSpec, values: Sequence[str]) -> pl.DataFrame:
    """Returns an attribute's rows with columns for their sums, squares and denominator."""
    of_attribute = rows.filter(pl.col("attribute") == measure.attribute)
    if measure.without:
        of_attribute = of_attribute.filter(~pl.col("value").is_in(list(measure.without)))
    weight, value = pl.col("weight"), pl.col("value")
    if measure.kind in NUMERIC:
        number = value.cast(pl.Float64, strict=False)
        of_attribute = of_attribute.filter(number.is_finite())
        if values:
            of_attribute = of_attribute.filter(value.is_in(list(values)))
        return of_attribute.with_columns(
            sums=number * weight, squares=number**2 * weight, among=weight
        )
    hits = pl.when(value.is_in(list(values))).then(weight).otherwise(0.0)
    is_counted = value.is_in(list(measure.among)) if measure.among else pl.lit(True)
    return of_attribute.with_columns(
        sums=hits, squares=hits, among=pl.when(is_counted).then(weight).otherwise(0.0)
    )


def _by_condition(
    cells: pl.DataFrame, by: Sequence[str], sides: int, matched: bool
) -> Iterator[tuple[Key, PromptCounts]]:
    parts = cells.group_by(list(by), maintain_order=True) if by else [((), cells)]
    for levels, part in parts:
        words = dict(part.group_by("side").agg(pl.col("word").unique()).iter_rows())
        sizes = [len(texts) for texts in words.values() if list(texts) != [""]]
        has_unknown = any("" in texts and len(texts) > 1 for texts in words.values())
        if len(words) < sides or not sizes or has_unknown:
            continue
        place = [part[name].to_list() for name in _PLACE]
        design = Crossed.of(
            side=place[0], word=place[1], item=place[2], n=part["among"].to_list(), matched=matched
        )
        n, sums, squares = (part[name].to_numpy() for name in ("among", "sums", "squares"))
        variances = np.maximum(0.0, squares - sums**2 / n) / np.maximum(n - 1, 1.0) / n
        condition = tuple(zip(by, map(str, levels), strict=True))
        places = list(zip(*place, strict=True))
        yield condition, PromptCounts(design, places, sums / n, variances, min(sizes))
