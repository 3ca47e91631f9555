"""Some SIGKILLs of runs by batch, between what a provider does and what is stored of it (all steps of all formats:
benchmarks/batches.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.benchmark import BENCHMARKS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are made by fork")
def test_killed_runs_pay_nothing_twice_and_lose_nothing() -> None:
    command = [sys.executable, str(BENCHMARKS / "batches.py"), "--kills", "4"]
    formats = ["--formats", "openai", "anthropic", "--json"]
    done = subprocess.run([*command, *formats], capture_output=True, text=True, timeout=300)
    found = json.loads(done.stdout)
    assert done.returncode == 0, found["said"]
    assert found["kills"] >= 4 and found["all"]["points"] > 100
