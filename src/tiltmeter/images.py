"""Pictures from models and files: checked before they are stored, reduced before they are shown.

Unusable pictures are reported, never repaired: a web page, a broken or animated file, one that
would not fit into memory when it is unpacked. Pillow is imported when the first picture comes.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from PIL.Image import Image

# 100 megapixels unpack to 400 MB; the largest picture that a model of the table draws has 16.8
# (4096 × 4096).
MOST_PIXELS = 100_000_000
MOST_BYTES = 64 * 2**20
_KINDS = {
    "PNG": ("image/png", ".png"),
    "JPEG": ("image/jpeg", ".jpg"),
    "WEBP": ("image/webp", ".webp"),
    "GIF": ("image/gif", ".gif"),
}
QUALITY = 92  # of a JPEG that is made smaller
# A file so many times as large as the JPEG made of it is a photo, which is never smaller as PNG.
PHOTO_BYTES = 3


class Picture(NamedTuple):
    """A picture file's facts: media type, suffix with its dot, width and height in pixels, Pillow's
    colour mode (RGB, CMYK, …).
    """

    media_type: str
    suffix: str
    width: int
    height: int
    mode: str


class Unusable(ValueError):
    """Raised for bytes that are not a usable picture; the message lacks a subject ("is empty")."""


# errors of Pillow for a file that is not a whole picture; the last two for broken GIFs
_BROKEN = (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error)


def suffix_of(content: bytes) -> str:
    """Returns the suffix of a picture with its dot, from its header alone. Raises Unusable."""
    with _open_picture(content) as image:
        return _KINDS[str(image.format)][1]


def check_picture(content: bytes) -> Picture:
    """Decodes a whole picture and returns its facts. Raises Unusable if it is damaged."""
    with _open_picture(content) as image:
        try:
            image.load()
        except _BROKEN as error:
            raise Unusable(f"breaks off or is damaged ({error})") from None
        media_type, suffix = _KINDS[str(image.format)]
        return Picture(media_type, suffix, image.width, image.height, image.mode)


def encode_for_judge(content: bytes, longest: int = 0) -> tuple[str, bytes]:
    """Encodes a picture for a judge as (media type, bytes): the longer side at most `longest`
    pixels (0: any), in RGB on white, as JPEG or PNG, whichever is smaller.

    A picture that already meets this is not encoded again. Raises Unusable.
    """
    with _open_picture(content) as image:
        media_type = _KINDS[str(image.format)][0]
        if (
            media_type != "image/gif"
            and image.mode in ("RGB", "L")
            and not (longest and max(image.size) > longest)
        ):
            return media_type, content
        plain = _shrink(image, longest)
    jpeg = _encode(plain, "JPEG")
    if media_type == "image/jpeg" or len(content) > PHOTO_BYTES * len(jpeg):
        return "image/jpeg", jpeg
    png = _encode(plain, "PNG")
    return ("image/png", png) if len(png) <= len(jpeg) else ("image/jpeg", jpeg)


def thumbnail(content: bytes, longest: int) -> tuple[str, bytes]:
    """Encodes a small JPEG for a page as (media type, bytes). Raises Unusable."""
    with _open_picture(content) as image:
        return "image/jpeg", _encode(_shrink(image, longest), "JPEG")


def _open_picture(content: bytes) -> Image:
    """Opens a picture without unpacking it; raises Unusable if its header rules it out."""
    import PIL
    from PIL import Image as pillow

    if not content:
        raise Unusable("is empty")
    if content.lstrip()[:1] in (b"<", b"{"):
        raise Unusable("is a web page or JSON, not a picture")
    try:
        image: Any = _open(pillow, content)
        frames = getattr(image, "n_frames", 1)
    except PIL.UnidentifiedImageError:
        raise Unusable("is not a PNG, JPEG, WebP or GIF") from None
    except Unusable:
        raise
    except _BROKEN as error:
        raise Unusable(f"breaks off or is damaged ({error})") from None
    if image.width * image.height > MOST_PIXELS:
        raise Unusable(
            f"has {image.width} × {image.height} pixels; at most {MOST_PIXELS // 10**6} million "
            "are unpacked"
        )
    if frames > 1:
        raise Unusable(f"is animated ({frames} frames)")
    opened: Image = image
    return opened


def _open(pillow: Any, content: bytes) -> Any:
    """Opens a picture without Pillow's own pixel limit, which only warns."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pillow.DecompressionBombWarning)
        try:
            return pillow.open(io.BytesIO(content), formats=tuple(_KINDS))
        except pillow.DecompressionBombError:
            raise Unusable(
                f"has too many pixels; at most {MOST_PIXELS // 10**6} million are unpacked"
            ) from None


def _shrink(image: Image, longest: int) -> Image:
    """Reduces a picture to `longest` pixels (0: any), RGB on white. Raises Unusable."""
    try:
        if longest:
            image.draft(None, (longest, longest))  # a JPEG is unpacked no larger than it is needed
        plain = _on_white(image)
        if longest and max(plain.size) > longest:
            plain.thumbnail((longest, longest))
    except _BROKEN as error:
        raise Unusable(f"breaks off or is damaged ({error})") from None
    return plain


def _encode(image: Image, kind: str) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **({"quality": QUALITY} if kind == "JPEG" else {}))
    return target.getvalue()


def _on_white(image: Image) -> Image:
    """Converts to RGB, with white behind transparent pixels."""
    from PIL import Image as pillow

    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        above = image.convert("RGBA")
        return pillow.alpha_composite(pillow.new("RGBA", above.size, "white"), above).convert("RGB")
    return image.convert("RGB")
