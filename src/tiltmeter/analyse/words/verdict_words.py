"""The verdicts, one record each: all words, symbols and weights that reports use for them.

A new verdict is a record here and a line in `claims.tested_word` that says when it applies.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

UNKNOWN = "Not known (too few data to say either)"


class WordLook(NamedTuple):
    """The look of a verdict: a symbol for screens and for tables of several runs, a colour of the
    style sheet, and a weight. The claim whose verdict has the lowest weight leads a page.
    """

    symbol: str
    colour: Literal["tilt", "open", "none", "plain"]
    weight: int


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """A verdict as all reports show it.

    sentence: a template with the slots of `sentences.verdict`.
    chip:     two to five words, if they differ from word; for a tilt, used without a direction.
    headline: the first sentence for it, if no situation writes one.
    badge:    the words of the badge, if they differ from the chip.
    legend:   the meaning of the symbol below a table, if not the chip; None to leave it out.
    counted:  ends "3 …" in a summary of many claims; "" if the summary has a sentence for it.
    tested:   False if the number is not compared with a null value.
    passes:   True if a check of headline claims passes with this verdict.
    items:    True if the sentence says on which side items lie.
    state:    the state of a claim in a run that stops early, if it implies this verdict.
    change:   begins the line that lists such differences between two runs; "" if none lists them.
    """

    word: str
    look: WordLook
    sentence: str
    chip: str = ""
    headline: str = ""
    badge: str = ""
    legend: str | None = ""
    counted: str = ""
    tested: bool = True
    passes: bool = False
    items: bool = False
    state: str = ""
    change: str = ""


class Word(StrEnum):
    """A verdict, equal to its word as text; `record` holds everything else about it."""

    _value_: str
    record: VerdictRecord

    def __new__(cls, record: VerdictRecord) -> Word:
        """Creates the member as a string equal to the record's word."""
        member = str.__new__(cls, record.word)
        member._value_ = record.word
        member.record = record
        return member

    @property
    def chip(self) -> str:
        """The verdict in two to five words."""
        return self.record.chip or self.value

    @property
    def symbol(self) -> str:
        """The one-character symbol."""
        return self.record.look.symbol

    # of two runs that are compared: a tilt is a difference, and one may be smaller than a margin
    DIFFERENT = VerdictRecord(
        "different",
        WordLook("▲", "tilt", weight=3),
        sentence="{subject}{tilts}.",
        change="Changed",
    )
    EQUIVALENT = VerdictRecord(
        "equivalent",
        WordLook("=", "none", weight=9),
        sentence=(
            "{subject} ({about}): equivalent. The {what} is {number}, and its 90 % interval lies "
            "within {margin} of 0."
        ),
        change="Not changed (surely by less than {margin})",
    )
    TILT = VerdictRecord(
        "tilt",
        WordLook("▲", "tilt", weight=3),
        chip="difference found",
        sentence="{subject}{tilts}.",
        badge="tilt found",
        state="rejected",
    )
    TILT_OF_THESE = VerdictRecord(  # shown by these cue words, not told of words like them
        "tilt with these names",
        WordLook("△", "open", weight=4),
        sentence="{subject}: a tilt with these words alone. {Tested}.{reasons}",
        legend="tilt with these names: of names like them it cannot be told",
        counted="with a tilt of these names alone",
        passes=True,
        change="Different with these names alone",
    )
    NO_DIFFERENCE = VerdictRecord(
        "no difference found",
        WordLook("○", "none", weight=9),
        chip="no difference found at this n",
        sentence="{subject}: no difference found at this n. {Tested}{power}.",
        badge="no difference found",
        passes=True,
        change=UNKNOWN,
    )
    ITEMS_DIFFER = VerdictRecord(  # no difference found on average, over items that are not alike
        "items differ",
        WordLook("≠", "open", weight=4),
        chip="no average difference found, items differ",
        sentence=(
            "{subject}: no difference found on average at this n, but its items differ. "
            "{Tested}{power}.{reasons}"
        ),
        legend="no difference found on average at this n, but items differ",
        counted=(
            "with no difference found on average, over items that differ more than chance lets them"
        ),
        passes=True,
        items=True,
    )
    UNDECIDED = VerdictRecord(
        "undecided",
        WordLook("◇", "open", weight=5),
        sentence="{subject}: undecided.{reasons} {Tested}.",
        counted="undecided",
        items=True,
        change=UNKNOWN,
    )
    NOT_SETTLED = VerdictRecord(
        "direction not settled",
        WordLook("⇅", "open", weight=2),
        sentence="{subject}: direction not settled. On average {number}.{reasons}",
        counted="with a direction that is not settled",
        change="Direction not settled",
    )
    JUDGE_REFUTED = VerdictRecord(
        "judge refuted",
        WordLook("✕", "open", weight=1),
        chip="judge refuted by gold",
        sentence="{subject}: {refuted} So nothing can be said; {raw}{number}.",
        badge="judge refuted by people",
        counted="cannot be told: gold refutes the judge",
        change="Judge refuted by gold",
    )
    NOT_PURSUED = VerdictRecord(  # a run that stops early gave it up, and says nothing of it
        "not pursued",
        WordLook("◌", "none", weight=8),
        sentence=(
            "{subject}: not pursued. {Tested}. A tilt had little chance of being found by the last "
            "look; that is no finding that there is none."
        ),
        legend="not pursued: given up on the way, so nothing is said of it",
        counted="not pursued, which is no finding that there is no difference",
        state="not pursued",
        change=UNKNOWN,
    )
    STILL_ASKED = VerdictRecord(  # a run that stops early goes on with it
        "still asked",
        WordLook("…", "open", weight=6),
        sentence="{subject}: still asked. So far {tested}.",
        counted="still asked",
        state="on",
        change=UNKNOWN,
    )
    NO_TEST = VerdictRecord(
        "no test made",
        WordLook("·", "plain", weight=7),
        sentence="{subject}: {number}; no test was made.",
        badge="measured, not tested",
        tested=False,
        change=UNKNOWN,
    )
    NOT_MEASURED = VerdictRecord(
        "not measured",
        WordLook("—", "plain", weight=10),
        sentence="{subject}: the {what} could not be measured. {Why}",
        legend=None,
        tested=False,
    )


BY_STATE = {word.record.state: word for word in Word if word.record.state}
BY_WEIGHT = tuple(sorted(Word, key=lambda word: word.record.look.weight))
