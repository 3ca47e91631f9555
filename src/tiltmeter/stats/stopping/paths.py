"""The items of a claim at the looks so far, and the sums over items for all their flips.

A flip of an item exchanges its conditions at *all* looks at once, since under the null hypothesis
the exchangeable unit is an item's whole path. With one condition (a share against a value) the path
is reflected; with two the difference changes its sign; with more the tested condition is random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.stopping.design import StoppingDesign

Ticks = NDArray[np.int32]
# Statistics are compared in ticks, so that sums that differ by rounding are ties. No round number:
# a sum of fractions would lie between two ticks.
TICKS = 987_654_321.1
TABLE_ENTRIES = 256  # sums of a group of items that one drawn byte chooses from


@dataclass(frozen=True, slots=True)
class ItemPaths:
    """The items of a claim up to a look.

    rates: cumulated shares, shape (items, conditions, looks), the tested condition first, NaN
    before the first outcome. noise: their sampling variances, p(1-p)/(n-1), of the same shape, NaN
    for one outcome. null: the value that a single condition is compared with. Items are in the
    order of the frozen plan, including items without an outcome so far.
    """

    rates: Floats
    noise: Floats
    null: float = 0.5

    @property
    def looks(self) -> int:
        """The number of looks so far."""
        return int(self.rates.shape[2])

    def up_to(self, look: int) -> ItemPaths:
        """Returns the paths as of an earlier look, counted from 1."""
        return replace(self, rates=self.rates[:, :, :look], noise=self.noise[:, :, :look])

    @property
    def differences(self) -> Floats:
        """D of each item at the last look: tested rate less the others' mean, or less ``null``."""
        rates = self.rates[:, :, -1]
        gaps = rates[:, 0] - (rates[:, 1:].mean(axis=1) if rates.shape[1] > 1 else self.null)
        known_gaps: Floats = gaps[~np.isnan(gaps)]
        return known_gaps

    @property
    def sampling_variance(self) -> float | None:
        """The mean sampling variance of D over items with two outcomes per condition, or None."""
        others = self.noise.shape[1] - 1
        weights = np.full(others + 1, 1 / max(others, 1) ** 2)
        weights[0] = 1.0
        variances = self.noise[:, :, -1] @ weights
        measured = variances[~np.isnan(variances)]
        return float(measured.mean()) if measured.size else None


def paths_of_counts(*, hits: ArrayLike, outcomes: ArrayLike, null: float = 0.5) -> ItemPaths:
    """Returns the paths of cumulated counts, both of shape (items, conditions, looks).

    By hand: hits 1 then 3 of outcomes 2 then 4: rates .5 and .75, noise .75·.25/3 = .0625.
    ``ValueError``: shapes that differ, hits above outcomes, counts that fall from look to look.
    """
    x, n = np.asarray(hits, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
    if x.ndim != 3 or x.shape != n.shape or not x.shape[1] or not x.shape[2]:
        raise ValueError("hits, outcomes: equal shapes (items, conditions, looks) expected")
    if (x < 0).any() or (x > n + 1e-9).any():
        raise ValueError("hits: each must be at least 0 and at most its number of outcomes")
    if (np.diff(n, axis=2) < 0).any() or (np.diff(x, axis=2) < -1e-9).any():
        raise ValueError("hits, outcomes: cumulative counts, which never fall, expected")
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = x / n
        noise = np.where(n > 1, rates * (1 - rates) / (n - 1), np.nan)
    return ItemPaths(rates, noise, null)


def flip_scores(paths: ItemPaths, design: StoppingDesign) -> Ticks:
    """Computes |S_k| of every flip at every look, in ticks: (looks, flips); flip 0 is the observed.

    S_k is the sum over items of D at look k; an item without D at a look adds 0. Enumerates all
    flips if they are fewer than ``design.draws`` (with two conditions 2^(C-1), since a flip and its
    mirror image have the same |S|), else samples ``draws``, the same for every look and claim.
    """
    adds = _adds(paths)
    items, conditions, looks = adds.shape
    reach = np.abs(adds).max(axis=1, initial=0.0).sum(axis=0)
    adds *= TICKS / np.where(reach > 0, reach, 1.0)
    free_items = items - 1 if conditions == 2 else items
    if free_items * math.log(conditions) < math.log(design.draws):
        first = adds[:1, 0] if conditions == 2 and items else np.zeros((1, looks))
        sums = _all_sums(adds[items - free_items :], first).T
        return np.rint(np.abs(sums)).astype(np.int32)
    scores = np.empty((looks, design.draws), dtype=np.int32)
    for k, sums in enumerate(_drawn_sums(adds, design)):
        scores[k] = np.rint(np.abs(sums, out=sums), out=sums)
    return scores


def _adds(paths: ItemPaths) -> Floats:
    """Computes the contribution of each item to S per choice of the tested condition, in the shape
    of ``rates``; with only one condition there are two columns.
    """
    rates = paths.rates
    conditions = rates.shape[1]
    if conditions == 1:
        d = rates - paths.null
        adds = np.concatenate([d, -d], axis=1)
    else:
        adds = (conditions * rates - rates.sum(axis=1, keepdims=True)) / (conditions - 1)
    is_undefined = np.isnan(adds).any(axis=1, keepdims=True)
    defined: Floats = np.where(is_undefined, 0.0, adds)
    return defined


def _all_sums(adds: Floats, start: Floats) -> Floats:
    """Returns the sums over items for every choice of one condition per item, shape (choices,
    looks); the first choice is condition 0 for all.
    """
    sums = start
    for item in adds:
        sums = (sums[:, None, :] + item).reshape(-1, adds.shape[2])
    return sums


def _drawn_sums(adds: Floats, design: StoppingDesign) -> Iterator[Floats]:
    """Yields, per look, the sums over items for all random choices, (draws,); reuses one buffer."""
    items, conditions, looks = adds.shape
    group = max(1, int(math.log(TABLE_ENTRIES) / math.log(conditions) + 1e-9))
    tables, codes = [], []
    for place, start in enumerate(range(0, items, group)):
        table = _all_sums(adds[start : start + group], np.zeros((1, looks)))
        repeated = conditions**group // len(table)  # a last group of fewer items
        tables.append(np.ascontiguousarray(np.tile(table, (repeated, 1)).T))
        codes.append(_codes(design.seed, design.draws, conditions**group, place))
    sums, part = np.zeros(design.draws), np.empty(design.draws)
    for k in range(looks):
        sums[:] = 0.0
        for table, choices in zip(tables, codes, strict=True):
            sums += table[k].take(choices, out=part, mode="clip")  # "raise" would copy
        yield sums


@lru_cache(maxsize=64)
def _codes(seed: int, draws: int, choices: int, place: int) -> NDArray[np.intp]:
    """Samples a choice for a group of items in each flip; flip 0 is the observed choice."""
    generator = np.random.default_rng([seed, choices, place])
    codes = generator.integers(0, choices, draws, dtype=np.uint8)
    codes[0] = 0
    places = codes.astype(np.intp)  # of bytes, which are a tenth, `take` is ten times as slow
    places.setflags(write=False)
    return places
