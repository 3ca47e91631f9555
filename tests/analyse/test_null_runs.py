"""Runs with no effect at all, through the whole headline analysis (benchmarks/null_runs.py)."""

from __future__ import annotations

import pytest

from tests.benchmark import benchmark


def test_runs_without_an_effect_claim_little(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark("null_runs").main(["--small"]) == 0
    assert capsys.readouterr().out.count("40 analyses") == 4
