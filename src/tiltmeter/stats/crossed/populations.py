"""Four populations that an estimate can be about: these items or items like them, crossed with
these cue words or words like them. Each has its own variance, test and interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.crossed.design import Crossed
from tiltmeter.stats.crossed.variances import TwoWay, two_way
from tiltmeter.stats.quantiles import t_quantile, t_two_sided
from tiltmeter.stats.results import UPPER

TWO_WAY = "two-way over items and cue words, t"


@dataclass(frozen=True, slots=True)
class Inference:
    """The test and interval for a population. se, df: of its t; p: None if nothing varies."""

    se: float
    df: float
    p: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Populations:
    """The estimate with its test and interval for each population.

    both: items and cue words are samples; words: these items, sampled words; items: sampled items,
    these words; these: these items and words (None if no prompt has two answers). words_by_side:
    the number of cue words; words_sd: the standard deviation between words of one side, in the unit
    of the estimate (log for a ratio).
    """

    value: float
    both: Inference
    words: Inference
    items: Inference
    these: Inference | None
    words_by_side: tuple[int, ...]
    words_sd: float


def populations(
    design: Crossed,
    shares: ArrayLike,
    *,
    within: ArrayLike | None = None,
    null: float = 0.0,
    ratio: bool = False,
) -> Populations | None:
    """Tests p₁ - p₀ (p of one side, log p₁/p₀ if ``ratio``) against ``null`` for each population.

    shares: y of each prompt, shape (P,); within: the variance of y over the prompt's own answers,
    by default y(1 - y)/(n - 1). Variances: for both V (`variances.two_way`) and its df; for words
    ΣV_w,g, Welch's df; for items V_i, df C - 1; for these Σ(n/N_g)²·within, Satterthwaite's df.
    None if the estimate is not finite (a ratio to 0); with one item, other items are not tested.
    """
    y = arguments.vector("shares", shares)
    fit = two_way(design, y[None, :], ratio=ratio)
    value = float(fit.value[0])
    if not np.isfinite(value):
        return None
    has_several = float(design.items > 1)
    quantities = (value, null)
    per_side = [len(set(design.word[design.side == side])) for side in range(design.sides)]
    return Populations(
        value,
        infer(has_several * float(fit.variance[0]), float(fit.df[0]), *quantities),
        _of_words(fit, *quantities),
        infer(float(fit.parts.items[0]), design.items - 1.0, *quantities),
        _within_prompts(design, y, within, ratio, *quantities),
        tuple(per_side),
        float(fit.words_sd[0]),
    )


def _of_words(fit: TwoWay, value: float, null: float) -> Inference:
    variances, df = fit.parts.words[0], np.maximum(fit.parts.words_df[0], 1.0)
    total, spread = float(variances.sum()), float((variances**2 / df).sum())
    return infer(total, total**2 / spread if spread > 0 else 1.0, value, null)


def _within_prompts(
    design: Crossed,
    shares: Floats,
    within: ArrayLike | None,
    ratio: bool,
    value: float,
    null: float,
) -> Inference | None:
    """Tests with the variance of a prompt's repeated answers; None if no prompt has two answers."""
    has_several = design.n > 1
    if not has_several.any():
        return None
    df = np.maximum(design.n - 1, 1.0)
    spread = shares * (1 - shares) / df if within is None else arguments.counts("within", within)
    scale = np.ones(design.sides)
    if ratio:
        scale = design.by_side(shares * design.n) / design.by_side(design.n)
    parts = (design.weight / scale[design.side]) ** 2 * spread
    total, squares = float(parts.sum()), float((parts**2 / df).sum())
    return infer(total, total**2 / squares if squares > 0 else 1.0, value, null)


def infer(variance: float, df: float, value: float, null: float) -> Inference:
    """Returns the t test of a value against ``null`` with this variance, and its interval."""
    if variance <= 0:
        return Inference(0.0, df, None, None, None)
    se = math.sqrt(variance)
    half = t_quantile(UPPER, df) * se
    return Inference(se, df, t_two_sided((value - null) / se, df), value - half, value + half)
