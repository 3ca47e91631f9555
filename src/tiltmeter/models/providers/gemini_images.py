"""Pictures by Gemini's models (`gemini:gemini-3.1-flash-image`): generateContent with the response
modality IMAGE.

As documented at ai.google.dev/gemini-api/docs/image-generation. The size is sent as an aspect
ratio, with 2K and 4K if the longer side is beyond 1536 pixels; 1K is the provider's default.
Intermediate pictures of a model (`thought`) are not its answer. A reply with text and no picture
has the outcome `error`; the text is stored, also beside a picture.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from ...records import ERROR, REFUSAL, Json, Reply, Request
from ..http import HttpRequest, Translating
from ..http.body import at, list_at, message, needed, object_at, word_at
from ..http.dialect import part
from ..http.fetching import Link
from .drawing import pixels, prompt, ratio

_SIZE_SIGNS = ("image_config", "aspect_ratio", "image_size", "imageconfig")
_LARGER = ((1536, ""), (3072, "2K"))
_NAMES = {"topP": "top_p", "imageConfig": "size"}


class Writing(Translating, Protocol):
    """The dialect of the same provider for text (gemini.py)."""

    path: str
    headers: dict[str, str]

    def parse(self, request: Request, body: Json) -> Reply:
        """Parses the text in the body of a 200. Raises ValueError if the body is not a reply."""


class GeminiPictures:
    """Gemini's dialect for pictures; `build` and `parse` are pure. Errors: parsed as for text."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self.refused, self.status = writing.refused, writing.status

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds the request for one picture, with its ratio, and 2K or 4K if it is large."""
        sampling, longest = request.sampling, max(pixels(request.size))
        larger = next((name for most, name in _LARGER if longest <= most), "4K")
        wanted: dict[str, Json] = {
            "temperature": sampling.temperature,
            "topP": sampling.top_p,
            "seed": sampling.seed,
            "imageConfig": {
                "aspectRatio": ratio(request.size),
                **({"imageSize": larger} if larger else {}),
            },
        }
        config, left_out = part(wanted, omitted, _NAMES)
        body: dict[str, Json] = {
            "contents": [{"role": "user", "parts": [{"text": prompt(request)}]}],
            "generationConfig": config | {"responseModalities": ["IMAGE"]},
        }
        return HttpRequest(self._writing.path, self._writing.headers, body, tuple(left_out))

    def parse(self, request: Request, body: Json) -> Reply | Link:
        """Returns the last picture as a data URL, a refusal, or an error if there is no picture."""
        reply = self._writing.parse(request, body)
        candidate = at(body, "candidates", 0)
        pictures = [
            object_at(part, "inlineData")
            for part in list_at(candidate, "content", "parts")
            if at(part, "inlineData") and not at(part, "thought")
        ]
        if reply.outcome == REFUSAL:
            return reply
        if pictures:
            return Link(
                replace(reply, outcome="answer"),
                f"data:{word_at(pictures[-1], 'mimeType')};base64,{needed(pictures[-1], 'data')}",
            )
        reason = word_at(candidate, "finishReason")
        return replace(
            reply, outcome=ERROR, text=f"no picture came ({reason}). {reply.text}".strip()
        )

    def unwelcome(self, body: Json) -> str:
        """Returns "size" if the error names the picture's size or ratio; else as for text."""
        text = message(body).lower()
        is_size = any(sign in text for sign in _SIZE_SIGNS)
        return "size" if is_size else self._writing.unwelcome(body)
