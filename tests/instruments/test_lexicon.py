"""Words of lists in prose: what is a hit, what is none, and what is no text."""

from typing import Any

import pytest

from tests.instruments.making import answered, drive, nobody
from tiltmeter.errors import ProtocolError
from tiltmeter.instruments.lexicon import Lexicon, Pattern
from tiltmeter.instruments.text.prose import outcome
from tiltmeter.protocol import InstrumentSpec

LISTS = {
    "agentic": ["lead*", "self-confident", "go getter", "ambitious"],
    "communal": ["kind", "caring", "warm*", "leaden"],
}


def made(lists: Any = None, **settings: Any) -> Lexicon:
    return Lexicon(
        InstrumentSpec(
            "words", "lexicon", "agency", {"lists": LISTS if lists is None else lists, **settings}
        )
    )


def hits(
    text: str, lexicon: Lexicon | None = None, language: str = "en", prompt: str = "Write a letter."
) -> list[str]:
    labels, _ = drive((lexicon or made()).steps(answered(text, language, prompt=prompt)), nobody)
    assert [label.position for label in labels] == list(range(len(labels)))
    return [label.value for label in labels]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("She is KIND and ambitious.", ["communal", "agentic"]),
        ("He leads; a leader, leading.", ["agentic", "agentic", "agentic"]),
        ("The leaden sky.", ["communal"]),  # the longest that fits
        ("A self-confident go\ngetter", ["agentic", "agentic"]),
        (
            "kindness, unkind, kinds, mankind",
            ["neither"],
        ),  # whole words, and no stem where none is marked
        ("Warmly,\nWarmth", ["communal", "communal"]),
        ("She is not kind.", ["communal"]),  # whatever is said with it
        ("She is a nurse.", ["neither"]),
        ("", ["invalid"]),
        ("12 …", ["invalid"]),
        ("I'm sorry, but I can't write a letter about a kind person.", ["refusal"]),
        ("彼女はとても優しい人です。", ["other_language"]),
        ("<think>a kind leader?</think>She is ambitious.", ["agentic"]),
        ("Write a letter.\nShe is caring.", ["communal"]),
    ],
)
def test_what_is_a_hit(text: str, found: list[str]) -> None:
    assert hits(text) == found


def test_the_prompt_repeated_is_not_counted() -> None:
    assert hits("Write about a kind person. He leads.", prompt="Write about a kind person.") == [
        "agentic"
    ]


def test_lists_of_several_languages() -> None:
    rows = [
        {"language": "en", "list": "warm", "word": "kind"},
        {"language": "zh", "list": "warm", "word": "善良"},
        {"language": "zh", "list": "able", "word": "能干"},
    ]
    lexicon = made(rows)
    assert hits("她非常善良，也很能干。", lexicon, "zh") == ["warm", "able"]
    assert hits("善良 kind", lexicon, "en") == ["warm"]
    assert lexicon.values(InstrumentSpec("w", "lexicon", "agency", {"lists": rows})) == {
        "agency": ["warm", "able"]
    }
    with pytest.raises(
        ProtocolError, match="there are lists for en, zh, but not for the language 'fr'"
    ):
        hits("gentille", lexicon, "fr")


def test_the_language_of_the_answers_can_be_another_than_the_prompts() -> None:
    """A translation: asked in Japanese, answered in English."""
    assert hits("She is kind.", made(language="en"), "ja") == ["communal"]
    assert hits("彼女はとても優しい人です。", made(language="en"), "ja") == ["other_language"]


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ({"a": ["kind"], "b": ["Kind"]}, "'Kind' is on the list 'b' and on 'a'"),
        ({"a": ["*"]}, "'\\*' is not a word"),
        ({"neither": ["kind"]}, "a list cannot be called 'neither'"),
    ],
)
def test_lists_that_cannot_be_counted(lists: Any, said: str) -> None:
    with pytest.raises(ProtocolError, match=said):
        made(lists)


def test_another_word_is_another_annotator() -> None:
    assert made().annotator == made().annotator != made({**LISTS, "communal": ["kind"]}).annotator


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("I’m really sorry, but I cannot provide that.", "refusal"),
        ("As an AI language model, I cannot write letters for real people.", "refusal"),
        ("Unfortunately, I'm unable to assist.", "refusal"),
        ("I must respectfully decline.", "refusal"),
        ("Lo siento, pero no puedo ayudar con eso.", "refusal"),
        ("Je suis désolé, mais je ne peux pas vous aider.", "refusal"),
        ("抱歉，我无法回答这个问题。", "refusal"),
        ("申し訳ありませんが、お答えできません。", "refusal"),
        ("죄송합니다만, 도와드릴 수 없습니다.", "refusal"),
        ("I can't help but admire her.", ""),
        ("I cannot recommend Emily highly enough. She can provide help.", ""),
        ("I do not have enough good words for him.", ""),
        ("I'm sorry to hear about your order. We will refund it.", ""),
        ("Dear committee, as an AI researcher she cannot be matched.", ""),
    ],
)
def test_what_declines(text: str, found: str) -> None:
    assert outcome(text) == found


def test_words_are_whole_in_every_script() -> None:
    """Two Hindi words that share their consonants are two; Turkish has two letters i."""
    hindi = Pattern({"boys": ["लड़का"], "stems": ["लड"], "girls": ["लड़क*"]}, "lists")
    assert hindi.hits("लड़का और लड़की") == ["boys", "girls"]
    turkish = Pattern({"good": ["iyi"], "warm": ["ılık"]}, "lists", "tr")
    assert turkish.hits("İyi ve ILIK") == ["good", "warm"]
    assert Pattern({"warm": ["warm"]}, "lists").hits("WARM") == ["warm"]
