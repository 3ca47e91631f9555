"""Draws a heat map as SVG: its cells, the names of rows and columns, its scale."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ..page_model.figures import Heat, HeatCell
from .svg import NARROW, SIDE, WIDE, cut_text, hatch, link_outputs, root, shape, text, width_of

TALL, GAP, ROOM = 36, 2, 150  # px: a cell's height, the gap, its width at most
UPRIGHT = 96  # px: the room of column names that are turned


def draw(figure: Heat, narrow: bool = False) -> str:
    """Draws the heat map as an SVG element."""
    width = NARROW if narrow else WIDE
    left = 4.0 if narrow else float(SIDE)
    wide = min(ROOM, (width - left - 4) / len(figure.columns))
    names = [_lines(name, wide - 4) for name in figure.columns]
    is_upright = any(not lines for lines in names)
    top = 46.0 + (UPRIGHT if is_upright else 8 + 14 * max(map(len, names)))
    tall = TALL + GAP + (20 if narrow else 0)
    drawing = root(figure, top + tall * len(figure.rows) + 6, narrow)
    _legend(drawing, figure, width)
    for place, name in enumerate(figure.columns):
        middle = left + wide * (place + 0.5)
        if is_upright:
            text(
                drawing, middle + 4, top - 6, cut_text(name, UPRIGHT - 8), "fig-label", upright=True
            )
        else:
            for line, words in enumerate(reversed(names[place])):
                text(drawing, middle, top - 8 - 14 * line, words, "fig-label middle")
    for number, (label, cells) in enumerate(figure.rows):
        y = top + tall * number
        words = cut_text(label, (width if narrow else SIDE) - 14)
        text(drawing, 4 if narrow else 8, y + (15 if narrow else TALL / 2 + 4), words, "fig-label")
        for place, cell in enumerate(cells):
            _cell(drawing, figure, cell, (left + wide * place, y + tall - TALL - GAP, wide - GAP))
    return ET.tostring(drawing, encoding="unicode")


def _lines(name: str, room: float) -> list[str]:
    """Breaks a name into one or two lines that fit; [] if this is impossible."""
    if width_of(name) <= room:
        return [name]
    gaps = [place for place, sign in enumerate(name) if sign == " "]
    halves = [[name[:gap], name[gap + 1 :]] for gap in gaps]
    fitting = [half for half in halves if max(map(width_of, half)) <= room]
    return min(fitting, key=lambda half: max(map(len, half)), default=[])


def _cell(
    made: ET.Element, figure: Heat, cell: HeatCell | None, box: tuple[float, float, float]
) -> None:
    x, y, wide = (round(v, 2) for v in box)
    colour = _colour(figure, cell.level) if cell else "none"
    shape(made, "rect", f"fig-cell {colour}", x=x, y=y, width=wide, height=TALL)
    if cell is None:
        hatch(made, x, y, wide, TALL)
        return
    link_outputs(made, cell.query)
    text(made, x + wide / 2, y + 16, f"{cell.text} {cell.symbol}".strip(), "fig-value middle")
    text(made, x + wide / 2, y + 30, f"n {cell.n}" if wide > 50 else cell.n, "fig-small middle")


def _colour(figure: Heat, level: int) -> str:
    """Returns a level's CSS class: h0 at null, p above or m below it; q on a one-sided scale."""
    if not level:
        return "h0"
    return (f"p{level}" if level > 0 else f"m{-level}") if figure.diverging else f"q{level}"


def _legend(made: ET.Element, figure: Heat, width: float) -> None:
    """Draws the colour scale, with labels at its ends and a line and label at the null value."""
    first, last = figure.scale[0][0], figure.scale[-1][0]
    size, x = 22.0, 8.0
    for level in range(first, last + 1):
        left = x + size * (level - first)
        shape(
            made, "rect", f"fig-cell {_colour(figure, level)}", x=left, y=4, width=size, height=12
        )
    if figure.diverging:
        null = x + size * (0.5 - first)
        shape(made, "line", "fig-null", x1=null, x2=null, y1=1, y2=19)
    for level, words in figure.scale:
        is_inside = first < level < last
        place = x + size * (level - first + (0.5 if is_inside else level == last))
        anchor = " middle" if is_inside else " end" if level == last else ""
        text(made, place, 32, f"{words} no tilt" if is_inside else words, f"fig-tick{anchor}")
    room = width - x - size * (last - first + 1) - 20
    text(
        made,
        x + size * (last - first + 1) + 14,
        14,
        cut_text(f"columns: {figure.across}", room),
        "fig-tick",
    )
