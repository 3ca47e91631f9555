"""The verdicts, one record each: all words, signs and weights that surfaces have for them.

A new verdict is a record here and a line in `claims.verdicts` that says when it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Colour = Literal["tilt", "open", "none", "plain"]
UNKNOWN = "Not known (too few data to say either)"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """One verdict on every surface.

    code:     its name in style sheets.
    chip:     two to five words; of a tilt without words for its direction.
    sentence: a template with the slots of `sentences.verdict`.
    symbol:   one character, beside the chip and in tables of several runs.
    colour:   the class of its badge.
    weight:   which claim leads a page, the lowest first.
    wording:  the key of a measure's `sentence` (protocol.toml) that words its headline.
    headline: a template in place of that key; "" if it is made from the measure's unit.
    ending:   replaces the full stop of the headline.
    badge:    the words of the badge, if they are not the chip.
    legend:   the meaning of the symbol below a table, if it is not the chip; None to leave it out.
    counted:  ends "3 …" in a summary of many claims; "" if the summary has a sentence for it.
    tested:   False if the number is not held against a value.
    settled:  True if the test says something.
    items:    True if the sentence tells on which side items lie.
    state:    that of a claim by which a run stops, if the verdict follows from it.
    change:   begins the line of such differences between two runs; "" if it is not listed.
    """

    word: str
    code: str
    chip: str
    sentence: str
    symbol: str
    colour: Colour
    weight: int
    wording: str = "undecided"
    headline: str = ""
    ending: str = "."
    badge: str = ""
    legend: str | None = ""
    counted: str = ""
    tested: bool = True
    settled: bool = False
    items: bool = False
    state: str = ""
    change: str = ""


class Word(StrEnum):
    """A verdict. Equal to its word as text; `record` is all else of it."""

    _value_: str
    record: VerdictRecord

    def __new__(cls, record: VerdictRecord) -> Word:
        """Makes the member that equals the record's word."""
        member = str.__new__(cls, record.word)
        member._value_ = record.word
        member.record = record
        return member

    # of two runs that are compared: a tilt is a difference, and one may be smaller than a margin
    DIFFERENT = VerdictRecord(
        word="different",
        code="tilt",
        chip="different",
        sentence="{subject}{tilts}.",
        symbol="▲",
        colour="tilt",
        weight=3,
        change="Changed",
    )
    EQUIVALENT = VerdictRecord(
        word="equivalent",
        code="none",
        chip="equivalent",
        sentence=(
            "{subject} ({about}): equivalent. The {what} is {number}, and its 90 % interval lies "
            "within {margin} of 0."
        ),
        symbol="=",
        colour="none",
        weight=9,
        change="Not changed (surely by less than {margin})",
    )
    TILT = VerdictRecord(
        word="tilt",
        code="tilt",
        chip="difference found",
        sentence="{subject}{tilts}.",
        symbol="▲",
        colour="tilt",
        weight=3,
        wording="tilt",
        badge="tilt found",
        settled=True,
        state="rejected",
    )
    TILT_OF_THESE = VerdictRecord(  # shown by these cue words, not told of words like them
        word="tilt with these names",
        code="these",
        chip="tilt with these names",
        sentence="{subject}: a tilt with these words alone. {Tested}.{reasons}",
        symbol="△",
        colour="open",
        weight=4,
        wording="tilt",
        legend="tilt with these names: of names like them it cannot be told",
        counted="with a tilt of these names alone",
        settled=True,
        change="Different with these names alone",
    )
    NO_DIFFERENCE = VerdictRecord(
        word="no difference found",
        code="none",
        chip="no difference found at this n",
        sentence="{subject}: no difference found at this n. {Tested}{power}.",
        symbol="○",
        colour="none",
        weight=9,
        wording="none",
        headline="No difference was found for {subject} at this n.",
        badge="no difference found",
        settled=True,
        change=UNKNOWN,
    )
    ITEMS_DIFFER = VerdictRecord(  # no difference found on average, over items that are not alike
        word="items differ",
        code="differs",
        chip="no average difference found, items differ",
        sentence=(
            "{subject}: no difference found on average at this n, but its items differ. "
            "{Tested}{power}.{reasons}"
        ),
        symbol="≠",
        colour="open",
        weight=4,
        wording="none",
        headline=NO_DIFFERENCE.headline,
        ending=" on average, but items differ more than chance lets them.",
        legend="no difference found on average at this n, but items differ",
        counted=(
            "with no difference found on average, over items that differ more than chance lets them"
        ),
        settled=True,
        items=True,
    )
    UNDECIDED = VerdictRecord(
        word="undecided",
        code="undecided",
        chip="undecided",
        sentence="{subject}: undecided.{reasons} {Tested}.",
        symbol="◇",
        colour="open",
        weight=5,
        headline="Whether {subject} tilts is undecided: the number is borderline.",
        counted="undecided",
        items=True,
        change=UNKNOWN,
    )
    NOT_SETTLED = VerdictRecord(
        word="direction not settled",
        code="unsettled",
        chip="direction not settled",
        sentence="{subject}: direction not settled. On average {number}.{reasons}",
        symbol="⇅",
        colour="open",
        weight=2,
        wording="unsettled",
        headline="Which way {subject} tilts cannot be said.",
        counted="with a direction that is not settled",
        change="Direction not settled",
    )
    JUDGE_REFUTED = VerdictRecord(
        word="judge refuted",
        code="refuted",
        chip="judge refuted by gold",
        sentence="{subject}: {refuted} So nothing can be said; {raw}{number}.",
        symbol="✕",
        colour="open",
        weight=1,
        wording="refuted",
        headline="Nothing can be said of {subject}: people's labels refute the judge.",
        badge="judge refuted by people",
        counted="cannot be told: gold refutes the judge",
        change="Judge refuted by gold",
    )
    NOT_PURSUED = VerdictRecord(  # a run that stops early gave it up, and says nothing of it
        word="not pursued",
        code="given-up",
        chip="not pursued",
        sentence=(
            "{subject}: not pursued. {Tested}. A tilt had little chance of being found by the last "
            "look; that is no finding that there is none."
        ),
        symbol="◌",
        colour="none",
        weight=8,
        wording="pursued",
        headline=(
            "Whether {subject} tilts was not pursued: a tilt had little chance of being found."
        ),
        legend="not pursued: given up on the way, so nothing is said of it",
        counted="not pursued, which is no finding that there is no difference",
        state="not pursued",
        change=UNKNOWN,
    )
    STILL_ASKED = VerdictRecord(  # a run that stops early goes on with it
        word="still asked",
        code="asked",
        chip="still asked",
        sentence="{subject}: still asked. So far {tested}.",
        symbol="…",
        colour="open",
        weight=6,
        wording="asked",
        headline="Whether {subject} tilts is still being asked.",
        counted="still asked",
        state="on",
        change=UNKNOWN,
    )
    NO_TEST = VerdictRecord(
        word="no test made",
        code="shown",
        chip="no test made",
        sentence="{subject}: {number}; no test was made.",
        symbol="·",
        colour="plain",
        weight=7,
        wording="shown",
        badge="measured, not tested",
        tested=False,
        change=UNKNOWN,
    )
    NOT_MEASURED = VerdictRecord(
        word="not measured",
        code="unmeasured",
        chip="not measured",
        sentence="{subject}: the {what} could not be measured. {Why}",
        symbol="—",
        colour="plain",
        weight=10,
        wording="unmeasured",
        headline="Nothing could be measured for {subject}.",
        legend=None,
        tested=False,
    )


BY_STATE = {word.record.state: word for word in Word if word.record.state}
BY_WEIGHT = tuple(sorted(Word, key=lambda word: word.record.weight))
