"""The smallest shift found: power at it, by the shipped tests on tables of other code."""

import math

import numpy as np
import pytest

from tiltmeter.stats import share_shifts
from tiltmeter.stats.power import detectable, tested_shift
from tiltmeter.stats.power.design import Design
from tiltmeter.stats.shuffles import conditions, resampling

LOOKS = 400
SLACK = 0.04 + 2 * math.sqrt(0.8 * 0.2 / LOOKS)


def tables(design: Design, shift: float, seed: int) -> np.ndarray:
    """Rates, shape (tables, items, conditions), drawn by numpy's beta and binomial."""
    generator = np.random.default_rng(seed)
    means = [design.share + shift, *[design.share] * (design.conditions - 1)]
    size = 1 / design.icc - 1
    rates = []
    for mean in means:
        truth = generator.beta(mean * size, (1 - mean) * size, (LOOKS, design.items))
        outputs = round(design.outputs)
        rates.append(generator.binomial(outputs, truth) / outputs)
    return np.stack(rates, axis=2)


@pytest.mark.parametrize(
    ("design", "level"),
    [
        (Design(0.5, 40, 20.0, 0.2), 0.05),
        (Design(0.5, 12, 10.0, 0.2), 0.05 / 4),
        (Design(0.2, 20, 90.0, 0.1, 2), 0.05 / 5),
        (Design(0.5, 30, 16.0, 0.2, 3), 0.05 / 9),
    ],
)
def test_four_in_five_are_found(design: Design, level: float) -> None:
    """By the tests themselves, sign flips and drawn conditions, at α/m."""
    shift = detectable.planned_shift(design=design, level=level)
    generator, found = np.random.default_rng(5), 0
    for rates in tables(design, shift, seed=6):
        if design.conditions < 3:
            other = design.share if design.conditions == 1 else rates[:, 1]
            test = resampling.sign_flip(
                differences=rates[:, 0] - other, draws=1_999, generator=generator
            )
        else:
            test = conditions.tested_condition(rates=rates, draws=1_999, generator=generator)
        found += test.p <= level
    assert found / LOOKS == pytest.approx(0.8, abs=SLACK)


def test_a_share_without_any_spread_is_found_at_once() -> None:
    assert detectable.planned_shift(design=Design(0.5, 20, math.inf, 0.0)) < 0.001


def test_too_few_items_find_nothing() -> None:
    """Ten items cannot pass .05/36 (2/2^10 = .00195), eleven can."""
    ten, eleven = (Design(0.5, items, 20.0, 0.05) for items in (10, 11))
    assert detectable.planned_shift(design=ten, level=0.05 / 36) is None
    assert detectable.planned_shift(design=eleven, level=0.05 / 36) is not None
    assert detectable.observed_shift(differences=np.arange(10.0), level=0.05 / 36) is None
    assert detectable.observed_shift(differences=[0.5] * 20) is None
    assert detectable.observed_shift(differences=[0.5]) is None


def test_more_items_help_where_outputs_no_longer_do() -> None:
    few, more, longer = (
        detectable.planned_shift(design=Design(0.5, items, outputs, 0.2))
        for items, outputs in ((20, 16.0), (40, 16.0), (20, 32.0))
    )
    assert more < 0.75 * few < longer < few


def test_pairing_helps_as_far_as_items_keep_their_place() -> None:
    apart, alike = (
        detectable.planned_shift(design=Design(0.3, 30, 50.0, 0.2, 2, correlation))
        for correlation in (0.0, 0.8)
    )
    assert alike < 0.7 * apart


@pytest.mark.parametrize(("items", "tests"), [(12, 1), (20, 4), (40, 36)])
def test_the_report_states_what_its_own_test_finds(items: int, tests: int) -> None:
    """Observed differences give the shift; new samples of their population are tested."""
    generator, level, rates = np.random.default_rng([7, items]), 0.05 / tests, []
    for seed in range(40):
        observed = generator.standard_normal(items) * 0.2
        shift = detectable.observed_shift(differences=observed, level=level, seed=seed)
        fresh = generator.standard_normal((20, items)) * 0.2 + shift
        rates.append(
            np.mean(
                [
                    resampling.sign_flip(differences=d, draws=3_999, generator=generator).p <= level
                    for d in fresh
                ]
            )
        )
    assert 0.66 < np.mean(rates) < 0.87


