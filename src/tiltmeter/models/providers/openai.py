"""OpenAI's chat format: for OpenAI itself, and vLLM, SGLang, Ollama, llama.cpp, Together,
OpenRouter and others.

All sampling parameters are sent. A server that is not OpenAI's is also sent `top_k` 0 and `min_p`
0, as llama.cpp's defaults (40 and 0.05) cut off the tail and shift every share; if it refuses a
parameter, it is asked without it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from ...errors import Incapable
from ...records import ANSWER, ERROR, FILTER, REFUSAL, Json, Message, Reply, Request
from ...secret_filter import mask
from .. import reasoning
from ..batch.format import BatchFormat
from ..batch.openai import OpenAIBatches
from ..endings import ended_by, thought_tokens
from ..http import NO_LOGPROBS, HttpModel, HttpRequest, endpoint, usage_if_possible
from ..http.body import at, count_at, list_at, text_at, word_at
from ..http.connection import Connection
from ..http.dialect import CHAT, json_headers, part
from ..http.pictures import prepare_picture
from ..http.provider import Provider
from ..kinds import ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions, ReadBlob
from ..table import LOGPROBS
from . import openai_responses as responses
from .openai_images import OpenAIImages

# What can be left out when a server refuses it; what is left out is recorded as the provider's
# default. A begun answer is left out whole. `max_tokens` goes by its newer name, and of
# `top_logprobs` 20 are asked for, which is what OpenAI gives and what vLLM gives unless it is
# started with more; neither counts as left out.
_CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}
_OPTIONAL = (
    *("temperature", "top_p", "seed", "top_k", "min_p", "max_tokens", "top_logprobs"),
    *("response_format", *_CONTINUE, *reasoning.FIELDS, "stop"),
)
_REFUSALS = ("content_filter", "content_policy_violation", "moderation_blocked")
_THOUGHT = ("completion_tokens_details", "reasoning_tokens")


class OpenAIChat:
    """OpenAI's chat dialect; `build` and `parse` are pure. fields: the fields that set the model's
    reasoning; no_system: True to begin with an empty system prompt in place of the template's.
    """

    def __init__(
        self,
        model: str,
        key: str,
        *,
        local: bool,
        read: ReadBlob | None = None,
        fields: Mapping[str, Json] | None = None,
        no_system: bool = False,
    ) -> None:
        self._model, self._local, self._read = model, local, read
        self._fields, self.reserve = dict(fields or {}), 0
        self._no_system = no_system
        self._headers = json_headers("Authorization", key, "Bearer ")

    @property
    def switched_off(self) -> bool:
        """True if reasoning is switched off."""
        return any(reasoning.is_off(value) for value in self._fields.values())

    async def describe(self, connection: Connection) -> dict[str, Json]:
        """Describes a self-hosted server by its own replies, and the reasoning asked for."""
        host = reasoning.host_of(connection.base)
        messages: list[Json] = [{"role": "user", "content": endpoint.MARK}]
        if self._no_system:
            messages.insert(0, {"role": "system", "content": ""})
        described: dict[str, Json] = {}
        if self._local:
            described = await endpoint.describe(connection, self._headers, self._model, messages)
        ineffective = list(
            reasoning.without_effect(host, reasoning.NONE if self.switched_off else "")
        )
        address = mask((connection.key,), connection.base)
        asked: dict[str, Json] = {"address": address, "effort": dict(self._fields) or None}
        return {**asked, **described, "without_effect": ineffective}

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds a POST to /chat/completions, or to /responses if the model refuses the former;
        notes the names of the parameters omitted.
        """
        if request.logprobs and LOGPROBS in omitted:
            raise Incapable(f"{self._model} {NO_LOGPROBS}")
        if CHAT in omitted:
            return self._build_response(request, omitted)
        messages = self._messages(request)
        sampling = request.sampling
        limit = "max_completion_tokens" if "max_tokens" in omitted else "max_tokens"
        wanted: dict[str, Json] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            **self._fields,
        }
        if request.stop:
            wanted["stop"] = list(request.stop)
        if self._local:
            wanted |= {"top_k": 0, "min_p": 0.0}
        if request.schema:
            schema = {"name": "reply", "schema": json.loads(request.schema)}
            wanted["response_format"] = {"type": "json_schema", "json_schema": schema}
        body, left_out = part(wanted, omitted)
        if request.begin and omitted.isdisjoint(_CONTINUE):
            messages.append({"role": "assistant", "content": request.begin})
            body |= _CONTINUE
        elif request.begin:
            left_out.append("begin")
        if request.logprobs:
            few = not self._local or "top_logprobs" in omitted
            most = responses.MOST_ALTERNATIVES if few else request.logprobs
            body |= {"logprobs": True, "top_logprobs": min(request.logprobs, most)}
        most = sampling.max_tokens + (0 if request.logprobs else self.reserve)
        body |= {"model": self._model, "messages": messages, limit: most}
        return HttpRequest("/chat/completions", self._headers, body, tuple(left_out))

    def _build_response(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        return responses.build(
            request,
            omitted,
            model=self._model,
            headers=self._headers,
            read=self._read,
            fields=self._fields,
            reserve=self.reserve,
        )

    def _messages(self, request: Request) -> list[Json]:
        messages: list[Json] = [
            {
                "role": message.role,
                "content": self._content(message, request.longest)
                if message.pictures
                else message.content,
            }
            for message in request.messages
        ]
        if self._no_system and not any(turn.role == "system" for turn in request.messages):
            messages.insert(0, {"role": "system", "content": ""})
        return messages

    def _content(self, message: Message, longest: int) -> Json:
        pictures = [prepare_picture(name, self._read, longest) for name in message.pictures]
        blocks: list[Json] = [
            {"type": "image_url", "image_url": {"url": each.url}} for each in pictures
        ]
        return [{"type": "text", "text": message.content}, *blocks]

    def parse(self, request: Request, body: Json) -> Reply:
        """Parses an answer, cutting off the given start, or a refusal. ValueError if malformed."""
        if responses.is_response(body):
            return responses.parse(request, body, self.reserve)
        choices = body.get("choices") if isinstance(body, dict) else None
        if not isinstance(body, dict) or not isinstance(choices, list) or not choices:
            raise ValueError("there are no 'choices' in the reply, so this is not a chat API")
        choice = choices[0]
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise ValueError("there is no 'message' in the reply")
        ended, thoughts = ended_by(text_at(choice, "finish_reason")), _thoughts(message)
        text, outcome = _text(message), ANSWER
        if message.get("refusal") or ended in (FILTER, REFUSAL):
            text, outcome = text_at(message, "refusal") or text, REFUSAL
        elif message.get("content") and not text and not thoughts:  # something that is no text
            outcome = ERROR
        if request.begin and text.startswith(request.begin):  # llama.cpp echoes the begun answer
            text = text[len(request.begin) :]
        usage = body.get("usage")
        prompt = count_at(usage, "prompt_tokens")
        completion = count_at(usage, "completion_tokens")
        return Reply(
            text,
            outcome,
            alternatives=responses.alternatives(list_at(choice, "logprobs", "content"))
            if request.logprobs
            else (),
            served=word_at(body, "model"),
            # a router (OpenRouter) names the provider that it asked
            fingerprint=word_at(body, "system_fingerprint") or word_at(body, "provider"),
            usage=usage_if_possible(prompt, completion, request, self.reserve),
            ended=ended,
            thought=thought_tokens(text, thoughts, completion, count_at(usage, *_THOUGHT)),
        )

    def refused(self, request: Request, body: Json) -> Reply | None:
        """Returns a refusal if the error's code names a content policy, else None."""
        refused = at(body, "error", "code") in _REFUSALS
        return Reply(word_at(body, "error", "message"), REFUSAL) if refused else None

    def unwelcome(self, body: Json) -> str:
        """Returns the parameter to omit, by the error's text, or ""; CHAT for the chat format."""
        parameter = text_at(body, "error", "param")
        parameter = responses.NAMES.get(parameter, parameter)
        if parameter in _OPTIONAL:
            return parameter
        text = word_at(body, "error", "message")
        if "only supported in v1/responses" in text:
            return CHAT
        # vLLM: "Requested sample logprobs of 100, which is greater than max allowed: 20"
        if "logprobs" in text:
            return "top_logprobs"
        return next((name for name in _OPTIONAL if re.search(rf"\b{name}\b", text)), "")


def _text(message: Json) -> str:
    """Returns a message's text; if it is split (Mistral's models that think), its text pieces."""
    content = at(message, "content")
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    return "".join(text_at(part, "text") for part in content if at(part, "type") == "text")


def _thoughts(message: Json) -> str:
    """Returns the model's thoughts if the server sends them beside the text: `reasoning` (vLLM,
    OpenRouter), `reasoning_content` (earlier vLLM, DeepSeek, llama.cpp), or parts (Mistral).
    """
    beside = text_at(message, "reasoning") or text_at(message, "reasoning_content")
    content = at(message, "content")
    if beside or not isinstance(content, list):
        return beside
    parts = (list_at(part, "thinking") for part in content)
    return "".join(text_at(piece, "text") for part in parts for piece in part)


def chat_kind(
    provider: Provider, summary: str, dialect: type[OpenAIChat], batches: BatchFormat
) -> ModelKind:
    """Makes the kind of a provider with (nearly) OpenAI's chat format, which accepts batches."""

    def make(model: str, options: ModelOptions) -> HttpModel:
        place = provider.place(model, options)
        asked = reasoning.chat_fields(reasoning.host_of(place.url), options.effort or "")
        connected = place.model(
            options, dialect(model, place.key, local=False, read=options.read, fields=asked)
        )
        connected.batches = batches
        return connected

    return ModelKind(
        provider.kind,
        summary,
        make,
        makes=(TEXT,),
        provider=provider,
        own_server=True,
        batches=True,
        dialect=partial(dialect, key="", local=False),
    )


OPENAI = Provider("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "gpt-4.1-mini")


def openai(model: str, options: ModelOptions = DEFAULTS) -> HttpModel:
    """Makes the model `openai:MODEL`; only OpenAI's own address needs the key, OPENAI_API_KEY.

    If the table does not say what the model makes, each request decides whether text or a picture
    is asked of the server.
    """
    place = OPENAI.place(model, options)
    effort = options.effort
    if effort is None:  # a server that is not OpenAI's takes the switch, or is asked without it
        effort = "" if place.official else reasoning.NONE
    writing = OpenAIChat(
        model,
        place.key,
        local=not place.official,
        read=options.read,
        fields=reasoning.chat_fields(reasoning.host_of(place.url), effort),
        no_system=options.no_system and not place.official,
    )
    if place.official:  # the older name of the limit is deprecated, and refused by some models
        options = replace(options, omitted=(*options.omitted, "max_tokens"))
    connected = place.model(
        options,
        None if options.modality == "image" else writing,
        None if options.modality == "text" else OpenAIImages(model, place.key),
    )
    connected.continues = not place.official
    connected.batches = OpenAIBatches()
    return connected


KIND = ModelKind(
    "openai",
    "openai:MODEL, OpenAI or any compatible server with --base-url: text and pictures",
    openai,
    provider=OPENAI,
    batches=True,
    dialect=partial(OpenAIChat, key="", local=False),
)
