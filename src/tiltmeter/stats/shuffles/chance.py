"""The divergence expected by chance: the exact mean of the Jensen–Shannon divergence over all
assignments of outputs to groups.

If k of N outputs have a value, k₁, k₂, … of these fall into groups of n₁, n₂, … outputs by a
hypergeometric law. The divergence is a sum over values, and each value's term depends on its own
counts alone, so the mean over all N!/(n₁!·n₂!·…) assignments is a sum over these laws, without
shuffling and without Monte-Carlo error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats


def expected_divergence(*, groups: Sequence[ArrayLike]) -> float:
    """Computes E₀ of one attribute, in bits: the mean over all assignments and pairs of groups.

    Groups: counts of the values, each shape (K,), with one K for all. Range [0, 1]; 0 if all
    outputs have one value. NaN if fewer than two groups have outputs (empty groups are left out).
    Source: the multivariate hypergeometric law; its form follows Vinh, Epps & Bailey (2010) on
    mutual information. By hand: groups (2, 0) and (0, 2): of 6 assignments 2 separate the values (1
    bit) and 4 mix them (0): 1/3. ``ValueError``: negative or fractional counts.
    """
    counts = [arguments.counts(f"group {number}", group) for number, group in enumerate(groups)]
    for number, values in enumerate(counts[1:], 1):
        arguments.same_shape("group 0", counts[0], f"group {number}", values)
    if any((values != np.round(values)).any() for values in counts):
        raise ValueError("groups: whole numbers of outputs expected")
    sizes = [int(values.sum()) for values in counts if values.sum() > 0]
    if len(sizes) < 2:
        return math.nan
    total = sum(sizes)
    totals = [int(k) for k in np.sum(counts, axis=0) if k > 0]
    pairs = list(combinations(sizes, 2))
    parts = [_term_mean(k, *pair, total) for k in totals for pair in pairs]
    return min(max(sum(parts) / len(pairs), 0.0), 1.0)


@lru_cache(maxsize=10_000)
def _term_mean(k: int, first: int, second: int, total: int) -> float:
    """Computes the mean of one value's term, for two groups. k: the outputs with the value."""
    a, b = np.arange(min(k, first) + 1)[:, None], np.arange(min(k, second) + 1)[None, :]
    rest = total - first - second
    possible = (a + b <= k) & (k - a - b <= rest)
    c = np.where(possible, k - a - b, 0)
    log = _choose(first, a) + _choose(second, b) + _choose(rest, c) - _choose(total, np.array(k))
    weight = np.where(possible, np.exp(log), 0.0)
    p, q = a / first, b / second
    m = (p + q) / 2
    bits = (_kl(p, m) + _kl(q, m)) / 2
    return float((weight * bits).sum())


def _choose(n: int, k: NDArray[np.integer]) -> Floats:
    """Returns the logarithm of the binomial coefficient, n choose k."""
    logs = _log_factorials(n)
    log_ways: Floats = logs[n] - logs[k] - logs[np.maximum(n - k, 0)]
    return log_ways


@lru_cache(maxsize=16)
def _log_factorials(n: int) -> Floats:
    """Returns the logarithms of the factorials of all numbers from 0 to n."""
    from tiltmeter.stats.special import gammaln

    logs: Floats = gammaln(np.arange(n + 1) + 1)
    return logs


def _kl(p: Floats, m: Floats) -> Floats:
    """Computes p·log2(p/m); 0 if p is 0."""
    p, m = np.broadcast_arrays(p, m)
    bits: Floats = np.where(
        p > 0, p * np.log2(np.where(p > 0, p, 1.0) / np.where(p > 0, m, 1.0)), 0.0
    )
    return bits
