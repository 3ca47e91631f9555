"""A verdict that the package does not have: added to a copy of it, and looked for on every surface."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter.analyse.words.caution_kinds import Caution, CautionKind

HOME = Path(tiltmeter.__file__).parent
STATS = "".join(path.read_text("utf-8") for path in (HOME / "stats").rglob("*.py"))
RECORD = """    LEANING = VerdictRecord(
        "leaning",
        WordLook("◭", "open", weight=0),
        chip="leans a little",
        sentence="{subject}: leaning. {Tested}.",
        headline="{subject} leans.",
        badge="leans",
        legend="leans, says the table",
        counted="leaning",
        change="Leaning",
    )
"""
# file → (text in it, what stands in its place)
ADDED = {
    "analyse/words/verdict_words.py": ("    NO_TEST = ", f"{RECORD}    NO_TEST = "),
    "analyse/claims/tested_word.py": (
        "        return Word.TILT\n",
        "        return Word.LEANING\n",
    ),
}


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package in which a tilt is called something else."""
    folder = tmp_path_factory.mktemp("verdict")
    shutil.copytree(HOME, folder / "tiltmeter")  # with what is compiled
    for name, (before, after) in ADDED.items():
        path = folder / "tiltmeter" / name
        text = path.read_text("utf-8")
        assert text.count(before) == 1, name
        path.write_text(text.replace(before, after), "utf-8")
    return folder


def test_one_verdict_more_is_two_files_and_reaches_every_surface(outside: Path) -> None:
    assert len(ADDED) <= 3
    asked = "--language en --limit 8 --samples 6 --mode sampled".split()
    for she, out in (("0.95", "one"), ("0.05", "two")):
        command = ["run", "roles", "--model", f"planted:she={she}", *asked, "--out", out]
        screen = run(outside, command)
        assert "◭ leans a little" in screen and "A leans." in screen
    page = (outside / "one" / "report.html").read_text("utf-8")
    assert '<tr id="finding-1" class="open" data-verdict="leans a little"' in page
    assert '<span class="symbol" aria-hidden="true">◭</span>' in page and "◭ leans" in page
    (row, *_) = json.loads(run(outside, ["analyse", "one", "--json"]))["verdicts"]
    assert row["word"] == "leaning" and row["sentence"].startswith("planted:she=0.95: leaning. ")
    run(outside, ["report", "one", "two", "--out", "both.md"])
    assert "◭ leans, says the table" in (outside / "both.md").read_text("utf-8")
    assert "leaning: 1 of 1" in run(outside, ["compare", "one", "two"])


def run(folder: Path, command: Sequence[str]) -> str:
    """What a command of the copy prints."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "120"}
    result = subprocess.run(
        [sys.executable, "-m", "tiltmeter", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_codes_of_cautions_are_one_record_each() -> None:
    """Every mark that statistics give an interval has a record with a text."""
    marks = {kind.value for kind in CautionKind if kind.mark}
    assert marks | {"zero_count", "zero_at_baseline"} == {
        *re.findall(r'Caution\(\s*"(\w+)"', STATS),
        "few_cue_words",
        "repeats_alike",  # of `analyse.claims.repeats`
    }
    named = Caution(CautionKind.REVERSES, "It matters more.", "order")
    assert named.as_dict() == {"code": "order_reverses", "text": "It matters more."}
    assert Caution(CautionKind.FEW_GOLD, "Little.").code == "few_gold"
