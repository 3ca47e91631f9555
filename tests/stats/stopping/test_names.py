"""Runs that stop early with names as samples (benchmarks/stopping_names.py)."""

import pytest

from tests.benchmark import benchmark
from tiltmeter.stats.stopping.decision import PlainTests, information
from tiltmeter.stats.stopping.design import StoppingDesign


def test_luck_of_names_stops_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Groups alike, names not: flips over items alone, paid for at each look, still claim a tilt."""
    assert benchmark("stopping_names").main(["--small"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(float(line.rsplit(", ", 1)[1]) > 0.1 for line in lines)


def test_information_is_what_samples_still_take_off() -> None:
    """By hand: of a variance .01 within prompts .006 at 4 of 16 rounds: 1 - .6·.75 = .55."""
    design = StoppingDesign((4, 16), (0.4, 0.6), (0.1,), 1)
    left = 1 - 0.006 / 0.01 * (1 - 4 / 16)
    assert information(design, PlainTests([0.2], left), 1) == pytest.approx(0.55)
    assert information(design, PlainTests([0.2]), 1) == 0.25  # independent outputs: the part asked
