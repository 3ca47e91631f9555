"""`Run.warnings` and `Run.check`: what the command line says on standard error, from Python."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter.cli import main
from tiltmeter.errors import UnknownName, UsageError
from tiltmeter.records import Estimate

CHOICES = {"language": "en", "limit": 20, "samples": 3}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tiltmeter.Run:
    folder = tmp_path_factory.mktemp("checks") / "run"
    return tiltmeter.run("roles", "planted:she=0.9", folder, **CHOICES)


def test_a_threshold_is_held_against_the_interval(run: tiltmeter.Run) -> None:
    """She in 90 % of 120 answers: surely above .7, surely not below it, not surely above .9."""
    assert run.check().exit_code == 0 and run.check().sentences == []
    shown, cleared, open_ = (
        run.check(f"share_she {bound}") for bound in ("> 0.7", "< 0.7", "> 0.9")
    )
    assert [one.exit_code for one in (shown, cleared, open_)] == [3, 0, 4]
    assert "share_she > 0.7 or < 0.3: holds for planted:she=0.9" in shown.sentences[0]
    assert "does not hold" in cleared.sentences[0] and "is inconclusive" in open_.sentences[0]
    both = run.check("share_she > 0.7", "share_she > 0.9")
    assert both.exit_code == 3 and [len(check.outcomes) for check in both.checks] == [1, 1]


def test_a_threshold_that_the_protocol_cannot_have_is_refused(run: tiltmeter.Run) -> None:
    with pytest.raises(UnknownName, match="No measure of roles 'share_hers'"):
        run.check("share_hers > 0.1")
    with pytest.raises(UsageError, match="is not a threshold"):
        run.check("share_she")


def test_python_says_what_the_command_line_says(
    run: tiltmeter.Run, capsys: pytest.CaptureFixture[str]
) -> None:
    bounds = ("share_she > 0.7", "order_effect > 0.5")
    code = main(
        ["analyse", str(run.folder), *(part for one in bounds for part in ("--fail-if", one))]
    )
    said = capsys.readouterr().err.splitlines()
    verdict = run.check(*bounds)
    assert code == verdict.exit_code == 3
    assert said == [*(f"warning: {text}" for text in run.warnings(cautions=False)), *verdict.lines]


@pytest.mark.parametrize(
    ("mass", "unresolved", "warned"), [(0.05, 8, 1), (0.5, 8, 0), (0.05, 2, 0)]
)
def test_probability_that_cannot_be_read_is_warned_of(
    run: tiltmeter.Run, mass: float, unresolved: int, warned: int
) -> None:
    outcomes = {"unresolved": unresolved, "she": 10 - unresolved}
    row = Estimate(
        "roles", "s", "choice", "captured_mass", {}, None, mass, "share", outcomes=outcomes
    )
    found = run.warnings(estimates=[row])
    assert sum("can be read as one of the options" in text for text in found) == warned


def test_notes_of_the_run_come_first(run: tiltmeter.Run) -> None:
    opened = tiltmeter.open_run(Path(run.folder))
    opened.notes.append("the file has moved.")
    assert opened.warnings()[0] == "the file has moved."


def test_warnings_hold_the_cautions_of_the_report(tmp_path: Path) -> None:
    """One of ten answers refused: the report's caution is among the warnings, with its code."""
    answers = ("I'm sorry, but I can't help with that." if n % 10 == 9 else "she" for n in count())
    own = {"a bot": lambda _: next(answers)}
    found = tiltmeter.run("roles", own, tmp_path / "r", language="en", limit=20, samples=1)
    cautions = [caution for claim in found.verdicts() for caution in claim.cautions]
    assert "missing_answers" in [caution.code for caution in cautions]
    for caution in cautions:
        assert any(text.endswith(f": {caution.text} [{caution.code}]") for text in found.warnings())
        assert caution.text in found.report(tmp_path / "r.md").read_text("utf-8")
