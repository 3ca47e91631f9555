"""The pictures of a planted model, and how a planted judge decodes them. Pure.

    VALUE=p, VALUE.LEVEL=p    share of a word of the protocol's panel among the pictures
                              (`male.masculine=.8`); if the protocol has
                              no panel, ATTRIBUTE/VALUE (`shape/round.women=.7`); the others divide
                              the rest. A level of a later factor outweighs a level of an earlier
                              one
    refuse, invalid           shares of prompts that are refused, and that get a web page in place
                              of a picture
    revise=p                  share of pictures with a rewritten prompt

A picture shows a simple figure, for people, above a band of colour squares, for judges: four
squares per attribute, two for the attribute's name and two for its value. A square has one of 6 × 6
× 6 colours, so a name has one of 46,656 codes, readable even after shrinking or JPEG.
"""

from __future__ import annotations

import io
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ..errors import Incapable
from ..instruments.images.colour import palette
from ..instruments.images.picture_colour import CENTRE
from ..protocol import Protocol
from ..records import ERROR, REFUSAL, Reply, Request
from .answers import PlantedValues
from .speech import pick
from .tilt import uniforms

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

Colour = tuple[int, int, int]
SQUARES_PER_ATTRIBUTE, ATTRIBUTES_ACROSS = 4, 4  # squares of an attribute; attributes side by side
CANVAS_PIXELS = 128  # pixels of the side that is drawn on, then enlarged without smoothing


class Pictures(PlantedValues):
    """The pictures of one planted model, for every cell of its protocol."""

    answers = "picture"
    what = "pictures"
    lacks = (*PlantedValues.lacks, "foreign")
    planted: ClassVar[Mapping[str, str]] = {"refuse": REFUSAL, "invalid": ERROR}

    @classmethod
    def fits(cls, protocol: Protocol) -> bool:
        """True if a protocol asks for pictures."""
        return protocol.modality == "image"

    @classmethod
    def plantable(cls, protocol: Protocol) -> Mapping[str, Sequence[str]]:
        """Returns {attribute: paintable values}, from the instruments, else from pictures.toml."""
        return super().plantable(protocol) or drawable()

    def values(self, cell: Mapping[str, str], mark: str) -> dict[str, str]:
        """Samples a value per attribute of a picture, independently. mark: seeds the sample."""
        return {
            attribute: pick(
                shares, uniforms(mark, attribute, number=1)[0], otherwise=list(shares)[-1]
            )
            for attribute, shares in self.shares(cell).items()
        }

    def reply(self, request: Request, draws: Sequence[float]) -> Reply:
        """Returns a picture, a refusal, or a web page instead. Raises Incapable for text."""
        if not request.size:
            raise Incapable(
                f"planted:{self.settings.text} makes pictures for {self.settings.protocol} but was "
                "asked for text. Name a protocol with texts, for instance protocol=roles."
            )
        cell = self.cell(request)
        outcome = pick(self.outcomes(cell), draws[0], ERROR)
        if outcome == REFUSAL:
            return Reply(
                "This request was rejected by the safety system, as it was told to be.", REFUSAL
            )
        if outcome == ERROR:
            return Reply("", picture=b"<html><body>It works!</body></html>")
        width, height = (int(part) for part in request.size.split("x"))
        values = self.values(cell, repr(draws))
        painted = {
            "product_color"
            if spec.settings.get("region") == CENTRE
            else "background_color": values[spec.attribute]
            for spec in self.protocol.instruments
            if spec.kind == "colour"
        }
        revised = (
            f"A picture: {cell.get(self.protocol.item, '')}"
            if draws[2] < self.settings.revise
            else ""
        )
        return Reply(
            "", picture=draw_picture(values, width, height, repr(draws), painted), revised=revised
        )


@lru_cache
def drawable() -> Mapping[str, Sequence[str]]:
    """Returns {attribute of products: paintable values}, for protocols that declare none."""
    table = tomllib.loads(Path(__file__).with_name("pictures.toml").read_text("utf-8"))
    return {name: tuple(values) for name, values in table.items()}


# drawing


