"""A gate over all headline claims of a run: PASS, FAIL, WORSE or NOT ENOUGH DATA.

PASS if the 90 % interval of every claim lies inside a margin that was named beforehand: each claim
is two one-sided tests at 5 %, and since all must pass, no adjustment is due. Else FAIL if a claim
tilts (`--fail-on tilt`: its p, adjusted over all claims, is below .05), or if a claim's whole
interval lies beyond the margin (`--fail-on margin`). Else NOT ENOUGH DATA. Berger and Hsu (1996),
Statistical Science 11(4). The interval must lie inside whatever the missing answers would have been
(`missing_answers.py`), and over fewer than nine items it shows nothing. WORSE comes from a
comparison with an earlier run (`worse.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

from ...errors import UsageError
from ...protocol import Protocol
from ...protocol.thresholds import RATIOS
from ...records import Json
from ...stats.quantiles import normal_quantile
from ...stats.results import count_of
from ..words import numerals
from ..words.caution_kinds import CautionKind
from ..words.verdict_words import Word
from . import gate_lines, missing_answers
from .cautions import MUCH_MISSING
from .margins import HOW_MUCH, Sizes, is_of_missing, parse_sizes, refuse_unfit, size_of
from .thresholds import FAILED, INCONCLUSIVE, at_confidence
from .verdicts import Verdict

FailOn = Literal["tilt", "margin", "worse"]
EQUIVALENCE = 0.90  # confidence whose interval lies inside the margin if both one-sided tests pass
SURE = 0.90  # share of runs without a tilt that the number of items named would let pass
# Items none of which differs at all: at 95 % fewer than one in twenty of such items would.
ALIKE_ITEMS = 59


class Decision(Enum):
    """The decision of a gate."""

    PASS = "PASS"
    FAIL = "FAIL"
    WORSE = "WORSE"
    NOT_ENOUGH_DATA = "NOT ENOUGH DATA"

    @property
    def code(self) -> int:
        """The exit code of the command."""
        if self is Decision.PASS:
            return 0
        return INCONCLUSIVE if self is Decision.NOT_ENOUGH_DATA else FAILED

    def __str__(self) -> str:
        return self.value


SHUT = (Decision.FAIL, Decision.WORSE, Decision.NOT_ENOUGH_DATA)  # the heaviest first


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a run so far, to extrapolate to a larger run. dollars: 0 if no price is known."""

    calls: int = 0
    dollars: float = 0.0


@dataclass(frozen=True, slots=True)
class Gate:
    """The settings of a gate.

    fail_on: the reasons to fail. margins: measure → (size, True if in per cent); the key "" is for
    all other measures. Sizes are points of shares, per cent of ratios, or the measure's unit.
    """

    fail_on: tuple[FailOn, ...]
    margins: Sizes

    def margin(self, claim: Verdict) -> float | None:
        """Returns a claim's margin in its unit (for ratios a factor above 1), or None."""
        return size_of(self.margins, claim.measure, claim.unit)

    def refuse_unknown_names(self, protocol: Protocol) -> None:
        """Raises UsageError if a margin fits no headline measure, or no such measure has one."""
        if set(self.fail_on) != {"worse"}:
            refuse_unfit(self.margins, protocol)


@dataclass(frozen=True, slots=True)
class ClaimAtGate:
    """A claim with its decision and a line of text. used: the farther end of its 90 % interval as a
    fraction of the margin, infinite if it has no interval. more: a sentence on the data that would
    decide it, "" if it is decided. margin, interval: compared with one another; None if unknown.
    """

    claim: Verdict
    decision: Decision
    used: float
    line: str
    more: str = ""
    margin: float | None = None
    interval: tuple[float, float] | None = None

    def as_dict(self) -> dict[str, Json]:
        """Returns plain values for JSON; numbers are in the claim's unit, or null."""
        claim = self.claim
        numbers = (*(self.interval or (None, None)), self.margin)
        low, high, margin = (x if x is None or math.isfinite(x) else None for x in numbers)
        return {
            "measure": claim.measure,
            "factor": next(iter(claim.contrast or {}), ""),
            "groups": list(gate_lines.levels(claim)),
            "subject": claim.subject,
            "condition": dict(claim.condition),
            "estimate": claim.value,
            "unit": claim.unit,
            "interval": None if low is None else [low, high],
            "margin": margin,
            "result": self.decision.value,
            "line": self.line,
            "more": self.more,
        }


