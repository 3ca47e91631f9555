"""Google's generateContent format (`gemini:MODEL`), as documented at
ai.google.dev/api/generate-content.

Differences from other providers: the model is part of the path; an assistant is a `model`; a wrong
key gives 400; quotas per minute and per day both give 429 with the same words and differ only in
the name of the violated quota. The start of an answer is not documented, so it is omitted and
recorded. Safety settings are the provider's defaults, which users of the API get.

Thinking counts towards `max_tokens`. If the table of models says that it can be switched off, it
is, as the audits' papers have none; else the least is asked for, with a reserve.
"""

from __future__ import annotations

import json
import re
from functools import partial
from urllib.parse import quote

from ...records import (
    ANSWER,
    ERROR,
    FILTER,
    REFUSAL,
    UNKNOWN,
    Json,
    Message,
    Reply,
    Request,
    Token,
)
from ..batch.gemini import GeminiBatches
from ..endings import ended_by
from ..http import HttpModel, HttpRequest, usage_if_possible
from ..http.body import at, count_at, list_at, message, needed, object_at, text_at, word_at
from ..http.dialect import json_headers, part
from ..http.pictures import prepare_picture
from ..http.provider import Provider
from ..kinds import ModelKind
from ..options import DEFAULTS, ModelOptions, ReadBlob
from ..reasoning import GEMINI_BUDGETS, NONE
from .gemini_images import GeminiPictures

