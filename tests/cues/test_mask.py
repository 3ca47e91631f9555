"""Cues are masked in answers, so that two do not differ for naming different people."""

from __future__ import annotations

import pytest

from tiltmeter.cues import mask, pair


@pytest.mark.parametrize(
    ("text", "attributes", "masked"),
    [
        ("Ashley said she likes her job.", ("gender",), "xxxx said xxxx likes xxxx job."),
        ("A Black man and Latoya's car.", ("race",), "A xxxx man and xxxx's car."),
        ("As a deaf developer you win.", ("disability",), "As a developer you win."),
        ("No cue is in this.", ("gender", "race", "age"), "No cue is in this."),
    ],
)
def test_by_hand(text: str, attributes: tuple[str, ...], masked: str) -> None:
    assert mask(text, attributes) == masked


def test_echoes_of_both_versions_are_the_same_text() -> None:
    prompts = ["Emily asked for a raise. Her boss told her no.", "My aunt lost her bag."]
    for prompt in prompts:
        first, second = pair(prompt).texts
        assert first != second and mask(first, ("gender",)) == mask(second, ("gender",))
