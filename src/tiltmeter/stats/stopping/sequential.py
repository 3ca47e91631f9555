"""A p of one claim that is valid at whatever look one stops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats import arguments
from tiltmeter.stats.stopping.blocks import OutputBlocks, block_scores
from tiltmeter.stats.stopping.design import ROUNDING, StoppingDesign
from tiltmeter.stats.stopping.paths import ItemPaths, Ticks, flip_scores


def scores_of(data: ItemPaths | OutputBlocks, design: StoppingDesign) -> Ticks:
    """The statistic of every flip (or permutation) at every look so far, in ticks."""
    if data.looks > len(design.looks):
        raise ValueError(f"looks: {data.looks} where the design has {len(design.looks)}")
    return flip_scores(data, design) if isinstance(data, ItemPaths) else block_scores(data, design)


def plain_p(scores: Ticks) -> float:
    """q, the p of the last look by itself: the share of flips that reach the observed one."""
    return float((scores[-1] >= scores[-1, 0]).mean())


def sequential_p(scores: Ticks, design: StoppingDesign) -> tuple[float, ...]:
    """p after each look so far: the smallest level of the design's grid that rejects by then,
    together with every larger one; 1 if none does.

    It falls from look to look, and P(p ≤ a) ≤ a under the null at whatever look is stopped. At a
    level the first look rejects the flips with the largest |S_1|, level·w_1 of all; the second of
    those left the ones with the largest |S_2|, until level·(w_1+w_2) are spent, and so on; ties
    with the first that is left out stay, and what is not spent goes to the next look. Source: the
    group-sequential permutation test with an error-spending function, Lan & DeMets (1983),
    Biometrika 70. By hand: one look, W = 3, D = (1, 2, 3): |S| is 6, 4, 2, 0 over the four flips;
    the level .25 takes one of four, which is the observed: p is the smallest level ≥ .25.
    """
    orders = [np.argsort(-row) for row in scores]  # once a look, not once a level
    stamps = np.zeros(scores.shape[1], dtype=np.int32)
    found = [1.0] * len(scores)
    latest = 0
    for number, level in enumerate(design.levels[::-1].tolist(), 1):
        look = _rejecting_look(scores, orders, design, level, stamps, number)
        if look is None:
            break
        latest = max(latest, look)
        found[latest:] = [level] * (len(scores) - latest)
    return tuple(found)


def _rejecting_look(
    scores: Ticks,
    orders: list[NDArray[np.intp]],
    design: StoppingDesign,
    level: float,
    stamps: NDArray[np.int32],
    number: int,
) -> int | None:
    """The look, from 0, at which the observed flip is rejected at this level. stamps: the number of
    the level that took a flip last.
    """
    flips, spent = scores.shape[1], 0
    for look, (row, order) in enumerate(zip(scores, orders, strict=True)):
        budget = math.floor(level * design.spending[look] * flips + ROUNDING) - spent
        if budget <= 0:
            continue
        first = order[: budget + spent + 1]
        alive = first[stamps[first] != number]
        if len(alive) <= budget:  # nothing is left out
            return look
        least = row[alive[budget]]
        if row[0] > least:
            return look
        taken = alive[row[alive] > least]
        stamps[taken] = number
        spent += len(taken)
    return None


def bonferroni_over_looks(p: Sequence[float], design: StoppingDesign) -> float:
    """The p of a test without flips, or of one that did not stop the run: min over looks of
    q_k/w_k, at most 1.

    p: the plain p of each look so far. By hand: q = (.01, .002), w = (.1, .15): min(.1, .0133).
    """
    values = arguments.vector("p", p)
    if not values.size or values.size > len(design.looks):
        raise ValueError(f"p: one a look expected, at most {len(design.looks)}")
    if values.min() < 0 or values.max() > 1:
        raise ValueError("p: a value outside [0, 1]")
    return min(1.0, float((values / np.array(design.weights[: values.size])).min()))
