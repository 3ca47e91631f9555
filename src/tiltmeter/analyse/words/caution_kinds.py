"""The kinds of cautions, one record each. To add one, add its record here and the line in
`claims.verdicts` that yields it; a mark of an interval needs only its record.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class CautionKind(StrEnum):
    """A kind of caution, equal to its code in JSON (which begins with `FACTOR_` if it concerns a
    factor). `sentences` writes the text of a kind that has neither a mark nor a sentence.

    mark:     the text of a mark of an interval, which a row's note has in short.
    reason:   ends a headline that this caution leaves undecided.
    gold:     True if it says what gold shows, or how much more gold is needed.
    missing:  True if it concerns answers outside the denominator.
    sentence: the text of the caution, with slots.
    """

    mark: str
    reason: str
    gold: bool
    missing: bool
    sentence: str

    def __new__(
        cls,
        code: str,
        mark: str = "",
        reason: str = "",
        gold: bool = False,
        missing: bool = False,
        sentence: str = "",
    ) -> CautionKind:
        """Creates the member as a string equal to its code."""
        kind = str.__new__(cls, code)
        kind._value_ = code
        kind.mark, kind.reason, kind.gold, kind.missing = mark, reason, gold, missing
        kind.sentence = sentence
        return kind

    def text(self, **slots: str) -> str:
        """Fills the slots of the sentence."""
        return self.sentence.format(**slots)

    JUDGE_REFUTED = ("judge_refuted", "", "", True)
    BOUNDS_HOLD_NULL = ("bounds_hold_null", "", "", False, True)
    MISSING_DIFFERS = ("missing_differs", "", "", False, True)
    UNEVEN_VOTES = "uneven_votes"  # people gave one level more labels per output
    REVERSES = "reverses"  # a factor that is no question reverses the direction
    PARTS_OPPOSE = "parts_oppose"
    GOLD_SCARCE = (
        "gold_scarce",
        "",
        "is undecided: too few labels by people to tell a tilt from errors of labels",
        True,
    )
    TOO_FEW_ITEMS = (
        "too_few_items",
        "",
        "cannot be told: so few items can show no difference",
        *(False, False),
        "{items} cannot show any difference{family}: at least {needed} are needed.",
    )
    UNPAIRED = (
        "unpaired",
        "",
        "cannot be told: the two sides were asked different things, so what differs may be the "
        "prompts' subject, not the cue",
        *(False, False),
        "No {item} was asked for both {level} and {baseline}: the two sides were asked different "
        "things, so what differs may be the prompts' subject, not {factor}.",
    )
    PARTLY_PAIRED = (
        *("partly_paired", "", "", False, False),
        "{item}: {shared} of {all} were asked for both {level} and {baseline}. The others were "
        "asked on one side alone, so a part of what differs may be their subject, not {factor}.",
    )
    REPEATS_ALIKE = (  # so that likeness has nothing to be held against
        "repeats_alike",
        "All answers to the same prompt were word for word alike, so nothing shows how much "
        "answers differ by chance, and no test was made of likeness. Ask with a higher "
        "--temperature to test it, or leave it out with --samples 1.",
    )
    ITEMS_DIFFER = "items_differ"
    NO_ANSWERS = "no_answers"
    LOW_MASS = (
        *("low_mass", "", "", False, False),
        "The options take up {share} of the probability: the model would mostly have said "
        "something else.",
    )
    MISSING_ANSWERS = "missing_answers"
    EFFECT = "effect"  # such a factor moves the number, and leaves the direction
    JUDGE_ERRS_BY_LEVEL = "judge_errs_by_level"
    UNCORRECTED = (
        *("uncorrected", "", "", True, False),
        "Gold does not correct the number ({reason}).",
    )
    BORDERLINE = "borderline"
    INTERVAL_AFTER_STOPPING = (
        *("interval_after_stopping", "", "", False, False),
        "The interval holds the null value: it is longer for having stopped early, and p alone "
        "decides.",
    )
    PARTLY_LABELLED = (
        *("partly_labelled", "", "", False, False),
        "{labelled} of {there} answers are labelled; the rest may differ. {advice}",
    )
    PARTLY_ANSWERED = (
        *("partly_answered", "", "", False, False),
        "{answered} of {planned} planned answers are there; the rest was not asked or did not "
        "come, and may differ.",
    )
    FEW_CLUSTERS = ("few_clusters", "With so few items the interval is a rough guide only.")
    OTHER_KINDS = (
        "other_kinds",
        "Another kind of item than those asked would not be in the interval.",
    )
    CUT = "cut"  # some replies were, and were read as far as they went
    MUCH_CUT = ("much_cut", "", "cannot be told: too many replies were cut at the limit of tokens")
    ONE_ANNOTATOR = (
        "one_annotator",
        "",
        "is undecided: the labels of one person alone say so",
        True,
    )
    SIZES_FOLLOW_SHARE = (
        "sizes_follow_share",
        "Items with more answers have another share; no interval knows of that.",
    )
    FEW_CARRIERS = (
        "few_carriers",
        "Too few items have the rarer outcome: the interval may be too narrow.",
    )
    FEW_CUE_WORDS = (
        "few_cue_words",
        "Fewer than five words on a side are a small sample of words like them.",
    )
    ZERO_COUNT = "zero_count"  # of a ratio, at the level: it is never, and not so many times
    ZERO_AT_BASELINE = "zero_at_baseline"
    FEW_GOLD = ("few_gold", "Little gold of a class: the corrected interval may be off.")


class Caution(NamedTuple):
    """A sentence to read before using a number. factor: set for kinds REVERSES and EFFECT only."""

    kind: CautionKind
    text: str
    factor: str = ""

    @property
    def code(self) -> str:
        """A fixed name for machines, such as `few_gold` or `order_reverses`."""
        return f"{self.factor}_{self.kind}" if self.factor else self.kind.value

    def as_dict(self) -> dict[str, str]:
        """Returns the code and the text, for JSON."""
        return {"code": self.code, "text": self.text}
