"""A test from an interval: the level at which the interval just touches the null value."""

from __future__ import annotations

import math

from tiltmeter.stats.quantiles import normal_quantile, t_quantile, t_two_sided
from tiltmeter.stats.results import Interval, Test

METHOD = "inversion of the interval"


def invert_interval(*, interval: Interval, null: float) -> Test:
    """Computes the two-sided p of ``null`` from the half of the interval that faces ``null``.

    This half's length is taken as a quantile of Student's t with the interval's df (without df, of
    the normal) times a standard error. So p < 1 - confidence if and only if the interval excludes
    ``null``; for asymmetric limits p itself is approximate. p is None without an interval.
    By hand: value .3, interval [.1, .5] at 95 %, normal: se = .2/1.96 = .102, z = 2.94, p = .0033.
    """
    value, low, high = interval.value, interval.low, interval.high
    if value is None or low is None or high is None:
        return Test(None, None, METHOD)
    half = value - low if value > null else high - value
    if value == null or half <= 0:
        return Test(0.0, 1.0 if value == null else None, METHOD, df=interval.df)
    tail = 1 - (1 - interval.confidence) / 2
    df = interval.df if interval.df is not None and interval.df > 0 else math.inf
    quantile = t_quantile(tail, df) if math.isfinite(df) else normal_quantile(tail)
    statistic = (value - null) / (half / quantile)
    return Test(statistic, t_two_sided(statistic, df), METHOD, df=interval.df)
