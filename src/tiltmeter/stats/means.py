"""Means of numbers that come in clusters (lengths, scores), and slopes of shares on references.

Arrays have one entry per cluster, as in ``rates``; numbers may have any range.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.quantiles import t_quantile, t_two_sided
from tiltmeter.stats.rates import cluster_variance, few_clusters
from tiltmeter.stats.results import UPPER, Interval, Test, join_notes, with_cautions

NO_VARIANCE = "no variance between clusters: no interval"


def pooled_mean(*, sums: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> Interval:
    """Computes Σsums/Σn over clusters, with t on the linearised error: the mean of all outputs,
    with items as the sample.

    Arrays: shape (C,); sums of the numbers, and how many there are. Formula: m = Σs/N; e_i = (s_i -
    m·n_i)/N; v = C/(C-1)·Σe_i²; m ± t(df)·√v with df of ``rates.cluster_variance``. Range: that of
    the numbers; no null value.
    Source: the ratio estimator, Cochran (1977) ch. 11. By hand: s = (2, 4, 6), n = (2, 2, 2): m =
    2, e = (-2, 0, 2)/6, v = 3/2·8/36 = 1/3, t(2) = 4.3027 → 2 ± 2.4841. None without numbers. One
    cluster, or all alike: a value, no interval. Raises ``ValueError`` for NaN, shapes that differ,
    n < 0.
    """
    s, answers = _numbers("sums", sums, "n", n)
    confidence = arguments.level("confidence", confidence)
    s, answers = s[answers > 0], answers[answers > 0]
    total = float(answers.sum())
    blank = Interval(
        None, None, None, "linearised mean, t", confidence, n=total, clusters=answers.size
    )
    if answers.size == 0:
        return replace(blank, note="no numbers")
    mean = float(s.sum()) / total
    return _with_limits(replace(blank, value=mean), (s - mean * answers) / total)


def pooled_difference(
    *,
    sums_a: ArrayLike,
    n_a: ArrayLike,
    sums_b: ArrayLike,
    n_b: ArrayLike,
) -> Interval:
    """Computes the mean in A less that in B over the same clusters (paired), with linearised t.

    Formula: d = Σs_a/N_a - Σs_b/N_b; e_i = (s_ai - m_a·n_ai)/N_a - (s_bi - m_b·n_bi)/N_b; the rest
    as in ``pooled_mean``. A cluster with numbers on one side only counts there. Null value 0.
    Source: that of ``rates.clustered_difference``. By hand: s_a = (4, 6, 8), s_b = (2, 2, 8), n = 2
    each: d = 18/6 - 12/6 = 1; e = ((4 - 6) - (2 - 4), (6 - 6) - (2 - 4), (8 - 6) - (8 - 4))/6 = (0,
    2, -2)/6; v = 3/2·8/36 = 1/3 → 1 ± 2.4841.
    """
    sa, na = _numbers("sums_a", sums_a, "n_a", n_a)
    sb, nb = _numbers("sums_b", sums_b, "n_b", n_b)
    arguments.same_shape("n_a", na, "n_b", nb)
    is_counted = (na + nb) > 0
    sa, na, sb, nb = sa[is_counted], na[is_counted], sb[is_counted], nb[is_counted]
    total_a, total_b = float(na.sum()), float(nb.sum())
    blank = Interval(
        None,
        None,
        None,
        "linearised difference of means, t",
        n=total_a + total_b,
        clusters=int(is_counted.sum()),
    )
    if total_a == 0 or total_b == 0:
        return replace(blank, note="no numbers on one side")
    mean_a, mean_b = float(sa.sum()) / total_a, float(sb.sum()) / total_b
    influence = (sa - mean_a * na) / total_a - (sb - mean_b * nb) / total_b
    return _with_limits(replace(blank, value=mean_a - mean_b), influence)


def geometric_ratio(
    *,
    sums_a: ArrayLike,
    n_a: ArrayLike,
    sums_b: ArrayLike,
    n_b: ArrayLike,
) -> Interval:
    """Returns the geometric mean over clusters of (mean in A)/(mean in B), with t on the log scale.

    Formula: r = exp(d̄), d_i = ln((s_ai/n_ai)/(s_bi/n_bi)); exp(d̄ ± t(C-1)·s/√C). Leaves out
    clusters whose mean is not positive on both sides. Range: above 0; null value 1. By hand: s_a =
    (20, 5), s_b = (10, 10), n = 1: d = (ln 2, -ln 2), r = 1.
    """
    sa, na = _numbers("sums_a", sums_a, "n_a", n_a)
    sb, nb = _numbers("sums_b", sums_b, "n_b", n_b)
    is_counted = (na > 0) & (nb > 0) & (sa > 0) & (sb > 0)
    total = float((na + nb)[is_counted].sum())
    blank = Interval(
        None, None, None, "mean of log ratios, t", n=total, clusters=int(is_counted.sum())
    )
    if not is_counted.any():
        return replace(blank, note="no numbers on both sides")
    logs = np.log(sa[is_counted] / na[is_counted]) - np.log(sb[is_counted] / nb[is_counted])
    mean = float(logs.mean())
    log_row = _with_limits(replace(blank, value=mean), (logs - mean) / logs.size)
    ends = (None if end is None else math.exp(end) for end in (log_row.low, log_row.high))
    low, high = ends
    return replace(log_row, value=math.exp(mean), low=low, high=high)


def counted_mean(*, numbers: ArrayLike, counts: ArrayLike) -> Interval:
    """Computes the mean of independent numbers, each given with its count, with t(n-1); for the
    outputs of one item.

    Formula: m ± t(n-1)·s/√n. Source: Student (1908). By hand: 1 once, 2 once, 3 once: 2 ±
    4.3027·1/√3 = 2 ± 2.4841.
    """
    x, count = arguments.vector("numbers", numbers), arguments.counts("counts", counts)
    arguments.same_shape("numbers", x, "counts", count)
    n = float(count.sum())
    blank = Interval(None, None, None, "mean of outputs, t", n=n)
    if n == 0:
        return replace(blank, note="no numbers")
    mean = float(x @ count) / n
    squares = float(((x - mean) ** 2) @ count)
    if n <= 1 or squares <= 1e-24 * max(1.0, mean * mean):
        return replace(blank, value=mean, note="one number, or all equal: no interval")
    se = math.sqrt(squares / (n - 1) / n)
    half = t_quantile(UPPER, n - 1) * se
    return replace(blank, value=mean, low=mean - half, high=mean + half, se=se, df=n - 1)


def slope(*, successes: ArrayLike, n: ArrayLike, reference: ArrayLike) -> Interval:
    """Estimates the slope of the share on a reference share over items: 1 if the share rises as the
    reference does, above 1 if more steeply, 0 if not at all.

    Arrays: shape (C,), one entry per item; shares p_i = x_i/n_i. Formula: least squares of p_i on
    r_i, equal weights: b = Σ(r_i - r̄)(p_i - p̄)/Σ(r_i - r̄)²; v = Σ(r_i -
    r̄)²·(u_i/(1-h_i))²/(Σ(r_i - r̄)²)² with residuals u_i and leverages h_i (HC3), b ± t(C-2)·√v.
    Range (-inf, inf); null value 1 ("does the model exaggerate?").
    Source: Zhao et al. (2017), EMNLP, for amplification of a training set's shares; MacKinnon &
    White (1985), J. Econometrics 29, for HC3. By hand: r = (.2, .5, .8), p = (.1, .5, .9): b =
    .24/.18 = 4/3, residuals 0: no interval.
    Fewer than three items, or all with one reference: no value and a note. Raises ``ValueError`` as
    ``rates.clustered_share`` does, and for a reference outside [0, 1].
    """
    x, size = arguments.shares("successes", successes, "n", n)
    r, _ = arguments.shares("reference", reference, "1", np.ones_like(size))
    is_counted = size > 0
    x, size, r = x[is_counted], size[is_counted], r[is_counted]
    items = size.size
    blank = Interval(
        None,
        None,
        None,
        "least squares over items, HC3, t",
        n=float(size.sum()),
        clusters=items,
    )
    if items < 3:
        return replace(blank, note="fewer than three items: no slope")
    centred = r - r.mean()
    spread = float(centred @ centred)
    if spread <= 1e-12:
        return replace(blank, note="all items have one reference: no slope")
    share = x / size
    value = float(centred @ (share - share.mean())) / spread
    residuals = share - share.mean() - value * centred
    leverage = np.minimum(1 / items + centred**2 / spread, 1 - 1e-9)
    row = with_cautions(replace(blank, value=value, df=items - 2.0), few_clusters(items))
    if float(np.abs(residuals).max()) <= 1e-12:
        return replace(row, se=0.0, note=join_notes("all items on one line: no interval", row.note))
    se = math.sqrt(float((centred**2) @ (residuals / (1 - leverage)) ** 2)) / spread
    half = t_quantile(UPPER, items - 2.0) * se
    return replace(row, se=se, low=value - half, high=value + half)


def slope_test(*, slope: Interval, null: float) -> Test:
    """Tests a slope against `null` by t; p is None, with a note, without a standard error."""
    if slope.value is None or not slope.se or slope.df is None:
        return Test(None, None, "t of a slope", note="no variance to test against")
    t = (slope.value - null) / slope.se
    return Test(t, t_two_sided(t, slope.df), "t of a slope", df=slope.df)


def _numbers(name: str, sums: ArrayLike, n_name: str, n: ArrayLike) -> tuple[Floats, Floats]:
    values, size = arguments.vector(name, sums), arguments.counts(n_name, n)
    arguments.same_shape(name, values, n_name, size)
    return values, size


def _with_limits(row: Interval, influence: Floats) -> Interval:
    """Adds limits to an estimate, from its clusters' influences, which sum to 0."""
    assert row.value is not None
    if influence.size == 1:
        return replace(row, note="one cluster: no interval")
    caution = few_clusters(influence.size)
    if float(np.abs(influence).max()) <= 1e-12 * max(1.0, abs(row.value)):
        return with_cautions(replace(row, se=0.0, note=NO_VARIANCE), caution)
    variance, df = cluster_variance(influence)
    half = t_quantile(0.5 + row.confidence / 2, df) * math.sqrt(variance)
    low, high = row.value - half, row.value + half
    return with_cautions(replace(row, low=low, high=high, se=math.sqrt(variance), df=df), caution)
