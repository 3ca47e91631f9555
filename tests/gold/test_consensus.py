"""A panel against people by how far its judges agree, and by judge, on votes that are written down."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Made
from tiltmeter import gold, registry
from tiltmeter.analyse.whole_run import warnings
from tiltmeter.gold.consensus import judge_names, panel_accuracies
from tiltmeter.records import Label

PANEL = "panel/a:x+b:y+c:z@12345678"
GRAMVIS = registry.protocol("gramvis")
# the panel's label, the three votes, and what people say
VOTES = [
    ("male", ("male", "male", "male"), "male"),
    ("male", ("male", "male", "male"), "male"),
    ("female", ("female", "female", "female"), "male"),
    ("female", ("female", "female", "male"), "female"),
    ("male", ("male", "invalid", "male"), "neither"),
    ("neither", ("male", "female", "neither"), "neither"),
    ("no_decision", ("male", "refusal", "error"), "male"),
]


@pytest.fixture
def run(tmp_path: Path) -> Made:
    made = Made(tmp_path / "run", GRAMVIS)
    for number, (said, votes, truth) in enumerate(VOTES, 1):
        word = f"de:w{number}"
        levels = {"word": word, "side": "gendered", "language": "de", "prompt_language": "de"}
        made.label([(levels, "sampled", {said: 1.0})], PANEL)
        output = f"t{number:06}"
        cast = [Label(output, PANEL, "gender_vote", v, n) for n, v in enumerate(votes)]
        made.store.write([], [], [*cast, Label(output, "human:ann", "gender", truth)])
    return made


def test_accuracy_by_consensus_and_by_judge(run: Made) -> None:
    """3 unanimous, 2 of them right; 2 majorities, 1 right; 2 splits, 1 right. By judge as counted above."""
    rows = list(panel_accuracies(run.store, GRAMVIS, gold.pairs(run.store)))
    found = {row.who: (row.labels, row.right, row.judge) for row in rows}
    assert found == {
        "all judges agree": (3, 2, False),
        "2 of 3 agree": (2, 1, False),
        "no majority": (2, 1, False),
        "a:x": (7, 4, True),
        "b:y": (7, 3, True),
        "c:z": (7, 3, True),
    }
    first = rows[0].accuracy
    assert first.value == pytest.approx(2 / 3) and first.low is not None
    run.store.close()


def test_judges_without_names_have_numbers() -> None:
    assert judge_names("panel/a+b@1", 2) == ["a", "b"]
    assert judge_names("counts", 3) == ["judge 1", "judge 2", "judge 3"]


def test_a_panel_of_one_says_so(tmp_path: Path) -> None:
    made = Made(tmp_path / "run", GRAMVIS)
    levels = {"word": "de:w", "side": "gendered", "language": "de", "prompt_language": "de"}
    made.label([(levels, "sampled", {"male": 1.0})], "panel/a:x@1")
    made.store.write([], [], [Label("t000001", "panel/a:x@1", "gender_vote", "male")])
    (text,) = warnings.warnings(made.store, GRAMVIS)
    assert text.startswith("panel/a:x@1 is a panel of one judge")
    made.store.close()
