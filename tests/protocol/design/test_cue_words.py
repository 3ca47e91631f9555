"""Cue words: declared, recognised, refused."""

from __future__ import annotations

from typing import Any

import pytest

import tiltmeter
from tests.analyse.test_verdicts import three_groups
from tiltmeter.errors import ProtocolError
from tiltmeter.protocol import Protocol
from tiltmeter.protocol.design import cue_words
from tiltmeter.protocol.design.refusals import with_derived_measures


def declared(**more: str) -> Protocol:
    definition = three_groups({"level": "*", "baseline": "a"}, words=2).definition
    assert definition is not None
    keys: dict[str, Any] = {**definition["declared"]}  # type: ignore[dict-item]
    keys.pop("cue_words")
    return tiltmeter.Protocol.declare(**{**keys, **more})


def test_a_column_of_names_in_the_prompt_is_recognised() -> None:
    cue = declared().cues["group"]
    assert (cue.column, cue.sets, cue.declared, cue.fewest) == ("who", "", False, 2)
    (told,) = cue_words.sentences(declared())
    assert told.startswith("Cue words of group: people, 2 for a, 2 for b, 2 for c (recognised;")
    assert "nothing can be said of others" in told


def test_none_says_that_the_words_are_all_there_are() -> None:
    assert declared(cue_words="none").cues == {}


def test_the_shipped_protocols_say_which_words_they_have() -> None:
    found = {
        name: {factor: (cue.column, cue.sets) for factor, cue in load(name).cues.items()}
        for name in ("roles", "words", "gramvis", "soda", "dialogues", "decisions")
    }
    assert not any(found.values()), found
    named = load("decisions_names").cues["ethnicity"]
    assert (named.column, named.sets) == ("person", "set") and named.fewest >= 10


def load(name: str) -> Protocol:
    return tiltmeter.load_protocol(name)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"cue_words": "whom"}, "whom"),
        ({"cue_words": "job"}, "no measure compares a factor whose table has the column job"),
        ({"cue_sets": "who"}, "needs the column of the words"),
    ],
)
def test_what_does_not_fit_is_refused(keys: dict[str, str], said: str) -> None:
    with pytest.raises(ProtocolError, match=said):
        declared(**keys)


def test_a_headline_difference_has_measures_of_refusals_of_missing_answers_and_of_words() -> None:
    names = [spec.name for spec in with_derived_measures(declared().measures)]
    assert names == ["gap", "gap_refused", "gap_unanswered"]
    (by_word,) = cue_words.word_measures(declared())
    assert (by_word.name, by_word.kind, by_word.by) == ("gap_by_word", "share", (("group", "who"),))
