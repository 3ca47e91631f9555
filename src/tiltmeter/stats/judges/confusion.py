"""A judge against gold: the confusion matrix per item, and its error rates with intervals.

Counts are kept per item (cluster), because errors in one item are correlated; weights undo an
oversampling of gold. docs/explanation/statistics.md, "A judge labels", shows the coverage of the
intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments, rates, wilson
from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.quantiles import t_quantile
from tiltmeter.stats.results import UPPER, Interval, join_notes, with_cautions

METHOD = "linearised, wilson on effective n, t"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Gold labels per item. ``labels[i, j, k]``: the number of labels of item i that are truly
    class j and that the judge called k; ``weighted``: the sum of the weights of these labels.

    Shapes (C, K, L): K classes of the truth, L ≥ K answers of the judge; the columns beyond K are
    answers that are no class (invalid, no decision). Items without gold are rows of zeros, so that
    row i is the same item as entry i of the run's arrays. Without weights both arrays are equal.
    """

    weighted: Floats
    labels: Floats


def confusion(
    *,
    truth: ArrayLike,
    said: ArrayLike,
    classes: int,
    answers: int | None = None,
    clusters: ArrayLike | None = None,
    items: int | None = None,
    weights: ArrayLike | None = None,
) -> Confusion:
    """Counts the pairs of gold label and judge's label by item.

    Arrays, shape (n,): ``truth`` codes 0 … classes-1, ``said`` codes 0 … answers-1 (default:
    classes), -1 in either leaves the pair out; ``clusters`` codes 0 … items-1 (default: each pair
    is an item); ``weights`` = 1 / the probability of being picked for gold, scaled here to mean 1.
    By hand: truth (0, 0, 1), said (0, 1, 1), one item: [[1, 1], [0, 1]].
    ``ValueError`` names the argument: a code out of range, lengths that differ, weights ≤ 0.
    """
    wide = classes if answers is None else answers
    if classes < 2 or wide < classes:
        raise ValueError(
            f"answers: at least 2 and one per class expected, got {wide} for {classes} classes"
        )
    true, said_codes = _codes("truth", truth, classes), _codes("said", said, wide)
    arguments.same_shape("said", said_codes, "truth", true)
    item = (
        np.arange(true.size) if clusters is None else _codes("clusters", clusters, items or 2**62)
    )
    arguments.same_shape("clusters", item, "truth", true)
    if item.size and item.min() < 0:
        raise ValueError("clusters: -1 (missing) is not allowed; every label belongs to an item")
    size = items or (int(item.max()) + 1 if item.size else 0)
    weight = np.ones(true.size) if weights is None else arguments.counts("weights", weights)
    arguments.same_shape("weights", weight, "truth", true)
    both_known = (true >= 0) & (said_codes >= 0)
    if both_known.any() and weight[both_known].min() <= 0:
        raise ValueError("weights: numbers above 0 expected")
    cell = ((item * classes + true) * wide + said_codes)[both_known]
    weight = weight[both_known] / (weight[both_known].mean() if both_known.any() else 1.0)
    cells, shape = size * classes * wide, (size, classes, wide)
    labels = np.bincount(cell, minlength=cells).astype(np.float64).reshape(shape)
    sums = np.bincount(cell, weights=weight, minlength=cells).astype(np.float64).reshape(shape)
    return Confusion(sums, labels)


def _codes(name: str, values: ArrayLike, limit: int) -> Codes:
    array = arguments.rows(
        name, np.asarray(values, dtype=None if np.size(values) else np.int64), 1
    )[:, 0]
    if array.size and array.max() >= limit:
        raise ValueError(f"{name}: codes below {limit} expected, got {array.max()}")
    return array


@dataclass(frozen=True, slots=True)
class ClassQuality:
    """The judge's quality on one class. labels: the class's gold labels; sensitivity: recall."""

    labels: int
    sensitivity: Interval
    specificity: Interval
    precision: Interval
    f1: Interval


@dataclass(frozen=True, slots=True)
class Quality:
    """The judge's quality over classes with gold. macro: plain mean; weighted: by gold labels."""

    classes: tuple[ClassQuality, ...]
    accuracy: Interval
    macro_precision: Interval
    macro_recall: Interval
    macro_f1: Interval
    weighted_precision: Interval
    weighted_recall: Interval
    weighted_f1: Interval


def class_quality(*, gold: Confusion, positive: int) -> ClassQuality:
    """Computes sensitivity, specificity, precision and F1 of one class against all others.

    Formulas: TP/(TP+FN), TN/(TN+FP), TP/(TP+FP), 2TP/(2TP+FP+FN), each a ratio of sums over items
    with Wilson's interval on the effective n, as in ``rates.clustered_share``. An answer outside
    the classes is a miss for its true class, but no false alarm for the others. Range [0, 1]. No
    null value: a judge that guesses has sensitivity + specificity = 1.
    Source: van Rijsbergen (1979) for F1; Korn & Graubard (1998) for the intervals.
    By hand: one label per item; TP 40, FN 10, FP 5, TN 45: .8, .9, .8889, 2·40/95 = .8421.
    Without gold of the class, or of the others, the rates are None with a note.
    """
    counts = _class_counts(gold, positive)
    rows = (gold_share(x, n, gold) for x, n in counts)
    return ClassQuality(int(gold.labels[:, positive].sum()), *rows)


