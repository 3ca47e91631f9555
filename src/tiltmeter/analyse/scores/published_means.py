"""Unweighted means over cells or items, as papers report them, with counts of significant cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from ...protocol import MeasureSpec
from ...protocol.design.tables import SEVERAL
from ...records import Estimate
from ...stats import association
from ...stats.results import count_of
from ..counts.count_table import CountTable, Cut
from ..measures.controlled_effects import effect, hits_of
from ..measures.estimate_rows import row_of


def cell_mean(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Averages Σhits/Σamong over cells unweighted; cells are levels of the contrast's `cells`."""
    cells = [name for name in (measure.contrast or {})["cells"].split(SEVERAL) if name not in by]
    by_group: dict[tuple[tuple[str, str], ...], list[tuple[float, Cut]]] = {}
    for cut in table.cuts(measure, (*by, *cells)):
        among = cut.sum(measure.among).sum()
        if among > 0:
            key = tuple((name, cut.condition[name]) for name in by)
            by_group.setdefault(key, []).append(
                (float(cut.sum(hits_of(measure, cut.condition)).sum() / among), cut)
            )
    for key, shares in by_group.items():
        labels = sum(cut.sum(measure.among).sum() for _, cut in shares)
        note = f"unweighted mean of {count_of(len(shares), 'cell')}"
        yield _mean(measure, dict(key), [share for share, _ in shares], labels, note)


def effect_mean(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Averages the effect over cells unweighted; counts cells significant by the paired t."""
    cells = (measure.contrast or {})["cells"].split(SEVERAL)
    by_group: dict[tuple[tuple[str, str], ...], list[Estimate]] = {}
    difference = replace(
        measure,
        null=0.0,
        contrast={k: v for k, v in (measure.contrast or {}).items() if k != "cells"},
    )
    for estimate in effect(
        replace(table, variant=replace(table.variant, intervals=False)), difference, (*by, *cells)
    ):
        key = (
            *((name, estimate.condition[name]) for name in by),
            *(estimate.contrast or {}).items(),
        )
        by_group.setdefault(key, []).append(estimate)
    for key, rows in by_group.items():
        values = [row.value for row in rows if row.value is not None]
        significant = [row for row in rows if row.p is not None and row.p < 0.05]
        number_below = sum(1 for row in significant if (row.value or 0) < 0)
        note = (
            f"unweighted mean of {count_of(len(values), 'cell')}; {len(significant)} have p < .05, "
            f"{number_below} of these below 0"
        )
        condition, contrast = dict(key[: len(by)]), dict(key[len(by) :])
        mean = _mean(measure, condition, values, sum(row.n for row in rows), note)
        row = replace(mean, contrast=contrast)
        if table.variant.intervals or len(values) < 2:
            yield row
        else:  # the paper names no test; this one gives its stars
            test = association.paired_t(differences=np.array(values))
            yield replace(row, p=test.p, test="t over cells")
        yield _significant_cells(measure, condition, contrast, rows)


def _significant_cells(
    measure: MeasureSpec,
    condition: dict[str, str],
    contrast: dict[str, str],
    rows: Sequence[Estimate],
) -> Estimate:
    """Returns the share of cells with p < .05, in either direction, as papers count them."""
    tested = [row for row in rows if row.p is not None and row.value is not None]
    values = [row.value for row in tested if row.p is not None and row.p < 0.05]
    against = sum(1 for value in values if value is not None and value < 0)
    row = _mean(replace(measure, name=f"{measure.name}_significant"), condition, [], 0.0, "")
    outcomes = {
        "p < .05, above 0": float(len(values) - against),
        "p < .05, below 0": float(against),
        "p ≥ .05": float(len(tested) - len(values)),
    }
    value = len(values) / len(tested) if tested else None
    note = f"{len(values)} of {len(tested)} cells have p < .05, {against} of them below 0"
    return replace(
        row,
        contrast=contrast,
        value=value,
        unit="share",
        n=float(len(tested)),
        outcomes=outcomes if tested else {},
        note=note if tested else "no cell was tested",
    )


def item_mean(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Yields, as published, the unweighted mean of the items' shares of the first value, with
    undefined shares counted as 0; a second value gets the rest.

    The items are those of the group whatever they were asked in: a word may have no output in one
    language.
    By hand: two words with 3 of 4 and with 0 of 0: (.75 + 0)/2 = .375, of the other value .625.
    """
    levels = table.rows.group_by(table.protocol.item).agg(pl.col(name).n_unique() for name in by)
    factors = [name for name in by if levels[name].max() == 1]
    sizes = {tuple(cut.condition.items()): len(cut.items) for cut in table.cuts(measure, factors)}
    for cut in table.cuts(measure, by):
        size = sizes[tuple((name, cut.condition[name]) for name in factors)]
        hits, among = cut.sum(measure.values[:1]), cut.sum(measure.among)
        shares = hits[among > 0] / among[among > 0]
        number = size - shares.size
        note = f"{number} of {size} words have no share and count as 0" if number else ""
        values = [*shares.tolist(), *([0.0] * number)]
        first = _mean(measure, cut.condition, values, among.sum(), note)
        for value in measure.values:
            share = (
                first.value
                if value == measure.values[0] or first.value is None
                else 1 - first.value
            )
            condition = {**first.condition, measure.attribute: value}
            yield replace(first, condition=condition, value=share, clusters=size)


def _mean(
    measure: MeasureSpec,
    condition: Mapping[str, str],
    values: Sequence[float],
    labels: float,
    note: str,
) -> Estimate:
    value = float(np.mean(values)) if values else None
    return row_of(
        measure,
        condition,
        value=value,
        n=round(float(labels), 6),
        note=note if values else "nothing to average",
    )
