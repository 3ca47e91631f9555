"""The number that an answer gives: a salary, a score, a log-probability.

A number may have a sign, commas between thousands ("45,000"), a point before decimals, or be a
power ("1e-3"). An answer with several different numbers, or none, is invalid, so that "between 40
and 50" does not become 40. So is "€45.000", which in some countries means forty-five thousand.

Label: the number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from ..protocol import InstrumentSpec
from ..records import INVALID, Answered, Label
from . import Settings
from .text.prose import LANGUAGE, ProseParser, prose

_NUMBER = re.compile(
    r"(?<![\w.,])[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]|[.,]\d)"
)

_THOUSANDS = re.compile(r"(?<![\d.])[1-9]\d{0,2}\.\d{3}(?!\d)")


class Number(ProseParser):
    """settings: scale = the closed list of numbers that an answer may give, if there is one."""

    kind = "number"
    version = "1"
    summary = "the number that an answer gives"
    settings_schema: ClassVar[Settings] = {
        "scale": {
            "type": "array",
            "minItems": 2,
            "items": {"type": "string", "minLength": 1},
            "examples": [["1", "2", "3", "4", "5"]],
            "description": "The numbers that an answer may give; any without it.",
        },
        "language": LANGUAGE,
    }

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: the numbers of the scale}; {} if there is no scale."""
        scale = spec.settings.get("scale")
        return {spec.attribute: list(scale)} if scale else {}

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Returns the number itself."""
        return (value,)

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label: the number, or an outcome if there are several numbers or none."""
        value = number_of(item.output.text)
        scale = self.settings.get("scale")
        if value is not None and (not scale or f"{value:.12g}" in scale):
            return [self.label(item, f"{value:.12g}")]
        _, outcome = prose(item, self.settings)
        return [self.label(item, outcome or INVALID)]


def number_of(text: str) -> float | None:
    """Returns the only number of a text; None if there are several different numbers, or none.

    By hand: "About $45,000 a year." → 45000; "40 to 50" → None.
    """
    if _THOUSANDS.search(text) and not text.strip().strip("-−+").replace(".", "", 1).isdigit():
        return None
    numbers = {match[0].replace(",", "").replace("−", "-") for match in _NUMBER.finditer(text)}
    if len(numbers) != 1:
        return None
    value = float(numbers.pop())
    return value if math.isfinite(value) else None
