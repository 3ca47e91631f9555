"""Replicate's API (`replicate:OWNER/NAME`, or with `:VERSION`): predictions that are created and
polled.

As documented at replicate.com/docs/reference/http: a bearer token; POST
/v1/models/OWNER/NAME/predictions for official models and POST /v1/predictions with a `version` for
others; `urls.get` is polled; starting and processing, then succeeded, failed, canceled or aborted.
Outputs are addresses, valid for an hour. If a filter held a picture back, `error` says so in words
of the model's own. `Prefer: wait` is not used: an id that is known only when the work has ended
cannot be stored before. GET /v1/predictions lists predictions, the newest first, 100 per page, with
their inputs for an hour: by it a receipt that did not come is found.

Models have different inputs. Width, height, aspect ratio and seed are sent; parameters that a model
refuses are omitted and recorded. Its other inputs can follow a `?` (ideogram's models rewrite
prompts unless `magic_prompt_option=Off`).
"""

from __future__ import annotations

import re

from ...errors import UsageError
from ...records import ERROR, REFUSAL, Json, Reply, Request
from ..http import HttpRequest
from ..http.body import at, list_at, needed, object_at, word_at
from ..http.fetching import Link
from ..http.lost_receipts import Work
from ..http.provider import Provider
from .drawing import is_policy, pixels, prompt, ratio
from .queued import QueuedPictures, queue_kind

REPLICATE = Provider(
    "replicate",
    "https://api.replicate.com/v1",
    ("REPLICATE_API_TOKEN",),
    "black-forest-labs/flux-1.1-pro",
)
_NAME = re.compile(r"([\w.-]+)/([\w.-]+)(?::(\w+))?")


class ReplicatePredictions(QueuedPictures):
    """Replicate's dialect; `build`, `submitted` and `look` are pure."""

    optional = ("width", "height", "aspect_ratio", "seed")
    key_header = ("Authorization", "Bearer ")
    work_list = "/predictions"

    def __init__(self, name: str, key: str) -> None:
        super().__init__(name, key)
        match = _NAME.fullmatch(self._model)
        if match is None:
            raise UsageError(
                f"replicate:{name} does not name a model. Type for instance: --model "
                f"replicate:{REPLICATE.example}"
            )
        self._owner, self._name, self._version = match.groups()

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds the request for one prediction, by the named version or the model's latest."""
        width, height = pixels(request.size)
        wanted: dict[str, Json] = {
            "prompt": prompt(request),
            "width": width,
            "height": height,
            "aspect_ratio": ratio(request.size),
            "seed": request.sampling.seed,
        }
        named: dict[str, Json] = {"version": self._version} if self._version else {}
        path = "" if named else f"/models/{self._owner}/{self._name}"
        sent = self._post(f"{path}/predictions", wanted, omitted)
        return sent._replace(body={**named, "input": sent.body})

    def submitted(self, body: Json) -> str:
        """Returns the receipt's address under `urls.get`. Raises ValueError if it is missing."""
        return needed(body, "urls", "get")

    def listed(self, sent: HttpRequest, body: Json) -> tuple[list[Work], str]:
        """Parses a page of predictions; `is_same` if model, version and all inputs sent agree."""
        named = {"model": f"{self._owner}/{self._name}", "version": self._version}
        work = []
        for each in list_at(body, "results"):
            inputs = object_at(each, "input").items()
            is_same = inputs >= object_at(sent.body, "input").items() and all(
                not name or word_at(each, key) in (name, "") for key, name in named.items()
            )
            work.append(Work(word_at(each, "urls", "get"), word_at(each, "created_at"), is_same))
        return work, word_at(body, "next")

    def look(self, request: Request, body: Json) -> Reply | Link | None:
        """Returns a link to the first picture, a refusal or an error; None while in progress."""
        status = needed(body, "status")
        if status not in ("succeeded", "failed", "canceled", "aborted"):
            return None
        served = ":".join(filter(None, (word_at(body, "model"), word_at(body, "version"))))
        output = at(body, "output")
        first = at(output, 0) if isinstance(output, list) else output
        if status == "succeeded" and isinstance(first, str):
            return Link(Reply("", served=served), first)
        reason = word_at(body, "error")
        is_refused = is_policy(reason) or (not reason and "nsfw" in word_at(body, "logs").lower())
        text = reason or f"{status}, and no picture came"
        return Reply(text, REFUSAL if is_refused else ERROR, served=served)


KIND = queue_kind(
    REPLICATE, "replicate:OWNER/NAME[:VERSION], Replicate's API: pictures", ReplicatePredictions
)
