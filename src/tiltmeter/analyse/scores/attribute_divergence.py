"""Divergences over the attributes of whole outputs, in three variants (SODA's BDS, CDS and VAC;
docs/explanation/soda.md).

    default         chance-adjusted Jensen-Shannon divergence with null band and p, and the plug-in
    published       the paper's distance with natural logarithm, ceiling √ln 2 = .8326
    published-code  the formula of the authors' released code

Every score has one row per attribute (condition `attribute`) and an overall row, the mean over the
measured attributes. Shuffling moves outputs with all their attributes. A score that cannot be
measured is None with a note; it is 0 only if the released code has 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...protocol import MeasureSpec, Variant
from ...records import Estimate
from ...stats.shuffles import permutation
from ...stats.shuffles.chance import expected_divergence
from ...stats.shuffles.permutation import Permuted
from ..counts.value_counts import Values, codes, count_with_value, counts, value_counts
from ..counts.whole_outputs import DRAWS, BaseAndGroups, notes
from ..measures.divergences import exact
from ..measures.estimate_rows import finite, row_of, with_chance_adjusted, with_shuffled
from ..words.reading import CODE, PUBLISHED
from .as_published import bits_by_code, clipped_by_code, distances

ByCode = Callable[[Estimate, BaseAndGroups, Sequence[Sequence[Values]]], Iterator[Estimate]]


def from_base(cell: BaseAndGroups, measure: MeasureSpec, variant: Variant) -> Iterator[Estimate]:
    """Yields the divergence of each group from the base prompt (BDS)."""
    for place, outputs in cell.groups.items():
        blank, groups = row_of(measure, cell.about(place)), {"base": cell.base, place[1]: outputs}
        yield from _in_variant(variant, clipped_by_code, blank, cell, groups)


def between_groups(
    cell: BaseAndGroups, measure: MeasureSpec, variant: Variant
) -> Iterator[Estimate]:
    """Yields the divergence between the groups of each dimension, mean over pairs (CDS)."""
    for dimension, groups in cell.dimensions().items():
        if len(groups) < 2:
            continue
        blank = row_of(measure, {**cell.condition, "dimension": dimension})
        yield from _in_variant(variant, bits_by_code, blank, cell, groups)


def _in_variant(
    variant: Variant,
    by_code: ByCode,
    blank: Estimate,
    cell: BaseAndGroups,
    groups: Mapping[str, Sequence[Values]],
) -> Iterator[Estimate]:
    sides = list(groups.values())
    if variant.name == CODE:
        return by_code(blank, cell, sides)
    return (distances if variant.name == PUBLISHED else _adjusted_rows)(
        blank, cell, sides, tuple(groups)
    )


# default


def _adjusted_rows(
    blank: Estimate, cell: BaseAndGroups, sides: Sequence[Sequence[Values]], names: Sequence[str]
) -> Iterator[Estimate]:
    """Yields chance-adjusted divergences, overall and by attribute, each with its plug-in's row."""
    rows = codes(sides, cell.attributes)
    shuffles = cell.shuffles(DRAWS)
    if blank.condition.get("group"):
        divergence = permutation.base_against_group(base=rows[0], group=rows[1], shuffles=shuffles)
    else:
        divergence = permutation.pairs_within(groups=rows, shuffles=shuffles)
    parts = divergence.attributes or (divergence,) * len(cell.attributes)
    chance: list[float] = []
    estimates: list[Estimate] = []
    for name, one in zip(cell.attributes, parts, strict=True):
        expected = _chance_expectation(one, sides, name)
        if one.value is not None:
            chance.append(expected)
        about = blank.with_fields(
            condition={**blank.condition, "attribute": name},
            outcomes=value_counts(sides[-1], name),
            n=count_with_value(sides, name),
        )
        estimates += _adjusted_and_plug_in(about, one, expected, notes(one, sides, names, name))
    expected = float(np.mean(chance)) if chance else math.nan
    yield from _adjusted_and_plug_in(
        replace(blank, n=float(sum(map(len, sides)))),
        divergence,
        expected,
        notes(divergence, sides, names),
    )
    yield from estimates


def _adjusted_and_plug_in(
    about: Estimate, found: Permuted, expected: float, note: str
) -> list[Estimate]:
    """Returns two rows: the adjusted value with p, and the plug-in; no values for an empty side."""
    measure = f"{about.measure}_plugin"
    if found.value is None or found.low is None or found.high is None:
        return [replace(about, note=note), replace(about, measure=measure, unit="bits", note=note)]
    adjusted = exact(found, expected)
    is_missing = finite(adjusted.adjusted) is None
    alone = "chance alone gives 1: nothing can lie above it" if is_missing else None
    raw = with_shuffled(about, found, measure=measure, unit="bits", test=None, p=None, note=note)
    return [with_chance_adjusted(about, adjusted, alone, note), raw]


def _chance_expectation(one: Permuted, sides: Sequence[Sequence[Values]], name: str) -> float:
    """Computes E₀: exactly if every output has a value, else as the mean of the shuffles."""
    if one.value is None or one.expected is None:
        return math.nan
    if count_with_value(sides, name) == sum(map(len, sides)):
        return expected_divergence(groups=[np.array(side) for side in counts(sides, name)])
    return one.expected
