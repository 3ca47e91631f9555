"""Shares corrected by random gold if the judge also errs about membership in the denominator.

A share of she among answers that are she or he is a ratio: if a judge calls some of the she "both",
they leave numerator and denominator. So both are corrected over all outputs. Let N and D be the
prediction-powered means of "is a hit" and "is in the denominator", θ₀ = N/D, and r_i = (hit_i -
θ₀·among_i)/D. The estimate is θ₀ plus the prediction-powered mean of r (one Newton step, the
linearisation of a ratio of means; Cochran 1977, ch. 6); its interval is that mean's, shifted by θ₀.
If nothing lies outside the denominator, r adds nothing and the estimate is the plain
prediction-powered share.

By hand: 10 outputs, all with gold, truth 4 she, 4 he, 2 neither; the judge calls 2 of the she
neither: N = .4, D = .8, θ₀ = .5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...stats.judges import prediction_powered
from ...stats.judges.prediction_powered import Powered, Sums
from ...stats.results import Interval, join_notes
from ..counts.count_table import Floats

METHOD = "ppi++ ratio, linearised over items, t"


@dataclass(frozen=True, slots=True)
class Counts:
    """One condition by item, shape (C,): hits and denominator among all `n` outputs by the judge's
    labels; then the gold's weighted hits and denominator, by the judge's labels and by people's.
    """

    hits: Floats
    among: Floats
    n: Floats
    judged_hits: Floats
    judged_among: Floats
    true_hits: Floats
    true_among: Floats
    gold: Floats


@dataclass(frozen=True, slots=True)
class _Side:
    value: float
    residuals: Sums


def powered_contrast(sides: Sequence[Counts]) -> Powered:
    """Corrects one side's share, or a difference of two; refuses as `prediction_powered` does."""
    parts = []
    for side in sides:
        part = _side(side)
        if isinstance(part, Powered):
            return part
        parts.append(part)
    first, *others = parts
    if not others:
        powered = prediction_powered.prediction_powered(sums=first.residuals, share=False)
        return _shift(powered, first.value, 0.0)
    (second,) = others
    powered = prediction_powered.prediction_powered_difference(
        first=first.residuals, second=second.residuals, share=False
    )
    return _shift(powered, first.value - second.value, -1.0)


def _side(side: Counts) -> _Side | Powered:
    """Returns θ₀ and the residuals; if there is too little gold, a Powered that says why."""
    top = prediction_powered.prediction_powered(
        sums=Sums(side.hits, side.n, side.judged_hits, side.true_hits, side.gold)
    )
    bottom = prediction_powered.prediction_powered(
        sums=Sums(side.among, side.n, side.judged_among, side.true_among, side.gold)
    )
    for part in (top, bottom):
        if part.reason or part.corrected.value is None:
            return part
    d = bottom.corrected.value or 0.0
    if d <= 0:
        return replace(bottom, reason="nothing in the denominator")
    value = (top.corrected.value or 0.0) / d
    return _Side(
        value,
        Sums(
            (side.hits - value * side.among) / d,
            side.n,
            (side.judged_hits - value * side.judged_among) / d,
            (side.true_hits - value * side.true_among) / d,
            side.gold,
        ),
    )


def _shift(made: Powered, by: float, least: float) -> Powered:
    """Adds `by` to the mean of the residuals, and clips value and interval to [least, 1]."""
    row = made.corrected
    if row.value is None:
        return made
    value = by + row.value
    clipped = min(max(value, least), 1.0)
    low, high = (
        None if end is None else min(max(by + end, least), 1.0) for end in (row.low, row.high)
    )
    note = join_notes(f"cut from {value:.3f}" if clipped != value else None, row.note)
    shifted: Interval = replace(row, value=clipped, low=low, high=high, method=METHOD, note=note)
    return replace(made, corrected=shifted, clipped=clipped != value)
