"""Rejection rates of a row's own test over simulated tables; the shift that 80 % of them reject."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.power.design import POWER
from tiltmeter.stats.quantiles import normal_quantile
from tiltmeter.stats.shuffles.dealing import count_bits

TABLES = 3_000  # drawn tables: power is known to a standard error of .007
FIRST_TABLES = 600  # of these, until the shift is known to about a fiftieth
ALL_PATTERNS = 12  # items up to which all signs are taken, as in the test itself
NEAR = 0.02
AROUND = (0.92, 1.0, 1.08)  # four standard errors of what the first tables say
TIE = 1e-9
ROUNDING = 1e-5  # of Σ|d|: sums of signs are single precision
PATTERN_BLOCK = 100_000  # sums of signs in flight at a time

Singles = NDArray[np.float32]
RejectionShare = Callable[[float, int], float]  # shift, tables: the share of tables rejected


def far_enough(rejected: RejectionShare) -> float:
    """Returns a shift that is surely detected: doubled from a fifth of the largest difference until
    it is detected, then once more, since FIRST_TABLES tables estimate power with an error.
    """
    shift = 0.2
    while rejected(shift, FIRST_TABLES) < POWER and shift < 100:
        shift *= 2
    return 2 * shift


def smallest_shift(rejected: RejectionShare, largest: float) -> float | None:
    """Returns the shift that is rejected with 80 % power; None if even ``largest`` is not.

    Bisects with a fifth of the tables, then interpolates between three near shifts with all tables.
    """
    if rejected(largest, FIRST_TABLES) < POWER:
        return None
    low, high = 0.0, largest
    while high - low > NEAR * high:
        middle = (low + high) / 2
        low, high = (low, middle) if rejected(middle, FIRST_TABLES) >= POWER else (middle, high)
    shifts = [min(factor * high, largest) for factor in AROUND]
    shares = np.maximum.accumulate([rejected(shift, TABLES) for shift in shifts])
    return float(np.interp(POWER, shares, shifts))


def flip_rejects(d: Floats, level: float) -> NDArray[np.bool_]:
    """True for each table (tables, items) whose sign flip has p ≤ level."""
    if d.shape[1] <= ALL_PATTERNS:
        return _all_patterns(d) <= level * (1 + TIE)
    squares = np.square(d)
    total = squares.sum(axis=1)
    kurtosis = -2 * np.square(squares).sum(axis=1) / np.maximum(total, TIE * TIE) ** 2
    beyond: NDArray[np.bool_] = np.abs(d.sum(axis=1)) > critical_value(level, kurtosis) * np.sqrt(
        total
    )
    return beyond


def critical_value(level: float, kurtosis: Floats, skewness: Floats | float = 0.0) -> Floats:
    """Returns the two-sided critical value of a standardised sum, by Cornish and Fisher (1938)."""
    z = normal_quantile(1 - level / 2)
    tail = (z**5 - 10 * z**3 + 15 * z) / 72 * np.square(skewness)
    return z + kurtosis * (z**3 - 3 * z) / 24 + tail


def flips_of_shifted(drawn: Floats, level: float) -> RejectionShare:
    """Returns a function: (shift, number of tables) → share of tables rejected by a sign flip over
    all sign patterns. A shift of every item moves a sum by the surplus of + over - signs.
    """
    sums, moves = _sign_sums(drawn), _sign_sums(np.ones((1, drawn.shape[1])))
    scratch = np.empty_like(sums[: max(1, PATTERN_BLOCK // sums.shape[1])])

    def rejection_share(shift: float, tables: int) -> float:
        shifted, p, moved = drawn[:tables] + shift, np.empty(tables), np.float32(shift) * moves
        for start in range(0, tables, len(scratch)):
            part = slice(start, min(start + len(scratch), tables))
            moved_sums = np.add(sums[part], moved, out=scratch[: part.stop - start])
            p[part] = _share_reached(moved_sums, shifted[part])
        return float((p <= level * (1 + TIE)).mean())

    return rejection_share


def _all_patterns(d: Floats) -> Floats:
    """Computes p of the sign flip of each table, over all sign patterns."""
    block = max(1, PATTERN_BLOCK >> d.shape[1] - 1)
    parts = (d[start : start + block] for start in range(0, len(d), block))
    return np.concatenate([_share_reached(_sign_sums(part), part) for part in parts])


def _sign_sums(d: Floats) -> Singles:
    """Returns the sum of each table's items under all sign patterns; the first sign is fixed."""
    singles = d.astype(np.float32)
    sums = np.empty((len(d), 1 << d.shape[1] - 1), np.float32)
    sums[:, :1], width = singles[:, :1], 1
    for item in singles.T[1:, :, None]:
        filled = sums[:, :width]
        np.subtract(filled, item, out=sums[:, width : 2 * width])
        filled += item
        width *= 2
    return sums


def _share_reached(sums: Singles, d: Floats) -> Floats:
    """Returns the share of sums at least as far from 0 as the observed sum. Changes ``sums``."""
    singles = d.astype(np.float32)
    least = np.abs(singles.sum(axis=1)) - ROUNDING * np.abs(singles).sum(axis=1)
    reached = np.packbits(np.abs(sums, out=sums) >= least[:, None], axis=1)
    shares: Floats = count_bits(reached).sum(axis=1, dtype=np.int32) / sums.shape[1]
    return shares


def tested_rejects(rates: Floats, level: float) -> NDArray[np.bool_]:
    """Returns, per table (items, conditions), True if the first condition differs, by the test that
    picks each item's tested condition at random.
    """
    conditions = rates.shape[2]
    adds = (conditions * rates - rates.sum(axis=2, keepdims=True)) / (conditions - 1)
    square = adds * adds
    second = square.mean(axis=2)
    total = np.maximum(second.sum(axis=1), TIE * TIE)
    fourth = (square * square).sum(axis=(1, 2)) / conditions
    kurtosis = (fourth - 3 * np.square(second).sum(axis=1)) / (total * total)
    skewness = (square * adds).sum(axis=(1, 2)) / conditions / total**1.5
    beyond: NDArray[np.bool_] = np.abs(adds[:, :, 0].sum(axis=1)) > critical_value(
        level, kurtosis, skewness
    ) * np.sqrt(total)
    return beyond
