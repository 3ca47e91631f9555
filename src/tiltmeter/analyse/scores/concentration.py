"""The concentration of the values of each prompt (VAC), prompts whose outputs all agree, and
prompts whose commonest value differs from the base's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...protocol import MeasureSpec, Variant
from ...records import Estimate
from ...stats.shuffles import divergence, permutation
from ..counts.value_counts import (
    MISSING,
    Values,
    codes,
    count_with_value,
    counts,
    value_counts,
    values_seen,
)
from ..counts.whole_outputs import DRAWS, BaseAndGroups, notes
from ..measures.estimate_rows import row_of, with_shuffled
from ..words.reading import CODE, PUBLISHED
from .as_published import worded_values

LEAST_SCORE = 0.05  # concentration scores below it are left out of the released code's mean


def concentration(
    cell: BaseAndGroups, measure: MeasureSpec, variant: Variant
) -> Iterator[Estimate]:
    """Estimates the concentration of values (VAC); by default its surplus over the base's."""
    means: list[float] = []
    for place, outputs in cell.prompts.items():
        group, blank = place[1], row_of(measure, cell.about(place))
        rows = [
            attribute_concentration(blank, cell, outputs, name, variant) for name in cell.attributes
        ]
        overall = mean_of_attributes(blank, rows, len(outputs))
        yield from (overall, *rows)
        if variant.name == PUBLISHED and overall.value is not None:
            means.append(overall.value)
        if variant.name == CODE:
            names = (
                cell.attributes
                if group == "base"
                else [name for name in cell.attributes if _in_code(name, cell)]
            )
            means += [
                row.value
                for row in rows
                if row.condition["attribute"] in names
                and row.value is not None
                and row.value >= LEAST_SCORE
            ]
        if variant.name not in (PUBLISHED, CODE):
            about_plain = replace(blank, measure=f"{measure.name}_plugin")
            plain = [
                attribute_concentration(about_plain, cell, outputs, name, Variant(PUBLISHED))
                for name in cell.attributes
            ]
            yield from (mean_of_attributes(about_plain, plain, len(outputs)), *plain)
            if group != "base":
                yield from _more_than_base(
                    replace(blank, measure=f"{measure.name}_difference"), cell, outputs, group
                )
    if variant.name in (PUBLISHED, CODE):
        yield _mean_as_published(row_of(measure, cell.condition), means, cell.size, variant)


def _mean_as_published(
    blank: Estimate, scores: Sequence[float], n: int, variant: Variant
) -> Estimate:
    """Returns the mean of the scores that the paper, or its code, averages."""
    scored = f"mean over scores of {LEAST_SCORE} and more"
    note = "mean over prompts" if variant.name == PUBLISHED else scored
    value = float(np.mean(scores)) if scores else (0.0 if variant.name == CODE else None)
    return replace(
        blank, value=value, n=float(n), note=note if scores else "nothing to take a mean of"
    )


def dominant(cell: BaseAndGroups, measure: MeasureSpec, variant: Variant) -> Iterator[Estimate]:
    """Counts attributes on which all outputs of a prompt agree, and their share."""
    rows, cases = [], 0
    for place, outputs in cell.prompts.items():
        for name in cell.attributes:
            is_alike = has_one_value(outputs, name)
            if is_alike is None:
                continue
            cases += 1
            if is_alike:
                (only_value,) = value_shares(outputs, name)
                about = {**cell.about(place), "attribute": name, "value": only_value}
                n = count_with_value([outputs], name)
                rows.append(row_of(measure, about, value=1.0, n=n))
    value = len(rows) / cases if cases else None
    yield row_of(
        measure,
        cell.condition,
        value=value,
        n=float(cases),
        note=f"{len(rows)} of {cases} prompts × attributes" if cases else "no outputs",
    )
    yield from rows


def shift(cell: BaseAndGroups, measure: MeasureSpec, variant: Variant) -> Iterator[Estimate]:
    """Counts attributes with another commonest value than the base; both shares reach `null`."""
    least_share = measure.null or 0.0
    for place, outputs in cell.groups.items():
        for name in cell.attributes:
            commonest = commonest_shift(cell, outputs, name, least_share)
            if commonest is not None:
                old, old_share, new, new_share = commonest
                yield row_of(
                    measure,
                    {**cell.about(place), "attribute": name},
                    {name: f"{old} → {new}"},
                    new_share,
                    n=count_with_value([outputs], name),
                    outcomes=value_counts(outputs, name),
                    note=f"{old} has {old_share:.2f} of the base prompt's",
                    sides={"level": new_share, "baseline": old_share},
                )


