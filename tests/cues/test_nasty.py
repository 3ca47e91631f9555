"""Hard prompts: 397 by the author of the rules, written before them, and 240 by somebody who has
not seen the rules, of which half was never used to mend them (benchmarks/results/cues.txt).
"""

from __future__ import annotations

import time
from collections import Counter

import pytest

from tiltmeter.cues import pair

from .nasty import RIGHT, back_and_forth, count, outcome, rows

FILES = ("nasty.jsonl", "fresh_a.jsonl")
ROWS = rows()


def test_enough_prompts_must_be_swapped() -> None:
    expected = Counter(row["expect"] for row in ROWS)
    assert len(ROWS) >= 150 and expected["swap"] + expected["mirror"] >= 75


@pytest.mark.parametrize("file", FILES)
def test_prompts_are_swapped_right_or_left_alone(file: str) -> None:
    outcomes, prompts = count(file), rows(file)
    must = sum(row["expect"] in ("swap", "mirror") for row in prompts)
    assert outcomes["right"] >= 0.85 * must
    assert sum(outcomes[word] for word in RIGHT) >= 0.90 * len(prompts)
    assert outcomes["wrong"] <= 0.02 * len(prompts)
    swapped = [row["id"] for row in prompts if outcome(row).startswith("MATTERS, ")]
    assert swapped == []


def test_prompts_that_no_rule_was_mended_by() -> None:
    """The first look at them: 63 of 76 right, 10 of 120 wrong, 7 of 25 swapped where it matters.
    It is short of the goals above, and may only get better.
    """
    outcomes, prompts = count("fresh_b.jsonl"), rows("fresh_b.jsonl")
    assert sum(row["expect"] in ("swap", "mirror") for row in prompts) == 76
    assert outcomes["right"] >= 63 and sum(outcomes[word] for word in RIGHT) >= 99
    assert outcomes["wrong"] <= 10
    assert outcomes["MATTERS, paired"] + outcomes["MATTERS, mirrored"] <= 7


@pytest.mark.parametrize("file", FILES)
def test_swapping_twice_gives_the_text_back(file: str) -> None:
    back, swapped = back_and_forth(file)
    assert swapped >= 60 and back >= 0.97 * swapped


def test_500_prompts_take_less_than_five_seconds() -> None:
    before = time.process_time()
    for number in range(500):
        pair(ROWS[number % len(ROWS)]["prompt"], ROWS[number % len(ROWS)]["swap"], seed=number)
    assert time.process_time() - before < 5


def test_names_come_from_one_set_and_stay_in_every_run() -> None:
    prompt = "Robert asked for a raise. Robert's numbers are good."
    first, again = pair(prompt), pair(prompt)
    assert first == again
    assert "Robert" not in "".join(first.texts)
    assert len({pair(prompt, seed=seed).texts for seed in range(12)}) > 4
