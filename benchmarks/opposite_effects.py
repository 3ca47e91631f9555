"""Are items that a cue moves in opposite directions found, and no others?

Items have shares of their own (beta, mean .5, ICC .2) and so many outputs at each of two levels.
Their log odds differ by log θ_i between the levels. A table is "found" where the exact Breslow–Day
test has p at most .05 over so many claims (Holm's first step).

    one effect    θ_i = 1, or 3 for all: no item differs from another, and none may be found
    both ways     half of the items are moved up by so many points (at a share of one half), half
                  down as far: a mean of 0
    some          a quarter is moved up and a quarter down, the others not at all
    shares        as roles: no cue, items share one half, or half of them lie above and half below

    python benchmarks/opposite_effects.py              # 2,000 tables a design, minutes
    python benchmarks/opposite_effects.py --tables 400

Exit status 1 where nothing differs and more than 5 % + 3 Monte-Carlo standard errors are found. The
seed is 20.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np

from tiltmeter.stats.shuffles.homogeneity import effects_alike, shares_alike

ALPHA, CLAIMS, SEED = 0.05, 6, 20
SIZES = ((12, 2), (12, 10), (20, 5), (40, 2), (40, 5), (40, 10), (98, 4))
POINTS = (0.2, 0.3, 0.4)  # a share at one level less that at the other


def p_of_effects(
    items: int, outputs: int, log_odds: np.ndarray, generator: np.random.Generator
) -> float:
    """p of one table whose items differ by these log odds between two levels."""
    base = generator.beta(2, 2, items)
    middle = np.log(base / (1 - base))
    sides = [1 / (1 + np.exp(-middle - half)) for half in (log_odds / 2, -log_odds / 2)]
    hits_a, hits_b = (generator.binomial(outputs, one) for one in sides)
    n = np.full(items, outputs)
    test = effects_alike(hits_a=hits_a, n_a=n, hits_b=hits_b, n_b=n, generator=generator)
    return 1.0 if test.p is None else test.p


def p_of_shares(items: int, outputs: int, points: float, generator: np.random.Generator) -> float:
    """p of one table with half of the items above one half and half below, so far apart."""
    share = 0.5 + points / 2 * _both_ways(items, 1.0)
    hits = generator.binomial(outputs, share)
    return shares_alike(hits=hits, n=np.full(items, outputs), generator=generator).p or 1.0


def _both_ways(items: int, moved: float) -> np.ndarray:
    """1 for half of the items that are moved, -1 for the other half, 0 for the rest."""
    place = np.arange(items)
    return np.where(place < moved * items, np.where(place % 2, -1.0, 1.0), 0.0)


def _log_odds(points: float) -> float:
    """The log odds ratio of two shares so far apart about one half. By hand: .4 → ln(.7·.7/.3²)."""
    return 2 * math.log((0.5 + points / 2) / (0.5 - points / 2))


def found(p: list[float]) -> tuple[float, float]:
    """The share of tables found as one claim, and among `CLAIMS`."""
    values = np.array(p)
    return float((values <= ALPHA).mean()), float((values <= ALPHA / CLAIMS).mean())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=2_000)
    tables = parser.parse_args(arguments).tables
    bound = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / tables)
    broken = False
    print("| items × outputs | design | found, 1 claim | found, 6 claims |\n|---|---|---|---|")
    for items, outputs in SIZES:
        generator = np.random.default_rng([SEED, items, outputs])
        designs = {f"one effect, odds × {odds}": np.full(items, math.log(odds)) for odds in (1, 3)}
        for points in POINTS:
            designs[f"both ways, {points:.0%}"] = _log_odds(points) * _both_ways(items, 1.0)
        designs["some, 40%"] = _log_odds(0.4) * _both_ways(items, 0.5)
        for name, log_odds in designs.items():
            p = [p_of_effects(items, outputs, log_odds, generator) for _ in range(tables)]
            broken |= _show(items, outputs, name, p) > bound and name.startswith("one")
        for points in (0.0, 0.3):
            p = [p_of_shares(items, 2 * outputs, points, generator) for _ in range(tables)]
            broken |= _show(items, 2 * outputs, f"shares, {points:.0%}", p) > bound and not points
    return int(broken)


def _show(items: int, outputs: int, name: str, p: list[float]) -> float:
    one, many = found(p)
    print(f"| {items} × {outputs} | {name} | {one:.3f} | {many:.3f} |", flush=True)
    return one


if __name__ == "__main__":
    sys.exit(main())
