"""A gate over all headline claims of a run: PASS, FAIL or NOT ENOUGH DATA.

PASS if the 90 % interval of every claim lies inside a margin that was named beforehand: each claim
is two one-sided tests at 5 %, and since all must pass, no adjustment is due. Else FAIL if a claim
tilts (`--fail-on tilt`: its p, adjusted over all claims, is below .05), or if the whole interval of
one lies beyond the margin (`--fail-on margin`). Else NOT ENOUGH DATA. Berger and Hsu (1996),
Statistical Science 11(4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from ...errors import UsageError
from ...protocol.thresholds import RATIOS
from ...stats.quantiles import normal_quantile
from ...stats.results import count_of
from ..words import numerals
from ..words.verdict_words import Word
from .thresholds import FAILED, INCONCLUSIVE, at_confidence
from .verdicts import Verdict

FailOn = Literal["tilt", "margin"]
HOW_MUCH = "Say how much would matter: --margin 5 (points), or --margin refusal=2,length=10%"
EQUIVALENCE = 0.90  # confidence whose interval lies inside the margin if both one-sided tests pass
SURE = 0.90  # share of runs without a tilt that the number of items named would let pass


class Decision(Enum):
    """The word of a gate; its value is the exit code."""

    PASS = 0
    FAIL = FAILED
    NOT_ENOUGH_DATA = INCONCLUSIVE

    def __str__(self) -> str:
        return self.name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate as it was asked for.

    fail_on: the reasons to fail. margins: measure → (size, True if in per cent); "" is for all
    others. Sizes are points of shares, per cent of ratios, or the unit of the measure.
    """

    fail_on: tuple[FailOn, ...]
    margins: Mapping[str, tuple[float, bool]]

    def margin(self, claim: Verdict) -> float:
        """Returns the margin of a claim in its own unit; of ratios as a factor above 1.

        UsageError if none was named for it.
        """
        named = self.margins.get(claim.measure)
        size, per_cent = named or self.margins.get("", (math.nan, False))
        if claim.unit in RATIOS and per_cent:
            return 1 + size / 100
        if claim.unit == "share" and not math.isnan(size):
            return size / 100
        if named and not per_cent:
            return size
        percent = "10%" if claim.unit in RATIOS else "3"
        raise UsageError(
            f"No margin is named for {claim.measure}, which is not a share. Type for instance: "
            f"--margin 5,{claim.measure}={percent}"
        )


@dataclass(frozen=True, slots=True)
class ClaimAtGate:
    """A claim with its decision and a line for people. used: the part of the margin that the
    farther end of its 90 % interval takes up, infinite if it has no interval.
    """

    claim: Verdict
    decision: Decision
    used: float
    line: str


@dataclass(frozen=True, slots=True)
class GateResult:
    """The decision over all claims."""

    decision: Decision
    claims: tuple[ClaimAtGate, ...]

    @property
    def lines(self) -> list[str]:
        """A line for each claim that kept the gate shut, or one for all if it is open."""
        if self.decision is not Decision.PASS:
            shut = [one for one in self.claims if one.decision is not Decision.PASS]
            return [f"{one.decision}  {one.line}" for one in shut] or [
                f"{self.decision}  no headline claim was measured"
            ]
        widest = max(self.claims, key=lambda one: one.used)
        claims = count_of(len(self.claims), "claim")
        return [f"PASS  no tilt beyond the margin in {claims}", f"widest: {widest.line}"]


def parse_gate(fail_on: Sequence[str], margin: str | None) -> Gate | None:
    """Reads `--fail-on` and `--margin`; None if neither was typed. UsageError if one is missing."""
    if not fail_on and margin is None:
        return None
    if margin is None:
        raise UsageError(f"--fail-on needs a margin. {HOW_MUCH}")
    margins = dict(map(_margin, margin.split(",")))
    reasons: list[FailOn] = [one for one in ("tilt", "margin") if one in (fail_on or ("tilt",))]
    return Gate(tuple(reasons), margins)


