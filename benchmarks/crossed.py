"""How often does the two-way test reject a true null, and how often does its interval hold the
truth, if cue words and items are samples?

Answers are drawn from logits: an item's own (sd 1), a word's, what an item makes of a side, a
prompt's own. The null: the two sides are alike on average over all words and items. Beside the
two-way test stands the sign flip over items alone.

    python benchmarks/crossed.py                   # 4,000 tables per design
    python benchmarks/crossed.py --only crossed --tables 1000
    python benchmarks/crossed.py --small           # seconds; tests/stats/crossed runs it
    python benchmarks/crossed.py --only power

Exit status 1 if the size of a design that is not marked as weak is above .05 + 3 standard errors,
or their mean above .053. The seeds are fixed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiltmeter.stats import special
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.crossed.design import Crossed
from tiltmeter.stats.crossed.variances import two_way

ALPHA, TABLES, SMALL_TABLES, MEAN_BOUND = 0.05, 4_000, 300, 0.053
FAMILY = 8  # claims of one family: the level of a single one is then .05/8
FLIPS, BLOCK = 999, 200
Prompts = list[tuple[int, int, int]]  # side, word of the side, item


@dataclass(frozen=True)
class Design:
    """One kind of table. words: numbers on the two sides (one number: a share against a value);
    prompt sd, words' sd (of each side) and group × item sd are in logits. shape: which word meets
    which item. base: the share at a logit of 0, shift: what is added on side 1.
    """

    name: str
    words: tuple[int, ...]
    items: int
    answers: int
    words_sd: tuple[float, ...] = (0.4, 0.4)
    by_item: float = 0.4
    prompt: float = 0.5
    shape: str = "crossed"
    kind: str = "difference"
    base: float = 0.5
    shift: float = 0.0
    one_word: bool = False
    weak: bool = False


@dataclass(frozen=True)
class Result:
    """Shares of tables: rejected by the sign flip, by the two-way test at .05 and at .05/8, by both
    at .05, and whose interval holds the truth.
    """

    items: float
    two_way: float
    two_way_family: float
    both: float
    covered: float


def prompts(design: Design, rng: np.random.Generator) -> Prompts:
    """Which word meets which item on which side."""
    found: Prompts = []
    for side, words in enumerate(design.words):
        for item in range(design.items):
            found += [(side, word, item) for word in _of_item(design, words, item, side, rng)]
    return found


def _of_item(
    design: Design, words: int, item: int, side: int, rng: np.random.Generator
) -> Sequence[int]:
    if design.shape.startswith("partial"):  # so many words per item, in turn
        per = int(design.shape.removeprefix("partial"))
        first = item * per if side else item * per + item // words
        return [(first + n) % words for n in range(per)]
    if design.shape == "nested":
        return range(item * words, (item + 1) * words)
    if design.shape == "ragged":
        kept = [word for word in range(words) if rng.random() < 0.6]
        return kept or [item % words]
    return range(words)


def crossed_of(design: Design, rng: np.random.Generator) -> Crossed:
    side, word, item = zip(*prompts(design, rng), strict=True)
    answers: Floats = np.full(len(side), float(design.answers))
    if design.shape == "ragged":
        answers = rng.integers(1, 2 * design.answers + 1, len(side)).astype(np.float64)
    return Crossed.of(
        side=side, word=word, item=item, n=answers.tolist(), matched=design.shape == "matched"
    )


def draw(
    design: Design, crossed: Crossed, tables: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Shares of hits (or mean scores) by prompt, and the log odds (means) of each prompt."""
    centre = math.log(design.base / (1 - design.base))
    logit = centre + rng.normal(0, 1, (tables, crossed.items))[:, crossed.item]
    codes = crossed.word * crossed.sides + crossed.side if crossed.matched else crossed.word
    spread = np.array(design.words_sd)[crossed.side]
    own: Floats = rng.normal(0, 1, (tables, int(codes.max()) + 1))
    if design.one_word:  # one word in five carries all of the spread
        own = ((rng.random(own.shape) < 0.2) * 2.5 - 0.5).astype(np.float64)
    logit = logit + own[:, codes] * spread
    sides = crossed.item * crossed.sides + crossed.side
    logit = logit + rng.normal(0, design.by_item, (tables, sides.max() + 1))[:, sides]
    logit = logit + rng.normal(0, design.prompt, logit.shape) + design.shift * crossed.side
    if design.kind == "mean":
        noise = rng.normal(0, 1, logit.shape) / np.sqrt(crossed.n)
        return logit + noise, logit
    p = 1 / (1 + np.exp(-logit))
    return rng.binomial(crossed.n.astype(np.int64), p) / crossed.n, p


