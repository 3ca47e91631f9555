"""Black Forest Labs' API (`bfl:flux-2-pro`): work is submitted and polled.

As documented at docs.bfl.ai/quick_start/generating_images and
docs.bfl.ai/api_integration/integration_guidelines: `x-key` in a header; POST /v1/MODEL gives `id`
and `polling_url`; a poll says Pending, Ready, Request Moderated, Content Moderated, Error or Task
not found, and other words while it works; `result.sample` is a signed address, valid for ten
minutes. At most 24 tasks at once. `prompt_upsampling` lets a model rewrite the prompt, by default
for some of these models; it is switched off, or recorded if that is impossible.
"""

from __future__ import annotations

from urllib.parse import quote

from ...records import ERROR, REFUSAL, Json, Reply, Request
from ..http import HttpRequest, status_by_message
from ..http.body import at, needed, text_at, word_at
from ..http.fetching import Link
from ..http.provider import Provider
from .drawing import pixels, prompt, ratio
from .queued import QueuedPictures, picture_link, queue_kind

MOST_TASKS = 24
_BY_RATIO = ("ultra", "kontext")  # models that take an aspect ratio in place of pixels
_REFUSED = ("Request Moderated", "Content Moderated")
_FAILED = ("Error", "Failed")
_UNKNOWN = "Task not found"


class BflTasks(QueuedPictures):
    """Black Forest Labs' dialect; `build`, `submitted` and `look` are pure."""

    optional = ("prompt_upsampling", "seed", "width", "height", "aspect_ratio")
    key_header = ("x-key", "")

    def __init__(self, name: str, key: str) -> None:
        super().__init__(name, key)
        self.headers["accept"] = "application/json"

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds a task's request, with the size in pixels or as a ratio, as the model needs."""
        width, height = pixels(request.size)
        size: dict[str, Json] = (
            {"aspect_ratio": ratio(request.size)}
            if any(each in self._model for each in _BY_RATIO)
            else {"width": width, "height": height}
        )
        wanted: dict[str, Json] = {
            "prompt": prompt(request),
            **size,
            "seed": request.sampling.seed,
            "prompt_upsampling": False,
        }
        return self._post(f"/{quote(self._model, safe='')}", wanted, omitted)

    def submitted(self, body: Json) -> str:
        """Returns the receipt's `polling_url`. Raises ValueError if it is missing."""
        return needed(body, "polling_url")

    def look(self, request: Request, body: Json) -> Reply | Link | None:
        """Returns a link to the picture, a refusal or an error; None until the task has ended."""
        status, sample = needed(body, "status"), word_at(body, "result", "sample")
        if status == "Ready" and sample:
            used = word_at(body, "result", "prompt")
            return picture_link(request, used, sample)
        if status in (*_REFUSED, *_FAILED, "Ready"):
            reason = ", ".join(filter(None, (status, word_at(body, "details"))))
            return Reply(reason, REFUSAL if status in _REFUSED else ERROR)
        return None

    def refused(self, request: Request, body: Json) -> Reply | None:
        """Returns a refusal if the body's status says that moderation blocked it, else None."""
        status = text_at(body, "status")
        return Reply(status, REFUSAL) if status in _REFUSED else None

    def status(self, status: int, body: Json) -> tuple[int, float | None]:
        """Translates the status of unknown work, which may be 200 here, to 404."""
        if at(body, "status") == _UNKNOWN:
            return 404, None
        return status_by_message(status, body)


BFL = Provider("bfl", "https://api.bfl.ai/v1", ("BFL_API_KEY",), "flux-2-pro")
KIND = queue_kind(BFL, "bfl:MODEL, Black Forest Labs' API: pictures", BflTasks, most=MOST_TASKS)
