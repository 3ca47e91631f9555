"""The difference that a t test detects, for rows with a standard error but no item differences.

For other rows, ``detectable`` simulates the row's own test.
"""

from __future__ import annotations

import math

from tiltmeter.stats import arguments
from tiltmeter.stats.quantiles import t_quantile


def detectable(
    *, se: float, clusters: int, alpha: float = 0.05, power: float = 0.8, tests: int = 1
) -> float:
    """Computes the difference that a two-sided t(C-1) test with this standard error detects.

    Formula: (t_{1-α/2} + t_power)·se, both at C-1. Unit of ``se``. Source: Bloom (1995), Eval. Rev.
    19.
    By hand: se .05, C = 21: (2.0860 + .8600)·.05 = .1473. NaN for one cluster. Raises
    ``ValueError`` for se < 0.
    """
    se, clusters = arguments.number("se", se), _clusters(clusters)
    if clusters < 2:
        return math.nan
    tail = _alpha(alpha, tests) / 2
    return (
        t_quantile(1 - tail, clusters - 1.0)
        + t_quantile(arguments.level("power", power), clusters - 1.0)
    ) * se


def _alpha(alpha: float, tests: int) -> float:
    if tests < 1:
        raise ValueError(f"tests: at least 1 expected, got {tests!r}")
    return arguments.level("alpha", alpha) / tests


def _clusters(value: int) -> int:
    if value < 1:
        raise ValueError(f"clusters: at least 1 expected, got {value!r}")
    return int(value)
