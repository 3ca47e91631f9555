"""The shift that a row's own test detects, from its observed items."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.stats import arguments, special
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.multiplicity import reach
from tiltmeter.stats.power.design import MOST_OUTPUTS, Design, stretch
from tiltmeter.stats.power.rejections import (
    TABLES,
    TIE,
    RejectionShare,
    critical_value,
    far_enough,
    flips_of_shifted,
    smallest_shift,
    tested_rejects,
)

QUANTILES = 400  # places at which the beta distribution of the items' shares is inverted
DRAW_BLOCK = 100_000  # draws that are summed at a time: so few that one core does it alone


def observed_tested_shift(*, rates: ArrayLike, level: float = 0.05, seed: int = 0) -> float | None:
    """Computes ``observed_shift`` for a tested condition (column 0) and controls, shape (C, K).

    Rates are centred inside each condition and stretched, items are resampled with their conditions
    in random order, and the shift is added to the tested condition; the test is
    ``conditions.tested_condition``. Items without a rate in some condition are left out.
    """
    table = np.asarray(rates, dtype=np.float64)
    table = table[~np.isnan(table).any(axis=1)]
    items, conditions = table.shape
    level = arguments.level("level", level)
    is_possible = reach(items=items, tests=1, alpha=level, conditions=conditions).possible
    if items < 2 or conditions < 2 or not is_possible:
        return None
    centred = (table - table.mean(axis=0)) * stretch(items, 2)
    spread = float(np.abs(centred).max())
    if spread <= TIE:
        return None
    generator = np.random.default_rng([seed, items, conditions])
    resampled = centred[generator.integers(0, items, (TABLES, items))] / spread
    resampled = generator.permuted(resampled, axis=2)
    tested = np.eye(conditions)[0]

    def rejection_share(shift: float, tables: int) -> float:
        return float(tested_rejects(resampled[:tables] + shift * tested, level).mean())

    smallest = smallest_shift(rejection_share, far_enough(rejection_share))
    return None if smallest is None else smallest * spread


def reject_few(centred: Floats, level: float, seed: int) -> RejectionShare:
    """Resamples few items. Returns a function: (shift, number of tables) → share rejected."""
    places, is_negative = _draw_places(centred.size, seed)
    resampled = np.where(is_negative, -centred[places], centred[places])
    return flips_of_shifted(resampled, level)


def reject_many(centred: Floats, level: float, seed: int) -> RejectionShare:
    """Does the same as ``reject_few`` for many items, by counts of each item in each table."""
    items, signed, often = centred.size, *_count_draws(centred.size, seed)
    square = centred * centred
    first, third = _sum_over_draws(signed, np.stack([centred, square * centred], axis=1))
    second, fourth_sums = _sum_over_draws(often, np.stack([square, square * square], axis=1))

    def rejection_share(shift: float, tables: int) -> float:
        a, b, c, d = (moment[:tables] for moment in (first, second, third, fourth_sums))
        s = shift
        squares = b + 2 * s * a + items * s * s
        fourth = d + 4 * s * c + 6 * s * s * b + 4 * s**3 * a + items * s**4
        kurtosis = -2 * fourth / np.maximum(squares, TIE) ** 2
        critical = critical_value(level, kurtosis) * np.sqrt(squares)
        return float((np.abs(a + items * s) > critical).mean())

    return rejection_share


def _draw_places(items: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Samples the item at each position of each table, and whether its sign is flipped."""
    generator = np.random.default_rng([seed, items])
    places = generator.integers(0, items, (TABLES, items))
    return places, generator.integers(0, 2, places.shape, dtype=np.int8).view(np.bool_)


def _sum_over_draws(counts: NDArray[np.int8], values: Floats) -> Floats:
    """Sums values, shape (items, sums), over the items of each table: shape (sums, tables)."""
    block = max(1, DRAW_BLOCK // counts.shape[1])
    parts = [counts[start : start + block] @ values for start in range(0, TABLES, block)]
    return np.concatenate(parts).T


@lru_cache(maxsize=4)
def _count_draws(items: int, seed: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Counts how often each item is in each table, (tables, items): (counts with signs, counts
    without). Cached for other rows with as many items.
    """
    places, is_negative = _draw_places(items, seed)
    places += items * np.arange(TABLES)[:, None]
    often = np.bincount(places.ravel(), minlength=places.size)
    signed = often - 2 * np.bincount(places[is_negative], minlength=places.size)
    shape = places.shape
    return signed.astype(np.int8).reshape(shape), often.astype(np.int8).reshape(shape)


def ranks_of(design: Design, generator: np.random.Generator) -> Floats:
    """Samples uniform ranks of the items' own shares, shape (conditions, tables, items).

    With probability ``correlation`` an item has one rank in all conditions.
    """
    shape = (TABLES, design.items)
    common, is_shared = generator.random(shape), generator.random(shape) < design.correlation
    separate = generator.random((design.conditions, *shape))
    return np.where(is_shared, common, separate)


def rates_of(design: Design, mean: float, ranks: Floats, seed: int, condition: int) -> Floats:
    """Returns the rates of items at a mean share, from the same random numbers for every mean.

    If conditions are uncorrelated, a rank selects a beta-binomial count; else it selects the item's
    share, from which the count is sampled.
    """
    outputs = max(1, round(min(design.outputs, MOST_OUTPUTS)))
    if math.isinf(design.outputs):
        return _shares_at_ranks(mean, design.icc, ranks)
    if design.correlation == 0:
        rates: Floats = np.searchsorted(_below(outputs, mean, design.icc), ranks) / outputs
        return rates
    share = _shares_at_ranks(mean, design.icc, ranks)
    return np.random.default_rng([seed, 2, condition]).binomial(outputs, share) / outputs


def _below(outputs: int, mean: float, icc: float) -> Floats:
    """Computes the beta-binomial P(count ≤ k) for every k below ``outputs``, by mean and icc."""
    mean, counts = min(max(mean, TIE), 1 - TIE), np.arange(outputs + 1)
    if icc <= 0:
        logs = special.xlogy(counts, mean) + special.xlog1py(outputs - counts, -mean)
    else:
        size = 1 / min(icc, 1 - TIE) - 1
        a, b = mean * size, (1 - mean) * size
        logs = special.betaln(a + counts, b + outputs - counts)
    logs = logs - special.betaln(1 + counts, 1 + outputs - counts)
    mass = np.exp(logs - logs.max())
    below: Floats = (np.cumsum(mass) / mass.sum())[:-1]
    return below


def _shares_at_ranks(mean: float, icc: float, ranks: Floats) -> Floats:
    """Returns the items' shares at these ranks: beta with this mean and correlation."""
    if icc <= 0 or not 0 < mean < 1:
        return np.full_like(ranks, min(max(mean, 0.0), 1.0))
    if icc >= 1:
        return (ranks >= 1 - mean).astype(np.float64)
    # denser towards both ends, where the beta distribution is steep
    places = (1 - np.cos(np.pi * np.arange(QUANTILES + 1) / QUANTILES)) / 2
    size = 1 / icc - 1
    shares = special.betaincinv(mean * size, (1 - mean) * size, places)
    at_ranks: Floats = np.interp(ranks, places, shares)
    return at_ranks
