"""Shares: against Newcombe's table, scipy, statsmodels and hand computations."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from tiltmeter.stats import rates, wilson
from tiltmeter.stats.quantiles import (
    normal_quantile,
    t_quantile,
    t_two_sided,
    t_upper,
)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_prints_newcombes_table(successes: int, n: int, low: float, high: float) -> None:
    """Newcombe (1998), Stat. Med. 17, Table I, method 3."""
    found = wilson.wilson(successes, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@pytest.mark.parametrize(("x", "n"), [(0, 7), (1, 7), (5, 10), (10, 10), (98, 100), (3, 1000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_wilson_equals_statsmodels_and_scipy(x: int, n: int, confidence: float) -> None:
    found = wilson.wilson(x, n, confidence=confidence)
    theirs = proportion_confint(x, n, alpha=1 - confidence, method="wilson")
    assert (found.low, found.high) == pytest.approx(theirs, abs=1e-9)
    scipys = stats.binomtest(x, n).proportion_ci(confidence, method="wilson")
    assert (found.low, found.high) == pytest.approx((scipys.low, scipys.high), abs=1e-9)


def test_wilson_of_nothing_is_not_measured() -> None:
    found = wilson.wilson(0, 0)
    assert (found.value, found.low, found.high, found.note) == (None, None, None, "no outcomes")


def test_wilson_is_symmetric_on_the_log_odds_scale() -> None:
    low, high = wilson.wilson_limits(0.2, 35.5, 2.1)
    assert low * high / ((1 - low) * (1 - high)) == pytest.approx((0.2 / 0.8) ** 2, abs=1e-12)


@pytest.mark.parametrize("df", [1.0, 2.5, 8.0, 99.0])
def test_quantiles_equal_scipy_stats(df: float) -> None:
    assert t_quantile(0.975, df) == pytest.approx(stats.t.ppf(0.975, df), rel=1e-9)
    assert t_two_sided(2.2, df) == pytest.approx(2 * stats.t.sf(2.2, df), rel=1e-9)
    assert t_upper(-0.4, df) == pytest.approx(stats.t.sf(-0.4, df), rel=1e-9)
    assert normal_quantile(0.975) == pytest.approx(stats.norm.ppf(0.975), rel=1e-12)


def outcomes(x: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One row an outcome, and its cluster."""
    y = np.concatenate(
        [np.r_[np.ones(int(a)), np.zeros(int(b - a))] for a, b in zip(x, n, strict=True)]
    )
    return y, np.repeat(np.arange(x.size), n.astype(int))


TABLES = {
    "balanced": ([3, 7, 5, 9, 1, 4, 6, 2, 8], [10] * 9),
    "ragged": ([1, 7, 0, 12, 3, 5, 2, 9, 4, 4], [4, 9, 3, 20, 5, 5, 8, 11, 6, 16]),
    "rare": ([0, 0, 1, 0, 0, 3, 0, 0, 0, 0, 0, 1], [10] * 12),
}


@pytest.mark.parametrize("name", TABLES)
def test_clustered_se_equals_statsmodels(name: str) -> None:
    """OLS on a constant with cluster-robust errors: for one coefficient the correction is C/(C-1)."""
    x, n = (np.array(v, dtype=float) for v in TABLES[name])
    y, groups = outcomes(x, n)
    theirs = sm.OLS(y, np.ones_like(y)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    found = rates.clustered_share(successes=x, n=n)
    assert found.value == pytest.approx(theirs.params[0], abs=1e-9)
    assert found.se == pytest.approx(theirs.bse[0], abs=1e-9)
    assert n.sum() / found.effective_n == pytest.approx(
        found.se**2 / (found.value * (1 - found.value) / n.sum()), rel=1e-9
    )


def test_clustered_share_by_hand() -> None:
    found = rates.linearised_share(successes=[1, 2, 3], n=[4, 4, 4])
    assert found.se**2 == pytest.approx(1 / 48, abs=1e-12)
    assert (found.effective_n, found.df) == pytest.approx((12, 2), abs=1e-12)
    q = stats.t.ppf(0.975, 2) ** 2 / 12
    half = math.sqrt(q * (0.25 + q / 4)) / (1 + q)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-9)
    assert (round(found.low, 4), round(found.high, 4)) == (0.1105, 0.8895)


def test_clusters_of_one_outcome_are_nearly_wilson() -> None:
    """ProText: 370 texts, one outcome each; only t for z and n-1 for n differ."""
    x = np.r_[np.ones(60), np.zeros(310)]
    found, plain = rates.clustered_share(successes=x, n=np.ones(370)), wilson.wilson(60, 370)
    assert found.effective_n == pytest.approx(369)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=5e-4)


def test_shares_mirror() -> None:
    """The share of the other outcome has the mirrored interval."""
    x, n = np.array(TABLES["rare"][0], dtype=float), np.array(TABLES["rare"][1], dtype=float)
    one, other = (
        rates.clustered_share(successes=x, n=n),
        rates.clustered_share(successes=n - x, n=n),
    )
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)
    assert one.note == other.note


