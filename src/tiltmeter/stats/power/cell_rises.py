"""The smallest rise of one value in one group that a claim over many cells can detect."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.power.design import POWER
from tiltmeter.stats.shuffles.many_cells import LEAST_VARIANCE, gamma_moments
from tiltmeter.stats.special import betainc, gammainccinv

SHARE = 0.15  # of the value elsewhere, from which it rises
MOST_ROWS = 400  # of a side: beyond, rises go with 1/√rows
STEPS = 10  # halvings of the rise: to .001
TABLES = 2_000
# T is the larger of two, so V alone has to be rarer than the level: by simulation of soda's default
SPLIT = 0.6


def value_rise(
    *,
    group: int,
    base: int,
    critical: float,
    parts: int = 1,
    share: float = SHARE,
) -> float | None:
    """Finds the smallest rise of one value from ``share`` in a group whose standard score reaches
    ``critical`` with 80 % power; None if no rise does.

    group, base: outputs of each side in all ``parts`` (objects) together, equal in each part.
    Exact: counts of both sides are binomial. By hand: 1 and 1 output have a variance of 1/4 at one
    hit, too little for a cell: None. ``critical``: see `ManyCells.critical`.
    """
    if min(group, base) < 1:
        return None
    shrink = max(1.0, max(group, base) / MOST_ROWS)
    if shrink > 1:
        mirrored = value_rise(
            group=round(group / shrink),
            base=round(base / shrink),
            critical=critical,
            parts=1,
            share=share,
        )
        return None if mirrored is None else mirrored / math.sqrt(shrink)
    is_far = np.abs(_scores(group, base, parts)) >= critical * (1 - 1e-9)
    chances = is_far @ _binomial(base, share)  # of reaching the score, by the group's count

    def finds(rise: float) -> bool:
        return float(_binomial(group, share + rise) @ chances) >= POWER

    low, high = 0.0, 1.0 - share
    if not finds(high):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if finds(middle) else (middle, high)
    return high


def planned_critical(
    *,
    sizes: tuple[int, int],
    parts: int,
    attributes: tuple[int, int],
    values: int,
    level: float,
    seed: int = 0,
) -> float:
    """Estimates the critical score of the largest cell for a design that was not run yet.

    sizes: outputs of the two sides per object; attributes: (number that one object alone has,
    number that all ``parts`` objects share); values: equally common values per attribute.
    """
    (group, base), (own_number, shared) = sizes, attributes
    generator = np.random.default_rng([seed, group, base, parts, own_number, shared, values])
    rows = group + base
    hits = generator.binomial(rows, 1 / values, (TABLES, parts, (own_number + shared) * values))
    counts = generator.hypergeometric(hits, rows - hits, group)
    deviations = counts - hits * (group / rows)
    variance = hits * (rows - hits) * (group * base / (rows**2 * max(rows - 1, 1)))
    pooled = np.s_[:, :, : shared * values]
    sums, total = deviations[pooled].sum(axis=1), variance[pooled].sum(axis=1)
    scores = _largest(deviations.reshape(TABLES, -1), variance.reshape(TABLES, -1))
    maxima = np.maximum(scores, _largest(sums, total)) if shared else scores
    mean, spread, skewness = gamma_moments(maxima)
    shape = 4 / max(skewness, 1e-3) ** 2
    return float(mean + spread * (gammainccinv(shape, level * SPLIT) - shape) / np.sqrt(shape))


def _largest(off: NDArray[Any], variance: NDArray[Any]) -> Floats:
    scores = np.where(
        variance >= LEAST_VARIANCE, np.abs(off) / np.sqrt(np.maximum(variance, 1e-9)), 0.0
    )
    maxima: Floats = scores.max(axis=1, initial=0.0)
    return maxima


@lru_cache(maxsize=8)  # claims of one run compare groups of the same sizes
def _scores(group: int, base: int, parts: int) -> Floats:
    """Computes standard scores for all pairs of counts, (group + 1, base + 1); 0 if undefined."""
    rows = group + base
    x, y = np.arange(group + 1)[:, None], np.arange(base + 1)[None, :]
    hits = x + y
    degrees = max(rows / parts - 1, 0.5)  # rows of an object, less 1
    variance = group * base * hits * (rows - hits) / (rows**2 * degrees * parts)
    scores: Floats = np.where(
        variance >= LEAST_VARIANCE,
        (x - hits * (group / rows)) / np.sqrt(np.maximum(variance, 1e-9)),
        0.0,
    )
    return scores


@lru_cache(maxsize=256)
def _binomial(n: int, p: float) -> Floats:
    """Returns the binomial probabilities of 0 to n hits."""
    k = np.arange(n)
    p = min(max(p, 0.0), 1.0)
    upper = np.concatenate([[1.0], betainc(k + 1, n - k, p), [0.0]])  # P(hits ≥ 0 … n + 1)
    chances: Floats = upper[:-1] - upper[1:]
    return chances
