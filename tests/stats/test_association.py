"""Ratios, odds, t and equivalence: against statsmodels, scipy and hand computations."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from tiltmeter.stats import association, rates
from tiltmeter.stats.quantiles import t_quantile

SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]  # Student (1908), Biometrika 6


@pytest.fixture
def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(11)
    n = np.array([8.0, 10, 12, 9, 10, 10, 11, 7, 10, 13, 10, 6])
    return (
        generator.binomial(n.astype(int), 0.5) * 1.0,
        generator.binomial(n.astype(int), 0.3) * 1.0,
        n,
    )


def expanded(x: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    y = np.concatenate(
        [np.r_[np.ones(int(a)), np.zeros(int(b - a))] for a, b in zip(x, n, strict=True)]
    )
    return y, np.repeat(np.arange(x.size), n.astype(int))


def test_paired_ratio_equals_poisson_with_clustered_errors(table: tuple[np.ndarray, ...]) -> None:
    """The sandwich of a log-linear model with one binary factor is the linearised log ratio."""
    a, b, n = table
    (ya, ga), (yb, gb) = expanded(a, n), expanded(b, n)
    y, design = np.r_[ya, yb], sm.add_constant(np.r_[np.ones_like(ya), np.zeros_like(yb)])
    fitted = sm.GLM(y, design, family=sm.families.Poisson())
    theirs = fitted.fit(
        tol=1e-13, cov_type="cluster", cov_kwds={"groups": np.r_[ga, gb], "use_correction": False}
    )
    found = association.ratio(successes_a=a, n_a=n, successes_b=b, n_b=n)
    assert math.log(found.value) == pytest.approx(theirs.params[1], abs=1e-9)
    assert found.se == pytest.approx(theirs.bse[1] * math.sqrt(12 / 11), abs=1e-9)
    half = t_quantile(0.975, found.df) * found.se
    assert (found.low, found.high) == pytest.approx(
        (found.value * math.exp(-half), found.value * math.exp(half))
    )


def test_unpaired_ratio_adds_the_variances(table: tuple[np.ndarray, ...]) -> None:
    a, b, n = table
    found = association.ratio(successes_a=a, n_a=n, successes_b=b[:9], n_b=n[:9], paired=False)
    sides = [rates.clustered_share(successes=x, n=m) for x, m in ((a, n), (b[:9], n[:9]))]
    relative = [side.se / side.value for side in sides]
    assert found.se == pytest.approx(math.hypot(*relative), abs=1e-12)
    assert min(side.df for side in sides) <= found.df <= 19


def test_single_outcomes_equal_the_log_ratio_of_katz() -> None:
    """Katz et al. (1978): var log RR = 1/a - 1/n + 1/c - 1/m; ours has C/(C-1) on each side."""
    a, b = np.r_[np.ones(12), np.zeros(28)], np.r_[np.ones(7), np.zeros(43)]
    found = association.ratio(
        successes_a=a, n_a=np.ones(40), successes_b=b, n_b=np.ones(50), paired=False
    )
    assert found.value == pytest.approx((12 / 40) / (7 / 50))
    assert found.se**2 == pytest.approx(
        (1 / 12 - 1 / 40) * 40 / 39 + (1 / 7 - 1 / 50) * 50 / 49, abs=1e-12
    )


def test_ratio_swapped_is_inverted(table: tuple[np.ndarray, ...]) -> None:
    a, b, n = table
    one = association.ratio(successes_a=a, n_a=n, successes_b=b, n_b=n)
    other = association.ratio(successes_a=b, n_a=n, successes_b=a, n_b=n)
    assert (one.value, one.low, one.high) == pytest.approx(
        (1 / other.value, 1 / other.high, 1 / other.low)
    )


def test_zero_cell_is_halved_and_marked() -> None:
    n, zero, some = np.full(10, 10.0), np.zeros(10), np.full(10, 2.0)
    found = association.ratio(successes_a=zero, n_a=n, successes_b=some, n_b=n)
    assert found.value == pytest.approx(0.5 / 20.5)
    assert found.note.startswith("a count is zero: 0.5 added to both")
    assert 0 < found.low < found.value < found.high
    assert found.se**2 >= 1 / 0.5 - 1 / 100 + 1 / 20.5 - 1 / 100 - 1e-12
    other = association.ratio(successes_a=some, n_a=n, successes_b=zero, n_b=n)
    assert other.value == pytest.approx(1 / found.value)


def test_ratio_of_nothing() -> None:
    n = np.full(5, 10.0)
    nothing = association.ratio(successes_a=np.zeros(5), n_a=n, successes_b=np.zeros(5), n_b=n)
    assert (nothing.value, nothing.note) == (None, "no success on either side")
    empty = association.ratio(
        successes_a=np.zeros(5), n_a=np.zeros(5), successes_b=np.ones(5), n_b=n
    )
    assert (empty.value, empty.note) == (None, "no outcomes on one side")
    one = association.ratio(successes_a=[4], n_a=[10], successes_b=[2], n_b=[10])
    assert (one.value, one.low) == (2, None)


def test_ratio_of_sure_outcomes_is_not_a_point() -> None:
    n = np.full(12, 10.0)
    found = association.ratio(successes_a=n, n_a=n, successes_b=n, n_b=n)
    assert found.value == 1
    assert found.low < 0.9 and found.high > 1.1


def test_odds_equal_logistic_regression_with_clustered_errors(
    table: tuple[np.ndarray, ...],
) -> None:
    a, _, n = table
    y, groups = expanded(a, n)
    fitted = sm.GLM(y, np.ones_like(y), family=sm.families.Binomial())
    theirs = fitted.fit(
        tol=1e-13, cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    found = association.odds(first=a, second=n - a)
    assert math.log(found.value) == pytest.approx(theirs.params[0], abs=1e-9)
    assert found.se == pytest.approx(theirs.bse[0] * math.sqrt(12 / 11), abs=1e-9)


def test_odds_agree_with_the_share_beside_them(table: tuple[np.ndarray, ...]) -> None:
    a, _, n = table
    share, odds = rates.clustered_share(successes=a, n=n), association.odds(first=a, second=n - a)
    assert (odds.low, odds.high) == pytest.approx(
        (share.low / (1 - share.low), share.high / (1 - share.high))
    )


def test_odds_by_hand() -> None:
    found = association.odds(first=[1, 2, 3], second=[3, 2, 1])
    assert (found.value, round(found.low, 4), round(found.high, 4)) == (1.0, 0.1825, 5.4788)
    eight_tenths = association.odds(first=[4] * 9, second=[5] * 9)
    assert eight_tenths.value / (1 + eight_tenths.value) == pytest.approx(
        0.4444, abs=5e-5
    )  # PROTOCOLS 2b


@pytest.mark.parametrize("first", [np.zeros(9), np.full(9, 10.0), np.full(9, 10 - 1e-17)])
def test_odds_at_the_boundary(first: np.ndarray) -> None:
    found = association.odds(first=first, second=10 - first)
    assert found.note.startswith("a count is zero")
    assert 0 <= found.low < found.value < found.high < math.inf
    assert association.odds(first=[0, 0], second=[0, 0]).value is None


def test_paired_t_is_students_sleep() -> None:
    """Student (1908): t = 4.06, p = .0028; scipy to 1e-9."""
    found = association.paired_t(differences=SLEEP)
    theirs = stats.ttest_1samp(SLEEP, 0)
    assert (found.statistic, found.p) == pytest.approx((theirs.statistic, theirs.pvalue), abs=1e-9)
    assert (round(found.statistic, 4), round(found.p, 4)) == (4.0621, 0.0028)


@pytest.mark.parametrize("differences", [[], [0.3], [0.2, 0.2, 0.2], [0.0, 0.0]])
def test_paired_t_of_too_little(differences: list[float]) -> None:
    found = association.paired_t(differences=differences)
    assert found.p is None and found.note


@pytest.mark.parametrize("margin", [0.5, 1.0, 3.0])
def test_equivalence_equals_statsmodels(margin: float) -> None:
    found = association.equivalence(
        value=np.mean(SLEEP), se=np.std(SLEEP, ddof=1) / np.sqrt(10), df=9, margin=margin
    )
    theirs = ttost_paired(np.array(SLEEP), np.zeros(10), -margin, margin)[0]
    assert found.p == pytest.approx(theirs, abs=1e-9)


def test_equivalence_by_hand_and_at_the_margin() -> None:
    found = association.equivalence(value=0, se=0.01, df=20, margin=0.03)
    assert found.p == pytest.approx(stats.t.sf(3, 20), abs=1e-12)
    assert association.equivalence(value=0.03, se=0.01, df=20, margin=0.03).p == pytest.approx(0.5)
    assert association.equivalence(value=0.1, se=0.0, df=20, margin=0.03).p is None
    with pytest.raises(ValueError, match="margin"):
        association.equivalence(value=0, se=0.01, df=20, margin=0)


@pytest.mark.parametrize("counts", [(3, 4, 1, 4), (0, 20, 7, 20), (11, 20, 5, 20), (5, 5, 0, 3)])
def test_fisher_is_scipys(counts: tuple[int, int, int, int]) -> None:
    a, na, b, nb = counts
    expected = stats.fisher_exact([[a, na - a], [b, nb - b]]).pvalue
    assert association.fisher(hits_a=a, n_a=na, hits_b=b, n_b=nb).p == pytest.approx(expected)


def test_fisher_by_hand_and_of_nothing() -> None:
    assert association.fisher(hits_a=3, n_a=4, hits_b=1, n_b=4).p == pytest.approx(34 / 70)
    assert association.fisher(hits_a=0, n_a=0, hits_b=1, n_b=4).p is None
    with pytest.raises(ValueError, match="0 to n_a"):
        association.fisher(hits_a=5, n_a=4, hits_b=1, n_b=4)
