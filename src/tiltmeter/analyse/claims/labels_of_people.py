"""Gold by fallible people: cautions on verdicts that rest on one person's labels."""

from __future__ import annotations

from dataclasses import replace

from ...records import Estimate
from ..words import numerals
from ..words.verdict_words import Word
from .background import GoldFacts
from .evidence import Claim
from .tested_word import test_word


def disagree(claim: Claim, known: GoldFacts) -> str:
    """Says that a tilt stands or falls with one person's labels, or that people's labels lead to
    different verdicts; "" if neither is the case.
    """
    row, raw, null = claim.row, claim.raw, claim.spec.null
    if row is raw or null is None:
        return ""
    if known.people > 1 and row.voices:
        return _of_voices(row, null, known)
    if known.people not in (1, 2):  # of two people one gave too few labels to correct by
        return ""
    words = {test_word(one, null) for one in (row, raw)}
    if len(words) == 1 or Word.TILT not in words:
        return ""
    return (
        "One person's labels alone say so; a second person on the same "
        f"{numerals.count(known.labels)} answers would tell."
    )


def _of_voices(row: Estimate, null: float, known: GoldFacts) -> str:
    """Says that the verdict or its direction depends on one person's labels; "" if it does not.

    The p of each voice (one person's labels, or all without them) is scaled as the row's p was.
    """
    scale = (row.p_adjusted or 0.0) / row.p if row.p else 1.0
    directions = {
        None if test_word(one, null) != Word.TILT else (one.value or 0.0) > null
        for voice in row.voices
        for p in [min(1.0, (voice.p or 0.0) * max(scale, 1.0))]
        for one in [
            replace(row, value=voice.value, low=voice.low, high=voice.high, p=p, p_adjusted=p)
        ]
    }
    if len(directions) == 1:
        return ""
    if known.people == 2:
        return (
            "Of two people's labels those of one alone say so; a third person on the same "
            f"{numerals.count(known.labels)} answers would tell."
        )
    return (
        f"It does not stand without the labels of one of {numerals.count(known.people)} people; "
        "more answers labelled by all of them would tell."
    )
