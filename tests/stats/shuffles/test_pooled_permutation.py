"""Scores over cells, shuffled inside each: worked by hand, against enumeration, and where nothing differs."""

from __future__ import annotations

import importlib.util
import math
import sys
from itertools import combinations, product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tiltmeter.stats.shuffles.divergence import concentration, js_divergence
from tiltmeter.stats.shuffles.permutation import (
    base_against_group,
    concentration_difference,
    pairs_within,
)
from tiltmeter.stats.shuffles.pooled_permutation import PooledCell, Score, pooled_score
from tiltmeter.stats.shuffles.shuffling import KeptDraws, Shuffles

DRAWS = 20_000


def cell(*groups: list[int], seed: int = 0, names: tuple[str, ...] = ("a",)) -> PooledCell:
    coded = [np.array(group, int).reshape(-1, len(names)) for group in groups]
    return PooledCell(coded, names, Shuffles(draws=DRAWS, generator=np.random.default_rng(seed)))


def bits(first: list[int], second: list[int]) -> float:
    values = sorted({*first, *second})
    sides = ([side.count(value) for value in values] for side in (first, second))
    return js_divergence(first=np.array(next(sides)), second=np.array(next(sides)))


def test_two_cells_by_hand() -> None:
    """In each cell 2 of 6 deals part the values: both do in 4 of 36, and the mean is 1/3."""
    found = pooled_score(cells=[cell([0, 0], [1, 1], seed=seed) for seed in (1, 2)], score="pairs")
    assert (found.whole.value, found.cells) == (1.0, 2)
    assert found.whole.p == pytest.approx(1 / 9, abs=0.007)
    assert found.whole.expected == pytest.approx(1 / 3, abs=0.01)
    assert found.whole.adjusted == pytest.approx(1, abs=1e-9)
    assert found.whole.smallest_p == pytest.approx(1 / 9)


def test_unequal_cells_against_all_deals() -> None:
    """Every pair of deals of (0,0,1 | 1,1) and (0,1 | 0,1,2), enumerated by hand."""
    parts = (([0, 0, 1], [1, 1]), ([0, 1], [0, 1, 2]))

    def deals(first: list[int], second: list[int]) -> list[float]:
        rows = first + second
        chosen = combinations(range(len(rows)), len(first))
        return [
            bits([rows[n] for n in one], [row for n, row in enumerate(rows) if n not in one])
            for one in chosen
        ]

    means = [sum(pair) / 2 for pair in product(*(deals(*part) for part in parts))]
    seen = sum(bits(*part) for part in parts) / 2
    found = pooled_score(cells=[cell(*part, seed=n) for n, part in enumerate(parts)], score="pairs")
    assert found.whole.value == pytest.approx(seen)
    assert found.whole.expected == pytest.approx(np.mean(means), abs=0.004)
    exact = np.mean([mean >= seen - 1e-9 for mean in means])
    assert found.whole.p == pytest.approx(exact, abs=0.012)


def test_one_cell_is_the_score_of_the_cell() -> None:
    generator = np.random.default_rng(3)
    groups = [generator.integers(4, size=(number, 3)) for number in (18, 20, 15)]
    shuffles = Shuffles(draws=999, generator=np.random.default_rng(5))
    one = PooledCell(groups, ["a", "b", "c"], shuffles)
    for score, alone in (
        ("pairs", pairs_within(groups=groups, shuffles=shuffles)),
        ("distance", pairs_within(groups=groups, shuffles=shuffles, root=True)),
    ):
        found = pooled_score(cells=[one], score=score)  # type: ignore[arg-type]
        assert (found.whole.value, found.whole.p) == (pytest.approx(alone.value), alone.p)
        assert [row.p for row, _ in found.by_name.values()] == [one.p for one in alone.attributes]
    two = PooledCell(groups[:2], ["a", "b", "c"], shuffles, [4, 4, 4])
    first, second = groups[:2]
    bds = base_against_group(base=first, group=second, shuffles=shuffles)
    vac = concentration_difference(base=first, group=second, shuffles=shuffles, values=[4, 4, 4])
    assert pooled_score(cells=[two], score="base").whole.p == bds.p
    assert pooled_score(cells=[two], score="concentration").whole.value == pytest.approx(vac.value)


