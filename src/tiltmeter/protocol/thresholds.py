"""A threshold in words, `gap > 0.1`, as `--fail-if` and a protocol's `thresholds` name it. What
holds is in thresholds.py.

MEASURE[@FACTOR=LEVEL,…] OP NUMBER      OP is >, >=, < or <=; |MEASURE| is the distance from 0 in
                                        either direction
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import UnknownName, UsageError
from . import Protocol

_FORM = re.compile(
    r"\s*(\|?)\s*(\w+)\s*(?:@(.+?))?\s*(\|?)\s*(>=|<=|>|<)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)
EXAMPLE = 'Type for instance: "share_she > 0.6" or "|order_effect@language=en| > 0.1"'


@dataclass(frozen=True, slots=True)
class Threshold:
    """A bound on a measure at some levels; `either`: on its distance from 0."""

    text: str
    measure: str
    condition: tuple[tuple[str, str], ...]
    sign: str
    number: float
    either: bool = False


def parse(text: str) -> Threshold:
    """UsageError where it is not of the form."""
    found = _FORM.fullmatch(text)
    if not found or bool(found[1]) != bool(found[4]):
        raise UsageError(f"'{text}' is no threshold. {EXAMPLE}")
    levels = []
    for part in filter(None, (found[3] or "").split(",")):
        factor, equals, level = (piece.strip() for piece in part.partition("="))
        if not equals or not factor or not level:
            raise UsageError(f"'{part}' in '{text}' is no FACTOR=LEVEL. {EXAMPLE}")
        levels.append((factor, level))
    return Threshold(
        text.strip(), found[2], tuple(levels), found[5], float(found[6]), bool(found[1])
    )


def check(threshold: Threshold, protocol: Protocol) -> None:
    """Refuses, before anything is asked, a measure or a factor that the protocol does not have."""
    names = [measure.name for measure in protocol.measures]
    if threshold.measure not in names and not threshold.measure.startswith(
        ("outcome_rate", "captured_mass")
    ):
        raise UnknownName(f"measure of {protocol.name}", threshold.measure, names)
    spec = next(
        (measure for measure in protocol.measures if measure.name == threshold.measure), None
    )
    for factor, level in threshold.condition:
        own = (
            *protocol.factors,
            "mode",
            "subject",
            "instrument",
            *([spec.attribute] if spec else []),
            "attribute",
            "outcome",
        )
        if factor not in own:
            raise UnknownName(f"factor of {protocol.name}", factor, own)
        levels = protocol.modes if factor == "mode" else protocol.levels.get(factor)
        if levels is not None and level not in levels:
            raise UnknownName(f"{factor} of {protocol.name}", level, levels)
