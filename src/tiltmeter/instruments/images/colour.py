"""Colours, given as words or pixels, mapped to a fixed palette by distance in a perceptual space.
The palette (data/palette.csv) has the eleven basic colour terms of English (Berlin & Kay 1969) and
beige, navy and turquoise, which are common in products. Each is given by a few shades, and a pixel
gets the colour of the shade nearest to it in OKLab (Björn Ottosson 2020, "A perceptual color space
for image processing"; the matrices below are his).

Words are looked up in the xkcd colour survey (Randall Munroe 2010, 949 names from 200,000 people,
public domain; data/colour_names.csv, without its rude names, with a few materials added). For an
unlisted word its last listed word counts: "metallic rally blue" is a blue; light, dark and similar
words change its lightness. A word that is still unknown is `other`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ...row_files import own_rows
from ..wording import DATA

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Rgb = tuple[int, int, int]
MULTICOLOR, TRANSPARENT, OTHER = "multicolor", "transparent", "other"
SPECIAL = (MULTICOLOR, TRANSPARENT, OTHER)  # values beside the palette's
_SEVERAL = re.compile(
    r"\b(multi\w*|rainbow|patterned|various|assorted|colou?rful|floral|camouflage)\b|\b(and|with)\b|[/,&]"
)
_CLEAR = {"transparent", "clear", "see through", "translucent", "glass"}
_LIGHTER = {
    "light": 0.12,
    "pale": 0.16,
    "pastel": 0.16,
    "soft": 0.08,
    "bright": 0.04,
    "dark": -0.18,
    "deep": -0.14,
}
_GREYS = ("black", "gray", "white")
_FROM_LINEAR = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_TO_LAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


def oklab(rgb: NDArray[np.generic] | Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Converts sRGB of 0 to 255, shape (N, 3), to OKLab: lightness 0 to 1 and two colour axes.

    By hand: white (1, 0, 0), black (0, 0, 0), pure red (.628, .225, .126) (Ottosson 2020).
    """
    import numpy as np

    c = np.asarray(rgb, dtype=np.float64) / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    lab: NDArray[np.float64] = np.cbrt(linear @ np.array(_FROM_LINEAR).T) @ np.array(_TO_LAB).T
    return lab


def nearest(rgb: NDArray[np.generic] | Sequence[Sequence[int]]) -> list[str]:
    """Returns the palette's colour nearest to each sRGB shade. rgb: shape (N, 3)."""
    return _nearest(oklab(rgb))


def dominant(rgb: NDArray[np.generic], least: float = 0.4) -> str | None:
    """Returns the most frequent palette colour of pixels, sRGB of shape (N, 3); multicolor if its
    share is below `least`; None if there are no pixels.

    `least` is 0.4, not one half, as light and shade move some pixels of a plain object to a
    neighbouring colour.
    """
    if len(rgb) == 0:
        return None
    colour, number = Counter(nearest(rgb)).most_common(1)[0]
    return colour if number >= least * len(rgb) else MULTICOLOR


def canonical(word: str) -> str:
    """Returns the palette's colour that a word means, or multicolor, transparent or other.

    By hand: navy_blue → navy; Dark Forest-Green → green; black and white → multicolor; zorp →
    other."""
    text = " ".join(re.sub(r"[_\-.'’]+", " ", word.casefold()).replace("gray", "grey").split())
    text = re.sub(r"\b(colou?r(ed)?|tone|shade)\b", "", text).strip()
    return _canonical(" ".join(text.split()))


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str:
    if text in _CLEAR:
        return TRANSPARENT
    if text.replace("grey", "gray") in colours():
        return text.replace("grey", "gray")
    if text in names():
        return nearest([names()[text]])[0]
    if _SEVERAL.search(text):
        return MULTICOLOR
    words = text.split()
    for start in range(1, len(words)):
        rest = " ".join(words[start:])
        shade = names().get(rest) or _shade(rest.replace("grey", "gray"))
        if shade:
            lab = oklab([shade])
            plain = _nearest(lab)[0]
            lab[0, 0] = min(
                1.0,
                max(0.0, lab[0, 0] + sum(_LIGHTER.get(before, 0.0) for before in words[:start])),
            )
            moved = _nearest(lab)[0]
            return plain if moved in _GREYS else moved  # a dark green is no black
    return OTHER


def _shade(colour: str) -> Rgb | None:
    return next((rgb for name, rgb in palette() if name == colour), None)


@lru_cache
def palette() -> tuple[tuple[str, Rgb], ...]:
    """Returns (colour, shade) for every shade, in the order of the file."""
    return tuple((row["colour"], _rgb(row["rgb"])) for row in own_rows(DATA / "palette.csv"))


@lru_cache
def colours() -> tuple[str, ...]:
    """Returns the palette's colours, without the special values."""
    return tuple(dict.fromkeys(colour for colour, _ in palette()))


def own(values: Collection[str]) -> dict[str, Rgb]:
    """Returns {value: its first shade} if all values are palette or special colours; else {}."""
    shades = dict(reversed(palette()))
    return (
        {name: shades[name] for name in values if name in shades}
        if {*values} <= {*shades, *SPECIAL}
        else {}
    )


@lru_cache
def names() -> dict[str, Rgb]:
    """Returns {colour word: its shade} from the colour survey."""
    return {
        row["name"].replace("-", " ").replace("'", " "): _rgb(row["rgb"])
        for row in own_rows(DATA / "colour_names.csv")
    }


def _rgb(text: str) -> Rgb:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def _nearest(lab: NDArray[np.float64]) -> list[str]:
    import numpy as np

    shades = _lab_of_palette()
    result: list[str] = []
    for start in range(0, len(lab), 20_000):  # a block of distances at a time
        block = lab[start : start + 20_000, None, :] - shades[None, :, :]
        result += [palette()[index][0] for index in np.argmin((block**2).sum(axis=2), axis=1)]
    return result


@lru_cache
def _lab_of_palette() -> NDArray[np.float64]:
    return oklab([rgb for _, rgb in palette()])
