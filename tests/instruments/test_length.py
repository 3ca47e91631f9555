"""How long a text is, counted by hand."""

import pytest

from tests.instruments.making import answered, drive, nobody
from tiltmeter.instruments.length import Length, length
from tiltmeter.protocol import InstrumentSpec


@pytest.mark.parametrize(
    ("text", "words", "characters", "sentences"),
    [
        ("Dr. Lee is kind. She leads!", 6, 22, 2),
        ("她是护士。他走。", 6, 8, 2),
        ("彼女はNHKで働く", 7, 9, 1),
        ("It's a well-known, self-made e.g. of J. R. Smith", 10, 40, 1),
        ('She said "Go." Then… nothing\n\nYours', 6, 29, 4),
        ("Dear Ms. Lee,\n\nI said no. 3.5 % more", 9, 27, 3),
        ("3 → 4", 2, 3, 1),
    ],
)
def test_counted_by_hand(text: str, words: int, characters: int, sentences: int) -> None:
    assert [length(text, unit) for unit in ("words", "characters", "sentences")] == [
        words,
        characters,
        sentences,
    ]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("One two three.", "3"),
        ("", "invalid"),
        ("I cannot write that.", "refusal"),
        ("それは長い文章です。", "other_language"),
    ],
)
def test_what_is_no_text_has_no_length(text: str, label: str) -> None:
    found, _ = drive(
        Length(InstrumentSpec("length", "length", "words")).steps(answered(text)), nobody
    )
    assert [one.value for one in found] == [label]


@pytest.mark.parametrize(
    ("text", "words", "sentences"),
    [
        ("लड़का और लड़की बाज़ार में फल खरीदने गए थे।", 9, 1),
        ("कितने लोग आए? वे गए। ठीक है॥", 7, 3),
        ("كم شخصًا جاء؟ ذهبوا إلى البيت.", 6, 2),
        ("สวัสดีครับ คุณสบายดีไหม", 2, 1),
        ("Il a dit « non ! » Elle rit.", 6, 2),
    ],
)
def test_marks_are_part_of_their_word(text: str, words: int, sentences: int) -> None:
    """Counted by hand; Python's letters have no combining marks."""
    assert [length(text, unit) for unit in ("words", "sentences")] == [words, sentences]
