"""fal's queue (`fal:OWNER/APP/…`): requests that are submitted and polled.

As documented at fal.ai/docs/api-reference/inference-api and
fal.ai/docs/documentation/model-apis/errors: `Authorization: Key`; POST queue.fal.run/MODEL gives
`status_url` and `response_url`; a poll says IN_QUEUE, IN_PROGRESS (with status 202) or COMPLETED,
and then the result is at the second address. If a filter blocks a picture, that is an error
`content_policy_violation` (422), or a picture marked in `has_nsfw_concepts`.

Models have different inputs. Size and seed are sent in the most usual form; parameters that a model
refuses are omitted and recorded. Its other inputs can follow a `?` (`enable_prompt_expansion=false`
if a model rewrites prompts).
"""

from __future__ import annotations

from urllib.parse import quote

from ...records import ERROR, REFUSAL, Json, Reply, Request
from ..http import HttpRequest
from ..http.body import at, list_at, message, needed, object_at, text_at, word_at
from ..http.fetching import Link
from ..http.provider import Provider
from ..http.queue import Next
from .drawing import pixels, prompt
from .queued import QueuedPictures, picture_link, queue_kind

_POLICY = "content_policy_violation"


class FalQueue(QueuedPictures):
    """fal's dialect; `build`, `submitted` and `look` are pure."""

    optional = ("image_size", "seed", "num_images")
    key_header = ("Authorization", "Key ")

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds the request for one picture, with its size in pixels."""
        width, height = pixels(request.size)
        wanted: dict[str, Json] = {
            "prompt": prompt(request),
            "image_size": {"width": width, "height": height},
            "seed": request.sampling.seed,
            "num_images": 1,
        }
        return self._post(f"/{quote(self._model)}", wanted, omitted)

    def submitted(self, body: Json) -> str:
        """Returns the receipt's `status_url`. Raises ValueError if it is missing."""
        return needed(body, "status_url")

    def look(self, request: Request, body: Json) -> Reply | Link | Next | None:
        """Returns the picture, an error, a refusal, or the result's address; None in progress."""
        result = object_at(body)
        if "images" in result or "image" in result:
            return self._read_drawing(request, result)
        if needed(body, "status") != "COMPLETED":
            return None
        if at(body, "error"):
            return Reply(message(body), REFUSAL if _POLICY in str(body) else ERROR)
        return Next(needed(body, "response_url"))

    def _read_drawing(self, request: Request, body: Json) -> Reply | Link:
        if any(list_at(body, "has_nsfw_concepts")):
            return Reply("the picture was held back (has_nsfw_concepts)", REFUSAL)
        url = text_at(body, "image", "url") or text_at(body, "images", 0, "url")
        if not url:
            return Reply("completed, and no picture came", ERROR)
        used = word_at(body, "prompt")
        return picture_link(request, used, url)

    def refused(self, request: Request, body: Json) -> Reply | None:
        """Returns a refusal if the error's message names a content policy, else None."""
        return Reply(message(body), REFUSAL) if _POLICY in message(body) else None


FAL = Provider("fal", "https://queue.fal.run", ("FAL_KEY",), "fal-ai/flux/dev")
KIND = queue_kind(FAL, "fal:OWNER/APP, fal's queue: pictures", FalQueue)
