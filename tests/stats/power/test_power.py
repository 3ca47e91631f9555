"""What t finds with a power, by hand and by statsmodels."""

import math

import pytest
from statsmodels.stats.power import TTestPower

from tiltmeter.stats.power import power
from tiltmeter.stats.quantiles import t_quantile


def test_detectable_by_hand() -> None:
    found = power.detectable(se=0.05, clusters=21)
    assert found == pytest.approx((t_quantile(0.975, 20) + t_quantile(0.8, 20)) * 0.05)
    assert round(found, 4) == 0.1473
    assert power.detectable(se=0.05, clusters=21, tests=40) > found
    assert math.isnan(power.detectable(se=0.05, clusters=1))


@pytest.mark.parametrize("clusters", [20, 40])
def test_detectable_is_detected_four_times_in_five(clusters: int) -> None:
    """By statsmodels' noncentral t."""
    difference = power.detectable(se=1 / math.sqrt(clusters), clusters=clusters)
    found = TTestPower().power(difference, clusters, 0.05, alternative="two-sided")
    assert found == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: power.detectable(se=-1, clusters=9), "se"),
        (lambda: power.detectable(se=float("nan"), clusters=9), "se"),
        (lambda: power.detectable(se=0.1, clusters=0), "clusters"),
        (lambda: power.detectable(se=0.1, clusters=9, tests=0), "tests"),
        (lambda: power.detectable(se=0.1, clusters=9, power=1.0), "power"),
    ],
)
def test_errors_name_the_argument(call, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        call()
