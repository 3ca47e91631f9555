"""The detectable difference of a row: its own test, at the level of its family, in its own unit."""

from dataclasses import replace

import numpy as np
import pytest

from tiltmeter.analyse.measures import estimate_rows
from tiltmeter.analyse.words import reading
from tiltmeter.records import Estimate
from tiltmeter.stats.power.detectable import observed_shift
from tiltmeter.stats.results import Interval, Test

DIFFERENCES = np.random.default_rng(3).standard_normal(30) * 0.1
ROW = Estimate("roles", "a", "b", "share_she", {}, None, 0.6, "share")
TESTED = Test(0.1, 0.02, "sign flip")
FOUND = Interval(0.6, 0.5, 0.7, "t", se=0.02, clusters=30)


def test_the_family_sets_the_level() -> None:
    def detect(level: float) -> float | None:
        return observed_shift(differences=DIFFERENCES, level=level)

    row = estimate_rows.with_test(ROW, TESTED, FOUND, detect)
    assert row.detectable is None
    alone, one_of_ten = (
        estimate_rows.with_detectable(replace(row, family_size=size)).detectable
        for size in (None, 10)
    )
    assert alone == observed_shift(differences=DIFFERENCES, level=0.05)
    assert one_of_ten == observed_shift(differences=DIFFERENCES, level=0.005)
    assert one_of_ten > alone


def test_without_differences_t_on_the_error() -> None:
    """(2.0452 + .8542)·.02 by hand, at 29 degrees of freedom."""
    row = estimate_rows.with_detectable(estimate_rows.with_test(ROW, TESTED, FOUND))
    assert row.detectable == pytest.approx(0.05799, abs=1e-5)


def test_a_row_without_a_test_has_none_and_nothing_is_stored_of_how() -> None:
    row = estimate_rows.with_detectable(
        estimate_rows.with_test(ROW, replace(TESTED, p=None), FOUND)
    )
    assert row.detectable is None and row.detect is None
    assert "detect" not in row.as_dict() and "detectable" in row.as_dict()
    assert list(row.as_dict()) == Estimate.columns()


def test_a_shift_of_a_share_as_odds() -> None:
    assert estimate_rows.shift_as_odds(0.1) == pytest.approx(0.6 / 0.4 - 1)
    assert estimate_rows.shift_as_odds(0.5) is None


def test_of_a_ratio_a_reader_is_told_the_ratio_and_not_how_far_it_is_above_1() -> None:
    row = replace(ROW, unit="ratio", value=0.99, detectable=1.169)
    assert reading.detectable(row, None) == "2.17"
    assert reading.detectable_noun("ratio") == "smallest detectable ratio (80 % power)"
    assert reading.detectable(replace(row, unit="share", detectable=0.1), None) == ".100"
