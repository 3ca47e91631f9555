"""How numbers are written. Expected texts are written by hand."""

from __future__ import annotations

import pytest

from tiltmeter.analyse.words import numerals


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (0.62, 2, ".62"),
        (0.575, 2, ".58"),
        (0.5, 3, ".500"),
        (0.0, 3, "0"),
        (1.0, 3, "1"),
        (1 - 1e-12, 3, "1"),
        (0.9996, 3, "> .999"),
        (0.0004, 3, "< .001"),
        (0.0005, 3, ".001"),
        (0.9994, 3, ".999"),
        (0.999, 2, "> .99"),
        (None, 3, "—"),
    ],
)
def test_a_share_is_0_or_1_only_where_it_is(value: float | None, places: int, text: str) -> None:
    assert numerals.share(value, places) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12, "+.120"),
        (-0.05, "−.050"),
        (0.0, "0"),
        (1.0, "+1.000"),
        (-0.0001, "−.000"),
        (None, "—"),
    ],
)
def test_a_difference_has_its_sign(value: float | None, text: str) -> None:
    assert numerals.difference(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.625, "1.63"),
        (0.61, "0.61"),
        (0.0, "0"),
        (0.004, "< 0.01"),
        (1234.5, "1,235"),
        (None, "—"),
    ],
)
def test_odds(value: float | None, text: str) -> None:
    assert numerals.odds(value) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0009, "< .001"),
        (0.001, ".001"),
        (0.0344, ".034"),
        (1.0, "1"),
        (0.9997, "> .999"),
        (0.0, "< .001"),
        (None, "—"),
    ],
)
def test_p_is_never_0(p: float | None, text: str) -> None:
    assert numerals.chance(p) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0213, "0.0213"),
        (1234.5678, "1,235"),
        (12.0, "12"),
        (-3.14159, "−3.14"),
        (0.0, "0"),
        (1e-12, "0.00000000"),
    ],
)
def test_other_units_have_three_figures(value: float, text: str) -> None:
    assert numerals.plain(value) == text


def test_intervals_and_counts() -> None:
    assert numerals.interval(0.55, 0.69, "share", places=2) == "[.55, .69]"
    assert numerals.interval(-0.05, 0.1, "share", signed=True, places=2) == "[−.05, +.10]"
    assert numerals.interval(None, None, "share") == "—"
    assert numerals.interval(0.8, None, "odds") == "[0.80, —]"
    assert (numerals.count(1960.0), numerals.count(170.72), numerals.count(0.0)) == (
        "1,960",
        "170.7",
        "0",
    )
    assert (numerals.dollars(0.0), numerals.dollars(0.0432), numerals.dollars(1234.5)) == (
        "$0.00",
        "$0.0432",
        "$1,234.50",
    )


@pytest.mark.parametrize(
    ("level", "baseline", "value", "places"),
    [
        (0.615, 0.594, 0.021, 1),  # 62 % less 59 % is not 2 points
        (0.64, 0.51, 0.13, 0),
        (0.80, 0.75, 0.021, 0),  # people's labels correct the value alone
        (0.615, 0.611, 0.004, 0),  # said as 0.4 points
        (-0.134, -0.02, -0.114, 0),  # differences of differences
    ],
)
def test_shares_and_their_difference_can_be_subtracted(
    level: float, baseline: float, value: float, places: int
) -> None:
    assert numerals.places_to_subtract(level, baseline, value) == places
