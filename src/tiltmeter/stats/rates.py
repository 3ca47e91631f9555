"""Shares and their intervals, for independent outcomes and for outcomes that come in clusters.

A cluster is an item of the population that the interval refers to (a word, a text, an occupation).
Outcomes of one item are correlated, so the sample size is the number of items.
docs/explanation/statistics.md shows the simulations behind each choice.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.beta_binomial import posterior_limits
from tiltmeter.stats.quantiles import t_quantile
from tiltmeter.stats.results import (
    UPPER,
    Interval,
    IntervalCaution,
    count_of,
    join_notes,
    with_cautions,
)
from tiltmeter.stats.wilson import wilson as wilson  # its address for measures of others
from tiltmeter.stats.wilson import wilson_limits

FEW_CLUSTERS = 9  # below it the simulations of docs/explanation/statistics.md claim nothing
# clusters with the rarer outcome: below it ratios, and shares whose far half of the interval is
# narrow, covered less than 93 % in the same simulations
FEW_CARRIERS = 4.0
MANY_CLUSTERS = 50  # from here on the variance of the clusters says enough about their distribution
BLENDED = (0.4, 0.6)  # shares between which the two kinds of limits change their places
UNEVEN = 0.1  # of half of Wilson's interval: a mean of shares that departs more is not the ratio
# outcomes per cluster from which rounding to whole counts no longer widens the interval
SMOOTH = 50.0
CARRIER_DF = 1.5  # degrees of freedom per carrier beyond the first, from the same simulations
LINEARISED = "wilson on effective n, t"
HYBRID = "wilson on effective n, t, and beta-binomial posterior"
ALIKE = "every item gave the same answer, so each counts once"


def cluster_variance(influence: Floats) -> tuple[float, float]:
    """Computes the variance of a linearised estimator, and this variance's degrees of freedom.

    ``influence`` holds one value per cluster and sums to 0; variance = C/(C-1)·Σe². The degrees of
    freedom are min(C-1, 2(C-1)/(k-1)) with k the kurtosis of the influences: a variance dominated
    by one or two clusters is much less certain than C-1 says (Satterthwaite's rule, var(s²) from
    the fourth moment). With influences like a normal's, k ≤ 3, this is C-1.
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
    """Computes Kish's effective number of clusters, (Σx)²/Σx², in [1, C]; 0 if all x are 0."""
    total, squares = float(rare.sum()), float(rare @ rare)
    return total * total / squares if squares > 0 else 0.0


