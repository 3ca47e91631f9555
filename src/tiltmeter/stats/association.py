"""Comparisons of two sides: ratios and odds on the log scale, t tests, Fisher's test, equivalence.

Arrays hold one entry per cluster, as in ``rates``. A ratio of two noisy counts is skewed, so its
interval is built for the logarithm and transformed back; ``se`` and ``df`` are those of the
logarithm.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.quantiles import t_quantile, t_two_sided, t_upper
from tiltmeter.stats.rates import carriers, cluster_variance, clustered_share, few_carriers
from tiltmeter.stats.results import (
    UPPER,
    Interval,
    IntervalCaution,
    Test,
    join_notes,
    with_cautions,
)
from tiltmeter.stats.special import gammaln
from tiltmeter.stats.wilson import wilson_limits

# added to both counts where one is zero: Haldane (1956), Ann. Hum. Genet. 20; PROTOCOLS 2a
HALF = 0.5
ZERO = IntervalCaution("zero_count", "a count is zero: 0.5 added to both")  # of a ratio: that of A
ZERO_IN_B = IntervalCaution("zero_at_baseline", ZERO.text)
ZEROS = {ZERO.code, ZERO_IN_B.code}
Side = tuple[Floats, Floats]  # successes and n by cluster


def ratio(
    *,
    successes_a: ArrayLike,
    n_a: ArrayLike,
    successes_b: ArrayLike,
    n_b: ArrayLike,
    paired: bool = True,
    of_odds: bool = False,
    confidence: float = 0.95,
) -> Interval:
    """Returns the rate in A divided by the rate in B (disparate-impact ratio DI), with limits built
    on the log scale. With ``of_odds``, returns the odds ratio r·(1 - p_b)/(1 - p_a), and u and w
    are divided by 1 - p_a and 1 - p_b.

    Formula: r = (Σx_a/N_a)/(Σx_b/N_b); with u_i = (x_ai - p_a·n_ai)/Σx_a and w_i alike for B, v =
    C/(C-1)·Σ(u_i - w_i)² if clusters are paired, else the sum of the two sides' variances with
    Welch–Satterthwaite df; log r ± t(df)·√v. If Σx_a or Σx_b is 0, 0.5 is added to both, the
    variance is at least that of independent outcomes, and ``note`` says so. Range (0, inf); null
    value 1; [0.8, 1.25] is the four-fifths band.
    Source: Katz et al. (1978), Biometrics 34, with the delta method over clusters (Cochran 1977,
    ch. 6).
    By hand: x_a = (2, 4), x_b = (1, 2), n = 10 each: r = 2; u = (-1, 1)/6, w = (-.5, .5)/3: v = 0.
    If all rates are 1, or v = 0, limits come from those of the two shares (MOVER on the log scale).
    None if a side has no outcomes, or neither a success. One cluster: a value, no interval.
    ``ValueError`` names the argument: NaN, negative, successes > n, shapes that differ if paired.
    """
    xa, na = arguments.shares("successes_a", successes_a, "n_a", n_a)
    xb, nb = arguments.shares("successes_b", successes_b, "n_b", n_b)
    if paired:
        arguments.same_shape("n_a", na, "n_b", nb)
    confidence = arguments.level("confidence", confidence)
    kept_a, kept_b = ((na + nb) > 0,) * 2 if paired else (na > 0, nb > 0)
    sides = (xa[kept_a], na[kept_a]), (xb[kept_b], nb[kept_b])
    return _log_ratio(*sides, paired=paired, of_odds=of_odds, confidence=confidence)


def _log_ratio(a: Side, b: Side, *, paired: bool, of_odds: bool, confidence: float) -> Interval:
    (xa, na), (xb, nb) = a, b
    clusters, total_a, total_b = min(xa.size, xb.size), float(na.sum()), float(nb.sum())
    method, n = "log ratio, linearised, t", total_a + total_b
    blank = Interval(None, None, None, method, confidence, n=n, clusters=clusters)
    hits_a, hits_b = float(xa.sum()), float(xb.sum())
    missing = _nothing(hits_a, hits_b, total_a, total_b)
    if missing:
        return replace(blank, note=missing)
    mark, caution = None, few_carriers(clusters, carriers(xa), carriers(xb))
    if hits_a == 0 or hits_b == 0:
        mark = ZERO if hits_a == 0 else ZERO_IN_B
        xa, xb = xa + HALF / xa.size, xb + HALF / xb.size
        hits_a, hits_b = hits_a + HALF, hits_b + HALF
    value = (hits_a / total_a) / (hits_b / total_b)
    if of_odds:
        if hits_a >= total_a or hits_b >= total_b:
            return replace(blank, note="every outcome is a success: no odds")
        value *= (1 - hits_b / total_b) / (1 - hits_a / total_a)
    blank = with_cautions(replace(blank, value=value), mark)
    if clusters < 2:
        return replace(blank, note=join_notes(blank.note, "one cluster: no interval"))
    u, w = (xa - hits_a / total_a * na) / hits_a, (xb - hits_b / total_b * nb) / hits_b
    if of_odds:
        u, w = u / (1 - hits_a / total_a), w / (1 - hits_b / total_b)
    variance, df = cluster_variance(u - w) if paired else _sum_of_variances(u, w)
    if mark:
        variance = max(variance, 1 / hits_a - 1 / total_a + 1 / hits_b - 1 / total_b)
    row = with_cautions(replace(blank, se=math.sqrt(variance), df=df), caution)
    if variance == 0 and not of_odds:
        limits = _log_mover(xa, na, xb, nb, confidence)
        note = join_notes("no variance between clusters: limits from the two shares", row.note)
        return replace(row, low=limits[0], high=limits[1], note=note)
    half = t_quantile(0.5 + confidence / 2, df) * math.sqrt(variance)
    return replace(row, low=value * math.exp(-half), high=value * math.exp(half))


def _nothing(hits_a: float, hits_b: float, total_a: float, total_b: float) -> str | None:
    if total_a == 0 or total_b == 0:
        return "no outcomes on one side"
    return "no success on either side" if hits_a == 0 and hits_b == 0 else None


def _sum_of_variances(u: Floats, w: Floats) -> tuple[float, float]:
    """Returns (variance of a difference of linearised estimators, its Welch–Satterthwaite df)."""
    (first, df_first), (second, df_second) = cluster_variance(u), cluster_variance(w)
    total = first + second
    if total == 0:
        return 0.0, min(df_first, df_second)
    return total, total * total / (first * first / df_first + second * second / df_second)


def _log_mover(
    xa: Floats, na: Floats, xb: Floats, nb: Floats, confidence: float
) -> tuple[float | None, float | None]:
    """Computes limits of a ratio from those of the two shares: square-and-add on the log scale."""
    a = clustered_share(successes=xa, n=na, confidence=confidence)
    b = clustered_share(successes=xb, n=nb, confidence=confidence)
    if not (a.value and b.value and a.low and b.low and a.high and b.high):
        return None, None
    below = math.hypot(math.log(a.value / a.low), math.log(b.high / b.value))
    above = math.hypot(math.log(a.high / a.value), math.log(b.value / b.low))
    return a.value / b.value * math.exp(-below), a.value / b.value * math.exp(above)


def odds(*, first: ArrayLike, second: ArrayLike) -> Interval:
    """Returns Σfirst/Σsecond over clusters (n_she/n_he, or Σp(she)/Σp(he)), with an interval.

    Arrays: shape (C,), counts or sums of probabilities. Formula: s/(1-s) of the share s =
    Σfirst/Σ(first+second) and of its limits in ``rates.clustered_share``, so that odds and the
    share printed beside them agree. If one sum is 0, 0.5 is added to both and ``note`` says so; the
    limit that would be 0 or infinite is then Wilson's for the share so corrected, with as many
    outcomes as there are clusters. Range (0, inf); null value 1. An odds of 0.8 is a share of .444.
    Source: Haldane (1956) for the 0.5; Newcombe (2001), Am. Stat. 55, for Wilson on the log odds.
    By hand: first = (1, 2, 3), second = (3, 2, 1): share .5 in [.1543, .8457] → odds 1 in [.1825,
    5.4788]. ``se`` is that of the log odds. Both sums 0: None. ``ValueError``: NaN, negative,
    shapes that differ.
    """
    x, y = arguments.counts("first", first), arguments.counts("second", second)
    arguments.same_shape("first", x, "second", y)
    share = clustered_share(successes=x, n=x + y)
    row = replace(share, method="odds of the clustered share, log scale", se=None)
    top, bottom = float(x.sum()), float(y.sum())
    if share.value is None:
        return row
    has_zero = top == 0 or bottom == 0 or not 0 < share.value < 1  # a sum too small to tell from 0
    value = (top + HALF) / (bottom + HALF) if has_zero else top / bottom
    row = replace(row, value=value)
    if has_zero:
        note = join_notes(ZERO.text, share.note)
        row = replace(row, note=note, cautions=(ZERO.code, *share.cautions))
    if share.low is None or share.high is None or share.df is None or share.effective_n is None:
        return row
    low, high, corrected = share.low, share.high, value / (1 + value)
    if has_zero:
        quantile = t_quantile(UPPER, share.df)
        limits = wilson_limits(corrected, share.effective_n, quantile)
        low, high = (limits[0], high) if top < bottom else (low, limits[1])
    se = 1 / math.sqrt(share.effective_n * corrected * (1 - corrected))
    high = min(high, 1 - 1e-12)  # else rounding could divide by 0
    return replace(row, low=low / (1 - low), high=high / (1 - high), se=se)


def paired_t(*, differences: ArrayLike) -> Test:
    """Tests the mean difference by Student's t, over one difference per cluster, two-sided.

    Formula: t = d̄/(s/√C), df = C-1. Null value of d̄: 0. Source: Student (1908); the test of the
    GRAMVIS paper, over words. By hand: (1, 2, 3): t = 2·√3/1 = 3.4641, p = .0742.
    Fewer than two differences, or all equal: p is None with a note. ``ValueError`` for NaN.
    """
    d = arguments.vector("differences", differences)
    if d.size < 2:
        return Test(None, None, "paired t", note="fewer than two differences: no test")
    if float(np.ptp(d)) <= 1e-12 * max(1.0, float(np.abs(d).max())):
        return Test(
            None,
            None,
            "paired t",
            df=d.size - 1.0,
            note="all differences equal: no variance to test against",
        )
    t = float(d.mean()) * math.sqrt(d.size) / float(d.std(ddof=1))
    return Test(t, t_two_sided(t, d.size - 1.0), "paired t", df=d.size - 1.0)


def fisher(*, hits_a: int, n_a: int, hits_b: int, n_b: int) -> Test:
    """Tests if two shares are alike: Fisher's exact test of two counts, two-sided.

    Formula: Σ P(k) over the tables with these margins that are not likelier than the observed one,
    by the hypergeometric law. Null value: equal shares. Source: Fisher (1935), The Design of
    Experiments. By hand: 3 of 4 and 1 of 4: (16 + 1 + 16 + 1)/70 = .4857. An empty side: p is None
    with a note. ``ValueError`` for hits beyond n.
    """
    if not (0 <= hits_a <= n_a and 0 <= hits_b <= n_b):
        raise ValueError("hits_a, hits_b: numbers from 0 to n_a, n_b expected")
    method = "Fisher's exact"
    if n_a == 0 or n_b == 0:
        return Test(None, None, method, note="no outcomes on one side")
    hits = hits_a + hits_b
    first = max(0, hits - n_b)
    k = np.arange(first, min(hits, n_a) + 1)
    ways = ((n_a, k), (n_b, hits - k), (n_a + n_b, hits))
    one, two, total = (gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) for n, k in ways)
    logs = one + two - total
    limit = logs[hits_a - first] + 1e-7  # as the one seen, up to rounding
    return Test(None, min(1.0, float(np.exp(logs[logs <= limit]).sum())), method)


def equivalence(*, value: float, se: float, df: float, margin: float) -> Test:
    """Tests if the effect lies inside ±margin: two one-sided t tests (TOST).

    Formula: p = max(P(T ≥ (value+margin)/se), P(T ≤ (value-margin)/se)); ``statistic`` is the t
    with the larger p. p ≤ α says "within ±margin at this α"; the margin must be fixed before the
    data are seen. Source: Schuirmann (1987), J. Pharmacokinet. Biopharm. 15. By hand: value 0, se
    .01, df 20, margin .03: t = ±3, p = .00354. se = 0 or no df: p None with a note. ``ValueError``:
    NaN, margin ≤ 0.
    """
    value = float(arguments.vector("value", [value])[0])
    se, df, margin = (
        arguments.number("se", se),
        arguments.number("df", df),
        arguments.number("margin", margin),
    )
    if margin == 0:
        raise ValueError("margin: must be larger than 0")
    method = f"equivalence within ±{margin:g} (two one-sided t)"
    if se == 0 or df == 0:
        return Test(None, None, method, df=df, note="no variance to test against")
    lower, upper = (value + margin) / se, (value - margin) / se
    p_lower, p_upper = t_upper(lower, df), t_upper(-upper, df)
    return Test(lower if p_lower >= p_upper else upper, max(p_lower, p_upper), method, df=df)
