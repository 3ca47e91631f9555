"""Ranks the verdicts on headline claims, to find the one to lead with."""

from __future__ import annotations

from collections.abc import Sequence

from ...analyse.claims.verdicts import Verdict
from ...analyse.words import numerals


def effect_of(one: Verdict) -> float:
    """Returns a claim's distance from no tilt: |value − null|, or max(x, 1/x) − 1 for a ratio."""
    row, null = one.claim.row, one.claim.spec.null or 0.0
    if row.value is None:
        return 0.0
    if row.unit in numerals.RATIOS:
        return max(row.value, 1 / row.value) - 1 if row.value > 0 else 1.0
    return abs(row.value - null)


def leading(judged: Sequence[Verdict]) -> Verdict | None:
    """Returns the verdict of lowest weight; in a tie, of the earlier measure or larger effect."""
    if not judged:
        return None
    measures = list(dict.fromkeys(one.measure for one in judged))
    return min(
        judged,
        key=lambda one: (
            one.word.record.look.weight,
            measures.index(one.measure),
            -effect_of(one),
        ),
    )
