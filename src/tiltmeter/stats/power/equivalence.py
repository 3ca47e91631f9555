"""The probability that an interval shows a true difference of 0 to lie inside a margin."""

from __future__ import annotations

import math

from tiltmeter.stats.quantiles import normal_quantile, t_quantile

SURE = 0.90  # share of runs without a difference that are to pass
_INNER = 0.95  # each of the two one-sided tests


def pass_chance(*, se: float, clusters: int, margin: float) -> float:
    """Computes the probability that the 90 % interval lies inside ±margin if the truth is 0.

    Formula: 2·Φ(m/se - t_{.95}(C-1)) - 1, at least 0. Source: Schuirmann (1987), J. Pharmacokinet.
    Biopharm. 15. By hand: m = 3·se, C = ∞: 2·Φ(3 - 1.645) - 1 = 2·.9123 - 1 = .825.
    """
    if clusters < 2 or se <= 0:
        return 0.0
    z = margin / se - t_quantile(_INNER, clusters - 1.0)
    return max(0.0, math.erf(z / math.sqrt(2)))


def clusters_to_pass(*, se: float, clusters: int, margin: float, sure: float = SURE) -> int:
    """Computes the clusters with which a share ``sure`` of runs without a difference pass.

    Formula: C·(se·(z_{.95} + z_{(1+sure)/2})/m)². By hand: se = m/2, C = 100, sure = .9: 100·(3.29/
    2)² = 271.
    """
    ends = normal_quantile(_INNER) + normal_quantile((1 + sure) / 2)
    return math.ceil(clusters * (se * ends / margin) ** 2)