def test_what_is_kept_is_taken_for_no_other_cell() -> None:
    """Cells that differ in one thing each, over shared and over own shuffles: the same scores."""
    generator = np.random.default_rng(8)
    first, second, third = (generator.integers(3, size=(12, 2)) for _ in range(3))
    lost = first.copy()
    lost[0, 1] = -1
    sides = [[first, second], [second, first], [lost, second], [first, second, third]]
    sides += [[first[:, ::-1], second[:, ::-1]], [first[:, :1], second[:, :1]]]
    kept = KeptDraws(result_bytes=10**7)

    def scores(kept: KeptDraws | None) -> list[float | None]:
        found = []
        for groups, values, draws in product(sides, (3, 5), (99, 199)):
            names = ["a", "b"][: groups[0].shape[1]]
            drawn = Shuffles(draws=draws, generator=np.random.default_rng(5), kept=kept)
            one = PooledCell(groups, names, drawn, [values] * len(names))
            asked: tuple[Score, ...] = ("pairs", "base", "distance", "concentration")
            for score, by_name in product(asked, (True, False)):
                whole = pooled_score(cells=[one], score=score, by_name=by_name).whole
                found += [whole.p, whole.expected, whole.low]
        return found

    own = scores(None)
    assert (scores(kept), scores(kept)) == (own, own)


def test_all_groups_against_the_base_are_the_mean_of_each() -> None:
    groups = [[0, 0, 1, 1, 2], [0, 0, 0, 0], [1, 2, 2], [0, 1, 2, 2]]
    found = pooled_score(cells=[cell(*groups)], score="base")
    assert found.whole.value == pytest.approx(np.mean([bits(groups[0], g) for g in groups[1:]]))
    shuffles = Shuffles(draws=99, generator=np.random.default_rng(1))
    vac = PooledCell([np.array(g)[:, None] for g in groups], ["a"], shuffles, [3])
    levels = [
        concentration(counts=np.bincount(g, minlength=3), values=3, miller_madow=True)
        for g in groups
    ]
    value = pooled_score(cells=[vac], score="concentration").whole.value
    assert value == pytest.approx(np.mean(levels[1:]) - levels[0])


def test_attributes_are_pooled_over_the_cells_that_have_them() -> None:
    """`a` in both cells, `b` in one; a cell with an empty group is left out, and said."""
    first = cell([0, 0, 0, 1], [1, 1, 1, 1], names=("a", "b"))
    second = cell([0, 0], [1, 1], seed=1)
    found = pooled_score(cells=[first, second, cell([0, 1], [], seed=2)], score="pairs")
    assert {name: cells for name, (_, cells) in found.by_name.items()} == {"a": 2, "b": 1}
    both = bits([0, 0], [1, 1]), bits([0, 1], [1, 1])
    assert found.by_name["a"][0].value == pytest.approx((both[0] + 1) / 2)
    assert found.by_name["b"][0].value == pytest.approx(both[1])
    assert found.whole.value == pytest.approx(((both[0] + both[1]) / 2 + 1) / 2)
    assert found.cells == 2 and "1 of 3 cells are left out" in (found.whole.note or "")
    nothing = pooled_score(cells=[cell([0], [])], score="pairs")
    assert nothing.whole.value is None and nothing.whole.note == "no cell has every group"


def test_cells_have_the_same_number_of_draws() -> None:
    other = PooledCell([[[0]], [[1]]], ["a"], Shuffles(draws=9, generator=np.random.default_rng(1)))
    with pytest.raises(ValueError, match="same number of draws"):
        pooled_score(cells=[cell([0], [1]), other], score="pairs")


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[3] / "benchmarks" / "pooled.py"
    spec = importlib.util.spec_from_file_location("benchmark_pooled", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("score", ["pairs", "concentration"])
def test_nothing_is_found_where_nothing_differs(benchmark: ModuleType, score: Score) -> None:
    """150 runs of objects that differ in all; benchmarks/pooled.py has 1,000 of each score."""
    row = benchmark.rates(score, 150)
    assert all(row[f"{alpha:g}"] <= alpha + 3 * math.sqrt(alpha / 150) for alpha in (0.05, 0.1))
