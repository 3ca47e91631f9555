"""Three conditions and more: hand computations, full enumeration, and the level under the null."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from tiltmeter.stats.shuffles import conditions, resampling


def test_by_hand() -> None:
    """One item reaches its own statistic in one of three assignments, two such items in 1 of 9."""
    assert conditions.tested_condition(rates=[[1, 0, 0]]).p == pytest.approx(1 / 3)
    two = conditions.tested_condition(rates=[[1, 0, 0], [1, 0, 0]])
    assert (two.statistic, two.p, two.smallest_p) == pytest.approx((1.0, 1 / 9, 1 / 9))


def test_every_assignment_of_four_items() -> None:
    rates = np.random.default_rng(1).random((4, 3))
    sums = []
    for chosen in product(range(3), repeat=4):
        tested = rates[np.arange(4), chosen]
        sums.append((tested - (rates.sum(axis=1) - tested) / 2).sum())
    p = np.mean(np.abs(sums) >= abs(sums[0]) - 1e-12)
    assert conditions.tested_condition(rates=rates).p == pytest.approx(p)


def test_one_control_is_the_sign_flip() -> None:
    rates = np.random.default_rng(2).random((9, 2))
    flipped = resampling.sign_flip(differences=rates[:, 0] - rates[:, 1])
    found = conditions.tested_condition(rates=rates)
    assert (found.p, found.smallest_p) == (flipped.p, flipped.smallest_p)


def test_drawn_assignments_agree_with_all_of_them() -> None:
    rates = np.random.default_rng(3).random((11, 3)) + np.array([0.2, 0, 0])
    exact = conditions.tested_condition(rates=rates)
    assert exact.draws == 3**11
    twelve = np.vstack([rates, [0.5, 0.5, 0.5]])  # an item that moves nothing
    assert conditions.tested_condition(rates=twelve).p == exact.p
    adds = (3 * rates - rates.sum(axis=1, keepdims=True)) / 2
    drawn = conditions._drawn_sums(adds, 40_000, np.random.default_rng(4))
    p = (np.abs(drawn) >= abs(adds[:, 0].sum())).mean()
    assert p == pytest.approx(exact.p, abs=4 * (exact.p / 40_000) ** 0.5)


def test_level_of_the_claim_with_skewed_rates() -> None:
    """Conditions permuted within words: at most .05 + 2 s.e., where the flip of a - (b+c)/2 has
    more.
    """
    generator = np.random.default_rng(5)
    rates = generator.binomial(16, generator.beta(0.5, 1.0, (1_000, 11, 1)), (1_000, 11, 3)) / 16
    p = np.array([conditions.tested_condition(rates=one).p for one in rates])
    assert (p <= 0.05).mean() <= 0.05 + 2 * (0.05 * 0.95 / 1_000) ** 0.5
    assert (p <= 0.05).mean() > 0.025


def test_items_without_a_rate_are_left_out_and_said() -> None:
    rates = [[1, 0, 0], [1, np.nan, 0], [1, 0, 0]]
    found = conditions.tested_condition(rates=rates)
    assert found.p == pytest.approx(1 / 9)
    assert found.note == "1 item without a rate in some condition left out"
    assert conditions.tested_condition(rates=np.full((2, 3), np.nan)).p is None
    assert conditions.tested_condition(rates=np.full((4, 3), 0.5)).p == 1
    with pytest.raises(ValueError, match="generator"):
        conditions.tested_condition(rates=np.random.default_rng(0).random((12, 3)))
    with pytest.raises(ValueError, match="rates"):
        conditions.tested_condition(rates=[1.0, 2.0])


def test_omnibus_by_hand() -> None:
    assert conditions.conditions_alike(rates=[[0, 1], [0, 1]]).p == 0.5
    assert conditions.conditions_alike(rates=np.full((3, 3), 0.2)).p == 1
    assert conditions.conditions_alike(rates=np.zeros((0, 3))).p is None


def test_omnibus_agrees_with_friedmans_statistic() -> None:
    """On ranks the statistic is Friedman's, whose exact law scipy approximates by χ²."""
    ranks = np.array([stats.rankdata(row) for row in np.random.default_rng(6).random((40, 3))])
    ranks[:14] = [1, 2, 3]
    theirs = stats.friedmanchisquare(*ranks.T)
    found = conditions.conditions_alike(rates=ranks, generator=np.random.default_rng(7))
    assert found.statistic * 40 == pytest.approx(theirs.statistic, rel=1e-9)
    assert found.p == pytest.approx(theirs.pvalue, abs=0.01)
    small = ranks[10:17]
    exact = conditions.conditions_alike(rates=small)
    generator = np.random.default_rng(8)
    shuffled = [
        np.square(generator.permuted(small, axis=1).mean(axis=0) - 2).sum() for _ in range(2_000)
    ]
    reached = np.mean(np.array(shuffled) >= exact.statistic - 1e-12)
    assert exact.p == pytest.approx(reached, abs=4 * 0.5 / 2_000**0.5)
