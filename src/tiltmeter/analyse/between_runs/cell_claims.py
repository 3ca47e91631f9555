"""Claims over many cells between two runs: tests if two runs differ on the same prompts, over all
objects, by shuffling outputs between the runs inside each prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...stats.arguments import Codes
from ...stats.shuffles.many_cells import ObjectOutputs
from ...stats.shuffles.shuffling import Shuffles
from ..counts.value_counts import codes_with_values
from ..counts.whole_outputs import BASE
from ..measures.divergences import codes_of
from ..scores.many_cells import Compared, claim_row
from ..scores.over_cells import cells_of, cells_of_both, places_of
from .paired_runs import ComparisonRow, PairedTables

DRAWS = 4_999  # shuffles, as of scores of whole outputs
SEED = 21  # of the shuffles, with the place of the object or level
LEVELS, GROUPS = "cells_between_levels", "cells_between_groups"
KINDS = ("cells_from_base", GROUPS, LEVELS)


def cell_claims(pairing: PairedTables) -> Iterator[ComparisonRow]:
    """Yields one claim per prompt that both runs have (the base and each group, over all objects),
    or per level of a factor. Yields nothing for measures that compare groups with one another.
    """
    if pairing.measure.kind == LEVELS:
        yield from _of_levels(pairing)
    elif pairing.measure.kind != GROUPS:
        yield from _of_prompts(pairing)


def _of_prompts(pairing: PairedTables) -> Iterator[ComparisonRow]:
    contrast = pairing.measure.contrast or {}
    cells = cells_of_both(*(cells_of(table, pairing.measure) for table in pairing.tables))
    for place in [BASE, *places_of([first for first, _ in cells])]:
        parts, objects = [], []
        for number, (first, second) in enumerate(cells):
            sides = [cell.prompts.get(place, ()) for cell in (first, second)]
            names = [name for name in first.attributes if name in second.attributes]
            rows, values = codes_with_values(sides, names)
            order = list(first.prompts)
            draws = _shuffles(number, order.index(place) if place in order else len(order))
            parts.append(ObjectOutputs(rows, names, values, draws))
            objects.append(", ".join(first.condition.values()))
        about = dict(zip((contrast["within"], contrast["factor"]), place, strict=True))
        yield from _row(pairing, about, parts, objects)


def _of_levels(pairing: PairedTables) -> Iterator[ComparisonRow]:
    measure = pairing.measure
    if not all(table.drawn for table in pairing.tables):
        return
    among = pairing.before.answers(measure)
    first, second = (codes_of(table, measure, among) for table in pairing.tables)
    for number, level in enumerate(level for level in first if level in second):
        groups: list[Codes] = [first[level], second[level]]
        part = ObjectOutputs(groups, (measure.attribute,), (among,), _shuffles(number, 0))
        yield from _row(pairing, {(measure.contrast or {})["factor"]: level}, [part], [""])


def _row(
    pairing: PairedTables,
    about: Mapping[str, str],
    parts: Sequence[ObjectOutputs],
    objects: Sequence[str],
) -> Iterator[ComparisonRow]:
    full_parts = [part for part in parts if all(len(group) for group in part.groups)]
    if full_parts:
        row, shares = claim_row(
            pairing.measure, about, Compared(parts, objects, pairing.names, True)
        )
        yield pairing.row(row, shares, None, True)


def _shuffles(*place: int) -> Shuffles:
    return Shuffles(draws=DRAWS, generator=np.random.default_rng([SEED, *place]))
