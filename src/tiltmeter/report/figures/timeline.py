"""Figures of several runs.

Arrows: headline numbers of two runs, an arrow per number, which is thick if a difference was found.
Timeline: headline numbers over the runs of a history, a panel per number, a point with interval per
run, on an axis of dates. Lines join comparable runs only: thick with a sign if a change was found,
else thin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal
from xml.etree import ElementTree as ET

from ..page_model.figures import Axis, Figure, Places, Point
from . import frame
from .plots import draw_point
from .svg import NARROW, SHAPES, WIDE, cut_text, flat_line, root, shape, text, width_of

Link = Literal["told", "same", "none"]
HIGH, HEAD, FOOT, DATES = 132, 46, 26, 22  # px of a panel, over and under it, and of the dates
TICKS, RIGHT = 52, 18  # px at the left and at the right of a panel
LEAST = 22  # px between two runs
UP, DOWN = "▲", "▼"
ROW = 46  # px of a row of arrows
EDGE, POINTED = 14, 10  # px beside the axis of arrows, and of the head of an arrow


@dataclass(frozen=True, slots=True)
class TimelinePanel:
    """One number over runs. points: one per run, None if unmeasured; links: one per run pair."""

    title: str
    axis: Axis
    points: tuple[Point | None, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline(Figure):
    """A history of runs. dates: one per run, ISO 8601, "" if unknown."""

    dates: tuple[str, ...]
    panels: tuple[TimelinePanel, ...]


def draw(figure: Timeline, narrow: bool = False) -> str:
    """Draws the panels below one another, as an SVG element."""
    width = NARROW if narrow else WIDE
    drawing = root(figure, (HEAD + HIGH + FOOT) * len(figure.panels) + DATES, narrow)
    at = places(figure.dates, TICKS + 16, width - RIGHT - 16)
    y = 0.0
    for panel in figure.panels:
        _panel(drawing, panel, at, (y + HEAD, y + HEAD + HIGH), width)
        y += HEAD + HIGH + FOOT
    _write_dates(drawing, figure.dates, at, y + 8)
    return ET.tostring(drawing, encoding="unicode")


def places(dates: Sequence[str], left: float, right: float) -> list[float]:
    """Places runs by date, legibly apart; evenly if a date is unknown or all are close."""
    even = [left + (right - left) * n / max(1, len(dates) - 1) for n in range(len(dates))]
    if not all(dates) or LEAST * (len(dates) - 1) > right - left:
        return even
    seconds = [datetime.fromisoformat(date).timestamp() for date in dates]
    span = seconds[-1] - seconds[0]
    if span < 86_400:  # a day: the axis is of dates
        return even
    places = [left + (right - left) * (second - seconds[0]) / span for second in seconds]
    for n in range(1, len(places)):
        places[n] = max(places[n], places[n - 1] + LEAST)
    places[-1] = min(places[-1], right)
    for n in range(len(places) - 2, -1, -1):
        places[n] = min(places[n], places[n + 1] - LEAST)
    return places


def _panel(
    made: ET.Element,
    panel: TimelinePanel,
    places: Sequence[float],
    heights: tuple[float, float],
    width: float,
) -> None:
    top, bottom = heights
    right, axis = width - RIGHT, panel.axis
    y = axis.places(bottom - 8, top + 8)
    text(made, 8, top - 28, cut_text(panel.title, width - 16), "fig-strong fig-label")
    text(made, TICKS, top - 10, f"↑ {axis.ends[1]}" if axis.ends[1] else "", "fig-side")
    text(made, right, top - 10, f"↓ {axis.ends[0]}" if axis.ends[0] else "", "fig-side end")
    for value, label in axis.ticks:
        flat_line(made, "fig-grid", y(value), TICKS, right)
        text(made, TICKS - 6, y(value) + 4, label, "fig-tick end")
    if axis.null is not None:
        flat_line(made, "fig-null", y(axis.null), TICKS, right)
    for number, x in enumerate(places, 1):
        text(made, x, bottom + 18, str(number), "fig-tick middle")
    _links(made, panel, places, y)
    for x, point in zip(places, panel.points, strict=True):
        if point is not None:
            draw_point(made, point, y, x, upright=True)


def _links(made: ET.Element, panel: TimelinePanel, places: Sequence[float], y: Places) -> None:
    """Draws lines between compared runs; ▲ or ▼ marks a change that was found and its direction."""
    runs = pairwise(zip(places, panel.points, strict=True))
    for link, ((x1, before), (x2, after)) in zip(panel.links, runs, strict=True):
        if link == "none" or before is None or after is None:
            continue
        earlier, later = before.value, after.value
        if earlier is None or later is None:
            continue
        name = "fig-line s0 fig-mean" if link == "told" else "fig-join fig-thin"
        shape(made, "line", name, x1=x1, x2=x2, y1=y(earlier), y2=y(later))
        if link == "told":
            sign = UP if later > earlier else DOWN
            middle = (y(earlier) + y(later)) / 2
            text(made, (x1 + x2) / 2, middle - 8, sign, "fig-strong fig-label middle")


def _write_dates(made: ET.Element, dates: Sequence[str], places: Sequence[float], y: float) -> None:
    """Writes each run's day below the run, if it is a new day and there is room."""
    end, last = 0.0, ""
    for x, date in zip(places, dates, strict=True):
        day = date[:10]
        half = width_of(day) / 2
        if day and day != last and x - half > end:
            text(made, max(x, half + 2), y, day, "fig-tick middle")
            end, last = x + half + 8, day