@dataclass(frozen=True, slots=True)
class GateResult:
    """The decision over all claims. notes: remarks, such as on claims that were left out; left_out:
    the number of these.
    """

    decision: Decision
    claims: tuple[ClaimAtGate, ...]
    notes: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def lines(self) -> list[str]:
        """One line per claim that stands in the way of PASS, or a summary if all claims pass."""
        if self.decision is not Decision.PASS:
            lines = []
            for one in (claim for word in SHUT for claim in self.claims if claim.decision is word):
                lines += [
                    f"{one.decision}  {one.line}",
                    *([f"      {one.more}"] if one.more else ()),
                ]
            return [*(lines or [f"{self.decision}  nothing could be held"]), *self.notes]
        widest = max(self.claims, key=lambda one: one.used)
        claims = count_of(len(self.claims), "claim")
        passed = f"PASS  no tilt beyond the margin in {claims}"
        if self.left_out:
            passed += f"; of {len(self.claims) + self.left_out} in all, {self.left_out} not held"
        return [passed, f"widest: {widest.line}", *self.notes]


def parse_gate(fail_on: Sequence[str], margin: str | None) -> Gate | None:
    """Parses `--fail-on` and `--margin`; None if both are absent. UsageError without a margin."""
    if not fail_on and margin is None:
        return None
    if margin is None and set(fail_on) != {"worse"}:
        raise UsageError(f"--fail-on needs a margin. {HOW_MUCH}")
    reasons: list[FailOn] = [
        one for one in ("tilt", "margin", "worse") if one in (fail_on or ("tilt",))
    ]
    return Gate(tuple(reasons), {} if margin is None else parse_sizes(margin))


def hold(gate: Gate, claims: Sequence[Verdict], cost: Cost | None = None) -> GateResult:
    """Decides the headline claims of a run at a gate. cost: the run's cost so far."""
    if set(gate.fail_on) == {"worse"}:
        return GateResult(Decision.PASS, ())
    claims = [claim for claim in claims if not claim.nuisance]
    decided: list[ClaimAtGate] = []
    unsized, untested, few = [], [], []
    others = [claim for claim in claims if not is_of_missing(claim.measure)]
    nothing = bool(others) and all(claim.value is None for claim in others)
    for claim, name in zip(claims, gate_lines.names(claims), strict=True):
        size, kinds = gate.margin(claim), claim.facts.kinds
        margin = math.inf if size is None else size
        if size is None and not (nothing and claim.value is None):
            unsized.append((claim, name))
        elif CautionKind.REPEATS_ALIKE in kinds:
            untested.append(name)
        elif CautionKind.FEW_CLUSTERS in kinds and not (
            CautionKind.UNPAIRED in kinds
            or _fails(gate, claim, margin)
            or missing_answers.share_of(claim) > MUCH_MISSING
        ):
            few.append((claim, name))
        else:
            about = gate_lines.Name(name, len(claims))
            decided.append(_decide(gate, claim, margin, about, cost))
    notes = gate_lines.not_held(unsized, untested, few)
    return replace(together(decided), notes=tuple(notes), left_out=len(claims) - len(decided))


def together(decided: Sequence[ClaimAtGate]) -> GateResult:
    """Combines the claims' decisions: PASS if all pass, else the first in the order of SHUT."""
    words = {one.decision for one in decided}
    failing = [word for word in SHUT if word in words]
    word = Decision.PASS if decided else Decision.NOT_ENOUGH_DATA
    return GateResult(failing[0] if failing else word, tuple(decided))


def _interval(claim: Verdict) -> tuple[float, float] | None:
    """Returns the 90 % interval; (value, value) if ALIKE_ITEMS or more items all equal the null."""
    is_alike = claim.low is None and (claim.clusters or 0) >= ALIKE_ITEMS
    if is_alike and claim.value is not None and claim.value == claim.reference:
        return claim.value, claim.value
    return at_confidence(claim, EQUIVALENCE)


def _decide(
    gate: Gate, claim: Verdict, margin: float, name: gate_lines.Name, cost: Cost | None
) -> ClaimAtGate:
    ends = _interval(claim)
    worst = None if ends is None else missing_answers.widest(claim, ends)
    distances = _reach(claim, worst)
    is_sure = CautionKind.FEW_CLUSTERS not in claim.facts.kinds
    unpaired = "".join(one.text for one in claim.cautions if one.kind is CautionKind.UNPAIRED)
    is_inside = is_sure and distances is not None and max(distances) < margin
    if unpaired:
        decision = Decision.NOT_ENOUGH_DATA
    elif is_inside and claim.word is not Word.JUDGE_REFUTED:
        decision = Decision.PASS
    elif _fails(gate, claim, margin):
        decision = Decision.FAIL
    else:
        decision = Decision.NOT_ENOUGH_DATA
    line = gate_lines.measured(claim, name, ends, margin, tilts=decision is Decision.FAIL)
    hint = unpaired
    if decision is Decision.NOT_ENOUGH_DATA and not unpaired:
        hint = _hint(claim, ends, margin, cost)
    used = max(distances or (math.inf,)) / margin
    return ClaimAtGate(claim, decision, used, line, hint, margin, ends)