def _class_counts(gold: Confusion, k: int) -> list[tuple[Floats, Floats]]:
    """Returns (numerator, denominator) per item for sensitivity, specificity, precision and F1."""
    w = gold.weighted
    hit, true, called, everything = w[:, k, k], w[:, k].sum(1), w[:, :, k].sum(1), w.sum((1, 2))
    neither = np.maximum(everything - true - called + hit, 0.0)
    return [
        (hit, true),
        (neither, np.maximum(everything - true, 0.0)),
        (hit, called),
        (2 * hit, true + called),
    ]


def quality(*, gold: Confusion) -> Quality:
    """Computes the judge's quality on every class, and accuracy, precision, recall and F1 over all.

    Macro: Σ_k m_k/K over classes with gold. Weighted: Σ_k (P_k/N)·m_k, P_k the gold of class k. The
    precision of a class that is never called is undefined and left out of the mean. Intervals: the
    linearised means, Wilson's limits on the effective n m(1-m)/v, t quantile. Range [0, 1].
    Source: Manning, Raghavan & Schütze (2008) §13.6; equal to scikit-learn (tests).
    By hand: recalls .8 and .9 with 20 and 80 gold: macro .85, weighted .88.
    """
    k = gold.weighted.shape[1]
    classes = tuple(class_quality(gold=gold, positive=i) for i in range(k))
    right, total = np.einsum("ijj->i", gold.weighted[:, :, :k]), gold.weighted.sum((1, 2))
    counts = [_class_counts(gold, i) for i in range(k) if gold.weighted[:, i].sum() > 0]
    means = [_mean(counts, which, even, total) for even in (True, False) for which in (2, 0, 3)]
    return Quality(classes, gold_share(right, total, gold), *means)


def _mean(
    counts: Sequence[Sequence[tuple[Floats, Floats]]],
    which: int,
    even: bool,
    total: Floats,
) -> Interval:
    """Averages one of the four rates over classes, with an interval from the items' influences."""
    rows = [row for row in counts if row[which][1].sum() > 0]
    if not rows:
        return Interval(None, None, None, METHOD, note="no gold")
    support = np.array([row[0][1].sum() for row in rows])
    share = np.full(len(rows), 1 / len(rows)) if even else support / support.sum()
    rate = np.array([row[which][0].sum() / row[which][1].sum() for row in rows])
    influence = np.zeros(total.size)
    for part, value, row in zip(share, rate, rows, strict=True):
        x, n = row[which]
        influence += part * (x - value * n) / n.sum()
        if not even:
            influence += (
                (row[0][1] - part * sum(other[0][1] for other in rows)) / support.sum() * value
            )
    missing = len(counts) - len(rows)
    note = f"{missing} classes that are never called left out" if missing else None
    return share_interval(
        float(share @ rate), influence[total > 0], float(total.sum()), METHOD, note
    )


def gold_share(x: Floats, n: Floats, gold: Confusion) -> Interval:
    """Computes a share as ``rates.clustered_share``; for weighted gold, by the effective n only."""
    if gold.weighted is gold.labels or np.array_equal(gold.weighted, gold.labels):
        return rates.clustered_share(successes=x, n=n)
    x, n = x[n > 0], n[n > 0]
    total = float(n.sum())
    if total == 0:
        return Interval(None, None, None, METHOD, n=0.0, clusters=0, note="no outcomes")
    value = min(float(x.sum()) / total, 1.0)
    caution = rates.few_carriers(n.size, rates.carriers(x if value <= 0.5 else n - x))
    row = share_interval(value, (x - value * n) / total, total, METHOD)
    return with_cautions(row, caution)


def share_interval(
    value: float,
    influence: Floats,
    n: float,
    method: str,
    note: str | None = None,
    df: float = math.inf,
) -> Interval:
    """Computes Wilson's limits for a share with the variance of ``influence``, one value per item.

    ``df`` caps the degrees of freedom. Variance 0: the effective n is the number of items.
    """
    clusters = influence.size
    blank = Interval(value, None, None, method, n=n, clusters=clusters, note=note)
    if clusters < 2:
        return replace(blank, note=join_notes(note, "one cluster: no interval"))
    variance, own_df = rates.cluster_variance(influence)
    df, inside = min(own_df, df), min(max(value, 0.0), 1.0)
    effective = (
        inside * (1 - inside) / variance if variance > 0 and 0 < inside < 1 else float(clusters)
    )
    low, high = wilson.wilson_limits(inside, effective, t_quantile(UPPER, df))
    note_if_alike = None if variance > 0 else "every item gave the same answer, so each counts once"
    return replace(
        blank,
        low=low,
        high=high,
        se=math.sqrt(variance),
        df=df,
        effective_n=effective,
        note=join_notes(note, note_if_alike),
    )


def error_gaps(
    *, first: Confusion, second: Confusion, confidence: float = 0.95
) -> tuple[tuple[Interval, Interval], ...]:
    """Computes, per class, the judge's sensitivity and specificity in one condition less those in
    another condition.

    If errors differ by condition, a judge creates or hides a gap: with sensitivity and specificity
    (.85, .97) in one and (.97, .85) in the other, and a true share of .1 in both, the judge reports
    .112 and .232. Paired over items, ``rates.clustered_difference``. Null value 0.
    By hand: 18 of 20 and 12 of 20 positives found: .9 - .6 = .3.
    """
    gaps = []
    for k in range(first.weighted.shape[1]):
        a, b = _class_counts(first, k), _class_counts(second, k)
        gaps.append(
            tuple(
                rates.clustered_difference(
                    successes_a=a[i][0],
                    n_a=a[i][1],
                    successes_b=b[i][0],
                    n_b=b[i][1],
                    confidence=confidence,
                )
                for i in (0, 1)
            )
        )
    return tuple((gap[0], gap[1]) for gap in gaps)
