"""Pictures: what is none is said in words, what is one is known by its bytes, what is shown is bounded."""

from __future__ import annotations

import struct
import zlib

import pytest
from PIL import Image

from tiltmeter import images

from .drawing import noise, opened, picture


def bomb(width: int, height: int) -> bytes:
    """A PNG whose head promises more pixels than anyone should unpack; a few hundred bytes long."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 1000)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def animated(kind: str) -> bytes:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue", "green")]
    import io

    target = io.BytesIO()
    frames[0].save(target, kind, save_all=True, append_images=frames[1:])
    return target.getvalue()


@pytest.mark.parametrize(
    ("kind", "suffix", "media_type"),
    [
        ("PNG", ".png", "image/png"),
        ("JPEG", ".jpg", "image/jpeg"),
        ("WEBP", ".webp", "image/webp"),
        ("GIF", ".gif", "image/gif"),
    ],
)
def test_a_picture_is_known_by_its_bytes(kind: str, suffix: str, media_type: str) -> None:
    found = images.check_picture(picture(kind, (64, 48)))
    assert (found.media_type, found.suffix, found.width, found.height) == (
        media_type,
        suffix,
        64,
        48,
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b'{"error": "moderated"}', "JSON, not a picture"),
        (b"%PDF-1.7", "not a PNG, JPEG, WebP or GIF"),
        (picture("TIFF"), "not a PNG, JPEG, WebP or GIF"),
        (noise((64, 64))[:4000], "breaks off"),
        (noise((64, 64), "JPEG")[:1500], "breaks off"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 " + b"2" * 20, "breaks off|not a PNG"),
        (bomb(20_000, 20_000), "20000 × 20000 pixels; at most 100 million|too many pixels"),
        (animated("GIF"), r"animated \(3 frames\)"),
        (animated("PNG"), r"animated \(3 frames\)"),
        (animated("WEBP"), r"animated \(3 frames\)"),
    ],
)
def test_what_is_no_usable_picture_is_said(content: bytes, said: str) -> None:
    with pytest.raises(images.Unusable, match=said):
        images.check_picture(content)


def test_a_picture_within_the_bound_goes_as_it_is() -> None:
    content = picture("JPEG", (64, 48))
    assert images.encode_for_judge(content, 64) == ("image/jpeg", content)
    assert images.encode_for_judge(content) == ("image/jpeg", content)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_larger_picture_is_made_smaller_in_its_proportions(kind: str) -> None:
    media_type, content = images.encode_for_judge(picture(kind, (400, 300)), 100)
    image = opened(content)
    assert image.size == (100, 75) and Image.MIME[str(image.format)] == media_type


def test_cmyk_and_transparency_are_shown_in_rgb_on_white() -> None:
    media_type, content = images.encode_for_judge(
        picture("JPEG", mode="CMYK", colour=(0, 255, 255, 0))
    )
    red = opened(content).getpixel((5, 5))
    assert (
        media_type == "image/jpeg"
        and isinstance(red, tuple)
        and red[0] > 200
        and red[1] < 60
        and red[2] < 60
    )
    _, content = images.encode_for_judge(picture("PNG", mode="RGBA", colour=(0, 0, 0, 0)))
    assert opened(content).getpixel((5, 5)) == (255, 255, 255)
    assert images.check_picture(picture("JPEG", mode="CMYK")).mode == "CMYK"


def test_a_thumbnail_is_a_small_jpeg() -> None:
    media_type, content = images.thumbnail(picture("PNG", (1000, 500)), 96)
    assert media_type == "image/jpeg" and opened(content).size == (96, 48) and len(content) < 2000


_GIF = b"GIF87a\x0c\x00\t\x00\x81\x00\x00\x00\x80\x80" + bytes(9)


@pytest.mark.parametrize(
    "content",
    [
        _GIF + b"\0" + 3 * b",\0\0\0\0\x0c\0\t\0\0\0\0" + b",\0\0\0\0\x0c\0\xb4\xce_\0\0,\0",
        _GIF[:-1] + b"\0" + 12 * b",\0\0\0\0\0\0" + b",\0",
    ],
)
def test_a_gif_whose_frames_break_off_is_unusable(content: bytes) -> None:
    """Found by fuzzing: Pillow raises struct.error and IndexError of these."""
    with pytest.raises(images.Unusable):
        images.check_picture(content)
