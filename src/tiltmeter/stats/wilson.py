"""Wilson's score interval of a share."""

from __future__ import annotations

import math

from tiltmeter.stats import arguments
from tiltmeter.stats.quantiles import normal_quantile
from tiltmeter.stats.results import Interval


def wilson(successes: float, n: float, *, confidence: float = 0.95) -> Interval:
    """Returns a share of independent outcomes with Wilson's score interval.

    Formula: (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n), p = successes/n.
    Range [0, 1]. Null value: the share that the protocol names (.5 for two options).
    Source: Wilson (1927), JASA 22; recommended by Brown, Cai & DasGupta (2001), Stat. Sci. 16.
    By hand: 81 of 263 → .3080, [.2553, .3662] (Newcombe 1998, Stat. Med. 17, Table I).
    No outcomes (n = 0) gives None and a note. ``ValueError`` for NaN, negative, successes > n.
    """
    x, size = arguments.number("successes", successes), arguments.number("n", n)
    if x > size:
        raise ValueError(f"successes: at most n = {size:g} expected, got {x:g}")
    confidence = arguments.level("confidence", confidence)
    if size == 0:
        return Interval(None, None, None, "wilson", confidence, n=0.0, note="no outcomes")
    low, high = wilson_limits(x / size, size, normal_quantile(0.5 + confidence / 2))
    se = math.sqrt(x / size * (1 - x / size) / size)
    return Interval(x / size, low, high, "wilson", confidence, n=size, se=se)


def wilson_limits(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Computes Wilson's limits for a share of ``n`` (which may be fractional), at a given quantile.

    They are symmetric about the estimate on the log-odds scale: L·U/((1-L)(1-U)) = (p/(1-p))².
    """
    q = quantile * quantile / n
    half = quantile * math.sqrt((share * (1 - share) + q / 4) / n)
    low, high = (share + q / 2 - half) / (1 + q), (share + q / 2 + half) / (1 + q)
    return (0.0 if share <= 0 else max(low, 0.0)), (1.0 if share >= 1 else min(high, 1.0))