def clustered_share(*, successes: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> Interval:
    """Returns a share over clusters, Σx/Σn, with an interval for a population of such clusters.

    Arrays: one entry per cluster, shape (C,); ``successes`` may be fractional (sums of
    probabilities). The limit towards the near end of [0, 1] is Wilson's on the effective n (W,
    ``linearised_share``), the far limit that of the beta-binomial posterior (B,
    ``beta_binomial.posterior_limits``), which allows for kinds of clusters that were not sampled.
    Between .4 and .6 they are blended with λ = (p - .4)/.2, so that a share and its complement
    mirror: low = (1-λ)·W + λ·min(B, p), high = λ·W + (1-λ)·max(B, p). If sizes are uneven and the
    mean of the clusters' shares differs from p (by a tenth of half of W's width), the farther of B
    and W replaces B. From 50 clusters on, and for fractional counts, both limits are W's. Range
    [0, 1]; null value: the share that the protocol names.
    Source: W, Korn & Graubard (1998), Survey Methodology 24, and Franco et al. (2019), J. Surv.
    Stat. Methodol. 7; the choice is by simulation, docs/explanation/statistics.md.
    By hand: x = (1, 2, 3), n = (4, 4, 4): W [.1105, .8895], B [.1982, .8018], halfway between:
    [.1543, .8457]. One cluster: a value, no interval; no cluster: no value; ``note`` says so.
    ``cautions`` and ``note`` also say if other kinds of clusters would not be covered
    (``few_clusters``, ``other_kinds``; for fractional counts ``few_carriers``), and if sizes depend
    on the share, which no interval allows for. Raises ``ValueError`` and names the argument for
    NaN, negative numbers, shapes that differ, successes > n.
    """
    x, size = arguments.shares("successes", successes, "n", n)
    x, size, left_out = _filled_clusters(x, size)
    row = linearised_share(successes=x, n=size, confidence=confidence)
    if row.value is not None:
        row = replace(row, note=join_notes(left_out, row.note))
    if row.value is None or row.low is None or row.high is None:
        return row
    share, near_limits, mean_share = row.value, (row.low, row.high), float((x / size).mean())
    is_whole = bool((x == np.rint(x)).all() and (size == np.rint(size)).all())
    if is_whole and size.size < MANY_CLUSTERS:
        far_limits = posterior_limits(x, size, row.confidence)
        if abs(mean_share - share) > UNEVEN * (near_limits[1] - near_limits[0]) / 2:
            far_limits = min(far_limits[0], near_limits[0]), max(far_limits[1], near_limits[1])
        low, high = _blend(share, near_limits, far_limits)
        row = replace(row, low=low, high=high, method=HYBRID)
    caution = few_clusters(size.size) or other_kinds(row)
    if not is_whole:  # no posterior looks at probabilities: W alone errs where few items carry them
        caution = caution or few_carriers(size.size, carriers(x if share <= 0.5 else size - x))
    return with_cautions(row, caution, sizes_follow(mean_share, near_limits))


def share_of(hits: Iterable[tuple[Hashable, bool]]) -> Interval:
    """Returns the share of hits by ``clustered_share``. hits: (cluster, True if it is a hit)."""
    counts: dict[Hashable, list[int]] = {}
    for cluster, is_hit in hits:
        count = counts.setdefault(cluster, [0, 0])
        count[0] += is_hit
        count[1] += 1
    x, n = zip(*counts.values(), strict=True) if counts else ((), ())
    return clustered_share(successes=x, n=n)


def _blend(
    share: float, near: tuple[float, float], far: tuple[float, float]
) -> tuple[float, float]:
    """Blends limits: `near` towards the nearer end of [0, 1], `far` towards the other end."""
    first, last = BLENDED
    blend = min(max((share - first) / (last - first), 0.0), 1.0)
    low = (1 - blend) * near[0] + blend * min(far[0], share)
    return low, blend * near[1] + (1 - blend) * max(far[1], share)


def linearised_share(*, successes: ArrayLike, n: ArrayLike, confidence: float = 0.95) -> Interval:
    """Computes Σx/Σn with Wilson's interval on the effective n and a t quantile, without cautions.

    Arrays as in ``clustered_share``, without clusters that have no outcomes. Formula: e_i =
    (x_i - p·n_i)/N; v = C/(C-1)·Σe_i² (linearised ratio estimator); effective n = p(1-p)/v;
    Wilson's limits at that n with the quantile t(df), df from ``cluster_variance``. With v = 0 (all
    clusters alike) the effective n is C: outcomes inside clusters could be perfectly dependent. If
    no rounding to small counts widens the interval (fractional successes, or at least 50 outcomes
    per cluster) and v > 0, df is also at most 1.5·(k-1), k the effective number of clusters with
    the rarer outcome (``carriers``).
    Source: linearisation, Cochran (1977) ch. 11; Wilson on the effective n, Korn & Graubard (1998).
    By hand: x = (1, 2, 3), n = (4, 4, 4): p = .5, e = (-1, 0, 1)/12, v = 3/2·2/144 = 1/48,
    effective n = .25·48 = 12, t(2) = 4.3027 → [.1105, .8895].
    """
    x, size = arguments.shares("successes", successes, "n", n)
    confidence = arguments.level("confidence", confidence)
    total, clusters = float(size.sum()), size.size
    blank = Interval(None, None, None, LINEARISED, confidence, n=total, clusters=clusters)
    if total == 0:
        return replace(blank, note="no outcomes")
    share = min(max(float(x.sum()) / total, 0.0), 1.0)
    if clusters == 1:
        return replace(blank, value=share, note="one cluster: no interval")
    variance, df = cluster_variance((x - share * size) / total)
    if variance > 0 and (total >= SMOOTH * clusters or (x != np.rint(x)).any()):
        effective_clusters = carriers(x if share <= 0.5 else size - x)
        df = min(df, max(CARRIER_DF * (effective_clusters - 1), 1.0))
    effective = share * (1 - share) / variance if variance > 0 else float(clusters)
    low, high = wilson_limits(share, effective, t_quantile(0.5 + confidence / 2, df))
    note_if_alike = None if variance > 0 else ALIKE
    return replace(
        blank,
        value=share,
        low=low,
        high=high,
        se=math.sqrt(variance),
        df=df,
        effective_n=effective,
        note=note_if_alike,
    )


def few_clusters(clusters: int) -> IntervalCaution | None:
    """Returns a caution if the clusters are too few for the coverage seen in simulations."""
    if clusters < FEW_CLUSTERS:
        return IntervalCaution("few_clusters", f"too few clusters (C = {clusters})")
    return None


def other_kinds(share: Interval) -> IntervalCaution | None:
    """Returns a caution if clusters of another kind would move the share out of its interval.

    One cluster with only opposite outcomes moves the share by about 1/C. If the rarer outcome fills
    fewer than 4 clusters, C·min(p, 1-p) < 4, and the far limit is nearer than 1/C, there may be
    such clusters that were not sampled, and the interval would not cover them.
    """
    p, low, high, clusters = share.value, share.low, share.high, share.clusters
    if p is None or low is None or high is None or not clusters:
        return None
    reach = high - p if p <= 0.5 else p - low
    if clusters * min(p, 1 - p) < FEW_CARRIERS and reach < 1 / clusters:
        return IntervalCaution("other_kinds", "another kind of item would not be covered")
    return None


def sizes_follow(alike: float, limits: tuple[float, float]) -> IntervalCaution | None:
    """Returns a caution if sizes depend on the share: the unweighted mean over items (`alike`) lies
    outside Wilson's limits.

    Coverage may then be as low as .3, and no other caution marks such tables.
    """
    if limits[0] <= alike <= limits[1]:
        return None
    text = f"items with more outputs have another share; items counted alike give {alike:.3f}"
    return IntervalCaution("sizes_follow_share", text)


def few_carriers(clusters: int, *held: float) -> IntervalCaution | None:
    """Returns a caution if too few clusters have the rarer outcome; held: ``carriers`` per side."""
    if clusters >= FEW_CLUSTERS and min(held) < FEW_CARRIERS:
        text = f"too few clusters with the rarer outcome (effectively {min(held):.1f})"
        return IntervalCaution("few_carriers", text)
    return few_clusters(clusters)


def clustered_difference(
    *,
    successes_a: ArrayLike,
    n_a: ArrayLike,
    successes_b: ArrayLike,
    n_b: ArrayLike,
    confidence: float = 0.95,
) -> Interval:
    """Computes the share in A minus that in B over the same clusters (paired).

    Arrays: shape (C,), entry i of all four is cluster i. Clusters without outcomes on one side
    still count on the other. Formula: d = Σx_a/N_a - Σx_b/N_b; e_i = (x_ai - p_a·n_ai)/N_a - (x_bi
    - p_b·n_bi)/N_b; v = C/(C-1)·Σe_i²; d ± t(df)·√v, clipped to [-1, 1]. If v = 0 the limits come
    from the two shares' own intervals (Newcombe 1998, method 10; Zou & Donner 2008, MOVER). Range
    [-1, 1]; null value 0. Source: Cochran (1977) ch. 11 for ratio estimators over clusters. By
    hand: x_a = (3, 4, 2), x_b = (1, 2, 0), n = 4: d = 9/12 - 3/12 = .5; e = (0, 0, 0): v = 0.
    Raises ``ValueError`` as ``clustered_share``.
    """
    xa, na = arguments.shares("successes_a", successes_a, "n_a", n_a)
    xb, nb = arguments.shares("successes_b", successes_b, "n_b", n_b)
    arguments.same_shape("n_a", na, "n_b", nb)
    confidence = arguments.level("confidence", confidence)
    is_counted = (na + nb) > 0
    xa, na, xb, nb = xa[is_counted], na[is_counted], xb[is_counted], nb[is_counted]
    total_a, total_b, clusters = float(na.sum()), float(nb.sum()), int(is_counted.sum())
    method, n = "linearised difference, t", total_a + total_b
    blank = Interval(None, None, None, method, confidence, n=n, clusters=clusters)
    if total_a == 0 or total_b == 0:
        return replace(blank, note="no outcomes on one side")
    share_a, share_b = float(xa.sum()) / total_a, float(xb.sum()) / total_b
    difference = share_a - share_b
    if clusters == 1:
        return replace(blank, value=difference, note="one cluster: no interval")
    variance, df = cluster_variance((xa - share_a * na) / total_a - (xb - share_b * nb) / total_b)
    row = replace(blank, value=difference, se=math.sqrt(variance), df=df)
    row = with_cautions(row, few_clusters(clusters))
    if variance == 0:
        a = clustered_share(successes=xa, n=na, confidence=confidence)
        b = clustered_share(successes=xb, n=nb, confidence=confidence)
        low, high = _mover(a, b)
        note = join_notes("no variance between clusters: limits from the two shares", row.note)
        return replace(row, low=low, high=high, method="mover of two shares", note=note)
    half = t_quantile(0.5 + confidence / 2, df) * math.sqrt(variance)
    return replace(
        row,
        low=max(difference - half, -1.0),
        high=min(difference + half, 1.0),
    )


def _mover(a: Interval, b: Interval) -> tuple[float | None, float | None]:
    """Computes limits of a - b from those of a and b (square-and-add)."""
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


def clustered_mean(*, values: ArrayLike) -> Interval:
    """Returns the unweighted mean of one value per cluster, with t(C-1).

    Formula: m ± t(C-1)·s/√C. Range: that of the values; null value 0 for differences.
    Source: Student (1908), Biometrika 6. By hand: (1, 2, 3): m = 2, s = 1, t(2) = 4.3027 →
    2 ± 2.4841. No cluster, one, or all equal: no interval, and a note. ``ValueError`` for NaN.
    """
    x = arguments.vector("values", values)
    clusters = x.size
    blank = Interval(None, None, None, "mean, t", n=float(clusters), clusters=clusters)
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
    half = t_quantile(UPPER, clusters - 1.0) * se
    return replace(blank, value=mean, low=mean - half, high=mean + half, se=se, df=clusters - 1.0)


def bounds(*, successes: float, failures: float, missing: float) -> Interval:
    """Returns the share of measured outcomes, and its range over all values of the missing
    outcomes.

    Formula: low = s/(s+f+m), high = (s+m)/(s+f+m), value = s/(s+f). Range [0, 1]. Not a confidence
    interval: it holds whatever the missing values. Source: Manski (1989), J. Human Resources 24. By
    hand: 6, 2, 2 → .75 in [.6, .8]. None without any outcome. ``ValueError``: negative, NaN."""
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


def _filled_clusters(x: Floats, size: Floats) -> tuple[Floats, Floats, str | None]:
    """Returns the clusters that have outcomes, and a note on the others."""
    if size.size == 0 or size.min() > 0:
        return x, size, None
    is_filled = size > 0
    note = f"{count_of(int((~is_filled).sum()), 'cluster')} without outcomes left out"
    return x[is_filled], size[is_filled], note
