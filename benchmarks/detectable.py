"""Is a stated detectable difference found in 80 %? By the shipped tests, on tables of other code.

    python benchmarks/detectable.py                # 400 tables a design, some minutes

Plans: beta-binomial items at the shift that `planned_shift` states, and groups of outputs at the
tilt that `divergence_shift` does. Reports: one sample of items (of outputs, for a divergence)
states a shift; new items of their population have it. Exit status 1 where the
power leaves .76 to .84 (reports of 12 to 19 items: .70 to .84) by more than 2 standard errors.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator

import numpy as np

from tiltmeter.stats.power.design import Design
from tiltmeter.stats.power.detectable import divergence_shift, observed_shift, planned_shift
from tiltmeter.stats.power.tested_shift import observed_tested_shift
from tiltmeter.stats.share_shifts import shift_from_value, shift_of_share
from tiltmeter.stats.shuffles import conditions, permutation, resampling
from tiltmeter.stats.shuffles.shuffling import Shuffles

PLANS = {
    "roles, all words": Design(0.5, 96, 20.0, 0.2),
    "roles, a class": Design(0.5, 14, 20.0, 0.2),
    "words, a class": Design(0.2, 20, 90.0, 0.1, 2),
    "gramvis, a language": Design(0.5, 40, 16.0, 0.2, 3),
}
REPORTS = {
    "roles, all words": Design(0.5, 96, 20.0, 0.2),
    "roles, a class": Design(0.5, 14, 20.0, 0.2),
    "words, a class": Design(0.2, 20, 90.0, 0.1, 2),
    "gramvis, a language": Design(0.5, 40, 16.0, 0.2, 3),
    "12 items, a share": Design(0.5, 12, 16.0, 0.2),
    "20 items, a share": Design(0.5, 20, 16.0, 0.2),
    "12 items, two conditions": Design(0.4, 12, 16.0, 0.2, 2),
    "20 items, two conditions": Design(0.4, 20, 16.0, 0.2, 2),
    "40 items, two conditions": Design(0.4, 40, 16.0, 0.2, 2),
}
# name: shares of the values, outputs a group, groups
DIVERGENCES = {
    "dialogues, all pairings": ((1.0,) * 7, 100, 4),
    "dialogues, two pairings": ((1.0,) * 7, 100, 2),
    "soda, an attribute, one object": ((1.0,) * 6, 20, 2),
    "soda, an attribute, five objects": ((1.0,) * 6, 100, 2),
}
SKEWED = (0.3, 0.25, 0.15, 0.1, 0.1, 0.06, 0.04)  # topics as a report may find them
TESTS = (1, 9, 96)
SHUFFLES = 1_999


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
    for place, (name, design) in enumerate(REPORTS.items()):
        low = 0.70 if design.items < 20 else 0.76
        for tests in (1, 9):
            generator, power = np.random.default_rng([seed, 1, place, tests]), []
            for one in rates(design, 0.0, tables // 10, generator):
                shift = stated(design, one, 0.05 / tests)
                if shift is not None:
                    most = min(shift, 0.99 - design.share)
                    power.append(found(design, most, tests, 10, generator) / 10)
            yield f"report: {name}", tests, float(np.mean(power)), low, 0.84


def stated(design: Design, table: np.ndarray, level: float) -> float | None:
    """The shift that a report of these rates, shape (items, conditions), states."""
    if design.conditions > 2:
        return observed_tested_shift(rates=table, level=level)
    if design.conditions == 1:
        shift = observed_shift(differences=table[:, 0] - design.share, level=level)
        share = float(table.mean())
        return (
            None if shift is None else shift_from_value(shift=shift, share=share, null=design.share)
        )
    shift = observed_shift(differences=table[:, 0] - table[:, 1], level=level)
    shares = float(table[:, 0].mean()), float(table[:, 1].mean())
    return None if shift is None else shift_of_share(shift=shift, shares=shares)


def divergence_power(
    shares: np.ndarray,
    tilt: float,
    size: tuple[int, int],
    level: float,
    tables: int,
    seed: list[int],
) -> float:
    """How often shuffling finds one group that lies this far towards the rarest value. size:
    outputs of a group, and groups.
    """
    generator, (outputs, groups) = np.random.default_rng(seed), size
    shuffles = Shuffles(draws=max(SHUFFLES, round(50 / level)), generator=generator)
    tilted = (1 - tilt) * shares + tilt * np.eye(shares.size)[int(np.argmin(shares))]
    hits = 0
    for _ in range(tables):
        laws = [*[shares] * (groups - 1), tilted]
        drawn = [generator.choice(shares.size, size=(outputs, 1), p=law) for law in laws]
        p = permutation.pairs_within(groups=drawn, shuffles=shuffles).p
        hits += p is not None and p <= level
    return hits / tables


def planned_divergences(tables: int, seed: int) -> Iterator[tuple[str, int, float, float, float]]:
    for place, (name, (shares, outputs, groups)) in enumerate(DIVERGENCES.items()):
        even = np.array(shares) / sum(shares)
        for tests in (1, 9):
            level = 0.05 / tests
            made = divergence_shift(shares=even, outputs=outputs, groups=groups, level=level)
            if made is not None:
                at = [seed, 2, place, tests]
                power = divergence_power(even, made[0], (outputs, groups), level, tables, at)
                yield f"plan: {name}", tests, power, 0.76, 0.84


def reported_divergences(tables: int, seed: int) -> Iterator[tuple[str, int, float, float, float]]:
    """A tilt stated by one sample of outputs, found in others of the same topics."""
    for tests in (1, 7):
        generator, power, level = np.random.default_rng([seed, 3, tests]), [], 0.05 / tests
        for number in range(20):
            counts = generator.multinomial(400, SKEWED)
            made = divergence_shift(
                shares=counts[counts > 0], outputs=100, groups=4, level=level, seed=number
            )
            if made is not None:
                at = [seed, 4, tests, number]
                power.append(
                    divergence_power(np.array(SKEWED), made[0], (100, 4), level, tables // 20, at)
                )
        yield "report: dialogues, all pairings", tests, float(np.mean(power)), 0.76, 0.84


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=400, help="simulated tables a design")
    parser.add_argument("--seed", type=int, default=20)
    chosen = parser.parse_args()
    failed, slack = [], 2 * math.sqrt(0.8 * 0.2 / chosen.tables)
    print("| design | tests | power at the stated difference |\n|---|---|---|")
    ways = (plans, planned_divergences, reports, reported_divergences)
    for row in (one for way in ways for one in way(chosen.tables, chosen.seed)):
        name, tests, power, low, high = row
        print(f"| {name} | {tests} | {power:.3f} |", flush=True)
        if not low - slack <= power <= high + slack:
            failed.append(f"{name}, {tests} tests: {power:.3f}")
    print(f"\n{len(failed)} promises broken", *failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
