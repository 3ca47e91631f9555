"""Anthropic's messages format (`anthropic:MODEL`), as documented at
platform.claude.com/docs/en/api/messages.

Differences from other providers: system messages go to a field of their own; temperature is at most
1; there is no seed and there are no log-probabilities; `max_tokens` is required. Models since
Claude 4.1 refuse temperature and top_p together: then top_p is omitted, which at 1 changes nothing.
Models since Claude Opus 4.7 refuse both, and models since 4.6 refuse the start of an answer: each
is omitted and recorded. Some models think by default, so the provider is asked before the first
request whether thinking can be switched off.

A refusal is a stop reason in a reply with status 200; output blocked by a filter is an error 400.
"""

from __future__ import annotations

import json
import re
from functools import partial
from urllib.parse import quote

from ...errors import Incapable, UsageError
from ...records import ANSWER, REFUSAL, Json, Message, Reply, Request
from ..batch.anthropic import AnthropicBatches
from ..endings import ended_by, thought_tokens
from ..http import NO_LOGPROBS, HttpModel, HttpRequest, usage_if_possible
from ..http.body import at, count_at, list_at, message, needed, text_at, word_at
from ..http.dialect import json_headers, part
from ..http.looking import look_up
from ..http.pictures import prepare_picture
from ..http.provider import Provider
from ..kinds import ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions, ReadBlob
from ..reasoning import EFFORTS, NONE, RESERVE_TOKENS

VERSION = "2023-06-01"
_OPTIONAL = ("temperature", "top_p")
_REASONING = ("thinking", "effort")
_PROMPT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_BLOCKED = "content filtering policy"


class AnthropicMessages:
    """Anthropic's dialect; `build` and `parse` are pure. effort: of thinking, "" by default."""

    def __init__(
        self, model: str, key: str, read: ReadBlob | None = None, effort: str = ""
    ) -> None:
        self._model, self._read = model, read
        self.effort, self.reserve = effort, 0
        self.headers = json_headers("x-api-key", key) | {"anthropic-version": VERSION}

    @property
    def switched_off(self) -> bool:
        """True if thinking is switched off."""
        return self.effort == NONE

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds the request. Raises Incapable for logprobs, UsageError if temperature > 1."""
        if request.logprobs:
            raise Incapable(f"anthropic:{self._model} {NO_LOGPROBS}")
        sampling = request.sampling
        if sampling.temperature is not None and sampling.temperature > 1:
            raise UsageError(
                f"anthropic:{self._model} takes temperatures from 0 to 1. Type: --temperature 1"
            )
        body: dict[str, Json] = {
            "model": self._model,
            "max_tokens": sampling.max_tokens + self.reserve,
        }
        system = "\n\n".join(each.content for each in request.messages if each.role == "system")
        if system:
            body["system"] = system
        turns: list[Json] = [
            {"role": each.role, "content": self._content(each, request.longest)}
            for each in request.messages
            if each.role != "system"
        ]
        wanted = {"temperature": sampling.temperature, "top_p": sampling.top_p}
        sent, left_out = part(wanted, omitted)
        body |= sent
        if sampling.seed is not None:  # there is none
            left_out.insert(0, "seed")
        if request.stop and "stop" not in omitted:
            body["stop_sequences"] = list(request.stop)
        form: dict[str, Json] = {}
        if self.effort == NONE and "thinking" not in omitted:
            body["thinking"] = {"type": "disabled"}
        elif self.effort not in ("", NONE) and "effort" not in omitted:
            form["effort"] = self.effort
        if self.effort:
            left_out += [name for name in _REASONING if name in omitted]
        if request.begin and "begin" not in omitted:
            # A begun answer may not end in a blank; the model puts the blank there itself.
            turns.append({"role": "assistant", "content": request.begin.rstrip()})
        elif request.begin:
            left_out.append("begin")
        if request.schema and "response_format" not in omitted:
            form["format"] = {"type": "json_schema", "schema": json.loads(request.schema)}
        elif request.schema:
            left_out.append("response_format")
        if form:
            body["output_config"] = form
        return HttpRequest("/messages", self.headers, body | {"messages": turns}, tuple(left_out))

    def _content(self, message: Message, longest: int) -> Json:
        """Returns a message's text; pictures come first, as the documentation advises."""
        if not message.pictures:
            return message.content
        pictures = [prepare_picture(name, self._read, longest) for name in message.pictures]
        blocks: list[Json] = [
            {
                "type": "image",
                "source": {"type": "base64", "media_type": each.media_type, "data": each.data},
            }
            for each in pictures
        ]
        return [*blocks, {"type": "text", "text": message.content}]

    def parse(self, request: Request, body: Json) -> Reply:
        """Parses the text of all text blocks, or a refusal. Raises ValueError without `content`."""
        if not isinstance(body, dict) or not isinstance(body.get("content"), list):
            raise ValueError(
                "there is no 'content' in the reply, so this is not Anthropic's messages API"
            )
        blocks = (block for block in list_at(body, "content") if at(block, "type") == "text")
        text = "".join(needed(block, "text") for block in blocks)
        ended = ended_by(text_at(body, "stop_reason"))
        category = text_at(body, "stop_details", "category")
        if ended == REFUSAL and category:
            text = f"{text} ({category})".strip()
        thoughts = (block for block in list_at(body, "content") if at(block, "type") == "thinking")
        thought = thought_tokens(
            text,
            "".join(text_at(block, "thinking") for block in thoughts),
            count_at(body, "usage", "output_tokens"),
            count_at(body, "usage", "output_tokens_details", "thinking_tokens"),
        )
        return Reply(
            text,
            REFUSAL if ended == REFUSAL else ANSWER,
            served=word_at(body, "model"),
            usage=_usage(body, request, self.reserve),
            ended=ended,
            thought=thought,
        )

    def refused(self, request: Request, body: Json) -> Reply | None:
        """Returns a refusal if the error says that a filter blocked the content, else None."""
        return Reply(message(body), REFUSAL) if _BLOCKED in message(body) else None

    def unwelcome(self, body: Json) -> str:
        """Returns the parameter to omit next (begin, response_format, top_p, …), or ""."""
        text = message(body)
        if "prefill" in text or "conversation must end with a user message" in text:
            return "begin"
        if re.search(r"\beffort\b", text):
            return "effort"
        if "output_config" in text or "output_format" in text:
            return "response_format"
        if re.search(r"\bthinking\b", text):
            return "thinking"
        if "stop_sequences" in text:
            return "stop"
        named = [name for name in _OPTIONAL if re.search(rf"\b{name}\b", text)]
        return named[-1] if named else ""  # both named: top_p goes and temperature stays

    def status(self, status: int, body: Json) -> tuple[int, None]:
        """Translates the status 400 for an account without credit to 402."""
        return (402 if "credit balance" in message(body) else status), None


