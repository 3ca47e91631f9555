"""Chat of the planted server: parses requests and writes replies in OpenAI's format."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...models.http.body import at, count_at, list_at, needed
from ...records import CUT, Json, Reply, Request, Sampling, Token
from .pictures import Shelf

_LIMITS = ("max_completion_tokens", "max_tokens")


def chat_request(shelf: Shelf, body: Json) -> Request:
    """Parses a request; if its last message is the assistant's, that is the start of the answer."""
    messages = [
        shelf.message(needed(each, "role"), at(each, "content"))
        for each in list_at(body, "messages")
    ]
    begin = messages.pop().content if messages and messages[-1].role == "assistant" else ""
    if not messages:
        raise ValueError("'messages' is empty")
    limits = (count_at(body, name) for name in _LIMITS)
    limit = next((limit for limit in limits if limit is not None), 256)
    sampling = Sampling(
        _number(body, "temperature"), _number(body, "top_p"), limit, count_at(body, "seed")
    )
    logprobs = (count_at(body, "top_logprobs") or 1) if at(body, "logprobs") else 0
    marks = at(body, "stop")
    stop = tuple(str(mark) for mark in marks) if isinstance(marks, list) else ()
    return Request("planted", tuple(messages), sampling, begin, logprobs, _schema(body), stop=stop)


def _schema(body: Json) -> str:
    """Returns the JSON Schema in a request's `response_format` as text, or ""."""
    wanted = at(body, "response_format")
    if at(wanted, "type") != "json_schema":
        return ""
    return json.dumps(at(wanted, "json_schema", "schema"))


def _number(body: Json, name: str) -> float | None:
    number = at(body, name)
    return float(number) if isinstance(number, (int, float)) else None


def completion(reply: Reply, *, lie: bool = False) -> dict[str, Json]:
    """Returns a chat completion in OpenAI's format. lie: True to report an impossible usage."""
    choice: dict[str, Json] = {
        "index": 0,
        "message": {"role": "assistant", "content": reply.text},
        "finish_reason": "length" if reply.ended == CUT else "stop",
    }
    if reply.alternatives:
        choice["logprobs"] = {
            "content": [_place(reply.text, place) for place in reply.alternatives]
        }
    prompt, completion = (10**9, -5) if lie else reply.usage or (1, 1)
    return {
        "id": "chatcmpl-planted",
        "object": "chat.completion",
        "created": 0,
        "model": reply.served,
        "system_fingerprint": reply.fingerprint,
        "choices": [choice],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        },
    }


def _place(text: str, place: Sequence[Token]) -> dict[str, Json]:
    ranked: list[dict[str, Json]] = [
        {
            "token": token.bytes.decode("utf-8", "replace"),
            "bytes": list(token.bytes),
            "logprob": token.logprob,
        }
        for token in place
    ]
    own_token = next(
        (entry for entry in ranked if entry["token"] == text),
        {"token": text, "bytes": None, "logprob": -9999.0},
    )
    return {**own_token, "top_logprobs": ranked}
