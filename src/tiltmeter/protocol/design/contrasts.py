"""Contrasts of several groups that one line of a file declares.

`level = "*"` compares each other level of the factor with the baseline; with `baseline = "*"` too,
every pair of levels is compared. Later steps see only measures with one level and one baseline.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from .. import EVERY, MeasureSpec, Protocol


def each_contrast(protocol: Protocol, measure: MeasureSpec) -> list[MeasureSpec]:
    """Returns the measure once per pair of compared levels; unchanged if it names both levels.

    By hand: levels a, b, c: against the baseline a (b, a), (c, a); all pairs (b, a), (c, a), (c,
    b).
    """
    contrast = measure.contrast or {}
    if contrast.get("level") != EVERY:
        return [measure]
    levels, baseline = list(protocol.levels[contrast["factor"]]), contrast["baseline"]
    if baseline == EVERY:
        pairs = [(second, first) for first, second in combinations(levels, 2)]
    else:
        pairs = [(level, baseline) for level in levels if level != baseline]
    return [
        replace(measure, contrast={**contrast, "level": level, "baseline": base})
        for level, base in pairs
    ]


def contrast_factor(protocol: Protocol) -> str:
    """Returns the first factor that a measure contrasts, else the first that groups a measure."""
    for spec in protocol.measures:
        factor = (spec.contrast or {}).get("factor", "")
        if factor in protocol.factors and factor != protocol.item:
            return str(factor)
    groups = (factor for spec in protocol.measures for group in spec.by for factor in group)
    return next((factor for factor in groups if factor != protocol.item), "")


def nuisance_measures(protocol: Protocol, spec: MeasureSpec) -> list[tuple[str, MeasureSpec]]:
    """Lists (factor, measure) for factors such as orders and wordings, which no headline compares:
    measures of their effect on the values that ``spec`` counts.
    """
    compared = {
        (other.contrast or {}).get("factor") for other in protocol.measures if other.headline
    }
    value_keys = (spec.attribute, spec.values, spec.among)
    return [
        (other.contrast["factor"], other)
        for other in protocol.measures
        if other.contrast
        and other.kind == "difference"
        and not other.headline
        and (other.attribute, other.values, other.among) == value_keys
        and other.where == spec.where
        and other.contrast["factor"] not in compared
    ]
