"""Before the run: what a design can detect, and how many clusters a difference needs.

α is shared out over the tests of a family first: ``tests`` = 40 means α/40 each, which holds for
Holm's first step and is conservative for Benjamini–Hochberg. Shares and differences are in shares
(×100: points).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.divergence import js_divergence
from tiltmeter.stats.quantiles import noncentral_t_below, t_quantile

MOST_CLUSTERS = 1_000_000  # no design of this field is larger


def design_effect(*, per_cluster: float, icc: float) -> float:
    """Variance of a clustered share over that of independent outcomes: 1 + (m-1)·ρ.

    ``per_cluster`` is m, ``icc`` the intra-cluster correlation in [0, 1]. Range [1, m]; null value
    1.
    Source: Kish (1965), Survey Sampling, §5.4. By hand: m = 10, ρ = .2 → 2.8.
    """
    m, rho = _per_cluster(per_cluster), _icc(icc)
    return 1 + (m - 1) * rho


def share_se(*, share: float, clusters: int, per_cluster: float, icc: float) -> float:
    """Standard error of a clustered share, √(p(1-p)·deff/(C·m)).

    Source: Kish (1965). By hand: .5, C = 20, m = 10, ρ = .2: √(.25·2.8/200) = .0592.
    """
    p = _share("share", share)
    deff = design_effect(per_cluster=per_cluster, icc=icc)
    return math.sqrt(p * (1 - p) * deff / (_clusters(clusters) * per_cluster))


def paired_se(
    *, share: float, clusters: int, per_cluster: float, icc: float, correlation: float = 0.0
) -> float:
    """Standard error of a difference of two conditions over the same clusters, near ``share``.

    Formula: √(2p(1-p)·[ρ(1-r) + (1-ρ)/m]/C), r the correlation of a cluster's two true shares:
    pairing
    removes what the two have in common. Source: Donner & Klar (2000), ch. 3. By hand: .5, C = 20,
    m = 10, ρ = .2, r = .5: √(.5·(.1 + .08)/20) = .0671. ``ValueError``: r outside [-1, 1].
    """
    p, m, rho = _share("share", share), _per_cluster(per_cluster), _icc(icc)
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation: between -1 and 1 expected, got {correlation!r}")
    return math.sqrt(
        2 * p * (1 - p) * (rho * (1 - correlation) + (1 - rho) / m) / _clusters(clusters)
    )


def detectable(
    *, se: float, clusters: int, alpha: float = 0.05, power: float = 0.8, tests: int = 1
) -> float:
    """The difference that a two-sided t(C-1) test finds with ``power``, given its standard error.

    Formula: (t_{1-α/2} + t_power)·se, both at C-1. Unit of ``se``. Source: Bloom (1995), Eval. Rev.
    19.
    By hand: se .05, C = 21: (2.0860 + .8600)·.05 = .1473. NaN for one cluster. ``ValueError``: se <
    0.
    """
    se, clusters = arguments.number("se", se), _clusters(clusters)
    if clusters < 2:
        return math.nan
    tail = _alpha(alpha, tests) / 2
    return (
        t_quantile(1 - tail, clusters - 1.0)
        + t_quantile(arguments.level("power", power), clusters - 1.0)
    ) * se


def achieved_power(
    *, difference: float, se: float, clusters: int, alpha: float = 0.05, tests: int = 1
) -> float:
    """The chance that a two-sided t(C-1) test finds ``difference``, exact for normal cluster
    values.

    Formula: P(\\|T\\| > t_{1-α/2}), T noncentral t with δ = difference/se. Range [α, 1]; null value
    α.
    Source: Cohen (1988), ch. 2; equal to statsmodels' TTestPower. By hand: difference 0 → α.
    NaN for one cluster. ``ValueError``: se not above 0.
    """
    clusters = _clusters(clusters)
    if arguments.number("se", se) == 0:
        raise ValueError("se: must be larger than 0")
    if clusters < 2:
        return math.nan
    df, delta = clusters - 1.0, abs(difference) / se
    critical = t_quantile(1 - _alpha(alpha, tests) / 2, df)
    return 1 - noncentral_t_below(critical, df, delta) + noncentral_t_below(-critical, df, delta)


def clusters_needed(
    *, difference: float, sd: float, alpha: float = 0.05, power: float = 0.8, tests: int = 1
) -> int | None:
    """The fewest clusters whose paired t test finds ``difference`` with ``power``.

    ``sd`` is the standard deviation of one cluster's value (``se``·√C of the functions above).
    Source: as ``achieved_power``. By hand: difference/sd = .5 → 34 (Cohen 1988, table 2.4.1 gives
    33.4). None where a million is not enough (a difference of 0). ``ValueError``: sd not above 0.
    """
    if arguments.number("sd", sd) == 0:
        raise ValueError("sd: must be larger than 0")
    power = arguments.level("power", power)

    def enough(clusters: int) -> bool:
        se = sd / math.sqrt(clusters)
        return (
            achieved_power(
                difference=difference, se=se, clusters=clusters, alpha=alpha, tests=tests
            )
            >= power
        )

    high = 2
    while not enough(high):
        high *= 2
        if high > MOST_CLUSTERS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def detectable_share(
    *,
    reference: float,
    clusters: int,
    per_cluster: float,
    icc: float,
    alpha: float = 0.05,
    power: float = 0.8,
    tests: int = 1,
) -> tuple[float | None, float | None]:
    """The nearest shares below and above ``reference`` that one clustered share can be told from.

    Formula: \\|p - p₀\\| = t_{1-α/2}·se(p₀) + t_power·se(p), solved for p on each side. Range [0,
    1];
    None on a side where even 0 or 1 is too near. Source: Fleiss (1981), ch. 1.5, with the design
    effect.
    By hand: p₀ = .5, C = 100, m = 10, ρ = 0: about .5 ± (1.984 + .845)·.0158 = .455 and .545.
    """
    p0 = _share("reference", reference)
    if _clusters(clusters) < 2:
        return None, None
    tail = _alpha(alpha, tests) / 2
    critical = t_quantile(1 - tail, clusters - 1.0)
    beyond = t_quantile(arguments.level("power", power), clusters - 1.0)

    def found(p: float) -> bool:
        errors = [
            share_se(share=q, clusters=clusters, per_cluster=per_cluster, icc=icc) for q in (p0, p)
        ]
        return abs(p - p0) >= critical * errors[0] + beyond * errors[1]

    return _nearest(found, p0, 0.0), _nearest(found, p0, 1.0)


def _nearest(found: Callable[[float], bool], near: float, far: float) -> float | None:
    if not found(far):
        return None
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (near, middle) if found(middle) else (middle, far)
    return far


def detectable_divergence(
    *,
    shares: ArrayLike,
    n: int,
    generator: np.random.Generator,
    alpha: float = 0.05,
    power: float = 0.8,
    tests: int = 1,
    draws: int = 2000,
) -> tuple[float, float] | None:
    """The smallest tilt that one attribute's divergence test finds, by simulation.

    ``shares`` is the base's distribution, shape (K,), ``n`` the outputs a side. The group is pulled
    to the
    rarest value: (1-λ)·shares + λ·e. Returned: λ and the population divergence in bits, the first
    on a grid of .05 whose simulated JS passes the null's 1-α quantile in ``power`` of the draws;
    None if none does.
    By hand: K = 2, shares (1, 0), λ = 1: full separation, 1 bit. ``ValueError``: shares, n, draws.
    """
    base = arguments.counts("shares", shares)
    if base.size < 2 or base.sum() == 0 or n < 1:
        raise ValueError(
            "shares: at least two values with a positive sum, and n of at least 1, expected"
        )
    base, draws = base / base.sum(), arguments.draw_count("draws", draws)
    rarest = np.eye(base.size)[int(np.argmin(base))]
    first = generator.multinomial(n, base, size=draws)
    critical = np.quantile(
        _js(first, generator.multinomial(n, base, size=draws)), 1 - _alpha(alpha, tests)
    )
    for step in np.arange(0.05, 1.0001, 0.05):
        tilted = (1 - step) * base + step * rarest
        tilted /= tilted.sum()
        if (
            _js(first, generator.multinomial(n, tilted, size=draws)) > critical + 1e-9
        ).mean() >= power:
            return float(step), js_divergence(first=base, second=tilted)
    return None


def _js(first: np.ndarray, second: np.ndarray) -> Floats:
    p, q = first / first.sum(axis=1, keepdims=True), second / second.sum(axis=1, keepdims=True)

    def plogp(x: Floats) -> Floats:
        return x * np.log2(np.maximum(x, np.finfo(np.float64).tiny))

    found: Floats = ((plogp(p) + plogp(q)) / 2 - plogp((p + q) / 2)).sum(axis=1)
    return found


def _alpha(alpha: float, tests: int) -> float:
    if tests < 1:
        raise ValueError(f"tests: at least 1 expected, got {tests!r}")
    return arguments.level("alpha", alpha) / tests


def _share(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"{name}: a share between 0 and 1 expected, got {value!r}")
    return float(value)


def _per_cluster(value: float) -> float:
    return arguments.number("per_cluster", value, minimum=1.0)


def _icc(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"icc: between 0 and 1 expected, got {value!r}")
    return float(value)


def _clusters(value: int) -> int:
    if value < 1:
        raise ValueError(f"clusters: at least 1 expected, got {value!r}")
    return int(value)
