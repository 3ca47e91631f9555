"""Shares and differences of a judge with known errors, corrected by gold (Rogan–Gladen).

The run and the gold are summed by the same items (clusters), so that one linearisation gives the
uncertainties of the share, of sensitivity and of specificity, and their covariances.
The intervals and their alternatives: docs/explanation/statistics.md, "A judge labels".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments, rates
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.judges.confusion import Confusion
from tiltmeter.stats.quantiles import t_quantile
from tiltmeter.stats.results import (
    CUT,
    FEW_GOLD,
    Interval,
    IntervalCaution,
    join_notes,
    not_corrected,
    with_cautions,
)

# Se + Sp - 1 below which nothing is corrected: the error grows fivefold
LEAST_YOUDEN = 0.2
ROUNDING = 1e-9
HALF = 0.5  # Jeffreys' half success and half failure


@dataclass(frozen=True, slots=True)
class Corrected:
    """A share or a difference: the judge's number, and the number corrected by gold.

    ``reason``: why there is no correction; if set, ``corrected`` has None and only the uncorrected
    number can be reported. ``clipped``: True if the estimate was outside the possible range and was
    moved to its end. ``youden``: Se + Sp - 1 (the smaller one of two conditions), 0 for a judge
    that guesses.
    """

    corrected: Interval
    uncorrected: Interval
    clipped: bool = False
    youden: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Linear:
    """A ratio of sums over items. influence: each item's effect; floor: a variance always added."""

    value: float
    influence: Floats
    floor: float = 0.0

    def variance(self, clusters: float) -> float:
        """Returns the variance of the ratio over `clusters` (at least 2) items, plus the floor."""
        return clusters / (clusters - 1) * float(self.influence @ self.influence) + self.floor


@dataclass(frozen=True, slots=True)
class _Judged:
    """The judge's share in one condition, and its error rates there."""

    share: Linear
    sensitivity: Linear
    specificity: Linear
    labels: tuple[float, float]  # gold labels of the class, and of the others
    clusters: int  # the smaller of: items with outputs, items with gold

    @property
    def youden(self) -> float:
        """Youden's index: sensitivity + specificity - 1; 0 for a judge that guesses."""
        return self.sensitivity.value + self.specificity.value - 1

    @property
    def value(self) -> float:
        """The share corrected for the judge's errors (Rogan and Gladen), not clipped to [0, 1]."""
        return (self.share.value + self.specificity.value - 1) / self.youden


@dataclass(frozen=True, slots=True)
class Basis:
    """The constants of a corrected estimate: the judge's uncorrected row, the method, the possible
    range, the cautions.

    ``clusters``: the items with outputs or the items with gold, whichever are fewer. ``weighted``:
    True if gold had weights; then a few errors with large weights may dominate the variance, and
    the degrees of freedom follow the kurtosis.
    """

    plain: Interval
    method: str
    ends: tuple[float, float]
    clusters: int
    youden: float | None
    few: IntervalCaution | None
    weighted: bool

    def df(self, error: Linear) -> float:
        """Returns the degrees of freedom of `error`: clusters - 1, or fewer if gold has weights."""
        by_kurtosis = rates.cluster_variance(error.influence)[1] if self.weighted else math.inf
        return min(self.clusters - 1.0, by_kurtosis)


def ratio_of_sums(x: Floats, n: Floats, trials: float) -> Linear:
    """Computes Σx/Σn. If all items agree, the floor is the variance of (x+½)/(n+1), n `trials`."""
    total = float(n.sum())
    value = float(x.sum()) / total
    influence = (x - value * n) / total
    if float(influence @ influence) > 1e-24:
        return Linear(value, influence)
    smoothed = (trials * value + HALF) / (trials + 2 * HALF)
    return Linear(value, np.zeros_like(influence), smoothed * (1 - smoothed) / (trials + 2 * HALF))


