"""Draws a contact sheet: the pictures or the beginnings of texts on a page as one labelled PNG."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import suppress

from PIL import Image, ImageDraw, ImageFont, ImageOps

from ...errors import StoreError, UsageError
from ...images import Unusable
from ...report.page_model.sanitize import visible
from ..selection.parts import Card, OutputsPage

SIDE, GAP, LINE = 128, 8, 18  # pixels: of a picture, between them, of a line of text
WIDE = 272  # pixels: of a text
ACROSS = {True: 4, False: 2}  # pictures, texts of a cell beside each other
LETTER = 6.5  # pixels of a letter, on the average
# fonts with the scripts that the one which comes with Pillow does not have
FONTS = ("NotoSansCJK-Regular.ttc", "NotoSans-Regular.ttf", "DejaVuSans.ttf")
PAPER, INK, SOFT = "white", "#1c2127", "#545d68"
LATIN = 0x24F  # the last of its letters
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Small = Callable[[int, str], bytes]  # (run, name of the picture) → a small JPEG


def contact_sheet(page: OutputsPage, small: Small) -> bytes:
    """Draws a page as PNG: a block per cell, labels below items. Unreadable pictures stay blank."""
    columns = [level for level, _ in page.columns]
    side, most = (SIDE if page.pictures else WIDE), ACROSS[page.pictures]
    widths = [_across([row[n].cards for _, row in page.rows], most) for n in range(len(columns))]
    heights = [
        max((_lines(cell.cards, w) for cell, w in zip(cells, widths, strict=True)), default=1)
        for _, cells in page.rows
    ]
    step = SIDE + LINE + GAP
    width = sum(w * (side + GAP) + GAP for w in widths) + GAP
    height = 3 * LINE + sum(h * step + LINE + GAP for h in heights)
    sheet = Image.new("RGB", (max(width, 40 * GAP), height), PAPER)
    draw, font = ImageDraw.Draw(sheet), _font(page)
    draw.text((GAP, GAP), visible(f"{page.protocol.title} · {page.view.attribute}"), INK, font)
    top = 2 * LINE
    for (row, cells), lines in zip(page.rows, heights, strict=True):
        left = GAP
        for level, cell, across in zip(columns, cells, widths, strict=True):
            titles = page.title(page.view.rows, row), page.title(page.view.columns, level)
            name = visible(" · ".join(title or "(none)" for title in titles))
            draw.text((left, top), name[: int(side * across / LETTER)], SOFT, font)
            for number, card in enumerate(cell.cards):
                y, x = divmod(number, across)
                place = (left + x * (side + GAP), top + LINE + y * step)
                if card.blob:
                    _paste(sheet, card, place, small)
                else:
                    _write(draw, card, (*place, side), font)
                label = visible(" · ".join(card.labels) or card.outcome)[: int(side / LETTER)]
                draw.text((place[0], place[1] + SIDE), label, INK, font)
            left += across * (side + GAP) + GAP
        top += lines * step + LINE + GAP
    written = io.BytesIO()
    sheet.save(written, "PNG", optimize=True)
    return written.getvalue()


def _font(page: OutputsPage) -> Font:
    """Returns the font that comes with Pillow; for texts beyond Latin, the first of FONTS that is
    installed, if any. A character that the font lacks is painted as a box.
    """
    texts = (card.text for _, cells in page.rows for cell in cells for card in cell.cards)
    if any(ord(sign) > LATIN for text in texts for sign in text):
        for name in FONTS:
            with suppress(OSError):
                return ImageFont.truetype(name, 13)
    return ImageFont.load_default(13)


def _across(cells: Sequence[Sequence[Card]], most: int) -> int:
    return min(most, max((len(cards) for cards in cells), default=1)) or 1


def _lines(cards: Sequence[Card], across: int) -> int:
    return max(1, -(-len(cards) // across))


def _write(draw: ImageDraw.ImageDraw, card: Card, place: tuple[int, int, int], font: Font) -> None:
    """Draws the beginning of a text in a frame. place: left, top, width in pixels."""
    left, top, width = place
    draw.rectangle((left, top, left + width - 1, top + SIDE - 1), outline=SOFT)
    words = [*" ".join(visible(card.text).split())]
    for line in range((SIDE - GAP) // LINE):
        taken = ""
        while words and font.getlength(taken + words[0]) < width - GAP:
            taken += words.pop(0)
        cut = taken.rfind(" ") if words and words[0] != " " else -1
        if cut > 0:
            words[:0] = [*taken[cut + 1 :]]
            taken = taken[:cut]
        draw.text((left + GAP // 2, top + GAP // 2 + line * LINE), taken.strip(), INK, font)


def _paste(sheet: Image.Image, card: Card, place: tuple[int, int], small: Small) -> None:
    try:
        picture = Image.open(io.BytesIO(small(card.run, card.blob))).convert("RGB")
    except (StoreError, UsageError, Unusable, OSError):
        return
    sheet.paste(ImageOps.contain(picture, (SIDE, SIDE)), place)
