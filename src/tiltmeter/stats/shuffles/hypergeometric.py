"""Multivariate hypergeometric counts, many draws at once: the number of rows of each kind in a
random group.

numpy draws each count by rejection, at some 800 instructions per count, which dominates the cost of
shuffling identical rows. This module uses tables: the number of rows still needed has few different
values over all draws, so one table has the distribution functions for all of these, and a search in
the table draws a count, in less than half of the instructions.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats import special
from tiltmeter.stats.arguments import Floats

Counts = NDArray[np.int64]
# standard deviations, and as many counts more, beyond which less than 1e-15 of a distribution lies
REACH = 8.0
DENSE = 8  # entries of the table per draw: with more, numpy is quicker
# a uniform number is kept so far from 0 and 1, else its row of the table could be missed by
# rounding
EDGE = 1e-12


def draw_counts(alike: Counts, size: int, draws: int, generator: np.random.Generator) -> Counts:
    """Draws counts of each kind among ``size`` rows without replacement: shape (draws, kinds).

    ``alike``: the number of rows of each kind. The count of a kind is hypergeometric given the
    counts of the kinds before it.
    Source: Johnson, Kotz & Balakrishnan (1997), Discrete Multivariate Distributions, ch. 39;
    inversion: Devroye (1986), Non-Uniform Random Variate Generation, ch. III.
    By hand: alike (2, 1), size 1: (1, 0) in two of three draws, (0, 1) in one.
    """
    rest, need = int(alike.sum()), np.full(draws, size)
    logs = special.gammaln(np.arange(rest + 1) + 1.0)
    counts = np.empty((draws, alike.size), dtype=np.int64)
    for kind, good in enumerate(alike[:-1].tolist()):
        rest -= good
        counts[:, kind] = _counts(good, rest, need, logs, generator)
        need = need - counts[:, kind]
    counts[:, -1] = need
    return counts


def draw_from_left(left: Counts, rows: int, size: int, generator: np.random.Generator) -> Counts:
    """Draws ``size`` of ``rows`` rows with counts ``left`` (draws, kinds); returns their counts."""
    counts, others, need = np.empty_like(left), np.full(len(left), rows), np.full(len(left), size)
    for kind in range(left.shape[1] - 1):
        others -= left[:, kind]
        counts[:, kind] = generator.hypergeometric(left[:, kind], others, need)
        need -= counts[:, kind]
    counts[:, -1] = need
    return counts


def _counts(
    good: int, rest: int, wanted: Counts, logs: Floats, generator: np.random.Generator
) -> Counts:
    """Draws the number of good rows among each wanted number of rows. logs: log n! by n."""
    low, high, share = int(wanted.min()), int(wanted.max()), good / (good + rest)
    reach = REACH * (1 + math.sqrt(high * share * (1 - share)))
    first, last = (
        max(0, low - rest, math.floor(low * share - reach)),
        min(good, high, math.ceil(high * share + reach)),
    )
    count, row = np.arange(first, last + 1), wanted - low
    if (high - low + 1) * count.size > DENSE * wanted.size:
        return generator.hypergeometric(good, rest, wanted)
    # beyond them it cannot be
    of_others = np.pad(logs[: rest + 1] + logs[rest::-1], 1, constant_values=np.inf)
    # wanted × count, 1 more than there are of the others
    others = np.arange(low + 1, high + 2)[:, None] - count
    weights = -of_others.take(others, mode="clip") - (logs[count] + logs[good - count])
    cumulated = np.exp(weights - weights.max(axis=1, keepdims=True)).cumsum(axis=1)
    cumulated = cumulated / cumulated[:, -1:] + np.arange(len(cumulated))[:, None]
    uniform = EDGE + (1 - 2 * EDGE) * generator.random(wanted.size)
    counts: Counts = (
        first + np.searchsorted(cumulated.ravel(), row + uniform, side="right") - row * count.size
    )
    return counts
