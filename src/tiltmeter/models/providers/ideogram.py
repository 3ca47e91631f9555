"""Ideogram's API (`ideogram:ideogram-4-5`): generations that are submitted and polled.

As documented at developer.ideogram.ai/ideogram-api/quickstart and
developer.ideogram.ai/api-reference: an `Api-Key` header; POST /v2/image/generate/MODEL with `async`
gives a `generation_id`; GET /v2/generations/ID says pending, completed or failed. A picture that a
filter held back comes with `is_image_safe` false and no address; a prompt that is held back gives
422. Ten pictures at once. By default `magic_prompt` lets a model rewrite the prompt; it is switched
off, or recorded if that is impossible.
"""

from __future__ import annotations

from urllib.parse import quote

from ...records import ERROR, REFUSAL, Json, Reply, Request
from ..http import HttpRequest
from ..http.body import at, message, needed, text_at, word_at
from ..http.fetching import Link
from ..http.provider import Provider
from .drawing import is_policy, prompt
from .queued import QueuedPictures, picture_link, queue_kind

MOST_TASKS = 10


class IdeogramGenerations(QueuedPictures):
    """Ideogram's dialect; `build`, `submitted` and `look` are pure."""

    optional = ("magic_prompt", "seed", "num_images")
    key_header = ("Api-Key", "")

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds the request for one picture, asynchronous and with magic_prompt off."""
        wanted: dict[str, Json] = {
            "prompt": prompt(request),
            "size": request.size,
            "seed": request.sampling.seed,
            "num_images": 1,
            "magic_prompt": "off",
        }
        path = f"/image/generate/{quote(self._model, safe='')}"
        return self._post(path, wanted, omitted, **{"async": True})

    def submitted(self, body: Json) -> str:
        """Returns the generation's path below the base URL. Raises ValueError without an id."""
        return f"/generations/{needed(body, 'generation_id')}"

    def look(self, request: Request, body: Json) -> Reply | Link | None:
        """Returns a link to the picture, a refusal or an error; None until it is generated."""
        status = (word_at(body, "status") or "completed").lower()
        if status == "failed":
            reason = message(body) or "failed"
            return Reply(reason, REFUSAL if is_policy(reason) else ERROR)
        if status != "completed":
            return None
        picture, url = at(body, "data", 0), text_at(body, "data", 0, "url")
        if at(picture, "is_image_safe") is False:
            return Reply("the picture was held back (is_image_safe: false)", REFUSAL)
        if not url:
            return Reply("completed, and no picture came", ERROR)
        used = word_at(picture, "prompt")
        return picture_link(request, used, url)

    def refused(self, request: Request, body: Json) -> Reply | None:
        """Returns a refusal if the error's message mentions safety, else None."""
        text = message(body)
        return Reply(text, REFUSAL) if "safety" in text.lower() else None


IDEOGRAM = Provider("ideogram", "https://api.ideogram.ai/v2", ("IDEOGRAM_API_KEY",), "ideogram-4-5")
KIND = queue_kind(
    IDEOGRAM, "ideogram:MODEL, Ideogram's API: pictures", IdeogramGenerations, most=MOST_TASKS
)