def rogan_gladen(
    *,
    said: ArrayLike,
    n: ArrayLike,
    gold: Confusion | None,
    positive: int = 1,
) -> Corrected:
    """Returns the share of a class, corrected for the judge's sensitivity and specificity.

    Arrays, shape (C,): ``said`` outputs called the class, of ``n`` judged; row i of ``gold`` is the
    item of entry i, labelled in this condition, or pooled over several (``confusion.pool_golds``).
    Formula: θ = (p + Sp - 1)/(Se + Sp - 1), clipped to [0, 1]. Interval (Fieller's): all θ₀ with
    |p + Sp - 1 - θ₀·(Se + Sp - 1)| ≤ t·√v(θ₀), v from the items' joint influences e_p - θ₀·e_Se +
    (1-θ₀)·e_Sp; a rate without a single error has Jeffreys' variance instead of 0; t has (items
    with gold or with outputs, whichever are fewer) - 1 degrees of freedom. ``se`` is the delta
    method's. Range [0, 1]. Null value: the share that the protocol names.
    Source: Rogan & Gladen (1978), Am. J. Epidemiol. 107; Fieller (1954), J. R. Stat. Soc. B 16.
    By hand: p = .2, Se = .9, Sp = .95: θ = .15/.85 = .1765. None with a ``reason``: no outputs, no
    gold, no gold of the class or of the others, Se + Sp - 1 < .2. ``ValueError`` names the
    argument: the cases of ``rates.clustered_share``, and rows of gold that do not match ``n``.
    """
    x, size = arguments.shares("said", said, "n", n)
    raw = rates.clustered_share(successes=x, n=size)
    reason = _refusal((size,), (gold,), positive)
    if reason or gold is None:
        return _uncorrected_result(raw, reason)
    judged = _judge_errors(x, size, gold, positive)
    if judged.youden < LEAST_YOUDEN - ROUNDING:
        return _uncorrected_result(raw, _weak(judged.youden), judged.youden)
    p, se, sp = judged.share, judged.sensitivity, judged.specificity
    value, j = judged.value, judged.youden
    top = Linear(p.value + sp.value - 1, p.influence + sp.influence, p.floor + sp.floor)
    bottom = Linear(j, se.influence + sp.influence, se.floor + sp.floor)
    error = Linear(
        value,
        (top.influence - value * bottom.influence) / j,
        (p.floor + value**2 * se.floor + (1 - value) ** 2 * sp.floor) / j**2,
    )
    method, caution = "rogan-gladen, fieller over items, t", few_gold(judged.labels)
    frame = Basis(raw, method, (0.0, 1.0), judged.clusters, j, caution, is_weighted(gold))
    return _fieller(frame, top, bottom, sp.floor, error)


def rogan_gladen_difference(
    *,
    said_a: ArrayLike,
    n_a: ArrayLike,
    said_b: ArrayLike,
    n_b: ArrayLike,
    golds: tuple[Confusion | None, Confusion | None],
    positive: int = 1,
) -> Corrected:
    """Computes the share in A minus the share in B over the same items, each corrected by the Se
    and Sp of its own condition.

    Arrays, shape (C,), and ``golds``, the gold of A and that of B: entry i of all is item i.
    Formula: d = θ_a - θ_b ± t·√v, v from the joint influences of both corrected shares. Each share
    may lie outside [0, 1] here, since clipping it would bias d; d itself is clipped to [-1, 1]
    (``clipped``). Null value 0. Source: that of ``rogan_gladen``; delta method over items, Cochran
    (1977) ch. 11. By hand: p_a = .112 with (Se, Sp) = (.85, .97), p_b = .232 with (.97, .85):
    .082/.82 - .082/.82 = 0. Cases without a value, and ``ValueError``: as for ``rogan_gladen``.
    """
    (xa, na, xb, nb), raw = _sides(said_a, n_a, said_b, n_b)
    gold_a, gold_b = golds
    reason = _refusal((na, nb), golds, positive)
    if reason or gold_a is None or gold_b is None:
        return _uncorrected_result(raw, reason)
    a, b = _judge_errors(xa, na, gold_a, positive), _judge_errors(xb, nb, gold_b, positive)
    youden = min(a.youden, b.youden)
    if youden < LEAST_YOUDEN - ROUNDING:
        return _uncorrected_result(raw, _weak(youden), youden)
    in_a, in_b = _delta(a), _delta(b)
    error = Linear(
        in_a.value - in_b.value, in_a.influence - in_b.influence, in_a.floor + in_b.floor
    )
    method, few = "rogan-gladen difference, linearised over items, t", few_gold(a.labels + b.labels)
    clusters, weighted = min(a.clusters, b.clusters), is_weighted(gold_a) or is_weighted(gold_b)
    return linear_result(Basis(raw, method, (-1.0, 1.0), clusters, youden, few, weighted), error)


def _sides(
    said_a: ArrayLike, n_a: ArrayLike, said_b: ArrayLike, n_b: ArrayLike
) -> tuple[tuple[Floats, Floats, Floats, Floats], Interval]:
    xa, na = arguments.shares("said_a", said_a, "n_a", n_a)
    xb, nb = arguments.shares("said_b", said_b, "n_b", n_b)
    raw = rates.clustered_difference(successes_a=xa, n_a=na, successes_b=xb, n_b=nb)
    return (xa, na, xb, nb), raw


def _judge_errors(x: Floats, n: Floats, gold: Confusion, k: int) -> _Judged:
    w, labels = gold.weighted, gold.labels.sum(axis=0)
    truly, everything, called = w[:, k].sum(1), w.sum((1, 2)), w[:, :, k].sum(1)
    counts = float(labels[k].sum()), float(labels.sum() - labels[k].sum())
    rejected = np.maximum(everything - truly - (called - w[:, k, k]), 0.0)
    return _Judged(
        ratio_of_sums(x, n, float((n > 0).sum())),
        ratio_of_sums(w[:, k, k], truly, counts[0]),
        ratio_of_sums(rejected, np.maximum(everything - truly, 0.0), counts[1]),
        counts,
        min(int((n > 0).sum()), int((everything > 0).sum())),
    )


