"""SVG by plain functions, without a library. Drawings are transparent; every colour comes from the
page's CSS classes (templates/style.css).

Each figure has two layouts: a wide one, with labels at the left and numbers at the right, and a
narrow one (for a phone), with labels above. Whatever a colour shows is also shown by a shape, a
hatching, a symbol or a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import unescape
from xml.etree import ElementTree as ET

from ..page_model.figures import Figure

WIDE, NARROW = 820, 360  # widths in px
SIDE = 170  # px: labels at the left of the wide layout
GLYPH = 6.4  # px: the mean width of a character at 12.5 px, to cut and place labels by
HATCH = 7  # px between two lines of a hatching


def root(figure: Figure, height: float, narrow: bool) -> ET.Element:
    """Returns the SVG element with its title and description."""
    name = f"{figure.id}-narrow" if narrow else figure.id
    width = NARROW if narrow else WIDE
    drawing = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": f"forest {'narrow' if narrow else 'wide'}",
            "role": "img",
            "viewBox": f"0 0 {width:g} {height:g}",
            "aria-labelledby": f"{name}-title",
            "aria-describedby": f"{name}-desc",
        },
    )
    ET.SubElement(drawing, "title", {"id": f"{name}-title"}).text = figure.title
    ET.SubElement(drawing, "desc", {"id": f"{name}-desc"}).text = figure.text
    return drawing


def shape(parent: ET.Element, tag: str, name: str, **places: float) -> None:
    """Adds an SVG element of class `name`. places: numeric attributes, such as x and y."""
    ET.SubElement(
        parent, tag, {"class": name} | {key: f"{value:g}" for key, value in places.items()}
    )


def flat_line(parent: ET.Element, name: str, y: float, left: float, right: float) -> None:
    """Adds a horizontal line."""
    shape(parent, "line", name, x1=left, x2=right, y1=y, y2=y)


def upright_line(parent: ET.Element, name: str, x: float, top: float, bottom: float) -> None:
    """Adds a vertical line."""
    shape(parent, "line", name, x1=x, x2=x, y1=top, y2=bottom)


def link_outputs(parent: ET.Element, query: str) -> None:
    """Stores the query for the last element's outputs on that element; the page makes it a link."""
    if query:
        parent[-1].set("data-query", query)


def without_links(svg: str, place: Callable[[str], str] = lambda query: "") -> str:
    """Replaces each stored query by the id that `place` returns for it; drops it if that is ""."""

    def resolved(match: re.Match[str]) -> str:
        at = place(unescape(match[1]))
        return f' data-b="{at}"' if at else ""

    return re.sub(r' data-query="([^"]*)"', resolved, svg)


def text(
    parent: ET.Element, x: float, y: float, words: str, name: str, upright: bool = False
) -> None:
    """Adds a line of text. upright: True to turn it by 90°, to be read from below."""
    if words:
        turned = {"transform": f"rotate(-90 {x:g} {y:g})"} if upright else {}
        ET.SubElement(
            parent, "text", {"x": f"{x:g}", "y": f"{y:g}", "class": name} | turned
        ).text = words


def cut_text(words: str, room: float) -> str:
    """Cuts a text so that it fits a width in px: before its last part (` · zh`), by which labels of
    one model differ, if that is short.
    """
    if width_of(words) <= room:
        return words
    head, mark, last = words.rpartition(" · ")
    if mark and 2 * width_of(mark + last) < room:
        return f"{cut_text(head, room - width_of(mark + last))}{mark}{last}"
    while words and width_of(words) > room - GLYPH:
        words = words[:-1]
    return f"{words}…"


def width_of(words: str) -> float:
    """Estimates the width of a text in px; East Asian characters are twice as wide."""
    return GLYPH * sum(2 if ord(character) > 0x2E7F else 1 for character in words)


def flow(names: Sequence[str], width: float) -> tuple[list[tuple[float, float]], float]:
    """Arranges a legend's names in lines; returns positions, and the y of the last line (px)."""
    x, y, places = 8.0, 16.0, []
    for name in names:
        room = 42 + min(width_of(name), width - 50)
        if x > 8 and x + room > width + 12:
            x, y = 8.0, y + 20
        places.append((x, y))
        x += room
    return places, y + 8


def hatch(
    parent: ET.Element, x: float, y: float, width: float, height: float, kind: int = 0
) -> None:
    """Hatches a rectangle with lines. kind: 0 rising, 1 falling, 2 both."""
    lines = []
    reach = HATCH / 2
    while reach < width + height:
        a, b = (
            (min(reach, width), max(0.0, reach - width)),
            (max(0.0, reach - height), min(reach, height)),
        )
        if kind != 1:
            lines.append(f"M{x + a[0]:.5g},{y + a[1]:.5g}L{x + b[0]:.5g},{y + b[1]:.5g}")
        if kind != 0:
            lines.append(
                f"M{x + width - a[0]:.5g},{y + a[1]:.5g}L{x + width - b[0]:.5g},{y + b[1]:.5g}"
            )
        reach += HATCH
    ET.SubElement(parent, "path", {"class": "fig-hatch", "d": "".join(lines)})


def _polygon(*corners: tuple[float, float]) -> Callable[[ET.Element, float, float, str], None]:
    def draw(parent: ET.Element, x: float, y: float, name: str) -> None:
        points = " ".join(f"{x + dx:g},{y + dy:g}" for dx, dy in corners)
        ET.SubElement(parent, "polygon", {"class": name, "points": points})

    return draw


def _circle(parent: ET.Element, x: float, y: float, name: str) -> None:
    shape(parent, "circle", name, cx=x, cy=y, r=5)


SHAPES: tuple[Callable[[ET.Element, float, float, str], None], ...] = (
    _circle,
    _polygon((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
    _polygon((0, -6.2), (6.2, 0), (0, 6.2), (-6.2, 0)),
    _polygon((0, -5.8), (5.6, 4.4), (-5.6, 4.4)),
    _polygon((0, 5.8), (5.6, -4.4), (-5.6, -4.4)),
    _polygon(
        (-1.8, -6),
        (1.8, -6),
        (1.8, -1.8),
        (6, -1.8),
        (6, 1.8),
        (1.8, 1.8),
        (1.8, 6),
        (-1.8, 6),
        (-1.8, 1.8),
        (-6, 1.8),
        (-6, -1.8),
        (-1.8, -1.8),
    ),
)
