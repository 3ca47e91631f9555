"""OpenAI's responses format (POST /v1/responses), for models that are available only there.

Differences from the chat format: the limit is `max_output_tokens`, at least 16, and counts
reasoning too; effort is in `reasoning`, a schema in `text`; there is no seed, no `stop` and no
start of the answer. A reply is a list of items, some of them reasoning; `status` and
`incomplete_details` say why it ended. Names follow the types of the openai package 3.54; the
minimum of 16 is from memory and was not looked up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ...records import ANSWER, ERROR, FILTER, REFUSAL, Json, Message, Reply, Request, Token
from ..endings import ended_by, thought_tokens
from ..http import HttpRequest, usage_if_possible
from ..http.body import at, count_at, list_at, needed, text_at, word_at
from ..http.dialect import part
from ..http.pictures import prepare_picture
from ..options import ReadBlob

PATH = "/responses"
LEAST_TOKENS = 16
MOST_ALTERNATIVES = 20
_WITHOUT = ("seed", "stop", "begin")  # what a request may ask for and the format has no name for
# What an error calls a parameter → its name among those that can be left out.
NAMES = {"reasoning.effort": "reasoning_effort", "text.format": "response_format"}


def is_response(body: Json) -> bool:
    """True if a body is a reply in this format."""
    return text_at(body, "object") == "response"


def build(
    request: Request,
    omitted: frozenset[str],
    *,
    model: str,
    headers: Mapping[str, str],
    read: ReadBlob | None = None,
    fields: Mapping[str, Json] | None = None,
    reserve: int = 0,
) -> HttpRequest:
    """Builds a POST to /responses; notes the names of the parameters omitted. fields: the chat
    format's fields that set the model's reasoning.
    """
    sampling = request.sampling
    most = sampling.max_tokens + (0 if request.logprobs else reserve)
    wanted: dict[str, Json] = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        **(fields or {}),
    }
    if request.schema:
        schema: dict[str, Json] = {"name": "reply", "schema": json.loads(request.schema)}
        wanted["response_format"] = {"type": "json_schema", **schema}
    sent, left_out = part(wanted, omitted)
    asked = {"seed": sampling.seed, "stop": request.stop, "begin": request.begin}
    left_out += [name for name in _WITHOUT if asked[name] not in (None, "", ())]
    body: dict[str, Json] = {
        "model": model,
        "input": [_turn(message, request.longest, read) for message in request.messages],
        "max_output_tokens": max(LEAST_TOKENS, most),
        "store": False,
    }
    for name, value in sent.items():
        if name == "reasoning_effort":
            body["reasoning"] = {"effort": value}
        elif name == "response_format":
            body["text"] = {"format": value}
        else:
            body[name] = value
    if request.logprobs:
        body["include"] = ["message.output_text.logprobs"]
        body["top_logprobs"] = min(request.logprobs, MOST_ALTERNATIVES)
    return HttpRequest(PATH, headers, body, tuple(left_out))


def _turn(message: Message, longest: int, read: ReadBlob | None) -> Json:
    if not message.pictures:
        return {"role": message.role, "content": message.content}
    pictures = [prepare_picture(name, read, longest) for name in message.pictures]
    parts: list[Json] = [{"type": "input_text", "text": message.content}]
    parts += [{"type": "input_image", "image_url": each.url} for each in pictures]
    return {"role": message.role, "content": parts}


def parse(request: Request, body: Json, reserve: int = 0) -> Reply:
    """Parses all text parts, or a refusal. Raises ValueError if the response failed."""
    status = text_at(body, "status")
    if status in ("failed", "cancelled"):
        raise ValueError(word_at(body, "error", "message") or f"the response is {status}")
    items = list_at(body, "output")
    parts = [part for item in items for part in list_at(item, "content")]
    texts = [part for part in parts if at(part, "type") == "output_text"]
    text = "".join(needed(part, "text") for part in texts)
    refusal = "".join(text_at(part, "refusal") for part in parts)
    ended = ended_by(text_at(body, "incomplete_details", "reason") or status)
    outcome = ANSWER
    if refusal or ended in (FILTER, REFUSAL):
        text, outcome = refusal or text, REFUSAL
    elif any(at(item, "type") not in ("message", "reasoning") for item in items) and not text:
        outcome = ERROR  # a tool was called, which nobody offered
    # More tokens are drawn than an exact reading asks for, since the least limit is higher.
    places = [place for part in texts for place in list_at(part, "logprobs")]
    places = places[: request.sampling.max_tokens]
    usage = at(body, "usage")
    completion = count_at(usage, "output_tokens")
    summaries = "".join(
        text_at(part, "text")
        for item in items
        if at(item, "type") == "reasoning"
        for part in (*list_at(item, "summary"), *list_at(item, "content"))
    )
    counted = count_at(usage, "output_tokens_details", "reasoning_tokens")
    return Reply(
        text,
        outcome,
        alternatives=alternatives(places) if request.logprobs else (),
        served=word_at(body, "model"),
        usage=usage_if_possible(
            count_at(usage, "input_tokens"), completion, request, max(reserve, LEAST_TOKENS)
        ),
        ended=ended,
        thought=thought_tokens(text, summaries, completion, counted),
    )


def alternatives(places: Sequence[Json]) -> tuple[tuple[Token, ...], ...]:
    """Parses the alternatives at each position of a reply, in either format."""
    return tuple(
        tuple(Token(_bytes(entry), _logprob(entry)) for entry in list_at(place, "top_logprobs"))
        for place in places
    )


def _bytes(entry: Json) -> bytes:
    codes = [byte for byte in list_at(entry, "bytes") if isinstance(byte, int)]
    return bytes(codes) if codes else needed(entry, "token").encode("utf-8", "replace")


def _logprob(entry: Json) -> float:
    logprob = float(needed(entry, "logprob"))
    if not logprob <= 1e-3:  # NaN, or above what rounding explains
        raise ValueError(f"a log-probability is {logprob}, but must be at most 0")
    return logprob
