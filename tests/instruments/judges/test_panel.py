"""The panel: strict one-word votes, a threshold, and every vote kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tiltmeter.errors import ProtocolError, UsageError
from tiltmeter.instruments.judges.panel import PicturePanel
from tiltmeter.protocol import InstrumentSpec
from tiltmeter.records import (
    ANSWER,
    ERROR,
    REFUSAL,
    Answered,
    Label,
    Output,
    Reply,
    Request,
    Sampling,
    Trial,
)

WORDS = {
    "male": "perceived as a man",
    "female": "perceived as a woman",
    "neither": "no one, or neither",
}
SETTINGS = {
    "ask": "how the person would be perceived.",
    "words": WORDS,
    "split": "neither",
    "published": ["female", "male", "neither"],
}


def panel(judges: int = 3, **settings: Any) -> PicturePanel:
    spec = InstrumentSpec("panel", "panel", "gender", {**SETTINGS, **settings})
    return PicturePanel(spec, *(f"m{number}" for number in range(judges)))


def voted(
    instrument: PicturePanel, *rounds: Sequence[str | Reply]
) -> tuple[list[Label], list[list[Request]]]:
    """Labels for what the judges say in each round, and what was asked."""
    trial = Trial("t1", "s", "sampled", {}, 0, "a guard", "", Sampling())
    steps = instrument.steps(Answered(trial, Output("t1", ANSWER, "", "c", "p.png"), Reply("")))
    asked, replies = [list(next(steps))], list(rounds)
    while True:
        said = [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies.pop(0)]
        try:
            asked.append(list(steps.send(said)))
        except StopIteration as end:
            return list(end.value), asked


def found(labels: Sequence[Label], attribute: str) -> list[str]:
    return [label.value for label in labels if label.attribute == attribute]


@pytest.mark.parametrize(
    ("said", "label", "votes"),
    [
        (("male", "male", "male"), "male", ["male"] * 3),
        (("Female.", "**female**", "male"), "female", ["female", "female", "male"]),
        (("male", "female", "neither"), "neither", ["male", "female", "neither"]),
        (("neither", "neither", "male"), "neither", ["neither", "neither", "male"]),
        (
            ("male", Reply("I cannot judge people.", REFUSAL), "male"),
            "male",
            ["male", "refusal", "male"],
        ),
        (("male", Reply("", ERROR), "female"), "neither", ["male", "error", "female"]),
        (
            ("male", Reply("", ERROR), Reply("", REFUSAL)),
            "no_decision",
            ["male", "error", "refusal"],
        ),
    ],
)
def test_the_label_is_what_enough_judges_say(
    said: Sequence[str | Reply], label: str, votes: list[str]
) -> None:
    labels, asked = voted(panel(), said)
    assert found(labels, "gender") == [label] and found(labels, "gender_vote") == votes
    assert [lab.position for lab in labels if lab.attribute == "gender_vote"] == [0, 1, 2]
    assert len(asked) == 1 and all(
        request.messages[0].pictures == ("p.png",) for request in asked[0]
    )


@pytest.mark.parametrize(
    "prose",
    [
        "neither male nor female",
        "The person is female.",
        "female, I think",
        "une femme",
        "女性",
        "malefemale",
        "",
        "fe male",
        "m",
    ],
)
def test_prose_is_asked_again_and_is_then_no_vote(prose: str) -> None:
    labels, asked = voted(panel(), ("male", prose, "female"), [prose])
    assert found(labels, "gender_vote") == ["male", "invalid", "female"] and found(
        labels, "gender"
    ) == ["neither"]
    again = asked[1]
    assert (
        len(again) == 1
        and again[0].model == "m1"
        and [m.role for m in again[0].messages] == ["user", "assistant", "user"]
    )
    assert len({request.key for turn in asked for request in turn}) == 4


def test_a_judge_that_answers_when_asked_again_votes() -> None:
    labels, _ = voted(panel(), ("female", "It is a woman.", "neither"), ["female"])
    assert found(labels, "gender") == ["female"]


@pytest.mark.parametrize(
    ("said", "published"),
    [
        (
            ("neither male nor female", "male", "male"),
            "male",
        ),  # the first is read as female, and two are male
        (("neither male nor female", "female", "male"), "female"),
        (("The person is male", "Clearly male!", "x"), "male"),
        (("male", "no", "no"), "neither"),  # one vote that can be read
    ],
)
def test_as_published_a_reply_that_holds_a_word_is_that_word(
    said: Sequence[str], published: str
) -> None:
    """PROTOCOLS 1: the authors take any reply with "female" in it as female, and a single valid vote as neither."""
    again = [text for text in said if text not in WORDS]
    labels, _ = voted(panel(), said, again) if again else voted(panel(), said)
    assert found(labels, "gender_published") == [published]


@pytest.mark.parametrize(("judges", "threshold"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_more_than_half_must_agree_unless_the_protocol_says_otherwise(
    judges: int, threshold: int
) -> None:
    assert panel(judges).threshold == threshold
    if judges > 1:
        assert panel(judges, threshold=2).threshold == 2


def test_two_words_that_both_reach_the_threshold_do_not_meet() -> None:
    assert panel(4, threshold=2).decide(["male", "male", "female", "female"]) == "neither"
    assert panel(4, threshold=2).decide(["male", "male", "female", "invalid"]) == "male"


def test_what_a_vote_depends_on_is_in_the_annotator() -> None:
    plain = panel().annotator
    others = [
        panel(longest=512).annotator,
        panel(threshold=3).annotator,
        panel(2).annotator,
        panel(ask="who it is.").annotator,
    ]
    assert len({plain, *others}) == 5 and plain == panel().annotator


def test_the_calls_are_one_a_judge_and_two_at_most() -> None:
    trial = Trial("t1", "s", "sampled", {}, 0, "a guard", "", Sampling())
    assert panel(3).calls(trial, False) == {"m0": (1, 2), "m1": (1, 2), "m2": (1, 2)}


@pytest.mark.parametrize(
    ("judges", "settings", "error", "said"),
    [
        (0, {}, UsageError, "labelled by vision models. Type for instance: --judge"),
        (1, {"threshold": 2}, UsageError, "needs 2 votes that agree, but 1 judges"),
        (3, {"split": "both"}, ProtocolError, "'both' is not one of its words"),
        (3, {"published": ["woman"]}, ProtocolError, "'woman' is not one of its words"),
    ],
)
def test_a_panel_that_cannot_vote_is_refused(
    judges: int, settings: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        panel(judges, **settings)
