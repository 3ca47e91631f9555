"""Scores over objects, tested by shuffling inside each object: how often they find what is not
there, and how often what is.

    python benchmarks/pooled.py            # 1,000 runs a row, some minutes
    python benchmarks/pooled.py --small    # 300

Objects differ (each has shares of its own), and have 12 to 24 pictures a prompt; attributes of a
picture hang together. In the null nothing differs between prompts. In the planted rows a quarter
of one group's pictures take one value of every attribute, in every object. Beside the pooled score
stands that of the first object alone, which has a fifth of the pictures.

Exit status 1 where P(p ≤ α) in the null is above α and two standard errors, at .01, .05 or .1, or
where the pooled test finds less than one object alone.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats.shuffles.compared_permutation import ComparedCell, score_difference
from tiltmeter.stats.shuffles.pooled_permutation import PooledCell, Score, pooled_score
from tiltmeter.stats.shuffles.shuffling import Shuffles

OBJECTS, ATTRIBUTES, VALUES, GROUPS = 5, 4, 5, 3
FEWEST, MOST = 12, 24  # pictures of a prompt
DRAWS = 199
ALPHAS = (0.01, 0.05, 0.1)
PLANTED = 0.25  # of a group's pictures that take the planted value
MODELS = "two models"
SCORES = ("pairs", "base", "concentration", "distance", MODELS)

Codes = NDArray[np.int64]
Shares = NDArray[np.float64]


def pictures(
    generator: np.random.Generator, planted: float, mood: Shares | None = None
) -> list[Codes]:
    """The base prompt's pictures of an object, then those of each group; the last group is
    planted. mood: the shares of two sorts of pictures, which are drawn where none are given.
    """
    if mood is None:
        mood = generator.dirichlet(np.ones(VALUES), size=(2, ATTRIBUTES))
    found = []
    for group in range(1 + GROUPS):
        number = int(generator.integers(FEWEST, MOST + 1))
        sorts = generator.integers(2, size=number)
        below = np.cumsum(mood[sorts], axis=2)  # of each picture and attribute
        rows = (generator.random((number, ATTRIBUTES, 1)) > below).sum(axis=2)
        rows = np.minimum(rows, VALUES - 1)
        if group == GROUPS:
            rows[generator.random(number) < planted] = 0
        found.append(rows)
    return found


def run(score: str, generator: np.random.Generator, planted: float = 0.0) -> tuple[float, float]:
    """p over all objects, and of the first object alone, by the same function.

    "pairs" compares base and last group, "distance" all groups, the others base and all groups.
    """
    objects = [pictures(generator, planted) for _ in range(OBJECTS)]
    chosen = {"pairs": (0, GROUPS), "distance": tuple(range(1, GROUPS + 1))}
    places = chosen.get(score, tuple(range(GROUPS + 1)))
    names = [f"a{place}" for place in range(ATTRIBUTES)]
    cells = [
        PooledCell(
            [groups[place] for place in places],
            names,
            Shuffles(draws=DRAWS, generator=generator),
            [VALUES] * ATTRIBUTES if score == "concentration" else None,
        )
        for groups in objects
    ]
    pooled = pooled_score(cells=cells, score=cast(Score, score)).whole.p
    alone = pooled_score(cells=cells[:1], score=cast(Score, score)).whole.p
    return pooled or 1.0, alone or 1.0


def compare(generator: np.random.Generator, planted: float = 0.0) -> tuple[float, float]:
    """p of "do two models' scores from the base differ", over all objects and of one; the second
    model is planted.
    """
    cells = []
    for _ in range(OBJECTS):
        mood = generator.dirichlet(np.ones(VALUES), size=(2, ATTRIBUTES))
        first, second = (pictures(generator, part, mood) for part in (0.0, planted))
        shuffles = [Shuffles(draws=DRAWS, generator=generator) for _ in first]
        cells.append(ComparedCell(first, second, shuffles))
    pooled, alone = (score_difference(cells=some, score="base") for some in (cells, cells[:1]))
    return pooled.difference.p or 1.0, alone.difference.p or 1.0


def rates(score: str, runs: int, planted: float = 0.0, seed: int = 22) -> dict[str, float]:
    """P(p ≤ α) of the pooled score at each α, and of one object alone at .05."""
    generator = np.random.default_rng([seed, SCORES.index(score), int(100 * planted)])
    once = compare if score == MODELS else partial(run, score)
    found = np.array([once(generator, planted) for _ in range(runs)])
    at = {f"{alpha:g}": float((found[:, 0] <= alpha).mean()) for alpha in ALPHAS}
    return {**at, "alone": float((found[:, 1] <= 0.05).mean())}


def allowed(alpha: float, runs: int) -> float:
    """α and two standard errors of the share of runs."""
    return alpha + 2 * math.sqrt(alpha * (1 - alpha) / runs)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="300 runs a row")
    parser.add_argument("--json", help="write the numbers to this file")
    options = parser.parse_args()
    runs = 300 if options.small else 1_000
    found: dict[str, dict[str, dict[str, float]]] = {}
    print(f"| score ({runs} runs) | planted | p ≤ .01 | ≤ .05 | ≤ .1 | one object ≤ .05 |")
    print("|---|---|---|---|---|---|")
    for score in SCORES:
        found[score] = {
            "null": rates(score, runs),
            "planted": rates(score, max(100, runs // 5), PLANTED),
        }
        for what, row in found[score].items():
            numbers = " | ".join(f"{row[name]:.3f}" for name in ("0.01", "0.05", "0.1", "alone"))
            print(f"| {score} | {what} | {numbers} |", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1), encoding="utf-8")
    level = all(
        row["null"][f"{alpha:g}"] <= allowed(alpha, runs)
        for row in found.values()
        for alpha in ALPHAS
    )
    # the planted value makes some attributes more concentrated and others less
    moved = [row["planted"] for score, row in found.items() if score != "concentration"]
    power = all(row["0.05"] >= row["alone"] for row in moved)
    print(f"level kept: {level}; the pooled test finds more than one object: {power}")
    return 0 if level and power else 1


if __name__ == "__main__":
    sys.exit(main())
