"""Items that differ: answers that repeat themselves are no draws, and other places that name the claim say so too."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tiltmeter
from tests.analyse.test_verdicts import three_groups
from tiltmeter.analyse.claims.verdicts import Verdict
from tiltmeter.analyse.words.verdict_words import Word

JOBS, SAMPLES = range(20), 6
LEVEL = {"kind": "share", "attribute": "advice", "values": ["raise"], "among": ["raise", "wait"]}


def run(
    people: dict[str, str], raised: Callable[[int, str, int], bool], out: Path
) -> tiltmeter.Run:
    """Groups of these people; answers by raised(number of the job, who, number of the sample)."""
    definition = three_groups({"level": "b", "baseline": "a"}).definition
    assert definition is not None
    keys: dict[str, Any] = {**definition["declared"], "cue_words": "who"}  # type: ignore[dict-item]
    who = [{"group": group, "who": name} for group in people for name in people[group].split()]
    keys["tables"] = [{"rows": who}, keys["tables"][1]]
    level = {"name": "level", "null": 0.5, "headline": True, **LEVEL}
    keys["measures"] = [*keys["measures"], level]
    rows = [
        {
            "prompt": keys["prompt"].format(job=f"job {n}", who=one["who"]),
            "text": "raise" if raised(n, one["who"], sample) else "wait",
        }
        for one in who
        for n in JOBS
        for sample in range(SAMPLES)
    ]
    return tiltmeter.run(tiltmeter.Protocol.declare(**keys), rows, out)


def gap(found: tiltmeter.Run) -> Verdict:
    return next(one for one in found.verdicts() if one.measure == "gap")


def whim(n: int, who: str, sample: int) -> bool:
    """One answer a prompt, whatever group and job are."""
    return hashlib.sha256(f"{n} {who}".encode()).digest()[0] % 2 == 0


def test_answers_that_repeat_themselves_count_once_a_prompt(tmp_path: Path) -> None:
    """A model without chance whose whims differ by name is no evidence of jobs: six repeats of each answer made it so."""
    found = gap(run({"a": "Ann Ada", "b": "Bob Ben"}, whim, tmp_path / "run"))
    assert found.between_items is not None and found.between_items["p_adjusted"] > 0.05
    assert found.word == Word.NO_DIFFERENCE


def test_one_prompt_a_level_cannot_be_told_from_its_item(tmp_path: Path) -> None:
    found = gap(run({"a": "Ann", "b": "Bob"}, whim, tmp_path / "run"))
    assert found.word == Word.NO_DIFFERENCE and found.between_items is None


def test_beside_other_numbers_the_claim_is_not_said_to_show_no_difference(tmp_path: Path) -> None:
    def both_ways(n: int, who: str, sample: int) -> bool:
        return ((n % 2 == 0) == (who in ("Bob", "Ben"))) == (sample > 0)

    found = run({"a": "Ann Ada", "b": "Bob Ben"}, both_ways, tmp_path / "run")
    assert gap(found).word == Word.ITEMS_DIFFER and "as they stand" not in gap(found).sentence
    page = found.report(tmp_path / "page.md").read_text("utf-8")
    assert "gap): no average difference found, items differ, 0" in page


def test_a_run_without_a_headline_is_not_said_to_be_unmeasured(tmp_path: Path) -> None:
    keys = three_groups({"level": "b", "baseline": "a"}).definition
    assert keys is not None
    declared: dict[str, Any] = {**keys["declared"]}  # type: ignore[dict-item]
    declared["measures"] = [{**declared["measures"][0], "headline": False}]
    found = tiltmeter.run(
        tiltmeter.Protocol.declare(**declared), "planted:protocol=groups", tmp_path / "run"
    )
    page = found.report(tmp_path / "page.md").read_text("utf-8")
    assert "No measure of this protocol is a headline" in page and "Nothing was" not in page
