"""A test if a cue moves some items more than others: whole prompts dealt over an item's two sides.

Each prompt may have a probability of its own. Answers of one prompt therefore stay together: what
is exchangeable if no item differs is the prompts of an item, once its words' own levels are taken
off.
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

    shares: of each prompt, shape (P,). A prompt's share less its word's mean is dealt, whole, over
    the sides of its item; statistic: MS(side × item)/MS(word × item). Dealing leaves the sum of
    squares inside an item as it is, so that SS(side × item) = Σ_i w_i·(d_i - d̄)² orders the draws
    alike: d the difference of the item's two sides, w = K₁K₀/(K₁ + K₀) of its words. The words'
    means took one degree of freedom from the sum that was found (d̄ = 0) and none from those drawn,
    which are stretched by C/(C - 1). p = (1+b)/(1+B).
    By hand: two items with two words a side and residuals (1, 1 | -1, -1) and (-1, -1 | 1, 1): d =
    ±2, SS 8; a deal of an item gives d = 2, -2 or 0 in 1, 1 and 4 of 6; drawn SS are 16 for (2, -2)
    and (-2, 2), at most 4 else: p near 2/36. Items with fewer than two words on a side are left
    out; p is None with fewer than two others.
    """
    y = arguments.vector("shares", shares)
    counts = design.by_word(np.ones_like(y))
    rest = y - (design.by_word(y) / counts)[design.word]
    kept = _items(design)
    if kept.size < 2:
        return Test(None, None, METHOD, note=TOO_FEW)
    shapes = _by_shape(design, kept, rest)
    observed = float(_statistic([(first, values[None]) for first, values in shapes])[0])
    reached, done, stretch = 0, 0, kept.size / (kept.size - 1)
    while done < draws and (done == 0 or reached * 10 <= done):
        many = min(max(1, BLOCK // rest.size) if done else FIRST_DRAWS, draws - done)
        done += many
        drawn = _statistic([(first, _deal(values, many, generator)) for first, values in shapes])
        reached += int((drawn * stretch >= observed * (1 - TIE)).sum())
    p = monte_carlo_p(exceeding=reached, draws=done)
    return Test(observed, p, METHOD, smallest_p=1 / (1 + done), draws=done)


def _items(design: Crossed) -> Codes:
    """Returns the items with two prompts on each side."""
    prompts = [
        np.bincount(design.item[design.side == side], minlength=design.items) for side in (0, 1)
    ]
    return np.flatnonzero((prompts[0] >= LEAST_WORDS) & (prompts[1] >= LEAST_WORDS))


def _by_shape(design: Crossed, items: Codes, rest: Floats) -> list[tuple[int, Floats]]:
    """Items with equally many prompts on both sides together: (prompts of the level, residuals with
    those in front, shape (items, prompts)).
    """
    rows: dict[tuple[int, int], list[Floats]] = {}
    for item in items:
        of_item = design.item == item
        level, base = rest[of_item & (design.side == 1)], rest[of_item & (design.side == 0)]
        rows.setdefault((level.size, base.size), []).append(np.concatenate([level, base]))
    return [(first, np.array(values)) for (first, _), values in rows.items()]


def _deal(values: Floats, draws: int, generator: np.random.Generator) -> Floats:
    """Returns the prompts of each item in random order, shape (draws, items, prompts)."""
    dealt: Floats = generator.permuted(np.broadcast_to(values, (draws, *values.shape)), axis=-1)
    return dealt


def _statistic(shapes: Sequence[tuple[int, Floats]]) -> Floats:
    """SS(side × item) of each draw, Σw(d - d̄)². shapes: prompts of the level, and residuals with
    those in front, shape (draws, items, prompts).
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
