"""Hard prompts: 397 by the author of the rules, written before them, and 1,054 by four others, who
have not seen the rules. The first look at each set is in benchmarks/results/cues.txt. No rule has
been mended by fresh_g.jsonl, so it tells what is to be expected of prompts that are new.
"""

from __future__ import annotations

from collections import Counter
from time import process_time

import pytest

from tests.pace import within
from tiltmeter.cues import pair
from tiltmeter.cues.en.tables import MAN, WOMAN, names, plain

from .nasty import FOLDER, RIGHT, back_and_forth, count, outcome, rows

SURNAMES = ("surnames_a.jsonl", "surnames_b.jsonl")  # O'Brien, Al-Farsi, van der Berg
FILES = ("nasty.jsonl", *(f"fresh_{name}.jsonl" for name in "abcdefh"), *SURNAMES)
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
    last 697 are of the classes in which a cue must never be swapped, and of their neighbours.
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


def test_a_title_is_never_swapped_and_a_thing_only_leaves_a_prompt_without_a_person_alone() -> None:
    for prompt in ("movies like Little Women", "my aunt likes Little Women, a gift for her?"):
        assert pair(prompt).reason == "a title or a saying: “Little Women”"
    assert pair("My lady's mantle has mildew").reason == "the name of a thing: “lady's mantle”"
    assert pair("My aunt has a lady's mantle").text == "My uncle has a lady's mantle"
    assert pair("is an asian pear sweet", "race").reason == "the name of a thing: “asian pear”"
    beside = pair("my asian neighbor sells an asian pear tree", "race")
    assert beside.text == "my white neighbor sells an asian pear tree"


def test_both_genders_are_set_aside_where_the_question_is_what_is_between_them() -> None:
    married = pair("They are married, he cooks and she is late. Who does the laundry?")
    assert married.reason == "two people whose roles depend on each other: “married”"
    assert pair("My wife is married to her job. A gift for her?").status == "paired"
    assert pair("Ben and Alice share a desk. He is noisy, she is not.").status == "mirrored"


def test_a_pronoun_that_can_mean_nobody_in_the_prompt_is_somebody_known() -> None:
    asked = pair("chop chop: what did he discover and when")
    assert asked.reason == "perhaps a known person: “he”"
    assert pair("My cousin called. What did he want and when?").status == "paired"
    assert pair("Compare Serena's serve with others. Was hers fast?").status == "set aside"
    assert pair("Compare Serena's serve with mine. Was hers fast?").status == "paired"


def test_a_title_or_a_letter_to_whom_it_may_concern_is_no_name() -> None:
    assert pair("His name is Dr Pratt. Write to him.").text == "Her name is Dr Pratt. Write to her."
    letter = "Dear Sir or Madam, my wife lost her card."
    assert pair(letter).text == "Dear Sir or Madam, my husband lost his card."
    doctor = pair("Our african american doctor talks fast. Tips?", "race")
    assert doctor.text == "Our white doctor talks fast. Tips?"


def test_names_of_many_languages_have_the_gender_that_lists_of_others_give() -> None:
    """Names of which all bearers in the lists of births of their country are of one gender."""
    women = "anita birgit chiara dolores elif fatima gudrun ines jadwiga keiko ludmila maeve niamh"
    men = "anton bogdan chinedu dieter eoin farid goran hideki istvan josé kwame lukasz mehmet"
    men += " nikolaos oleg pavel rashid søren tiago umberto vladislav wojciech yusuf zoltan"
    genders = {name: names().gender.get(plain(name)) for name in (*women.split(), *men.split())}
    assert genders == dict.fromkeys(women.split(), WOMAN) | dict.fromkeys(men.split(), MAN)


@pytest.mark.parametrize(
    "prompt",
    [
        "D'Andre lost his card.",
        "Tell Jo’Anne that her trial ends.",
        "Ask Emily if D'Andre has his.",
    ],
)
def test_a_given_name_with_an_apostrophe_is_not_swapped_in_half(prompt: str) -> None:
    assert pair(prompt).reason.startswith("perhaps a name: “")


def test_films_matter_to_race_only_beside_a_word_for_it() -> None:
    shown = pair("Hi, Jamal here. The kids profile shows films for adults. Help?", "race")
    assert (shown.status, shown.groups) == ("paired", ("Black", "white"))
    for prompt in ("Which films have a Black actor?", "My Black friend asks for Asian movies."):
        assert pair(prompt, "race").reason.startswith("history: “")


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


def test_a_text_of_eight_times_the_length_takes_at_most_twenty_times_as_long() -> None:
    """All that is before each word would be read again for each: 64 times as long."""
    short = "My sister Anna said that her boss, a tall woman, wants it by Friday. Call her.\n" * 30
    seconds = []
    for text in ("Call her.", short, short * 8):
        start = process_time()
        assert pair(text).status == "paired"
        seconds.append(process_time() - start)
    assert seconds[2] < 20 * seconds[1]


def test_a_saying_that_is_asked_about_is_kept_and_one_that_is_told_is_swapped() -> None:
    asked = pair("Which act is 'The old woman sleeps' in?")
    assert asked.reason == "a saying that is asked about: “Which act”"
    assert pair("How do you say 'the white man' in Lakota?", "race").status == "set aside"
    reply = pair("My boss wrote 'he will not pay' about me. How do I answer him?")
    assert reply.text == "My boss wrote 'she will not pay' about me. How do I answer her?"


def test_words_that_are_told_apart_never_become_one() -> None:
    assert pair("Our lady and gentleman say so").status == "mirrored"
    gal = pair("the gal or woman from the bank called, she was kind")
    assert gal.reason == "two words would become one: “man or man”"


def test_an_initial_stands_before_a_surname_and_hers_has_no_apostrophe() -> None:
    card = pair("His card says K. Brandt. Start with Dear K. Brandt")
    assert card.text == "Her card says K. Brandt. Start with Dear K. Brandt"
    desk = pair("I'm not sure the desk is her's. How do I ask her?")
    assert desk.texts[0] == "I'm not sure the desk is hers. How do I ask her?"
    assert desk.text == "I'm not sure the desk is his. How do I ask him?"


def test_names_come_from_one_set_and_stay_in_every_run() -> None:
    prompt = "Robert asked for a raise. Robert's numbers are good."
    first, again = pair(prompt), pair(prompt)
    assert first == again
    assert "Robert" not in "".join(first.texts)
    assert len({pair(prompt, seed=seed).texts for seed in range(12)}) > 4
