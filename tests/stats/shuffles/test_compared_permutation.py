"""Two models' scores, rows shuffled between the models inside each prompt: by hand, by enumeration, at the null."""

from __future__ import annotations

import math
from itertools import combinations
from types import ModuleType

import numpy as np
import pytest

from tests.stats.shuffles.test_pooled_permutation import benchmark, bits
from tiltmeter.stats.shuffles.compared_permutation import ComparedCell, score_difference
from tiltmeter.stats.shuffles.divergence import concentration
from tiltmeter.stats.shuffles.shuffling import Shuffles

__all__ = ["benchmark"]
DRAWS = 20_000


def shuffles(number: int, seed: int = 0) -> list[Shuffles]:
    seeds = range(number)
    return [Shuffles(draws=DRAWS, generator=np.random.default_rng([seed, n])) for n in seeds]


def column(rows: list[int]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array(rows, int)[:, None]


def test_one_cell_by_hand() -> None:
    """Base (0, 0) in both; group (1, 1) and (0, 0): of 6 deals one turns the difference round, four are even."""
    base, ones = column([0, 0]), column([1, 1])
    found = score_difference(
        cells=[ComparedCell([base, ones], [base, base], shuffles(2))], score="pairs"
    )
    assert (found.first, found.second, found.difference.value) == (1.0, 0.0, -1.0)
    assert found.difference.low == -1 and found.difference.high == 1
    assert 1 / 6 - 0.01 < (found.difference.p or 0) < 1 / 3 + 0.01


def test_against_all_deals() -> None:
    """Every deal of both prompts' rows between the models, enumerated."""
    first, second = ([0, 0, 1], [1, 1, 2]), ([0, 1], [0, 0, 1])
    prompts = [first[n] + second[n] for n in (0, 1)]

    def deals(n: int) -> list[tuple[list[int], list[int]]]:
        rows, size = prompts[n], len(first[n])
        found = []
        for chosen in combinations(range(len(rows)), size):
            rest = [rows[k] for k in range(len(rows)) if k not in chosen]
            found.append(([rows[k] for k in chosen], rest))
        return found

    drawn = [
        bits(base_b, group_b) - bits(base_a, group_a)
        for base_a, base_b in deals(0)
        for group_a, group_b in deals(1)
    ]
    seen = bits(*second) - bits(*first)
    cell = ComparedCell([column(g) for g in first], [column(g) for g in second], shuffles(2))
    found = score_difference(cells=[cell], score="pairs").difference
    assert found.value == pytest.approx(seen)
    assert found.expected == pytest.approx(np.mean(drawn), abs=0.006)
    centre = np.mean(drawn)
    exact = np.mean([abs(one - centre) >= abs(seen - centre) - 1e-9 for one in drawn])
    assert found.p == pytest.approx(exact, abs=0.02)


def test_levels_of_concentration_and_what_is_left_out() -> None:
    """The mean over prompts and cells; an attribute that one model lacks, a cell with an empty prompt."""
    mine, other = [[0, 0, 0, 1], [0, 1, 1, 1]], [[0, 1, 0, 1], [0, 0, 0, 0]]
    levels = [
        np.mean(
            [
                concentration(counts=np.bincount(g, minlength=2), values=2, miller_madow=True)
                for g in side
            ]
        )
        for side in (mine, other)
    ]
    full = ComparedCell(
        [np.column_stack([g, [0] * 4]) for g in mine],
        [np.column_stack([g, [-1] * 4]) for g in other],
        shuffles(2),
        [2, 2],
    )
    empty = ComparedCell(
        [column(mine[0]), column(mine[1])], [column(other[0]), column([])], shuffles(2), [2]
    )
    found = score_difference(cells=[full, empty], score="level")
    assert found.cells == 1
    assert (found.first, found.second) == (pytest.approx(levels[0]), pytest.approx(levels[1]))
    nothing = score_difference(cells=[empty], score="level")
    assert nothing.first is None and nothing.difference.p is None


def test_models_that_draw_alike_are_told_apart_no_more_often_than_stated(
    benchmark: ModuleType,
) -> None:
    """100 runs; benchmarks/pooled.py has 1,000."""
    row = benchmark.rates(benchmark.MODELS, 100)
    assert all(row[f"{alpha:g}"] <= alpha + 3 * math.sqrt(alpha / 100) for alpha in (0.05, 0.1))
