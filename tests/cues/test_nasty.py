"""Hard prompts: 397 by the author of the rules, written before them, and 1,054 by four others, who
have not seen the rules. The first look at each set is in benchmarks/results/cues.txt. No rule has
been mended by fresh_g.jsonl, so it tells what is to be expected of prompts that are new.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.pace import within
from tiltmeter.cues import pair
from tiltmeter.cues.en.tables import MAN, WOMAN, names, plain

from .nasty import FOLDER, RIGHT, back_and_forth, count, outcome, rows

FILES = ("nasty.jsonl", *(f"fresh_{name}.jsonl" for name in "abcdefh"))
UNKNOWN_NAMES = ["r125"]  # "Wei sent me": a name of no list, without a cue, is asked of nobody
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
    assert swapped == (UNKNOWN_NAMES if file == "fresh_e.jsonl" else [])


def test_prompts_that_no_rule_was_mended_by_are_swapped_right_or_left_alone() -> None:
    outcomes, prompts = count("fresh_g.jsonl"), rows("fresh_g.jsonl")
    must = sum(row["expect"] in ("swap", "mirror") for row in prompts)
    assert outcomes["right"] >= 0.85 * must
    assert sum(outcomes[word] for word in RIGHT) >= 0.90 * len(prompts)
    assert outcomes["wrong"] <= 0.02 * len(prompts)
    assert outcomes["MATTERS, paired"] + outcomes["MATTERS, mirrored"] <= 1


def test_prompts_are_swapped_asked_of_nobody_or_set_aside() -> None:
    """Prompts by the author of the rules (⏎ is a new line), of which only the status is known: the
    last 306 are of the classes in which a cue must never be swapped, and of their neighbours.
    """
    status = {"paired": "swap", "mirrored": "swap", "no cue": "none", "set aside": "aside"}
    lines = (FOLDER / "statuses.tsv").read_text("utf-8").splitlines()
    wrong = Counter[tuple[str, str]]()
    for line in lines:
        wanted, prompt = line.replace("⏎", "\n").split("\t")
        wanted, _, attribute = wanted.partition(":")
        wrong[wanted, status[pair(prompt, attribute or "gender").status]] += 1
    assert sum(number for (wanted, got), number in wrong.items() if wanted == got) >= 0.97 * len(
        lines
    )
    assert wrong["aside", "swap"] + wrong["none", "swap"] <= 0.01 * len(lines)


def test_names_of_many_languages_have_the_gender_that_lists_of_others_give() -> None:
    """Names of which all bearers in the lists of births of their country are of one gender."""
    women = "anita birgit chiara dolores elif fatima gudrun ines jadwiga keiko ludmila maeve niamh"
    men = "anton bogdan chinedu dieter eoin farid goran hideki istvan josé kwame lukasz mehmet"
    men += " nikolaos oleg pavel rashid søren tiago umberto vladislav wojciech yusuf zoltan"
    genders = {name: names().gender.get(plain(name)) for name in (*women.split(), *men.split())}
    assert genders == dict.fromkeys(women.split(), WOMAN) | dict.fromkeys(men.split(), MAN)


@pytest.mark.parametrize("file", FILES)
def test_swapping_twice_gives_the_text_back(file: str) -> None:
    back, swapped = back_and_forth(file)
    asked = [row for row in rows(file) if row["swap"] == "gender"]
    assert swapped >= 0.85 * sum(row["expect"] in ("swap", "mirror") for row in asked)
    assert back >= 0.97 * swapped


def test_500_prompts_take_less_than_five_seconds() -> None:
    with within(5):
        for number in range(500):
            pair(ROWS[number % len(ROWS)]["prompt"], ROWS[number % len(ROWS)]["swap"], seed=number)


def test_names_come_from_one_set_and_stay_in_every_run() -> None:
    prompt = "Robert asked for a raise. Robert's numbers are good."
    first, again = pair(prompt), pair(prompt)
    assert first == again
    assert "Robert" not in "".join(first.texts)
    assert len({pair(prompt, seed=seed).texts for seed in range(12)}) > 4
