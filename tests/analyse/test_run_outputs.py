"""Runs whose groups are levels of the design (pairings of speakers), compared by shuffling outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import Made
from tiltmeter import registry
from tiltmeter.analyse.between_runs import compare as comparison
from tiltmeter.analyse.estimates import estimates
from tiltmeter.errors import RunMismatch

_SHIPPED = registry.protocol("dialogues")
DIALOGUES = replace(_SHIPPED, instruments=_SHIPPED.instruments[::-1])  # `Made` labels the first
Topics = Mapping[str, Mapping[str, int]]


def fill(run: Made, topics: Topics, language: str = "en") -> Made:
    rows = []
    for pairing, counts in topics.items():
        factors = {"language": language, "pairing": pairing, "first": "", "second": ""}
        rows += [
            (factors, "sampled", {topic: 1.0}) for topic, n in counts.items() for _ in range(n)
        ]
    run.label(rows, "topics/judge@hand")
    return run


ALIKE = {"FF": {"career": 10, "family": 10}, "MM": {"career": 12, "family": 8}}
MOVED = {"FF": {"appearance": 20}, "MM": {"career": 12, "family": 8}}


def test_shares_and_divergences_of_two_runs(tmp_path: Path) -> None:
    first, second = (
        fill(Made(tmp_path / "a", DIALOGUES), ALIKE),
        fill(Made(tmp_path / "b", DIALOGUES), MOVED),
    )
    found = comparison.compare([first.store, second.store], [DIALOGUES] * 2)
    rows = {
        (
            r.estimate.measure,
            r.estimate.condition.get("pairing"),
            r.estimate.condition.get("topic"),
        ): r
        for r in found.rows
    }
    career = rows["topic_share", "FF", "career"]
    assert (career.first, career.second, career.estimate.value) == (0.5, 0.0, -0.5)
    assert career.verdict == "different" and (career.estimate.p or 1) < 0.001
    same = rows["topic_share", "MM", "career"]
    assert (
        same.estimate.value == 0 and same.estimate.p == 1 and same.verdict == "no difference found"
    )
    # no topic in common: 1 at full separation; alike: plug-in 0, so below what chance gives
    assert rows["topic_divergence", "FF", None].estimate.value == pytest.approx(1)
    assert (rows["topic_divergence", "MM", None].estimate.value or 0) < 0
    whole = rows["topic_divergence", None, None]
    assert (whole.estimate.p or 1) < 0.001
    moved, alike = rows["topics_differ", "FF", None], rows["topics_differ", "MM", None]
    assert moved.headline and moved.verdict == "different" and alike.estimate.p == 1
    assert moved.estimate.cells is not None and moved.estimate.cells["named"]
    assert not any("no paired comparison" in line for line in found.left_out)
    for run in (first, second):
        run.store.close()


def test_nothing_to_compare_is_no_success(tmp_path: Path) -> None:
    first = fill(Made(tmp_path / "a", DIALOGUES), {"FF": {"career": 3}})
    second = fill(Made(tmp_path / "b", DIALOGUES), {"MM": {"career": 3}})
    with pytest.raises(RunMismatch, match="nothing to compare"):
        comparison.compare([first.store, second.store], [DIALOGUES] * 2)
    for run in (first, second):
        run.store.close()


def test_two_languages_of_one_run(tmp_path: Path) -> None:
    run = fill(fill(Made(tmp_path / "a", DIALOGUES), ALIKE), MOVED, "ja")
    rows = estimates(run.store, DIALOGUES)
    apart = {
        (e.condition["pairing"], (e.contrast or {})["language"]): e
        for e in rows
        if e.measure == "language_divergence"
    }
    assert apart["FF", "en − ja"].value == pytest.approx(1)
    assert (apart["MM", "en − ja"].p or 0) > 0.5
    shares = {
        (e.condition["pairing"], e.condition["topic"]): e
        for e in rows
        if e.measure == "language_difference"
    }
    moved = shares["FF", "appearance"]
    assert abs(moved.value or 0) == 1 and moved.low is not None and (moved.p_adjusted or 1) < 0.001
    assert shares["MM", "career"].value == 0
    run.store.close()


def test_what_chance_gives_is_exact(tmp_path: Path) -> None:
    """By hand: (2, 0) against (0, 2): 2 of 6 deals part them, so E₀ is 1/3 of a bit, to the digit."""
    run = fill(Made(tmp_path / "a", DIALOGUES), {"FF": {"career": 2}, "MM": {"family": 2}})
    (row,) = [
        e
        for e in estimates(run.store, DIALOGUES)
        if e.measure == "topic_divergence" and e.contrast == {"pairing": "FF − MM"}
    ]
    assert "by chance 0.3333" in row.note and row.value == pytest.approx(1)
    run.store.close()
