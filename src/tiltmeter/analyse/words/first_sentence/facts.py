"""A headline claim as the first sentence needs it, with strength and size of its tilt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from ....protocol import MeasureSpec
from ....protocol.design.refusals import NO_ANSWER, REFUSED
from ....records import Estimate
from .. import numerals, reading
from ..caution_kinds import CautionKind
from ..verdict_words import Word

WEAK, PLAIN = 0.01, 0.001  # adjusted p from which signs are weak, and below which a tilt is clear


class Strength(StrEnum):
    """A grade of evidence by adjusted p, used in sentences and in badges."""

    WEAK = "weak signs"
    TILT = "tilt"
    CLEAR = "clear tilt"


def strength(row: Estimate) -> Strength:
    """Returns the grade of a row whose verdict is a tilt. The thresholds follow the strongest
    evidence against the null that p can be, odds of 1/(−e p ln p): 8 to 1 at .01, 53 to 1 at .001.
    """
    p = row.deciding_p
    if p is None or p >= WEAK:
        return Strength.WEAK
    return Strength.TILT if p >= PLAIN else Strength.CLEAR


class Nuisance(NamedTuple):
    """A tested factor outside the audit's question. levels: (title, raw share), the higher first;
    size: by how much it moves the number from its mean; found: True if its test is significant.
    """

    name: str
    levels: tuple[tuple[str, float], ...]
    size: float
    found: bool


@dataclass(frozen=True)
class ClaimFacts:
    """One claim with its verdict. slots: values that a sentence may name; kinds: of its cautions;
    matters: a difference of shares below this is slight; bounds: the range of the value over all
    values that answers outside the denominator could have; refuted: a sentence on people's labels
    that contradict its judge; gold: the number of people's labels beside those of its judge; sides:
    both raw numbers; uncued: the compared factor, if no prompt mentions it; joined: True if rules
    and a judge labelled together.
    """

    word: Word
    spec: MeasureSpec
    row: Estimate
    slots: Mapping[str, str]
    kinds: frozenset[CautionKind]
    nouns: tuple[str, str]
    matters: float
    sides: Mapping[str, float]
    nuisances: tuple[Nuisance, ...] = ()
    bounds: Estimate | None = None
    refuted: str = ""
    gold: int = 0
    uncued: str = ""
    joined: bool = False

    @property
    def model(self) -> str:
        """The short name of the model."""
        return self.slots["subject"]

    @property
    def tilts(self) -> bool:
        """True if the verdict is a tilt."""
        return self.word == Word.TILT

    @property
    def refusals(self) -> bool:
        """True if the claim is about a difference in refusals."""
        return self.spec.name.endswith(REFUSED)

    @property
    def unanswered(self) -> bool:
        """True if the claim is about a difference in missing answers."""
        return not {*NO_ANSWER}.isdisjoint(self.spec.values)

    @property
    def few(self) -> bool:
        """True if the claim has too few items for a sure interval, and no tilt."""
        return CautionKind.FEW_CLUSTERS in self.kinds and not self.tilts

    @cached_property
    def null(self) -> float:
        """The value that means no tilt: the measure's null, else 1 for a ratio and 0 otherwise."""
        if self.spec.null is not None:
            return self.spec.null
        return 1.0 if self.row.unit in numerals.RATIOS else 0.0

    @property
    def above(self) -> bool:
        """True if the value is greater than the null value."""
        return (self.row.value or 0.0) > self.null

    @cached_property
    def effect(self) -> float:
        """The distance of the value from the null value; for a ratio in logarithms."""
        return self._distance(self.row.value)

    @cached_property
    def least(self) -> float:
        """The distance from the null value to the interval; 0 if the interval contains it."""
        ends = (self.row.low, self.row.high)
        if None in ends:
            return 0.0 if not self.tilts else self.effect
        low, high = ends
        has_null = (low or 0.0) <= self.null <= (high or 0.0)
        return 0.0 if has_null else min(map(self._distance, ends))

    @property
    def slight(self) -> bool:
        """True if the whole interval of a share lies closer to the null value than `matters`."""
        ends = (self.row.low, self.row.high)
        if self.row.unit != "share" or None in ends:
            return False
        return max(map(self._distance, ends)) < self.matters

    @property
    def unnamed(self) -> bool:
        """True if a claim over many cells tilts but names no cell."""
        return self.tilts and self.row.cells is not None and not self.row.cells["named"]

    @property
    def follows(self) -> bool:
        """True if the claim shows no difference once another claim's class is left out."""
        return self.row.cells is not None and bool(self.row.cells["follows_from"])

    @cached_property
    def what(self) -> tuple[tuple[str, str], ...]:
        """The value that the claim counts and the levels that it compares, as (factor, level)."""
        contrast = self.spec.contrast or {}
        names = (self.spec.attribute, contrast.get("factor", ""), contrast.get("within", ""))
        levels = [(name, self.row.condition[name]) for name in names if name in self.row.condition]
        alone = [("alone", self.slots["alone"])] if "alone" in self.slots else []
        return (*levels, *(self.row.contrast or {}).items(), *alone)

    @cached_property
    def place(self) -> tuple[tuple[str, str], ...]:
        """The language, mode and group of the claim, as (factor, level)."""
        return tuple(pair for pair in self.row.condition.items() if pair not in self.what)

    def _distance(self, value: float | None) -> float:
        if value is None:
            return 0.0
        if self.row.unit in numerals.RATIOS:
            return abs(math.log(value / self.null)) if value > 0 and self.null > 0 else math.inf
        return abs(value - self.null)


def detectable(facts: ClaimFacts) -> str:
    """Returns the smallest difference found with 80 % power, in words; "" if it is unknown."""
    row = facts.row
    if row.cells is not None and row.cells["detectable_all"] is not None:
        return f"a rise of {numerals.points(row.cells['detectable_all'])}"
    if row.detectable is None:
        return ""
    if row.unit in numerals.RATIOS:
        return f"{numerals.odds(1 + row.detectable, 1)} times as often"
    if row.unit == "share":
        is_known = reading.detectable(row, facts.spec, 2) != "none"
        return numerals.points(row.detectable) if is_known else ""
    size = numerals.quantity(row.detectable, row.unit)
    return f"a difference of {size}{facts.slots.get('unit', '')}"
