"""Anthropic's messages format (`anthropic:MODEL`), as documented at
platform.claude.com/docs/en/api/messages.

What differs from the others: system messages go to a field of their own; temperature is at most 1;
there is no seed and there are no log-probabilities; `max_tokens` is required. Models since Claude
4.1 refuse temperature and top_p together: then top_p is left out, which at 1 changes nothing.
Models since Claude Opus 4.7 refuse both, and a begun answer is
refused since 4.6: each is left out and recorded. Thinking is not asked for.

A refusal is a stop reason of a reply with status 200; output that is blocked by a filter is an
error 400.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ...errors import Incapable, UsageError
from ...records import ANSWER, REFUSAL, Message, Reply, Request
from ..http import NO_LOGPROBS, HttpModel, HttpRequest, believed
from ..http.connection import message
from ..http.pictures import prepared
from ..http.provider import Provider
from ..http.text import whole
from ..kinds import DEFAULTS, TEXT, ModelKind, ModelOptions, ReadBlob

VERSION = "2023-06-01"
_OPTIONAL = ("temperature", "top_p")
_BLOCKED = "content filtering policy"


class AnthropicMessages:
    """The dialect: `build` and `parse` are pure."""

    def __init__(self, model: str, key: str, read: ReadBlob | None = None) -> None:
        self._model, self._read = model, read
        self._headers = {"Content-Type": "application/json", "anthropic-version": VERSION}
        if key:
            self._headers["x-api-key"] = key

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        if request.logprobs:
            raise Incapable(f"anthropic:{self._model} {NO_LOGPROBS}")
        sampling = request.sampling
        if sampling.temperature is not None and sampling.temperature > 1:
            raise UsageError(
                f"anthropic:{self._model} takes temperatures from 0 to 1. Type: --temperature 1"
            )
        body: dict[str, Any] = {"model": self._model, "max_tokens": sampling.max_tokens}
        system = "\n\n".join(each.content for each in request.messages if each.role == "system")
        if system:
            body["system"] = system
        turns = [
            {"role": each.role, "content": self._content(each, request.longest)}
            for each in request.messages
            if each.role != "system"
        ]
        left_out = [] if sampling.seed is None else ["seed"]  # there is none
        for name, value in (("temperature", sampling.temperature), ("top_p", sampling.top_p)):
            if value is not None and name not in omitted:
                body[name] = value
            elif value is not None:
                left_out.append(name)
        if request.begin and "begin" not in omitted:
            # A begun answer may not end in a blank; the model puts the blank there itself.
            turns.append({"role": "assistant", "content": request.begin.rstrip()})
        elif request.begin:
            left_out.append("begin")
        if request.schema and "response_format" not in omitted:
            body["output_config"] = {
                "format": {"type": "json_schema", "schema": json.loads(request.schema)}
            }
        elif request.schema:
            left_out.append("response_format")
        return HttpRequest("/messages", self._headers, body | {"messages": turns}, tuple(left_out))

    def _content(self, message: Message, longest: int) -> str | list[dict[str, Any]]:
        """Text, or pictures and then the text, as the documentation advises."""
        if not message.pictures:
            return message.content
        shown = [prepared(name, self._read, longest) for name in message.pictures]
        blocks: list[dict[str, Any]] = [
            {
                "type": "image",
                "source": {"type": "base64", "media_type": each.media_type, "data": each.data},
            }
            for each in shown
        ]
        return [*blocks, {"type": "text", "text": message.content}]

    def parse(self, request: Request, body: Any) -> Reply:
        if not isinstance(body, dict) or not isinstance(body.get("content"), list):
            raise ValueError(
                "there is no 'content' in the reply, so this is not Anthropic's messages API"
            )
        text = whole(
            "".join(block["text"] for block in body["content"] if block.get("type") == "text")
        )
        outcome = REFUSAL if body.get("stop_reason") == "refusal" else ANSWER
        return Reply(
            text,
            outcome,
            served=str(body.get("model") or ""),
            usage=_usage(body.get("usage"), request),
        )

    def refused(self, request: Request, body: Any) -> Reply | None:
        return Reply(message(body), REFUSAL) if _BLOCKED in message(body) else None

    def unwelcome(self, body: Any) -> str:
        said = message(body)
        if "prefill" in said or "conversation must end with a user message" in said:
            return "begin"
        if "output_config" in said or "output_format" in said:
            return "response_format"
        named = [name for name in _OPTIONAL if re.search(rf"\b{name}\b", said)]
        return named[-1] if named else ""  # both named: top_p goes and temperature stays

    def status(self, status: int, body: Any) -> tuple[int, None]:
        """An empty account answers 400 here."""
        return (402 if "credit balance" in message(body) else status), None


def _usage(usage: Any, request: Request) -> tuple[int, int] | None:
    """Tokens in, with those read from and written to a cache, and out."""
    if not isinstance(usage, dict):
        return None
    parts = [
        usage.get(name)
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    ]
    return believed(
        sum(part for part in parts if isinstance(part, int)), usage.get("output_tokens"), request
    )


ANTHROPIC = Provider(
    "anthropic", "https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",), "claude-haiku-4-5"
)


def anthropic(model: str, options: ModelOptions = DEFAULTS) -> HttpModel:
    """`anthropic:MODEL`; the key comes from ANTHROPIC_API_KEY."""
    place = ANTHROPIC.place(model, options)
    made = place.model(options, AnthropicMessages(model, place.key, options.read))
    made.continues = "begin" not in options.omitted
    return made


KIND = ModelKind(
    "anthropic",
    "anthropic:MODEL, Anthropic's own API",
    anthropic,
    makes=(TEXT,),
    provider=ANTHROPIC,
    own_server=True,
    serves_asked=True,
)
