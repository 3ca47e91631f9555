"""Means of numbers over items, and slopes on a reference: by hand, against statsmodels, and how
often intervals hold.
"""

import math

import numpy as np
import pytest

from tests.benchmark import benchmark
from tiltmeter.stats import means, rates


def test_pooled_mean_by_hand() -> None:
    found = means.pooled_mean(sums=[2, 4, 6], n=[2, 2, 2])
    assert (found.value, found.clusters, found.n) == (2.0, 3, 6.0)
    assert found.high - found.value == pytest.approx(2.48414, abs=1e-5)
    assert found.value - found.low == pytest.approx(2.48414, abs=1e-5)


def test_pooled_difference_by_hand() -> None:
    found = means.pooled_difference(
        sums_a=[4, 6, 8], n_a=[2, 2, 2], sums_b=[2, 2, 8], n_b=[2, 2, 2]
    )
    assert found.value == 1.0
    assert found.high == pytest.approx(1 + 2.48414, abs=1e-5)


def test_counted_mean_is_students() -> None:
    found = means.counted_mean(numbers=[1, 2, 3], counts=[1, 1, 1])
    assert found.value == 2.0
    assert found.high == pytest.approx(rates.clustered_mean(values=[1, 2, 3]).high)
    assert means.counted_mean(numbers=[4], counts=[7]).low is None


def test_of_shares_it_is_the_linearised_share() -> None:
    """A mean of zeros and ones is a share: the same error as statsmodels gives clustered_share."""
    x, n = np.array([3, 1, 4, 8, 2]), np.array([5, 6, 7, 9, 4])
    assert means.pooled_mean(sums=x, n=n).se == pytest.approx(
        rates.clustered_share(successes=x, n=n).se, abs=1e-12
    )
    y = np.array([2, 2, 5, 1, 1])
    ours = means.pooled_difference(sums_a=x, n_a=n, sums_b=y, n_b=n)
    assert ours.se == pytest.approx(
        rates.clustered_difference(successes_a=x, n_a=n, successes_b=y, n_b=n).se, abs=1e-12
    )


def test_slope_by_hand_and_against_statsmodels() -> None:
    line = means.slope(successes=[1, 5, 9], n=[10, 10, 10], reference=[0.2, 0.5, 0.8])
    assert line.value == pytest.approx(4 / 3)
    assert (line.low, line.note) == (
        None,
        "all items on one line: no interval; too few clusters (C = 3)",
    )
    api = pytest.importorskip("statsmodels.api")
    random = np.random.default_rng(3)
    r, n = random.random(14), np.full(14, 20.0)
    x = random.binomial(20, 0.2 + 0.5 * r).astype(float)
    theirs = api.OLS(x / n, api.add_constant(r)).fit().get_robustcov_results("HC3", use_t=True)
    ours = means.slope(successes=x, n=n, reference=r)
    assert (ours.value, ours.se) == pytest.approx((theirs.params[1], theirs.bse[1]), abs=1e-10)
    assert (ours.low, ours.high) == pytest.approx(theirs.conf_int()[1], abs=1e-10)
    test = means.slope_test(slope=ours, null=1.0)
    assert test.p == pytest.approx(float(theirs.t_test("x1 = 1").pvalue), abs=1e-10)


def test_what_cannot_be_measured_has_no_value_and_a_reason() -> None:
    for found in (
        means.pooled_mean(sums=[], n=[]),
        means.pooled_mean(sums=[0.0], n=[0.0]),
        means.counted_mean(numbers=[], counts=[]),
        means.pooled_difference(sums_a=[3.0], n_a=[1.0], sums_b=[0.0], n_b=[0.0]),
        means.slope(successes=[1, 2], n=[4, 4], reference=[0.1, 0.9]),
        means.slope(successes=[1, 2, 3], n=[4, 4, 4], reference=[0.5, 0.5, 0.5]),
    ):
        assert found.value is None
        assert found.note
    alike = means.pooled_mean(sums=[4, 4], n=[2, 2])
    assert (alike.value, alike.low) == (2.0, None)
    assert means.slope_test(slope=alike, null=1.0).p is None


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("sums", lambda: means.pooled_mean(sums=[math.nan], n=[1])),
        ("n", lambda: means.pooled_mean(sums=[1], n=[-1])),
        ("sums_a", lambda: means.pooled_difference(sums_a=[1, 2], n_a=[1], sums_b=[1], n_b=[1])),
        (
            "reference",
            lambda: means.slope(successes=[1, 1, 1], n=[2, 2, 2], reference=[0.1, 0.2, 1.2]),
        ),
    ],
)
def test_bad_input_is_named(name: str, call) -> None:
    with pytest.raises(ValueError, match=f"^{name}:"):
        call()


def test_intervals_hold() -> None:
    """A small version of benchmarks/means.py: 100 tables a design, of which two Monte-Carlo errors
    are 4.4 points.
    """
    module = benchmark("means")
    rows = [*module.of_numbers(tables=100, seed=20), *module.of_references(tables=100, seed=21)]
    assert len(rows) == 42
    assert [row for row in rows if not 0.93 - 0.044 <= row[1] <= 0.98 + 0.02] == []
    assert 0.935 <= sum(held for _, held in rows) / len(rows) <= 0.965


def test_an_interval_that_takes_outputs_as_independent_would_fail_here() -> None:
    random = np.random.default_rng(20)
    held = 0
    for _ in range(200):
        numbers = 100 + 30 * (random.normal(size=(20, 1)) + 0.5 * random.normal(size=(20, 10)))
        found = means.counted_mean(numbers=numbers.ravel(), counts=np.ones(200))
        held += found.low <= 100 <= found.high
    assert held < 140


def test_a_slopes_test_keeps_its_level() -> None:
    random = np.random.default_rng(22)
    n, rejected = np.full(20, 10.0), 0
    for _ in range(600):
        r = random.beta(1.2, 1.2, 20)
        x = random.binomial(10, random.beta(6 * (0.25 + 0.5 * r), 6 * (0.75 - 0.5 * r))).astype(
            float
        )
        rejected += (
            means.slope_test(slope=means.slope(successes=x, n=n, reference=r), null=0.5).p <= 0.05
        )
    assert rejected / 600 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 600)
