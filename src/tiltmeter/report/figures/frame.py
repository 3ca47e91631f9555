"""Common elements of figures: a legend, rows under headings on an axis, and the axis itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple
from xml.etree import ElementTree as ET

from ..page_model.figures import Axis, Figure, Places
from .svg import NARROW, SHAPES, WIDE, cut_text, flow, root, shape, text, upright_line, width_of

# px under the rows: the ticks, and the words for both sides if there are any
AXIS, SIDES = 30, 24
HEADING = 30  # px of a heading over rows
BAND = 16  # px over the rows for the words of a band
INSET = 8  # px between a side and the first value
EDGE = 6  # px between a tick at a side and the edge; fonts are wider than their estimates

Swatch = Callable[[ET.Element, float, float], None]  # draws a sample beside the name of a series
Legend = Sequence[tuple[str, Swatch]]


class Row(NamedTuple):
    """A row of a chart. draw: adds the row to an element, given the axis's positions and a y."""

    heading: str
    height: float
    draw: Callable[[ET.Element, Places, float], None]


def chart(
    figure: Figure,
    axis: Axis,
    rows: Iterable[Row],
    sides: tuple[float, float],
    legend: Legend = (),
    narrow: bool = False,
) -> str:
    """Returns a figure of rows on one axis between two sides, as SVG."""
    rows = list(rows)
    headings = sum(1 for heading, _ in groupby(row.heading for row in rows) if heading)
    top = legend_height(legend, narrow) + (BAND if axis.band else 0)
    bottom = top + HEADING * headings + sum(row.height for row in rows)
    svg = root(figure, bottom + AXIS + (SIDES if any(axis.ends) else 0), narrow)
    add_legend(svg, legend, narrow)
    x = axis.places(sides[0] + INSET, sides[1] - INSET)
    every = 2 if narrow and len(axis.ticks) > 6 else 1
    add_grid(svg, axis, x, (top - 4, bottom + 4), [label for _, label in axis.ticks[::every]])
    add_sides(svg, axis, sides, bottom + 42)
    y = top
    for heading, members in groupby(rows, key=lambda row: row.heading):
        if heading:
            text(svg, 4 if narrow else 8, y + HEADING - 11, heading, "fig-heading")
            y += HEADING
        for row in members:
            row.draw(svg, x, y)
            y += row.height
    return ET.tostring(svg, encoding="unicode")


def legend_height(legend: Legend, narrow: bool) -> float:
    """Returns the height of the legend in px, below which the rows begin."""
    names = [name for name, _ in legend]
    return 8 + (flow(names, NARROW if narrow else WIDE)[1] + 4 if names else 0)


def add_legend(made: ET.Element, legend: Legend, narrow: bool) -> None:
    """Adds the legend: a sample and a name per series."""
    width = NARROW if narrow else WIDE
    places, _ = flow([name for name, _ in legend], width)
    for (name, swatch), (x, y) in zip(legend, places, strict=True):
        swatch(made, x, y)
        text(made, x + 20, y, cut_text(name, width - x - 24), "fig-label")


def shapes(series: Sequence[str]) -> Legend:
    """Returns a legend with a shape per series; [] for a single series, which the note names."""

    def swatch(number: int) -> Swatch:
        return lambda made, x, y: SHAPES[number](made, x + 6, y - 4, f"fig-mark s{number}")

    return [(name, swatch(n)) for n, name in enumerate(series)] if len(series) > 1 else []


def add_grid(
    made: ET.Element,
    axis: Axis,
    x: Places,
    heights: tuple[float, float],
    labels: Sequence[str],
) -> None:
    """Adds grid, ticks, band and null line. labels: the texts of the ticks that have a text."""
    (top, bottom), width = heights, float(made.get("viewBox", "").split()[2])
    if axis.band:
        low, high = map(x, axis.band)
        shape(made, "rect", "fig-zone", x=low, y=top, width=high - low, height=bottom - top)
        half = width_of(axis.band_text) / 2
        middle = min(max((low + high) / 2, half), width - half)
        text(made, middle, top - 5, axis.band_text, "fig-tick middle")
    for value, label in axis.ticks:
        upright_line(made, "fig-grid", x(value), top, bottom)
        if label in labels:
            half = width_of(label) / 2 + EDGE
            inside = min(max(x(value), half), width - half)
            text(made, inside, bottom + 16, label, "fig-tick middle")
    if axis.null is not None:
        upright_line(made, "fig-null", x(axis.null), top, bottom)


def add_sides(made: ET.Element, axis: Axis, sides: tuple[float, float], y: float) -> None:
    """Adds the texts that name the two sides of the null value."""
    left, right = axis.ends
    text(made, sides[0], y, f"← {left}" if left else "", "fig-side")
    text(made, sides[1], y, f"{right} →" if right else "", "fig-side end")
