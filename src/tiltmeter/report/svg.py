"""Figures → SVG, drawn offline by plain functions. Transparent; every colour comes from the page's CSS classes.

Two layouts of one figure: wide, with labels at the left and numbers at the right, and narrow (a phone), with the label
above its points. A series is told by colour and by shape, so the plot can be read without colours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from xml.etree import ElementTree as ET

from .numerals import NOTHING
from .parts import Figure, FigureRow, Point

LINE, HEADING, AXIS = 21, 30, 54  # heights in px
GLYPH = 6.6  # px: the mean width of a character at 12 px, to break and cut labels by


def forest(figure: Figure, narrow: bool = False) -> str:
    """The forest plot of a figure as an SVG element."""
    width = 360 if narrow else 820
    left, right = (8, width - 48) if narrow else (196, width - 226)
    x = _scale(figure, left + 8, right - 8)
    legend = 0 if len(figure.series) < 2 else 20 * len(figure.series) + 8
    drawn, height = _rows(figure, narrow, legend + 8)
    root = _root(figure, width, height + AXIS, narrow)
    _legend(root, figure)
    _grid(root, figure, x, legend + 4, height, (left, right))
    for kind, y, content in drawn:
        if kind == "heading":
            _text(root, 0 if narrow else 8, y, str(content), "fig-heading")
        elif kind == "label":
            _text(root, 8, y, _cut(str(content), 46 if narrow else 27), "fig-label")
        elif isinstance(content, Point):
            _point(root, content, x, y, width - 8)
    return ET.tostring(root, encoding="unicode")


def gauge(figure: Figure, decoration: bool = False) -> str:
    """One number on its axis: the interval as a bar, the null value as a line, both sides named.

    As a decoration it has no title: the same words stand beside it.
    """
    width, y = 340, 16
    x = _scale(figure, 8, width - 8)
    root = _root(figure, width, 50, False, "gauge")
    if decoration:
        root = ET.Element("svg", {"class": "gauge", "viewBox": f"0 0 {width} 50", "aria-hidden": "true"})
    _shape(root, "line", "fig-track", x1=x(figure.domain[0]), x2=x(figure.domain[1]), y1=y, y2=y)
    if figure.null is not None:
        _shape(root, "line", "fig-null", x1=x(figure.null), x2=x(figure.null), y1=2, y2=30)
        label = next((text for value, text in figure.ticks if math.isclose(value, figure.null)), "")
        _text(root, x(figure.null), 45, label, "fig-tick middle")
    for point in figure.rows[0].points:
        if point.low is not None and point.high is not None:
            _shape(root, "line", "fig-band", x1=x(point.low), x2=x(point.high), y1=y, y2=y)
        if point.value is not None:
            _shape(root, "circle", "fig-dot", cx=x(point.value), cy=y, r=6)
    _text(root, 8, 45, f"← {figure.ends[0]}", "fig-tick")
    _text(root, width - 8, 45, f"{figure.ends[1]} →", "fig-tick end")
    return ET.tostring(root, encoding="unicode")


def _root(figure: Figure, width: int, height: float, narrow: bool, kind: str = "forest") -> ET.Element:
    name = f"{figure.id}{'-narrow' if narrow else ''}"
    root = ET.Element("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "class": f"{kind}{' narrow' if narrow else ' wide'}", "role": "img",
        "viewBox": f"0 0 {width} {height:g}", "aria-labelledby": f"{name}-title", "aria-describedby": f"{name}-desc",
    })  # fmt: skip
    ET.SubElement(root, "title", {"id": f"{name}-title"}).text = figure.title
    ET.SubElement(root, "desc", {"id": f"{name}-desc"}).text = figure.text
    return root


def _rows(figure: Figure, narrow: bool, top: float) -> tuple[list[tuple[str, float, str | Point]], float]:
    """(kind, y, content) of all that stands in the plot, and where it ends."""
    drawn: list[tuple[str, float, str | Point]] = []
    y, heading = top, ""
    for row in figure.rows:
        if row.group != heading:
            heading = row.group
            drawn.append(("heading", y + HEADING - 11, heading))
            y += HEADING
        y = _one_row(drawn, row, narrow, y, 7 if narrow or len(figure.series) > 1 else 0)
    return drawn, y


def _one_row(drawn: list[tuple[str, float, str | Point]], row: FigureRow, narrow: bool, y: float, gap: float) -> float:
    drawn.append(("label", y + LINE - 7, row.label))
    if narrow:
        y += LINE - 4
    for point in row.points:
        drawn.append(("point", y + LINE / 2, point))
        y += LINE
    return y + gap


def _scale(figure: Figure, left: float, right: float) -> Callable[[float], float]:
    forward: Callable[[float], float] = math.log if figure.scale == "log" else float
    low, high = forward(figure.domain[0]), forward(figure.domain[1])

    def x(value: float) -> float:
        """The place of a value; beyond the axis is its end (odds of 0 on a logarithmic axis)."""
        inside = min(max(value, figure.domain[0]), figure.domain[1])
        return round(left + (forward(inside) - low) / (high - low) * (right - left), 2)

    return x


def _legend(root: ET.Element, figure: Figure) -> None:
    if len(figure.series) < 2:
        return
    for number, name in enumerate(figure.series):
        y = 14 + 20 * number
        SHAPES[number](root, 14, y - 4, f"fig-mark s{number}")
        _text(root, 28, y, _cut(name, 48 if "narrow" in root.get("class", "") else 110), "fig-label")


def _grid(root: ET.Element, figure: Figure, x: Callable[[float], float], top: float, bottom: float,
          sides: tuple[float, float]) -> None:  # fmt: skip
    every = 2 if "narrow" in root.get("class", "") and len(figure.ticks) > 6 else 1
    for place, (value, label) in enumerate(figure.ticks):
        _shape(root, "line", "fig-grid", x1=x(value), x2=x(value), y1=top, y2=bottom + 4)
        if place % every == 0:
            _text(root, x(value), bottom + 20, label, "fig-tick middle")
    if figure.null is not None:
        _shape(root, "line", "fig-null", x1=x(figure.null), x2=x(figure.null), y1=top, y2=bottom + 4)
        if figure.ends[0]:
            _text(root, sides[0], bottom + 42, f"← {figure.ends[0]}", "fig-side")
        if figure.ends[1]:
            _text(root, sides[1], bottom + 42, f"{figure.ends[1]} →", "fig-side end")


def _point(root: ET.Element, point: Point, x: Callable[[float], float], y: float, edge: float) -> None:
    series = point.series % len(SHAPES)
    narrow = "narrow" in root.get("class", "")
    if point.low is not None and point.high is not None:
        _shape(root, "line", f"fig-line s{series}", x1=x(point.low), x2=x(point.high), y1=y, y2=y)
    if point.value is not None:
        hollow = " hollow" if point.low is None and point.high is None else ""
        SHAPES[series](root, x(point.value), y, f"fig-mark s{series}{hollow}")
    number = f"{point.text} {point.interval}".removesuffix(f" {NOTHING}")
    _text(root, edge, y + 4, point.text if narrow else f"{number} · n {point.n} · {point.mark}", "fig-number end")


def _shape(parent: ET.Element, tag: str, name: str, **places: float) -> None:
    ET.SubElement(parent, tag, {"class": name} | {key: f"{value:g}" for key, value in places.items()})


def _text(parent: ET.Element, x: float, y: float, text: str, name: str) -> None:
    if text:
        ET.SubElement(parent, "text", {"x": f"{x:g}", "y": f"{y:g}", "class": name}).text = text


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _polygon(*corners: tuple[float, float]) -> Callable[[ET.Element, float, float, str], None]:
    def draw(parent: ET.Element, x: float, y: float, name: str) -> None:
        points = " ".join(f"{x + dx:g},{y + dy:g}" for dx, dy in corners)
        ET.SubElement(parent, "polygon", {"class": name, "points": points})

    return draw


def _circle(parent: ET.Element, x: float, y: float, name: str) -> None:
    _shape(parent, "circle", name, cx=x, cy=y, r=5)


SHAPES: tuple[Callable[[ET.Element, float, float, str], None], ...] = (
    _circle,
    _polygon((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
    _polygon((0, -6.2), (6.2, 0), (0, 6.2), (-6.2, 0)),
    _polygon((0, -5.8), (5.6, 4.4), (-5.6, 4.4)),
    _polygon((0, 5.8), (5.6, -4.4), (-5.6, -4.4)),
    _polygon((-1.8, -6), (1.8, -6), (1.8, -1.8), (6, -1.8), (6, 1.8), (1.8, 1.8), (1.8, 6), (-1.8, 6), (-1.8, 1.8), (-6, 1.8),
             (-6, -1.8), (-1.8, -1.8)),
)  # fmt: skip
