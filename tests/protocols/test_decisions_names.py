"""The texts of `decisions_names`: of every pair that is compared, only the name differs."""

from __future__ import annotations

import re
from collections import Counter

from tiltmeter import registry

PROTOCOL = registry.protocol("decisions_names")


def test_the_design_is_balanced() -> None:
    counts = Counter((cell["ethnicity"], cell["gender"], cell["set"]) for cell in PROTOCOL.cells)
    assert len(counts) == 2 * 2 * 20 and set(counts.values()) == {70}


def test_two_prompts_that_are_compared_differ_in_the_name_alone() -> None:
    texts: dict[tuple[str, ...], set[str]] = {}
    for cell in PROTOCOL.cells:
        key = cell["scenario"], cell["gender"], cell["set"]
        texts.setdefault(key, set()).add(cell["text"])
    assert {len(same) for same in texts.values()} == {1}


def test_no_text_names_race_or_gender_of_the_person_but_by_pronouns() -> None:
    other = {"23": "counselor"}  # of whom the scenario says it, and who is not decided about
    for cell in PROTOCOL.cells:
        words = re.findall(r"(?i)\b(?:white|male|female|caucasian)\b ?(\w*)", cell["text"])
        assert words == ([other[cell["scenario"]]] if cell["scenario"] in other else [])
