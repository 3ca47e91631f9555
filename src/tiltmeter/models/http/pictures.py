"""Encodes pictures as providers accept them: base64 with a media type."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Lock
from typing import NamedTuple, TypeVar

from ... import images
from ...errors import Incapable, ModelError
from ..options import ReadBlob

# The smallest of the documented limits: Anthropic 5 MB a picture in base64; OpenAI and Gemini 20 MB
# a request.
MOST_BASE64_CHARACTERS = 5 * 2**20
# While they are shown to the judges of a panel; a photo of 768 pixels has 0.15 MB in base64.
REMEMBERED_PICTURES = 32
# That are unpacked at once: one of 99 megapixels takes 300 MB.
_THREADS = ThreadPoolExecutor(2, thread_name_prefix="pictures")
_MAKING = tuple(Lock() for _ in range(64))
T = TypeVar("T")


class EncodedPicture(NamedTuple):
    """An encoded picture. media_type: image/png, image/jpeg or image/webp; data: base64."""

    media_type: str
    data: str

    @property
    def url(self) -> str:
        """The picture as a data: URL."""
        return f"data:{self.media_type};base64,{self.data}"


def prepare_picture(name: str, read: ReadBlob | None, longest: int) -> EncodedPicture:
    """Encodes a blob as a picture, scaled to at most `longest` pixels per side (0: any).

    Raises ModelError if providers would not accept the picture, Incapable if `read` is None.
    """
    if read is None:
        raise Incapable(
            "To show this model pictures, the folder of a run to read them from is needed."
        )
    with _MAKING[hash(name) % len(_MAKING)]:  # the judges of a panel ask for the same one at once
        return _prepare(name, read, longest)


@lru_cache(maxsize=REMEMBERED_PICTURES)
def _prepare(name: str, read: ReadBlob, longest: int) -> EncodedPicture:
    try:
        media_type, content = images.encode_for_judge(read(name), longest)
    except images.Unusable as problem:
        raise ModelError(
            f"The picture {name} {problem}. Replace it, and run the same command again."
        ) from None
    data = b64encode(content).decode()
    if len(data) > MOST_BASE64_CHARACTERS:
        raise ModelError(
            f"The picture {name} has {len(data) / 2**20:.1f} MiB in base64; providers take "
            f"{MOST_BASE64_CHARACTERS // 2**20}. Make it smaller, and run the same command again."
        )
    return EncodedPicture(media_type, data)


async def off_the_loop(build: Callable[[], T]) -> T:
    """Runs `build`, which encodes pictures, in a thread: reading and encoding a picture takes up to
    a quarter of a second, in which the event loop goes on with other calls.
    """
    return await asyncio.get_running_loop().run_in_executor(_THREADS, build)
