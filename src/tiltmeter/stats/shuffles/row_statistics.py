"""Statistics of a cell: one number per draw and attribute, from the counts of values by group."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np

from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.shuffles.shuffling import (
    Cell,
    looked_up,
    plogp,
    plogp_of_both,
)

TIE = 1e-9  # bits: rounding of sums of logarithms; what differs by less is a tie
ROUNDING = 1e-12  # bits: below it a divergence is a rounding error, whose root would be none
MOST_LOOKED_UP = 100_000  # pairs of counts of two groups whose bits are worked out beforehand
# the counts of every value in every group → one number per attribute and draw
Statistic = Callable[[Cell, list[Floats]], Floats]


def mean_distance(cell: Cell, counts: list[Floats]) -> Floats:
    """Computes √(JS·ln 2) per draw and attribute, mean over the pairs of groups with values."""
    return mean_divergence(cell, counts, root=True)


def mean_divergence(cell: Cell, counts: list[Floats], root: bool = False) -> Floats:
    """Computes JS divergences in bits per draw and attribute, mean over pairs of groups."""
    return _mean_over_pairs(cell, counts, list(combinations(range(len(counts)), 2)), root)


def base_divergence(cell: Cell, counts: list[Floats]) -> Floats:
    """Computes the mean JS divergence, in bits, of the first group from each other group."""
    return _mean_over_pairs(cell, counts, [(0, j) for j in range(1, len(counts))], root=False)


def _mean_over_pairs(
    cell: Cell, counts: list[Floats], pairs: list[tuple[int, int]], root: bool
) -> Floats:
    outcomes = [cell.outcomes(c, g) for g, c in enumerate(counts)]
    by_pair = []
    for i, j in pairs:
        n, m = cell.sizes[i], cell.sizes[j]
        if cell.complete and (n + 1) * (m + 1) <= max(MOST_LOOKED_UP, counts[i].size):
            terms = _pair_bits(n, m).take((counts[i] * (m + 1) + counts[j]).astype(np.intp))
        else:
            p, q = (cell.shares(counts[g], outcomes[g]) for g in (i, j))
            terms = (plogp(p) + plogp(q)) / 2 - plogp((p + q) / 2)
        bits = _root_or_bits(np.clip(terms @ cell.member, 0.0, 1.0), root)
        is_void = (outcomes[i] == 0) | (outcomes[j] == 0)
        by_pair.append(np.where(is_void, np.nan, bits) if is_void.any() else bits)
    return mean_of(by_pair)


@lru_cache(maxsize=64)
def _pair_bits(n: int, m: int) -> Floats:
    """Tabulates a value's contribution to the JS divergence of two groups, by its counts out of n
    and out of m: shape (n + 1, m + 1).
    """
    p, q = np.arange(n + 1)[:, None] / n, np.arange(m + 1)[None, :] / m
    bits: Floats = (plogp(p) + plogp(q)) / 2 - plogp((p + q) / 2)
    return bits


def _root_or_bits(bits: Floats, root: bool) -> Floats:
    """Returns the distance √(bits·ln 2) if `root`, else the bits."""
    return np.sqrt(np.where(bits < ROUNDING, 0.0, bits) * math.log(2)) if root else bits


def value_divergence(cell: Cell, counts: list[Floats]) -> Floats:
    """Computes, per value, JS divergences of "this value or another", mean over pairs of groups."""
    shares = [cell.shares(c, cell.outcomes(c, g)) for g, c in enumerate(counts)]
    parts = [
        looked_up(plogp_of_both, c, n) if cell.complete else plogp_of_both(p)
        for c, n, p in zip(counts, cell.sizes, shares, strict=True)
    ]
    bits = np.zeros_like(counts[0])
    for i, j in combinations(range(len(counts)), 2):
        bits += np.clip(
            (parts[i] + parts[j]) / 2 - plogp_of_both((shares[i] + shares[j]) / 2), 0.0, 1.0
        )
    return bits / math.comb(len(counts), 2)


def mean_concentration(cell: Cell, counts: list[Floats]) -> Floats:
    """Computes VAC(group) - VAC(base) per draw and attribute, mean over all groups but the first,
    which is the base; NaN if K is 1 or a side is empty.
    """
    by_group = _concentrations(cell, counts)
    difference: Floats = sum(by_group[2:], start=by_group[1]) / (len(by_group) - 1) - by_group[0]
    return difference


def concentration_level(cell: Cell, counts: list[Floats]) -> Floats:
    """Computes VAC per draw and attribute, mean over groups; NaN if K is 1 or a group is empty."""
    by_group = _concentrations(cell, counts)
    mean: Floats = sum(by_group[1:], start=by_group[0]) / len(by_group)
    return mean


def _concentrations(cell: Cell, counts: list[Floats]) -> list[Floats]:
    """Computes the VAC of each group, with Miller and Madow's entropy."""
    by_group = []
    for group, c in enumerate(counts):
        n = cell.outcomes(c, group)
        bias = ((c > 0) @ cell.member - 1) / (2 * np.maximum(n, 1) * math.log(2))
        bits = bias - cell.plogp(c, n, group) @ cell.member
        by_group.append(
            np.where(
                (n == 0) | (cell.supports < 2),
                np.nan,
                1 - bits / np.log2(np.maximum(cell.supports, 2)),
            )
        )
    return by_group


def _pair_table(cell: Cell) -> Floats:
    """Tabulates a value's term in the JS divergence of two groups without missing values."""
    (p, q) = (count / n for count, n in zip(cell.first_counts(), cell.sizes, strict=True))
    bits: Floats = (plogp(p) + plogp(q)) / 2 - plogp((p + q) / 2)
    return bits


def _concentration_table(cell: Cell) -> Floats:
    """Tabulates a value's contribution to the entropy of the first group less that of the second,
    in bits, including the Miller–Madow term of each value that occurs.
    """
    first, second = (
        plogp(count / n) - (count > 0) / (2 * n * math.log(2))
        for count, n in zip(cell.first_counts(), cell.sizes, strict=True)
    )
    return second - first


def _whole_concentration(cell: Cell, sums: Floats) -> Floats:
    n, m = cell.sizes
    bits = sums + (1 / m - 1 / n) / (2 * math.log(2))
    difference: Floats = np.where(
        cell.supports < 2, np.nan, bits / np.log2(np.maximum(cell.supports, 2))
    )
    return difference


# Statistics that are, for two complete groups, a sum over values of a term that depends on the
# count in the first group alone: (table of the terms, statistic from their sum).
SUMS: dict[Statistic, tuple[Callable[[Cell], Floats], Callable[[Cell, Floats], Floats]]] = {
    mean_divergence: (_pair_table, lambda _, bits: bits.clip(0.0, 1.0)),
    mean_distance: (_pair_table, lambda _, bits: _root_or_bits(bits.clip(0.0, 1.0), True)),
    mean_concentration: (_concentration_table, _whole_concentration),
}


def mean_of(parts: Sequence[Floats]) -> Floats:
    """Returns the mean of arrays of one shape, ignoring NaN."""
    total = sum(parts[1:], start=parts[0])
    return mean_over(np.stack(parts, axis=-1)) if np.isnan(total).any() else total / len(parts)


def mean_over(values: Floats) -> Floats:
    """Returns the mean over the last axis, ignoring NaN."""
    missing = np.isnan(values)
    if not missing.any():
        mean: Floats = values.mean(axis=-1)
        return mean
    with np.errstate(invalid="ignore"):
        mean = np.where(missing, 0.0, values).sum(axis=-1) / (~missing).sum(axis=-1)
    return mean
