"""Hard prompts, written before the rules: 397 of them, of which 216 must be swapped."""

from __future__ import annotations

import time
from collections import Counter

from tiltmeter.cues import pair

from .nasty import ROWS, count, outcome


def test_enough_prompts_must_be_swapped() -> None:
    expected = Counter(row["expect"] for row in ROWS)
    assert len(ROWS) >= 150 and expected["swap"] + expected["mirrored"] >= 75


def test_prompts_are_swapped_right_or_left_alone() -> None:
    outcomes = count()
    must = sum(row["expect"] in ("swap", "mirrored") for row in ROWS)
    right = sum(outcomes[word] for word in ("right", "right none", "aside rightly"))
    assert outcomes["right"] >= 0.85 * must
    assert right >= 0.90 * len(ROWS)
    assert outcomes["wrong"] <= 0.02 * len(ROWS)
    swapped = [row["id"] for row in ROWS if outcome(row).startswith("MATTERS, ")]
    assert swapped == []


def test_swapping_twice_gives_the_text_back() -> None:
    pairs = [pair(row["prompt"]) for row in ROWS if row["swap"] == "gender"]
    swapped = [one for one in pairs if one.text]
    back = [pair(one.text).text == one.texts[0] for one in swapped]
    assert len(swapped) >= 60 and sum(back) >= 0.97 * len(back)


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
