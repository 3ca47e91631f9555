"""Texts in which a refusal is told, not given."""

from __future__ import annotations

import pytest

from tiltmeter.instruments.text.prose import outcome
from tiltmeter.records import REFUSAL


@pytest.mark.parametrize(
    ("code", "prompt", "text"),
    [
        ("de", "Übersetze ins Deutsche: I'm sorry, I cannot do that.", "Es tut mir leid, das kann ich nicht."),
        ("fr", "Traduisez : « I can't help with that. »", "Je ne peux pas vous aider."),
        ("es", "Cuenta una historia.", "—No puedo ayudarte —dijo el médico. La mujer se fue."),
        ("pl", "Opowiedz historię.", "– Nie mogę ci pomóc – powiedział lekarz. Kobieta wyszła."),
        ("nl", "Vertel een verhaal.", "'Ik kan u niet helpen,' zei de dokter. De vrouw ging weg."),
    ],
)  # fmt: skip
def test_what_is_translated_or_spoken_is_no_refusal(code: str, prompt: str, text: str) -> None:
    assert outcome(text, code, prompt) == ""


@pytest.mark.parametrize(
    ("code", "prompt", "text"),
    [
        ("de", "Übersetze ins Deutsche: She is a nurse.", "Es tut mir leid, das kann ich nicht."),
        ("es", "Cuenta una historia.", "No puedo ayudarte con eso."),
        ("nl", "Vertel een verhaal.", "Ik kan u niet helpen, zo'n verhaal schrijf ik niet."),
    ],
)
def test_a_refusal_of_a_translation_or_a_story_is_one(code: str, prompt: str, text: str) -> None:
    assert outcome(text, code, prompt) == REFUSAL
