"""Means from many judged outputs and a few random ones with gold (PPI++): valid for any errors.

Unlike ``correction``, this method assumes nothing about the judge, not even stable errors; the only
condition is that the gold was sampled at random from the outputs (or with known weights).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments, rates
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.judges.confusion import Confusion, share_interval
from tiltmeter.stats.quantiles import t_quantile
from tiltmeter.stats.results import (
    CUT,
    FEW_GOLD,
    UPPER,
    Interval,
    IntervalCaution,
    join_notes,
    not_corrected,
    with_cautions,
)

METHOD = "ppi++, linearised over items, t"


@dataclass(frozen=True, slots=True)
class Powered:
    """A mean or difference corrected by random gold, next to the judge's number and gold's own.

    ``power`` is λ: 0 uses the gold alone, 1 the judge's full number less the bias that gold shows
    (a difference has two λ). ``clipped``, ``reason``: as in ``correction.Corrected``.
    """

    corrected: Interval
    uncorrected: Interval
    gold_only: Interval
    power: tuple[float, ...] = ()
    clipped: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Sums:
    """One condition summed by item, all shape (C,): sums of the judge's values over all ``n``
    outputs, and sums of judge's and true values over the outputs with gold (weighted by
    1/probability if they were oversampled).

    ``class_sums`` makes ``Sums`` for the share of a class. Values may be probabilities, or scores
    with ``share=False``.
    """

    said: ArrayLike
    n: ArrayLike
    gold_said: ArrayLike
    gold_truth: ArrayLike
    gold_n: ArrayLike


def class_sums(*, said: ArrayLike, n: ArrayLike, gold: Confusion, positive: int = 1) -> Sums:
    """Makes the ``Sums`` for the share of a class, with the arguments of ``rogan_gladen``."""
    cells = gold.weighted
    return Sums(
        said,
        n,
        cells[:, :, positive].sum(axis=1),
        cells[:, positive].sum(axis=1),
        cells.sum(axis=(1, 2)),
    )


@dataclass(frozen=True, slots=True)
class _Tuned:
    value: float
    influence: Floats
    power: float


def prediction_powered(*, sums: Sums, share: bool = True, power: float | None = None) -> Powered:
    """Estimates a true mean: θ = Ȳ + λ(f̄ - f̄_gold), f̄ over all outputs, Ȳ and f̄_gold over gold.

    f is the judge's value, Y the true one. λ (``power``) minimises the variance over items, Σ(a_i +
    λb_i)², and is clipped to [0, 1]; a_i and b_i are the influences of item i on Ȳ and on f̄ -
    f̄_gold. With independent outputs this is PPI++, where f̄ is that of the outputs *without* gold:
    the same estimator with λ_PPI = λ·(N-n)/N. λ = 1 is the survey difference estimator. Interval:
    for a share Wilson's on the effective n θ(1-θ)/v; else θ ± t·√v; df from
    ``rates.cluster_variance``, at most the items with gold - 1. A share is clipped to [0, 1].
    Source: Angelopoulos, Duchi & Zrnic (2023), arXiv 2311.01453; Cochran (1977) ch. 7. By hand:
    gold Ȳ = .5, f̄_gold = .6, all f̄ = .7, λ = 1: .6; λ = .5: .55. None with a ``reason``: no
    outputs, no gold, fewer than two items with gold.
    """
    called, n, gold_called, truth, gold_n = _check_sums(sums, share)
    raw, by_gold = _uncorrected(called, n, share), _uncorrected(truth, gold_n, share)
    reason = _refusal(n, gold_n)
    if reason:
        return _uncorrected_result(raw, by_gold, reason)
    tuned = _tune(called, n, gold_called, truth, gold_n, power)
    items, mask = int((gold_n > 0).sum()), (n > 0) | (gold_n > 0)
    few = _few(items, truth, gold_n) if share else rates.few_clusters(items)
    total, influence = float(n.sum()), tuned.influence[mask]
    if share:
        value = min(max(tuned.value, 0.0), 1.0)
        note = None if value == tuned.value else f"cut from {tuned.value:.3f}"
        row = share_interval(
            value,
            influence,
            total,
            METHOD + ", wilson on effective n",
            note,
            items - 1.0,
        )
        return Powered(with_cautions(row, few), raw, by_gold, (tuned.power,), value != tuned.value)
    return Powered(_t_row(tuned.value, influence, total, items, few), raw, by_gold, (tuned.power,))


def prediction_powered_difference(
    *,
    first: Sums,
    second: Sums,
    share: bool = True,
    power: tuple[float, float] | None = None,
) -> Powered:
    """Estimates the mean of ``first`` minus that of ``second`` over the same items, entry by entry.

    Each side has the λ of its own mean, so the result is the difference of the two reported means;
    v from the items' joint influences; d ± t·√v, df at most the items with gold, on the side with
    fewer, less 1. Null value 0. Source, and None: as in ``prediction_powered``. By hand: .6 - .55 =
    .05."""
    a, b = _check_sums(first, share), _check_sums(second, share)
    arguments.same_shape("first", a[1], "second", b[1])
    raw = _difference(a[0], a[1], b[0], b[1], share)
    by_gold = _difference(a[3], a[4], b[3], b[4], share)
    reason = _refusal(a[1], a[4]) or _refusal(b[1], b[4])
    if reason:
        return _uncorrected_result(raw, by_gold, reason)
    tuned_a, tuned_b = (
        _tune(*side, None if power is None else power[i]) for i, side in enumerate((a, b))
    )
    items = min(int((a[4] > 0).sum()), int((b[4] > 0).sum()))
    few = rates.few_clusters(items)
    if share:
        few = _few(items, a[3], a[4]) or _few(items, b[3], b[4])
    mask = (a[1] + a[4] + b[1] + b[4]) > 0
    influence, total = (tuned_a.influence - tuned_b.influence)[mask], float(a[1].sum() + b[1].sum())
    row = _t_row(tuned_a.value - tuned_b.value, influence, total, items, few)
    if not share or row.value is None or row.low is None or row.high is None:
        return Powered(row, raw, by_gold, (tuned_a.power, tuned_b.power))
    low, value, high = (min(max(x, -1.0), 1.0) for x in (row.low, row.value, row.high))
    is_clipped = value != row.value
    note = join_notes(CUT if is_clipped else None, row.note)
    return Powered(
        replace(row, low=low, value=value, high=high, note=note),
        raw,
        by_gold,
        (tuned_a.power, tuned_b.power),
        is_clipped,
    )


def _check_sums(sums: Sums, share: bool) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    n, gold_n = arguments.counts("n", sums.n), arguments.counts("gold_n", sums.gold_n)
    arguments.same_shape("gold_n", gold_n, "n", n)
    if share:
        called, gold_called, truth = (
            arguments.shares(name, values, which, size)[0]
            for name, values, which, size in (
                ("said", sums.said, "n", n),
                ("gold_said", sums.gold_said, "gold_n", gold_n),
                ("gold_truth", sums.gold_truth, "gold_n", gold_n),
            )
        )
    else:
        called, gold_called, truth = (
            arguments.vector(name, getattr(sums, name))
            for name in ("said", "gold_said", "gold_truth")
        )
        for name, array in (("said", called), ("gold_said", gold_called), ("gold_truth", truth)):
            arguments.same_shape(name, array, "n", n)
    return called, n, gold_called, truth, gold_n


def _tune(
    called: Floats,
    n: Floats,
    gold_called: Floats,
    truth: Floats,
    gold_n: Floats,
    power: float | None,
) -> _Tuned:
    total, labels = float(n.sum()), float(gold_n.sum())
    mean, mean_gold, gold_mean = (
        called.sum() / total,
        gold_called.sum() / labels,
        truth.sum() / labels,
    )
    a = (truth - gold_mean * gold_n) / labels
    b = (called - mean * n) / total - (gold_called - mean_gold * gold_n) / labels
    spread = float(b @ b)
    if power is None:
        power = min(max(-float(a @ b) / spread, 0.0), 1.0) if spread > 1e-24 else 0.0
    return _Tuned(float(gold_mean + power * (mean - mean_gold)), a + power * b, float(power))


def _uncorrected(x: Floats, n: Floats, share: bool) -> Interval:
    """Returns the uncorrected mean (or share) over items, from each item's sum and count."""
    if share:
        return rates.clustered_share(successes=x, n=n)
    is_used = n > 0
    if not is_used.any():
        return Interval(None, None, None, "mean over items, t", note="no outcomes")
    total = float(n.sum())
    mean = float(x.sum()) / total
    row = _t_row(mean, ((x - mean * n) / total)[is_used], total, int(is_used.sum()), None)
    return replace(row, method="mean over items, t")