def test_kurtosis_widens_where_one_cluster_carries_the_variance() -> None:
    _, even = rates.cluster_variance(np.array([-1.0, 1, -1, 1, -1, 1, -1, 1]))
    _, one = rates.cluster_variance(np.array([7.0, -1, -1, -1, -1, -1, -1, -1]))
    kurtosis = 8 * (7**4 + 7) / (7**2 + 7) ** 2
    assert even == 7
    assert one == pytest.approx(2 * 7 / (kurtosis - 1))
    assert one < 3


@pytest.mark.parametrize("x", [np.zeros(12), np.full(12, 10.0), np.full(12, 4.0)])
def test_equal_clusters_keep_an_interval_with_a_note(x: np.ndarray) -> None:
    found = rates.clustered_share(successes=x, n=np.full(12, 10.0))
    assert found.high - found.low > 0.1
    assert found.effective_n == 12
    assert "every item gave the same answer" in found.note


def test_one_cluster_and_none() -> None:
    one = rates.clustered_share(successes=[3], n=[10])
    assert (one.value, one.low, one.high) == (0.3, None, None)
    assert "one cluster" in one.note
    none = rates.clustered_share(successes=[0, 0], n=[0, 0])
    assert (none.value, none.clusters, none.note) == (None, 0, "no outcomes")


def test_clusters_without_outcomes_are_left_out_and_said() -> None:
    x, n = [3, 0, 5, 9], [10, 0, 10, 10]
    found, without = (
        rates.clustered_share(successes=x, n=n),
        rates.clustered_share(successes=[3, 5, 9], n=[10] * 3),
    )
    assert (found.low, found.high, found.clusters) == (without.low, without.high, 3)
    assert found.note.startswith("1 cluster without outcomes left out")


def test_carriers_by_hand() -> None:
    assert rates.carriers(np.array([2.0, 2, 2, 0])) == pytest.approx(3)


def test_paired_difference_equals_statsmodels() -> None:
    """OLS on condition with cluster-robust errors, its (N-1)/(N-2) taken out."""
    generator = np.random.default_rng(4)
    n = np.full(14, 10.0)
    xa, xb = (
        generator.binomial(10, 0.6, 14).astype(float),
        generator.binomial(10, 0.4, 14).astype(float),
    )
    (ya, ga), (yb, gb) = outcomes(xa, n), outcomes(xb, n)
    y, groups = np.r_[ya, yb], np.r_[ga, gb]
    design = sm.add_constant(np.r_[np.ones_like(ya), np.zeros_like(yb)])
    theirs = sm.OLS(y, design).fit(cov_type="cluster", cov_kwds={"groups": groups})
    found = rates.clustered_difference(successes_a=xa, n_a=n, successes_b=xb, n_b=n)
    assert found.value == pytest.approx(theirs.params[1], abs=1e-9)
    assert found.se == pytest.approx(
        theirs.bse[1] / math.sqrt((y.size - 1) / (y.size - 2)), abs=1e-9
    )
    half = t_quantile(0.975, found.df) * found.se
    assert (found.low, found.high) == pytest.approx(
        (found.value - half, found.value + half), abs=1e-12
    )


def test_balanced_difference_is_the_mean_of_cluster_differences() -> None:
    xa, xb, n = np.array([3.0, 7, 5, 9]), np.array([1.0, 5, 6, 4]), np.full(4, 10.0)
    found = rates.clustered_difference(successes_a=xa, n_a=n, successes_b=xb, n_b=n)
    mean = rates.clustered_mean(values=(xa - xb) / 10)
    assert (found.value, found.se) == pytest.approx((mean.value, mean.se), abs=1e-12)


def test_difference_without_variance_is_not_a_point() -> None:
    n = np.full(10, 16.0)
    found = rates.clustered_difference(successes_a=n, n_a=n, successes_b=n, n_b=n)
    assert (found.value, found.method) == (0.0, "mover of two shares")
    assert found.low < -0.1 and found.high > 0.1


def test_mean_equals_scipy() -> None:
    """Student's (1908) sleep data, the differences in hours."""
    hours = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    found = rates.clustered_mean(values=hours)
    theirs = stats.ttest_1samp(hours, 0).confidence_interval(0.95)
    assert found.value == pytest.approx(1.58, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize(
    ("values", "note"),
    [([], "no clusters"), ([0.4], "one cluster: no interval"), ([0.4] * 9, "all clusters equal")],
)
def test_mean_of_too_little(values: list[float], note: str) -> None:
    found = rates.clustered_mean(values=values)
    assert found.low is None and found.high is None
    assert found.note.startswith(note)


def test_bounds_by_hand() -> None:
    found = rates.bounds(successes=6, failures=2, missing=2)
    assert (found.low, found.value, found.high) == pytest.approx((0.6, 0.75, 0.8))
    lost = rates.bounds(successes=0, failures=0, missing=5)
    assert (lost.low, lost.value, lost.high, lost.note) == (0, None, 1, "all missing")
    assert rates.bounds(successes=0, failures=0, missing=0).value is None
