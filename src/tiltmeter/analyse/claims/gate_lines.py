"""The lines that a gate prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...protocol.thresholds import RATIOS
from ...records import CUT, Json
from ...stats.rates import FEW_CLUSTERS
from ..words import numerals
from . import margins
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
    for names_of in where.values():
        level = names_of[0] if isinstance(names_of, (list, tuple)) and len(names_of) == 1 else ""
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
    if claim.value is None or interval is None:
        return f"{name.text}: {claim.headline} Nothing can be held against the margin."
    limit = f"the margin is {margins.in_words(margin, claim.unit, claim.reference)}"
    sides = ", " * bool(levels(claim)) + " against ".join(levels(claim))
    numbers = f"{_number(claim.value, claim)} (90 % interval {_range(claim, interval)})"
    if not tilts:
        return f"{name.text}{sides}: {numbers}; {limit}."
    if claim.p_adjusted is not None:
        limit += f"; p {numerals.chance(claim.p_adjusted)} among {name.among}"
    return f"{name.text}: {claim.headline} {numbers}; {limit}."


def levels(claim: Verdict) -> Sequence[str]:
    """Returns the two levels that a claim compares; () if it compares none."""
    sides = next(iter((claim.contrast or {}).values()), "")
    ends = sides.split(f" {numerals.MINUS} ")
    return [end.strip() for end in ends] if len(ends) == 2 else ()


def _number(value: float, claim: Verdict) -> str:
    """Formats a number for reading: points for a difference, per cent for a share or a ratio."""
    if claim.unit == "share" and claim.reference:
        return numerals.percent(value)
    if claim.unit != "share" and claim.unit not in RATIOS:
        return f"{numerals.sign(value)}{abs(value):,.2f} {claim.unit}".strip()
    size, unit = (100 * value, "points") if claim.unit == "share" else (100 * (value - 1), "%")
    return f"{numerals.sign(size)}{abs(size):,.{int(abs(size) < 10)}f} {unit}"


def missing(
    claim: Verdict, share: float, worst: tuple[float, float], *, besides: bool = False
) -> str:
    """Writes that the missing answers keep a claim from passing, and how to get answers. worst: the
    widest interval; besides: True if the interval is too wide without them as well.
    """
    amount = f"{numerals.percent(share)} of the answers are missing"
    text = f"Only {amount}: they could make the interval {_range(claim, worst)}"
    if besides:
        text = f"Besides, {amount}: however many items, these could move the number by the margin"
    elif not all(map(math.isfinite, worst)):
        text = f"Only {amount}: they could have been anything"
    is_cut = claim.facts.row.outcomes.get(CUT, 0.0) > 0
    limit = "and a higher --max-tokens " * is_cut
    return (
        f"{text}. A run keeps the answers that it has: ask anew with another --out "
        f"{limit}(tiltmeter quote RUN shows what came instead)."
    )


def _range(claim: Verdict, interval: tuple[float, float]) -> str:
    low, high = (_number(end, claim) for end in interval)
    return f"{low.split()[0]} to {high}"


def not_held(
    unsized: Sequence[tuple[Verdict, str]],
    untested: Sequence[str],
    few: Sequence[tuple[Verdict, str]],
) -> Iterator[str]:
    """Yields notes on the claims without a margin, without a test, and over too few items."""
    if unsized:
        by_unit: dict[str, list[str]] = {}
        for claim, name in unsized:
            by_unit.setdefault(claim.unit or "a unit of its own", []).append(name)
        names_of = [
            f"{'; '.join(of_unit)} (measured in {'points' if unit == 'share' else unit})"
            for unit, of_unit in by_unit.items()
        ]
        sizes = ",".join(margins.examples(claim.measure for claim, _ in unsized))
        yield (
            f"note: not held against a margin: {'; '.join(names_of)}. To hold it, add a size to "
            f"--margin: {sizes}"
        )
    if untested:
        yield (
            f"note: not held: {'; '.join(untested)}. The system gives the same answer whenever it "
            "is asked the same prompt, so nothing shows how much answers differ by chance."
        )
    for claim, name in few:
        nouns = claim.facts.slots.get("items", "items")
        number = numerals.count(claim.clusters or 0)
        yield (
            f"note: not held: {name}. Not enough {nouns}: {number}, and with fewer than "
            f"{FEW_CLUSTERS} no interval is sure."
        )
