"""The missing answers behind a claim at a gate, and its interval whatever they would have been.

A missing answer of a share could be a hit or not; an answer whose words, grades or likeness are
averaged could have none of them, or twice the mean of the others. Refusals are answers here.
"""

from __future__ import annotations

import math

from ...protocol.design.refusals import NO_ANSWERS
from ...protocol.measures import measure_kind
from ...protocol.thresholds import RATIOS
from .margins import is_of_missing
from .verdicts import Verdict

Ends = tuple[float, float]


def share_of(claim: Verdict) -> float:
    """Returns the share of missing answers behind a claim; 0 if the claim is about them."""
    outcomes = claim.facts.row.outcomes
    total = sum(outcomes.values())
    if not total or is_of_missing(claim.measure):
        return 0.0
    return sum(outcomes.get(name, 0.0) for name in NO_ANSWERS) / total


def widest(claim: Verdict, interval: Ends) -> Ends:
    """Returns the interval of a claim, wide enough for all values of its missing answers.

    By hand: of 100 answers a side 2 are missing in all, 1 % of 200; all may be of one side, 2 % of
    it. A difference of shares moves by up to 2 points, and a ratio of lengths by a factor of 1/.98.
    """
    missing, (low, high) = share_of(claim), interval
    if not missing:
        return interval
    exact, value = claim.claim.bounds, claim.claim.raw.value
    if claim.facts.spec.without and exact is not None and value is not None:
        if exact.low is None or exact.high is None:
            return -math.inf, math.inf
        return low + exact.low - value, high + exact.high - value
    of_side = min(1.0, missing if claim.contrast is None else 2 * missing)
    if claim.unit in RATIOS:
        is_of_means = measure_kind(claim.facts.spec.kind).numbers
        if not is_of_means or of_side == 1:
            return 0.0, math.inf
        return low * (1 - of_side), high / (1 - of_side)
    largest = max(map(abs, claim.sides.values()), default=math.inf)
    shift = of_side * (1.0 if claim.unit == "share" else largest)
    return low - shift, high + shift