def test_a_tested_condition_states_what_its_own_test_finds() -> None:
    """Rates of 24 items in three conditions; new items of their population are tested at .05/9."""
    generator, level, found = np.random.default_rng(12), 0.05 / 9, []
    for seed in range(12):
        observed = generator.standard_normal((24, 3)) * 0.2
        shift = tested_shift.observed_tested_shift(rates=observed, level=level, seed=seed)
        for _ in range(20):
            rates = generator.standard_normal((24, 3)) * 0.2 + [shift, 0, 0]
            test = conditions.tested_condition(rates=rates, draws=3_999, generator=generator)
            found.append(test.p <= level)
    assert 0.66 < np.mean(found) < 0.9
    assert tested_shift.observed_tested_shift(rates=np.ones((24, 3))) is None
    assert tested_shift.observed_tested_shift(rates=observed[:3], level=level) is None


def test_one_seed_one_answer_in_any_unit() -> None:
    d = np.random.default_rng(8).standard_normal(25)
    shift = detectable.observed_shift(differences=d)
    detectable._observed.cache_clear()
    assert detectable.observed_shift(differences=d) == shift
    assert detectable.observed_shift(differences=1000 * d) == pytest.approx(1000 * shift)


def test_divergence_by_hand_and_by_size() -> None:
    tilt, bits = detectable.divergence_shift(shares=[1, 0], outputs=6)
    assert 0 < tilt <= 1 and 0 < bits <= 1
    near = detectable.divergence_shift(shares=[0.4, 0.3, 0.2, 0.1], outputs=20)
    far = detectable.divergence_shift(shares=[0.4, 0.3, 0.2, 0.1], outputs=200)
    assert 0 < far[0] < near[0] <= 1 and far[1] < near[1]
    strict = detectable.divergence_shift(shares=[1] * 6, outputs=20, level=0.05 / 36)
    assert strict[0] > detectable.divergence_shift(shares=[1] * 6, outputs=20)[0]
    assert detectable.divergence_shift(shares=[1, 1], outputs=2) is None


def test_divergence_is_found_by_the_shuffle_itself() -> None:
    from tiltmeter.stats.shuffles import permutation
    from tiltmeter.stats.shuffles.shuffling import Shuffles

    base = np.full(5, 0.2)
    tilt, _ = detectable.divergence_shift(shares=base, outputs=60)
    generator = np.random.default_rng(9)
    shuffles, found = Shuffles(draws=499, generator=generator), 0
    tilted = (1 - tilt) * base + tilt * np.eye(5)[0]
    for _ in range(150):
        a, b = (generator.choice(5, 60, p=p) for p in (base, tilted))
        found += permutation.base_against_group(base=a, group=b, shuffles=shuffles).p <= 0.05
    assert found / 150 == pytest.approx(0.8, abs=0.04 + 2 * math.sqrt(0.8 * 0.2 / 150))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: detectable.planned_shift(design=Design(1.2, 9, 9, 0.1)), "share"),
        (lambda: detectable.planned_shift(design=Design(0.5, 9, 9, -0.1)), "icc"),
        (lambda: detectable.planned_shift(design=Design(0.5, 9, 0, 0.1)), "output"),
        (lambda: detectable.planned_shift(design=Design(0.5, 9, 9, 0.1), level=0), "level"),
        (lambda: detectable.observed_shift(differences=[math.nan, 1]), "differences"),
        (lambda: detectable.divergence_shift(shares=[1], outputs=9), "shares"),
    ],
)
def test_errors_name_the_argument(call, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        call()


def test_a_low_share_that_is_raised_varies_more() -> None:
    """By hand: shares .5 and .5, s = .3: f² = (.25 + .16)/.5 = .82, so .3 where the shift is .3313;
    shares .2 and .2, s = .2: f² = (.16 + .24)/.32 = 1.25, so .2 where it is .1789; .8 alike.
    """
    for share, shift, found in ((0.5, 0.3313, 0.3), (0.2, 0.1789, 0.2), (0.8, 0.1789, 0.2)):
        given = share_shifts.shift_of_share(shift=shift, shares=(share, share))
        assert given == pytest.approx(found, abs=0.001)
    # against a value that does not vary: f² = .16/.25 = .64, so .3 where the shift is .375
    against = share_shifts.shift_from_value(shift=0.375, share=0.5, null=0.5)
    assert against == pytest.approx(0.3, abs=0.001)
    assert share_shifts.shift_of_share(shift=5.0, shares=(0.5, 0.5)) is None
    with pytest.raises(ValueError, match="from 0 to 1"):
        share_shifts.shift_of_share(shift=0.1, shares=(1.2, 0.5))
