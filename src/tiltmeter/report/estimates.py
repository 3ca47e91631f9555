"""What an estimate says of itself: its stratum, its grouping, its words. Reporters see estimates
only through this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..analyse import STRATA, corrected
from ..protocol import MeasureSpec, Protocol
from ..records import Estimate
from . import numerals

CORRECTED = corrected.CORRECTED  # likewise a row `share_she_corrected` the row as gold corrects it
# a row `share_she_bounds` holds the bounds of the row `share_she` of the same condition
BOUNDS = "_bounds"
OUTCOME_RATE = "outcome_rate"
CAPTURED = "captured_mass"
MANY = 24  # levels; a grouping with more has a folded table of its own and no figure
ALPHA = 0.05  # of a test, where an estimate has no confidence of its own
SOME = 6  # likewise where each level is one item only (a word), since those are no groups
_OWN = ("subject", "annotator")  # strata that are fields of an estimate, not part of its condition
Stratum = tuple[str, ...]


def stratum(estimate: Estimate) -> Stratum:
    """What is never pooled: subject, instrument, then mode and language."""
    return (
        estimate.subject,
        estimate.instrument,
        *(estimate.condition.get(name, "") for name in _inner()),
    )


def _inner() -> list[str]:
    return [name for name in STRATA if name not in _OWN]


def group(estimate: Estimate) -> dict[str, str]:
    """The factor levels that an estimate is about, without those of its stratum."""
    return {name: level for name, level in estimate.condition.items() if name not in _inner()}


def condition(estimate: Estimate) -> dict[str, str]:
    """The group of an outcome rate, without the outcome itself."""
    return {
        name: level
        for name, level in group(estimate).items()
        if name not in ("attribute", "outcome")
    }


def grouping(estimate: Estimate) -> tuple[str, ...]:
    return tuple(group(estimate))


def key(estimate: Estimate) -> tuple[tuple[str, str], ...]:
    """What tells rows of a stratum apart: two factors may have a level of the same name."""
    return (*group(estimate).items(), *(estimate.contrast or {}).items())


def group_label(estimate: Estimate) -> str:
    """`all`, or the levels of the group."""
    return ", ".join(group(estimate).values()) or "all"


def contrast_label(estimate: Estimate) -> str:
    return "; ".join(f"{name}: {level}" for name, level in (estimate.contrast or {}).items())


@dataclass(frozen=True, slots=True)
class Audit:
    """The estimates of one variant with what is needed to word them. Positions of strata give the
    order everywhere.
    """

    protocol: Protocol
    estimates: Sequence[Estimate]
    marks: Mapping[str, str]
    strata: tuple[Stratum, ...]

    def spec(self, measure: str) -> MeasureSpec | None:
        return next((spec for spec in self.protocol.measures if spec.name == measure), None)

    def of(self, measure: str) -> list[Estimate]:
        return [estimate for estimate in self.estimates if estimate.measure == measure]

    def named(self, estimate: Estimate) -> list[tuple[str, str]]:
        """(name, level) of the parts of the stratum that differ between strata; the subject is
        always there.
        """
        names = ["model", "instrument", *_inner()]
        return [
            (names[place], self.instrument(level) if place == 1 else level)
            for place, level in enumerate(stratum(estimate))
            if place == 0 or len({other[place] for other in self.strata}) > 1
        ]

    def instrument(self, annotator: str) -> str:
        """The annotator without its hash, where that still tells it from the others; the signature
        has it whole.
        """
        bare = annotator.partition("@")[0]
        return (
            annotator
            if sum(other.partition("@")[0] == bare for other in {s[1] for s in self.strata}) > 1
            else bare
        )

    def fine(self, measure: str) -> set[tuple[str, ...]]:
        """Groupings of a measure that have too many levels for a figure or an open table."""
        groupings: dict[tuple[str, ...], list[Estimate]] = {}
        for estimate in self.of(measure):
            groupings.setdefault(grouping(estimate), []).append(estimate)
        many = set()
        for by, rows in groupings.items():
            levels = len({key(e) for e in rows})
            if levels > MANY or (
                levels > SOME and all((e.clusters or 1) <= 1 and not e.contrast for e in rows)
            ):
                many.add(by)
        return many

    def brief(self, estimate: Estimate) -> list[tuple[str, str]]:
        """As `named`, without the subject where there is only one and something else tells the
        strata apart.
        """
        parts = self.named(estimate)
        return (
            parts[1:] if len(parts) > 1 and len({other[0] for other in self.strata}) == 1 else parts
        )

    def same(self) -> list[tuple[str, str]]:
        """(name, level) of the parts of the stratum that all strata share, beside the subject."""
        names = ["model", "instrument", *_inner()]
        shared = []
        for place in range(1, len(names)):
            levels = {other[place] for other in self.strata}
            if len(levels) == 1 and levels != {""}:
                shared.append((names[place], next(iter(levels))))
        return shared

    def drawn(self, estimate: Estimate) -> bool:
        """Whether outputs were sampled, not read from probabilities."""
        mode = self.protocol.modes.get(estimate.condition.get("mode", ""))
        return mode is None or not mode.logprobs

    def items(self, number: float | None = 2) -> str:
        """The protocol's word for what it samples over (its clusters), in the plural where it
        should be.
        """
        return self.protocol.item if number == 1 else f"{self.protocol.item}s"


def audit(protocol: Protocol, estimates: Sequence[Estimate], marks: Mapping[str, str]) -> Audit:
    return Audit(
        protocol,
        estimates,
        marks,
        tuple(dict.fromkeys(stratum(estimate) for estimate in estimates)),
    )


def numbered(signatures: Iterable[str]) -> dict[str, str]:
    """Signature → mark (S1, S2, …) in the order of first appearance."""
    return {
        text: f"S{place}"
        for place, text in enumerate(dict.fromkeys(text for text in signatures if text), 1)
    }


def together(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Rows of the same group beside one another; groupings and groups in the order in which they
    first come.
    """
    first = {key(e): place for place, e in reversed(list(enumerate(estimates)))}
    depth = {by: place for place, by in enumerate(dict.fromkeys(grouping(e) for e in estimates))}
    return sorted(estimates, key=lambda e: (depth[grouping(e)], first[key(e)]))