def _delta(judged: _Judged) -> Linear:
    """Returns the corrected share, linearised: dθ = (dp - θ·dSe + (1-θ)·dSp)/J."""
    t, j = judged.value, judged.youden
    p, se, sp = judged.share, judged.sensitivity, judged.specificity
    influence = (p.influence - t * se.influence + (1 - t) * sp.influence) / j
    return Linear(t, influence, (p.floor + t * t * se.floor + (1 - t) ** 2 * sp.floor) / j**2)


def _fieller(frame: Basis, top: Linear, bottom: Linear, common: float, error: Linear) -> Corrected:
    """Finds the limits of top/bottom: all θ₀ for which top - θ₀·bottom does not differ from 0."""
    c = frame.clusters
    if c < 2:
        return linear_result(frame, error)
    square = t_quantile(0.5 + frame.plain.confidence / 2, frame.df(error)) ** 2
    covariance = c / (c - 1) * float(top.influence @ bottom.influence) + common
    a = bottom.value**2 - square * bottom.variance(c)
    b = top.value * bottom.value - square * covariance
    k = top.value**2 - square * top.variance(c)
    if a <= 0:
        note = "Se + Sp - 1 is not told from 0: the interval is all that is possible"
        return _result(frame, error, frame.ends, note)
    root = math.sqrt(max(b * b - a * k, 0.0))
    return _result(frame, error, ((b - root) / a, (b + root) / a))


def linear_result(frame: Basis, error: Linear) -> Corrected:
    """Returns the value ± t·√v; without an interval if there are fewer than two items."""
    if frame.clusters < 2:
        value = min(max(error.value, frame.ends[0]), frame.ends[1])
        note = "one cluster with outputs or gold: no interval"
        is_clipped = value != error.value
        notes = join_notes(CUT if is_clipped else None, note)
        row = with_cautions(replace(_blank(frame), value=value, note=notes), frame.few)
        return Corrected(row, frame.plain, is_clipped, frame.youden)
    t = t_quantile(0.5 + frame.plain.confidence / 2, frame.df(error))
    half = t * math.sqrt(error.variance(frame.clusters))
    return _result(frame, error, (error.value - half, error.value + half))


def _result(
    frame: Basis, error: Linear, limits: tuple[float, float], note: str | None = None
) -> Corrected:
    """Clips value and limits to the possible range; the note says so."""
    low, value, high = (
        min(max(x, frame.ends[0]), frame.ends[1]) for x in (limits[0], error.value, limits[1])
    )
    is_clipped = abs(value - error.value) > 1e-12
    remark = f"cut from {error.value:.3f}" if is_clipped else None
    warning = "the judge's errors in gold do not fit what it reports" if low == high else None
    caution = rates.few_clusters(frame.clusters)
    row = replace(
        _blank(frame),
        value=value,
        low=min(low, value),
        high=max(high, value),
        df=frame.df(error),
        se=math.sqrt(error.variance(frame.clusters)),
        note=join_notes(remark, warning, note),
    )
    return Corrected(with_cautions(row, frame.few, caution), frame.plain, is_clipped, frame.youden)


def _blank(frame: Basis) -> Interval:
    raw = frame.plain
    return Interval(None, None, None, frame.method, raw.confidence, n=raw.n, clusters=raw.clusters)


def is_weighted(gold: Confusion) -> bool:
    """True if gold has weights: its weighted counts differ from its numbers of labels."""
    return not np.array_equal(gold.weighted, gold.labels)


def few_gold(labels: tuple[float, ...]) -> IntervalCaution | None:
    """Returns a caution if a class has too few gold labels for the coverage in simulations."""
    if min(labels) < FEW_GOLD:
        return IntervalCaution("few_gold", f"too few gold labels of a class ({min(labels):g})")
    return None


def _refusal(sizes: tuple[Floats, ...], golds: tuple[Confusion | None, ...], k: int) -> str | None:
    if any(size.sum() == 0 for size in sizes):
        return "no outcomes"
    for gold in golds:
        if gold is None or gold.labels.sum() == 0:
            return "no gold"
        matches(gold, sizes[0], k)
        of_class = gold.labels[:, k].sum()
        if of_class in (0, gold.labels.sum()):
            return "no gold of the class" if of_class == 0 else "no gold of the other classes"
    return None


def matches(gold: Confusion, size: Floats, k: int = 0) -> None:
    """Raises ValueError if gold has not as many items as `size` has entries, or no class `k`."""
    if len(gold.weighted) != size.size:
        raise ValueError(f"gold: {size.size} items expected, got {len(gold.weighted)}")
    if not 0 <= k < gold.weighted.shape[1]:
        raise ValueError(f"positive: a class below {gold.weighted.shape[1]} expected, got {k}")


def _weak(youden: float) -> str:
    return f"Se + Sp - 1 = {youden:.2f}, under {LEAST_YOUDEN:g}: the judge is too close to guessing"


def _uncorrected_result(
    plain: Interval, reason: str | None, youden: float | None = None
) -> Corrected:
    return Corrected(not_corrected(plain, reason), plain, youden=youden, reason=reason)
