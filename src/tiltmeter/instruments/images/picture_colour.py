"""The most frequent colour of a picture, or of its middle, by its pixels, without a model.

Each pixel of the reduced picture counts for the nearest colour of the palette (colour.py). The
label is the colour of at least `least` of the pixels, or `multicolor` if no colour has that many.
The label describes everything visible, light and shade included, not the depicted object: a red car
before a grey wall may be labelled grey; the middle is red only if the car stands there. To separate
the colours of a product and its background, ask a vision model.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from ...images import Unusable, encode_for_judge
from ...protocol import InstrumentSpec
from ...records import INVALID, Answered, Label
from .. import PictureParser, Settings
from ..wording import Json
from .colour import MULTICOLOR, colours, dominant, palette

WHOLE, CENTRE = REGIONS = ("whole", "centre")
LONGEST_PIXELS = 128  # pixels of the longer side that are looked at
LEAST_SHARE = 0.4  # as `dominant` has it


class PictureColour(PictureParser):
    """settings: region = "whole" (default) or "centre" (the middle half in height and width), least
    = 0.4.
    """

    kind = "colour"
    version = "1"
    answers = "picture"
    summary = "the colour of most of a picture, by its pixels"
    modality = "image"
    settings_schema: ClassVar[Settings] = {
        "region": {
            "enum": list(REGIONS),
            "default": WHOLE,
            "description": "Which part of the picture is looked at.",
        },
        "least": {
            "type": "number",
            "minimum": 0.05,
            "maximum": 1,
            "default": LEAST_SHARE,
            "description": "The share of the pixels that a colour must have.",
        },
    }

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: the palette's colours, and `multicolor`}."""
        return {spec.attribute: (*colours(), MULTICOLOR)}

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Returns the colour's own name; [] if the value is not a colour."""
        return [value] if value in colours() else []

    def wording(self) -> Mapping[str, Json]:
        """Returns the palette, and the longest side in pixels to which pictures are reduced."""
        return {"palette": palette(), "longest": LONGEST_PIXELS}

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label: the region's main colour, or `invalid` for an unreadable picture."""
        region, least = (
            str(self.settings.get("region", WHOLE)),
            float(self.settings.get("least", LEAST_SHARE)),
        )
        try:
            return [self.label(item, colour_of(item.picture, region, least))]
        except Unusable:
            return [self.label(item, INVALID)]


def colour_of(content: bytes, region: str = WHOLE, least: float = LEAST_SHARE) -> str:
    """Returns a picture's main palette colour, or multicolor. Raises Unusable if unreadable."""
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(encode_for_judge(content, LONGEST_PIXELS)[1])) as image:
        pixels = np.asarray(image.convert("RGB"))
    if region == CENTRE:
        height, width = pixels.shape[:2]
        pixels = pixels[height // 4 : height - height // 4, width // 4 : width - width // 4]
    return dominant(pixels.reshape(-1, 3), least) or MULTICOLOR
