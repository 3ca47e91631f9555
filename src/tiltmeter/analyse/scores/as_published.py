"""Scores as their authors define them: the distances of the paper, and of their released code."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ...instruments.images import taxonomy
from ...records import Estimate
from ...stats.shuffles import divergence, permutation
from ...stats.shuffles.permutation import Permuted
from ..counts.value_counts import Values, codes, count_with_value, counts, value_counts
from ..counts.whole_outputs import PUBLISHED_DRAWS, BaseAndGroups, notes
from ..measures.estimate_rows import with_shuffled


def distances(
    blank: Estimate, cell: BaseAndGroups, sides: Sequence[Sequence[Values]], names: Sequence[str]
) -> Iterator[Estimate]:
    """Yields the mean √(JS·ln 2) over pairs of sides, overall and by attribute, and its test."""
    rows = codes(sides, cell.attributes)
    shuffles = cell.shuffles(PUBLISHED_DRAWS)
    pairs = permutation.pairs_within(groups=rows, shuffles=shuffles, root=True)
    parts = pairs.attributes or (pairs,) * len(cell.attributes)
    rows_of_attributes = []
    for name, one in zip(cell.attributes, parts, strict=True):
        about = replace(
            blank,
            condition={**blank.condition, "attribute": name},
            outcomes=value_counts(sides[-1], name),
        )
        about = replace(about, n=count_with_value(sides, name), note=notes(one, sides, names, name))
        rows_of_attributes.append(_with_test(about, attribute_distance(sides, name), one))
    values = [row.value for row in rows_of_attributes if row.value is not None]
    mean = float(np.mean(values)) if values else None
    yield _with_test(
        replace(blank, n=float(sum(map(len, sides))), note=notes(pairs, sides, names)), mean, pairs
    )
    yield from rows_of_attributes


def _with_test(about: Estimate, value: float | None, found: Permuted) -> Estimate:
    if value is None or found.p is None:
        return replace(about, unit="distance", value=value)
    return with_shuffled(about, found, unit="distance", value=value)


def attribute_distance(sides: Sequence[Sequence[Values]], name: str) -> float | None:
    """Averages √(JS·ln 2) over pairs of sides with values; more exact near 0 than mean_distance."""
    rows = [np.array(side) for side in counts(sides, name)]
    pairs = [
        divergence.js_distance(first=a, second=b, base=math.e)
        for a, b in combinations(rows, 2)
        if a.sum() and b.sum()
    ]
    return float(np.mean(pairs)) if pairs else None


def clipped_by_code(
    blank: Estimate, cell: BaseAndGroups, sides: Sequence[Sequence[Values]]
) -> Iterator[Estimate]:
    """Yields distances as the authors' code has them: clipped shares, 0 if a group is empty."""
    sizes = (len(sides[0]), len(sides[1]))
    by_attribute = []
    for name in cell.attributes:
        first, second = (np.array(side) for side in counts(worded_values(sides, name), name))
        value = divergence.clipped_distance(first=first, second=second, of=sizes)
        about = {**blank.condition, "attribute": name}
        by_attribute.append(
            replace(
                blank,
                condition=about,
                unit="distance",
                value=value,
                n=count_with_value(sides, name),
            )
        )
    note = "" if all(sizes) else "no outputs: the authors' code has 0 here"
    mean = float(np.mean([row.value for row in by_attribute])) if by_attribute else 0.0
    yield replace(blank, unit="distance", value=mean, n=float(sum(sizes)), note=note)
    yield from (replace(row, note=note) for row in by_attribute)


def bits_by_code(
    blank: Estimate, cell: BaseAndGroups, sides: Sequence[Sequence[Values]]
) -> Iterator[Estimate]:
    """Yields divergences in bits (0 for an empty side), with an overall row that the code lacks."""
    by_attribute = []
    for name in cell.attributes:
        rows = [np.array(side) for side in counts(worded_values(sides, name), name)]
        # A group without one value of the attribute has no entry in the code's table, so no pair
        # either.
        rows = [row for row in rows if row.sum()]
        pairs = [divergence.js_divergence(first=a, second=b) for a, b in combinations(rows, 2)]
        about = {**blank.condition, "attribute": name}
        value = float(np.mean(pairs)) if pairs else 0.0
        by_attribute.append(
            replace(
                blank, condition=about, unit="bits", value=value, n=count_with_value(sides, name)
            )
        )
    if by_attribute:
        yield replace(
            blank,
            unit="bits",
            value=float(np.mean([row.value for row in by_attribute])),
            n=float(sum(map(len, sides))),
        )
    yield from by_attribute


def worded_values(sides: Sequence[Sequence[Values]], name: str) -> list[list[Values]]:
    """Returns, per output, the attribute's value as the judge worded it, else its label."""
    return [
        [{name: one.get(name + taxonomy.RAW, one.get(name, "invalid"))} for one in side]
        for side in sides
    ]
