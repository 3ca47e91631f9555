"""A p of one claim that is valid whichever look the run stops at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats import arguments
from tiltmeter.stats.stopping.blocks import (
    CellBlocks,
    OutputBlocks,
    block_scores,
    cell_scores,
)
from tiltmeter.stats.stopping.design import ROUNDING, StoppingDesign
from tiltmeter.stats.stopping.paths import ItemPaths, Ticks, flip_scores


def scores_of(data: ItemPaths | OutputBlocks | CellBlocks, design: StoppingDesign) -> Ticks:
    """Returns the statistic of every flip (or permutation) at every look so far, in ticks."""
    if data.looks > len(design.looks):
        raise ValueError(f"data: {data.looks} looks, but the design has only {len(design.looks)}")
    if isinstance(data, CellBlocks):
        return cell_scores(data, design)
    return flip_scores(data, design) if isinstance(data, ItemPaths) else block_scores(data, design)


def plain_p(scores: Ticks) -> float:
    """Computes q, the last look's p alone: the share of flips that reach the observed statistic."""
    return float(np.count_nonzero(scores[-1] >= scores[-1, 0]) / scores.shape[1])


def sequential_p(scores: Ticks, design: StoppingDesign, largest: float = 1.0) -> tuple[float, ...]:
    """Computes p after each look so far: the smallest level of the design's grid that rejects by
    then, together with every larger level; 1 if none does. Levels above ``largest`` are not tried:
    a larger p becomes 1.

    p falls from look to look, and P(p ≤ a) ≤ a under the null at whichever look the run stops. For
    one level, the first look rejects the flips with the largest |S_1|, level·w_1 of all; the second
    look rejects, of the remaining flips, those with the largest |S_2|, until level·(w_1+w_2) are
    spent, and so on; flips tied with the first flip not rejected stay, and the unspent rest goes to
    the next look. Source: the group-sequential permutation test with an error-spending function,
    Lan & DeMets (1983), Biometrika 70. By hand: one look, W = 3, D = (1, 2, 3): |S| is 6, 4, 2, 0
    over the four flips; level .25 takes one of four, the observed: p is the smallest level ≥ .25.
    """
    flips, looks = scores.shape[1], len(scores)
    tails = np.count_nonzero(scores >= scores[:, :1], axis=1) / flips
    # a level rejects by look k for sure where what is new there is enough by itself, and not at
    # all where all that is spent until then would not do; between these flips are removed
    sufficient = np.minimum.accumulate((tails + 1 / flips) / np.array(design.weights[:looks]))
    necessary = np.minimum.accumulate(tails / np.array(design.spending[:looks]))
    p, latest = [1.0] * looks, 0
    race: _Race | None = None
    for level in design.levels[design.levels <= largest][::-1].tolist():
        is_sure, is_possible = level >= sufficient, level * (1 + ROUNDING) >= necessary
        if not is_possible[-1]:
            break
        look: int | None = int(is_sure.argmax())
        if (is_possible & ~is_sure).any():
            race = race or _Race.of(scores, design, level)
            look = race.rejecting_look(level)
        if look is None:
            break
        latest = max(latest, look)
        p[latest:] = [level] * (looks - latest)
    return tuple(p)


@dataclass(frozen=True, slots=True)
class _Race:
    """The flips that any level up to the largest could reject, the observed first, and their order
    at each look, sorted once for all levels. stamps: per flip, the last level that rejected it.
    """

    scores: Ticks
    orders: list[NDArray[np.intp]]
    stamps: NDArray[np.float64]
    spending: tuple[float, ...]
    flips: int

    @classmethod
    def of(cls, scores: Ticks, design: StoppingDesign, level: float) -> _Race:
        flips = scores.shape[1]
        is_selected = np.zeros(flips, dtype=np.bool_)
        is_selected[0] = True
        for row, share in zip(scores, design.spending, strict=False):
            place = max(flips - math.floor(level * share * flips) - 2, 0)
            is_selected |= row >= np.partition(row, place)[place]
        top = scores[:, is_selected]
        orders = [np.argsort(-row) for row in top]
        return cls(top, orders, np.full(top.shape[1], math.nan), design.spending, flips)

    def rejecting_look(self, level: float) -> int | None:
        """Returns the first look, from 0, that rejects the observed flip at this level, or None."""
        spent = 0
        for look, (row, order) in enumerate(zip(self.scores, self.orders, strict=True)):
            budget = math.floor(level * self.spending[look] * self.flips + ROUNDING) - spent
            if budget <= 0:
                continue
            first = order[: budget + spent + 1]
            alive = first[self.stamps[first] != level]
            if len(alive) <= budget:  # nothing is left out
                return look
            least = row[alive[budget]]
            if row[0] > least:
                return look
            rejected = alive[row[alive] > least]
            self.stamps[rejected] = level
            spent += len(rejected)
        return None


def bonferroni_over_looks(p: Sequence[float], design: StoppingDesign) -> float:
    """Returns the p of a test without flips, or of one that did not stop the run: min over looks of
    q_k/w_k, at most 1.

    p: the plain p of each look so far. By hand: q = (.01, .002), w = (.1, .15): min(.1, .0133).
    """
    values = arguments.vector("p", p)
    if not values.size or values.size > len(design.looks):
        raise ValueError(f"p: one value per look expected, at most {len(design.looks)}")
    if values.min() < 0 or values.max() > 1:
        raise ValueError("p: numbers from 0 to 1 expected")
    return min(1.0, float((values / np.array(design.weights[: values.size])).min()))
