"""The outcomes of estimates and verdicts under a threshold (protocol/thresholds.py). Pure.

A threshold applies to rows of its measure whose condition has all its levels. A threshold without
levels applies to rows over the whole, or without such rows to the measure's first grouping. If gold
corrects a row, the corrected row counts.

A row *shows* the bound if its whole interval fulfils it, *clears* it if no part does, and is
inconclusive otherwise. With m rows each interval is widened from its confidence 1-α to 1-α/m
(Bonferroni; each end by the ratio of the t quantiles at C-1). A row without an interval (a
divergence) shows a bound if its value does and its adjusted p is at most α, and never clears it. A
row that is a headline claim has a verdict. If the verdict leaves the claim open (a judge that gold
refutes, a direction that is not settled, gold too scarce), the bound is inconclusive too. If the
verdict finds no tilt in the family of all claims, no bound away from the null value is shown. The
command exits with 3 if any row shows the bound; else with 4 if any row is inconclusive or was not
measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ...protocol.thresholds import OPERATORS, RATIOS, Threshold
from ...records import Estimate
from ...stats.quantiles import normal_quantile, t_quantile
from ...stats.results import ALPHA
from ..words.reading import CORRECTED
from ..words.verdict_words import Word
from . import verdicts
from .families import uncorrected_key
from .verdicts import Verdict

FAILED, INCONCLUSIVE = 3, 4  # exit codes
Answer = Literal["shown", "inconclusive", "cleared"]
IN_WORDS = {"shown": "holds", "inconclusive": "is inconclusive", "cleared": "does not hold"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row, and whether it shows a bound. low, high: its interval, widened for the number of rows;
    open: the sentence of a verdict that makes the result inconclusive, else "".
    """

    threshold: Threshold
    estimate: Estimate
    word: Answer
    low: float | None
    high: float | None
    open: str = ""

    @property
    def sentence(self) -> str:
        """One line of text: the threshold, whether it holds, and the row with its number."""
        row = self.estimate
        levels = (*row.condition.items(), *(row.contrast or {}).items())
        about = ", ".join(f"{name}: {level}" for name, level in levels)
        correction = "" if row.correction == "none" else f", {row.correction}"
        number = "not measured" if row.value is None else f"{row.value:.3f}"
        has_ends = self.low is not None and self.high is not None
        ends = f" [{self.low:.3f}, {self.high:.3f}]" if has_ends else ""
        reason = f" ({row.note})" if row.value is None and row.note else ""
        reason += f". {self.open}" if self.open else ""
        return (
            f"{self.threshold.in_words}: {IN_WORDS[self.word]} for {row.subject} by "
            f"{row.instrument} ({about}): {number}{ends}{correction}{reason}"
        )


def judge(
    threshold: Threshold, estimates: Sequence[Estimate], claims: Sequence[Verdict] = ()
) -> list[Outcome]:
    """Returns the outcome of every row that the threshold applies to; [] if the measure has no
    estimates. claims: the verdicts of the run's headline claims.
    """
    rows = _rows(threshold, estimates)
    judged = {uncorrected_key(one.facts.row): one for one in claims}
    return [_outcome(threshold, row, len(rows), judged.get(uncorrected_key(row))) for row in rows]


def code(outcomes: Iterable[Outcome]) -> int:
    """Returns the exit code: 0, FAILED, or INCONCLUSIVE (also if there are no outcomes)."""
    words = [one.word for one in outcomes]
    if "shown" in words:
        return FAILED
    return INCONCLUSIVE if "inconclusive" in words or not words else 0


def _rows(threshold: Threshold, estimates: Sequence[Estimate]) -> list[Estimate]:
    of_measure = [row for row in estimates if row.measure == threshold.measure]
    if threshold.condition:
        of_measure = [
            row
            for row in of_measure
            if all(_level(row, factor) == level for factor, level in threshold.condition)
        ]
    coarsest = _coarsest(of_measure, {factor for factor, _ in threshold.condition})
    corrected = {
        uncorrected_key(row): row
        for row in estimates
        if row.measure == threshold.measure + CORRECTED and row.value is not None
    }
    return [corrected.get(row.key, row) for row in coarsest]


def _level(row: Estimate, factor: str) -> str | None:
    return {"subject": row.subject, "instrument": row.instrument}.get(
        factor, row.condition.get(factor)
    )


