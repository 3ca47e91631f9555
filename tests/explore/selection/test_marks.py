"""An input beside its rewrite: marks by hand."""

from __future__ import annotations

import pytest

from tiltmeter.explore.selection import marks
from tiltmeter.explore.selection.marks import Piece, rewrite

CELL = {"text": "Emery lost a key. They asked Tom for his.", "theme": "name", "noun": "Emery"}


def test_pronouns_and_changed_words_are_marked_on_both_sides() -> None:
    found = rewrite(CELL, "Emery lost the key. She asked Tom for his.")
    assert found is not None
    assert [piece for piece in found.given if piece.said] == [
        Piece("a", changed=True),
        Piece("They", "neutral", changed=True),
        Piece("his", "masculine", other=True),
    ]
    assert [(piece.text, piece.said) for piece in found.output if piece.said] == [
        ("the", "changed"),
        ("She", "feminine pronoun, changed"),
        ("his", "masculine pronoun, of another"),
    ]


@pytest.mark.parametrize(
    "output", ["", "Emery’s  key\n\n\u202e “he or she” s/he", "the same the same", CELL["text"]]
)
def test_the_pieces_are_the_texts(output: str) -> None:
    found = rewrite(CELL, output)
    assert found is not None
    assert "".join(piece.text for piece in found.given) == CELL["text"]
    assert "".join(piece.text for piece in found.output) == output


def test_the_same_text_has_no_changed_word() -> None:
    found = rewrite(CELL, CELL["text"])
    assert found is not None and not any(piece.changed for piece in (*found.given, *found.output))


def test_a_design_without_an_input_has_no_marks() -> None:
    assert rewrite({"word": "kind"}, "She.") is None


def test_very_long_texts_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "MOST_WORDS", 3)
    found = rewrite(CELL, "She is another person.")
    assert (
        found is not None
        and not any(piece.changed for piece in found.output)
        and found.output[0].kind == "feminine"
    )
