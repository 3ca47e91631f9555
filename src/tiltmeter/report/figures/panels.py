"""Small multiples: a panel a heading (a model), their rows beside one another on one scale."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ..page_model.figures import Plot
from . import axes, frame
from .dumbbell import draw_joined
from .svg import SIDE, WIDE, cut_text, root, shape, text

MOST_PANELS = 4  # side by side
LINE, GAP, HEAD, FOOT = 22, 18, 24, 30  # px: a row, between panels, over and under them
SIDES = 22  # px of the words for both sides


def draw(plot: Plot) -> str:
    """The panels as an SVG element, their rows named once at the left."""
    names = list(dict.fromkeys(row.group for row in plot.rows))
    labels = list(dict.fromkeys(row.label for row in plot.rows))
    top = frame.above(plot, narrow=False) + HEAD
    bottom = top + LINE * len(labels)
    made = root(plot, bottom + FOOT + (SIDES if any(plot.ends) else 0), narrow=False)
    frame.legend(made, plot, narrow=False)
    for place, label in enumerate(labels):
        text(made, 8, top + LINE * (place + 0.5) + 4, cut_text(label, SIDE - 14), "fig-label")
    wide = (WIDE - SIDE - 8 - GAP * (len(names) - 1)) / len(names)
    for number, name in enumerate(names):
        left = SIDE + (wide + GAP) * number
        _panel(made, plot, name, labels, (left, left + wide), (top, bottom))
    for words, x, end in zip(plot.ends, (SIDE, WIDE - 8), ("", " end"), strict=True):
        told = f"{words} →" if end else f"← {words}"
        text(made, x, bottom + FOOT + 14, told if words else "", f"fig-side{end}")
    return ET.tostring(made, encoding="unicode")


def _panel(
    made: ET.Element,
    plot: Plot,
    name: str,
    labels: list[str],
    sides: tuple[float, float],
    heights: tuple[float, float],
) -> None:
    """One panel under its name: grid, the value that is no tilt, and its rows."""
    (left, right), (top, bottom) = sides, heights
    text(made, left, top - 10, cut_text(name, right - left), "fig-heading")
    x = axes.position_of(plot, left + 6, right - 6)
    told = {plot.ticks[0][0], plot.ticks[-1][0], plot.null}
    for value, label in plot.ticks:
        shape(made, "line", "fig-grid", x1=x(value), x2=x(value), y1=top, y2=bottom + 4)
        if value in told:
            side = " middle" if value == plot.null else " end" if value > plot.ticks[0][0] else ""
            text(made, x(value), bottom + 20, label, f"fig-tick{side}")
    if plot.null is not None:
        shape(made, "line", "fig-null", x1=x(plot.null), x2=x(plot.null), y1=top, y2=bottom + 4)
    for row in (row for row in plot.rows if row.group == name):
        draw_joined(made, row, x, top + LINE * (labels.index(row.label) + 0.5))
