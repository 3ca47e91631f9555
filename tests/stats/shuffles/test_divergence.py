"""Entropy and divergence: against scipy and hand computations; ceilings from PROTOCOLS section 3."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import distance

from tiltmeter.stats.shuffles import divergence

PAIRS = [
    ([1, 1], [2, 0]),
    ([3, 5, 2], [4, 4, 12]),
    ([0, 7, 3, 10], [5, 5, 5, 5]),
    ([20, 0], [0, 20]),
    ([4, 6], [8, 12]),
]


@pytest.mark.parametrize("counts", [[1, 1, 2], [5], [0, 3, 0, 9], [1, 2, 3, 4, 5, 6]])
def test_entropy_equals_scipy(counts: list[int]) -> None:
    assert divergence.entropy(counts=counts) == pytest.approx(
        stats.entropy(counts, base=2), abs=1e-12
    )


def test_entropy_by_hand() -> None:
    assert divergence.entropy(counts=[1, 1, 2]) == pytest.approx(1.5, abs=1e-12)
    corrected = divergence.entropy(counts=[1, 1, 2], miller_madow=True)
    assert corrected == pytest.approx(1.5 + 2 / (8 * math.log(2)), abs=1e-12)
    assert math.isnan(divergence.entropy(counts=[0, 0]))


def test_miller_madow_takes_most_of_the_bias_away() -> None:
    generator = np.random.default_rng(2)
    tables = generator.multinomial(20, [1 / 6] * 6, size=2000)
    plugin = np.mean([divergence.entropy(counts=t) for t in tables])
    corrected = np.mean([divergence.entropy(counts=t, miller_madow=True) for t in tables])
    assert math.log2(6) - plugin > 0.15
    assert abs(math.log2(6) - corrected) < 0.03


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_js_equals_scipy(first: list[int], second: list[int]) -> None:
    theirs = distance.jensenshannon(first, second, base=2)
    assert divergence.js_divergence(first=first, second=second) == pytest.approx(
        theirs**2, abs=1e-9
    )
    assert divergence.js_distance(first=first, second=second) == pytest.approx(theirs, abs=1e-7)
    natural = distance.jensenshannon(first, second)
    assert divergence.js_distance(first=first, second=second, base=math.e) == pytest.approx(
        natural, abs=1e-7
    )


def test_ceilings() -> None:
    assert divergence.js_divergence(first=[9, 0], second=[0, 4]) == pytest.approx(1, abs=1e-12)
    natural = divergence.js_distance(first=[9, 0], second=[0, 4], base=math.e)
    assert round(natural, 4) == 0.8326  # the top of the paper's Table 3


def test_divergence_by_hand() -> None:
    three_quarters = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    assert divergence.js_divergence(first=[1, 1], second=[2, 0]) == pytest.approx(
        three_quarters - 0.5, abs=1e-12
    )
    assert math.isnan(divergence.js_divergence(first=[0, 0], second=[1, 2]))


def test_chance_adjusted() -> None:
    assert divergence.chance_adjusted(divergence=0.4, expected=0.1) == pytest.approx(1 / 3)
    assert divergence.chance_adjusted(divergence=1.0, expected=0.25) == 1
    assert divergence.chance_adjusted(divergence=0.25, expected=0.25) == 0
    assert math.isnan(divergence.chance_adjusted(divergence=1.0, expected=1.0))
    assert math.isnan(divergence.chance_adjusted(divergence=math.nan, expected=0.2))


def test_concentration() -> None:
    assert divergence.concentration(counts=[1, 1, 2]) == pytest.approx(1 - 1.5 / math.log2(3))
    assert divergence.concentration(counts=[5, 5, 5, 5]) == pytest.approx(0)
    assert divergence.concentration(counts=[20, 0, 0]) == 1
    assert divergence.concentration(counts=[1, 1], values=64) == pytest.approx(
        1 - 1 / 6
    )  # never 0: n below K
    assert math.isnan(divergence.concentration(counts=[7]))
    with pytest.raises(ValueError, match="values"):
        divergence.concentration(counts=[1, 1, 1], values=2)
    with pytest.raises(ValueError, match="base"):
        divergence.js_distance(first=[1], second=[1], base=1.0)
