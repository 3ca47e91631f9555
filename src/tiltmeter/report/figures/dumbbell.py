"""Dumbbell plot: a row per group, a joined point per level of one factor; for paired comparisons.

The factor is one that another measure compares over the same labels, if the grouping has such a
factor, else the grouping's last. A * marks a level if the adjusted test is significant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...analyse.words import numerals, reading
from ...analyse.words.reading import Stratum
from ...protocol import MeasureSpec
from ...records import Estimate
from ..page_model import audits, strata
from ..page_model.audits import Audit
from ..page_model.figures import FigureRow, Plot, Point
from . import axes, forest

ROWS = 36  # of a figure
# of a stratum, a group and a baseline
Tests = dict[tuple[Stratum, tuple[tuple[str, str], ...], str], bool]


def build(audit: Audit, spec: MeasureSpec, prefix: str) -> Iterator[Plot]:
    """Yields a figure per grouping with a factor; several if its strata do not fit one page."""
    for by in (by for by in spec.by if by):
        factor = _factor(audit, spec, by)
        rows = [
            e
            for e in audit.of(spec.name)
            if reading.grouping(e)[: len(by)] == by and e.value is not None
        ]
        rows = [e for e in rows if len(reading.grouping(e)) - len(by) == (spec.values == ("*",))]
        pages = _pages(audit, rows, factor)
        for number, page in enumerate(pages, 1):
            name = audits.slug(prefix, spec.name, *by, "figure", number)
            table = strata.table_id(audit, spec, reading.grouping(page[0]), prefix)
            yield dumbbell(
                audit, spec, page, factor, name, strata.heading(spec, "", number, len(pages)), table
            )


def _factor(audit: Audit, spec: MeasureSpec, by: tuple[str, ...]) -> str:
    compared = {str((other.contrast or {})["factor"]) for other in _contrasts(audit, spec)}
    return next((factor for factor in by if factor in compared), by[-1])


def _pages(audit: Audit, rows: Sequence[Estimate], factor: str) -> list[list[Estimate]]:
    """Divides the strata into pages that fit; [] if a single stratum has too many levels."""
    per_stratum = max(1, len({_row_levels(e, factor) for e in rows}))
    for most in range(max(1, ROWS // per_stratum), 0, -1):
        pages = [
            [e for e in rows if reading.stratum(e) in page]
            for page in strata.pages(strata.present(audit, rows), most)
        ]
        if all(len(_levels(audit, page, factor)) <= strata.SERIES for page in pages):
            return pages
    return []


def dumbbell(
    audit: Audit,
    spec: MeasureSpec,
    estimates: Sequence[Estimate],
    factor: str,
    name: str,
    title: str,
    table: str = "",
) -> Plot:
    """Returns the plot of these estimates, with a series per level of the factor."""
    tests = _tests(audit, spec, factor)
    levels = _levels(audit, estimates, factor)
    labels = strata.labels(audit, estimates)
    rows: dict[tuple[str, str], list[Point]] = {}
    sides: dict[tuple[str, str], list[str]] = {}
    for estimate in sorted(estimates, key=lambda e: audit.strata.index(reading.stratum(e))):
        level, rest = reading.group(estimate)[factor], _row_levels(estimate, factor)
        heading = labels[reading.stratum(estimate)] if len(labels) > 1 else ""
        place = (heading, ", ".join(part for _, part in rest) or "all")
        starred = _star(spec, tests, estimate, factor)
        point = forest.point(audit, spec, estimate, levels.index(level))
        rows.setdefault(place, []).append(replace(point, text=point.text + starred))
        sides.setdefault(place, []).append(f"{level} {reading.number(estimate, spec)}{starred}")
    points = [
        f"{', '.join(filter(None, place))}: {', '.join(parts)}" for place, parts in sides.items()
    ]
    return Plot(
        id=name,
        title=title,
        text=strata.describe_figure(spec, points),
        table=table,
        note=strata.alone(labels) + _note(bool(tests)),
        series=tuple(f"{factor}: {level}" for level in levels),
        rows=tuple(
            FigureRow(*place, tuple(sorted(points, key=lambda p: p.series)))
            for place, points in rows.items()
        ),
        axis=axes.axis(spec, estimates, audit.protocol, whole=False),
        joined=True,
    )


def _row_levels(estimate: Estimate, factor: str) -> tuple[tuple[str, str], ...]:
    """Returns the group's other factors and levels, which label a row."""
    return tuple((name, level) for name, level in reading.group(estimate).items() if name != factor)


def _levels(audit: Audit, estimates: Sequence[Estimate], factor: str) -> list[str]:
    """Sorts levels in the design's order, with the contrasts' levels first."""
    first = {spec.contrast.get("level") for spec in audit.protocol.measures if spec.contrast}
    levels = list(dict.fromkeys(reading.group(e)[factor] for e in estimates))
    order = audit.protocol.levels.get(factor, {})
    return sorted(levels, key=lambda level: (level not in first, order.get(level, 0)))


def _contrasts(audit: Audit, spec: MeasureSpec) -> Iterator[MeasureSpec]:
    """Yields measures that contrast levels over the same labels (of two values, either one)."""
    for other in audit.protocol.measures:
        is_same = (other.attribute, other.among) == (spec.attribute, spec.among)
        if (
            other.contrast
            and "factor" in other.contrast
            and is_same
            and (other.values == spec.values or len(spec.among) == 2)
        ):
            yield other


def _tests(audit: Audit, spec: MeasureSpec, factor: str) -> Tests:
    """Returns {(stratum, group, baseline level): True if the adjusted test is significant}."""
    tests: Tests = {}
    for e in (e for other in _contrasts(audit, spec) for e in audit.of(other.name)):
        baseline = (e.contrast or {}).get(factor, "").rpartition(numerals.BETWEEN)[2]
        if baseline:
            tests.setdefault(
                (reading.stratum(e), tuple(reading.group(e).items()), baseline),
                strata.significant(e),
            )
    return tests


def _star(spec: MeasureSpec, tests: Tests, estimate: Estimate, factor: str) -> str:
    stratum, rest, level = (
        reading.stratum(estimate),
        _row_levels(estimate, factor),
        reading.group(estimate)[factor],
    )
    without = tuple(part for part in rest if part[0] != spec.attribute)
    pooled = len(spec.among) == 2 and tests.get((stratum, without, level))
    return "*" if tests.get((stratum, rest, level)) or pooled else ""


def _note(tested: bool) -> str:
    star = (
        " * after a number: the first of its row differs from it in a paired test after "
        f"adjustment ({strata.level()})."
        if tested
        else ""
    )
    return (
        "Points of a row are joined; thin lines are intervals. Numbers in the order of the "
        f"legend.{star}"
    )
