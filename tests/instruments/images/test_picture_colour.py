"""The colour of most of a picture: planted shades in pictures made here, whole and in the middle."""

import io
from dataclasses import replace

import pytest
from PIL import Image

from tests.instruments.making import answered, drive, nobody
from tiltmeter.images import Unusable
from tiltmeter.instruments.images.colour import colours, palette
from tiltmeter.instruments.images.picture_colour import PictureColour, colour_of
from tiltmeter.planted.pictures import draw_picture
from tiltmeter.protocol import InstrumentSpec


def picture(ground: str, middle: str = "", mode: str = "RGB", size: int = 300) -> bytes:
    image = Image.new(mode, (size, size // 2), ground)
    if middle:
        image.paste(middle, (size // 4, size // 8, 3 * size // 4, 3 * size // 8))
    target = io.BytesIO()
    image.save(target, "PNG")
    return target.getvalue()


@pytest.mark.parametrize(("colour", "shade"), palette(), ids=str)
def test_every_shade_of_the_palette_is_its_colour(colour: str, shade: tuple[int, int, int]) -> None:
    assert colour_of(picture("#" + "".join(f"{part:02x}" for part in shade), size=40)) == colour


def test_the_middle_and_the_whole() -> None:
    both = picture("white", "red")
    assert (colour_of(both), colour_of(both, "centre")) == ("white", "red")
    assert colour_of(picture("white", "red"), "whole", least=0.8) == "multicolor"
    thirds = Image.new("RGB", (90, 30), "red")
    thirds.paste("blue", (30, 0, 60, 30))
    thirds.paste("yellow", (60, 0, 90, 30))
    target = io.BytesIO()
    thirds.save(target, "PNG")
    assert colour_of(target.getvalue()) == "multicolor"


def test_a_transparent_ground_is_white_and_what_is_no_picture_is_invalid() -> None:
    assert colour_of(picture("#00000000", mode="RGBA")) == "white"
    with pytest.raises(Unusable):
        colour_of(b"<html></html>")
    item = replace(answered("", prompt="A cup."), picture=b"<html></html>")
    labels, _ = drive(
        PictureColour(InstrumentSpec("colour", "colour", "colour")).steps(item), nobody
    )
    assert [label.value for label in labels] == ["invalid"]


@pytest.mark.parametrize("colour", colours())
def test_what_is_painted_is_read_in_the_middle(colour: str) -> None:
    """The planted figure stands in the middle."""
    assert (
        colour_of(
            draw_picture({"colour": colour}, 128, 128, "1", {"product_color": colour}), "centre"
        )
        == colour
    )
    assert (
        colour_of(draw_picture({"colour": colour}, 128, 128, "1", {"background_color": colour}))
        == colour
    )
