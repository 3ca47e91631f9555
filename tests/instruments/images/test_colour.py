"""Words and pixels on the palette: numbers of OKLab from its author, words as people use them, rendered products."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pytest
from PIL import Image, ImageColor, ImageDraw, ImageFilter

from tiltmeter.instruments.images import colour

# Names of CSS, and what one would call them among the palette's colours. None of these shades was used to make the palette.
CSS = {
    "black": "black",
    "dimgray": "gray",
    "gray": "gray",
    "darkgray": "gray",
    "silver": "gray",
    "white": "white",
    "snow": "white",
    "whitesmoke": "white",
    "linen": "beige",
    "antiquewhite": "beige",
    "wheat": "beige",
    "tan": "beige",
    "saddlebrown": "brown",
    "sienna": "brown",
    "red": "red",
    "crimson": "red",
    "firebrick": "red",
    "darkred": "red",
    "orange": "orange",
    "darkorange": "orange",
    "yellow": "yellow",
    "gold": "yellow",
    "khaki": "yellow",
    "green": "green",
    "forestgreen": "green",
    "limegreen": "green",
    "seagreen": "green",
    "darkgreen": "green",
    "olivedrab": "green",
    "lightgreen": "green",
    "teal": "turquoise",
    "turquoise": "turquoise",
    "darkturquoise": "turquoise",
    "lightseagreen": "turquoise",
    "blue": "blue",
    "royalblue": "blue",
    "dodgerblue": "blue",
    "steelblue": "blue",
    "skyblue": "blue",
    "navy": "navy",
    "midnightblue": "navy",
    "purple": "purple",
    "indigo": "purple",
    "darkviolet": "purple",
    "mediumpurple": "purple",
    "hotpink": "pink",
    "deeppink": "pink",
    "pink": "pink",
    "lightpink": "pink",
}


@pytest.mark.parametrize(
    ("rgb", "lab"),
    # From XYZ in Ottosson's post: its white, and the primaries of sRGB as colour tools give them to three digits.
    [
        ((255, 255, 255), (1.0, 0.0, 0.0)),
        ((0, 0, 0), (0.0, 0.0, 0.0)),
        ((255, 0, 0), (0.628, 0.225, 0.126)),
        ((0, 255, 0), (0.866, -0.234, 0.179)),
        ((0, 0, 255), (0.452, -0.032, -0.312)),
        ((128, 128, 128), (0.600, 0.0, 0.0)),
    ],
)
def test_the_space(rgb: tuple[int, int, int], lab: tuple[float, float, float]) -> None:
    assert colour.oklab([rgb])[0] == pytest.approx(lab, abs=1.1e-3)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("navy_blue", "navy"),
        ("forest_green", "green"),
        ("burgundy", "red"),
        ("Charcoal Gray", "gray"),
        ("charcoal grey", "gray"),
        ("chocolate brown", "brown"),
        ("tan", "beige"),
        ("ivory", "beige"),
        ("off-white", "white"),
        ("pearl white", "white"),
        ("light blue", "blue"),
        ("dark_red", "red"),
        ("dark forest green", "green"),
        ("metallic rally blue", "blue"),
        ("hot pink", "pink"),
        ("teal", "turquoise"),
        ("olive green", "green"),
        ("matte black", "black"),
        ("silver", "gray"),
        ("gold", "yellow"),
        ("maroon", "red"),
        ("lavender", "purple"),
        ("beige color", "beige"),
        ("black and white", "multicolor"),
        ("red/blue", "multicolor"),
        ("rainbow", "multicolor"),
        ("multicolor", "multicolor"),
        ("multi-coloured", "multicolor"),
        ("transparent", "transparent"),
        ("clear", "transparent"),
        ("zorp", "other"),
        ("", "other"),
        ("no idea", "other"),
    ],
)
def test_words(word: str, value: str) -> None:
    assert colour.canonical(word) == value


def test_every_colour_of_the_palette_is_itself() -> None:
    assert len(colour.colours()) == 14
    for name in colour.colours():
        assert colour.canonical(name) == colour.canonical(name.upper()) == name
    assert {name for name, rgb in colour.palette() if colour.nearest([rgb]) != [name]} == set()


def test_every_word_that_is_known_has_a_colour() -> None:
    found = Counter(colour.canonical(name) for name in colour.names())
    assert len(colour.names()) > 900 and set(found) >= set(colour.colours()) and not found["other"]


def rendered(shade: tuple[int, int, int], seed: int) -> tuple[Image.Image, Image.Image]:
    """A product with light from above, a highlight, an edge in shade and grain, saved as JPEG; and where it is."""
    draw = np.random.default_rng(seed)
    size = 96
    mask = Image.new("L", (size, size), 0)
    pen, box = ImageDraw.Draw(mask), (18, 22, 78, 80)
    (pen.ellipse if seed % 2 else pen.rectangle)(box, fill=255)
    ground = (245, 245, 245) if seed % 3 else (150, 155, 160)
    light = np.linspace(1.12, 0.78, size)[:, None, None]
    body = np.clip(
        np.array(shade)[None, None, :] * light + draw.normal(0, 6, (size, size, 3)), 0, 255
    )
    image = Image.composite(
        Image.fromarray(body.astype(np.uint8)), Image.new("RGB", (size, size), ground), mask
    )
    ImageDraw.Draw(image).ellipse(
        (30, 28, 44, 36), fill=tuple(min(255, channel + 60) for channel in shade)
    )
    target = io.BytesIO()
    image.filter(ImageFilter.GaussianBlur(0.6)).save(target, "JPEG", quality=85)
    return Image.open(target).convert("RGB"), mask


def test_rendered_products() -> None:
    """98 products of 49 shades: the colour of their pixels is the one that they were drawn in."""
    confusion: Counter[tuple[str, str]] = Counter()
    for number, (name, true) in enumerate(CSS.items()):
        for seed in (2 * number, 2 * number + 1):
            image, mask = rendered(ImageColor.getrgb(name)[:3], seed)
            inside = np.asarray(image)[np.asarray(mask) > 0]
            confusion[true, colour.dominant(inside) or "none"] += 1
    rows = sorted({true for true, _ in confusion})
    for true in rows:
        print(f"{true:10}", {said: n for (of, said), n in confusion.items() if of == true})
    right = sum(n for (true, said), n in confusion.items() if true == said)
    print(f"{right} of {confusion.total()} right")
    assert confusion.total() == 98 and right >= 88


def test_no_colour_has_most_of_it() -> None:
    stripes = np.array([(255, 0, 0), (0, 0, 255), (0, 160, 0)] * 50)
    assert colour.dominant(stripes) == "multicolor" and colour.dominant(stripes[::3]) == "red"
    assert colour.dominant(stripes[:0]) is None
