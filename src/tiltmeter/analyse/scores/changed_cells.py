"""The effect of a mitigation on a claim over many cells: by how much it changes the surplus of a
value in a group, over all objects and attributes in one test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from ...protocol import MeasureSpec
from ...protocol.wording import title
from ...records import CellClaim, Estimate, NamedCell
from ...stats.shuffles.changed_shares import METHOD, ChangedPart, LargestChange, largest_change
from ...stats.shuffles.shuffling import Shuffles
from ..counts.count_table import CountTable
from ..counts.value_counts import codes_with_values
from ..counts.whole_outputs import BASE, BaseAndGroups, Place
from ..measures.divergences import codes_of
from ..measures.estimate_rows import row_of
from .over_cells import cells_of, cells_of_both, dimensions_of, places_of

DRAWS = 4_999  # shuffles: enough for Holm's first step over 200 claims
SEED = 22  # of the shuffles, with the places of the object and of the prompt
LEVELS = "cells_between_levels"
# the condition of a claim, the names of its groups, and their outputs by object
Compared = tuple[Mapping[str, str], Sequence[str], Sequence[ChangedPart]]


def changed_cells(table: CountTable, measure: MeasureSpec, base: MeasureSpec) -> Iterator[Estimate]:
    """Yields a row per claim of `base`, about the value whose difference the mitigation changes
    most: the difference at the level of `measure`'s contrast, less that at its baseline.
    """
    contrast = measure.contrast or {}
    factor, ends = contrast["factor"], (contrast["baseline"], contrast["level"])
    sides = [replace(base, where={**measure.where, factor: (end,)}) for end in ends]
    compared = _of_levels(table, sides) if base.kind == LEVELS else _of_objects(table, sides)
    is_based = base.kind == "cells_from_base"
    groups = (base.contrast or {})["factor"]
    for about, levels, parts in compared:
        names = [title(table.protocol, groups, level) for level in levels]
        blank = row_of(measure, about, {factor: f"{ends[1]} − {ends[0]}"})
        change = largest_change(parts=parts, based=is_based) if parts else None
        if change is not None:
            yield _row(blank, change, names, is_based)


def _row(blank: Estimate, found: LargestChange, names: Sequence[str], based: bool) -> Estimate:
    before, after = found.gaps
    base = names[0] if based else names[1] if len(names) == 2 else None
    group, other = found.shares[1]
    cell = NamedCell(
        attribute=found.attribute,
        value=found.value,
        object=None,
        group=names[found.group],
        base=base,
        share=group,
        n=float(found.outputs),
        base_share=other,
        base_n=float(found.outputs),
        p_adjusted=1.0,
    )

    def name_cells(level: float, rejected: bool) -> CellClaim:
        cells = [NamedCell(**{**cell, "p_adjusted": found.p})] if rejected else []
        return CellClaim(
            named=cells,
            largest=cell,
            follows=[],
            follows_from=None,
            tested=found.tested,
            level=level,
            detectable_all=None,
            detectable_one=None,
        )

    return replace(
        blank,
        value=after - before,
        test=METHOD,
        p=found.p,
        n=float(found.outputs),
        note=f"largest of {found.tested} changes: {found.attribute} {found.value} for "
        f"{names[found.group]}",
        sides={"level": after, "baseline": before, "even": 0.0},
        name_cells=name_cells,
    )


def _of_objects(table: CountTable, sides: Sequence[MeasureSpec]) -> Iterator[Compared]:
    """Yields each group paired with the base, or the groups of each dimension together."""
    contrast = sides[0].contrast or {}
    within, factor = contrast["within"], contrast["factor"]
    cells = cells_of_both(*(cells_of(table, side) for side in sides))
    places = places_of([first for first, _ in cells])
    if sides[0].kind == "cells_from_base":
        for place in places:
            about = {within: place[0], factor: place[1]}
            yield about, (contrast["baseline"], place[1]), _outputs_of_objects(cells, [BASE, place])
        return
    for dimension, groups in dimensions_of(places).items():
        yield (
            {within: dimension},
            [group for _, group in groups],
            _outputs_of_objects(cells, groups),
        )


def _outputs_of_objects(
    cells: Sequence[tuple[BaseAndGroups, BaseAndGroups]], places: Sequence[Place]
) -> list[ChangedPart]:
    """Returns the outputs of each object that has outputs for all these prompts at both levels."""
    parts = []
    for number, pair in enumerate(cells):
        outputs = [side.prompts.get(place, ()) for side in pair for place in places]
        if all(outputs):
            names = [name for name in pair[0].attributes if name in pair[1].attributes]
            rows, values = codes_with_values(outputs, names)
            order = list(pair[0].prompts)
            shuffles = [_shuffles(number, order.index(place)) for place in places]
            half = len(places)
            parts.append(ChangedPart(rows[:half], rows[half:], names, values, shuffles))
    return parts


def _of_levels(table: CountTable, sides: Sequence[MeasureSpec]) -> Iterator[Compared]:
    """Yields the levels of a factor, to be compared with one another, if answers were sampled."""
    if not table.drawn:
        return
    among = table.answers(sides[0])
    first, second = (codes_of(_restrict(table, side), side, among) for side in sides)
    levels = [level for level in first if level in second]
    if len(levels) > 1:
        before, after = ([side[level] for level in levels] for side in (first, second))
        shuffles = [_shuffles(0, place) for place in range(len(levels))]
        yield {}, levels, [ChangedPart(before, after, (sides[0].attribute,), (among,), shuffles)]


def _restrict(table: CountTable, side: MeasureSpec) -> CountTable:
    conditions = [pl.col(name).is_in(list(levels)) for name, levels in side.where.items()]
    return replace(table, rows=table.rows.filter(*conditions))


def _shuffles(*place: int) -> Shuffles:
    return Shuffles(draws=DRAWS, generator=np.random.default_rng([SEED, *place]))
