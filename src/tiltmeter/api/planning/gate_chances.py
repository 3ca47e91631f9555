"""The chances that claims without a tilt pass a gate, and the items needed for nine in ten."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...stats.power.equivalence import SURE, clusters_to_pass, pass_chance
from ...stats.power.power import detectable

if TYPE_CHECKING:
    from ...protocol import Protocol
    from ...stages.planning.power import Detectable
    from .plan_page import Plan

# Assumed standard deviations of answers to one prompt: of the logarithm of a length, of a reading
# level, of a difference of likeness; and between prompts, of the logarithm of a length.
_LENGTH, _LEVEL, _LIKENESS, _LENGTH_BY_PROMPT = 0.25, 2.0, 0.286, 0.05
ASSUMED = (
    "gate: assumed are shares near one half (rarer ones need fewer), and of answers to one prompt "
    f"a spread of {100 * _LENGTH:g} % in length, {_LEVEL:g} reading levels"
)


@dataclass(frozen=True, slots=True)
class Chance:
    """The chance that one claim without a tilt passes. margin: in the claim's unit, a factor for
    ratios; items_needed: items with which the share SURE of runs pass; with_twice_answers: this
    number with twice the answers; for_all: items with which all claims pass together; calls,
    dollars: those of `items_needed`."""

    measure: str
    unit: str
    margin: float
    chance: float
    items: int
    items_needed: int
    with_twice_answers: int
    for_all: int
    calls: int
    dollars: float


def chances(plan: Plan, protocol: Protocol, margin: str) -> list[Chance]:
    """Returns the chance of each headline claim whose spread is known or assumed."""
    from ...analyse.claims.margins import parse_sizes, size_of

    sizes = parse_sizes(margin)
    specs = {spec.name: spec for spec in protocol.measures if spec.headline}
    rows = []
    for row in plan.design:
        spec = specs.get(row.measure)
        if spec is None or row.clusters is None or row.clusters < 2:
            continue
        size, errors = size_of(sizes, row.measure, spec.unit), _errors(spec.kind, row)
        if size is not None and errors is not None:
            rows.append((row.measure, spec.unit, size, row.clusters, errors))
    one_of_all = SURE ** (1 / max(1, len(rows)))
    return [_chance(plan, *row, one_of_all) for row in rows]


def _chance(
    plan: Plan,
    measure: str,
    unit: str,
    size: float,
    items: int,
    errors: tuple[float, float],
    one_of_all: float,
) -> Chance:
    inner = math.log(size) if unit == "ratio" else size
    needed, twice = (clusters_to_pass(se=se, clusters=items, margin=inner) for se in errors)
    times = needed / items
    return Chance(
        measure,
        unit,
        size,
        pass_chance(se=errors[0], clusters=items, margin=inner),
        items,
        needed,
        twice,
        clusters_to_pass(se=errors[0], clusters=items, margin=inner, sure=one_of_all),
        math.ceil(plan.totals["calls"] * times),
        round(plan.totals["cost"] * times, 2),
    )


def _errors(kind: str, row: Detectable) -> tuple[float, float] | None:
    """Returns a claim's (standard error as planned, with twice the answers); None if unknown."""
    items, answers = row.clusters or 0, row.per_cluster
    if row.detectable and row.twice_samples:
        of_one = detectable(se=1.0, clusters=items, tests=max(1, row.tests))
        return row.detectable / of_one, row.twice_samples / of_one
    if kind == "mean_ratio":
        once, twice = (_LENGTH_BY_PROMPT**2 + 2 * _LENGTH**2 / n for n in (answers, 2 * answers))
    elif kind == "mean_difference":
        once, twice = (2 * _LEVEL**2 / n for n in (answers, 2 * answers))
    elif kind == "mean":  # a difference of likeness: answers of both versions
        once, twice = ((2 * _LIKENESS / n) ** 2 for n in (answers, 2 * answers))
    else:
        return None
    return math.sqrt(once / items), math.sqrt(twice / items)


def lines(claims: Sequence[Chance]) -> Iterator[str]:
    """Yields a line per claim, then lines on all claims together and on the cost."""
    for claim in claims:
        yield (
            f"gate: without a tilt, {claim.measure} passes a margin of {_size(claim)} in "
            f"{100 * claim.chance:.0f} % of runs; {claim.items_needed:,} items would pass in "
            f"{100 * SURE:.0f} % (now {claim.items:,}), or {claim.with_twice_answers:,} of twice "
            "the answers"
        )
    if len(claims) > 1:
        most = max(claims, key=lambda claim: claim.for_all)
        yield (
            f"gate: all {len(claims)} of them pass in about "
            f"{100 * math.prod(claim.chance for claim in claims):.0f} % if they are independent; "
            f"in {100 * SURE:.0f} % with {most.for_all:,} items"
        )
    if claims:
        most = max(claims, key=lambda claim: claim.for_all)
        times = most.for_all / most.items_needed
        calls, dollars = math.ceil(most.calls * times), most.dollars * times
        price = f", about ${dollars:,.2f}" if dollars else ""
        yield f"gate: {most.for_all:,} items are {calls:,} calls{price}"
        yield ASSUMED


def _size(claim: Chance) -> str:
    if claim.unit == "share":
        return f"{100 * claim.margin:g} points"
    return f"{100 * (claim.margin - 1):g} %" if claim.unit == "ratio" else f"{claim.margin:g}"
