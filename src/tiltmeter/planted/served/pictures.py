"""Pictures of the planted server: checks those received as a provider would, and sends its own in
OpenAI's format.

A picture in a chat request is decoded: invalid base64, a wrong media type, a truncated file or a
side of more than 8,000 pixels (the documented limit of Anthropic's and OpenAI's models) gets error
400.
"""

from __future__ import annotations

import base64
import binascii
from collections import OrderedDict
from hashlib import sha256

from ... import images
from ...models.http.body import at, count_at, list_at, needed, text_at, word_at
from ...records import DRAWN, Json, Message, Reply, Request

MOST_SIDE_PIXELS = 8_000  # pixels
REMEMBERED_PICTURES = 256  # pictures that the server remembers while it answers


class Shelf:
    """A store of the latest requests' pictures, by name."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def see(self, name: str) -> bytes:
        """Returns the bytes of a received picture."""
        return self._kept[name]

    def take(self, url: str) -> str:
        """Stores the picture of a data URL; returns its name. Raises ValueError as providers do."""
        head, comma, data = url.partition(",")
        if not comma or not head.startswith("data:") or not head.endswith(";base64"):
            raise ValueError("Invalid image URL: only data URLs in base64 are taken here.")
        try:
            content = base64.b64decode(data, validate=True)
            picture = images.check_picture(content)
        except binascii.Error as error:
            raise ValueError(f"Invalid base64 image_url: {error}.") from None
        except images.Unusable as problem:
            raise ValueError(f"The image {problem}.") from None
        if head != f"data:{picture.media_type};base64":
            raise ValueError(
                f"The image is {picture.media_type} and was sent as {head.removeprefix('data:')}."
            )
        if max(picture.width, picture.height) > MOST_SIDE_PIXELS:
            raise ValueError(
                f"The image has {picture.width} × {picture.height} pixels; at most "
                f"{MOST_SIDE_PIXELS} a side."
            )
        name = sha256(content).hexdigest()
        self._kept[name] = content
        if len(self._kept) > REMEMBERED_PICTURES:
            self._kept.popitem(last=False)
        return name

    def message(self, role: str, content: Json) -> Message:
        """Converts a message of a chat request into a Message, and stores its pictures."""
        if isinstance(content, str):
            return Message(role, content)
        parts = list_at(content)
        shown = tuple(
            self.take(text_at(part, "image_url", "url"))
            for part in parts
            if at(part, "type") == "image_url"
        )
        return Message(role, "".join(text_at(part, "text") for part in parts), shown)


def picture_request(body: Json) -> Request:
    """Parses a request for a picture. Raises ValueError if this server cannot serve it."""
    if at(body, "n") not in (None, 1):
        raise ValueError("'n' is 1 here.")
    asked = (Message("user", needed(body, "prompt")),)
    sampling = DRAWN._replace(seed=count_at(body, "seed"))
    return Request("planted", asked, sampling, size=word_at(body, "size") or "1024x1024")


def generation(reply: Reply) -> dict[str, Json]:
    """Returns a reply of the images endpoint in OpenAI's format."""
    entry: dict[str, Json] = {"b64_json": base64.b64encode(reply.picture).decode()}
    if reply.revised:
        entry["revised_prompt"] = reply.revised
    return {"created": 0, "data": [entry]}