def _difference(xa: Floats, na: Floats, xb: Floats, nb: Floats, share: bool) -> Interval:
    if share:
        return rates.clustered_difference(successes_a=xa, n_a=na, successes_b=xb, n_b=nb)
    a, b = float(na.sum()), float(nb.sum())
    if a == 0 or b == 0:
        return Interval(
            None, None, None, "difference over items, t", note="no outcomes on one side"
        )
    mean_a, mean_b, is_used = xa.sum() / a, xb.sum() / b, (na + nb) > 0
    influence = ((xa - mean_a * na) / a - (xb - mean_b * nb) / b)[is_used]
    row = _t_row(float(mean_a - mean_b), influence, a + b, int(is_used.sum()), None)
    return replace(row, method="difference over items, t")


def _t_row(
    value: float,
    influence: Floats,
    n: float,
    items: int,
    few: IntervalCaution | None,
) -> Interval:
    blank = Interval(value, None, None, METHOD, n=n, clusters=influence.size)
    if min(items, influence.size) < 2:
        return with_cautions(replace(blank, note="one cluster: no interval"), few)
    variance, df = rates.cluster_variance(influence)
    if variance == 0:
        return with_cautions(
            replace(blank, se=0.0, note="no variance between clusters: no interval"), few
        )
    df = min(df, items - 1.0)
    half = t_quantile(UPPER, df) * math.sqrt(variance)
    row = replace(blank, low=value - half, high=value + half, se=math.sqrt(variance), df=df)
    return with_cautions(row, few)


def _few(items: int, truth: Floats, gold_n: Floats) -> IntervalCaution | None:
    rare = truth if 2 * truth.sum() <= gold_n.sum() else gold_n - truth
    if rare.sum() < FEW_GOLD:
        return IntervalCaution("few_gold", f"too few gold labels of a class ({rare.sum():g})")
    return rates.few_carriers(items, rates.carriers(np.maximum(rare, 0.0)))


def _refusal(n: Floats, gold_n: Floats) -> str | None:
    if n.sum() == 0:
        return "no outcomes"
    if gold_n.sum() == 0:
        return "no gold"
    return "gold of one item only" if (gold_n > 0).sum() < 2 else None


def _uncorrected_result(plain: Interval, alone: Interval, reason: str) -> Powered:
    return Powered(not_corrected(plain, reason), plain, alone, reason=reason)
