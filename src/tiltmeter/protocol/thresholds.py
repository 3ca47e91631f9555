"""Thresholds as text, `gap > 0.1`, for `--fail-if` and a protocol's `thresholds`.
analyse/claims/thresholds.py applies them.

MEASURE[@FACTOR=LEVEL,…] OP NUMBER      OP is >, >=, < or <=. A bound holds on both sides of the
                                        value that stands for no tilt: `gap > 0.1` is shown by
                                        −.57 too, `share_she > 0.6` by .3 (no tilt is .5),
                                        `ratio < 0.8` by 1.4 (no tilt is 1)
signed(MEASURE) OP NUMBER               on the side that is written alone
|MEASURE| OP NUMBER                     the distance from 0, for a measure without such a value
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ..errors import UnknownName, UsageError
from ..languages.patterns import lazy
from . import Protocol

Sides: TypeAlias = Literal["both", "one", "distance"]
OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_FORM = lazy(
    r"\s*(\||signed\(|)\s*(\w+)\s*(?:@(.+?))?\s*(\||\)|)\s*(>=|<=|>|<)"
    r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)
_CLOSED_BY = {"|": "|", "signed(": ")", "": ""}
_SIDES: dict[str, Sides] = {"|": "distance", "signed(": "one", "": "both"}
EXAMPLE = 'Type for instance: "share_she > 0.6" or "signed(order_effect@language=en) > 0.1"'
RATIOS = ("odds", "ratio")  # units whose other side is the reciprocal


@dataclass(frozen=True, slots=True)
class Threshold:
    """A bound on a measure at some levels.

    sides: "both" sides of `null`, only the "one" that is written, or the "distance" from 0. null:
    the value that means no tilt, None if the measure has none; unit: the measure's unit.
    """

    text: str
    measure: str
    condition: tuple[tuple[str, str], ...]
    sign: str
    number: float
    sides: Sides = "both"
    null: float | None = None
    unit: str = ""

    @property
    def center(self) -> float | None:
        """The value from which distances are taken; None if the bound holds on one side only."""
        if self.sides == "distance":
            return 0.0
        if self.sides == "one" or self.null is None or self._holds(self.null):
            return None
        return self.null if self.unit not in RATIOS or min(self.null, self.number) > 0 else None

    def _holds(self, value: float) -> bool:
        return OPERATORS[self.sign](value, self.number)

    @property
    def in_words(self) -> str:
        """The bound as typed, followed by its mirror image if the bound holds on both sides."""
        if self.sides != "both" or self.center is None:
            return self.text
        is_ratio = self.unit in RATIOS
        other = self.center**2 / self.number if is_ratio else 2 * self.center - self.number
        mirrored = self.sign.translate(str.maketrans("<>", "><"))
        return f"{self.text} or {mirrored} {other:.4g}"


def parse(text: str) -> Threshold:
    """Parses a threshold. Raises UsageError if the text is malformed."""
    match = _FORM.fullmatch(text)
    if not match or _CLOSED_BY[match[1]] != match[4]:
        raise UsageError(f"'{text}' is not a threshold. {EXAMPLE}")
    levels = []
    for part in filter(None, (match[3] or "").split(",")):
        factor, equals, level = (piece.strip() for piece in part.partition("="))
        if not equals or not factor or not level:
            raise UsageError(f"'{part}' in '{text}' is not a FACTOR=LEVEL. {EXAMPLE}")
        levels.append((factor, level))
    return Threshold(
        text.strip(), match[2], tuple(levels), match[5], float(match[6]), _SIDES[match[1]]
    )


def check(threshold: Threshold, protocol: Protocol) -> Threshold:
    """Returns a threshold with the null value and unit of its measure. Raises UsageError, before
    any call, for a measure or a factor that is not in the protocol.
    """
    names = [measure.name for measure in protocol.measures]
    if threshold.measure not in names and not threshold.measure.startswith(
        ("outcome_rate", "captured_mass")
    ):
        raise UnknownName(f"measure of {protocol.name}", threshold.measure, names)
    spec = next(
        (measure for measure in protocol.measures if measure.name == threshold.measure), None
    )
    for factor, level in threshold.condition:
        known = (
            *protocol.factors,
            "mode",
            "subject",
            "instrument",
            *([spec.attribute] if spec else []),
            "attribute",
            "outcome",
        )
        if factor not in known:
            raise UnknownName(f"factor of {protocol.name}", factor, known)
        levels = protocol.modes if factor == "mode" else protocol.levels.get(factor)
        if levels is not None and level not in levels:
            raise UnknownName(f"{factor} of {protocol.name}", level, levels)
    return replace(threshold, null=spec.null, unit=spec.unit) if spec else threshold
