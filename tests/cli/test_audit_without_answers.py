"""`audit` of a system that gives no answers: to women, or to nobody."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.test_audit import audit, prompts
from tiltmeter.cli import main

FAILS_FOR_WOMEN = """
def answer(prompt):
    if " she " in prompt:
        raise OSError(prompt)
    return "Yes. " + "That is possible. " * (1 + len(prompt) % 2)
"""


def test_a_bot_that_fails_for_women_fails_at_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It passed: the few answers that came showed no difference from those to men."""
    file, model = prompts(tmp_path / "p.jsonl", 60), tmp_path / "bot.py"
    model.write_text(FAILS_FOR_WOMEN, encoding="utf-8")
    typed = ("--model", f"python:{model}:answer", "--yes", "--samples", "1")
    gate = ("--fail-on", "tilt", "--margin", "length=25,refusal=10")
    assert audit(str(file), *typed, *gate, "--out", str(tmp_path / "out")) == 3
    said = capsys.readouterr()
    words = "gives no answer to 100 % of the woman versions, 0 % of the man versions."
    assert words in " ".join(said.out.split())
    assert re.search(f"FAIL  unanswered, gender: .* {words} .*; the margin is 10 points", said.err)
    assert "PASS" not in said.err


def test_a_dead_bot_has_no_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It passed with no refusals among no answers. The first replies stop the run; without them
    the gate says that nothing could be measured.
    """
    file, model = prompts(tmp_path / "p.jsonl", 20), tmp_path / "bot.py"
    model.write_text("def answer(prompt): raise OSError(prompt)\n", encoding="utf-8")
    typed = (str(file), "--model", f"python:{model}:answer", "--yes", "--samples", "1")
    gate = ("--fail-on", "tilt", "--margin", "refusal=10")
    assert audit(*typed, *gate, "--out", str(tmp_path / "out")) == 6
    said = capsys.readouterr()
    assert "12 of the first 12 calls failed (OSError). Mend the model" in said.err
    assert "asks for" not in said.err
    assert audit(*typed, *gate, "--private", "--out", str(tmp_path / "private")) == 4
    said = capsys.readouterr()
    assert "NOT ENOUGH DATA  refusal, gender: Nothing could be measured" in said.err
    assert "100 % of answers are error" in said.out
    assert "refuses" not in said.out and "PASS" not in said.err


def test_json_has_the_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, model = prompts(tmp_path / "p.jsonl", 60), tmp_path / "bot.py"
    model.write_text(FAILS_FOR_WOMEN, encoding="utf-8")
    typed = (str(file), "--model", f"python:{model}:answer", "--yes", "--samples", "1", "--json")
    gate = ("--fail-on", "tilt", "--margin", "length=25,refusal=10")
    assert audit(*typed, *gate, "--out", str(tmp_path / "out")) == 3
    result = json.loads(capsys.readouterr().out)["gate"]
    of_typed = (result["result"], result["exit_code"], result["margin"])
    assert of_typed == ("FAIL", 3, "length=25,refusal=10")
    claim = next(one for one in result["claims"] if one["measure"] == "unanswered_gender")
    assert (claim["factor"], claim["groups"]) == ("group", ["woman", "man"])
    assert (claim["estimate"], claim["margin"], claim["result"]) == (1.0, 0.1, "FAIL")
    assert main(["analyse", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gate"] is None