# Reasons to stop (and to block a prompt) that are a policy's doing, and those after which the text
# is none.
_POLICY = {
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
}
_BROKEN = {
    *("OTHER", "LANGUAGE", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE"),
    *("UNEXPECTED_TOOL_CALL", "NO_IMAGE", "IMAGE_OTHER"),
}
_NAMES = {"topP": "top_p"}
_SIGNS = {  # what an error says → what is left out
    "thinking": "thinking",
    "top_k": "top_k",
    "topk": "top_k",
    "top_p": "top_p",
    "topp": "top_p",
    "temperature": "temperature",
    "seed": "seed",
    "response_json_schema": "response_format",
    "responsejsonschema": "response_format",
    "json mode": "response_format",
    "response_mime_type": "response_format",
}
MOST_ALTERNATIVES = 20


class GeminiContent:
    """Gemini's dialect; `build` and `parse` are pure. effort: of thinking, sent to Gemini 3 as a
    level, to earlier models as a budget of tokens.
    """

    def __init__(
        self, model: str, key: str, *, effort: str = "", read: ReadBlob | None = None
    ) -> None:
        self.path = f"/models/{quote(model, safe='')}:generateContent"
        self._thinking, self._read = thinking_config(model, effort), read
        self.reserve = 0
        self.headers = json_headers("x-goog-api-key", key)

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds the request for text; a given start of the answer is omitted and noted."""
        config, left_out = self._config(request, omitted)
        if request.begin:
            left_out.append("begin")
        turns: list[Json] = [
            {
                "role": "model" if each.role == "assistant" else "user",
                "parts": self._parts(each, request.longest),
            }
            for each in request.messages
            if each.role != "system"
        ]
        body: dict[str, Json] = {"contents": turns, "generationConfig": config}
        system: list[Json] = [
            {"text": each.content} for each in request.messages if each.role == "system"
        ]
        if system:
            body["systemInstruction"] = {"parts": system}
        return HttpRequest(self.path, self.headers, body, tuple(left_out))

    def _config(
        self, request: Request, omitted: frozenset[str]
    ) -> tuple[dict[str, Json], list[str]]:
        """Returns the settings of sampling and of the reply's form, and the omitted ones' names."""
        sampling = request.sampling
        wanted: dict[str, Json] = {
            "temperature": sampling.temperature,
            "topP": sampling.top_p,
            "seed": sampling.seed,
        }
        config, left_out = part(wanted, omitted, _NAMES)
        config["maxOutputTokens"] = sampling.max_tokens + (0 if request.logprobs else self.reserve)
        if request.stop and "stop" not in omitted:
            config["stopSequences"] = list(request.stop)
        if request.logprobs:
            config |= {
                "responseLogprobs": True,
                "logprobs": min(request.logprobs, MOST_ALTERNATIVES),
            }
        if request.schema and "response_format" not in omitted:
            config |= {
                "responseMimeType": "application/json",
                "responseJsonSchema": json.loads(request.schema),
            }
        elif request.schema:
            left_out.append("response_format")
        if self._thinking and "thinking" not in omitted:
            config["thinkingConfig"] = self._thinking
        elif self._thinking:
            left_out.append("thinking")
        return config, left_out

    def _parts(self, message: Message, longest: int) -> list[Json]:
        pictures = [prepare_picture(name, self._read, longest) for name in message.pictures]
        blocks: list[Json] = [
            {"inlineData": {"mimeType": each.media_type, "data": each.data}} for each in pictures
        ]
        return [*blocks, {"text": message.content}]

    def parse(self, request: Request, body: Json) -> Reply:
        """Parses a text (thoughts left out), refusal or error. ValueError for any other body."""
        if not isinstance(body, dict) or not ("candidates" in body or "promptFeedback" in body):
            raise ValueError("there are no 'candidates' in the reply, so this is not Gemini's API")
        served, usage = word_at(body, "modelVersion"), _usage(body, request, self.reserve)
        if not list_at(body, "candidates"):
            blocked = at(body, "promptFeedback", "blockReason")
            ended = FILTER if blocked else UNKNOWN
            outcome = REFUSAL if blocked else ERROR
            return Reply("", outcome, served=served, usage=usage, ended=ended)
        candidate = at(body, "candidates", 0)
        parts = list_at(candidate, "content", "parts")
        text = "".join(text_at(part, "text") for part in parts if not at(part, "thought"))
        reason = text_at(candidate, "finishReason")
        outcome = REFUSAL if reason in _POLICY else ERROR if reason in _BROKEN else ANSWER
        return Reply(
            text,
            outcome,
            alternatives=_alternatives(candidate) if request.logprobs else (),
            served=served,
            usage=usage,
            ended=ended_by(reason),
            thought=count_at(body, "usageMetadata", "thoughtsTokenCount"),
        )

    def refused(self, request: Request, body: Json) -> Reply | None:
        """Returns None: Gemini's refusals come with status 200, and `parse` finds them."""
        return None  # a refusal by policy comes with status 200 here

    def unwelcome(self, body: Json) -> str:
        """Returns the parameter that the error names; "" if none, or for API keys and logprobs."""
        text = message(body).lower()
        if "api key" in text or "logprob" in text:
            return ""
        return next((name for sign, name in _SIGNS.items() if re.search(rf"\b{sign}", text)), "")

    def status(self, status: int, body: Json) -> tuple[int, float | None]:
        """Translates 400 for a wrong key to 401, 429 for a day's quota to 402; else unchanged."""
        details = list_at(body, "error", "details")
        if "API key" in message(body) or any(
            at(each, "reason") == "API_KEY_INVALID" for each in details
        ):
            return 401, None
        quotas = [
            word_at(violation, "quotaId")
            for each in details
            for violation in list_at(each, "violations")
        ]
        if status == 429 and any("PerDay" in quota for quota in quotas):
            return 402, None
        waits = [_seconds(text_at(each, "retryDelay")) for each in details]
        return status, next((wait for wait in waits if wait is not None), None)


def thinking_config(model: str, effort: str) -> dict[str, Json]:
    """Returns the setting for thinking: a budget or a level, as both together are an error."""
    if not effort:
        return {}
    if effort == NONE:
        return {"thinkingBudget": 0}
    if model.startswith("gemini-2"):
        return {"thinkingBudget": GEMINI_BUDGETS.get(effort, GEMINI_BUDGETS["high"])}
    return {"thinkingLevel": effort}


def _seconds(delay: str) -> float | None:
    """Parses a google.protobuf.Duration ("26s", "1.5s") as seconds; None for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)s", delay)
    return float(match[1]) if match else None


def _alternatives(candidate: Json) -> tuple[tuple[Token, ...], ...]:
    """Parses each position's tokens, given as text; bytes are unknown for a token with U+FFFD."""
    places = list_at(candidate, "logprobsResult", "topCandidates")
    return tuple(tuple(map(_token, list_at(place, "candidates"))) for place in places)


def _token(entry: Json) -> Token:
    written = word_at(entry, "token").encode("utf-8", "replace")
    return Token(written, float(needed(entry, "logProbability")))


def _usage(body: Json, request: Request, reserve: int) -> tuple[int, int] | None:
    """Returns (input tokens, output tokens with thinking, which is charged for), or None."""
    usage = object_at(body, "usageMetadata")
    out = (count_at(usage, name) or 0 for name in ("candidatesTokenCount", "thoughtsTokenCount"))
    return usage_if_possible(count_at(usage, "promptTokenCount"), sum(out), request, reserve)


GEMINI = Provider(
    "gemini",
    "https://generativelanguage.googleapis.com/v1beta",
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "gemini-3.1-flash-lite",
)


def gemini(model: str, options: ModelOptions = DEFAULTS) -> HttpModel:
    """Makes the model `gemini:MODEL`; the key comes from GEMINI_API_KEY, or from GOOGLE_API_KEY."""
    place = GEMINI.place(model, options)
    writing = GeminiContent(model, place.key, effort=options.effort or "", read=options.read)
    connected = place.model(
        options,
        None if options.modality == "image" else writing,
        None if options.modality == "text" else GeminiPictures(writing),
    )
    connected.batches = GeminiBatches()
    return connected


KIND = ModelKind(
    "gemini",
    "gemini:MODEL, Google's own API: text and pictures",
    gemini,
    provider=GEMINI,
    batches=True,
    own_server=True,
    serves_asked=True,
    dialect=partial(GeminiContent, key=""),
)
