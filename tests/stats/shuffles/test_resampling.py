"""Sign flips and permuted means: Fisher's Darwin data, scipy's permutation_test, hand computations."""

import numpy as np
import pytest
from scipy import stats

from tiltmeter.stats.shuffles.resampling import monte_carlo_p, permuted_means, sign_flip

# Darwin's maize, eighths of an inch; Fisher (1935), The Design of Experiments, table 3.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def test_fishers_sign_flip_of_darwins_maize() -> None:
    """Fisher, §21: 863 of the 32,768 patterns reach 314 on one side."""
    found = sign_flip(differences=DARWIN)
    assert found.p == pytest.approx(2 * 863 / 2**15, abs=1e-12)
    assert found.statistic == pytest.approx(314 / 15)
    assert (found.smallest_p, found.draws) == (2 / 2**15, 2**15)


@pytest.mark.parametrize("seed", range(4))
def test_enumerated_equals_scipy(seed: int) -> None:
    d = np.round(np.random.default_rng(seed).normal(0.3, 1, 9), 1)
    theirs = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(differences=d).p == pytest.approx(theirs.pvalue, abs=1e-9)


def test_by_hand_with_ties() -> None:
    assert sign_flip(differences=[1, 2, 3]).p == 0.25
    assert sign_flip(differences=[0.1, 0.2, 0.3, 0.3]).p == pytest.approx(
        2 / 16
    )  # .1 + .2 is not .3 in floats
    assert sign_flip(differences=[0.1, 0.2, -0.3, 0.3]).p == pytest.approx(
        12 / 16
    )  # |S*| ≥ .3: by hand


def test_smallest_attainable_p() -> None:
    five = sign_flip(differences=[1, 1, 1, 1, 1])
    assert (five.p, five.smallest_p) == (0.0625, 0.0625)
    assert "cannot reach p < .05" in five.note
    six = sign_flip(differences=[1, 1, 1, 1, 1, 1])
    assert (six.p, six.note) == (0.03125, None)
    assert (
        sign_flip(differences=[0, 0, 0, 1, 1, 1]).smallest_p == 0.25
    )  # a zero has no sign to flip


def test_one_cluster_has_no_test() -> None:
    one, none, still = (
        sign_flip(differences=[0.4]),
        sign_flip(differences=[]),
        sign_flip(differences=[0.0] * 8),
    )
    assert (one.p, one.note) == (None, "one cluster: no test")
    assert none.p is None
    assert (still.p, still.note) == (1.0, "all differences are 0")


def test_sampled_agrees_with_enumerated() -> None:
    """Seventeen differences, one of them 0 to the last bit but not quite: sampled, near the exact p."""
    d = np.array([*DARWIN, 1e-12, 1e-12], dtype=float)
    found = sign_flip(differences=d, draws=40_000, generator=np.random.default_rng(1))
    assert found.method == "sign flip, sampled"
    assert found.p == pytest.approx(2 * 863 / 2**15, abs=4 * np.sqrt(0.05 / 40_000))
    again = sign_flip(differences=d, draws=40_000, generator=np.random.default_rng(1))
    assert again == found


def test_sampling_takes_an_explicit_generator() -> None:
    with pytest.raises(ValueError, match="generator"):
        sign_flip(differences=np.arange(1, 20))
    with pytest.raises(ValueError, match="draws"):
        sign_flip(differences=np.arange(1, 20), draws=0, generator=np.random.default_rng(1))


@pytest.mark.parametrize("seed", range(3))
def test_permuted_means_equal_scipy(seed: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = np.round(generator.normal(0, 1, 6), 1), np.round(generator.normal(1, 1, 5), 1)

    def difference(x: np.ndarray, y: np.ndarray, axis: int = 0) -> np.ndarray:
        return x.mean(axis=axis) - y.mean(axis=axis)

    found = permuted_means(first=a, second=b)
    theirs = stats.permutation_test(
        (a, b),
        lambda x, y, axis: abs(difference(x, y, axis)),
        n_resamples=np.inf,
        alternative="greater",
        vectorized=True,
    )
    assert found.p == pytest.approx(theirs.pvalue, abs=1e-9)
    assert found.draws == 462


def test_permuted_means_by_hand_and_sampled() -> None:
    assert permuted_means(first=[1, 2], second=[3, 4]).p == pytest.approx(1 / 3)
    a, b = np.arange(12.0), np.arange(12.0) + 4
    found = permuted_means(first=a, second=b, draws=4999, generator=np.random.default_rng(3))
    theirs = stats.ttest_ind(a, b).pvalue
    assert found.p == pytest.approx(theirs, abs=0.02)
    assert found.smallest_p == 1 / 5000
    assert permuted_means(first=[], second=[1, 2, 3]).p is None
    with pytest.raises(ValueError, match="generator"):
        permuted_means(first=a, second=b)


def test_monte_carlo_p_is_never_zero() -> None:
    assert monte_carlo_p(exceeding=49, draws=999) == 0.05
    assert monte_carlo_p(exceeding=0, draws=9999) == 1e-4
    with pytest.raises(ValueError, match="exceeding"):
        monte_carlo_p(exceeding=5, draws=4)
