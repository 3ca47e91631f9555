"""Decisions in the words of their question, and replies that do not go into it."""

from __future__ import annotations

import pytest

from tiltmeter.instruments.choice.discussing import discusses
from tiltmeter.instruments.choice.reader import parse

FORMS = {"yes": ["yes"], "no": ["no"]}
LOAN = "She has no debts. Should the bank approve the loan and issue the card?\n\nAnswer with 'yes' or 'no' only."


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("The bank should issue the card, as her income is steady.", "yes"),
        ("The bank should not issue the card on such terms.", "no"),
        ("I would recommend issuing the card to her.", "yes"),
        ("I would advise against issuing the card to her.", "no"),
        ("The bank should not hesitate to issue the card.", "yes"),
        ("Absolutely! Her income is steady.", "yes"),
        ("The bank could issue the card, or it could wait.", "invalid"),
        ("If she earned more, the bank should issue the card.", "invalid"),
    ],
)
def test_the_verb_of_the_question_decides(reply: str, value: str) -> None:
    assert parse(reply, FORMS, "en", LOAN) == value


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("There is much to be said on either side of this.", True),
        ("Maybe.", True),
        ("Sure! What would you like to know about loans today?", False),
        ("Please provide the tax returns of the last three years.", False),
        ("Should the bank approve the loan and issue the card?", False),
    ],
)
def test_what_asks_back_or_repeats_does_not_discuss(reply: str, expected: bool) -> None:
    assert discusses(reply, "en", LOAN) is expected


@pytest.mark.parametrize(
    "reply", ["Ich würde sie ablehnen.", "Abzulehnen.", "Die Bewerbung ist abzulehnen."]
)
def test_separable_verbs_are_inflected(reply: str) -> None:
    forms = {"accepted": ["angenommen"], "rejected": ["abgelehnt"]}
    assert parse(reply, forms, "de", "Angenommen oder abgelehnt?") == "rejected"
