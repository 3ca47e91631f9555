"""Two runs of names: a change is told over names and jobs like these, not of one name that drifts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tiltmeter
from tests.analyse.test_traps import TRAPS, Trap, flat, run
from tests.benchmark import benchmark
from tiltmeter.analyse.claims.verdicts import Verdict
from tiltmeter.analyse.words.verdict_words import Word

drifting_words = benchmark("drifting_words")
FAIR = replace(TRAPS["fair"], share=flat(0.5), names=(10, 10))


def one_name_moved(side: int, name: int, job: int, order: int) -> float:
    return 0.02 if (side, name) == (1, 0) else 0.5


def moved_both_ways(side: int, name: int, job: int, order: int) -> float:
    return 0.5 + (0.1 if (name + job) % 2 else -0.1)


def compared(first: Trap, second: Trap, folder: Path, margin: float = 0.05) -> Verdict:
    """The verdict of the gap between the two groups, of the second run less the first."""
    runs = [run(trap, folder / name).folder for trap, name in ((first, "one"), (second, "two"))]
    found = tiltmeter.compare(*runs, margin=margin)
    (verdict,) = [one for one in found.verdicts if one.measure == "gap"]
    return verdict


def test_a_change_of_all_names_is_told_of_names_like_these(tmp_path: Path) -> None:
    verdict = compared(FAIR, replace(FAIR, share=flat(0.5, -0.3)), tmp_path)
    assert verdict.word == Word.DIFFERENT
    assert verdict.headline.endswith("over names and jobs like these.")
    assert (verdict.population["cue_words"], verdict.population["words"]) == (
        "like these",
        [10, 10],
    )


def test_a_name_that_drifts_is_no_change_of_names_like_these(tmp_path: Path) -> None:
    few = replace(FAIR, names=(3, 3))
    verdict = compared(few, replace(few, share=one_name_moved), tmp_path)
    assert verdict.word == Word.TILT_OF_THESE
    assert "over names" not in verdict.headline


def test_equivalent_is_said_over_names_and_items(tmp_path: Path) -> None:
    """Names and jobs move by 10 points to either side: inside 10 points by the interval over both."""
    again = replace(FAIR, share=moved_both_ways)
    verdict = compared(FAIR, again, tmp_path, margin=0.1)
    assert verdict.word == Word.EQUIVALENT
    assert "over names and jobs like these" in verdict.headline


@pytest.mark.parametrize("drift", [0.0, 0.4])
def test_words_that_drift_by_themselves_are_seldom_a_change(drift: float) -> None:
    """.05 + 3 standard errors of 300 pairs of runs; over items alone three times as many."""
    design = drifting_words.Design("difference", 10, 20, 2, drift)
    found = drifting_words.measure(design, drifting_words.SMALL_PAIRS, seed=1)
    assert found.both <= 0.088
    assert found.covered >= 0.912
    assert drift == 0 or found.items > 0.08
