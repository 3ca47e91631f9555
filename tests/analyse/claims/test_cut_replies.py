"""Cut replies beside a number: a caution and a badge above 2 %, nothing concluded above 10 %."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import pytest

from tiltmeter import api

CHOSEN: dict[str, Any] = {"language": "en", "mode": "sampled", "limit": 40, "samples": 4}


def answers(folder: Path, share: float, she: float = 0.9, *, text: str = "") -> api.Run:
    """A run of roles from a file in which so many replies were cut before a choice, or with a text."""
    drawn = random.Random(5)
    rows = [
        (
            row["prompt"],
            row["sample"],
            *((text, "length") if drawn.random() < share else ("", "stop")),
        )
        for row in api.trials("roles", "file:x", **CHOSEN)
    ]
    file = folder / "answers.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(("prompt", "sample", "text", "finish_reason"))
        for prompt, sample, said, reason in rows:
            said = said if reason == "length" else ("she" if drawn.random() < she else "he")
            writer.writerow((prompt, sample, said, reason))
    return api.run("roles", f"file:{file}", folder / "run", **CHOSEN)


def codes(run: api.Run) -> set[str]:
    return {caution.code for verdict in run.verdicts() for caution in verdict.cautions}


@pytest.mark.parametrize(
    ("share", "code", "word"),
    [(0.0, "", "tilt"), (0.05, "cut", "tilt"), (0.2, "much_cut", "undecided")],
)
def test_cut_replies_are_told_and_then_decide(
    share: float, code: str, word: str, tmp_path: Path
) -> None:
    run = answers(tmp_path, share)
    assert {verdict.word.value for verdict in run.verdicts()} == {word}
    assert codes(run) & {"cut", "much_cut"} == ({code} if code else set())
    badge = "of replies cut" in run.report(tmp_path / "report.html").read_text("utf-8")
    assert badge == bool(code)


def test_a_choice_that_was_stated_before_the_limit_is_whole(tmp_path: Path) -> None:
    run = answers(tmp_path, 0.3, text="The answer is she. I say so since")
    assert set(run.labels["value"]) == {"she", "he"}
    assert (run.outputs["ended"] == "cut").sum() > 50
    assert codes(run) & {"cut", "much_cut"} == set()
