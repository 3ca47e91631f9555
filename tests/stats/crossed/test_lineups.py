"""Line-ups: names of one line-up only, and names that recur."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from tiltmeter.stats.crossed.lineups import dealt, recurring


def test_dealt_by_hand() -> None:
    assert dealt([[2, 0], [1, 1]], 0).p == pytest.approx(1.0)
    assert dealt([[3, 0], [3, 0]], 0).p == pytest.approx(0.5)


def test_dealt_equals_all_deals() -> None:
    """Against every permutation of the labels of three line-ups of three."""
    firsts = np.array([[4, 1, 0], [2, 2, 1], [3, 0, 2]])
    for group in range(3):
        sums = [
            sum(row[order[group]] for row, order in zip(firsts, orders, strict=True))
            for orders in product(permutations(range(3)), repeat=3)
        ]
        away = np.abs(np.array(sums) - firsts.sum() / 3)
        seen = abs(firsts[:, group].sum() - firsts.sum() / 3)
        assert dealt(firsts, group).p == pytest.approx((away >= seen - 1e-9).mean())


def test_dealt_holds_if_one_name_is_nearly_always_first() -> None:
    """24 line-ups in which one name of eight is first in nearly all rankings."""
    rng = np.random.default_rng(2)
    rejected = 0
    for _ in range(300):
        chances = np.full((24, 8), 0.02)
        chances[np.arange(24), rng.integers(8, size=24)] = 0.86
        firsts = np.array([rng.multinomial(8, one) for one in chances])
        rejected += min(dealt(firsts, group).p or 1 for group in range(8)) < 0.05 / 8
    assert rejected / 300 <= 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5


def test_recurring_names_of_equal_groups() -> None:
    """Names that attract (sd .6), groups alike: in .05 of runs one of eight groups is found, where
    line-ups alone find one in half.
    """
    rng = np.random.default_rng(3)
    pooled = alone = 0
    runs = 60
    for _ in range(runs):
        attract = rng.normal(0, 0.6, (8, 20))
        picks = rng.integers(20, size=(400, 8))
        logit = attract[np.arange(8), picks]
        chance = np.exp(logit) / np.exp(logit).sum(axis=1, keepdims=True)
        firsts = np.array([rng.multinomial(1, one) for one in chance])
        names = [[f"{g}-{k}" for g, k in enumerate(row)] for row in picks]
        found = recurring(
            lineup=[str(n) for n in range(400)], names=names, n=[1.0] * 400, firsts=firsts
        )
        pooled += min(one.pooled.p or 1 for one in found) < 0.05 / 8
        z = [(s.mean() - 1 / 8) / (s.std() / 20) for s in firsts.T]
        alone += max(np.abs(z)) > 2.73
    assert pooled / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
    assert alone / runs > 0.3
