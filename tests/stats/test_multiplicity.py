"""Adjusted p-values: Benjamini & Hochberg's own example, statsmodels, hand computations."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from tiltmeter.stats.multiplicity import (
    adjust,
    benjamini_hochberg,
    draws_needed,
    holm,
    reach,
)

# Benjamini & Hochberg (1995), section 3.2: thrombolysis, 15 hypotheses.
THROMBOLYSIS = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
    *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000),
]


def test_benjamini_and_hochbergs_example() -> None:
    """Four rejected by their procedure at .05, three by Holm's and Bonferroni's."""
    assert sum(q <= 0.05 for q in benjamini_hochberg(p=THROMBOLYSIS)) == 4
    assert sum(q <= 0.05 for q in holm(p=THROMBOLYSIS)) == 3


@pytest.mark.parametrize("seed", range(4))
def test_both_equal_statsmodels(seed: int) -> None:
    generator = np.random.default_rng(seed)
    p = np.round(generator.uniform(0, 1, 25) ** 2, 2 + seed)  # rounded: with ties
    assert benjamini_hochberg(p=p) == pytest.approx(
        list(multipletests(p, method="fdr_bh")[1]), abs=1e-12
    )
    assert holm(p=p) == pytest.approx(list(multipletests(p, method="holm")[1]), abs=1e-12)


def test_by_hand() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert benjamini_hochberg(p=p) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert holm(p=p) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_what_was_not_tested_does_not_count() -> None:
    assert benjamini_hochberg(p=[0.01, None, 0.04, float("nan")]) == [0.02, None, 0.04, None]
    assert holm(p=[None, 0.03, None]) == [None, 0.03, None]
    assert holm(p=[]) == [] and benjamini_hochberg(p=[None]) == [None]


@pytest.mark.parametrize("adjust", [benjamini_hochberg, holm])
@pytest.mark.parametrize("p", [[-0.1, 0.5], [0.2, 1.2]])
def test_no_probability_is_an_error(adjust, p) -> None:
    with pytest.raises(ValueError, match="p: "):
        adjust(p=p)


def test_a_family_says_how_large_it_is() -> None:
    family = adjust(p=[0.01, None, 0.04], method="holm")
    assert (family.p, family.tests, family.method) == ((0.02, None, 0.04), 2, "holm")
    assert adjust(p=[0.03, 0.04], method="benjamini-hochberg").p == (0.04, 0.04)


@pytest.mark.parametrize(("tests", "needed"), [(1, 6), (36, 11), (96, 12)])
def test_items_that_a_family_needs(tests: int, needed: int) -> None:
    """⌈1 + log₂(m/α)⌉; one item fewer cannot pass α/m whatever it shows."""
    enough, few = reach(items=needed, tests=tests), reach(items=needed - 1, tests=tests)
    assert enough.items_needed == few.items_needed == needed
    assert enough.possible and enough.note is None and not few.possible
    assert few.smallest_p == 2.0 ** (1 - few.items)
    assert few.note == (
        f"{needed - 1} items cannot show any difference in a family of {tests}: {needed} are needed"
    )


def test_three_conditions_need_fewer_items() -> None:
    """log₃(36/.05) = 5.99: six items, of which one assignment of 729 is the observed one."""
    assert reach(items=6, tests=36, conditions=3).items_needed == 6
    assert reach(items=6, tests=36, conditions=3).smallest_p == pytest.approx(3.0**-6)


def test_draws_follow_the_family() -> None:
    assert draws_needed(tests=1) == 9_999
    assert draws_needed(tests=36) == 36_000
    with pytest.raises(ValueError, match="tests"):
        draws_needed(tests=0)
