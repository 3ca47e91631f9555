"""tiltmeter check: files of protocols, each with what is wrong; the hook of pre-commit calls it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_floors import REPOSITORY
from tiltmeter.cli import main

GOOD = """name = "raise"
title = "A raise"
question = "Is it advised?"
prompt = "{name}, a {job}: raised or kept?"
factors = ["group"]
item = "job"
tables = [
  { rows = [{ group = "women", name = "Emily" }, { group = "men", name = "Jacob" }] },
  { rows = [{ job = "cook" }, { job = "nurse" }, { job = "driver" }] },
]
"""


def test_files_are_checked_to_the_last_and_the_wrong_ones_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.toml").write_text(GOOD, "utf-8")
    Path("bad.toml").write_text(GOOD.replace('item = "job"', 'item = "jobs"'), "utf-8")
    assert main(["check", "good.toml"]) == 0
    assert capsys.readouterr().out == "good.toml: 6 prompts, 3 items\n"  # 2 names, 3 jobs
    assert main(["check", "bad.toml", "gone.toml", "good.toml"]) == 1
    shown = capsys.readouterr()
    assert "good.toml: 6 prompts" in shown.out
    assert "line 6, item: No column 'jobs'. Did you mean 'job'?" in shown.err
    assert "There is no protocol file gone.toml" in shown.err
    assert "2 of 3 files cannot be run" in shown.err


def test_the_hook_calls_it_for_files_of_protocols(tmp_path: Path) -> None:
    hooks = (REPOSITORY / ".pre-commit-hooks.yaml").read_text("utf-8")
    hook = dict(re.findall(r"^[- ] (\w+): (.+)$", hooks, re.MULTILINE))
    assert hook["id"] == "tiltmeter-check" and hook["language"] == "python"
    names = ["audit.toml", "deep/protocol.toml", "pyproject.toml", "my-audit.toml.md"]
    assert [name for name in names if re.search(hook["files"], name)] == names[:2]
    (tmp_path / "audit.toml").write_text(GOOD, "utf-8")
    program = [sys.executable, "-m", *hook["entry"].split(), "audit.toml"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
