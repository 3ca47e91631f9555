"""Histogram: the number of texts by their number of words (Figure 2 of the ProText paper)."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ...analyse.words import numerals
from ...protocol.histogram import BIN_WORDS, WordCounts
from ..page_model import audits
from ..page_model.figures import Histogram
from .svg import NARROW, WIDE, root, shape, text

TALL, TOP = 220.0, 16.0  # px: of the highest bar, and above it
LEFT, RIGHT = 56.0, 12.0  # px beside the bars
STEPS = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000)  # between two ticks
TICKS = 5  # on the axis of counts, at most
GAP = 2.0  # px between two bars


def histogram(counts: WordCounts, column: str) -> Histogram:
    """Returns the histogram of a column's word counts."""
    title = f"Words of {column}: {len(counts.counts):,} texts"
    described = "; ".join(f"{first} to {last}: {number}" for first, last, number in counts.bins)
    return Histogram(
        id=audits.slug("words", column),
        title=title,
        text=f"{title}, {counts.summary}. {described}.",
        note=f"Across: words of a text, {BIN_WORDS} a bar; up: texts. {counts.summary}.",
        bins=counts.bins,
    )


def draw(figure: Histogram, narrow: bool = False) -> str:
    """Returns the bars as SVG, with both axes named; counts begin at 0."""
    width = NARROW if narrow else WIDE
    bottom = TOP + TALL
    drawing = root(figure, bottom + 44, narrow)
    most = max(number for _, _, number in figure.bins)
    step = next((step for step in STEPS if most / step <= TICKS), most)
    top = step * -(-most // step)
    for count in range(0, top + 1, step):
        y = bottom - TALL * count / top
        shape(drawing, "line", "fig-grid", x1=LEFT, x2=width - RIGHT, y1=y, y2=y)
        text(drawing, LEFT - 6, y + 4, numerals.count(count), "fig-tick end")
    wide = (width - LEFT - RIGHT) / len(figure.bins)
    every = 1 + (len(figure.bins) * 36) // round(width - LEFT - RIGHT)
    for place, (first, last, number) in enumerate(figure.bins):
        x, high = LEFT + wide * place, TALL * number / top
        shape(
            drawing,
            "rect",
            "fig-part c0",
            x=round(x + GAP / 2, 2),
            y=round(bottom - high, 2),
            width=round(wide - GAP, 2),
            height=round(high, 2),
        )
        ET.SubElement(drawing[-1], "title").text = f"{first} to {last} words: {number}"
        if place % every == 0:
            text(drawing, round(x, 2), bottom + 18, str(first), "fig-tick middle")
    text(drawing, width - RIGHT, bottom + 38, "words of a text", "fig-side end")
    text(drawing, 14, TOP + TALL / 2 + 16, "texts", "fig-side", upright=True)
    return ET.tostring(drawing, encoding="unicode")
