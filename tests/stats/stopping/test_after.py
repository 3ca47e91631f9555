"""Bounds against Jennison & Turnbull's constants; what stopping does to intervals and estimates."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from tiltmeter.stats.stopping import after
from tiltmeter.stats.stopping.boundaries import bounds_of, information_of
from tiltmeter.stats.stopping.design import design_of

FIFTHS = (0.2, 0.4, 0.6, 0.8, 1.0)
DESIGN = design_of(samples=16, claims=36)


@pytest.mark.parametrize(
    "bounds",
    [[2.413] * 5, [2.040 * (5 / k) ** 0.5 for k in range(1, 6)]],
    ids=["Pocock", "O'Brien and Fleming"],
)
def test_constants_of_jennison_and_turnbull(bounds: list[float]) -> None:
    """Tables 2.1 and 2.3 of Jennison & Turnbull (2000): five equal looks, .05 two-sided."""
    times = np.array(FIFTHS)
    correlation = np.sqrt(np.minimum.outer(times, times) / np.maximum.outer(times, times))
    within = [1.0]  # the chance that no bound was crossed up to each look, by scipy
    for k in range(1, 6):
        normal = multivariate_normal(cov=correlation[:k, :k], seed=1, abseps=1e-7, maxpts=10**6)
        within.append(float(normal.cdf(bounds[:k], lower_limit=[-one for one in bounds[:k]])))
    spent = [before - after_look for before, after_look in pairwise(within)]
    assert sum(spent) == pytest.approx(0.05, abs=5e-5)
    weights = tuple(one / sum(spent) for one in spent)
    assert bounds_of(sum(spent), weights, FIFTHS) == pytest.approx(bounds, abs=1e-4)


def test_information_by_hand() -> None:
    """(1 + 4.2/16)/(1 + 4.2/2) = 1.2625/3.1."""
    assert information_of(DESIGN)[0] == pytest.approx(1.2625 / 3.1)
    assert information_of(DESIGN, float("inf")) == (0.125, 0.25, 0.5, 1.0)


def test_intervals_widen_as_simulated_elsewhere() -> None:
    """g as in docs/how-to/stopping.md: 1.06–1.07, equal weights 1.10, independent outputs up to 1.14."""
    assert 1.06 <= after.widening(DESIGN) < 1.075
    assert after.widening(replace(DESIGN, weights=(0.25,) * 4)) == pytest.approx(1.10, abs=0.01)
    single = design_of(samples=1, claims=1)
    assert after.widening(single) == pytest.approx(1, abs=0.01)


def test_a_corrected_estimate_has_the_mean_that_was_found() -> None:
    """With a truth of 2.5 final standard errors at α/36 the mean estimate is 2.25: found .225 with a
    final error of .1, the truth is .25; a level of .05 at which it is as it should be: nothing.
    """
    table = after.stopping_table(DESIGN)
    assert table.levels == pytest.approx((0.05, 0.05 / 36))
    bias = float(table.bias[1, 10])
    assert bias == pytest.approx(-0.20, abs=0.02)
    found = 0.5 + 0.1 * (2.5 + bias)
    asked = {"design": DESIGN, "null": 0.5, "look": 4, "se": 0.1}
    made = after.corrected_estimate(value=found, level=0.001, **asked)
    assert made == pytest.approx(0.75, abs=1e-6)
    mirrored = after.corrected_estimate(value=1 - found, level=0.001, **asked)
    assert mirrored == pytest.approx(0.25, abs=1e-6)
    assert after.corrected_estimate(value=0.5, level=0.05, **asked) is None


def test_repeated_intervals_by_hand() -> None:
    assert after.repeated_confidence(DESIGN, 1) == pytest.approx(0.995)
    assert after.repeated_confidence(DESIGN, 4) == pytest.approx(0.975)