def truth(design: Design, seed: int = 7) -> float:
    """The estimate over all words and items of the population, by 400,000 draws per side."""
    rng = np.random.default_rng(seed)
    centre = math.log(design.base / (1 - design.base))
    shares = []
    for side, sd in enumerate(design.words_sd[: len(design.words)]):
        word: Floats = rng.normal(0, 1, 400_000)
        if design.one_word:
            word = ((rng.random(400_000) < 0.2) * 2.5 - 0.5).astype(np.float64)
        rest = math.sqrt(1 + design.by_item**2 + design.prompt**2)
        logit = centre + word * sd + rng.normal(0, rest, 400_000) + design.shift * side
        mean = logit if design.kind == "mean" else 1 / (1 + np.exp(-logit))
        shares.append(float(mean.mean()))
    if design.kind == "ratio":
        return math.log(shares[1] / shares[0])
    if len(shares) == 1:
        return shares[0]
    return shares[1] - shares[0]


def _null(design: Design) -> float:
    """The value under the null; the words' unlike spreads, if any, shift it off 0."""
    alike = len(set(design.words_sd)) == 1 and not design.shift
    return 0.0 if alike and len(design.words) == 2 else truth(design)


def measure(design: Design, tables: int, seed: int) -> Result:
    rng = np.random.default_rng(seed)
    crossed = crossed_of(design, rng)
    true = _null(design)
    null = 0.0 if design.shift else true
    counts = np.zeros(5)
    for start in range(0, tables, BLOCK):
        size = min(BLOCK, tables - start)
        shares, _ = draw(design, crossed, size, rng)
        fit = two_way(crossed, shares, ratio=design.kind == "ratio")
        usable = np.isfinite(fit.value) & (fit.variance > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(fit.value - null) / np.sqrt(fit.variance)
            away = np.abs(fit.value - true) / np.sqrt(fit.variance)
        p = np.where(usable, 2 * special.stdtr(fit.df, -np.where(usable, t, 0)), 1.0)
        inside = np.where(usable, away <= special.stdtrit(fit.df, 0.975), True)
        flipped = _sign_flips(crossed, shares, null, rng) < ALPHA
        counts += [
            flipped.sum(),
            (p < ALPHA).sum(),
            (p < ALPHA / FAMILY).sum(),
            (flipped & (p < ALPHA)).sum(),
            inside.sum(),
        ]
    return Result(*(counts / tables))


def _sign_flips(crossed: Crossed, shares: Floats, null: float, rng: np.random.Generator) -> Floats:
    """p of the sign flip over items, as the item test of a report."""
    hits = shares * crossed.n
    totals = crossed.by_side(crossed.n)
    if crossed.sides == 1:
        parts = crossed.by_item(hits - null * crossed.n)
    else:
        common = hits.sum(axis=1, keepdims=True) / crossed.n.sum()
        rest = (hits - common * crossed.n) * crossed.sign / totals[crossed.side]
        parts = crossed.by_item(rest)
    signs = rng.choice([-1.0, 1.0], (crossed.items, FLIPS))
    reached = (np.abs(parts @ signs) >= np.abs(parts.sum(axis=1, keepdims=True)) - 1e-12).sum(1)
    return np.asarray((1 + reached) / (1 + FLIPS), dtype=np.float64)


def crossed_designs(words: int, number: int = 30) -> Iterator[Design]:
    """So many designs over the whole range of items, answers and spreads."""
    rng = np.random.default_rng(words)
    for n in range(number):
        words_sd = float(rng.choice([0, 0.2, 0.4, 0.8]))
        yield Design(
            f"crossed {words} words, {n}",
            (words, words),
            int(rng.choice([5, 10, 20, 40, 100])),
            int(rng.choice([1, 2, 3, 5])),
            (words_sd, words_sd),
            float(rng.choice([0, 0.4, 0.8])),
            float(rng.choice([0, 0.5, 1.0])),
        )


def other_designs() -> Iterator[Design]:
    """Nested, partial, ragged and unequal designs, ratios, means, matched sets, one side."""
    plain = Design("", (5, 5), 20, 2, (0.4, 0.4))
    for words_sd in (0.0, 0.4, 0.8):
        both = (words_sd, words_sd)
        named = replace(plain, words_sd=both)
        tag = f", words sd {words_sd}"
        yield replace(named, name=f"3 of 20 words an item{tag}", words=(20, 20), shape="partial3")
        yield replace(
            named, name=f"1 of 10 words an item{tag}", words=(10, 10), items=40, shape="partial1"
        )
        yield replace(
            named,
            name=f"1 of 5 words an item{tag}",
            items=20,
            answers=5,
            shape="partial1",
            weak=True,
        )
        yield replace(named, name=f"nested{tag}", words=(3, 3), shape="nested")
        yield replace(named, name=f"ragged{tag}", shape="ragged")
        yield replace(named, name=f"ratio{tag}", kind="ratio")
        yield replace(named, name=f"ratio, share .2{tag}", kind="ratio", base=0.2)
        yield replace(named, name=f"means{tag}", kind="mean")
        yield replace(named, name=f"matched sets{tag}", shape="matched")
        yield replace(named, name=f"10 matched sets{tag}", words=(10, 10), shape="matched")
        yield replace(named, name=f"rare{tag}", base=0.05)
        yield replace(named, name=f"3 words against 10{tag}", words=(3, 10))
        yield replace(named, name=f"5 words against 10{tag}", words=(5, 10))
        yield replace(
            named, name=f"share, 5 words{tag}", words=(5,), words_sd=(words_sd,), weak=True
        )
        yield replace(
            named, name=f"share, 20 words{tag}", words=(20,), words_sd=(words_sd,), weak=True
        )
    yield replace(plain, name="one word in five carries all", one_word=True, words_sd=(0.8, 0.8))
    yield replace(
        plain,
        name="one word in five of ten carries all",
        words=(10, 10),
        one_word=True,
        words_sd=(0.8, 0.8),
    )
    yield replace(
        plain, name="3 at sd 1.2 against 10 at .2", words=(3, 10), words_sd=(1.2, 0.2), weak=True
    )


def power_designs() -> Iterator[Design]:
    """+.8 logit, 12 items × 20 answers a side."""
    for words, answers in ((3, 7), (5, 4), (10, 2), (20, 1)):
        for words_sd in (0.0, 0.2, 0.4, 0.8):
            spread = (0.4, 0.5) if words_sd else (0.0, 0.0)
            yield Design(
                f"power {words} × {answers}, words sd {words_sd}",
                (words, words),
                12,
                answers,
                (words_sd, words_sd),
                *spread,
                shift=0.8,
            )


def kinds(chosen: str, small: bool) -> Iterator[Design]:
    if chosen in ("", "crossed"):
        for words in (3, 10) if small else (2, 3, 5, 10, 20):
            yield from crossed_designs(words, 4 if small else 30)
    if chosen in ("", "other"):
        yield from list(other_designs())[:: 6 if small else 1]
    if chosen == "power":
        yield from power_designs()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", choices=["", "crossed", "other", "power"], default="")
    parser.add_argument("--tables", type=int, default=0)
    chosen = parser.parse_args(arguments)
    tables = chosen.tables or (SMALL_TABLES if chosen.small else TABLES)
    bound = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / tables)
    strong, wrong = [], False
    for seed, design in enumerate(kinds(chosen.only, chosen.small)):
        found = measure(design, tables, seed)
        label = "" if not design.weak else " (weak)"
        print(
            f"{design.name}{label}: C {design.items} n {design.answers} words "
            f"{design.words_sd[0]:g} item {design.by_item:g} prompt {design.prompt:g}: items "
            f"{found.items:.3f} two-way {found.two_way:.3f} (.05/8 {found.two_way_family:.4f}) "
            f"larger p {found.both:.3f} covered {found.covered:.3f}",
            flush=True,
        )
        if not design.shift and not design.weak and min(design.words) > 2:
            strong.append(found.both)
            wrong |= found.both > bound
    if strong:
        print(f"all: mean {np.mean(strong):.4f}, largest {max(strong):.4f} (bound {bound:.4f})")
    return int(wrong or (bool(strong) and float(np.mean(strong)) > MEAN_BOUND))


if __name__ == "__main__":
    sys.exit(main())