def _more_than_base(
    blank: Estimate, cell: BaseAndGroups, outputs: Sequence[Values], group: str
) -> Iterator[Estimate]:
    """Yields VAC(group) − VAC(base), Miller–Madow entropy, tested by shuffling base and group."""
    base, cued = codes([cell.base, outputs], cell.attributes)
    supports = [cell.support(name) for name in cell.attributes]
    difference = permutation.concentration_difference(
        base=base, group=cued, shuffles=cell.shuffles(DRAWS), values=supports
    )
    parts = difference.attributes or (difference,) * len(cell.attributes)
    for name, one in (("", difference), *zip(cell.attributes, parts, strict=True)):
        sides = [cell.base, outputs]
        yield with_shuffled(
            blank,
            one,
            condition={**blank.condition, **({"attribute": name} if name else {})},
            contrast={"group": f"{group} − base"},
            n=count_with_value(sides, name) if name else float(sum(map(len, sides))),
            note=notes(one, sides, ("base", group), name),
        )


def _in_code(name: str, cell: BaseAndGroups) -> bool:
    """True if the code scores the attribute: all of the product, and background_color."""
    return name not in cell.background or name == "background_color"


def attribute_concentration(
    blank: Estimate, cell: BaseAndGroups, outputs: Sequence[Values], name: str, variant: Variant
) -> Estimate:
    """Returns the row of one attribute's concentration in some outputs, by the variant's rule."""
    value, note = concentration_value(cell, outputs, name, variant)
    return blank.with_fields(
        condition={**blank.condition, "attribute": name},
        outcomes=value_counts(outputs, name),
        n=count_with_value([outputs], name),
        value=value,
        note=note,
    )


def concentration_value(
    cell: BaseAndGroups, outputs: Sequence[Values], name: str, variant: Variant
) -> tuple[float | None, str]:
    """Returns (one attribute's concentration or None if undefined, a note)."""
    if variant.name == CODE:
        outputs = worded_values([outputs], name)[0]
    (row,) = counts([outputs], name)
    if not row:
        return None, "no outputs"
    support = len(row) if variant.name == CODE else cell.support(name)
    if variant.name == CODE and support == 1:
        return 1.0, "K 1"
    value = divergence.concentration(
        counts=row, values=support, miller_madow=variant.name not in (PUBLISHED, CODE)
    )
    if math.isnan(value):
        return None, "one value in all of the table and no list: no concentration"
    return value, f"K {support}"


def mean_of_attributes(blank: Estimate, rows: Sequence[Estimate], n: int) -> Estimate:
    """Averages the attributes' rows; leaves out rows without a value, and notes how many."""
    values = [row.value for row in rows if row.value is not None]
    note = "" if len(values) == len(rows) else f"{len(rows) - len(values)} attributes not measured"
    return replace(
        blank,
        value=float(np.mean(values)) if values else None,
        n=float(n),
        note=note if values else "no outputs",
    )


def has_one_value(outputs: Sequence[Values], name: str) -> bool | None:
    """True if all outputs with a value have the same value; None if fewer than two have values."""
    if count_with_value([outputs], name) < 2:
        return None
    return len(values_seen([outputs], name)) == 1


def commonest_shift(
    cell: BaseAndGroups, outputs: Sequence[Values], name: str, least: float
) -> tuple[str, float, str, float] | None:
    """Returns (the base's commonest value, its share, the group's commonest value, its share); None
    if the two values are equal or a share is below `least`.
    """
    before, after = value_shares(cell.base, name), value_shares(outputs, name)
    if not before or not after:
        return None
    (old, old_share), (new, new_share) = (
        max(s.items(), key=lambda item: item[1]) for s in (before, after)
    )
    is_shift = old != new and min(old_share, new_share) >= least
    return (old, old_share, new, new_share) if is_shift else None


def value_shares(outputs: Sequence[Values], name: str) -> Mapping[str, float]:
    """Returns {value: its share of the outputs that have a value of the attribute}."""
    shares = {
        value: number
        for value, number in value_counts(outputs, name).items()
        if value not in MISSING
    }
    total = sum(shares.values())
    return {value: number / total for value, number in shares.items()}
