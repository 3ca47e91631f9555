"""How often does a comparison of two runs claim a change if each cue word drifts by itself, and all
words together do not?

Both runs ask the same prompts. Between them each word moves by a logit of its own (sd 0 or .4,
mean 0); items, and what an item makes of a side, stay. Of each prompt the second run less the first
is tested, over items and cue words, beside the sign flip over items alone. `difference`: of two
levels; `share`: over the words of both levels together.

    python benchmarks/drifting_words.py            # 4,000 pairs of runs per design
    python benchmarks/drifting_words.py --small    # seconds; tests/analyse/test_compare_words.py

Exit status 1 if a design claims more than .05 + 3 standard errors. The seeds are fixed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tiltmeter.stats import special
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.crossed.design import Crossed
from tiltmeter.stats.crossed.variances import two_way

ALPHA, PAIRS, SMALL_PAIRS, FLIPS, BLOCK = 0.05, 4_000, 300, 999, 200
# words of a level, items, answers of a prompt
SIZES = ((5, 12, 4), (5, 20, 4), (10, 20, 2), (10, 40, 2), (20, 20, 1))


@dataclass(frozen=True)
class Design:
    """Two runs of one audit. words: per level; drift: the sd of the words' own change in logits;
    shift: the change of level 1 in all words.
    """

    kind: str
    words: int
    items: int
    answers: int
    drift: float
    shift: float = 0.0


@dataclass(frozen=True)
class Result:
    """Shares of pairs of runs that claim a change: by items alone, and by items and words; and
    those whose interval over both holds the truth.
    """

    items: float
    both: float
    covered: float


def designs() -> Iterator[Design]:
    for drift in (0.0, 0.4):
        for words, items, answers in (
            (5, 12, 4),
            (5, 20, 4),
            (10, 20, 2),
            (10, 40, 2),
            (20, 20, 1),
        ):
            yield Design("difference", words, items, answers, drift)
            yield Design("share", words, items, answers, drift)
    for words, answers in ((5, 4), (10, 2), (20, 1)):
        yield Design("difference", words, 20, answers, 0.0, shift=0.8)
        yield Design("difference", words, 20, answers, 0.4, shift=0.8)


def places(design: Design) -> Crossed:
    """Every word of both levels in every item; of a share all words are one side."""
    every = [
        (level, word, item)
        for level in (0, 1)
        for word in range(design.words)
        for item in range(design.items)
    ]
    one_side = design.kind == "share"
    return Crossed.of(
        side=[0 if one_side else level for level, _, _ in every],
        word=[level * design.words + word for level, word, _ in every],
        item=[item for _, _, item in every],
        n=[float(design.answers)] * len(every),
    )


def draw(
    design: Design, crossed: Crossed, pairs: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The shares of each prompt in the first run and in the second, each of shape (pairs, P)."""
    level = np.repeat([0, 1], design.words * design.items)
    word = np.repeat(np.arange(2 * design.words), design.items)
    item = np.tile(np.arange(design.items), 2 * design.words)
    size = pairs, len(item)
    logit = rng.normal(0, 1, (pairs, design.items))[:, item]
    logit = logit + rng.normal(0, 0.4, (pairs, 2 * design.words))[:, word]
    logit = logit + rng.normal(0, 0.4, (pairs, 2 * design.items))[:, item * 2 + level]
    logit = logit + rng.normal(0, 0.5, size)
    moved = logit + rng.normal(0, 1, (pairs, 2 * design.words))[:, word] * design.drift
    moved = moved + design.shift * level
    first, second = (
        rng.binomial(design.answers, 1 / (1 + np.exp(-one))) / design.answers
        for one in (logit, moved)
    )
    order = np.lexsort((crossed.item, crossed.word))
    assert (order == np.arange(len(item))).all()  # prompts stand as they were listed
    return first, second


def truth(design: Design) -> float:
    """The change over all words and items, by 400,000 draws per level."""
    rng = np.random.default_rng(7)
    sd = math.sqrt(1 + 0.4**2 + 0.4**2 + 0.5**2)
    changes = []
    for level in (0, 1):
        before = rng.normal(0, sd, 400_000)
        after = before + rng.normal(0, 1, 400_000) * design.drift + design.shift * level
        changes.append(float((1 / (1 + np.exp(-after)) - 1 / (1 + np.exp(-before))).mean()))
    return changes[1] - changes[0] if design.kind == "difference" else sum(changes) / 2


def measure(design: Design, pairs: int, seed: int) -> Result:
    rng = np.random.default_rng(seed)
    crossed, true = places(design), truth(design) if design.shift else 0.0
    counts = np.zeros(3)
    for start in range(0, pairs, BLOCK):
        size = min(BLOCK, pairs - start)
        first, second = draw(design, crossed, size, rng)
        change = second - first
        p, inside = _two_way(crossed, change, true)
        of_items = _sign_flips(crossed, change, rng)
        counts += [
            (of_items < ALPHA).sum(),
            (np.maximum(p, of_items) < ALPHA).sum(),
            inside.sum(),
        ]
    return Result(*(counts / pairs))


def _two_way(crossed: Crossed, change: Floats, true: float) -> tuple[Floats, Floats]:
    """p over items and words, and whether the interval holds the truth."""
    fit = two_way(crossed, change)
    usable = fit.variance > 0
    se = np.sqrt(np.where(usable, fit.variance, 1.0))
    p = np.where(usable, 2 * special.stdtr(fit.df, -np.abs(fit.value) / se), 1.0)
    inside = np.abs(fit.value - true) <= special.stdtrit(fit.df, 0.975) * se
    return p, inside


def _sign_flips(crossed: Crossed, change: Floats, rng: np.random.Generator) -> Floats:
    """p of the sign flip over items, of each item's part in the change."""
    parts = crossed.by_item(change * crossed.sign if crossed.sides == 2 else change)
    signs = rng.choice([-1.0, 1.0], (crossed.items, FLIPS))
    reached = (np.abs(parts @ signs) >= np.abs(parts.sum(axis=1, keepdims=True)) - 1e-12).sum(1)
    return np.asarray((1 + reached) / (1 + FLIPS), dtype=np.float64)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--pairs", type=int, default=0)
    chosen = parser.parse_args(arguments)
    pairs = chosen.pairs or (SMALL_PAIRS if chosen.small else PAIRS)
    bound = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / pairs)
    wrong = False
    for seed, design in enumerate(list(designs())[:: 3 if chosen.small else 1]):
        found = measure(design, pairs, seed)
        about = "a change of .8 logit" if design.shift else "no change"
        print(
            f"{design.kind}: {design.words} words a level, "
            f"{design.items} items x {design.answers}, drift sd {design.drift:g}, {about}: items "
            f"{found.items:.3f} both {found.both:.3f} covered {found.covered:.3f}",
            flush=True,
        )
        wrong |= not design.shift and found.both > bound
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