def _hint(
    claim: Verdict, interval: tuple[float, float] | None, margin: float, cost: Cost | None
) -> str:
    """Writes which data would decide a claim: more items, and missing answers only if these alone
    keep it from passing, or would with any number of items.
    """
    if interval is None or claim.value is None:
        return ""
    worst, share = missing_answers.widest(claim, interval), missing_answers.share_of(claim)
    distances = _reach(claim, interval)
    if worst != interval and distances is not None and max(distances) < margin:
        return gate_lines.missing(claim, share, worst)
    half_width, of_worst = _half_width(claim, interval), _half_width(claim, worst)
    size = math.log(margin) if claim.unit in RATIOS else margin
    if not math.isfinite(half_width):
        return "" if worst == interval else gate_lines.missing(claim, share, worst)
    left = size - (of_worst - half_width)
    if left > 0:
        return _calls_needed(claim, half_width, left, cost, share if left < size else 0.0)
    items = _calls_needed(claim, half_width, size, cost)
    return f"{items} {gate_lines.missing(claim, share, worst, besides=True)}".strip()


def _half_width(claim: Verdict, interval: tuple[float, float]) -> float:
    """Returns half of an interval's width: of its logarithms, for a ratio."""
    low, high = interval
    if claim.unit in RATIOS:
        if low <= 0 or not math.isfinite(high):
            return math.inf
        low, high = math.log(low), math.log(high)
    return (high - low) / 2


def _fails(gate: Gate, claim: Verdict, margin: float) -> bool:
    """True if a claim tilts or lies beyond the margin, and the gate asks for that."""
    return ("tilt" in gate.fail_on and claim.word is Word.TILT) or (
        "margin" in gate.fail_on and _lies_beyond(claim, margin)
    )


def _reach(claim: Verdict, interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """Returns the distances of both ends from the null value, in the unit of `Gate.margin`."""
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
    distances = _reach(claim, (claim.low, claim.high))
    is_outside = not claim.low <= claim.reference <= claim.high
    return distances is not None and is_outside and min(distances) > margin


def _calls_needed(
    claim: Verdict, half_width: float, margin: float, cost: Cost | None, missing: float = 0.0
) -> str:
    """Writes how many items, calls and dollars let 9 of 10 runs without a tilt pass. half_width,
    margin: of logarithms, for a ratio; missing: the share of answers that the margin allows for.
    """
    if not claim.clusters or claim.reference is None:
        return ""
    items = items_needed(half_width, claim.clusters, margin)
    asked = max(claim.n, sum(claim.facts.row.outcomes.values()))
    answers = max(1, round(asked / claim.clusters))
    nouns = claim.facts.slots.get("items", "items")
    if items <= claim.clusters:
        return (
            f"If there is no difference, {numerals.count(claim.clusters)} {nouns}, as now, pass in "
            "9 of 10 runs: this is another one, or there is a difference."
        )
    allowed = f", with {numerals.percent(missing)} of the answers missing as now" * bool(missing)
    return (
        f"If there is no difference, {numerals.count(items)} {nouns} of {answers} answers would "
        f"pass in 9 of 10 runs{allowed} (now {numerals.count(claim.clusters)}"
        f"{_growth(cost, items - claim.clusters, answers, items / claim.clusters)})."
    )


def items_needed(half_width: float, items: int, margin: float) -> int:
    """Returns the items with which the share SURE of runs without a tilt pass. half_width: of the
    90 % interval over `items`.
    """
    quantile = normal_quantile((1 + EQUIVALENCE) / 2)
    both_ends = normal_quantile((1 + SURE) / 2)
    return math.ceil(items * (half_width / quantile * (quantile + both_ends) / margin) ** 2)


def _growth(cost: Cost | None, items: int, answers: int, times: float) -> str:
    """Writes how many more calls and dollars so many more items need; if an answer has several
    labels or calls of judges, those of a whole run that is `times` as large.
    """
    if cost is None or not cost.calls:
        return ""
    of_run = math.ceil(cost.calls * (times - 1))
    calls = min(items * answers, of_run)
    sum_of = f"{items:,} × {answers} = " if calls == items * answers else ""
    dollars = cost.dollars * calls / cost.calls
    return f"; {sum_of}{calls:,} more calls" + (f", about ${dollars:.2f}" if dollars else "")
