"""One estimate in words: its stratum, its group, and its value with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...protocol import EVERY, MeasureSpec, Protocol, wording
from ...protocol.measures import measure_kind
from ...records import Estimate
from . import numerals

STRATA = ("subject", "annotator", "mode", "language")
CORRECTED = "_corrected"  # ends the name of a row as gold corrects it
BOUNDS = (
    "_bounds"  # ends the name of a row between which it lies whatever is missing would have been
)
INTERACTION = "_interaction"  # ends the name of a row of a claim at one level less at another
MISSING = "_missing"  # ends the name of a row of how much more of a level is in no denominator
OUTCOME_RATE = "outcome_rate"
CAPTURED = "captured_mass"
PUBLISHED, CODE = "published", "published-code"  # variants: as a paper has it, as its authors' code
TOGETHER = " + "  # between the subjects over which a measure pools
NAMED = 3  # values that a direction names
_OWN = ("subject", "annotator")  # strata that are fields of an estimate, not part of its condition
_INNER = tuple(name for name in STRATA if name not in _OWN)
Stratum = tuple[str, ...]


def stratum(estimate: Estimate) -> Stratum:
    """Returns the levels that are never pooled over: subject, instrument, mode, language."""
    return (
        estimate.subject,
        estimate.instrument,
        *(estimate.condition.get(name, "") for name in _INNER),
    )


def inner() -> list[str]:
    """Returns the factors of a stratum, apart from subject and instrument."""
    return list(_INNER)


def group(estimate: Estimate) -> dict[str, str]:
    """Returns the factor levels of an estimate, except those of its stratum."""
    return {name: level for name, level in estimate.condition.items() if name not in _INNER}


def condition(estimate: Estimate) -> dict[str, str]:
    """Returns the group of an outcome's rate, as {factor: level} without attribute and outcome."""
    return {
        name: level
        for name, level in group(estimate).items()
        if name not in ("attribute", "outcome")
    }


def grouping(estimate: Estimate) -> tuple[str, ...]:
    """Returns the factors that an estimate is grouped by, except those of its stratum."""
    return tuple(group(estimate))


def key(estimate: Estimate) -> tuple[tuple[str, str], ...]:
    """Returns a row's key in its stratum; it has factor names, as two factors may share a level."""
    return (*group(estimate).items(), *(estimate.contrast or {}).items())


def group_label(estimate: Estimate) -> str:
    """Returns the levels of the group, joined by commas, or `all`."""
    return ", ".join(group(estimate).values()) or "all"


def contrast_label(estimate: Estimate) -> str:
    """Returns the contrast as `factor: level; factor: level`, or "" if there is none."""
    return "; ".join(f"{name}: {level}" for name, level in (estimate.contrast or {}).items())


def level_title(protocol: Protocol, factor: str, level: str) -> str:
    """Returns the title of a level; for a contrast such as `a − b`, the titles of both levels."""
    ends = level.split(numerals.BETWEEN)
    return numerals.BETWEEN.join(wording.title(protocol, factor, end) for end in ends)


def ends(estimate: Estimate, factor: str) -> tuple[str, str] | None:
    """Returns (level, baseline) that a row compares; None if it does not compare two levels."""
    ends_of = (estimate.contrast or {}).get(factor, "").split(numerals.BETWEEN)
    return (ends_of[0], ends_of[1]) if len(ends_of) == 2 else None


def factor_columns(estimates: Sequence[Estimate]) -> dict[str, list[str]]:
    """Returns {factor: its level per row}, and `contrast_NAME` for factors of contrasts; "" if a
    row has no such level. A factor with the name of a field of Estimate becomes `factor_NAME`.
    """
    fields, columns = set(Estimate.columns()), dict[str, list[str]]()
    for place, estimate in enumerate(estimates):
        differing = {
            **{f"factor_{n}" if n in fields else n: v for n, v in estimate.condition.items()},
            **{f"contrast_{name}": v for name, v in (estimate.contrast or {}).items()},
        }
        for name, level in differing.items():
            columns.setdefault(name, [""] * len(estimates))[place] = level
    return columns


def title(text: str) -> str:
    """Capitalises the first letter of a measure's text."""
    return text[:1].upper() + text[1:]


def is_signed(spec: MeasureSpec | None, estimate: Estimate) -> bool:
    """True if the number is shown with its sign: it is a contrast, or its measure is signed."""
    return estimate.contrast is not None or (spec is not None and spec.signed)


