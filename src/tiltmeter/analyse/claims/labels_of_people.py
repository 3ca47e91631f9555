"""Gold by people who err: what follows if a verdict rests on the labels of one of them."""

from __future__ import annotations

from dataclasses import replace

from ...records import Estimate
from ..words import sentences
from ..words.verdict_words import Word
from .background import GoldFacts
from .evidence import Claim
from .tested_word import test_word


def disagree(claim: Claim, known: GoldFacts) -> str:
    """Writes that the labels of one person alone make a tilt, or end it, or that not all people's
    labels say the same of one; "" if none of that.
    """
    row, raw, null = claim.row, claim.raw, claim.spec.null
    if row is raw or null is None:
        return ""
    if known.people > 1 and row.voices:
        return _of_voices(row, null, known)
    if known.people != 1 and not _lacks_a_voice(known, row):
        return ""
    words = {test_word(one, null) for one in (row, raw)}
    return sentences.one_person(known.labels) if len(words) > 1 and Word.TILT in words else ""


def _lacks_a_voice(known: GoldFacts, row: Estimate) -> bool:
    """True if only one of two people gave labels enough to correct by."""
    return known.people == 2 and not row.voices


def _of_voices(row: Estimate, null: float, known: GoldFacts) -> str:
    """Writes that some of the people's labels alone say otherwise than the others'; "" if all
    agree.

    p of a voice is adjusted by as much as that of the row.
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
    return sentences.several_people(known.people, known.labels) if len(directions) > 1 else ""
