"""What stands around the points of a plot: legend, grid, null line, band, the words for both
sides.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from xml.etree import ElementTree as ET

from ..page_model.figures import FigureRow, Plot
from .svg import NARROW, SHAPES, WIDE, cut_text, flow, shape, text, width_of

# px under the rows: the ticks, and the words for both sides where there are any
AXIS, SIDES = (30, 24)
HEADING = 30  # px of a heading over rows
BAND = 16  # px over the rows for the words of a band


def above(plot: Plot, narrow: bool) -> float:
    """Where the rows begin: under the legend and the words of the band."""
    legend = 0 if len(plot.series) < 2 else flow(plot.series, NARROW if narrow else WIDE)[1] + 4
    return legend + 8 + (BAND if plot.band else 0)


def below(plot: Plot) -> float:
    """How much stands under the rows."""
    return AXIS + (SIDES if any(plot.ends) else 0)


def headings(plot: Plot) -> float:
    """The height of all headings."""
    return HEADING * sum(
        1 for heading, _ in groupby(plot.rows, key=lambda row: row.group) if heading
    )


def rows(
    root: ET.Element, plot: Plot, each: Callable[[FigureRow, float], float], narrow: bool
) -> None:
    """Draws the rows under their headings; `each` draws one at a height and returns where it
    ends.
    """
    y = above(plot, narrow)
    for heading, members in groupby(plot.rows, key=lambda row: row.group):
        if heading:
            text(root, 4 if narrow else 8, y + HEADING - 11, heading, "fig-heading")
            y += HEADING
        for row in members:
            y = each(row, y)


def legend(root: ET.Element, plot: Plot, narrow: bool) -> None:
    """The name of each series beside its shape; one series is named in the note."""
    if len(plot.series) < 2:
        return
    width = NARROW if narrow else WIDE
    for number, (name, (x, y)) in enumerate(
        zip(plot.series, flow(plot.series, width)[0], strict=True)
    ):
        SHAPES[number](root, x + 6, y - 4, f"fig-mark s{number}")
        text(root, x + 20, y, cut_text(name, width - x - 24), "fig-label")


def grid(
    root: ET.Element,
    plot: Plot,
    x: Callable[[float], float],
    bottom: float,
    sides: tuple[float, float],
    narrow: bool,
) -> None:
    """Grid, ticks, band and null line, drawn before the points so that these lie over them."""
    top = above(plot, narrow) - 4
    if plot.band:
        low, high = (x(end) for end in plot.band)
        shape(root, "rect", "fig-zone", x=low, y=top, width=high - low, height=bottom + 4 - top)
        half = width_of(plot.band_text) / 2
        middle = min(max((low + high) / 2, sides[0] + half), sides[1] - half)
        text(root, middle, top - 5, plot.band_text, "fig-tick middle")
    every = 2 if narrow and len(plot.ticks) > 6 else 1
    for place, (value, label) in enumerate(plot.ticks):
        shape(root, "line", "fig-grid", x1=x(value), x2=x(value), y1=top, y2=bottom + 4)
        if place % every == 0:
            inside = max(x(value), width_of(label) / 2)
            text(root, inside, bottom + 20, label, "fig-tick middle")
    if plot.null is not None:
        shape(root, "line", "fig-null", x1=x(plot.null), x2=x(plot.null), y1=top, y2=bottom + 4)
    left, right = plot.ends
    text(root, sides[0], bottom + 42, f"← {left}" if left else "", "fig-side")
    text(root, sides[1], bottom + 42, f"{right} →" if right else "", "fig-side end")
