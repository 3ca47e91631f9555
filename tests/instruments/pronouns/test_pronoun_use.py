"""Pronouns of any text: short lines as of a translation, and letters; whose they are, and what is refused."""

from dataclasses import replace
from typing import Any

import pytest

from tests.instruments.making import answered, drive, nobody
from tiltmeter import registry
from tiltmeter.errors import ProtocolError
from tiltmeter.instruments.pronouns.pronoun_use import PronounUse, pronoun_class
from tiltmeter.protocol import InstrumentSpec

LETTER = "Dear committee,\n\nI write for Emily Clark. Ms. Clark has led {} team since May. My brother met {} there; he was {}."


def label(
    text: str, cell: dict[str, str] | None = None, prompt: str = "Write a letter.", **settings: Any
) -> str:
    made = PronounUse(InstrumentSpec("pronouns", "pronouns", "pronoun", settings))
    item = answered(text, prompt=prompt)
    (found,), _ = drive(made.steps(replace(item, cell=cell or {})), nobody)
    return found.value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("She is a nurse.", "feminine"),
        ("He is an engineer.", "masculine"),
        ("They are a nurse.", "neutral"),
        ("He or she is a nurse.", "neutral"),
        ("He/she is a nurse.", "neutral"),
        ("Xe is a nurse.", "neo"),
        ("She is a nurse. He is a nurse.", "mixed"),
        ("The nurse works here.", "none"),
        ('"She\'s a nurse."', "feminine"),
        ("**Translation:** Her work is hard.", "feminine"),
        ("", "invalid"),
        ("I'm sorry, but I can't translate this.", "refusal"),
    ],
)
def test_lines_of_a_translation(text: str, found: str) -> None:
    """With the occupation as the person and without."""
    assert label(text) == found
    assert label(text, {"job": "nurse"}, who="job", by="occupation") == (
        found if "engineer" not in text else "masculine"
    )


def test_only_the_person_that_the_column_names_counts() -> None:
    letter = LETTER.format("her", "her", "impressed")
    assert label(letter, {"name": "Emily"}, "A letter for Emily.", who="name") == "feminine"
    assert label(letter) == "mixed"
    assert label("Kim met Tom, who lost his hat.", {"name": "Kim"}, who="name") == "none"
    assert pronoun_class("Kim met Tom, who lost his hat.") == "masculine"


def test_the_answers_language() -> None:
    text = "それは彼女の仕事です。"
    assert label(text, language="en") == "other_language"
    protocol = registry.protocol("roles")
    with pytest.raises(ProtocolError, match="it can only label English, not 'zh'"):
        PronounUse(InstrumentSpec("p", "pronouns", "pronoun")).check_design(protocol)
    PronounUse(InstrumentSpec("p", "pronouns", "pronoun", {"language": "en"})).check_design(
        protocol
    )
    with pytest.raises(ProtocolError, match="No column 'nam'"):
        PronounUse(
            InstrumentSpec("p", "pronouns", "pronoun", {"who": "nam", "language": "en"})
        ).check_design(protocol)
