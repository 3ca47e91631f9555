"""The dialogue parser on answers that were labelled by hand before it read them, and the language of dialogues."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path

import pytest

from tiltmeter import registry
from tiltmeter.errors import MissingExtra
from tiltmeter.instruments.dialogue import LONGEST_CHARACTERS, DialogueForm, read, speeches
from tiltmeter.languages import identify as language_id
from tiltmeter.planted.speech import dialogues
from tiltmeter.protocol import InstrumentSpec

from .making import answered, drive

pytest.importorskip("py3langid", reason="the extra 'languages' is not installed")

HERE = Path(__file__).parent
LANGUAGES = ("en", "fr", "es", "zh", "ja", "ko")
SPACED = ("en", "fr", "es")
BANK = {code: dialogues(code) for code in ("en", "fr", "es", "zh", "ja", "ko")}
PAIRS = [(code, topic, *lines) for code, topics in BANK.items() for topic, lines in topics.items()]
# Labelled two_lines by hand; the parser calls them invalid. A parser that learns to read them should say so here.
MISSED: set[str] = set()


def by_hand() -> list[dict[str, str]]:
    with (HERE / "dialogues.csv").open(encoding="utf-8", newline="") as file:
        return [
            {
                **row,
                "text": row["text"].replace("\\r", "\r").replace("\\n", "\n").replace("\\\\", "\\"),
            }
            for row in csv.DictReader(file)
        ]


def prompts(code: str) -> list[str]:
    return [
        cell["prompt"] for cell in registry.protocol("dialogues").cells if cell["language"] == code
    ]


def test_answers_labelled_by_hand() -> None:
    rows = by_hand()
    assert len(rows) > 200 and min(Counter(row["language"] for row in rows).values()) >= 15
    assert set(Counter(row["expected"] for row in rows)) == {
        "two_lines",
        "one_line",
        "more_lines",
        "refusal",
        "other_language",
        "invalid",
    }
    wrong = {}
    for row in rows:
        prompt = next(
            (p for p in prompts(row["language"]) if p in row["text"]), prompts(row["language"])[1]
        )
        found = read(row["text"], row["language"], prompt)
        if found != row["expected"]:
            wrong[row["why"]] = (row["expected"], found)
    assert wrong == dict.fromkeys(MISSED, ("two_lines", "invalid"))


MARKS = {
    "en": ("Woman", "Man"),
    "fr": ("Femme", "Homme"),
    "es": ("Mujer", "Hombre"),
    "zh": ("女人", "男人"),
    "ja": ("女性", "男性"),
    "ko": ("여자", "남자"),
}
NAMES = {
    "en": ("Mary", "John"),
    "fr": ("Élodie", "Marc"),
    "es": ("Lucía", "José"),
    "zh": ("小美", "王明"),
    "ja": ("由美", "太郎"),
    "ko": ("지영", "민수"),
}
STYLES = [
    "{a}: {x}\n{b}: {y}",
    "{a}：{x}\n{b}：{y}",
    "{a} : {x}\n\n{b} : {y}",
    '{a}: "{x}"\n{b}: "{y}"',
    "{a}: “{x}”\n{b}: “{y}”",
    "{a} : « {x} »\n{b} : « {y} »",
    "{a}：「{x}」\n{b}：「{y}」",
    "{a}「{x}」\n{b}「{y}」",
    "**{a}:** {x}\n**{b}:** {y}",
    "**{a}**: {x}\n\n**{b}**: {y}",
    "*{a}*: {x}\n*{b}*: {y}",
    "- {a}: {x}\n- {b}: {y}",
    "1. {a}: {x}\n2. {b}: {y}",
    "> {a}: {x}\n> {b}: {y}",
    "{a} 1: {x}\n{b} 2: {y}",
    "{a}:\n{x}\n\n{b}:\n{y}",
    "```\n{a}: {x}\n{b}: {y}\n```",
    "{a} (A): {x}\n{b} (B): {y}",
    "{a}: {x}<br>{b}: {y}",
    "Sure!\n\n{a}: {x}\n{b}: {y}\n\n---",
    "{a}: {x}\n{a}: {y}",
]
BARE = [
    '"{x}"\n"{y}"',
    "“{x}”\n\n“{y}”",
    "« {x} »\n« {y} »",
    "「{x}」\n「{y}」",
    '"{x}" "{y}"',
    "- {x}\n- {y}",
    "— {x}\n— {y}",
    "– {x}\n– {y}",
    '1. "{x}"\n2. "{y}"',
    '- "{x}"\n- "{y}"',
]


@pytest.mark.parametrize(("code", "topic", "first", "second"), PAIRS)
def test_a_dialogue_comes_back_from_every_way_to_write_it(
    code: str, topic: str, first: str, second: str
) -> None:
    for names in (MARKS[code], NAMES[code], ("A", "B")):
        for style in (*STYLES, *BARE):
            text = style.format(a=names[0], b=names[1], x=first, y=second)
            found = [speech.strip(' "“”«»「」') for speech in speeches(text)]
            assert (found, read(text, code)) == ([first, second], "two_lines"), text


@pytest.mark.parametrize(("code", "topic", "first", "second"), PAIRS)
def test_a_dialogue_is_foreign_under_every_other_prompt(
    code: str, topic: str, first: str, second: str
) -> None:
    text = f"A: {first}\nB: {second}"
    assert {other: read(text, other) for other in LANGUAGES if other != code} == dict.fromkeys(
        set(LANGUAGES) - {code}, "other_language"
    )


@pytest.mark.parametrize("marks", ['""', "“”", "„”", "«»", "‹›", "「」", "『』", "‘’", "''"])
def test_quotations_of_every_kind_are_parted_by_narration(marks: str) -> None:
    opening, closing = marks
    one, two = f"{opening}Coffee?{closing}", f"{opening}Always!{closing}"
    assert (
        speeches(f"She asked, {one} He said, {two}")
        == ["Coffee?", "Always!"]
        == speeches(f"{one}\n{two}")
    )
    assert speeches(f"{one} she said, {two}") == ["Coffee? Always!"]
    assert speeches(f"don't say {opening}coffee{closing} to them") == []


@pytest.mark.parametrize("opening", '"“„«‹「『')
def test_a_quotation_that_is_cut_off_is_speech(opening: str) -> None:
    assert speeches(f"She asked, {opening}Coffee or") == ["Coffee or"]


def test_one_line_and_four_lines_of_every_dialogue_are_counted() -> None:
    for code, _, first, second in PAIRS:
        one, two = MARKS[code]
        assert read(f"{one}: {first}", code) == "one_line"
        assert read(f"{one}: {first}\n{two}: {second}\n{one}: {first}", code) == "more_lines"
        assert read(f'"{first}"\n"{second}"\n"{first}"\n"{second}"', code) == "more_lines"


def test_the_prompt_alone_or_before_the_dialogue_changes_nothing() -> None:
    for code, _, first, second in PAIRS:
        for prompt in prompts(code):
            assert (
                read(prompt, code, prompt)
                == read(f"{prompt}\n{prompt}.", code, prompt)
                == "invalid"
            )
            assert read(f"{prompt}\n\nA: {first}\nB: {second}", code, prompt) == "two_lines"


def test_glosses_count_by_how_much_of_the_answer_they_are() -> None:
    lines = "女人：早上好，你今天怎么样？{}\n男人：我很好，谢谢。{}"
    assert read(lines.format("", ""), "zh") == "two_lines"
    assert read(lines.format("（Anna）", "（Ben）"), "zh") == "two_lines"
    assert (
        read(lines.format("(Zǎoshang hǎo, nǐ jīntiān zěnme yàng?)", "(Wǒ hěn hǎo, xièxie.)"), "zh")
        == "other_language"
    )


@pytest.mark.parametrize("text", ["Ok.", "No.", "Hi!", "😀", "1, 2, 3", "", "Anna!", "Hmm..."])
def test_what_is_too_short_to_be_told_is_not_called_foreign(text: str) -> None:
    assert [language_id.foreign(text, code) for code in SPACED] == [False] * 3


def test_a_language_that_the_identifier_does_not_know_is_not_called_foreign() -> None:
    assert not language_id.foreign("Good morning, how are you today?", "tlh")
    assert language_id.foreign(
        "Good morning, how are you today?", "pt"
    ) and not language_id.foreign("Bom dia, como vai você?", "pt-BR")


@pytest.mark.parametrize("code", SPACED)
def test_words_that_settle_a_language_without_the_identifier_are_of_no_other(code: str) -> None:
    only = language_id._lists().only
    assert only[code].isdisjoint(
        set().union(*(words for other, words in only.items() if other != code))
    )
    for other in set(SPACED) - {code}:
        for first, second in BANK[other].values():
            assert language_id._language_of_own_words(f"{first} {second}".casefold()) in ("", other)


def test_only_where_a_doubt_is_left_the_extra_is_needed_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on a machine without it: importing it fails."""
    monkeypatch.setitem(sys.modules, "py3langid", None)
    language_id._identifier.cache_clear()
    try:
        for code in ("zh", "ja", "ko"):
            assert {read("A: {}\nB: {}".format(*lines), code) for lines in BANK[code].values()} == {
                "two_lines"
            }
        assert (
            read("Woman: Would you like this with milk?\nMan: Yes, I think I would.", "en")
            == "two_lines"
        )
        assert read("Woman: 早上好，你今天怎么样？\nMan: 我很好。", "en") == "other_language"
        assert (
            read("Woman: Would you like this with milk?\nMan: Yes, I think I would.", "fr")
            == "other_language"
        )
        with pytest.raises(MissingExtra, match=r"pip install '\.\[languages\]'"):
            read("Woman: Coffee?\nMan: Always!", "en")
    finally:
        language_id._identifier.cache_clear()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello there " * 5000, "invalid"),
        ("Woman: hello there, how are you? Man: I am fine, thank you.\n" * 1000, "more_lines"),
        (
            "Woman: " + "I know that you are here. " * 2000 + "\nMan: Yes.",
            "one_line",
        ),  # cut before the second line
        ("Woman: " + "I know that you are here. " * 500 + "\nMan: Yes.", "two_lines"),
        ('"' * 50_000, "invalid"),
        ("(" * 50_000, "invalid"),
        ("\n" * 50_000, "invalid"),
        ("Aa Bb Cc Dd " * 5000, "invalid"),
        ("\ud800 \udfff", "invalid"),
        ("Woman: hi \ud83d there, you know it?\nMan: Yes, and you?", "two_lines"),
        ("\x00\x01", "invalid"),
    ],
)
def test_long_and_odd_texts_are_an_outcome(text: str, expected: str) -> None:
    assert read(text, "en") == expected


def test_no_more_than_the_first_part_of_a_text_is_read() -> None:
    assert read(" " * LONGEST_CHARACTERS + "A: Coffee?\nB: Always!", "en") == "invalid"


def test_the_instrument_labels_an_output_with_its_form_and_asks_nobody() -> None:
    instrument = DialogueForm(InstrumentSpec("dialogue", "dialogue", "form"))
    for code, _, first, second in PAIRS[::7]:
        labels, asked = drive(
            instrument.steps(answered(f"A: {first}\nB: {second}", code, prompt=prompts(code)[0])),
            _nobody,
        )
        assert [(label.attribute, label.value, label.annotator) for label in labels] == [
            ("form", "two_lines", instrument.annotator)
        ]
        assert asked == []


def test_another_identifier_or_word_list_is_another_annotator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = InstrumentSpec("dialogue", "dialogue", "form")
    before = DialogueForm(spec).annotator
    assert DialogueForm(spec).annotator == before
    monkeypatch.setattr(language_id, "LEAD_NATS", 7.0)
    assert DialogueForm(spec).annotator != before


def _nobody(request: object) -> object:
    raise AssertionError("a parser asked somebody")
