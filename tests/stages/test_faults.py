"""A fault at every tenth write, commit, sync, rename and socket read of a small run (all of them:
benchmarks/faults.py)."""

from __future__ import annotations

import pytest

from tests.benchmark import benchmark
from tiltmeter.stages.engine import retries


def test_no_fault_loses_what_was_delivered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(retries, "FIRST_WAIT_S", 0.001)
    tried, wrong = benchmark("faults").measure(trials=3, every=10)
    assert wrong == []
    assert tried >= 10
