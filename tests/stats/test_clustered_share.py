"""The interval of a share over few items: its two parts, how they are put together, its marks."""

import math

import numpy as np
import pytest
from scipy import stats

from tiltmeter.stats import beta_binomial, rates

TWELVE = [0, 1, 0, 2, 1, 0, 5, 0, 1, 0, 1, 0]


def share(x: list[float] | np.ndarray, n: float) -> rates.Interval:
    return rates.clustered_share(successes=x, n=np.full(len(x), n))


def test_three_items_by_hand() -> None:
    """Halfway between Wilson's limits at an effective n of 12 and the posterior's."""
    x, n = np.array([1.0, 2, 3]), np.full(3, 4.0)
    plain = rates.linearised_share(successes=x, n=n)
    assert (round(plain.low, 4), round(plain.high, 4)) == (0.1105, 0.8895)
    low, high = beta_binomial.posterior_limits(x, n)
    assert (round(low, 4), round(high, 4)) == (0.1982, 0.8018)
    found = share(x, 4)
    assert (round(found.low, 4), round(found.high, 4)) == (0.1543, 0.8457)
    assert found.note == "too few clusters (C = 3)" and found.cautions == ("few_clusters",)


def test_twelve_items_by_hand() -> None:
    """Near 0: the near limit is Wilson's, the far one the posterior's."""
    x, n = np.array(TWELVE, dtype=float), np.full(12, 20.0)
    plain = rates.linearised_share(successes=x, n=n)
    assert (round(plain.low, 4), round(plain.high, 4)) == (0.0137, 0.1423)
    low, high = beta_binomial.posterior_limits(x, n)
    assert (round(low, 4), round(high, 4)) == (0.0233, 0.1703)
    found = share(x, 20)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0137, 0.1703)
    mirrored = share(20 - x, 20)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low))


@pytest.mark.parametrize("n", [6.0, 40.0, 700.0])
def test_posterior_equals_scipys_beta_binomial(n: float) -> None:
    """The same grid summed with scipy's law; beyond 256 outcomes by other code than below."""
    x = np.round(np.array([0.1, 0.4, 0.2, 0.9, 0.3]) * n)
    theta = (np.arange(400) + 0.5) / 400
    root = (np.arange(20) + 0.5) / 20
    mean, both = np.sin(math.pi * theta / 2)[:, None] ** 2, 1 / root**2 - 1
    logs = sum(stats.betabinom.logpmf(k, n, mean * both, (1 - mean) * both) for k in x)
    mass = (np.exp(logs - logs.max()) * root).sum(axis=1)
    below = np.concatenate([[0], np.cumsum(mass) / mass.sum()])
    expected = np.sin(math.pi * np.interp([0.025, 0.975], below, np.arange(401) / 400) / 2) ** 2
    found = beta_binomial.posterior_limits(x, np.full(5, n))
    assert found == pytest.approx(tuple(expected), abs=1e-9)


@pytest.mark.parametrize(("hits", "items"), [(0, 20), (3, 30), (15, 30)])
def test_items_of_one_outcome_have_jeffreys_posterior(hits: int, items: int) -> None:
    x = np.zeros(items)
    x[:hits] = 1
    found = beta_binomial.posterior_limits(x, np.ones(items))
    jeffreys = stats.beta.ppf([0.025, 0.975], hits + 0.5, items - hits + 0.5)
    assert found == pytest.approx(tuple(jeffreys), abs=2e-4)


def test_none_of_3600_is_not_up_to_nine_tenths() -> None:
    """All items alike say nothing of degrees of freedom: one outcome in 3,600 would."""
    assert share(np.zeros(20), 180).high == pytest.approx(0.0548, abs=1e-4)
    # from 50 items on, and for probabilities, Wilson's limit with t(C - 1): q/(1 + q), q = t²/C
    q = stats.t.ppf(0.975, 99) ** 2 / 100
    assert share(np.zeros(100), 36).high == pytest.approx(q / (1 + q))
    assert share(np.zeros(100), 180).high == pytest.approx(q / (1 + q))


def test_many_items_and_probabilities_keep_wilsons_limits() -> None:
    counts = np.random.default_rng(3).binomial(10, 0.2, 50).astype(float)
    for x in (counts, counts[:20] + 0.25):
        found, plain = share(x, 10.25), rates.linearised_share(successes=x, n=[10.25] * len(x))
        assert (found.low, found.high) == (plain.low, plain.high)
        assert found.method == rates.LINEARISED
    assert share(counts[:49], 10).method == rates.HYBRID


def test_uneven_sizes_take_the_farther_limit() -> None:
    """A small item that answers otherwise: the mean of shares is .2, the share .022."""
    x, n = np.array([0.0] * 8 + [1, 1]), np.array([11.0] * 8 + [1, 1])
    far = beta_binomial.posterior_limits(x, n)[1]
    plain = rates.linearised_share(successes=x, n=n).high
    found = rates.clustered_share(successes=x, n=n)
    assert found.value == pytest.approx(2 / 90)
    assert found.high == max(far, plain)


def test_another_kind_of_item() -> None:
    """One item in 40 that always says otherwise would move the share by 1/40."""
    x = np.zeros(40)
    x[:8] = 1
    rare = share(x, 50)  # share .004, all alike but for chance
    assert rare.high - rare.value < 1 / 40
    assert rare.cautions == ("other_kinds",)
    assert rare.note == "another kind of item would not be covered"
    assert share(50 - x, 50).cautions == ("other_kinds",)
    x[:2] = 50  # two such items were drawn
    assert share(x, 50).cautions == ()
    assert share(np.full(40, 25.0), 50).cautions == ()


def test_sizes_that_follow_the_share_are_said() -> None:
    n = np.array([2.0] * 10 + [60] * 10)
    x = np.array([0.0] * 10 + [54] * 10)
    found = rates.clustered_share(successes=x, n=n)
    assert "sizes_follow_share" in found.cautions
    assert "items counted alike give 0.450" in found.note
    assert "sizes_follow_share" not in rates.clustered_share(successes=n / 2, n=n).cautions


def test_a_difference_is_not_marked_by_its_carriers() -> None:
    n, x = np.full(12, 10.0), np.zeros(12)
    x[0] = 5
    found = rates.clustered_difference(successes_a=x, n_a=n, successes_b=np.zeros(12), n_b=n)
    assert found.note is None and found.cautions == ()
    few = rates.clustered_difference(successes_a=[1, 2], n_a=[4, 4], successes_b=[0, 0], n_b=[4, 4])
    assert few.cautions == ("few_clusters",)


def test_probabilities_that_few_items_carry_are_marked() -> None:
    """By hand: Kish's effective number of (.9, .01 × 29) is (.9 + .29)²/(.81 + 29/10⁴) = 1.74."""
    x = [0.9] + [0.01] * 29
    row = rates.clustered_share(successes=x, n=[1.0] * 30)
    assert row.cautions == ("few_carriers",) and "effectively 1.7" in (row.note or "")
    assert (
        "few_carriers" not in rates.clustered_share(successes=[1, *[0] * 29], n=[1] * 30).cautions
    )
