"""A contact sheet: the pictures of a page as one PNG, with its rows, columns and labels."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from PIL import Image, ImageDraw, ImageFont, ImageOps

from ..errors import StoreError, UsageError
from ..images import Unusable
from ..report.sanitize import visible
from .parts import Card, Page

SIDE, GAP, LINE = 128, 8, 18  # pixels: of a picture, between them, of a line of text
ACROSS = 4  # pictures of a cell beside each other
MOST_LETTERS = 28  # of a name
PAPER, INK, SOFT = "white", "#1c2127", "#545d68"
Small = Callable[[int, str], bytes]  # (run, name of the picture) → a small JPEG


def contact_sheet(page: Page, small: Small) -> bytes:
    """A PNG of the pictures that a page shows; a cell a block, each picture over its label. What is
    missing or damaged stays empty.
    """
    columns = [level for level, _ in page.columns]
    widths = [_across([cells[n].cards for _, cells in page.rows]) for n in range(len(columns))]
    heights = [
        max((_lines(cell.cards, w) for cell, w in zip(cells, widths, strict=True)), default=1)
        for _, cells in page.rows
    ]
    step = SIDE + LINE + GAP
    width = sum(w * (SIDE + GAP) + GAP for w in widths) + GAP
    height = 3 * LINE + sum(h * step + LINE + GAP for h in heights)
    sheet = Image.new("RGB", (max(width, 40 * GAP), height), PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(13)
    draw.text((GAP, GAP), visible(f"{page.protocol.title} · {page.view.attribute}"), INK, font)
    top = 2 * LINE
    for (row, cells), lines in zip(page.rows, heights, strict=True):
        left = GAP
        for level, cell, across in zip(columns, cells, widths, strict=True):
            name = visible(f"{row or '(none)'} · {level or '(none)'}")
            draw.text((left, top), name[: MOST_LETTERS * across], SOFT, font)
            for number, card in enumerate(cell.cards):
                y, x = divmod(number, across)
                place = (left + x * (SIDE + GAP), top + LINE + y * step)
                _paste(sheet, card, place, small)
                label = visible(" · ".join(card.labels) or card.outcome)[:MOST_LETTERS]
                draw.text((place[0], place[1] + SIDE), label, INK, font)
            left += across * (SIDE + GAP) + GAP
        top += lines * step + LINE + GAP
    written = io.BytesIO()
    sheet.save(written, "PNG", optimize=True)
    return written.getvalue()


def _across(cells: Sequence[Sequence[Card]]) -> int:
    return min(ACROSS, max((len(cards) for cards in cells), default=1)) or 1


def _lines(cards: Sequence[Card], across: int) -> int:
    return max(1, -(-len(cards) // across))


def _paste(sheet: Image.Image, card: Card, place: tuple[int, int], small: Small) -> None:
    if not card.blob:
        return
    try:
        picture = Image.open(io.BytesIO(small(card.run, card.blob))).convert("RGB")
    except (StoreError, UsageError, Unusable, OSError):
        return
    sheet.paste(ImageOps.contain(picture, (SIDE, SIDE)), place)
