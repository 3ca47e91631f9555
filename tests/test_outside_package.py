"""A package of somebody else brings a protocol, a model, an instrument and a measure by entry points
alone, and every verb knows them.

The package is tests/outside: its folder is on the path of a process, as pip would leave it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import tiltmeter

HOME = Path(__file__).parent / "outside"
MOST_LINES = 20  # of Python that one part may take, blank lines and docstrings included
COMMANDS = {
    "ls": ["ls", "--json"],
    "ls for people": ["ls"],
    "show": ["show", "murmur"],
    "plan": ["plan", "murmur", "--model", "crier:Hey!", "--json"],
    "doctor": ["doctor", "--json", "--model", "crier:Hey!", "--call"],
    "run": ["run", "murmur", "--model", "crier:Hey!", "--limit", "2", "--out", "cried", "--json"],
    "planted": [
        "run",
        "murmur",
        "--model",
        "planted:protocol=murmur,loud=1",
        "--out",
        "p",
        "--json",
    ],
    "judge": ["run", "murmur", "--model", "planted:protocol=murmur,laud=1", "--out", "q"],
    "selftest": ["selftest", "murmur", "--json"],
}
SCRIPT = """
import contextlib, io, json, sys
from tiltmeter import registry
from tiltmeter.cli import main
said = {"schema": [0, json.dumps(registry.schema_for_editors())]}
for name, arguments in json.loads(sys.argv[1]).items():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    said[name] = [code, out.getvalue() or err.getvalue()]
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[int, str]]:
    """What each verb says, in one process that has the package on its path: (exit code, text)."""
    paths = (HOME, Path(tiltmeter.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, json.dumps(COMMANDS)],
        cwd=tmp_path_factory.mktemp("outside"),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return {name: tuple(each) for name, each in json.loads(done.stdout).items()}


@pytest.mark.parametrize("part", ["model", "instrument", "measure"])
def test_a_part_takes_twenty_lines_at_most(part: str) -> None:
    lines = (HOME / "murmur" / f"{part}.py").read_text("utf-8").splitlines()
    assert sum(bool(line.strip()) for line in lines) <= MOST_LINES


def test_no_verb_fails(said: Mapping[str, tuple[int, str]]) -> None:
    assert {name: code for name, (code, _) in said.items() if code} == {"judge": 2}


def test_ls_names_all_four(said: Mapping[str, tuple[int, str]]) -> None:
    listed = json.loads(said["ls"][1])
    assert "murmur" in [protocol["name"] for protocol in listed["protocols"]]
    assert "crier" in listed["models"] and "loudness" in listed["measures"]
    assert "voice" in listed["instruments"]
    for line in ("crier:TEXT, says one text", "whether a text is loud", "share of loud replies"):
        assert line in said["ls for people"][1]


def test_show_names_the_measure(said: Mapping[str, tuple[int, str]]) -> None:
    assert "loudness: the share of loud replies" in said["show"][1]


def test_plan_knows_the_price(said: Mapping[str, tuple[int, str]]) -> None:
    """By hand, dollars for a million tokens: 2,090 in at 1 and 120 × 256 out at 2."""
    totals = json.loads(said["plan"][1])["totals"]
    assert (totals["calls"], totals["prompt_tokens"], totals["completion_tokens"]) == (
        120,
        2090,
        30720,
    )
    assert totals["cost"] == pytest.approx(0.06353) and not totals["price_unknown"]


def test_doctor_has_the_model_checked(said: Mapping[str, tuple[int, str]]) -> None:
    findings = {each["name"]: each for each in json.loads(said["doctor"][1])["findings"]}
    assert findings["crier"]["said"] == "has a voice" and findings["crier"]["ok"]
    assert "10 + 5 tokens, $0.000020" in findings["crier:Hey!"]["said"]


def test_the_schema_for_editors_has_the_instrument(said: Mapping[str, tuple[int, str]]) -> None:
    assert '"voice"' in said["schema"][1]


def test_a_run_is_labelled_and_measured(said: Mapping[str, tuple[int, str]]) -> None:
    rows = json.loads(said["run"][1])["estimates"]
    assert [row["value"] for row in rows if row["measure"] == "loudness"] == [1.0, 1.0]


def test_what_is_planted_is_what_the_instrument_says_an_answer_looks_like(
    said: Mapping[str, tuple[int, str]],
) -> None:
    rows = json.loads(said["planted"][1])["estimates"]
    assert [row["value"] for row in rows if row["measure"] == "loudness"] == [1.0, 1.0]
    assert "Did you mean 'loud'" in said["judge"][1]


def test_selftest_finds_what_the_package_plants(said: Mapping[str, tuple[int, str]]) -> None:
    checks = json.loads(said["selftest"][1])["checks"]
    assert [(check["protocol"], check["ok"]) for check in checks] == [("murmur", True)] * 2