def _margin(text: str) -> tuple[str, tuple[float, bool]]:
    name, _, size = text.rpartition("=")
    per_cent = size.strip().endswith("%")
    try:
        number = float(size.strip().removesuffix("%"))
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise UsageError(f"'{text}' is not a margin. {HOW_MUCH}")
    return name.strip(), (number, per_cent)


def hold(gate: Gate, claims: Sequence[Verdict]) -> GateResult:
    """Holds the headline claims of a run against a gate."""
    claims = [claim for claim in claims if not claim.nuisance]
    decided = tuple(_decide(gate, claim, len(claims)) for claim in claims)
    words = {one.decision for one in decided}
    for word in (Decision.FAIL, Decision.NOT_ENOUGH_DATA):
        if word in words or not decided:
            return GateResult(word if decided else Decision.NOT_ENOUGH_DATA, decided)
    return GateResult(Decision.PASS, decided)


def _decide(gate: Gate, claim: Verdict, number: int) -> ClaimAtGate:
    margin = gate.margin(claim)
    inner = at_confidence(claim, EQUIVALENCE)
    reach = _reach(claim, inner)
    if reach is not None and max(reach) < margin and claim.word is not Word.JUDGE_REFUTED:
        decision = Decision.PASS
    elif ("tilt" in gate.fail_on and claim.word is Word.TILT) or (
        "margin" in gate.fail_on and _lies_beyond(claim, margin)
    ):
        decision = Decision.FAIL
    else:
        decision = Decision.NOT_ENOUGH_DATA
    line = _in_words(claim, margin, number)
    if decision is Decision.NOT_ENOUGH_DATA:
        line += _needed(claim, inner, margin)
    return ClaimAtGate(claim, decision, max(reach or (math.inf,)) / margin, line)


def _reach(claim: Verdict, interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """Returns how far both ends of an interval lie from no tilt, as `Gate.margin` counts."""
    if interval is None or claim.reference is None:
        return None
    if claim.unit not in RATIOS:
        low, high = (abs(end - claim.reference) for end in interval)
        return low, high
    if min(*interval, claim.reference) <= 0:
        return math.inf, math.inf
    low, high = (math.exp(abs(math.log(end / claim.reference))) for end in interval)
    return low, high


def _lies_beyond(claim: Verdict, margin: float) -> bool:
    if claim.low is None or claim.high is None or claim.reference is None:
        return False
    reach = _reach(claim, (claim.low, claim.high))
    outside = not claim.low <= claim.reference <= claim.high
    return reach is not None and outside and min(reach) > margin


def _in_words(claim: Verdict, margin: float, number: int) -> str:
    about = " · ".join((claim.measure, claim.subject, *claim.condition.values()))
    size = (
        numerals.points(margin)
        if claim.unit == "share"
        else f"{100 * (margin - 1):g} %"
        if claim.unit in RATIOS
        else f"{margin:g}"
    )
    chance = (
        ""
        if claim.p_adjusted is None
        else f", p {numerals.chance(claim.p_adjusted)} adjusted over {number}"
    )
    return f"{about}: {claim.headline} Margin {size}{chance}."


def _needed(claim: Verdict, interval: tuple[float, float] | None, margin: float) -> str:
    """Names the items that would let a model without a tilt pass in nine of ten runs."""
    if interval is None or not claim.clusters or claim.reference is None:
        return " There is no interval to hold against the margin."
    low, high = interval
    if claim.unit in RATIOS:
        if min(interval) <= 0:
            return ""
        low, high, margin = math.log(low), math.log(high), math.log(margin)
    one_sided = normal_quantile((1 + EQUIVALENCE) / 2)
    error = (high - low) / 2 / one_sided
    both_ends = normal_quantile((1 + SURE) / 2)
    items = math.ceil(claim.clusters * (error * (one_sided + both_ends) / margin) ** 2)
    if items <= claim.clusters:
        return ""
    answers = claim.n / claim.clusters
    return (
        f" Without a tilt, {numerals.count(items)} items of {answers:.3g} answers would pass in 9 "
        f"of 10 runs (now {numerals.count(claim.clusters)})."
    )
