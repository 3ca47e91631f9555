"""Draws points with intervals: forest plots, dumbbells, panels, histories, and gauges in tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from xml.etree import ElementTree as ET

from ...analyse.words import numerals
from ..page_model.figures import Axis, FigureRow, Places, Plot, Point
from . import frame
from .frame import AXIS, SIDES
from .svg import (
    NARROW,
    SHAPES,
    SIDE,
    WIDE,
    cut_text,
    flat_line,
    link_outputs,
    root,
    shape,
    text,
    upright_line,
)

LINE, OFFSET = 21, 5  # px of a point's row, and from one joined point to the next
NUMBERS = 150  # px: the numbers at the right of the wide layout
WIDEST_HIDDEN = 13  # px of an interval that a shape would hide: a tick stands in its place
GAUGE, HIGH = 230, 20  # px: width and height of one number on its scale
GAP, HEAD, FOOT = 18, 24, 30  # px between panels, over and under them


def draw_point(
    made: ET.Element,
    one: Point,
    along: Places,
    across: float,
    *,
    line: str = "fig-line",
    upright: bool = False,
    tone: str = "",
) -> None:
    """Draws a value with its interval: a tick if a shape would hide the interval, a hollow shape if
    there is no interval. A grey zone holds 95 % of values if nothing differs.

    along: maps a value to its position on the axis; across: position on the other axis; upright:
    True for a vertical axis; tone: a CSS class instead of the series' colour.
    """
    tone, length = tone or f"s{one.series}", 0.0
    interval, tick = (upright_line, flat_line) if upright else (flat_line, upright_line)
    if one.null is not None:
        low, high = map(along, one.null)
        shape(made, "rect", "fig-zone", x=low, y=across - 8, width=high - low, height=16)
    if one.low is not None and one.high is not None:
        low, high = along(one.low), along(one.high)
        length = abs(high - low)
        interval(made, f"{line} {tone}", across, low, high)
    if one.value is None:
        return
    at = along(one.value)
    if one.low is not None and one.high is not None and length < WIDEST_HIDDEN:
        tick(made, f"fig-mark fig-stroke {tone}", at, across - 7, across + 7)
    else:
        x, y = (across, at) if upright else (at, across)
        hollow = " hollow" if one.low is None or one.high is None else ""
        SHAPES[one.series](made, x, y, f"fig-mark {tone}{hollow}")
    link_outputs(made, one.query)


def draw(plot: Plot, narrow: bool = False) -> str:
    """Draws a plot: a line per point, or per row with its points joined, or a panel per heading."""
    if plot.panels and not narrow:
        return _draw_panels(plot)
    width = NARROW if narrow else WIDE
    numbers = 8 if narrow and plot.joined else 48 if narrow else NUMBERS
    sides = (8.0, width - numbers) if narrow else (float(SIDE), width - numbers)
    row = _joined_row if plot.joined else _row
    rows = [row(plot, one, narrow) for one in plot.rows]
    return frame.chart(plot, plot.axis, rows, sides, frame.shapes(plot.series), narrow)


def _row(plot: Plot, row: FigureRow, narrow: bool) -> frame.Row:
    """Returns a row in which each point has a line, with its number at the right."""
    width, below = NARROW if narrow else WIDE, LINE - 4 if narrow else 0
    gap = 7 if narrow or len(plot.series) > 1 else 0

    def draw_row(made: ET.Element, x: Places, y: float) -> None:
        words = cut_text(row.label, width - 60 if narrow else SIDE - 14)
        text(made, 8, y + LINE - 7, words, "fig-label")
        for place, point in enumerate(row.points):
            middle = y + below + LINE * (place + 0.5)
            draw_point(made, point, x, middle)
            number = f"{point.text} {point.interval}".removesuffix(f" {numerals.NOTHING}")
            text(made, width - 8, middle + 4, point.text if narrow else number, "fig-number end")

    return frame.Row(row.group, below + LINE * len(row.points) + gap, draw_row)


def _joined_row(plot: Plot, row: FigureRow, narrow: bool) -> frame.Row:
    """Returns a row in which all points share a line, with their numbers at the right."""
    width, below = NARROW if narrow else WIDE, LINE if narrow else 0
    tall = LINE + 5 + OFFSET * max(0, len(plot.series) - 2)

    def draw_row(made: ET.Element, x: Places, y: float) -> None:
        numbers = " · ".join(point.text for point in row.points)
        room = width - 16 - len(numbers) * 7 if narrow else SIDE - 14
        middle = y + below + tall / 2
        base = y + 15 if narrow else middle + 4
        text(made, 8, base, cut_text(row.label, room), "fig-label")
        text(made, width - 8, base, cut_text(numbers, NUMBERS), "fig-number end")
        _draw_joined(made, row.points, x, middle)

    return frame.Row(row.group, below + tall, draw_row)


def _draw_joined(made: ET.Element, points: Sequence[Point], x: Places, middle: float) -> None:
    """Draws a connecting line, then the points on it, each a little below the previous point."""
    first = middle - OFFSET * (len(points) - 1) / 2
    places = [(point, first + OFFSET * n) for n, point in enumerate(points)]
    drawn = [(x(point.value), y) for point, y in places if point.value is not None]
    for (x1, y1), (x2, y2) in pairwise(drawn):
        shape(made, "line", "fig-join", x1=x1, x2=x2, y1=y1, y2=y2)
    for point, y in places:
        draw_point(made, point, x, y, line="fig-thin")


def _draw_panels(plot: Plot) -> str:
    """Draws a panel per heading, side by side on one scale; names of rows stand at the left."""
    names = list(dict.fromkeys(row.group for row in plot.rows))
    labels = list(dict.fromkeys(row.label for row in plot.rows))
    legend, axis = frame.shapes(plot.series), plot.axis
    top = frame.legend_height(legend, narrow=False) + HEAD
    bottom = top + (LINE + 1) * len(labels)
    drawing = root(plot, bottom + AXIS + (SIDES if any(axis.ends) else 0), narrow=False)
    frame.add_legend(drawing, legend, narrow=False)
    middles = {label: top + (LINE + 1) * (place + 0.5) for place, label in enumerate(labels)}
    for label, middle in middles.items():
        text(drawing, 8, middle + 4, cut_text(label, SIDE - 14), "fig-label")
    wide = (WIDE - SIDE - 8 - GAP * (len(names) - 1)) / len(names)
    end_labels = [axis.ticks[0][1], axis.ticks[-1][1]]
    end_labels += [label for value, label in axis.ticks if value == axis.null]
    for number, name in enumerate(names):
        left = SIDE + (wide + GAP) * number
        text(drawing, left, top - 10, cut_text(name, wide), "fig-heading")
        x = axis.places(left + 6, left + wide - 6)
        frame.add_grid(drawing, axis, x, (top, bottom + 4), end_labels)
        for row in (row for row in plot.rows if row.group == name):
            _draw_joined(drawing, row.points, x, middles[row.label])
    frame.add_sides(drawing, axis, (SIDE, WIDE - 8), bottom + 44)
    return ET.tostring(drawing, encoding="unicode")


def draw_gauge(plot: Plot) -> str:
    """Draws one number on its scale, as decoration: the number also stands beside it as text."""
    x, drawing = _strip(plot.axis, HIGH)
    flat_line(drawing, "fig-track", HIGH / 2, 2, GAUGE - 2)
    if plot.axis.null is not None:
        upright_line(drawing, "fig-null", x(plot.axis.null), 0, HIGH)
    for point in plot.rows[0].points:
        draw_point(drawing, point, x, HIGH / 2, tone="told")
    return ET.tostring(drawing, encoding="unicode")


def draw_scale(plot: Plot) -> str:
    """Draws the scale of the gauges below: its ends, the null value, and what each side means."""
    axis = plot.axis
    x, drawing = _strip(axis, 30)
    for (value, words), side, end in zip(
        (axis.ticks[0], axis.ticks[-1]), axis.ends, ("", " end"), strict=True
    ):
        at = GAUGE - 2 if end else 2
        text(drawing, at, 26, words, f"fig-tick{end}")
        bare = side.removeprefix("towards ").partition(" with ")[0]
        caption = cut_text(bare, GAUGE / 2 - 18)
        arrow = f"{caption} →" if end else f"← {caption}"
        text(drawing, at, 11, arrow if side else "", f"fig-tick{end}")
        upright_line(drawing, "fig-grid", x(value), 27, 30)
    if axis.null is not None and 40 < x(axis.null) < GAUGE - 40:
        words = next((label for v, label in axis.ticks if math.isclose(v, axis.null)), "")
        text(drawing, x(axis.null), 26, words, "fig-tick middle")
    return ET.tostring(drawing, encoding="unicode")


def _strip(axis: Axis, height: float) -> tuple[Places, ET.Element]:
    about = {"class": "gauge", "viewBox": f"0 0 {GAUGE} {height:g}", "aria-hidden": "true"}
    return axis.places(8, GAUGE - 8), ET.Element("svg", about)
