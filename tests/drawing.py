"""Pictures drawn for tests."""

import io
from typing import Any

from PIL import Image


def picture(
    kind: str = "PNG",
    size: tuple[int, int] = (64, 48),
    mode: str = "RGB",
    colour: Any = 0,
    **options: Any,
) -> bytes:
    """One file of one colour."""
    target = io.BytesIO()
    Image.new(mode, size, colour).save(target, kind, **options)
    return target.getvalue()


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def noise(size: tuple[int, int], kind: str = "PNG") -> bytes:
    """A picture that does not compress."""
    import random

    target = io.BytesIO()
    Image.frombytes("RGB", size, random.Random(1).randbytes(3 * size[0] * size[1])).save(
        target, kind
    )
    return target.getvalue()