@dataclass(frozen=True, slots=True)
class Arrow:
    """One number in two runs. values: in the earlier and the later run; texts: both values as text,
    then a remark on the difference; found: True if a difference was found.
    """

    label: str
    values: tuple[float, float]
    texts: tuple[str, str, str]
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrows(Figure):
    """A comparison of two runs. runs: names of the earlier and later run; rows: its arrows."""

    runs: tuple[str, str]
    rows: tuple[Arrow, ...]
    axis: Axis


def draw_arrows(figure: Arrows, narrow: bool = False) -> str:
    """Draws a row per arrow, as an SVG element."""
    width = NARROW if narrow else WIDE

    def row(one: Arrow) -> frame.Row:
        return frame.Row("", ROW, lambda made, x, y: _arrow(made, one, x, y, width))

    legend = [
        (name, lambda made, x, y, look=look: SHAPES[0](made, x + 6, y - 4, f"fig-mark s0{look}"))
        for name, look in zip(figure.runs, (" hollow", ""), strict=True)
    ]
    sides = (EDGE - frame.INSET, width - EDGE + frame.INSET)
    return frame.chart(figure, figure.axis, map(row, figure.rows), sides, legend, narrow)


def _arrow(made: ET.Element, row: Arrow, x: Places, top: float, width: float) -> None:
    before, after = map(x, row.values)
    y = top + 30
    words = f"{row.label}: {row.texts[0]} → {row.texts[1]}, {row.texts[2]}"
    name = "fig-strong fig-label" if row.found else "fig-label"
    text(made, EDGE, top + 14, cut_text(words, width - EDGE - EDGE), name)
    line = "fig-line s0 fig-mean" if row.found else "fig-join fig-thin"
    flat_line(made, line, y, before, after)
    if abs(after - before) > 3 * POINTED:
        tip, back = (after - n * POINTED * (1 if after > before else -1) for n in (0.5, 1.5))
        for end in (y - POINTED * 0.7, y + POINTED * 0.7):
            shape(made, "line", "fig-line s0", x1=back, x2=tip, y1=end, y2=y)
    SHAPES[0](made, before, y, "fig-mark s0 hollow")
    SHAPES[0](made, after, y, "fig-mark s0")
