"""Shares and their intervals, for independent outcomes and for outcomes that come in clusters.

A cluster is an item of the population that the interval speaks of (a word, a text, an occupation);
the outcomes of one item are not independent of each other, so the item is what is counted.
docs/statistics.md shows the simulations behind each choice.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.quantiles import normal_quantile, t_quantile
from tiltmeter.stats.results import Interval, joined

FEW_CLUSTERS = 9  # below it the simulations of docs/statistics.md claim nothing
FEW_CARRIERS = 4.0  # below it coverage fell under 93 % in the same simulations
# outcomes a cluster from which rounding to whole counts no longer widens the interval
SMOOTH = 50.0
CARRIER_DF = 1.5  # degrees of freedom a carrier beyond the first, from the same simulations


def wilson(successes: float, n: float, *, confidence: float = 0.95) -> Interval:
    """A share of independent outcomes with Wilson's score interval.

    Formula: (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n), p = successes/n.
    Range [0, 1]. Null value: the share that the protocol names (.5 for two options).
    Source: Wilson (1927), JASA 22; recommended by Brown, Cai & DasGupta (2001), Stat. Sci. 16.
    By hand: 81 of 263 → .3080, [.2553, .3662] (Newcombe 1998, Stat. Med. 17, Table I).
    No outcomes (n = 0) gives None and a note. ``ValueError`` for NaN, negative, successes > n.
    """
    x, size = arguments.number("successes", successes), arguments.number("n", n)
    if x > size:
        raise ValueError(f"successes: {x:g} of n = {size:g}")
    confidence = arguments.level("confidence", confidence)
    if size == 0:
        return Interval(None, None, None, "wilson", confidence, n=0.0, note="no outcomes")
    low, high = wilson_limits(x / size, size, normal_quantile(0.5 + confidence / 2))
    se = math.sqrt(x / size * (1 - x / size) / size)
    return Interval(x / size, low, high, "wilson", confidence, n=size, se=se)


def wilson_limits(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's two limits for a share of ``n`` (which need not be whole), at a given quantile.

    They are symmetric about the estimate on the log-odds scale: L·U/((1-L)(1-U)) = (p/(1-p))².
    """
    q = quantile * quantile / n
    half = quantile * math.sqrt((share * (1 - share) + q / 4) / n)
    low, high = (share + q / 2 - half) / (1 + q), (share + q / 2 + half) / (1 + q)
    return (0.0 if share <= 0 else max(low, 0.0)), (1.0 if share >= 1 else min(high, 1.0))


def cluster_variance(influence: Floats) -> tuple[float, float]:
    """Variance of a linearised estimator and the degrees of freedom that this variance carries.

    ``influence`` holds one value a cluster and sums to 0; variance = C/(C-1)·Σe². The degrees of
    freedom are min(C-1, 2(C-1)/(k-1)) with k the kurtosis of the influences: a variance that one or
    two clusters carry is known much less well than C-1 says (Satterthwaite's rule, var(s²) from the
    fourth moment). With influences like a normal's, k ≤ 3, this is C-1.
    """
    clusters = influence.size
    squares = influence * influence
    total = float(squares.sum())
    if total <= 1e-24:
        return 0.0, clusters - 1.0
    kurtosis = clusters * float(squares @ squares) / (total * total)
    df = min(clusters - 1.0, max(2.0 * (clusters - 1) / max(kurtosis - 1.0, 1e-9), 1.0))
    return clusters / (clusters - 1.0) * total, df


def carriers(rare: Floats) -> float:
    """Kish's effective number of clusters that carry an outcome: (Σx)²/Σx², in [1, C]; 0 if
    none.
    """
    total, squares = float(rare.sum()), float(rare @ rare)
    return total * total / squares if squares > 0 else 0.0


