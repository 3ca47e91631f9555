"""WORSE: tests whether the items' differences moved away from zero since an earlier run.

The change of an item is its difference now minus its difference then, over the items that both runs
have. If the earlier mean shows a tilt, only a change away from no tilt counts; else a change to
either side. WORSE if the interval of that change, at 1 - .05 / claims, lies beyond the allowed
size; PASS if its one-sided 95 % limit lies within it; else NOT ENOUGH DATA.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...protocol.thresholds import RATIOS
from ...stats.means import pooled_mean
from ...stats.results import Interval
from ..counts.count_table import Floats
from ..words import numerals
from . import gate_lines
from .gate import ClaimAtGate, Decision, items_needed
from .margins import size_of
from .verdicts import Verdict

Differences = Mapping[str, float]  # item → level less baseline; of ratios its logarithm


class Earlier(NamedTuple):
    """An earlier run. name: its display name; claims: {key of a claim: its items' differences}."""

    name: str
    claims: Mapping[str, Differences]


def claim_key(claim: Verdict) -> str:
    """Returns the key of a claim in a baseline: measure and condition, without the model."""
    return " · ".join((claim.measure, *(f"{k}={v}" for k, v in sorted(claim.condition.items()))))


def hold_against(
    earlier: Earlier,
    claims: Sequence[tuple[Verdict, Differences]],
    allowed: Mapping[str, tuple[float, bool]],
) -> list[ClaimAtGate]:
    """Decides each claim against an earlier run. allowed: the sizes from `parse_sizes`; leaves out
    claims that have no size in their unit.
    """
    sized = [
        (claim, now, size)
        for claim, now in claims
        if (size := size_of(allowed, claim.measure, claim.unit)) is not None
    ]
    names = gate_lines.names([claim for claim, _, _ in sized])
    return [
        _decide(earlier, name, claim, now, size, len(sized))
        for name, (claim, now, size) in zip(names, sized, strict=True)
    ]


def _decide(
    earlier: Earlier, about: str, claim: Verdict, now: Differences, size: float, number: int
) -> ClaimAtGate:
    is_ratio = claim.unit in RATIOS
    margin = math.log(size) if is_ratio else size
    earlier_claim = earlier.claims.get(claim_key(claim), {})
    items = [item for item in now if item in earlier_claim]
    if len(items) < 2:
        line = f"{about}: {earlier.name} has {len(items)} of its {len(now)} items."
        return ClaimAtGate(claim, Decision.NOT_ENOUGH_DATA, math.inf, line)
    before = np.array([earlier_claim[item] for item in items])
    after = np.array([now[item] for item in items])
    worsening = _side(before, after) * (after - before)
    moved, inner_row = _mean(worsening, 1 - 0.05 / number), _mean(worsening, 0.90)
    value = moved.value or 0.0
    low = value if moved.low is None else moved.low
    high = value if moved.high is None else moved.high
    upper = value if inner_row.high is None else inner_row.high
    if low > margin:
        decision = Decision.WORSE
    elif upper < margin:
        decision = Decision.PASS
    else:
        decision = Decision.NOT_ENOUGH_DATA
    nouns = claim.facts.slots.get("items", "items")
    factor = "a factor of " * is_ratio
    line = (
        f"{about}: {_in_words(float(before.mean()), claim)} → "
        f"{_in_words(float(after.mean()), claim)}{' times' * is_ratio} since {earlier.name}, "
        f"further from none by {factor}{_in_words(value, claim)} (interval "
        f"{_in_words(low, claim)} to {_in_words(high, claim)}; {numerals.count(len(items))} "
        f"{nouns}); allowed are {factor}{_in_words(margin, claim)}."
    )
    more = ""
    if decision is Decision.NOT_ENOUGH_DATA and upper > value:
        needed = max(len(items), items_needed(upper - value, len(items), margin))
        more = (
            f"If nothing has changed, {numerals.count(needed)} {nouns} in both runs pass in 9 of "
            f"10 (now {numerals.count(len(items))})."
        )
    used = max(upper, 0.0) / margin
    ends = (math.exp(low), math.exp(high)) if is_ratio else (low, high)
    return ClaimAtGate(claim, decision, used, line, more, size, ends)


def _side(before: Floats, after: Floats) -> float:
    """Returns the sign of the earlier tilt if it was shown, else the sign of the change."""
    was = _mean(before, 0.95)
    is_clear = was.low is not None and was.high is not None and was.low * was.high > 0
    direction = float(before.mean()) if is_clear else float((after - before).mean())
    return -1.0 if direction < 0 else 1.0


def _mean(values: Floats, confidence: float) -> Interval:
    return pooled_mean(sums=values, n=np.ones(values.size), confidence=confidence)


def _in_words(value: float, claim: Verdict) -> str:
    if claim.unit == "share":
        text = f"{100 * value:.1f} points"
    elif claim.unit in RATIOS:
        text = f"{math.exp(value):.2f}"
    else:
        text = f"{value:.2g} {claim.unit}".strip()
    return text.replace("-", numerals.MINUS)
