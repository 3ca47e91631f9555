"""The distance of two distributions over the same values, and the concentration of one.

Plug-in values are biased upwards in small samples: with six values and 20 outputs per side and no
difference the divergence is .10 bits and its root .25. For values to report, see ``permutation``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats


def entropy(*, counts: ArrayLike, miller_madow: bool = False) -> float:
    """Computes the Shannon entropy of counts, in bits; NaN if all are 0.

    Formula: -Σ p·log2 p; with ``miller_madow`` plus (m-1)/(2n·ln 2), m the number of values that
    occur. Range [0, log2 K]; with the correction it may exceed log2 K. Source: Shannon (1948);
    Miller (1955): the plug-in is too low by about (m-1)/2n nats. By hand: (1, 1, 2): 1.5 bits;
    corrected 1.5 + 2/(8·.6931) = 1.8607. Raises ``ValueError`` for NaN or negative counts.
    """
    c = arguments.counts("counts", counts)
    n = float(c.sum())
    if n == 0:
        return math.nan
    p = c[c > 0] / n
    bits = float(-(p * np.log2(p)).sum()) + 0.0
    return bits + (p.size - 1) / (2 * n * math.log(2)) if miller_madow else bits


def js_divergence(*, first: ArrayLike, second: ArrayLike) -> float:
    """Computes the Jensen–Shannon divergence of two rows of counts over the same values, in bits.

    Formula: H(½P+½Q) - ½H(P) - ½H(Q). Range [0, 1]; 0 if the shares are equal, 1 if no value occurs
    in both. Source: Lin (1991), IEEE Trans. Inf. Theory 37. By hand: (1, 1) and (2, 0): H(¾, ¼) - ½
    = .3113. NaN if a side is empty. ``ValueError``: NaN, negative, shapes that differ.
    """
    a, b = arguments.counts("first", first), arguments.counts("second", second)
    arguments.same_shape("first", a, "second", b)
    if a.sum() == 0 or b.sum() == 0:
        return math.nan
    p, q = a / a.sum(), b / b.sum()
    # As two Kullback-Leibler sums: equal shares give 0 exactly, so that the root of a rounding
    # error is no distance.
    mixed = (p + q) / 2
    return min(max((_kl(p, mixed) + _kl(q, mixed)) / 2, 0.0), 1.0)


def js_distance(*, first: ArrayLike, second: ArrayLike, base: float = 2.0) -> float:
    """Returns the square root of the divergence, a metric; ``base`` 2 (ceiling 1) or ``math.e``.

    With the natural logarithm the ceiling is √ln 2 = .8326: the ``published`` variant of SODA.
    Source: Endres & Schindelin (2003), IEEE Trans. Inf. Theory 49. By hand: (1, 1) and (2, 0):
    √.3113 = .5579 in base 2, √(.3113·.6931) = .4645 in base e. ``ValueError``: a base that is not
    above 1.
    """
    if not base > 1:
        raise ValueError(f"base: a number above 1 expected, got {base!r}")
    return math.sqrt(js_divergence(first=first, second=second) * math.log(2) / math.log(base))


LEAST_SHARE = 1e-10  # of the released code, in place of 0


def clipped_distance(*, first: ArrayLike, second: ArrayLike, of: tuple[int, int]) -> float:
    """Computes √(JS·ln 2) of two sets of counts, with shares clipped as in SODA's code.

    Formula: p = counts / n, replaced by LEAST_SHARE if smaller, divided by their sum. ``of`` holds
    n of both sides, outputs without a value included. Range [0, .8326]; 0 if a side has no value.
    Source: SODA's released code (`published-code`). By hand: (1, 1) and (1, 1): 0; (2, 0) and
    (0, 2) of 2 each: .83255461, 1.4e-9 below √ln 2. ``ValueError``: NaN, negative,
    shapes that differ.
    """
    a, b = arguments.counts("first", first), arguments.counts("second", second)
    arguments.same_shape("first", a, "second", b)
    if a.sum() == 0 or b.sum() == 0:
        return 0.0
    occurs = (a > 0) | (b > 0)
    p, q = (np.maximum(c[occurs] / n, LEAST_SHARE) for c, n in zip((a, b), of, strict=True))
    p, q = p / p.sum(), q / q.sum()
    mixed = (p + q) / 2
    return math.sqrt(max((_kl(p, mixed) + _kl(q, mixed)) / 2, 0.0) * math.log(2))


def chance_adjusted(*, divergence: float, expected: float) -> float:
    """Computes (JS - E₀)/(1 - E₀): 0 on average if labels are shuffled, 1 at full separation.

    ``expected`` is the mean under permutation, in bits. Range (-E₀/(1-E₀), 1]; null value 0.
    Source: the form of Cohen's κ and of the adjusted mutual information, Vinh, Epps & Bailey
    (2010), JMLR 11.
    By hand: .4 with E₀ = .1 → .3/.9 = .3333. NaN if E₀ is 1 (every assignment separates fully).
    """
    if math.isnan(divergence) or math.isnan(expected) or expected > 1 - 1e-12:  # 1 but for rounding
        return math.nan
    return (divergence - expected) / (1 - expected)


def concentration(
    *, counts: ArrayLike, values: int | None = None, miller_madow: bool = False
) -> float:
    """Computes VAC, 1 - H/H_max: 0 if all values are equally frequent, 1 if only one value occurs.

    ``values`` is K, the size of the declared support; default: the number of entries of ``counts``
    (zeros included). H_max = log2 K. If the support is larger than n, VAC cannot be 0. Source:
    section 4 of SODA (PROTOCOLS 3); Pielou (1966), J. Theor. Biol. 13, for evenness H/H_max. By
    hand: (1, 1, 2): 1 - 1.5/1.5850 = .0536. NaN if all counts are 0 or K = 1. ``ValueError``: K
    below the number of values that occur.
    """
    c = arguments.counts("counts", counts)
    support = c.size if values is None else values
    if support < int((c > 0).sum()):
        raise ValueError(f"values: expected at least {int((c > 0).sum())}, got {support}")
    if support < 2:
        return math.nan
    return 1 - entropy(counts=c, miller_madow=miller_madow) / math.log2(support)


def _kl(p: Floats, q: Floats) -> float:
    """Computes the Kullback-Leibler divergence in bits; q must be positive wherever p is."""
    is_seen = p > 0
    return float((p[is_seen] * np.log2(p[is_seen] / q[is_seen])).sum())
