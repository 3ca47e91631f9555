"""The progress of a run where standard error is no terminal."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import pytest

from tiltmeter import api
from tiltmeter.api.runs.progress import progress_text
from tiltmeter.cli import progress
from tiltmeter.stages.engine.limits import Tally
from tiltmeter.stages.engine.window import Window


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
    assert "calls/s" in lines[-1] and lines[-1].endswith("left")


def test_a_quick_run_leaves_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress_line() as (watch, _):
        watch("run", 4, Tally(done=4, calls=4))
    assert capsys.readouterr().err == ""


def test_rates_the_window_and_what_limits_it_are_shown() -> None:
    window = Window(16, 64, rate=2.0)
    for _ in range(3):
        window.begin(time.monotonic())
    tally = Tally(done=50, calls=60, tokens=9000, windows={"openai:m": window})
    text = progress_text(tally, 10.0, total=150)
    assert "6.0 calls/s 900 tokens/s 3 of 16 in flight (--rate)" in text
    assert "0:00:20 left" in text


def test_answers_of_another_mode_are_not_counted_as_done(tmp_path: Path) -> None:
    pairs: list[tuple[int, int | None]] = []

    def watch(stage: str, total: int | None, tally: Tally) -> None:
        if stage == "run" and not tally.lines:
            pairs.append((tally.before + tally.done, total))

    run = partial(api.run, "roles", "planted:she=0.7", tmp_path / "run", language="en", limit=2)
    run(mode="exact")
    run(mode="sampled", samples=2)
    run(mode="sampled", samples=3, watch=watch)
    assert pairs[-1] == (12, 12) and all(done <= 12 for done, _ in pairs)
