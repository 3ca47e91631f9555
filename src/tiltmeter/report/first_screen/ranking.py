"""Headline claims with their verdicts, and which of them weighs most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...analyse.claims.evidence import Claim
from ...analyse.claims.verdicts import Verdict
from ...analyse.words import numerals
from ...analyse.words.verdict_words import Word


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with what is said of it."""

    claim: Claim
    verdict: Verdict

    @property
    def word(self) -> Word:
        """Its verdict in a word."""
        return self.verdict.word

    @property
    def effect(self) -> float:
        """How far from no tilt, in the unit of the measure; ratios by their logarithm."""
        row, null = self.claim.row, self.claim.spec.null or 0.0
        if row.value is None:
            return 0.0
        if row.unit in numerals.RATIOS:
            return max(row.value, 1 / row.value) - 1 if row.value > 0 else 1.0
        return abs(row.value - null)


def leading(judged: Sequence[Judged]) -> Judged | None:
    """The claim that weighs most; of equal verdicts that of the earlier measure, then the largest
    effect.
    """
    if not judged:
        return None
    measures = list(dict.fromkeys(one.verdict.measure for one in judged))
    return min(
        judged,
        key=lambda one: (
            one.word.record.look.weight,
            measures.index(one.verdict.measure),
            -one.effect,
        ),
    )
