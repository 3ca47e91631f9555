"""Do items differ more than chance lets them: against all arrangements, and where nothing differs."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from tiltmeter.stats.shuffles import homogeneity
from tiltmeter.stats.shuffles.homogeneity import shares_alike

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


@pytest.mark.parametrize(("hits", "n"), [([2, 0], [2, 2]), ([5, 0, 1], [5, 3, 4])])
def test_shares_as_over_all_arrangements(hits: list[int], n: list[int]) -> None:
    """1/3 by hand of the first."""
    laws = [[comb(size, x) for x in range(size + 1)] for size in n]
    found = shares_alike(hits=hits, n=n, generator=np.random.default_rng(3))
    assert found.p == pytest.approx(exact(hits, laws), abs=0.035)


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
    """One output per item has no chance of its own to be told from: no p."""
    generator = np.random.default_rng(0)
    one = np.ones(20)
    up = np.arange(20) % 2
    lone = shares_alike(hits=up, n=one, generator=generator)
    assert lone.p is None and "two outputs" in (lone.note or "")
    assert shares_alike(hits=[3, 3], n=[3, 3], generator=generator).p == 1
    with pytest.raises(ValueError, match="whole"):
        shares_alike(hits=[0.5, 1], n=[2, 2], generator=generator)
