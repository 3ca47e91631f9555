"""The smallest detectable difference of a design with sampled cue words, before it is run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tiltmeter.stats import special
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.crossed.design import Crossed
from tiltmeter.stats.crossed.variances import two_way
from tiltmeter.stats.power.design import POWER

TABLES, BLOCK, STEPS = 400, 200, 8
WORDS_SD, BY_ITEM_SD, PROMPT_SD, ITEM_SD = 0.3, 0.3, 0.5, 1.0  # logits
SEED = 20261123
MOST_LOGITS = 6.0  # a shift beyond is no difference that anybody would plan for
MOST_PROMPTS = 400  # of a table that is drawn; a larger design is drawn with fewer items
LEAST_ITEMS = 9


@dataclass(frozen=True, slots=True)
class WordsDesign:
    """A design: cue words per side, items, and answers per prompt (at least 1); every word meets
    every item. words_sd: the standard deviation between words of one side, in logits.
    """

    words: int
    items: int
    answers: int
    words_sd: float = WORDS_SD


class Spreads(NamedTuple):
    """Standard deviations in logits: between words, between sides of an item, between prompts."""

    words: float
    by_item: float
    prompt: float


@lru_cache(maxsize=256)
def planned_shift_of_words(design: WordsDesign, *, level: float = 0.05) -> float | None:
    """Returns the smallest difference of two shares near one half that the two-way test detects.

    400 tables are simulated with one seed: items (sd 1 logit), an item's effect on a side (.3),
    prompts (.5) and the words; the test is `variances.two_way` at ``level``. Bisection on the shift
    in logits; the result is the mean difference in shares. A large design is simulated with fewer
    items, more answers and smaller sds, so that the variance of the estimate is the same. Results
    of other simulations, at words' sd .4 (20 items; 3 words × 7, 5 × 4, 10 × 2 answers): .28, .19,
    .15. None if no shift up to 6 logits is detected.
    """
    items = min(design.items, max(LEAST_ITEMS, MOST_PROMPTS // (2 * design.words)))
    if items < 2:
        return None
    ratio = design.items / items
    prompts = [
        (side, word, item)
        for side in (0, 1)
        for word in range(design.words)
        for item in range(items)
    ]
    side, word, item = zip(*prompts, strict=True)
    answers = max(1, round(design.answers * ratio))
    spread = ratio**-0.5
    crossed = Crossed.of(side=side, word=word, item=item, n=[answers] * len(prompts))
    spreads = Spreads(design.words_sd, BY_ITEM_SD * spread, PROMPT_SD * spread)
    low, high = 0.0, MOST_LOGITS
    if _power(crossed, spreads, high, level)[0] < POWER:
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        is_enough = _power(crossed, spreads, middle, level)[0] >= POWER
        low, high = (low, middle) if is_enough else (middle, high)
    return _power(crossed, spreads, high, level)[1]


def words_part(design: WordsDesign) -> float:
    """Returns the fraction of a full run's variance due to words; more answers cannot reduce it.

    By hand: 20 items, words of sd .3, 20 answers per item and side: 3 words .6/(.6 + .09 + .083 +
    4/20) = .62, 10 words .36.
    """
    words = design.items * design.words_sd**2 / design.words
    sampling = 4 / (design.words * design.answers)
    return words / (words + BY_ITEM_SD**2 + PROMPT_SD**2 / design.words + sampling)


def sampling_ratio(design: WordsDesign) -> float:
    """Returns s²/τ² for one answer per item and side: the variance of answers over the variance
    that remains with any number of answers: of words (the design's sd), items by side and prompts.

    Near shares of ½ a logit is a quarter in share, so s² = 1/4, τ² = (C·sd²/K + .3² + .5²/K)/16.
    By hand: 20 items, 10 words of sd .3: .25/((.18 + .09 + .025)/16) = 13.6; 3 words: 5.2.
    """
    remaining = design.items * design.words_sd**2 + PROMPT_SD**2
    return 0.25 * 16 / (remaining / design.words + BY_ITEM_SD**2)


def _power(crossed: Crossed, spreads: Spreads, shift: float, level: float) -> tuple[float, float]:
    """Returns the share of tables in which the shift is detected, and the mean shift in shares."""
    rng = np.random.default_rng(SEED)
    rejected, gaps = 0, 0.0
    for _ in range(0, TABLES, BLOCK):
        p = _chances(crossed, spreads, shift, rng)
        gaps += float(
            (p[:, crossed.side == 1].mean(axis=1) - p[:, crossed.side == 0].mean(1)).sum()
        )
        shares = rng.binomial(crossed.n.astype(np.int64), p) / crossed.n
        fit = two_way(crossed, shares)
        t = np.abs(fit.value) / np.sqrt(np.maximum(fit.variance, 1e-12))
        rejected += int((2 * special.stdtr(fit.df, -t) < level).sum())
    return rejected / TABLES, gaps / TABLES


def _chances(crossed: Crossed, spreads: Spreads, shift: float, rng: np.random.Generator) -> Floats:
    """Samples the probability of a hit in each prompt, shape (BLOCK, prompts)."""
    sides = crossed.item * 2 + crossed.side
    logit = rng.normal(0, ITEM_SD, (BLOCK, crossed.items))[:, crossed.item]
    logit += rng.normal(0, spreads.by_item, (BLOCK, 2 * crossed.items))[:, sides]
    logit += rng.normal(0, spreads.words, (BLOCK, crossed.words))[:, crossed.word]
    logit += rng.normal(0, spreads.prompt, logit.shape) + shift * (crossed.side - 0.5)
    chances: Floats = 1 / (1 + np.exp(-logit))
    return chances
