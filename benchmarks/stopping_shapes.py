"""What benchmarks/stopping.py simulates: families of claims with known truths, one run at a time.

Words are drawn anew for each run from cells whose words have true shares that are known: of GRAMVIS
drawn once from a beta-binomial posterior of its authors' counts for de, fr and it (where they lie
beside the checkout), of the other protocols made up. The names are explained in stopping.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiltmeter.stats.stopping.blocks import OutputBlocks
from tiltmeter.stats.stopping.design import StoppingDesign, design_of
from tiltmeter.stats.stopping.paths import ItemPaths, paths_of_counts

COUNTS = Path(__file__).parents[2] / "shared" / "data" / "gramvis_published_counts_de_fr_it.csv"
SEED = 20_261_122
RUNS, FEW_RUNS = 2_000, 500
WEAK = 0.35
SENSITIVITY, SPECIFICITY = 0.85, 0.92  # of a judge, where labels err
UNANSWERED = (0.3, 0.1)  # of pictures, tested condition and controls, at most
TRUTHS = ("null", "half", "truth", "weak")

Floats = NDArray[np.float64]
Data = ItemPaths | OutputBlocks


@dataclass(frozen=True)
class Population:
    """A claim's true shares, shape (words, conditions), of which a run draws ``words``."""

    shares: Floats
    words: int

    def weakened(self, factor: float) -> Population:
        """Every difference between conditions times a factor."""
        mean = self.shares.mean(axis=1, keepdims=True)
        return replace(self, shares=mean + factor * (self.shares - mean))


@dataclass(frozen=True)
class Drawn:
    """What one run would say at all looks: the data of each claim, and whether its null is true."""

    claims: list[Data]
    truths: list[float]  # the difference that each claim estimates; NaN where none is estimated


@dataclass(frozen=True)
class Shape:
    """A family of claims. draw: one run under a truth; uses: which claims use which conditions;
    sizes: calls of one round of each; together: all claims end together.
    """

    name: str
    design: StoppingDesign
    draw: Callable[[str, np.random.Generator], Drawn]
    uses: NDArray[np.bool_]
    sizes: Floats
    truths: tuple[str, ...] = TRUTHS
    together: bool = False
    runs: int = RUNS


def published_cells() -> dict[tuple[str, str, str], Floats]:
    """The true shares "male" of each model, language and gender: (words, native/English/Chinese),
    drawn once from the posterior of a beta-binomial of each cell and condition.
    """
    rng = np.random.default_rng([SEED, 1])
    cells = {}
    frame = pl.read_csv(COUNTS)
    for key, part in frame.group_by("T2I_Model", "Language", "Grammar_Gender", maintain_order=True):
        columns = []
        for condition in ("Native", "English", "Chinese"):
            male, female = (
                part[f"Overall_{condition}_{side}"].to_numpy().astype(float)
                for side in ("Male", "Female")
            )
            columns.append(_posterior_shares(male, male + female, rng))
        cells[key[0], key[1], key[2]] = np.stack(columns, axis=1)
    return cells


def _posterior_shares(hits: Floats, n: Floats, rng: np.random.Generator) -> Floats:
    """One draw of each word's share: beta prior fitted by moments to the cell."""
    known = n > 1
    p = hits[known] / n[known]
    mean = float(np.clip(p.mean(), 0.02, 0.98))
    noise = float((mean * (1 - mean) / n[known]).mean())
    between = float(np.clip((p.var(ddof=1) - noise) / (mean * (1 - mean) - noise), 0.02, 0.95))
    size = 1 / between - 1
    return rng.beta(mean * size + hits, (1 - mean) * size + n - hits)


def cumulated(
    shares: Floats, looks: tuple[int, ...], rng: np.random.Generator, variant: str
) -> tuple[Floats, Floats]:
    """Cumulated hits and outcomes, shape (items, conditions, looks), of shares by item."""
    steps = np.diff(looks, prepend=0)
    n = np.broadcast_to(steps, (*shares.shape, steps.size))
    if variant == "votes":
        shares = shares * SENSITIVITY + (1 - shares) * (1 - SPECIFICITY)
    if variant == "unequal":
        most = np.where(np.arange(shares.shape[1]) == 0, *UNANSWERED)
        n = rng.binomial(n, (1 - most * rng.random((len(shares), 1)))[:, :, None])
    hits = rng.binomial(n, shares[:, :, None])
    return hits.cumsum(axis=2).astype(float), n.cumsum(axis=2).astype(float)


