"""Many tests at once: p-values adjusted within a family that the caller names.

Entries that were not tested (None or NaN) stay None and do not count: the family is what was
tested.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from tiltmeter.stats.arguments import Floats


def benjamini_hochberg(*, p: Iterable[float | None]) -> list[float | None]:
    """Adjusted p-values that control the false discovery rate, in the order given.

    Formula: sorted p_(i)·m/i, made monotone from the largest down, at most 1. Range [0, 1]. Valid
    for
    independent or positively dependent tests. Source: Benjamini & Hochberg (1995), JRSS B 57.
    By hand: (.01, .04, .03, .005) → (.02, .04, .04, .02). ``ValueError``: a p outside [0, 1].
    """
    raw = list(p)
    tested, values = _tested(raw)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * values.size / np.arange(1, values.size + 1)
    return _placed(raw, tested, order, np.minimum.accumulate(scaled[::-1])[::-1])


def holm(*, p: Iterable[float | None]) -> list[float | None]:
    """Adjusted p-values that control the chance of any false rejection, in the order given.

    Formula: sorted p_(i)·(m-i+1), made monotone from the smallest up, at most 1. Range [0, 1].
    Valid
    under any dependence. Source: Holm (1979), Scand. J. Stat. 6.
    By hand: (.01, .04, .03, .005) → (.03, .06, .06, .02). ``ValueError``: a p outside [0, 1].
    """
    raw = list(p)
    tested, values = _tested(raw)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(values.size, 0, -1)
    return _placed(raw, tested, order, np.maximum.accumulate(scaled))


def _tested(p: list[float | None]) -> tuple[list[int], Floats]:
    tested = [i for i, value in enumerate(p) if value is not None and not math.isnan(value)]
    values = np.array([p[i] for i in tested], dtype=np.float64)
    if values.size and (values.min() < 0 or values.max() > 1):
        raise ValueError("p: a value outside [0, 1]")
    return tested, values


def _placed(
    p: list[float | None], tested: list[int], order: np.ndarray, scaled: Floats
) -> list[float | None]:
    adjusted: list[float | None] = [None] * len(p)
    for place, value in zip(order, np.minimum(scaled, 1.0), strict=True):
        adjusted[tested[int(place)]] = float(value)
    return adjusted
