"""Estimates → forest plots as data: rows, an axis, a null value, and the words for both sides of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..protocol import MeasureSpec
from ..records import Estimate
from . import numerals, reading
from .parts import Figure, FigureRow, Point
from .reading import Audit, Stratum

Ticks = tuple[tuple[float, str], ...]
Axis = tuple[str, tuple[float, float], Ticks]  # scale, domain, ticks
SERIES = 6  # in one figure: as many as there are colours and shapes that stay apart
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


def forests(audit: Audit, prefix: str) -> Iterator[Figure]:
    """A figure for each headline measure and each contrast; strata beyond six go on in a further figure."""
    for spec in audit.protocol.measures:
        fine = audit.fine(spec.name)
        rows = [e for e in audit.of(spec.name) if (spec.headline or spec.contrast) and reading.grouping(e) not in fine]
        rows = [e for e in rows if e.value is not None]
        pages = _pages([s for s in audit.strata if any(reading.stratum(e) == s for e in rows)])
        for number, strata in enumerate(pages, 1):
            kept = [e for e in rows if reading.stratum(e) in strata]
            title = (spec.text or spec.name) + (f" ({number} of {len(pages)})" if len(pages) > 1 else "")
            yield _forest(audit, spec, kept, strata, reading.slug(prefix, spec.name, "figure", number), title)


def gauge(audit: Audit, spec: MeasureSpec, estimate: Estimate, name: str) -> Figure | None:
    """One number on its whole axis; None where there is nothing to draw."""
    if estimate.value is None or spec.null is None:
        return None
    return _forest(audit, spec, [estimate], [reading.stratum(estimate)], name, spec.text or spec.name)


def _pages(strata: Sequence[Stratum]) -> list[list[Stratum]]:
    """At most six strata each, those of one subject together where they fit."""
    pages: list[list[Stratum]] = []
    for _, group in groupby(strata, key=lambda stratum: stratum[0]):
        for part in _batched(list(group)):
            if pages and len(pages[-1]) + len(part) <= SERIES:
                pages[-1] += part
            else:
                pages.append(part)
    return pages


def _batched(strata: Sequence[Stratum]) -> list[list[Stratum]]:
    return [list(strata[start : start + SERIES]) for start in range(0, len(strata), SERIES)]


def _forest(audit: Audit, spec: MeasureSpec, estimates: Sequence[Estimate], strata: Sequence[Stratum], name: str,
            title: str) -> Figure:  # fmt: skip
    scale, domain, ticks = _axis(spec, estimates)
    rows: dict[tuple[str, str], list[Point]] = {}
    several = len({reading.contrast_label(e) for e in estimates}) > 1
    for estimate in reading.together(estimates):
        heading = "by " + ", ".join(reading.grouping(estimate)) if reading.grouping(estimate) else ""
        point = Point(
            strata.index(reading.stratum(estimate)), estimate.value, estimate.low, estimate.high,
            reading.value(estimate, spec, reading.places(estimate, spec)),
            reading.interval(estimate, spec, reading.places(estimate, spec)),
            numerals.count(estimate.n), audit.marks.get(estimate.signature, ""),
        )  # fmt: skip
        label = reading.contrast_label(estimate) if several else reading.group_label(estimate)
        rows.setdefault((heading, label), []).append(point)
    labels = [_series(audit, estimates, s) for s in strata]
    used = {e.signature: audit.marks[e.signature] for e in estimates if e.signature in audit.marks}
    return Figure(
        name, reading.title(title), _described(audit, spec, estimates), tuple(labels),
        tuple(FigureRow(heading, label, tuple(points)) for (heading, label), points in rows.items()),
        scale, domain, ticks, spec.null, reading.directions(spec), tuple((mark, text) for text, mark in used.items()),
        folded=not spec.headline and len(estimates) > reading.MANY,
    )  # fmt: skip


def _series(audit: Audit, estimates: Sequence[Estimate], wanted: Stratum) -> str:
    first = next(e for e in estimates if reading.stratum(e) == wanted)
    return " · ".join(level for _, level in audit.brief(first))


def _described(audit: Audit, spec: MeasureSpec, estimates: Sequence[Estimate]) -> str:
    """The figure in words, for those who do not see it."""
    ends = reading.directions(spec)
    null = numerals.quantity(spec.null, spec.unit, bool(spec.contrast), 2)
    side = f" Left of {null} lies {ends[0]}, right of it {ends[1]}." if spec.null is not None and ends[1] else ""
    points = [
        f"{reading.group_label(e)}, {', '.join(level for _, level in audit.brief(e))}: " + reading.number(e, spec)
        for e in estimates[:40]
    ]
    rest = f"; and {len(estimates) - 40} more in the table" if len(estimates) > 40 else ""
    return f"{spec.text or spec.name}.{side} {'; '.join(points)}{rest}."


def _axis(spec: MeasureSpec, estimates: Sequence[Estimate]) -> Axis:
    seen = [v for e in estimates for v in (e.value, e.low, e.high) if v is not None]
    if spec.null is not None:
        seen.append(spec.null)
    if spec.unit in numerals.RATIOS:
        return _log_axis([v for v in seen if v > 0] or [1.0])
    if spec.unit == "share" and not spec.contrast:
        return "linear", (0.0, 1.0), tuple((v, numerals.share(v, 2)) for v in (0.0, 0.25, 0.5, 0.75, 1.0))
    return _linear_axis(seen or [0.0], signed=bool(spec.contrast), unit=spec.unit)


def _linear_axis(seen: Sequence[float], signed: bool, unit: str) -> Axis:
    """Symmetric about 0 for a difference, so that both sides have the same room."""
    low, high = min(seen), max(seen)
    if signed:
        high = max(abs(low), abs(high))
        low = -high
    span = (high - low) or 1.0
    power = 10.0 ** math.floor(math.log10(span))
    step = next(s * power * 10 for s in _STEPS if s * power * 10 * 5 >= span)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        first, last = first - 1, last + 1
    ticks = tuple((n * step, numerals.quantity(round(n * step, 9), unit, signed, 2)) for n in range(first, last + 1))
    return "linear", (first * step, last * step), ticks


def _log_axis(seen: Sequence[float]) -> Axis:
    """Powers of two, or of ten where they would be too many."""
    base = 2 if max(seen) / min(seen) < 300 else 10
    first = math.floor(math.log(min(seen), base) + 1e-9)
    last = math.ceil(math.log(max(seen), base) - 1e-9)
    if first == last:
        first, last = first - 1, last + 1
    step = max(1, (last - first) // 7)
    ticks = tuple((float(base) ** n, _power(base, n)) for n in range(first, last + 1, step))
    return "log", (float(base) ** first, float(base) ** last), ticks


def _power(base: int, exponent: int) -> str:
    return f"{base**exponent:,}" if exponent >= 0 else f"1/{base**-exponent:,}"