def draw_cell(
    population: Population, truth: str, looks: tuple[int, ...], rng: np.random.Generator
) -> ItemPaths:
    """A cell of one run: its words drawn anew, and what they say."""
    shares = population.shares[rng.integers(0, len(population.shares), population.words)]
    is_null = truth in ("null", "votes", "unequal")
    if is_null:
        shares = rng.permuted(shares, axis=1)
    hits, n = cumulated(shares, looks, rng, truth)
    return paths_of_counts(hits=hits, outcomes=n)


def _of_truth(populations: list[Population], truth: str) -> list[tuple[Population, str]]:
    """Each cell with its own truth: of "half" every other is null."""
    if truth == "weak":
        return [(one.weakened(WEAK), "truth") for one in populations]
    if truth == "half":
        return [(one, "null" if n % 2 else "truth") for n, one in enumerate(populations)]
    return [(one, truth) for one in populations]


def _pair(paths: ItemPaths, control: int) -> ItemPaths:
    use = [0, control]
    return ItemPaths(paths.rates[:, use], paths.noise[:, use])


def contrast_shape(name: str, populations: list[Population], claims: int) -> Shape:
    """Two contrasts a cell, with English and with Chinese, each of two conditions."""
    design = design_of(samples=16, claims=claims)

    def draw(truth: str, rng: np.random.Generator) -> Drawn:
        claims: list[Data] = []
        truths = []
        for one, own in _of_truth(populations, truth):
            paths, mean = draw_cell(one, own, design.looks, rng), one.shares.mean(axis=0)
            for control in (1, 2):
                claims.append(_pair(paths, control))
                truths.append(0.0 if own != "truth" else float(mean[0] - mean[control]))
        return Drawn(claims, truths)

    uses = np.zeros((2 * len(populations), 3 * len(populations)), dtype=bool)
    for cell, control in product(range(len(populations)), (1, 2)):
        uses[2 * cell + control - 1, [3 * cell, 3 * cell + control]] = True
    sizes = np.repeat([float(one.words) for one in populations], 3)
    truths = (*TRUTHS, "votes", "unequal") if name == "contrasts" else ("null", "half", "truth")
    return Shape(name, design, draw, uses, sizes, truths)


def contrasts() -> Shape:
    """The 36 contrasts as published."""
    cells = [Population(shares, len(shares)) for shares in published_cells().values()]
    return contrast_shape("contrasts", cells, 2 * len(cells))


def many_words(words: int) -> Shape:
    """Twelve contrasts: each model and gender, the words of the three languages together."""
    pooled: dict[tuple[str, str], list[Floats]] = {}
    for (model, _, gender), shares in published_cells().items():
        pooled.setdefault((model, gender), []).append(shares)
    cells = [Population(np.concatenate(parts), words) for parts in pooled.values()]
    return contrast_shape(str(words), cells, 2 * len(cells))


def joint_claims() -> Shape:
    """A claim a model and language, both genders together, and one over all."""
    strata: dict[tuple[str, str], list[Floats]] = {}
    for (model, language, gender), shares in published_cells().items():
        own = shares if gender in ("male", "masculine") else 1 - shares
        strata.setdefault((model, language), []).append(own)
    cells = [Population(np.concatenate(parts), sum(map(len, parts))) for parts in strata.values()]
    languages = [language for _, language in strata]
    design = design_of(samples=16, claims=len(cells) + 1)

    def draw(truth: str, rng: np.random.Generator) -> Drawn:
        paths, truths = [], []
        for one, own in _of_truth(cells, truth):
            paths.append(draw_cell(one, own, design.looks, rng))
            mean = one.shares.mean(axis=0)
            truths.append(0.0 if own != "truth" else float(mean[0] - mean[1:].mean()))
        overall = _average_by_word(paths, languages)
        truths.append(float(np.average(truths, weights=[one.words for one in cells])))
        return Drawn([*paths, overall], truths)

    uses = np.concatenate([np.kron(np.eye(len(cells)), np.ones(3)), np.ones((1, 3 * len(cells)))])
    sizes = np.repeat([float(one.words) for one in cells], 3)
    return Shape("claims", design, draw, uses > 0, sizes)


def _average_by_word(paths: list[ItemPaths], languages: list[str]) -> ItemPaths:
    """One item a word, averaged over the models."""
    rates, noise = [], []
    for language in dict.fromkeys(languages):
        own = [one for one, name in zip(paths, languages, strict=True) if name == language]
        rates.append(np.mean([one.rates for one in own], axis=0))
        noise.append(np.mean([one.noise for one in own], axis=0) / len(own))
    return ItemPaths(np.concatenate(rates), np.concatenate(noise))


