"""How often does a run that stops early claim something of names like these, where nothing is true?

Twenty items, groups of 3, 5 or 10 names, looks after 2, 4, 8 and 16 rounds (20 rounds of ten names:
2, 5, 10, 20); a round asks one name of each group about every item, and names take turns. Answers
are drawn as in crossed.py: items sd 1 logit, names, group × item .4, prompts .5. At each look p is
the larger of the two-way test and the sign flip over items; p of the run is min p_k/w_k. Beside it
stands the sign flip over items alone, so adjusted.

    python benchmarks/stopping_names.py                  # 2,000 runs per design
    python benchmarks/stopping_names.py --keep           # into benchmarks/results
    python benchmarks/stopping_names.py --small          # seconds; tests/stats/stopping runs it

Exit status 1 if a null design claims something in more than .05 + 3 standard errors of its runs.
The seeds are fixed.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from crossed import Design, _sign_flips, draw

from tiltmeter.stats import special
from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.crossed.design import Crossed
from tiltmeter.stats.crossed.variances import two_way
from tiltmeter.stats.stopping.design import DEFAULTS, StoppingDesign
from tiltmeter.stats.stopping.follow import follow_runs
from tiltmeter.stats.stopping.rules import LEAST_VARIANCE

ITEMS, RUNS, SMALL_RUNS, BLOCK, ALPHA = 20, 2_000, 200, 100, 0.05
RESULTS = Path(__file__).parent / "results" / "stopping_names.csv"
COLUMNS = ("design", "runs", "found", "found by a full run", "calls", "items alone")


@dataclass(frozen=True)
class Planned:
    """Runs of one kind. shift: of the level in logits, 0 of a null."""

    words: int
    words_sd: float
    shift: float = 0.0
    looks: tuple[int, ...] = (2, 4, 8, 16)

    @property
    def name(self) -> str:
        """Tells it from the others."""
        return f"{self.words} names, sd {self.words_sd:g}, shift {self.shift:g}"


DESIGNS = (
    Planned(5, 0.4, looks=(3, 5, 10, 20)),
    Planned(10, 0.4, looks=(3, 5, 10, 20)),
    Planned(3, 0.8),
    Planned(5, 0.8, looks=(3, 5, 10, 20)),
    Planned(10, 0.4, 0.8, (3, 5, 10, 20)),
    Planned(5, 0.4, 0.8, (3, 5, 10, 20)),
    Planned(3, 0.4, 0.8),
)


def prompts(planned: Planned) -> tuple[Codes, Codes, Codes, Codes]:
    """Side, word and item of each prompt, and its answers by the end of each round, (P, rounds)."""
    side, word, item = (
        one.ravel() for one in np.mgrid[0:2, 0 : planned.words, 0:ITEMS].astype(np.int64)
    )
    rounds = np.arange(planned.looks[-1])
    turn = (item[:, None] + rounds) % planned.words == word[:, None]
    return side, word, item, turn.cumsum(axis=1)


def run(planned: Planned, runs: int, seed: int) -> list[float]:
    """Shares of runs: found, found by a run that asks all; calls; found by flips over items."""
    rng = np.random.default_rng(seed)
    side, word, item, answers = prompts(planned)
    every = _crossed(side, word, item, answers[:, -1])
    table = Design("", (planned.words,) * 2, ITEMS, 1, (planned.words_sd,) * 2, shift=planned.shift)
    weights, futility = DEFAULTS[4]
    design = StoppingDesign(planned.looks, weights, futility, 1)
    found = np.zeros(4)
    for _ in range(0, runs, BLOCK):
        _, chance = draw(table, every, BLOCK, rng)
        q, flips, left = np.empty((3, BLOCK, 1, len(planned.looks)))
        hits, before = np.zeros(chance.shape), np.zeros(len(side), dtype=np.int64)
        for k, look in enumerate(planned.looks):
            now = answers[:, look - 1]
            hits = hits + rng.binomial(now - before, chance)
            before = now
            there = now > 0
            crossed = _crossed(*(one[there] for one in (side, word, item, now)))
            p, flips[:, 0, k], left[:, 0, k] = _look(
                crossed, hits[:, there] / now[there], look / planned.looks[-1], rng
            )
            q[:, 0, k] = np.maximum(p, flips[:, 0, k])
        over = np.minimum.accumulate(np.minimum(1.0, q / np.array(weights)), axis=2)
        followed = follow_runs(design, over, q, left, np.ones((1, 1), dtype=bool))
        asked = np.array(planned.looks)[followed.last] / planned.looks[-1]
        alone = (flips / np.array(weights)).min(axis=2) < ALPHA
        full = q[..., -1] < ALPHA
        found += [one.mean() for one in (followed.rejected, full, asked, alone)]
    return [float(one) for one in found * BLOCK / runs]


def _crossed(side: Codes, word: Codes, item: Codes, n: Codes) -> Crossed:
    return Crossed.of(
        side=side.tolist(), word=word.tolist(), item=item.tolist(), n=n.astype(float).tolist()
    )


def _look(
    crossed: Crossed, shares: Floats, part: float, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """p of the two-way test and of the sign flip, and V_K/V_k."""
    fit = two_way(crossed, shares)
    usable = fit.variance > 0
    t = np.abs(fit.value) / np.sqrt(np.where(usable, fit.variance, 1.0))
    p = np.where(usable, 2 * special.stdtr(fit.df, -t), 1.0)
    within = shares * (1 - shares) / np.maximum(crossed.n - 1, 1) @ crossed.weight**2
    left = 1 - within * (1 - part) / np.where(usable, fit.variance, 1.0)
    if not (crossed.n > 1).any():
        left = np.full(left.shape, part)
    return p, _sign_flips(crossed, shares, 0.0, rng), np.maximum(left, LEAST_VARIANCE)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="200 runs of two null designs")
    parser.add_argument("--keep", action="store_true", help="write into benchmarks/results")
    parser.add_argument("--runs", type=int, default=RUNS)
    chosen = parser.parse_args(arguments)
    runs, rows, failed = SMALL_RUNS if chosen.small else chosen.runs, [], False
    for number, planned in enumerate(DESIGNS[:3:2] if chosen.small else DESIGNS):
        found = run(planned, runs, 20261123 + number)
        rows.append([planned.name, runs, *(round(one, 4) for one in found)])
        print(f"{planned.name}: " + ", ".join(map(str, rows[-1][2:])), flush=True)
        bound = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs)
        failed |= not planned.shift and found[0] > bound
    if chosen.keep:
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