def clustered_share(*, successes: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> Interval:
    """A share over clusters: Σx/Σn with Wilson's interval on the effective n and a t quantile.

    Arrays: one entry a cluster, shape (C,); ``successes`` may be fractional (sums of
    probabilities).
    Formula: e_i = (x_i - p·n_i)/N; v = C/(C-1)·Σe_i² (linearised ratio estimator); effective n =
    p(1-p)/v; Wilson's limits at that n with the quantile t(df), df from ``cluster_variance``. With
    v = 0 (all clusters alike) the effective n is C: the clusters could be perfectly dependent
    inside. Where no rounding to small counts widens the interval (fractional successes, or 50
    outcomes and more a cluster) df is also at most 1.5·(k-1), k the effective number of clusters
    that carry the rarer outcome (``carriers``). Range [0, 1]; null value: the share that the
    protocol names.
    Source: linearisation, Cochran (1977) ch. 11; Wilson on the effective n, Korn & Graubard (1998),
    Survey Methodology 24, and Franco et al. (2019), J. Surv. Stat. Methodol. 7; the choice between
    the repairs is by simulation, docs/statistics.md.
    By hand: x = (1, 2, 3), n = (4, 4, 4): p = .5, e = (-1, 0, 1)/12, v = 3/2·2/144 = 1/48,
    effective n = .25·48 = 12, design effect 1, t(2) = 4.3027 → [.1105, .8895]. One cluster has a
    value and no interval; none, no value either. Both say so in ``note``, and so do too few
    clusters (C < 9, or fewer than 4 that carry the rarer outcome). ``ValueError`` names the
    argument: NaN, negative, shapes that differ, successes > n.
    """
    x, size = arguments.shares("successes", successes, "n", n)
    confidence = arguments.level("confidence", confidence)
    x, size, note = _filled(x, size)
    total, clusters = float(size.sum()), size.size
    blank = Interval(
        None, None, None, "wilson on effective n, t", confidence, n=total, clusters=clusters
    )
    if clusters == 0:
        return replace(blank, note="no outcomes")
    share = min(max(float(x.sum()) / total, 0.0), 1.0)
    if clusters == 1:
        return replace(blank, value=share, note=joined(note, "one cluster: no interval"))
    variance, df = cluster_variance((x - share * size) / total)
    held = carriers(x if share <= 0.5 else size - x)
    if total >= SMOOTH * clusters or (x != np.rint(x)).any():
        df = min(df, max(CARRIER_DF * (held - 1), 1.0))
    effective = share * (1 - share) / variance if variance > 0 else float(clusters)
    low, high = wilson_limits(share, effective, t_quantile(0.5 + confidence / 2, df))
    alike = (
        None if variance > 0 else "all clusters alike: effective n taken as the number of clusters"
    )
    return replace(
        blank,
        value=share,
        low=low,
        high=high,
        se=math.sqrt(variance),
        df=df,
        effective_n=effective,
        design_effect=total / effective,
        note=joined(note, alike, few_clusters(clusters, held)),
    )


def few_clusters(clusters: int, *held: float) -> str | None:
    """The mark of tables for which no coverage is claimed; ``held`` are ``carriers`` of what is
    rare.
    """
    if clusters < FEW_CLUSTERS:
        return f"too few clusters (C = {clusters})"
    if min(held) < FEW_CARRIERS:
        return f"too few clusters with the rarer outcome (effectively {min(held):.1f})"
    return None


def clustered_difference(
    *,
    successes_a: ArrayLike,
    n_a: ArrayLike,
    successes_b: ArrayLike,
    n_b: ArrayLike,
    confidence: float = 0.95,
) -> Interval:
    """Share in A minus share in B, both over the same clusters (paired), in shares (×100: points).

    Arrays: shape (C,), entry i of all four is cluster i. Clusters without outcomes on one side
    still
    count on the other. Formula: d = Σx_a/N_a - Σx_b/N_b; e_i = (x_ai - p_a·n_ai)/N_a -
    (x_bi - p_b·n_bi)/N_b; v = C/(C-1)·Σe_i²; d ± t(df)·√v, cut at [-1, 1]. Where v = 0 the limits
    come from the two shares' own intervals (Newcombe 1998, method 10; Zou & Donner 2008, MOVER).
    Range [-1, 1]; null value 0. Source: Cochran (1977) ch. 11 for ratio estimators over clusters.
    By hand: x_a = (3, 4, 2), x_b = (1, 2, 0), n = 4: d = 9/12 - 3/12 = .5; e = (0, 0, 0): v = 0.
    ``ValueError`` as ``clustered_share``.
    """
    xa, na = arguments.shares("successes_a", successes_a, "n_a", n_a)
    xb, nb = arguments.shares("successes_b", successes_b, "n_b", n_b)
    arguments.same_shape("n_a", na, "n_b", nb)
    confidence = arguments.level("confidence", confidence)
    kept = (na + nb) > 0
    xa, na, xb, nb = xa[kept], na[kept], xb[kept], nb[kept]
    total_a, total_b, clusters = float(na.sum()), float(nb.sum()), int(kept.sum())
    blank = Interval(
        None,
        None,
        None,
        "linearised difference, t",
        confidence,
        n=total_a + total_b,
        clusters=clusters,
    )
    if total_a == 0 or total_b == 0:
        return replace(blank, note="no outcomes on one side")
    share_a, share_b = float(xa.sum()) / total_a, float(xb.sum()) / total_b
    difference = share_a - share_b
    if clusters == 1:
        return replace(blank, value=difference, note="one cluster: no interval")
    variance, df = cluster_variance((xa - share_a * na) / total_a - (xb - share_b * nb) / total_b)
    held = carriers(xa if share_a <= 0.5 else na - xa), carriers(xb if share_b <= 0.5 else nb - xb)
    note = few_clusters(clusters, *held)
    row = replace(blank, value=difference, se=math.sqrt(variance), df=df, note=note)
    if variance == 0:
        a = clustered_share(successes=xa, n=na, confidence=confidence)
        b = clustered_share(successes=xb, n=nb, confidence=confidence)
        low, high = _mover(a, b)
        note = joined("no variance between clusters: limits from the two shares", note)
        return replace(row, low=low, high=high, method="mover of two shares", note=note)
    half = t_quantile(0.5 + confidence / 2, df) * math.sqrt(variance)
    independent = share_a * (1 - share_a) / total_a + share_b * (1 - share_b) / total_b
    return replace(
        row,
        low=max(difference - half, -1.0),
        high=min(difference + half, 1.0),
        design_effect=variance / independent if independent > 0 else None,
    )


def _mover(a: Interval, b: Interval) -> tuple[float | None, float | None]:
    """Limits of a - b from the limits of a and b (square-and-add)."""
    if (
        a.value is None
        or b.value is None
        or a.low is None
        or a.high is None
        or b.low is None
        or b.high is None
    ):
        return None, None
    d = a.value - b.value
    return d - math.hypot(a.value - a.low, b.high - b.value), d + math.hypot(
        a.high - a.value, b.value - b.low
    )


def clustered_mean(*, values: ArrayLike, confidence: float = 0.95) -> Interval:
    """The unweighted mean of one value a cluster, with t(C-1).

    Formula: m ± t(C-1)·s/√C. Range: that of the values; null value 0 for differences.
    Source: Student (1908), Biometrika 6. By hand: (1, 2, 3): m = 2, s = 1, t(2) = 4.3027 →
    2 ± 2.4841. No cluster, one, or all equal: no interval, and a note. ``ValueError`` for NaN.
    """
    x = arguments.vector("values", values)
    confidence = arguments.level("confidence", confidence)
    clusters = x.size
    blank = Interval(None, None, None, "mean, t", confidence, n=float(clusters), clusters=clusters)
    if clusters == 0:
        return replace(blank, note="no clusters")
    mean = float(x.mean())
    if clusters == 1:
        return replace(blank, value=mean, note="one cluster: no interval")
    if float(np.ptp(x)) <= 1e-12 * max(1.0, abs(mean)):
        return replace(
            blank,
            value=mean,
            se=0.0,
            note="all clusters equal: no variance to build an interval from",
        )
    se = float(x.std(ddof=1)) / math.sqrt(clusters)
    half = t_quantile(0.5 + confidence / 2, clusters - 1.0) * se
    return replace(blank, value=mean, low=mean - half, high=mean + half, se=se, df=clusters - 1.0)


def bounds(*, successes: float, failures: float, missing: float) -> Interval:
    """The share among what was measured, between the two shares that the missing could have made.

    Formula: low = s/(s+f+m), high = (s+m)/(s+f+m), value = s/(s+f). Range [0, 1]. Not a confidence
    interval: it holds whatever the missing were. Source: Manski (1989), J. Human Resources 24.
    By hand: 6, 2, 2 → .75 in [.6, .8]. Nothing at all gives None. ``ValueError`` for negatives,
    NaN.
    """
    s, f = arguments.number("successes", successes), arguments.number("failures", failures)
    m = arguments.number("missing", missing)
    total = s + f + m
    if total == 0:
        return Interval(None, None, None, "bounds", 1.0, n=0.0, note="no outcomes")
    value = s / (s + f) if s + f > 0 else None
    return Interval(
        value,
        s / total,
        (s + m) / total,
        "bounds",
        1.0,
        n=total,
        note=None if s + f else "all missing",
    )


def _filled(x: Floats, size: Floats) -> tuple[Floats, Floats, str | None]:
    """The clusters that hold outcomes, and a word on those that hold none."""
    if size.size == 0 or size.min() > 0:
        return x, size, None
    kept = size > 0
    return x[kept], size[kept], f"{int((~kept).sum())} clusters without outcomes left out"
