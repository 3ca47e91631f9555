"""Gold by several people (benchmarks/gold_people.py), and how their voices are put together."""

from __future__ import annotations

import pytest

from tests.benchmark import benchmark
from tiltmeter.analyse.correction.voices import with_voices
from tiltmeter.records import Estimate


def row(value: float, p: float) -> Estimate:
    return Estimate(
        "", "", "", "gap", {}, None, value, "share", value - 0.1, value + 0.1, 0.95, p=p
    )


def test_one_person_who_errs_by_group_makes_no_tilt(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark("gold_people").main(["--small"]) == 0
    alone, _, _, *_, of_three = capsys.readouterr().out.splitlines()
    assert "people 1, biased 1" in alone and float(alone.split("pooled ")[1].split(",")[0]) > 0.6
    assert float(of_three.rsplit(" ", 1)[1]) > 0.7  # a true gap is found by three


def test_two_people_have_the_larger_p_of_one_sign() -> None:
    first, second, pooled = row(0.2, 0.01), row(0.12, 0.04), row(0.16, 0.001)
    found = with_voices(pooled, [first, second], ["ann", "bea"], 0.0)
    assert (found.value, found.p) == (0.12, 0.04)
    assert [one.who for one in found.voices] == ["ann", "bea"]
    found = with_voices(pooled, [first, row(-0.05, 0.3)], ["ann", "bea"], 0.0)
    assert (
        found.p == 1.0 and found.low == pytest.approx(-0.15) and found.high == 0.30000000000000004
    )


def test_a_majority_must_stand_without_any_one() -> None:
    rest = [row(0.15, 0.02), row(0.14, 0.03), row(0.08, 0.2)]
    found = with_voices(row(0.13, 0.01), rest, ["a", "b", "c"], 0.0)
    assert (found.value, found.p) == (0.13, 0.2)
    unknown = rest[0].without_value("gap")
    found = with_voices(row(0.13, 0.01), [rest[0], rest[1], unknown], ["a", "b", "c"], 0.0)
    assert found.p == 0.03
