"""Youden's J of a judge, its interval, and the number of gold labels needed to narrow it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.judges.confusion import Confusion, gold_share
from tiltmeter.stats.judges.correction import few_gold
from tiltmeter.stats.results import Interval, with_cautions

METHOD = "youden, mover of two shares"
REFUTED = 0.5  # J whose upper limit lies below it refutes the judge


def youden(*, gold: Confusion, positive: Sequence[int]) -> Interval:
    """Computes sensitivity + specificity - 1 for a claim's values (``positive``: their codes).

    An answer in ``positive`` is a hit if the truth is in it too. Limits from those of sensitivity
    and specificity, square-and-add: J - √((Se - l)² + (Sp - l)²); the upper limit likewise. Range
    [-1, 1]; null value 0, a judge that guesses.
    Source: Youden (1950), Cancer 3; the interval, Shan (2015), PLoS ONE 10 (MOVER, Zou & Donner
    2008) over items. By hand: 40 of 50 and 45 of 50: .8 + .9 - 1 = .7. None, with a note, without
    gold of the values, or of the others.
    """
    hits, sizes = _counts(gold, positive)
    se, sp = (gold_share(x, n, gold) for x, n in zip(hits, sizes, strict=True))
    labels = _labels(gold, positive)
    blank = Interval(None, None, None, METHOD, n=sum(labels), clusters=se.clusters)
    if se.value is None or sp.value is None:
        missing = "of the values" if se.value is None else "of other values"
        return replace(blank, note=f"no gold {missing}")
    row = replace(blank, value=se.value + sp.value - 1)
    if se.low is None or se.high is None or sp.low is None or sp.high is None:
        return replace(row, note="gold of one item: no interval")
    below = math.hypot(se.value - se.low, sp.value - sp.low)
    above = math.hypot(se.high - se.value, sp.high - sp.value)
    value = se.value + sp.value - 1
    row = replace(row, low=max(value - below, -1.0), high=min(value + above, 1.0))
    return with_cautions(row, few_gold(labels))


def lowest_youden(*, golds: Sequence[Confusion], positive: Sequence[int]) -> Interval:
    """Returns the lowest J over the levels that a claim compares, each with its own gold.

    Levels with an unknown J are skipped; if every J is unknown, so is the result.
    Raises ``ValueError`` if there is no level.
    """
    indices = [youden(gold=gold, positive=positive) for gold in golds]
    if not indices:
        raise ValueError("golds: the gold labels of at least one level expected, got none")
    return min(indices, key=lambda row: math.inf if row.value is None else row.value)


def is_refuted(index: Interval) -> bool:
    """True if gold refutes the judge: the upper limit of J lies below .5."""
    return index.high is not None and index.high < REFUTED


def gold_needed(
    *, half_width: float, least_half_width: float, difference: float, labels: float
) -> int | None:
    """Computes the additional gold labels that bring an interval's half-width below ``difference``.

    ``half_width``: of the corrected interval with ``labels`` gold labels; ``least_half_width``: its
    limit for infinite gold (the uncorrected interval's, over J if the correction divides by J);
    ``difference``: the uncorrected estimate's distance from the null. The rest of the variance,
    half² - least², is proportional to 1/labels. 0 if the half-width is below already; None if no
    number of labels suffices, or ``labels`` is 0. By hand: .2, .1, .15 and 50 labels:
    50·(.04 - .01)/(.0225 - .01) = 120, so 70 more.
    """
    if half_width < difference:
        return 0
    fixed, target = least_half_width**2, difference**2
    if labels <= 0 or fixed >= target:
        return None
    return math.ceil(labels * (half_width**2 - fixed) / (target - fixed) - 1e-9) - int(labels)


def _counts(
    gold: Confusion, positive: Sequence[int]
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Returns (right answers, gold labels), each a pair of arrays by item (values, others)."""
    w, chosen = gold.weighted, _positive_mask(gold, positive)
    called = w[:, :, : w.shape[1]][:, :, chosen].sum(axis=2)
    labels = w.sum(axis=2)
    hits = called[:, chosen].sum(axis=1), (labels - called)[:, ~chosen].sum(axis=1)
    return hits, (labels[:, chosen].sum(axis=1), labels[:, ~chosen].sum(axis=1))


def _labels(gold: Confusion, positive: Sequence[int]) -> tuple[float, float]:
    by_truth, chosen = gold.labels.sum(axis=(0, 2)), _positive_mask(gold, positive)
    return float(by_truth[chosen].sum()), float(by_truth[~chosen].sum())


def _positive_mask(gold: Confusion, positive: Sequence[int]) -> np.ndarray:
    classes = gold.weighted.shape[1]
    if not positive or min(positive) < 0 or max(positive) >= classes:
        raise ValueError(f"positive: classes below {classes} expected, got {list(positive)}")
    return np.isin(np.arange(classes), positive)
