"""Tests if a cue moves some items more than others: whole prompts permuted over an item's sides.

Each prompt may have its own probability, so the answers of a prompt stay together: if no item
differs, the prompts of an item are exchangeable once the mean of its word is subtracted from each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.crossed.design import Crossed
from tiltmeter.stats.results import Test
from tiltmeter.stats.shuffles.resampling import TIE, monte_carlo_p

METHOD = "whole prompts dealt inside items"
LEAST_WORDS = 2  # of each side of an item, below which a prompt cannot be told from its item
FIRST_DRAWS = 199  # if a tenth of these reach the sum that was found, no more are drawn
BLOCK = 4_000_000  # random numbers of a block: 32 MB
TOO_FEW = "fewer than two items with two cue words on each side: no test"


def items_differ(
    design: Crossed, shares: ArrayLike, *, generator: np.random.Generator, draws: int = 999
) -> Test:
    """Tests if items differ in the difference of their two sides.

    shares: each prompt's share, shape (P,). Whole prompts, each less its word's mean, are permuted
    over the sides of their item; statistic: MS(side × item)/MS(word × item). A permutation keeps
    the sum of squares inside an item, so SS(side × item) = Σ_i w_i·(d_i - d̄)² orders permutations
    alike: d is the difference of the item's two sides, w = K₁K₀/(K₁ + K₀) for its words per side.
    The words' means cost the observed sum one degree of freedom (d̄ = 0) but not the permuted sums,
    which are multiplied by C/(C - 1) to compensate. p = (1+b)/(1+B).
    By hand: two items with two words per side and residuals (1, 1 | -1, -1) and (-1, -1 | 1, 1): d
    = ±2, SS 8; permuting an item gives d = 2, -2 or 0 in 1, 1 and 4 of 6; SS are 16 for (2, -2) and
    (-2, 2), else at most 4: p near 2/36. Items with fewer than two words on a side are left out; p
    is None if fewer than two items remain.
    """
    y = arguments.vector("shares", shares)
    counts = design.by_word(np.ones_like(y))
    residuals = y - (design.by_word(y) / counts)[design.word]
    usable = _items(design)
    if usable.size < 2:
        return Test(None, None, METHOD, note=TOO_FEW)
    shapes = _by_shape(design, usable, residuals)
    observed = float(_statistic([(first, values[None]) for first, values in shapes])[0])
    reached, total, stretch = 0, 0, usable.size / (usable.size - 1)
    while total < draws and (total == 0 or reached * 10 <= total):
        size = min(max(1, BLOCK // residuals.size) if total else FIRST_DRAWS, draws - total)
        total += size
        shuffled = _statistic([(first, _deal(values, size, generator)) for first, values in shapes])
        reached += int((shuffled * stretch >= observed * (1 - TIE)).sum())
    p = monte_carlo_p(exceeding=reached, draws=total)
    return Test(observed, p, METHOD, smallest_p=1 / (1 + total), draws=total)


def _items(design: Crossed) -> Codes:
    """Returns the items with at least two prompts on each side."""
    prompts = [
        np.bincount(design.item[design.side == side], minlength=design.items) for side in (0, 1)
    ]
    return np.flatnonzero((prompts[0] >= LEAST_WORDS) & (prompts[1] >= LEAST_WORDS))


def _by_shape(design: Crossed, items: Codes, rest: Floats) -> list[tuple[int, Floats]]:
    """Groups items by their numbers of prompts on the two sides: (number of prompts of the level,
    residuals of shape (items, prompts), the level's first).
    """
    rows: dict[tuple[int, int], list[Floats]] = {}
    for item in items:
        is_of_item = design.item == item
        level, base = rest[is_of_item & (design.side == 1)], rest[is_of_item & (design.side == 0)]
        rows.setdefault((level.size, base.size), []).append(np.concatenate([level, base]))
    return [(first, np.array(values)) for (first, _), values in rows.items()]


def _deal(values: Floats, draws: int, generator: np.random.Generator) -> Floats:
    """Permutes the prompts of each item, shape (draws, items, prompts)."""
    dealt: Floats = generator.permuted(np.broadcast_to(values, (draws, *values.shape)), axis=-1)
    return dealt


def _statistic(shapes: Sequence[tuple[int, Floats]]) -> Floats:
    """Computes SS(side × item) = Σw(d - d̄)² per draw. shapes: (number of the level's prompts,
    residuals with the level's first, shape (draws, items, prompts)).
    """
    gaps, weights = [], []
    for first, values in shapes:
        last = values.shape[-1] - first
        gaps.append(values[..., :first].mean(axis=-1) - values[..., first:].mean(axis=-1))
        weights.append(np.full(values.shape[-2], first * last / (first + last)))
    gap, weight = np.concatenate(gaps, axis=-1), np.concatenate(weights)
    mean = (gap @ weight / weight.sum())[..., None]
    sums: Floats = ((gap - mean) ** 2) @ weight
    return sums
