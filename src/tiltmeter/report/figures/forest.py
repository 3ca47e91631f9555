"""Forest plot: a row a group, a point with its interval a stratum, on one axis with the null value
and a declared band.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from xml.etree import ElementTree as ET

from ...analyse.claims.output_query import query_of
from ...analyse.words import numerals, reading
from ...protocol import MeasureSpec
from ...records import Estimate
from ..page_model import audits, strata
from ..page_model.audits import Audit
from ..page_model.figures import FigureRow, Plot, Point
from . import axes, frame
from .svg import NARROW, SHAPES, SIDE, WIDE, cut_text, link_outputs, root, shape, text

LINE = 21  # px a row
GAUGE, HIGH, DOT = 230, 20, 4  # px: width and height of one number on its scale, its dot
NUMBERS = 150  # px: the numbers at the right of the wide layout
WIDEST_HIDDEN = 13  # px of an interval that a shape would hide: a tick stands in its place
DIRECT = 4  # strata that share a row, each in its colour; more have a row each


def build(audit: Audit, spec: MeasureSpec, prefix: str) -> Iterator[Plot]:
    """The groupings of a measure that have few levels; strata beyond six go on in a further
    figure.
    """
    fine = audit.fine(spec.name)
    rows = [
        e for e in audit.of(spec.name) if reading.grouping(e) not in fine and e.value is not None
    ]
    pages = strata.pages(strata.present(audit, rows))
    for number, page in enumerate(pages, 1):
        kept = [e for e in rows if reading.stratum(e) in page]
        title = strata.heading(spec, "", number, len(pages))
        name, table = (
            audits.slug(prefix, spec.name, "figure", number),
            audits.slug(prefix, spec.name),
        )
        yield forest(audit, spec, kept, name, title, table)


def gauge(
    audit: Audit, spec: MeasureSpec, estimate: Estimate, alike: Sequence[Estimate], name: str
) -> Plot | None:
    """One number on the scale that the rows of its measure share; None where there is nothing to
    draw.
    """
    if estimate.value is None:
        return None
    plot = forest(audit, spec, [estimate], name, strata.heading(spec))
    scale, domain, ticks = axes.axis(spec, alike)
    return replace(plot, scale=scale, domain=domain, ticks=ticks)


def forest(
    audit: Audit,
    spec: MeasureSpec,
    estimates: Sequence[Estimate],
    name: str,
    title: str,
    table: str = "",
) -> Plot:
    """The plot of these estimates: a series a stratum."""
    present = strata.present(audit, estimates)
    scale, domain, ticks = axes.axis(spec, estimates)
    rows: dict[tuple[str, str], list[Point]] = {}
    several = len({reading.contrast_label(e) for e in estimates}) > 1
    for estimate in audits.together(estimates):
        heading = (
            "by " + ", ".join(reading.grouping(estimate)) if reading.grouping(estimate) else ""
        )
        label = reading.contrast_label(estimate) if several else reading.group_label(estimate)
        if several and heading:
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
        marks=strata.marks(audit, estimates),
        folded=not spec.headline and len(estimates) > audits.MANY,
        series=tuple(names),
        rows=tuple(FigureRow(*place, tuple(points)) for place, points in rows.items()),
        scale=scale,
        domain=domain,
        ticks=ticks,
        null=reading.null_of(spec),
        ends=reading.directions(spec, audit.protocol),
        band=axes.ends(spec),
        band_text=band_words(spec),
    )


def _one_row_each(
    rows: Mapping[tuple[str, str], Sequence[Point]], names: Sequence[str]
) -> dict[tuple[str, str], list[Point]]:
    """A row each stratum, by its name, under the group that it is of."""
    return {
        (", ".join(filter(None, (heading, label))), names[one.series]): [replace(one, series=0)]
        for (heading, label), points in rows.items()
        for one in points
    }


def point(audit: Audit, spec: MeasureSpec, estimate: Estimate, series: int) -> Point:
    """An estimate as a point of a plot."""
    digits, ends = reading.places(estimate, spec), (estimate.null_low, estimate.null_high)
    null = (ends[0], ends[1]) if ends[0] is not None and ends[1] is not None else None
    return Point(
        series,
        estimate.value,
        estimate.low,
        estimate.high,
        reading.value(estimate, spec, digits),
        reading.interval(estimate, spec, digits),
        numerals.count(estimate.n),
        audit.marks.get(estimate.signature, ""),
        null,
        query_of(audit.protocol, estimate).text(),
    )


def band_words(spec: MeasureSpec) -> str:
    """`four-fifths band, 0.8 to 1.25`."""
    ends = axes.ends(spec)
    return f"{spec.band['text']}, {ends[0]:g} to {ends[1]:g}" if ends and spec.band else ""


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


def draw(plot: Plot, narrow: bool = False) -> str:
    """The forest plot as an SVG element."""
    width = NARROW if narrow else WIDE
    left, right = (8, width - 48) if narrow else (SIDE, width - NUMBERS)
    x = axes.position_of(plot, left + 8, right - 8)
    gap = 7 if narrow or len(plot.series) > 1 else 0
    below = LINE - 4 if narrow else 0
    drawn = sum(below + LINE * len(row.points) + gap for row in plot.rows)
    bottom = frame.above(plot, narrow) + frame.headings(plot) + drawn
    made = root(plot, bottom + frame.below(plot), narrow)
    frame.legend(made, plot, narrow)
    frame.grid(made, plot, x, bottom, (left, right), narrow)

    def each(row: FigureRow, y: float) -> float:
        text(
            made,
            8,
            y + LINE - 7,
            cut_text(row.label, width - 60 if narrow else SIDE - 14),
            "fig-label",
        )
        for place, one in enumerate(row.points):
            _point(made, one, x, y + below + LINE * (place + 0.5), narrow)
        return y + below + LINE * len(row.points) + gap

    frame.rows(made, plot, each, narrow)
    return ET.tostring(made, encoding="unicode")


def _point(
    made: ET.Element, one: Point, x: Callable[[float], float], y: float, narrow: bool
) -> None:
    if one.null is not None:
        low, high = (x(end) for end in one.null)
        shape(made, "rect", "fig-zone", x=low, y=y - 8, width=high - low, height=16)
    if one.low is not None and one.high is not None:
        shape(made, "line", f"fig-line s{one.series}", x1=x(one.low), x2=x(one.high), y1=y, y2=y)
    if one.value is not None:
        at = x(one.value)
        if one.low is None or one.high is None:
            SHAPES[one.series](made, at, y, f"fig-mark s{one.series} hollow")
        elif x(one.high) - x(one.low) < WIDEST_HIDDEN:
            shape(
                made, "line", f"fig-mark fig-stroke s{one.series}", x1=at, x2=at, y1=y - 7, y2=y + 7
            )
        else:
            SHAPES[one.series](made, at, y, f"fig-mark s{one.series}")
        link_outputs(made, one.query)
    number = f"{one.text} {one.interval}".removesuffix(f" {numerals.NOTHING}")
    words = one.text if narrow else number
    text(made, (NARROW if narrow else WIDE) - 8, y + 4, words, "fig-number end")


def draw_gauge(plot: Plot) -> str:
    """One number on its scale, as a decoration: the same number stands beside it. The interval is a
    line with ends, or a tick where a dot would hide it; grey is where it lies by chance.
    """
    x, made = _strip(plot, HIGH)
    shape(made, "line", "fig-track", x1=2, x2=GAUGE - 2, y1=HIGH / 2, y2=HIGH / 2)
    if plot.null is not None:
        shape(made, "line", "fig-null", x1=x(plot.null), x2=x(plot.null), y1=0, y2=HIGH)
    for one in plot.rows[0].points:
        if one.null is not None:
            low, high = (x(end) for end in one.null)
            shape(made, "rect", "fig-zone", x=low, y=4, width=high - low, height=HIGH - 8)
        if one.value is not None:
            _mark(made, x, one)
    return ET.tostring(made, encoding="unicode")


def _mark(made: ET.Element, x: Callable[[float], float], one: Point) -> None:
    """The value with its interval; a tick where a dot would hide the interval."""
    middle, at = HIGH / 2, x(one.value or 0.0)
    hidden = False
    if one.low is not None and one.high is not None:
        low, high = x(one.low), x(one.high)
        shape(made, "line", "fig-band", x1=low, x2=high, y1=middle, y2=middle)
        hidden = high - low < 4 * DOT
    if hidden:
        shape(made, "line", "fig-stroke", x1=at, x2=at, y1=3, y2=HIGH - 3)
    else:
        shape(made, "circle", "fig-dot", cx=at, cy=middle, r=DOT)


def draw_scale(plot: Plot) -> str:
    """The scale of the rows below: its ends, the value that is no tilt, what both sides mean."""
    x, made = _strip(plot, 30)
    low, high = plot.ticks[0], plot.ticks[-1]
    left, right = plot.ends
    for (value, words), side, end in ((low, left, ""), (high, right, " end")):
        text(made, 2 if not end else GAUGE - 2, 26, words, f"fig-tick{end}")
        bare = side.removeprefix("towards ").partition(" with ")[0]
        told = cut_text(bare, GAUGE / 2 - 18)
        arrow = f"{told} →" if end else f"← {told}"
        text(made, 2 if not end else GAUGE - 2, 11, arrow if side else "", f"fig-tick{end}")
        shape(made, "line", "fig-grid", x1=x(value), x2=x(value), y1=27, y2=30)
    if plot.null is not None and 40 < x(plot.null) < GAUGE - 40:
        words = next((label for v, label in plot.ticks if math.isclose(v, plot.null)), "")
        text(made, x(plot.null), 26, words, "fig-tick middle")
    return ET.tostring(made, encoding="unicode")


def _strip(plot: Plot, height: float) -> tuple[Callable[[float], float], ET.Element]:
    about = {"class": "gauge", "viewBox": f"0 0 {GAUGE} {height:g}", "aria-hidden": "true"}
    return axes.position_of(plot, 8, GAUGE - 8), ET.Element("svg", about)