def roles_shape(name: str, groups: int, words: int, spread: float) -> Shape:
    """Words whose log odds of "she" spread about the truth of 2, or of 1 where it is weak: one
    claim, or one a class. Of a spread of 2 these are shares of .78 and .65 over words.
    """
    design = StoppingDesign((2, 4, 10), (0.2, 0.3, 0.5), (0.05, 0.10), groups)
    logits = {"null": 0.0, "weak": 1.0, "truth": 2.0}

    def draw(truth: str, rng: np.random.Generator) -> Drawn:
        claims: list[Data] = []
        truths = []
        for group in range(groups):
            own = ("null" if group % 2 else "truth") if truth == "half" else truth
            shares = 1 / (1 + np.exp(-rng.normal(logits[own], spread, (words, 1))))
            hits, n = cumulated(shares, design.looks, rng, own)
            claims.append(paths_of_counts(hits=hits, outcomes=n))
            nodes, mass = np.polynomial.hermite_e.hermegauss(40)
            mean = (mass / (1 + np.exp(-logits[own] - spread * nodes))).sum() / mass.sum()
            truths.append(0.0 if own == "null" else float(mean) - 0.5)
        return Drawn(claims, truths)

    truths = TRUTHS if groups > 1 else ("null", "truth", "weak")
    return Shape(
        name, design, draw, np.eye(groups, dtype=bool), np.full(groups, 1.0 * words), truths
    )


def words_shape() -> Shape:
    """Nine classes of a list: ten picks of each of twelve occupations and genders a round."""
    design = design_of(samples=9, claims=9, balanced=3)
    base = np.random.default_rng([SEED, 2]).dirichlet(np.full(9, 3.0), 12)

    def draw(truth: str, rng: np.random.Generator) -> Drawn:
        tilt = {"null": 0.0, "truth": 1.2, "weak": 0.5}[truth]
        away = np.array([1, -1, 1, -1, 1, -1, 0, 0, 0])
        shares = np.stack([base * np.exp(side * tilt * away) for side in (0.5, -0.5)], axis=1)
        shares = shares / shares.sum(axis=2, keepdims=True)
        picks = rng.multinomial(10, shares[:, :, None, :], size=(12, 2, design.looks[-1]))
        at = [look - 1 for look in design.looks]
        hits = picks.cumsum(axis=2)[:, :, at].astype(float)
        n = hits.sum(axis=3)
        mean = shares.mean(axis=0)
        return Drawn(
            [paths_of_counts(hits=hits[..., c], outcomes=n) for c in range(9)],
            [float(mean[0, c] - mean[1, c]) for c in range(9)],
        )

    return Shape(
        "words",
        design,
        draw,
        np.ones((9, 1), dtype=bool),
        np.ones(1),
        ("null", "truth", "weak"),
        True,
    )


def soda_shape() -> Shape:
    """Five objects, six groups each against a base; four attributes of five values."""
    design = StoppingDesign((5, 10, 20), (0.2, 0.3, 0.5), (0.05, 0.10), 30)
    base = np.random.default_rng([SEED, 3]).dirichlet(np.full(5, 2.0), (5, 4))

    def pictures(shares: Floats, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        drawn = rng.random((20, len(shares), 1)) > shares.cumsum(axis=1)[None, :, :-1]
        codes = drawn.sum(axis=2).astype(np.int64)
        return [codes[a:b] for a, b in zip((0, 5, 10), (5, 10, 20), strict=True)]

    def draw(truth: str, rng: np.random.Generator) -> Drawn:
        claims: list[Data] = []
        truths = []
        for thing in range(5):
            plain = pictures(base[thing], rng)
            for group in range(6):
                strength = 0.3 + 0.1 * group  # the part of pictures moved to the rarest value
                lam = {"null": 0.0, "half": strength * (group % 2), "truth": strength}[truth]
                rarest = np.eye(5)[base[thing].argmin(axis=1)]
                cued = pictures((1 - lam) * base[thing] + lam * rarest, rng)
                claims.append(OutputBlocks(list(zip(plain, cued, strict=True))))
                truths.append(math.nan if lam else 0.0)
        return Drawn(claims, truths)

    uses = np.zeros((30, 35), dtype=bool)
    uses[np.arange(30), np.arange(30)] = True
    uses[np.arange(30), 30 + np.arange(30) // 6] = True
    truths = ("null", "half", "truth")
    return Shape("soda", design, draw, uses, np.ones(35), truths, runs=FEW_RUNS)


SHAPES: dict[str, Callable[[], Shape]] = {
    "contrasts": contrasts,
    "claims": joint_claims,
    "67": lambda: many_words(67),
    "133": lambda: many_words(133),
    "roles": lambda: roles_shape("roles", 1, 98, 2.0),
    "classes": lambda: roles_shape("classes", 9, 11, 1.0),
    "words": words_shape,
    "soda": soda_shape,
}
