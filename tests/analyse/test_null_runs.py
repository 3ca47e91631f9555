"""Runs with no effect at all, through the whole headline analysis (benchmarks/null_runs.py)."""

from __future__ import annotations

import pytest

from tests.benchmark import benchmark


def test_runs_without_an_effect_claim_little(capsys: pytest.CaptureFixture[str]) -> None:
    module = benchmark("null_runs")
    assert module.main(["--small"]) == 0
    runs = 7 if module.COUNTS.exists() else 5  # the published counts are beside the checkout
    assert capsys.readouterr().out.count("25 analyses") == runs
