"""Is a stated detectable difference found in 80 %? By the shipped tests, on tables of other code.

    python benchmarks/detectable.py                # 400 tables a design, about a minute

Plans: beta-binomial items at the shift that `planned_shift` states. Reports: differences of items
(beta-binomial pairs) state a shift; new items of their population have it. Exit status 1 where the
power leaves .76 to .84 (reports of 12 to 19 items: .70 to .84) by more than 2 standard errors.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tiltmeter.stats import conditions, resampling
from tiltmeter.stats.detectable import Design, observed_shift, planned_shift

PLANS = {
    "roles, all words": Design(0.5, 96, 20.0, 0.2),
    "roles, a class": Design(0.5, 14, 20.0, 0.2),
    "words, a class": Design(0.2, 20, 90.0, 0.1, 2),
    "gramvis, a language": Design(0.5, 40, 16.0, 0.2, 3),
}
TESTS = (1, 9, 96)
ITEMS = (12, 20, 40)


def rates(design: Design, shift: float, tables: int, generator: np.random.Generator) -> np.ndarray:
    """Rates, shape (tables, items, conditions)."""
    size, columns = 1 / design.icc - 1, []
    for condition in range(design.conditions):
        mean = design.share + (0.0 if condition else shift)
        truth = generator.beta(mean * size, (1 - mean) * size, (tables, design.items))
        columns.append(generator.binomial(round(design.outputs), truth) / round(design.outputs))
    return np.stack(columns, axis=2)


def p_value(design: Design, table: np.ndarray, draws: int, generator: np.random.Generator) -> float:
    if design.conditions > 2:
        test = conditions.tested_condition(rates=table, draws=draws, generator=generator)
    else:
        other = design.share if design.conditions == 1 else table[:, 1]
        test = resampling.sign_flip(
            differences=table[:, 0] - other, draws=draws, generator=generator
        )
    return 1.0 if test.p is None else test.p


def found(
    design: Design, shift: float, tests: int, tables: int, generator: np.random.Generator
) -> int:
    """How many tables of the design with this shift are found at .05 over the tests."""
    draws = max(1_999, 50 * tests * 20)
    drawn = rates(design, shift, tables, generator)
    return sum(p_value(design, table, draws, generator) <= 0.05 / tests for table in drawn)


def plans(tables: int, seed: int) -> Iterator[tuple[str, int, float, float, float]]:
    """Name, tests, power, and the promise of each plan that can find anything."""
    for place, (name, design) in enumerate(PLANS.items()):
        for tests in TESTS:
            shift = planned_shift(design=design, level=0.05 / tests)
            if shift is not None:
                generator = np.random.default_rng([seed, place, tests])
                power = found(design, shift, tests, tables, generator) / tables
                yield f"plan: {name}", tests, power, 0.76, 0.84


def reports(tables: int, seed: int) -> Iterator[tuple[str, int, float, float, float]]:
    """The same of reports: a shift stated by one sample of items, found in others."""
    base = Design(0.4, 20, 16.0, 0.2, 2)
    for items in ITEMS:
        design, low = replace(base, items=items), 0.70 if items < 20 else 0.76
        for tests in (1, 9):
            generator, power = np.random.default_rng([seed, items, tests]), []
            for one in rates(design, 0.0, tables // 10, generator):
                shift = observed_shift(differences=one[:, 0] - one[:, 1], level=0.05 / tests)
                if shift is not None:
                    power.append(found(design, min(shift, 0.59), tests, 10, generator) / 10)
            yield f"report: {items} items", tests, float(np.mean(power)), low, 0.84


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=400, help="simulated tables a design")
    parser.add_argument("--seed", type=int, default=20)
    chosen = parser.parse_args()
    failed, slack = [], 2 * math.sqrt(0.8 * 0.2 / chosen.tables)
    print("| design | tests | power at the stated difference |\n|---|---|---|")
    for row in (*plans(chosen.tables, chosen.seed), *reports(chosen.tables, chosen.seed)):
        name, tests, power, low, high = row
        print(f"| {name} | {tests} | {power:.3f} |")
        if not low - slack <= power <= high + slack:
            failed.append(f"{name}, {tests} tests: {power:.3f}")
    print(f"\n{len(failed)} promises broken", *failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
