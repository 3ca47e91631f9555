"""Impact ratios: by hand, and coverage in simulation."""

from __future__ import annotations

import numpy as np
import pytest

from tiltmeter.stats import association
from tiltmeter.stats.impact import impact_ratios


def counts(shares: list[float], items: int, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    drawn = np.random.default_rng(seed).multinomial(draws, shares, size=items)
    return drawn.T.astype(float), np.full((len(shares), items), float(draws))


def test_by_hand() -> None:
    n = [[50, 50]] * 3
    found = impact_ratios(successes=[[10, 10], [8, 8], [5, 5]], n=n)
    assert [one.value for one in found] == pytest.approx([1, 0.8, 0.5])
    assert found[0].high == 1


def test_one_clear_leader_leaves_the_pairwise_interval() -> None:
    x, n = counts([0.6, 0.2, 0.2], 60, 10, 1)
    found = impact_ratios(successes=x, n=n)
    pair = association.ratio(successes_a=x[1], n_a=n[1], successes_b=x[0], n_b=n[0])
    assert (found[1].low, found[1].high) == pytest.approx((pair.low, pair.high))


def test_the_performance_ranking_of_hr_specialists() -> None:
    """Bloomberg's table, GPT-3.5, HR specialist: 181, 148, 138 and 130 of 1,000 ranked first."""
    firsts = np.array([181, 148, 138, 130, 403])
    x = np.zeros((5, 1000))
    x[np.repeat(np.arange(5), firsts), np.arange(1000)] = 1
    found = impact_ratios(successes=x[:4], n=np.ones((4, 1000)))
    assert [one.value for one in found] == pytest.approx(
        [1, 0.8176795580110497, 0.7624309392265194, 0.7182320441988951]
    )
    assert found[3].high is not None and 0.8 < found[3].high < 1  # .8 is not excluded


def test_nothing_to_measure() -> None:
    found = impact_ratios(successes=[[0, 0], [0, 0]], n=[[5, 5], [5, 5]])
    assert [(one.value, one.note) for one in found] == [(None, "no success in any group")] * 2
    found = impact_ratios(successes=[[1, 2], [0, 0]], n=[[5, 5], [0, 0]])
    assert (found[1].value, found[1].note) == (None, "no outcomes")
    with pytest.raises(ValueError, match="two groups"):
        impact_ratios(successes=[[1, 2]], n=[[5, 5]])


def test_a_group_that_is_never_chosen_has_an_upper_limit() -> None:
    found = impact_ratios(successes=[[9, 8, 7] * 20, [0] * 60], n=[[10] * 60] * 2)
    assert found[1].value == 0
    assert found[1].high is not None and 0 < found[1].high < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shares", "least", "most"),
    [
        ([0.2, *[0.8 / 7] * 7], 0.93, 0.97),  # one leads
        ([0.25, 0.15, *[0.1] * 6], 0.93, 0.97),
        ([0.125] * 8, 0.93, 1.0),  # all alike
        ([0.18, 0.17, *[0.65 / 6] * 6], 0.93, 1.0),  # two lead
    ],
)
def test_coverage(shares: list[float], least: float, most: float) -> None:
    """Over 1,000 data sets of 100 items with 8 outputs; one leads means that K is 1 throughout."""
    covered, truth = np.zeros(len(shares)), np.array(shares) / max(shares)
    for seed in range(1000):
        x, n = counts(shares, 100, 8, seed)
        for group, one in enumerate(impact_ratios(successes=x, n=n)):
            assert one.low is not None and one.high is not None
            covered[group] += one.low <= truth[group] <= one.high + 1e-12
    rates = covered[truth < 1] / 1000 if truth.min() < 1 else covered / 1000
    assert least - 0.01 <= rates.min() and rates.max() <= most + 0.01
    assert least <= rates.mean() <= most
