"""Forest plot: a row per group, a point with interval per stratum, the null value and a band."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...analyse.claims.output_query import query_of
from ...analyse.words import reading
from ...protocol import MeasureSpec
from ...records import Estimate
from ..page_model import audits, strata
from ..page_model.audits import Audit
from ..page_model.figures import FigureRow, Plot, Point
from . import axes
from .axes import band_words

DIRECT = 4  # strata that share a row, each in its colour; more have a row each


def build(audit: Audit, spec: MeasureSpec, prefix: str) -> Iterator[Plot]:
    """Yields plots of a measure in its groupings with few levels, each with at most six strata."""
    fine = audit.fine(spec.name)
    rows = [
        e for e in audit.of(spec.name) if reading.grouping(e) not in fine and e.value is not None
    ]
    pages = strata.pages(strata.present(audit, rows))
    for number, page in enumerate(pages, 1):
        of_page = [e for e in rows if reading.stratum(e) in page]
        title = strata.heading(spec, "", number, len(pages))
        name, table = (
            audits.slug(prefix, spec.name, "figure", number),
            audits.slug(prefix, spec.name),
        )
        yield forest(audit, spec, of_page, name, title, table)


def gauge(
    audit: Audit, spec: MeasureSpec, estimate: Estimate, alike: Sequence[Estimate], name: str
) -> Plot | None:
    """Draws one number on the scale of its measure's other rows; None without a value."""
    if estimate.value is None:
        return None
    plot = forest(audit, spec, [estimate], name, strata.heading(spec))
    return replace(plot, axis=axes.axis(spec, alike, audit.protocol))


def forest(
    audit: Audit,
    spec: MeasureSpec,
    estimates: Sequence[Estimate],
    name: str,
    title: str,
    table: str = "",
) -> Plot:
    """Returns the plot of these estimates, with a series per stratum."""
    present = strata.present(audit, estimates)
    rows: dict[tuple[str, str], list[Point]] = {}
    has_several = len({reading.contrast_label(e) for e in estimates}) > 1
    for estimate in audits.together(estimates):
        by = [_factor(spec, name) for name in reading.grouping(estimate)]
        heading = f"by {', '.join(by)}" if by else ""
        label = reading.contrast_label(estimate) if has_several else reading.group_label(estimate)
        if has_several and heading:
            heading, label = f"{heading}; {label}", reading.group_label(estimate)
        series = present.index(reading.stratum(estimate))
        rows.setdefault((heading, label), []).append(point(audit, spec, estimate, series))
    headings = list(dict.fromkeys(heading for heading, _ in rows))
    # each heading once
    rows = dict(sorted(rows.items(), key=lambda row: headings.index(row[0][0])))
    labels = strata.labels(audit, estimates)
    names = [labels[stratum] for stratum in present]
    if len(names) > DIRECT:
        rows, names = _one_row_each(rows, names), names[:1]
    return Plot(
        id=name,
        title=title,
        text=_description(audit, spec, estimates),
        note=strata.alone(labels) + _note(spec, estimates),
        table=table,
        folded=not spec.headline and len(estimates) > audits.MANY,
        series=tuple(names),
        rows=tuple(FigureRow(*place, tuple(points)) for place, points in rows.items()),
        axis=axes.axis(spec, estimates, audit.protocol),
    )


def _factor(spec: MeasureSpec, name: str) -> str:
    """Returns a factor's title; the nuisance's name for the attribute that the nuisance counts."""
    return spec.nuisance if spec.nuisance and name == spec.attribute else name.replace("_", " ")


def _one_row_each(
    rows: Mapping[tuple[str, str], Sequence[Point]], names: Sequence[str]
) -> dict[tuple[str, str], list[Point]]:
    """Splits each row into one per stratum, with the group as heading and the stratum as label."""
    return {
        (", ".join(filter(None, (heading, label))), names[one.series]): [replace(one, series=0)]
        for (heading, label), points in rows.items()
        for one in points
    }


def point(
    audit: Audit,
    spec: MeasureSpec,
    estimate: Estimate,
    series: int = 0,
    digits: int | None = None,
) -> Point:
    """Converts an estimate to a point of a plot. digits: decimals; None for as many as needed."""
    digits = reading.places(estimate, spec) if digits is None else digits
    low, high = estimate.null_low, estimate.null_high
    null = None if low is None or high is None else (low, high)
    return Point(
        series,
        estimate.value,
        estimate.low,
        estimate.high,
        reading.value(estimate, spec, digits),
        reading.interval(estimate, spec, digits),
        null,
        query_of(audit.protocol, estimate).text(),
    )


def _note(spec: MeasureSpec, estimates: Sequence[Estimate]) -> str:
    null = " Dashed: no tilt." if reading.null_of(spec) is not None else ""
    band = f" Shaded: {band_words(spec)}." if spec.band else ""
    chance = any(e.null_high is not None for e in estimates)
    behind = " Grey behind a point: where 95 % of values lie if nothing differs." if chance else ""
    return f"Point: estimate. Line: interval. A hollow point has no interval.{null}{band}{behind}"


def _description(audit: Audit, spec: MeasureSpec, estimates: Sequence[Estimate]) -> str:
    ends = reading.directions(spec, audit.protocol)
    null = strata.number(spec, spec.null)
    side = (
        f" Left of {null} lies {ends[0]}, right of it {ends[1]}."
        if reading.null_of(spec) is not None and ends[1]
        else ""
    )
    side += f" Shaded is the {band_words(spec)}." if spec.band else ""
    labels = strata.labels(audit, estimates)
    several = len({reading.contrast_label(e) for e in estimates}) > 1
    points = [
        f"{reading.group_label(e)}{f', {reading.contrast_label(e)}' if several else ''}, "
        f"{labels[reading.stratum(e)]}: {reading.number(e, spec)}"
        for e in estimates
    ]
    return strata.describe_figure(spec, points, side)