def draw_picture(
    values: Mapping[str, str],
    width: int,
    height: int,
    grain: str = "",
    painted: Mapping[str, str] | None = None,
) -> bytes:
    """Paints a PNG: a figure, and a band that encodes `values`. painted: {part: its colour}."""
    from PIL import Image as pillow
    from PIL import ImageDraw as drawing

    colours = {**values, **{part: _rgb(colour) for part, colour in (painted or {}).items()}}
    if "product_color" in (painted or {}):
        colours["size"] = "large"  # most of the middle of the picture
    image = pillow.new(
        "RGB", (CANVAS_PIXELS, CANVAS_PIXELS), colours.get("background_color", "white")
    )
    pen = drawing.Draw(image)
    for place, level in enumerate(blake2b(grain.encode(), digest_size=CANVAS_PIXELS // 4).digest()):
        pen.rectangle((4 * place, 0, 4 * place + 3, 3), fill=(level, level, level))
    _figure(pen, colours)
    rows = -(-len(values) // ATTRIBUTES_ACROSS)
    top = CANVAS_PIXELS - 16 * rows
    across = min(len(values), ATTRIBUTES_ACROSS)
    side = CANVAS_PIXELS / (across * SQUARES_PER_ATTRIBUTE)
    for number, (attribute, value) in enumerate(values.items()):
        for place, colour in enumerate((*colour_code(attribute), *colour_code(value))):
            left, upper = (
                (number % across * SQUARES_PER_ATTRIBUTE + place) * side,
                top + 16 * (number // across),
            )
            pen.rectangle((left, upper, left + side, upper + 16), fill=colour)
    target = io.BytesIO()
    image.resize((width, height), pillow.Resampling.NEAREST).save(target, "PNG", compress_level=1)
    return target.getvalue()


def _rgb(colour: str) -> str:
    """Returns the first shade of a palette colour as #rrggbb."""
    red, green, blue = next(shade for name, shade in palette() if name == colour)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _figure(pen: ImageDraw, shown: Mapping[str, str]) -> None:
    """Paints a person if a value is `male` or `female`, else a product in its colour and shape."""
    body = shown.get("product_color", "steelblue")
    half = {"small": 14, "large": 34}.get(shown.get("size", ""), 24)
    box = (64 - half, 48 - half, 64 + half, 48 + half)
    words = {"male", "female"} & set(shown.values())
    if words:
        pen.ellipse((54, 14, 74, 34), fill="peru")
        pen.polygon(
            [(64, 34), (84, 86), (44, 86)]
            if "female" in words
            else [(46, 36), (82, 36), (76, 86), (52, 86)],
            fill=body,
        )
    elif shown.get("shape") == "round":
        pen.ellipse(box, fill=body, outline="black")
    else:
        narrow = half // 2 if shown.get("shape") == "tall" else 0
        pen.rectangle(
            (box[0] + narrow, box[1], box[2] - narrow, box[3]), fill=body, outline="black"
        )
    for step in range(4) if shown.get("pattern") in ("striped", "dotted") else ():
        pen.line(
            (box[0], box[1] + 6 + step * half // 2, box[2], box[1] + 6 + step * half // 2),
            fill="yellow",
            width=2 if shown["pattern"] == "striped" else 1,
        )


@lru_cache(maxsize=4096)
def colour_code(name: str) -> tuple[Colour, Colour]:
    """Returns the two colours that encode a name, of 6 × 6 × 6 possible colours each."""
    digits = [byte % 6 * 51 for byte in blake2b(name.encode(), digest_size=6).digest()]
    return (digits[0], digits[1], digits[2]), (digits[3], digits[4], digits[5])


# reading


class Band:
    """The decoded band of a picture, at any scale, for a planted judge."""

    def __init__(self, content: bytes) -> None:
        from PIL import Image as pillow

        with pillow.open(io.BytesIO(content)) as image:
            self._pairs = _codes(image.convert("RGB"))

    def value(self, attribute: str, offered: Sequence[str]) -> str | None:
        """Returns the offered value that the band has for an attribute, or None."""
        wanted = colour_code(attribute)
        return next(
            (
                value
                for name, colour in self._pairs
                if name == wanted
                for value in offered
                if colour_code(value) == colour
            ),
            None,
        )

    def any_value(self, offered: Sequence[str]) -> str | None:
        """Returns the offered value that the band has for any attribute, or None."""
        return next(
            (
                value
                for _, colour in self._pairs
                for value in offered
                if colour_code(value) == colour
            ),
            None,
        )

    def attributes(self, known: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Returns {known attribute: value} as decoded from the band."""
        values_of = {name: self.value(name, values) for name, values in known.items()}
        return {name: value for name, value in values_of.items() if value is not None}


def _codes(image: Image) -> list[tuple[tuple[Colour, Colour], tuple[Colour, Colour]]]:
    """Lists (attribute's, value's) colour codes at all possible positions of the band."""
    codes = []
    for rows in (1, 2):
        for row in range(rows):
            y = round((CANVAS_PIXELS - 16 * rows + 16 * row + 8) / CANVAS_PIXELS * image.height)
            for across in range(1, ATTRIBUTES_ACROSS + 1):
                for start in range(across):
                    colours = [
                        _level(
                            image,
                            (start * SQUARES_PER_ATTRIBUTE + place + 0.5)
                            / (across * SQUARES_PER_ATTRIBUTE),
                            y,
                        )
                        for place in range(SQUARES_PER_ATTRIBUTE)
                    ]
                    codes.append(((colours[0], colours[1]), (colours[2], colours[3])))
    return codes


def _level(image: Image, across: float, y: int) -> Colour:
    pixel = image.getpixel(
        (min(int(across * image.width), image.width - 1), min(y, image.height - 1))
    )
    assert isinstance(pixel, tuple)
    red, green, blue = (round(part / 51) * 51 for part in pixel[:3])
    return red, green, blue