def value(estimate: Estimate, spec: MeasureSpec | None, places: int | None = None) -> str:
    """Formats the value in its unit; places: decimals of a share or a ratio."""
    return numerals.quantity(estimate.value, estimate.unit, is_signed(spec, estimate), places)


def interval(estimate: Estimate, spec: MeasureSpec | None, places: int | None = None) -> str:
    """Formats the interval as `[low, high]`, or a dash if there is none; places: as in `value`."""
    return numerals.interval(
        estimate.low, estimate.high, estimate.unit, is_signed(spec, estimate), places
    )


def places(estimate: Estimate, spec: MeasureSpec | None) -> int:
    """Returns 2, or 3 if with 2 decimals another number would print like the null value."""
    null = spec.null if spec else None
    ends = [
        end
        for end in (estimate.value, estimate.low, estimate.high)
        if end is not None and null is not None
    ]
    is_near = any(
        end != null and numerals.fixed_decimals(end, 2) == numerals.fixed_decimals(null or 0.0, 2)
        for end in ends
    )
    return 3 if is_near else 2


def null_places(spec: MeasureSpec) -> int:
    """Returns the decimals that show the null value: 3 for 0.125, else 2."""
    null = spec.null or 0.0
    return 2 if math.isclose(null, round(null, 2)) else 3


def number(estimate: Estimate, spec: MeasureSpec | None) -> str:
    """Formats value and interval as `.62 [.55, .69]`; without brackets if it has no interval."""
    digits = places(estimate, spec)
    ends = interval(estimate, spec, digits)
    return value(estimate, spec, digits) + (f" {ends}" if ends != numerals.NOTHING else "")


def detectable(estimate: Estimate, spec: MeasureSpec | None, digits: int | None = None) -> str:
    """Formats the smallest detectable difference; for a ratio or odds, the smallest ratio above 1.
    "none" if it exceeds any value that the measure can have.
    """
    if estimate.detectable is not None and estimate.unit in numerals.RATIOS:
        return numerals.odds(1 + estimate.detectable, 2 if digits is None else digits)
    if estimate.detectable is None or estimate.unit != "share":
        return numerals.quantity(estimate.detectable, estimate.unit, places=digits)
    null = spec.null if spec and spec.null is not None else 0.0
    room = 1.0 if is_signed(spec, estimate) else max(null, 1 - null)
    return (
        "none"
        if estimate.detectable >= room
        else numerals.share(estimate.detectable, 3 if digits is None else digits)
    )


def detectable_noun(unit: str) -> str:
    """Returns the noun phrase for `detectable` in a sentence, by unit."""
    return f"smallest detectable {unit if unit in numerals.RATIOS else 'difference'} (80 % power)"


def as_corrected(estimate: Estimate, spec: MeasureSpec | None) -> str:
    """Formats a gold-corrected estimate as `.62 [.55, .69]`; "uncorrected" if it has no value."""
    if estimate.value is None:
        return "uncorrected"
    return f"{value(estimate, spec)} {interval(estimate, spec)}"


def null_of(spec: MeasureSpec) -> float | None:
    """Returns the value that means no tilt; None if the measure has no test."""
    return spec.null if measure_kind(spec.kind).test != "none" else None


def directions(spec: MeasureSpec | None, protocol: Protocol | None = None) -> tuple[str, str]:
    """Returns the meanings of a value below and above the null value, in the words of the protocol;
    with the titles of levels if the protocol is given.
    """
    if spec is None:
        return "", ""
    if spec.contrast and spec.contrast.get("level") == EVERY:
        return "lower", "higher"
    if spec.contrast and "level" in spec.contrast:
        level = spec.contrast["level"]
        name = wording.title(protocol, spec.contrast["factor"], level) if protocol else level
        return f"lower with {name}", f"higher with {name}"
    if spec.expected:
        return "away from what is expected", "towards what is expected"
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
    uncounted = [value for value in spec.among if value not in spec.values]
    above, others = (
        "/".join(wording.title(protocol, spec.attribute, one) if protocol else one for one in names)
        for names in (spec.values, uncounted if len(uncounted) <= NAMED else ())
    )
    return (f"towards {others}" if others else f"away from {above}"), f"towards {above}"


def outcomes(estimate: Estimate) -> str:
    """Formats the counts of outcomes: `she 500 · he 400 · refusal 10`."""
    return " · ".join(
        f"{name} {numerals.count(number)}" for name, number in estimate.outcomes.items()
    )
