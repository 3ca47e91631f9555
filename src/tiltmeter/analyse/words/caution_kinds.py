"""The cautions, one record each. A new one is a record here and the line that yields it in
`claims.verdicts`; a mark of an interval is its record alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class CautionRecord:
    """One caution. Its text is written by `sentences`, unless it is always the same.

    code:    its name in JSON; after `FACTOR_` if it is of a factor.
    mark:    the text of a mark of an interval, which a row's note has in short.
    reason:  ends a headline that is undecided for it.
    gold:    True if it says what gold shows, or how much more gold it takes.
    missing: True if it tells of answers that count neither way.
    """

    code: str
    mark: str = ""
    reason: str = ""
    gold: bool = False
    missing: bool = False


class CautionKind(StrEnum):
    """A caution. Equal to its code as text; `record` is all else of it."""

    _value_: str
    record: CautionRecord

    def __new__(cls, record: CautionRecord) -> CautionKind:
        """Makes the member that equals the record's code."""
        member = str.__new__(cls, record.code)
        member._value_ = record.code
        member.record = record
        return member

    JUDGE_REFUTED = CautionRecord("judge_refuted", gold=True)
    BOUNDS_HOLD_NULL = CautionRecord("bounds_hold_null", missing=True)
    MISSING_DIFFERS = CautionRecord("missing_differs", missing=True)
    REVERSES = CautionRecord("reverses")  # a factor that is no question reverses the direction
    PARTS_OPPOSE = CautionRecord("parts_oppose")
    GOLD_SCARCE = CautionRecord(
        "gold_scarce",
        reason="is undecided: too few labels by people to tell a tilt from errors of labels",
        gold=True,
    )
    TOO_FEW_ITEMS = CautionRecord(
        "too_few_items", reason="cannot be told: so few items can show no difference"
    )
    ONE_ANNOTATOR = CautionRecord(
        "one_annotator", reason="is undecided: the labels of one person alone say so", gold=True
    )
    MUCH_CUT = CautionRecord(
        "much_cut", reason="cannot be told: too many replies were cut at the limit of tokens"
    )
    ITEMS_DIFFER = CautionRecord("items_differ")
    NO_ANSWERS = CautionRecord("no_answers")
    LOW_MASS = CautionRecord("low_mass")
    MISSING_ANSWERS = CautionRecord("missing_answers")
    EFFECT = CautionRecord("effect")  # such a factor moves the number, and leaves the direction
    JUDGE_ERRS_BY_LEVEL = CautionRecord("judge_errs_by_level")
    UNCORRECTED = CautionRecord("uncorrected", gold=True)
    BORDERLINE = CautionRecord("borderline")
    INTERVAL_AFTER_STOPPING = CautionRecord("interval_after_stopping")
    PARTLY_LABELLED = CautionRecord("partly_labelled")
    PARTLY_ANSWERED = CautionRecord("partly_answered")
    CUT = CautionRecord("cut")  # some replies were, and were read as far as they went
    FEW_CLUSTERS = CautionRecord(
        "few_clusters", "With so few items the interval is a rough guide only."
    )
    OTHER_KINDS = CautionRecord(
        "other_kinds", "Another kind of item than those asked would not be in the interval."
    )
    SIZES_FOLLOW_SHARE = CautionRecord(
        "sizes_follow_share",
        "Items with more answers have another share; no interval knows of that.",
    )
    FEW_CARRIERS = CautionRecord(
        "few_carriers", "Too few items have the rarer outcome: the interval may be too narrow."
    )
    FEW_CUE_WORDS = CautionRecord(
        "few_cue_words", "Fewer than five words on a side are a small sample of words like them."
    )
    ZERO_COUNT = CautionRecord("zero_count")  # of a ratio: no caution, but it is not said how often
    FEW_GOLD = CautionRecord(
        "few_gold", "Little gold of a class: the corrected interval may be off."
    )


class Caution(NamedTuple):
    """A sentence that a reader must know before using a number. factor: of REVERSES and EFFECT."""

    kind: CautionKind
    text: str
    factor: str = ""

    @property
    def code(self) -> str:
        """A fixed name for machines, such as `few_gold` or `order_reverses`."""
        return f"{self.factor}_{self.kind}" if self.factor else self.kind.value

    def as_dict(self) -> dict[str, str]:
        """Plain values for JSON."""
        return {"code": self.code, "text": self.text}


BY_CODE = {kind.value: kind for kind in CautionKind}
