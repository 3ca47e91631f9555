"""The part of a plan about a gate: prompts and answers for a PASS, of lengths too, and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tiltmeter.cli import main

from .test_audit import audit, bot, prompts


@pytest.mark.parametrize(("samples", "needed"), [(1, 580), (3, 201), (5, 125)])
def test_prompts_for_a_pass_of_lengths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], samples: int, needed: int
) -> None:
    """By hand: (.05² + 2·.25²/samples)·(3.29/ln 1.05)², two one-sided tests at 5 % and 90 %."""
    out, number = tmp_path / "out", str(samples)
    file = prompts(tmp_path / "p.jsonl", 24)
    assert audit(str(file), "--dry-run", "--samples", number, "--out", str(out)) == 0
    model = bot(tmp_path / "bot.py", 0.1, 0.1)
    typed = ["plan", str(out / "audit.toml"), "--model", model, "--margin", "5,length=5%,reading=1"]
    capsys.readouterr()
    assert main([*typed, "--json"]) == 0
    rows = {row["measure"]: row for row in json.loads(capsys.readouterr().out)["gate"]}
    assert rows["length_gender"]["items_needed"] == pytest.approx(needed, abs=4)
    assert rows["length_gender"]["with_twice_answers"] < rows["length_gender"]["items_needed"]
    assert rows["refusal_gender"]["for_all"] > rows["refusal_gender"]["items_needed"]
    assert main(typed) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"all {len(rows)} of them pass in about" in said and "calls" in said