def slug(*parts: object) -> str:
    """An id for HTML: names of a user's own protocol may hold anything."""
    return re.sub(r"[^\w.-]+", "_", "-".join(map(str, parts)))


def title(text: str) -> str:
    """The words of a measure as a heading."""
    return text[:1].upper() + text[1:]


def signed(spec: MeasureSpec | None, estimate: Estimate) -> bool:
    return estimate.contrast is not None or (spec is not None and spec.signed)


def value(estimate: Estimate, spec: MeasureSpec | None, places: int | None = None) -> str:
    return numerals.quantity(estimate.value, estimate.unit, signed(spec, estimate), places)


def interval(estimate: Estimate, spec: MeasureSpec | None, places: int | None = None) -> str:
    return numerals.interval(
        estimate.low, estimate.high, estimate.unit, signed(spec, estimate), places
    )


def places(estimate: Estimate, spec: MeasureSpec | None) -> int:
    """Two decimals in a sentence; three where two would print a value or an end as the null value
    that it is not.
    """
    null = spec.null if spec else None
    ends = [
        end
        for end in (estimate.value, estimate.low, estimate.high)
        if end is not None and null is not None
    ]
    near = any(
        end != null and numerals.fixed(end, 2) == numerals.fixed(null or 0.0, 2) for end in ends
    )
    return 3 if near else 2


def number(estimate: Estimate, spec: MeasureSpec | None) -> str:
    """`.62 [.55, .69]`, as a sentence has it; no brackets where there is no interval."""
    digits = places(estimate, spec)
    ends = interval(estimate, spec, digits)
    return value(estimate, spec, digits) + (f" {ends}" if ends != numerals.NOTHING else "")


def detectable(estimate: Estimate, spec: MeasureSpec | None, digits: int | None = None) -> str:
    """The smallest difference that would be found; "none" where it lies outside what the measure
    can be.
    """
    if estimate.detectable is None or estimate.unit != "share":
        return numerals.quantity(estimate.detectable, estimate.unit, places=digits)
    null = spec.null if spec and spec.null is not None else 0.0
    room = 1.0 if signed(spec, estimate) else max(null, 1 - null)
    return (
        "none"
        if estimate.detectable >= room
        else numerals.share(estimate.detectable, 3 if digits is None else digits)
    )


def as_corrected(estimate: Estimate, spec: MeasureSpec | None, digits: int | None = None) -> str:
    """`.62 [.55, .69]` as gold corrects it, or that it does not."""
    if estimate.value is None:
        return "uncorrected"
    return f"{value(estimate, spec, digits)} {interval(estimate, spec, digits)}"


def outcomes(estimate: Estimate) -> str:
    """`she 500 · he 400 · refusal 10`."""
    return " · ".join(
        f"{name} {numerals.count(number)}" for name, number in estimate.outcomes.items()
    )


def directions(spec: MeasureSpec | None) -> tuple[str, str]:
    """What it means to lie below and above the null value, in the words of the protocol."""
    if spec is None:
        return "", ""
    if spec.contrast and "level" in spec.contrast:
        return f"lower with {spec.contrast['level']}", f"higher with {spec.contrast['level']}"
    if (
        spec.null is None
        or "*" in spec.values
        or spec.contrast
        or not (spec.values or spec.reference)
    ):
        return "", ""
    if spec.reference:
        return (
            ("below the reference", "above the reference")
            if spec.signed
            else ("flatter", "steeper")
        )
    above = "/".join(spec.values)
    others = "/".join(value for value in spec.among if value not in spec.values)
    return (f"towards {others}" if others else f"away from {above}"), f"towards {above}"
