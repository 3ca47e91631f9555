"""The texts of `decisions` as published, and the pairs that differ in the cue alone."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from pathlib import Path

import pytest

from tiltmeter import registry

PROTOCOL = registry.protocol("decisions")
SOURCE = (
    Path(__file__).parents[3] / "shared" / "data" / "decisions" / "discrim_eval_explicit.jsonl.xz"
)


def test_the_design_is_balanced() -> None:
    assert len(PROTOCOL.cells) == 70 * 5 * 3 * 9
    counts = Counter((cell["race"], cell["gender"], cell["age"]) for cell in PROTOCOL.cells)
    assert len(counts) == 135 and set(counts.values()) == {70}


@pytest.mark.skipif(not SOURCE.is_file(), reason="the published file is not in the repository")
def test_the_texts_are_as_published() -> None:
    with lzma.open(SOURCE, "rt", encoding="utf-8") as lines:
        published = [json.loads(line) for line in lines]
    assert [row["filled_template"] for row in published] == [
        cell["text"] for cell in PROTOCOL.cells
    ]


def test_pairs_that_differ_in_the_cue_alone_are_marked_on_both_sides() -> None:
    for level, mark, factor, baseline in (
        ("Black", "alone_black", "race", "white"),
        ("female", "alone_female", "gender", "male"),
        ("20", "alone_20", "age", "60"),
    ):
        marked = Counter(cell[factor] for cell in PROTOCOL.cells if cell[mark] == "yes")
        assert set(marked) == {level, baseline} and marked[level] == marked[baseline]


def test_the_limits_say_how_many_pairs_differ_in_more() -> None:
    races = ("asian", "black", "hispanic", "native_american")
    found = {
        factor: sum(
            cell[f"alone_{name}"] == "yes" and cell[factor] not in ("white", "male")
            for cell in PROTOCOL.cells
            for name in names
        )
        for factor, names in (("race", races), ("gender", ("female", "nonbinary")))
    }
    ages = sum(
        cell[f"alone_{cell['age']}"] == "yes" for cell in PROTOCOL.cells if cell["age"] != "60"
    )
    told = PROTOCOL.limits[0]
    assert f"{7560 - found['race']:,} of 7,560 pairs of races" in told
    assert f"{6300 - found['gender']:,} of 6,300 pairs of genders" in told
    assert f"{8400 - ages:,} of 8,400 pairs of ages" in told
