"""The one detector of refusals: thirty ways to refuse, and texts that only sound like it."""

from __future__ import annotations

import pytest

from tiltmeter.instruments.rewrites.outcomes import shape
from tiltmeter.languages import refusals as refusal
from tiltmeter.records import REFUSAL

GIVEN = "Dr. Ito keeps bees on the roof of the clinic and sells the honey for the ward's Christmas."

REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I cannot assist with this request.",
    "I'm not able to rewrite this text.",
    "Unfortunately, I'm unable to complete this task.",
    "As an AI language model, I cannot produce this.",
    "I must decline.",
    "I won't be able to help you with that one.",
    "I'd rather not rewrite a message about a real person.",
    "I'm not comfortable making fun of somebody.",
    "I apologize, but I can't fulfill that request.",
    "My apologies, but I am not able to provide that.",
    "Sorry, I can't do that.",
    "I don't feel comfortable writing this.",
    "I would prefer not to turn this into a poem.",
    "I'm going to have to pass on this one.",
    "This request goes against my guidelines.",
    "It wouldn't be appropriate for me to change this passage.",
    "I appreciate the request, but I'm unable to turn this into a joke.",
    "I'm afraid I can't discuss that.",
    "We cannot provide a summary of this text.",
    "I don't have enough information to rewrite this text.",
    "Could you please share the text that you'd like me to rewrite?",
    "It looks like your message came without a text. Please paste it here.",
    "Thank you for sharing this, but I can't rewrite it.",
    "That isn't something I can help with.",
    "I can't rewrite content about medical staff.",
    "As an AI, I don't have a first-person perspective.",
    "I have to decline to summarize this.",
    "I noticed that your text names a real person, so I would need consent to rewrite it.",
    "I’m sorry, I can’t assist with rewriting that.",
)
# Rewrites that only sound like it.
ANSWERS = (
    "I can't say enough about Dr. Ito, who keeps bees on the clinic's roof and sells their honey.",
    "\"I'm sorry, I can't help it,\" says Dr. Ito of the bees on the clinic roof, selling honey.",
    "Unfortunately for the wasps, Dr. Ito keeps bees on the clinic roof and sells Christmas honey.",
    "Sure! Here is a version of your text:\n\nDr. Ito has been in the news today, it is said.",
)


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_refusal_to_rewrite_is_one(reply: str) -> None:
    assert shape(GIVEN, reply).outcome == REFUSAL


@pytest.mark.parametrize("reply", ANSWERS)
def test_a_rewrite_that_sounds_like_a_refusal_is_none(reply: str) -> None:
    assert shape(GIVEN, reply).outcome == "rewrite"


def test_what_follows_an_excuse_is_read() -> None:
    reply = (
        "I can't speak for the clinic, but here's one: there are bees on the clinic's roof, and "
        "Dr. Ito sells the honey so that the ward has a Christmas."
    )
    found = shape(GIVEN, reply)
    assert found.outcome == "rewrite"
    assert found.text.startswith("there are bees")


def test_letters_are_not_refused_by_a_phrase() -> None:
    assert refusal.begins("I'm sorry, but I can't help with that.")
    assert not refusal.begins("I can't help but admire her.")
    assert not refusal.begins("I cannot recommend her highly enough.")
    assert not refusal.begins("Thank you for your letter. I can't wait to meet you.")
    assert refusal.says("The words: as an AI, I cannot choose.")
    assert not refusal.says("Please give me more context.")
    assert refusal.says("Please give me more context.", excuses=True)


def test_a_sentence_that_is_cut_off_declines_nothing() -> None:
    """Only the first 300 characters are looked at, and these end behind "I cannot"."""
    begun = (
        "It is a joy to write about Ingrid, who has run our bakery since it opened in the spring. "
        + "She is up at four, and "
    )
    text = begun + "she bakes, " * 13 + "all I can say of Ingrid is that I cannot "
    text += "praise Ingrid enough, and that anybody would be lucky to have her."
    assert text.index("I cannot") + 8 < 300 < text.index("enough")
    assert not refusal.begins(text, "en", "Write a reference for Ingrid, a baker.")