def _coarsest(rows: Sequence[Estimate], named: set[str]) -> list[Estimate]:
    """Selects the rows with the fewest factors beyond `named`; if tied, the first row's factors."""
    groupings = [tuple(name for name in row.condition if name not in named) for row in rows]
    least = min(groupings, key=len, default=())
    return [row for row, grouping in zip(rows, groupings, strict=True) if grouping == least]


def _outcome(threshold: Threshold, row: Estimate, rows: int, claim: Verdict | None) -> Outcome:
    low, high = _widen_interval(row, rows)
    word: Answer = "inconclusive"
    if row.value is None or not math.isfinite(row.value):
        return Outcome(threshold, row, word, None, None)
    if claim is not None and verdicts.is_open(claim):
        return Outcome(threshold, row, word, low, high, claim.sentence)
    if low is not None and high is not None:
        word = _fulfils(threshold, low, high)
    else:
        low = high = None
        is_sure = row.deciding_p is not None and row.deciding_p <= ALPHA
        if is_sure and _fulfils(threshold, row.value, row.value) == "shown":
            word = "shown"
    if word == "shown" and claim is not None and _contradicts(threshold, claim):
        return Outcome(threshold, row, "inconclusive", low, high, claim.sentence)
    return Outcome(threshold, row, word, low, high)


def _contradicts(threshold: Threshold, claim: Verdict) -> bool:
    """True if the bound excludes the null value although the claim's verdict is not a tilt."""
    reference = claim.reference
    if claim.p is None or reference is None or claim.word == Word.TILT:
        return False
    return _fulfils(threshold, reference, reference) == "cleared"


def _fulfils(threshold: Threshold, low: float, high: float) -> Answer:
    """Returns "shown" if both ends fulfil the bound, "cleared" if neither, else "inconclusive"."""
    sign, number, center = threshold.sign, threshold.number, threshold.center
    if center is not None:
        distance = _distance_from(center, threshold.unit)
        ends = distance(low), distance(high)
        low, high = (0.0 if low <= center <= high else min(ends)), max(ends)
        if threshold.sides == "both":
            sign, number = sign.replace("<", ">"), distance(number)
    results = {OPERATORS[sign](end, number) for end in (low, high)}
    return "shown" if results == {True} else "cleared" if results == {False} else "inconclusive"


def _distance_from(center: float, unit: str) -> Callable[[float], float]:
    """Returns a function that measures the distance from `center`; for ratios in logarithms."""
    if unit in RATIOS:
        return lambda value: abs(math.log(value / center)) if value > 0 else math.inf
    return lambda value: abs(value - center)


def _widen_interval(row: Estimate, rows: int) -> tuple[float | None, float | None]:
    """Returns the interval at 1-α/rows; bounds of missing answers have no α and stay unchanged."""
    if row.confidence is None or rows < 2:
        return row.low, row.high
    widened = at_confidence(row, 1 - (1 - row.confidence) / rows, row.confidence)
    return widened or (row.low, row.high)


def at_confidence(
    row: Estimate | Verdict, confidence: float, drawn_at: float = 1 - ALPHA
) -> tuple[float, float] | None:
    """Converts an interval from confidence `drawn_at` to another; None if the row has no interval.

    Each end moves by the ratio of the t quantiles at clusters − 1, or at the degrees of freedom
    over cue words. Ratios move on the log scale, and shares stay within their range.
    """
    if row.value is None or row.low is None or row.high is None:
        return None
    df = float(row.clusters - 1) if row.clusters and row.clusters > 1 else math.inf
    over_words = row.population["df"] if row.population and "df" in row.population else None
    df = over_words if isinstance(over_words, float) else df
    factor = _quantile((1 + confidence) / 2, df) / _quantile((1 + drawn_at) / 2, df)
    if row.unit in RATIOS and min(row.value, row.low) > 0:
        low, high = ((end / row.value) ** factor for end in (row.low, row.high))
        return row.value * low, row.value * high
    low, high = (row.value + factor * (end - row.value) for end in (row.low, row.high))
    minimum = -1.0 if row.contrast else 0.0
    return (max(low, minimum), min(high, 1.0)) if row.unit == "share" else (low, high)


def _quantile(probability: float, df: float) -> float:
    return t_quantile(probability, df) if math.isfinite(df) else normal_quantile(probability)
