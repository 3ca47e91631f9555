"""Do items differ more than chance lets them: against all arrangements, and where nothing differs."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from tiltmeter.stats.shuffles import homogeneity
from tiltmeter.stats.shuffles.homogeneity import effects_alike, shares_alike

TABLES = 400
SLACK = 2 * (0.05 * 0.95 / TABLES) ** 0.5


def exact(hits: list[int], laws: list[list[int]]) -> float:
    """p over all arrangements with the sum of `hits`. laws: of each item, how many arrangements
    there are with 0, 1, … hits. The mean and variance of an item are those at the odds at which
    the sum is expected, found by bisection.
    """
    low, high = -20.0, 20.0
    for _ in range(200):
        middle = (low + high) / 2
        moments = [_moments(law, middle) for law in laws]
        if sum(mean for mean, _ in moments) < sum(hits):
            low = middle
        else:
            high = middle

    def statistic(found: tuple[int, ...]) -> float:
        return sum((x - e) ** 2 / v for x, (e, v) in zip(found, moments, strict=True) if v > 1e-9)

    total = reached = 0
    for found in product(*(range(len(law)) for law in laws)):
        if sum(found) == sum(hits):
            ways = int(np.prod([law[x] for law, x in zip(laws, found, strict=True)]))
            total += ways
            reached += ways * (statistic(found) >= statistic(tuple(hits)) - 1e-9)
    return reached / total


def _moments(law: list[int], log_odds: float) -> tuple[float, float]:
    x, ways = np.arange(len(law)), np.array(law) * np.exp(log_odds * np.arange(len(law)))
    ways = ways / ways.sum()
    return float((x * ways).sum()), float((x**2 * ways).sum() - (x * ways).sum() ** 2)


@pytest.mark.parametrize(
    ("hits_a", "n_a", "hits_b", "n_b"),
    [
        ([2, 0], [2, 2], [0, 2], [2, 2]),  # 1/9 by hand: the docstring
        ([3, 0, 2], [3, 4, 5], [0, 3, 2], [3, 4, 2]),
        ([3, 3, 0, 2], [3, 4, 3, 6], [1, 0, 2, 3], [3, 3, 3, 3]),  # hits of one side prevail
        ([2, 3, 1], [2, 3, 4], [2, 3, 2], [2, 3, 3]),  # two items that always say yes
    ],
)
def test_effects_as_over_all_arrangements(
    hits_a: list[int], n_a: list[int], hits_b: list[int], n_b: list[int]
) -> None:
    sides = {"hits_a": hits_a, "n_a": n_a, "hits_b": hits_b, "n_b": n_b}
    laws = [
        [comb(a, x) * (comb(b, t - x) if t >= x else 0) for x in range(a + 1)]
        for a, b, t in zip(n_a, n_b, np.add(hits_a, hits_b).tolist(), strict=True)
    ]
    found = effects_alike(**sides, generator=np.random.default_rng(3))
    assert found.p == pytest.approx(exact(hits_a, laws), abs=0.035)


@pytest.mark.parametrize(("hits", "n"), [([2, 0], [2, 2]), ([5, 0, 1], [5, 3, 4])])
def test_shares_as_over_all_arrangements(hits: list[int], n: list[int]) -> None:
    """1/3 by hand of the first."""
    laws = [[comb(size, x) for x in range(size + 1)] for size in n]
    found = shares_alike(hits=hits, n=n, generator=np.random.default_rng(3))
    assert found.p == pytest.approx(exact(hits, laws), abs=0.035)


@pytest.mark.parametrize("log_odds", [0.0, 1.5])
@pytest.mark.parametrize(("items", "outputs"), [(12, 2), (40, 3), (24, 10)])
def test_one_effect_of_all_items_is_no_difference_between_them(
    items: int, outputs: int, log_odds: float
) -> None:
    """Items that differ in their share, all moved by the same odds ratio, with ragged outputs."""
    generator = np.random.default_rng([items, outputs, int(2 * log_odds)])
    p = []
    for _ in range(TABLES):
        base = generator.normal(0, 1, items)
        n_a, n_b = generator.integers(1, outputs + 1, (2, items)) + 1
        hits_a = generator.binomial(n_a, 1 / (1 + np.exp(-base - log_odds)))
        hits_b = generator.binomial(n_b, 1 / (1 + np.exp(-base)))
        sides = {"hits_a": hits_a, "n_a": n_a, "hits_b": hits_b, "n_b": n_b}
        p.append(effects_alike(**sides, generator=generator).p)
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + SLACK


def test_opposite_effects_are_found() -> None:
    """Half of 40 items moved from .4 to .6 and half back, 5 outputs a side: a mean of 0."""
    generator, p = np.random.default_rng(8), []
    shares = np.where(np.arange(40) % 2, 0.7, 0.3)
    for _ in range(50):
        hits_a, hits_b = generator.binomial(5, shares), generator.binomial(5, 1 - shares)
        five = np.full(40, 5)
        sides = {"hits_a": hits_a, "n_a": five, "hits_b": hits_b, "n_b": five}
        p.append(effects_alike(**sides, generator=generator).p)
    assert np.mean(np.array(p) <= 0.05) > 0.95


def test_many_outputs_by_chi_squared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As drawn, where both can be: 20 items with 900 outputs."""
    generator = np.random.default_rng(11)
    sizes = np.full(20, 900)
    for spread in (0.0, 0.1, 0.15):
        shares = 1 / (1 + np.exp(-generator.normal(0, spread, 20)))
        hits = generator.binomial(sizes, shares)
        monkeypatch.setattr(homogeneity, "WIDE", 10_000)
        drawn = shares_alike(hits=hits, n=sizes, generator=generator)
        monkeypatch.setattr(homogeneity, "WIDE", 10)
        fast = shares_alike(hits=hits, n=sizes, generator=generator)
        assert (fast.method, fast.df) == ("Breslow–Day, chi-squared", 19)
        assert fast.statistic == pytest.approx(drawn.statistic)
        assert fast.p == pytest.approx(drawn.p, abs=0.03)


def test_shares_that_are_alike() -> None:
    generator = np.random.default_rng(5)
    hits = generator.binomial(8, 0.45, (TABLES, 30))
    eight = np.full(30, 8)
    p = np.array([shares_alike(hits=one, n=eight, generator=generator).p for one in hits])
    assert (p <= 0.05).mean() <= 0.05 + SLACK


def test_what_says_nothing_is_not_tested() -> None:
    """One output a side has no chance of its own to be told from: both directions, and no p."""
    generator = np.random.default_rng(0)
    one = np.ones(20)
    up = np.arange(20) % 2
    lone = effects_alike(hits_a=up, n_a=one, hits_b=1 - up, n_b=one, generator=generator)
    assert lone.p is None and "two outputs" in (lone.note or "")
    always = effects_alike(
        hits_a=[3, 3], n_a=[3, 3], hits_b=[3, 3], n_b=[3, 3], generator=generator
    )
    assert always.p == 1
    with pytest.raises(ValueError, match="whole"):
        shares_alike(hits=[0.5, 1], n=[2, 2], generator=generator)
