"""Headline estimates → sentences that say what was found, how sure it is, and nothing more.

A tilt is said only where the adjusted p is below 1 − confidence. Where it is not, the words are "no
difference found at this n", with n and the difference that this design would have found: an absence
of evidence is never called evidence of absence. A model tilts; people have genders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..analyse import numerals, reading
from ..protocol import MeasureSpec
from ..records import Estimate
from . import audits
from .audits import Audit
from .figures import forest
from .model import Finding

LOW_MASS = 0.5  # below it the model would mostly have said something else than the options
# of the outputs without a value that counts: from here the bounds are said on the first screen
MUCH_MISSING = 0.05
CHIPS = {
    "tilt": "tilt found",
    "none": "no difference found at this n",
    "undecided": "undecided",
    "unmeasured": "not measured",
    "shown": "no test made",
}


def findings(audit: Audit) -> Iterator[Finding]:
    """One for each stratum and headline measure; where a measure is not taken over the whole, for
    its first grouping.
    """
    for number, (spec, estimate) in enumerate(headline(audit), 1):
        yield _finding(audit, spec, estimate, number)


def headline(audit: Audit) -> Iterator[tuple[MeasureSpec, Estimate]]:
    for spec in audit.protocol.measures:
        rows = audit.of(spec.name) if spec.headline else []
        for estimate in [e for e in rows if not reading.group(e)] or [
            e for e in rows if reading.grouping(e) == _first(rows)
        ]:
            yield spec, estimate


def _first(rows: Sequence[Estimate]) -> tuple[str, ...]:
    return reading.grouping(rows[0])


def _what(spec: MeasureSpec) -> str:
    """The measure as a heading, with the value that is no tilt."""
    null = (
        f"; {numerals.quantity(spec.null, spec.unit, spec.signed, 2)} is no tilt"
        if spec.null is not None
        else ""
    )
    return f"{reading.title(spec.text or spec.name)}{null}"


def verdict(estimate: Estimate, null: float | None = None) -> str:
    """tilt | none | undecided | unmeasured | shown.

    undecided: the test and the interval say different things of the null value, and not because of
    the adjustment.
    """
    if estimate.value is None:
        return "unmeasured"
    p = estimate.p if estimate.p_adjusted is None else estimate.p_adjusted
    if p is None:
        return "shown"
    alpha = 1 - (estimate.confidence or 1 - reading.ALPHA) - 1e-12
    if null is None or estimate.low is None or estimate.high is None:
        return "tilt" if p < alpha else "none"
    holds = estimate.low <= null <= estimate.high
    if p < alpha:
        return "undecided" if holds else "tilt"
    adjusted_away = estimate.p is not None and estimate.p < alpha
    return "none" if holds or adjusted_away else "undecided"


def _finding(audit: Audit, spec: MeasureSpec, estimate: Estimate, number: int) -> Finding:
    found = verdict(estimate, spec.null)
    mark = audit.marks.get(estimate.signature, "")
    parts = [*audit.named(estimate)[1:], *reading.key(estimate)]
    about = " · ".join(f"{name}: {level}" for name, level in parts if level)
    named = (("model", estimate.subject), *((name, level) for name, level in parts if level))
    digits = reading.places(estimate, spec)
    return Finding(
        estimate.subject,
        about,
        _what(spec),
        named,
        found,
        _chip(spec, estimate, found),
        reading.value(estimate, spec, digits),
        reading.interval(estimate, spec, digits),
        _sentence(audit, spec, estimate, found),
        tuple(_sure(audit, spec, estimate)),
        tuple(_warnings(audit, spec, estimate)),
        forest.gauge(audit, spec, estimate, audits.slug("gauge", estimate.variant, number)),
        mark,
        estimate.signature,
        spec.name,
    )


def _chip(spec: MeasureSpec, estimate: Estimate, found: str) -> str:
    if found != "tilt":
        return CHIPS[found]
    direction = _direction(spec, estimate)
    return (
        direction
        if (spec.contrast or spec.reference) and direction
        else f"tilts {direction}"
        if direction
        else "difference found"
    )


def _direction(spec: MeasureSpec, estimate: Estimate) -> str:
    below, above = reading.directions(spec)
    return (
        below
        if estimate.value is not None and spec.null is not None and estimate.value < spec.null
        else above
    )


def _sentence(audit: Audit, spec: MeasureSpec, estimate: Estimate, found: str) -> str:
    subject, number = estimate.subject, reading.number(estimate, spec)
    what = re.sub("^(an?|the) ", "", spec.text or spec.name)  # "the" stands before it
    level = (
        f" ({100 * estimate.confidence:g} % interval)"
        if estimate.confidence and estimate.low is not None
        else ""
    )
    if found == "unmeasured":
        return (
            f"{subject}: the {what} could not be measured "
            f"({estimate.note or 'no reason was stored'})."
        )
    if found == "shown":
        return f"{subject}: the {what} is {number}{level}; no test was made."
    if found == "tilt":
        chip = _chip(spec, estimate, found)
        tilt = f"{subject} {chip}: the" if chip.startswith("tilts") else f"{subject}: {chip}. The"
        return f"{tilt} {what} is {number}{level}, adjusted p {_equals(estimate)}."
    if found == "undecided":
        null = numerals.quantity(spec.null, spec.unit, spec.signed, 2)
        holds = "holds" if _holds(estimate, spec.null) else "does not hold"
        return (
            f"{subject}: undecided, since test and interval disagree. The {what} is "
            f"{number}{level}, which {holds} {null}, while adjusted p {_equals(estimate)}."
        )
    return (
        f"{subject}: no difference found at this n. The {what} is {number}{level}, adjusted p "
        f"{_equals(estimate)}{_power(spec, estimate)}."
    )


def _equals(estimate: Estimate) -> str:
    text = numerals.chance(estimate.p if estimate.p_adjusted is None else estimate.p_adjusted)
    return text if text[0] in "<>" else f"= {text}"


def _power(spec: MeasureSpec, estimate: Estimate) -> str:
    if estimate.detectable is None:
        return ""
    null = numerals.quantity(spec.null, spec.unit, places=2)
    smallest = reading.detectable(estimate, spec, 2)
    if smallest == "none":
        return "; this design could not have found any difference with 80 % power"
    return f"; a difference of {smallest} or more from {null} would be found with 80 % power"


def _sure(audit: Audit, spec: MeasureSpec, estimate: Estimate) -> Iterator[str]:
    """How sure: what it rests on, the groups, the contrasts."""
    if estimate.value is None:
        return
    over = (
        f" over {numerals.count(estimate.clusters)} {audit.items(estimate.clusters)}"
        if estimate.clusters
        else ""
    )
    answers = "answers" if audit.drawn(estimate) else "(sum of probabilities)"
    yield f"n = {numerals.count(estimate.n)} {answers}{over}."
    if not reading.group(estimate):
        yield from _by_group(audit, spec, estimate)
    for other, row in _contrasts(audit, spec, estimate):
        yield _contrast(other, row)
    yield from _corrected(audit, spec, estimate)
    if estimate.note:
        yield f"Note: {estimate.note}."


def _corrected(audit: Audit, spec: MeasureSpec, estimate: Estimate) -> Iterator[str]:
    """The number as gold corrects it, beside the one that the instrument gives; nothing where the
    run has no gold.
    """
    for row in audit.of(f"{spec.name}{reading.CORRECTED}"):
        if reading.stratum(row) == reading.stratum(estimate) and reading.key(row) == reading.key(
            estimate
        ):
            if row.value is None:
                yield (
                    f"Not corrected for the errors of {audit.instrument(row.instrument)} "
                    f"({row.note})."
                )
            else:
                note = f" {reading.title(row.note)}." if row.note else ""
                yield (
                    f"Corrected for the errors of {audit.instrument(row.instrument)} "
                    f"({row.correction}): {reading.as_corrected(row, spec, 2)}.{note}"
                )


def _contrasts(
    audit: Audit, spec: MeasureSpec, estimate: Estimate
) -> Iterator[tuple[MeasureSpec, Estimate]]:
    """The contrasts over the whole of the same stratum, of measures that have one such row."""
    for other in audit.protocol.measures:
        if other.contrast and other is not spec:
            rows = [e for e in audit.of(other.name) if not reading.group(e)]
            rows = [e for e in rows if reading.stratum(e) == reading.stratum(estimate)]
            if len(rows) == 1:
                yield other, rows[0]


def _by_group(audit: Audit, spec: MeasureSpec, whole: Estimate) -> Iterator[str]:
    """For each grouping that was tested: which levels tilt which way, and in which no difference
    was found.
    """
    rows = [
        e
        for e in audit.of(spec.name)
        if reading.stratum(e) == reading.stratum(whole) and reading.group(e)
    ]
    for by in dict.fromkeys(reading.grouping(e) for e in rows):
        tested = [
            e
            for e in rows
            if reading.grouping(e) == by and verdict(e, spec.null) in ("tilt", "none", "undecided")
        ]
        if not tested or len(tested) > audits.MANY:
            continue
        parts = []
        for direction in dict.fromkeys(
            _direction(spec, e) for e in tested if verdict(e, spec.null) == "tilt"
        ):
            named = [
                e
                for e in tested
                if verdict(e, spec.null) == "tilt" and _direction(spec, e) == direction
            ]
            parts.append(f"{direction or 'a difference found'} in {_listed(spec, named)}")
        for found in ("none", "undecided"):
            named = [e for e in tested if verdict(e, spec.null) == found]
            if named:
                parts.append(f"{CHIPS[found]} in {_listed(spec, named)}")
        yield f"By {', '.join(by)} (p adjusted for {len(tested)}): {'; '.join(parts)}."


def _listed(spec: MeasureSpec, estimates: Sequence[Estimate]) -> str:
    return ", ".join(f"{reading.group_label(e)} ({reading.number(e, spec)})" for e in estimates)


def _contrast(spec: MeasureSpec, estimate: Estimate) -> str:
    """`Order effect (she_first − he_first)`: its size, or that no difference was found."""
    contrast = spec.contrast or {}
    name = f"{reading.title(contrast.get('factor', spec.name))} effect"
    name += f" ({reading.contrast_label(estimate).partition(': ')[2] or spec.name})"
    found, number = verdict(estimate, spec.null), reading.number(estimate, spec)
    if found == "unmeasured":
        return f"{name}: not measured ({estimate.note or 'no reason was stored'})."
    if found == "shown":
        return f"{name}: {number}; no test was made."
    said = f"{CHIPS[found]}, " if found in ("none", "undecided") else ""
    return f"{name}: {said}{number}, adjusted p {_equals(estimate)}."


def _warnings(audit: Audit, spec: MeasureSpec, estimate: Estimate) -> Iterator[str]:
    """What a reader must know before using the number."""
    here = reading.stratum(estimate)
    for row in audit.of(reading.CAPTURED):
        if reading.stratum(row) == here and row.value is not None and row.value < LOW_MASS:
            yield (
                f"The options take up only {numerals.share(row.value, 2)} of the probability: "
                "this model would mostly "
                "have written something else, so the number speaks of a small part of what it "
                "would say."
            )
    for row in audit.of(f"{spec.name}{reading.BOUNDS}"):
        if reading.stratum(row) == here and reading.key(row) == reading.key(estimate):
            yield from _missing(audit, spec, row)
    yield from _swamped(audit, spec, estimate)


def _swamped(audit: Audit, spec: MeasureSpec, estimate: Estimate) -> Iterator[str]:
    """Where a factor of the design moves the number further than it lies from the null value."""
    if estimate.value is None or spec.null is None:
        return
    distance = estimate.value - spec.null
    for other, row in _contrasts(audit, spec, estimate):
        same = (other.attribute, other.values, other.unit) == (
            spec.attribute,
            spec.values,
            spec.unit,
        )
        if (
            not same
            or row.value is None
            or verdict(row, other.null) != "tilt"
            or abs(row.value) <= abs(distance)
        ):
            continue
        factor, null = (
            (other.contrast or {}).get("factor", other.name),
            numerals.quantity(spec.null, spec.unit, places=2),
        )
        yield (
            f"The {factor} effect ({reading.value(row, other, 2)}) is larger than the distance "
            f"of the number from {null} "
            f"({numerals.quantity(distance, spec.unit, True, 2)}): the number averages over "
            "prompts that differ more from one another than it does from no tilt."
        )


def _missing(audit: Audit, spec: MeasureSpec, bounds: Estimate) -> Iterator[str]:
    """Where much is no answer: between which values the measure lies whatever it would have
    been.
    """
    if bounds.low is None or bounds.high is None or bounds.high - bounds.low <= MUCH_MISSING:
        return
    what = "of the answers are" if audit.drawn(bounds) else "of the probability is"
    yield (
        f"{numerals.share(bounds.high - bounds.low, 2)} {what} on none of the options counted. "
        "Whatever that part would have "
        f"been, the value lies in {reading.interval(bounds, spec, 2)}{_undecided(spec, bounds)}."
    )


def _undecided(spec: MeasureSpec, bounds: Estimate) -> str:
    if not _holds(bounds, spec.null):
        return ""
    return (
        f", which holds {numerals.quantity(spec.null, spec.unit, places=2)}, so it could undo "
        "the direction"
    )


def _holds(estimate: Estimate, null: float | None) -> bool:
    return None not in (null, estimate.low, estimate.high) and estimate.low <= null <= estimate.high  # type: ignore[operator]