def _usage(body: Json, request: Request, reserve: int) -> tuple[int, int] | None:
    """Returns (input tokens, including cache reads and writes; output tokens), or None."""
    prompt = sum(count_at(body, "usage", name) or 0 for name in _PROMPT_TOKENS)
    return usage_if_possible(prompt, count_at(body, "usage", "output_tokens"), request, reserve)


ANTHROPIC = Provider(
    "anthropic", "https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",), "claude-haiku-4-5"
)


async def _settle_reasoning(made: HttpModel, dialect: AnthropicMessages, model: str) -> None:
    """Switches the model's thinking off if the provider reports that this is possible; else, if
    it can think, sets the least effort, with a reserve. Changes nothing without a report.
    """
    url = f"{made.connection.base}/models/{quote(model, safe='')}"
    body = await look_up(made.connection, url, dialect.headers)
    thinking = at(body, "capabilities", "thinking")
    if is_supported(at(thinking, "types", "disabled")):
        dialect.effort = NONE
    elif is_supported(thinking):
        dialect.effort = EFFORTS[1]
        made.reserve_thought(RESERVE_TOKENS)


def is_supported(capability: Json) -> bool:
    """True if a capability is reported as supported, by a flag or by an object with a flag."""
    flag = at(capability, "supported")
    return bool(capability) if flag is None else flag is True


def anthropic(model: str, options: ModelOptions = DEFAULTS) -> HttpModel:
    """Makes the model `anthropic:MODEL`; the key comes from ANTHROPIC_API_KEY."""
    place = ANTHROPIC.place(model, options)
    dialect = AnthropicMessages(model, place.key, options.read, options.effort or "")
    connected = place.model(options, dialect)
    if options.effort is None:
        connected.settle = partial(_settle_reasoning, connected, dialect, model)
    connected.continues = "begin" not in options.omitted
    connected.batches = AnthropicBatches()
    return connected


KIND = ModelKind(
    "anthropic",
    "anthropic:MODEL, Anthropic's own API",
    anthropic,
    makes=(TEXT,),
    provider=ANTHROPIC,
    batches=True,
    own_server=True,
    serves_asked=True,
    dialect=partial(AnthropicMessages, key=""),
)
