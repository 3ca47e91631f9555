"""OpenAI's images endpoint, `POST /images/generations`: for OpenAI, LocalAI, vLLM-Omni,
stable-diffusion.cpp's server, Together, ….

As documented at developers.openai.com/api/reference/resources/images/methods/generate (and, for
self-hosted servers, at localai.io/features/image-generation). It is the endpoint itself and not an
image tool behind a chat model, which would rewrite the prompt. OpenAI's own models refuse
`response_format` and do not know `seed`; parameters that are refused are omitted and recorded.
Quality is the provider's default unless the name sets it: `openai:gpt-image-2?quality=low`.

A server that needs `width` and `height` gets them as settings. LocalAI takes the text after a `|`
in a prompt as a negative prompt: what the picture must not show.
"""

from __future__ import annotations

from ...records import ERROR, REFUSAL, Json, Reply, Request
from ..http import HttpRequest, usage_if_possible
from ..http.body import at, count_at, message, word_at
from ..http.dialect import json_headers
from ..http.fetching import Link
from .drawing import is_policy, leave_out, parameter_named, prompt, split_settings

_OPTIONAL = ("response_format", "seed", "n")
_REFUSALS = ("content_policy_violation", "moderation_blocked", "content_filter")


class OpenAIImages:
    """The dialect for images; `build` and `parse` are pure. name: the model, `?` and settings."""

    def __init__(self, name: str, key: str) -> None:
        self._model, self._settings = split_settings(name)
        self._headers = json_headers("Authorization", key, "Bearer ")

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds a POST to /images/generations for one picture, as base64 unless refused."""
        wanted: dict[str, Json] = {
            "model": self._model,
            "prompt": prompt(request),
            "n": 1,
            "size": request.size,
            "response_format": "b64_json",
            "seed": request.sampling.seed,
        }
        body, left_out = leave_out(wanted, omitted, self._settings)
        return HttpRequest("/images/generations", self._headers, body, left_out)

    def parse(self, request: Request, body: Json) -> Reply | Link:
        """Returns a link to the picture, or an error. Raises ValueError for another form."""
        if not isinstance(body, dict) or not isinstance(body.get("data"), list):
            raise ValueError("there is no 'data' in the reply, so this is not an images API")
        used = usage_if_possible(
            count_at(body, "usage", "input_tokens"),
            count_at(body, "usage", "output_tokens"),
            request,
        )
        served = word_at(body, "model")
        if not body["data"]:
            return Reply("no picture came", ERROR, served=served, usage=used)
        picture = at(body, "data", 0)
        revised = word_at(picture, "revised_prompt")
        reply = Reply(
            "", served=served, usage=used, revised="" if revised == prompt(request) else revised
        )
        data = word_at(picture, "b64_json")
        if data:
            return Link(reply, data if data.startswith("data:") else f"data:;base64,{data}")
        if word_at(picture, "url"):
            return Link(reply, word_at(picture, "url"))
        raise ValueError("there is neither 'b64_json' nor 'url' in the reply")

    def refused(self, request: Request, body: Json) -> Reply | None:
        """Returns a refusal if the error's code, type or message names a policy, else None."""
        coded = {word_at(body, "error", "code"), word_at(body, "error", "type")}
        if coded & set(_REFUSALS) or (
            "image_generation_user_error" in coded and is_policy(message(body))
        ):
            return Reply(word_at(body, "error", "message"), REFUSAL)
        return None

    def unwelcome(self, body: Json) -> str:
        """Returns the optional parameter that the error names, or ""."""
        parameter = word_at(body, "error", "param")
        if parameter:
            return parameter if parameter in _OPTIONAL else ""
        text = message(body)
        return "response_format" if "response_format" in text else parameter_named(text, _OPTIONAL)
