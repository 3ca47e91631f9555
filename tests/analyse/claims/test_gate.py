"""The gate: margins, the three words, their exit codes, and JUnit that agrees with them."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import tiltmeter
from tiltmeter.analyse.claims.gate import Decision, Gate, hold, parse_gate
from tiltmeter.analyse.claims.thresholds import at_confidence
from tiltmeter.analyse.claims.verdicts import Verdict
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.cli import main
from tiltmeter.errors import UsageError

SMALL: dict[str, Any] = {"language": "en", "limit": 40, "samples": 2}
HOME = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tiltmeter.Run:
    """A run of a model that says "he" far more often than "she"."""
    return tiltmeter.run(
        "roles", "planted:he=0.9", tmp_path_factory.mktemp("gate") / "run", **SMALL
    )


def claim(run: tiltmeter.Run, **changes: Any) -> Verdict:
    """A share with no tilt at .5, over 61 items of 4 answers; 60 degrees of freedom."""
    given = {"value": 0.52, "low": 0.48, "high": 0.56, "clusters": 61, "n": 244.0}
    given |= {"word": Word.NO_DIFFERENCE, "p_adjusted": 0.32, "contrast": None}
    return replace(run.verdicts()[0], **given | changes)


def gate(margin: float, *fail_on: Any) -> Gate:
    return Gate(fail_on or ("tilt",), {"": (margin, False)})


def test_a_90_percent_interval_is_narrower_by_the_quantiles_of_t(run: tiltmeter.Run) -> None:
    """t(60): 2.0003 at .975 and 1.6706 at .95 (any table), so .04 becomes .03341."""
    low, high = at_confidence(claim(run), 0.90) or (math.nan, math.nan)
    assert (round(low, 5), round(high, 5)) == (0.48659, 0.55341)


@pytest.mark.parametrize(
    ("margin", "fail_on", "changes", "decision"),
    [
        (6, "tilt", {}, Decision.PASS),  # .5 ± .06 holds [.487, .553]
        (5, "tilt", {}, Decision.NOT_ENOUGH_DATA),
        (6, "tilt", {"word": Word.TILT, "p_adjusted": 0.01}, Decision.PASS),  # real, and small
        (5, "tilt", {"word": Word.TILT, "p_adjusted": 0.01}, Decision.FAIL),
        (5, "margin", {"word": Word.TILT, "p_adjusted": 0.01}, Decision.NOT_ENOUGH_DATA),
        (5, "margin", {"value": 0.3, "low": 0.25, "high": 0.35}, Decision.FAIL),
        (5, "tilt", {"low": None, "high": None}, Decision.NOT_ENOUGH_DATA),
        (9, "tilt", {"word": Word.JUDGE_REFUTED}, Decision.NOT_ENOUGH_DATA),
    ],
)
def test_the_three_words(
    run: tiltmeter.Run, margin: float, fail_on: Any, changes: dict[str, Any], decision: Decision
) -> None:
    assert hold(gate(margin, fail_on), [claim(run, **changes)]).decision is decision


def test_one_failing_claim_shuts_the_gate(run: tiltmeter.Run) -> None:
    tilts = claim(run, value=0.3, low=0.2, high=0.4, word=Word.TILT, p_adjusted=0.001)
    result = hold(gate(6), [claim(run), tilts, claim(run, low=0.4, high=0.6)])
    assert result.decision is Decision.FAIL
    words = [line.split("  ")[0] for line in result.lines]
    assert words == ["FAIL", "NOT ENOUGH DATA", ""]  # then what would decide
    assert hold(gate(6), []).decision is Decision.NOT_ENOUGH_DATA


def test_the_items_that_would_do(run: tiltmeter.Run) -> None:
    """The standard error is .0334 / 1.645 = .0203; a margin of 2 · 1.645 of them is passed in 9 of
    10 runs, so 5 points need 61 · (.0203 · 3.29 / .05)² = 109 items.
    """
    line, more = hold(gate(5), [claim(run)]).lines
    numbers = "share_she: 52 % (90 % interval 49 to 55 %); the margin is 5 points around 50 %."
    assert line == f"NOT ENOUGH DATA  {numbers}"
    assert re.search(r"109 \w+ of 4 answers would pass in 9 of 10 runs \(now 61\)", more)


def test_margins_of_ratios_are_factors(run: tiltmeter.Run) -> None:
    ratio = claim(run, unit="ratio", reference=1.0, value=0.98, low=0.92, high=1.04)
    ten = Gate(("tilt",), {ratio.measure: (10.0, True)})
    assert hold(ten, [ratio]).decision is Decision.PASS
    assert hold(ten, [replace(ratio, low=0.86, value=0.95)]).decision is Decision.NOT_ENOUGH_DATA
    five = hold(gate(5), [ratio]).claims[0]  # a bare 5 is 5 % of a ratio
    assert (five.decision, five.used > 1) == (Decision.NOT_ENOUGH_DATA, True)
    assert "the margin is −4.8 to +5 %" in five.line
    assert hold(gate(10), [ratio]).decision is Decision.PASS


def test_means_are_held_against_a_margin_in_their_own_unit_alone(run: tiltmeter.Run) -> None:
    changes = {"measure": "reading", "unit": "grades", "reference": 0.0, "value": 0.1}
    level = claim(run, low=-0.2, high=0.4, **changes)
    result = hold(gate(6), [claim(run), level])
    assert (result.decision, len(result.claims)) == (Decision.PASS, 1)
    assert result.lines[-1] == (
        "note: not held against a margin: reading (measured in grades). To hold it, add a size to "
        "--margin: reading=1"
    )
    named = Gate(("tilt",), {"": (6.0, False), "reading": (1.0, False)})
    assert len(hold(named, [claim(run), level]).claims) == 2


def test_a_margin_of_an_unknown_name_is_refused(run: tiltmeter.Run) -> None:
    with pytest.raises(
        UsageError, match=r"“shre”, which is not a headline of roles. Name one of: "
    ):
        Gate(("tilt",), {"shre": (2.0, False)}).refuse_unknown_names(run.protocol)


@pytest.mark.parametrize("margin", [None, "much", "0", "-5", "nan", "length="])
def test_a_gate_needs_a_margin(margin: str | None) -> None:
    with pytest.raises(UsageError, match="--margin 5 "):
        parse_gate(["tilt"], margin)


def test_margins_as_typed() -> None:
    typed = parse_gate([], "5,length=10%, refusal=2")
    assert typed == Gate(("tilt",), {"": (5, False), "length": (10, True), "refusal": (2, False)})
    assert parse_gate([], None) is None


@pytest.mark.parametrize(
    ("typed", "code", "word", "case"),
    [
        (["--fail-if", "share_she > 0.6"], 3, "share_she > 0.6 or < 0.4: holds", "failure"),
        (["--fail-if", "signed(share_she) > 0.6"], 0, "1 headline claim found to tilt", "skipped"),
        (["--fail-on", "tilt", "--margin", "5"], 3, "FAIL  share_she", "failure"),
        (["--fail-on", "margin", "--margin", "45"], 4, "NOT ENOUGH DATA  share_she", "error"),
        (["--fail-on", "tilt", "--margin", "49.9"], 0, "PASS  no tilt beyond the margin", None),
    ],
)
def test_words_exit_code_and_junit_agree(
    run: tiltmeter.Run,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    typed: list[str],
    code: int,
    word: str,
    case: str | None,
) -> None:
    junit = tmp_path / "junit.xml"
    assert main(["analyse", str(run.folder), *typed, "--junit", str(junit)]) == code
    assert word in capsys.readouterr().err
    cases = list(ElementTree.parse(junit).iter("testcase"))
    kinds = {child.tag for one in cases for child in one if child.tag != "system-out"}
    assert kinds >= {case} if case else not kinds


def _action(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Runs the script of the action from a user's folder."""
    values = {
        "PROTOCOL": "roles",
        "FAIL_ON": "tilt",
        "MARGIN": "5",
        "ARGUMENTS": "--language en --limit 40 --samples 2",
        "OUT": "out",
        "INSTALL": "none",
        "GITHUB_ACTION_PATH": str(HOME),
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(HOME / "src"),
        **inputs,
    }
    return subprocess.run(
        ["bash", str(HOME / "scripts" / "audit.sh")],
        cwd=folder,
        env=values,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_action_audits_another_repository(tmp_path: Path) -> None:
    """The script runs from the user's folder, and writes outputs and a summary there."""
    done = _action(tmp_path, MODEL="planted:he=0.9")
    assert done.returncode == 3, done.stderr
    assert "FAIL  share_she" in done.stderr
    assert (tmp_path / "outputs").read_text() == "code=3\n"
    assert "she" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_the_action_is_not_green_without_data(tmp_path: Path) -> None:
    """NOT ENOUGH DATA fails the job, unless its workflow says that it may pass."""
    done = _action(tmp_path, MODEL="planted:she=0.5", MARGIN="1")
    assert (done.returncode, "NOT ENOUGH DATA  share_she" in done.stderr) == (4, True)
    assert "<error" in (tmp_path / "out" / "junit.xml").read_text()
    done = _action(tmp_path, MODEL="planted:she=0.5", MARGIN="1", INCONCLUSIVE="pass")
    assert (done.returncode, "NOT ENOUGH DATA  share_she" in done.stderr) == (0, True)
    assert "<error" not in (tmp_path / "out" / "junit.xml").read_text()
    done = _action(tmp_path, MODEL="planted:she=0.5", INCONCLUSIVE="green")
    assert (done.returncode, "inconclusive is fail or pass" in done.stderr) == (2, True)
