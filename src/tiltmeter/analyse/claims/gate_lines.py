"""The lines that a gate prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...protocol.thresholds import RATIOS
from ...records import Json
from ..words import numerals
from .verdicts import Verdict


class Name(NamedTuple):
    """The name of a claim, and the number of claims at the gate."""

    text: str
    among: int


def names(claims: Sequence[Verdict]) -> list[str]:
    """Returns a name per claim: its measure, then the levels in which it differs from others."""
    places = [{"model": claim.subject, **claim.condition} for claim in claims]
    varies = [
        key
        for key in dict.fromkeys(key for one in places for key in one)
        if len({one.get(key) for one in places}) > 1
    ]
    return [
        " · ".join((_measure(claim), *(one[key] for key in varies if key in one)))
        for claim, one in zip(claims, places, strict=True)
    ]


def _measure(claim: Verdict) -> str:
    """Returns "refusal, gender" for `refusal_gender` if `where` names the single level "gender"."""
    where: Mapping[str, Json] = claim.facts.spec.where
    for levels in where.values():
        level = levels[0] if isinstance(levels, (list, tuple)) and len(levels) == 1 else ""
        ending = "_" + "_".join(str(level).replace("(", "").replace(")", "").split())
        if level and claim.measure.endswith(ending):
            return f"{claim.measure.removesuffix(ending)}, {level}"
    return claim.measure


def measured(
    claim: Verdict,
    name: Name,
    interval: tuple[float, float] | None,
    margin: float,
    *,
    tilts: bool,
) -> str:
    """Writes the line of a claim, with its numbers and the margin. tilts: True to add the report's
    headline. interval: the 90 % interval that is compared with the margin.
    """
    limit = f"the margin is {_margin(claim, margin)}"
    if claim.value is None or interval is None:
        return f"{name.text}: {claim.headline} Nothing can be held against the margin."
    low, high = (_number(end, claim) for end in interval)
    sides = ", " * bool(_levels(claim)) + " against ".join(_levels(claim))
    numbers = f"{_number(claim.value, claim)} (90 % interval {low.split()[0]} to {high})"
    if not tilts:
        return f"{name.text}{sides}: {numbers}; {limit}."
    chance = (
        ""
        if claim.p_adjusted is None
        else f"; p {numerals.chance(claim.p_adjusted)} among {name.among}"
    )
    return f"{name.text}: {claim.headline} {numbers}; {limit}{chance}."


def _levels(claim: Verdict) -> Sequence[str]:
    sides = next(iter((claim.contrast or {}).values()), "")
    ends = sides.split(f" {numerals.MINUS} ")
    return [end.strip() for end in ends] if len(ends) == 2 else ()


def _number(value: float, claim: Verdict) -> str:
    """Formats a number for reading: points for a difference, per cent for a share or a ratio."""
    if claim.unit in RATIOS:
        size = 100 * (value - 1)
        return f"{_signed(size, 0 if abs(size) >= 10 else 1)} %"
    if claim.unit != "share":
        return f"{_signed(value, 2)} {claim.unit}".strip()
    if claim.reference:
        return numerals.percent(value)
    size = 100 * value
    return f"{_signed(size, 0 if abs(size) >= 10 else 1)} points"


def _signed(value: float, places: int) -> str:
    sign = "+" if value > 0 else numerals.MINUS if value < 0 else ""
    return f"{sign}{abs(value):,.{places}f}"


def _margin(claim: Verdict, margin: float) -> str:
    if claim.unit == "share":
        null = f" around {numerals.percent(claim.reference)}" if claim.reference else ""
        return f"{numerals.points(margin)}{null}"
    if claim.unit in RATIOS:
        return f"{100 * (margin - 1):g} %"
    return f"{margin:g} {claim.unit}".strip()


def not_held(unsized: Sequence[tuple[Verdict, str]], untested: Sequence[str]) -> Iterator[str]:
    """Yields one note on all claims without a margin, and one on all claims without a test."""
    if unsized:
        examples = dict.fromkeys(f"{claim.measure.partition('_')[0]}=1" for claim, _ in unsized)
        unit = unsized[0][0].unit
        yield (
            f"note: not held against a margin: {'; '.join(name for _, name in unsized)} "
            f"(measured in {unit or 'a unit of its own'}). To hold it, add a size to --margin: "
            f"{','.join(examples)}"
        )
    if untested:
        yield (
            f"note: not held: {'; '.join(untested)}. The system gives the same answer whenever it "
            "is asked the same prompt, so nothing shows how much answers differ by chance."
        )
