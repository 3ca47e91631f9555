"""The progress of a run where standard error is no terminal."""

from __future__ import annotations

import pytest

from tiltmeter.cli import progress
from tiltmeter.stages.engine.limits import Tally


def test_a_log_has_a_line_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(0, 10_000, 25))  # seconds
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    with progress.progress_line() as (watch, _):
        for done in range(1, 13):
            watch("run", 400, Tally(done=10 * done, calls=10 * done))
    lines = capsys.readouterr().err.splitlines()
    assert 3 <= len(lines) <= 12
    assert lines[0].startswith("asking the model: ") and " of 400" in lines[0]
    assert lines[-1].endswith("calls/s")


def test_a_quick_run_leaves_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress_line() as (watch, _):
        watch("run", 4, Tally(done=4, calls=4))
    assert capsys.readouterr().err == ""
