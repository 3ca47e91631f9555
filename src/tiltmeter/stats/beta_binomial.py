"""The posterior of a clustered share: each item's share is beta, and its outcomes are binomial.

The posterior uses the counts of all items and not only their variance, so that it has width even
towards an end (0 or 1) that no item has reached; ``rates.clustered_share`` takes its limit on that
side from this posterior.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tiltmeter.stats import special
from tiltmeter.stats.arguments import Floats

MEANS = 400  # cells of the mean share, even on Jeffreys' scale
CORRELATIONS = 20  # cells of the square root of the intra-item correlation
LOOKED_UP = 256  # outcomes per item up to which logarithms are looked up: 16 MB


def posterior_limits(successes: Floats, n: Floats, confidence: float = 0.95) -> tuple[float, float]:
    """Computes equal-tailed limits of the items' mean share μ, from whole counts, shapes (C,).

    Likelihood: beta-binomial with a = μ(1/ρ - 1), b = (1-μ)(1/ρ - 1), ρ the intra-item correlation.
    Prior: Jeffreys' on μ (flat in θ, μ = sin²(πθ/2)), flat on ρ. Grid: 400 cells of θ by 20 of u =
    √ρ with weight u; quantiles from the cumulated weights at the cells' edges, linear in θ. Source:
    the model, Skellam (1948), JRSS B 10; the grid and both priors by simulation,
    docs/explanation/statistics.md. By hand: no outcome at all gives the prior, sin²(π·.025/2) =
    .00154 and .99846; x = (1, 2, 3) of 4 each: [.1982, .8018].
    """
    _, a_plus_b, weight = _grid()
    log = _rising(successes) + _rising(n - successes)[::-1] - _rising_of_sum(n, a_plus_b)
    posterior = np.exp(log - log.max()) * weight
    mass = posterior.sum(axis=1)
    cumulated = np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum()
    tail = (1 - confidence) / 2
    theta = np.interp([tail, 1 - tail], cumulated, np.arange(MEANS + 1) / MEANS)
    low, high = np.sin(math.pi * theta / 2) ** 2
    return float(low), float(high)


@lru_cache(maxsize=1)
def _grid() -> tuple[Floats, Floats, Floats]:
    """Returns (a of shape (means, correlations); a + b; the prior's weights), the last two by
    correlation.

    b is a with the means in reverse order, since the means are symmetric about one half."""
    mean = np.sin(math.pi * (np.arange(MEANS) + 0.5) / MEANS / 2) ** 2
    root = (np.arange(CORRELATIONS) + 0.5) / CORRELATIONS
    a_plus_b = 1 / root**2 - 1
    return mean[:, None] * a_plus_b, a_plus_b, root


@lru_cache(maxsize=LOOKED_UP.bit_length())
def _table(doublings: int) -> Floats:
    """Tabulates log a(a+1)…(a+x-1), shape (x, means · correlations), for x up to 2^doublings."""
    a, most = _grid()[0].ravel(), 1 << doublings
    table = np.zeros((most + 1, a.size))
    for count in range(most):
        table[count + 1] = table[count] + np.log(a + count)
    return table


def _rising(counts: Floats) -> Floats:
    """Sums log a(a+1)…(a+x-1) over items, shape (means, correlations); for b, reverse the means."""
    different, items = np.unique(counts, return_counts=True)
    is_small = different <= LOOKED_UP
    indices = different[is_small].astype(np.intp)
    sums: Floats = items[is_small] @ _table(int(indices.max(initial=1) - 1).bit_length())[indices]
    a = _grid()[0].ravel()
    for count, repeats in zip(different[~is_small], items[~is_small], strict=True):
        sums += repeats * (special.gammaln(a + count) - special.gammaln(a))
    return sums.reshape(MEANS, CORRELATIONS)


def _rising_of_sum(n: Floats, both: Floats) -> Floats:
    """Sums log (a+b)(a+b+1)…(a+b+n-1) over items, shape (correlations,)."""
    sizes, items = np.unique(n, return_counts=True)
    logs: Floats = items @ (special.gammaln(both + sizes[:, None]) - special.gammaln(both))
    return logs
