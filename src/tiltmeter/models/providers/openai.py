"""OpenAI's chat format: OpenAI itself, and vLLM, SGLang, Ollama, llama.cpp, Together, OpenRouter
and others.

Sampling is sent in full. To a server that is not OpenAI's, `top_k` 0 and `min_p` 0 are sent too,
since llama.cpp's defaults (40 and 0.05) cut off the tail and shift every share; a server that
refuses a parameter is asked without it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ...records import ERROR, REFUSAL, Message, Reply, Request, Token
from ..http import HttpModel, HttpRequest, believed
from ..http.pictures import prepared
from ..http.provider import Provider
from ..http.text import whole
from ..kinds import DEFAULTS, ModelKind, ModelOptions, ReadBlob
from .openai_images import OpenAIImages

# What can be left out when a server refuses it; what is left out is recorded as the provider's
# default. A begun answer is left out whole. `max_tokens` goes by its newer name, and of
# `top_logprobs` 20 are asked for, which is what OpenAI gives and what vLLM gives unless it is
# started with more; neither counts as left out.
_CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}
_OPTIONAL = (
    "temperature",
    "top_p",
    "seed",
    "top_k",
    "min_p",
    "max_tokens",
    "top_logprobs",
    "response_format",
    *_CONTINUE,
)
FEW = 20  # alternatives


class OpenAIChat:
    """The dialect: `build` and `parse` are pure."""

    def __init__(self, model: str, key: str, *, local: bool, read: ReadBlob | None = None) -> None:
        self._model, self._local, self._read = model, local, read
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        messages = [
            {"role": message.role, "content": self._content(message, request.longest)}
            for message in request.messages
        ]
        sampling = request.sampling
        limit = "max_completion_tokens" if "max_tokens" in omitted else "max_tokens"
        body: dict[str, Any] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
        }
        if self._local:
            body |= {"top_k": 0, "min_p": 0.0}
        if request.schema:
            schema = {"name": "reply", "schema": json.loads(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        body = {name: value for name, value in body.items() if value is not None}
        left_out = [name for name in body if name in omitted]
        body = {name: value for name, value in body.items() if name not in omitted}
        if request.begin and omitted.isdisjoint(_CONTINUE):
            messages.append({"role": "assistant", "content": request.begin})
            body |= _CONTINUE
        elif request.begin:
            left_out.append("begin")
        if request.logprobs:
            few = not self._local or "top_logprobs" in omitted
            body |= {
                "logprobs": True,
                "top_logprobs": min(request.logprobs, FEW) if few else request.logprobs,
            }
        body |= {"model": self._model, "messages": messages, limit: sampling.max_tokens}
        return HttpRequest("/chat/completions", self._headers, body, tuple(left_out))

    def _content(self, message: Message, longest: int) -> str | list[dict[str, Any]]:
        if not message.pictures:
            return message.content
        shown = [prepared(name, self._read, longest) for name in message.pictures]
        blocks: list[dict[str, Any]] = [
            {"type": "image_url", "image_url": {"url": each.url}} for each in shown
        ]
        return [{"type": "text", "text": message.content}, *blocks]

    def parse(self, request: Request, body: Any) -> Reply:
        if (
            not isinstance(body, dict)
            or not isinstance(body.get("choices"), list)
            or not body["choices"]
        ):
            raise ValueError("there are no 'choices' in the reply, so this is not a chat API")
        choice = body["choices"][0]
        message = choice["message"]
        text = whole(message.get("content") or "")
        outcome = "answer"
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            text, outcome = whole(message.get("refusal") or text), REFUSAL
        if not isinstance(text, str):
            text, outcome = "", ERROR
        if request.begin and text.startswith(request.begin):  # llama.cpp echoes the begun answer
            text = text[len(request.begin) :]
        said = body.get("usage")
        usage: dict[str, Any] = said if isinstance(said, dict) else {}
        return Reply(
            text,
            outcome,
            alternatives=_alternatives(choice) if request.logprobs else (),
            served=str(body.get("model") or ""),
            fingerprint=str(body.get("system_fingerprint") or ""),
            usage=believed(usage.get("prompt_tokens"), usage.get("completion_tokens"), request),
        )

    def refused(self, request: Request, body: Any) -> Reply | None:
        error = body.get("error") if isinstance(body, dict) else None
        if isinstance(error, dict) and error.get("code") in (
            "content_filter",
            "content_policy_violation",
            "moderation_blocked",
        ):
            return Reply(str(error.get("message", "")), REFUSAL)
        return None

    def unwelcome(self, body: Any) -> str:
        error = body.get("error") if isinstance(body, dict) else None
        if not isinstance(error, dict):
            return ""
        if error.get("param") in _OPTIONAL:
            return str(error["param"])
        said = str(error.get("message"))
        if (
            "logprobs" in said
        ):  # vLLM: "Requested sample logprobs of 100, which is greater than max allowed: 20"
            return "top_logprobs"
        return next((name for name in _OPTIONAL if re.search(rf"\b{name}\b", said)), "")


def _alternatives(choice: dict[str, Any]) -> tuple[tuple[Token, ...], ...]:
    content = (choice.get("logprobs") or {}).get("content") or ()
    return tuple(
        tuple(Token(_bytes(entry), _logprob(entry)) for entry in place.get("top_logprobs") or ())
        for place in content
    )


def _bytes(entry: dict[str, Any]) -> bytes:
    given = entry.get("bytes")
    return bytes(given) if given else str(entry["token"]).encode("utf-8", "replace")


def _logprob(entry: dict[str, Any]) -> float:
    logprob = float(entry["logprob"])
    if not logprob <= 1e-3:  # NaN, or above what rounding explains
        raise ValueError(f"the log-probability {logprob} is none")
    return logprob


OPENAI = Provider("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "gpt-4.1-mini")


def openai(model: str, options: ModelOptions = DEFAULTS) -> HttpModel:
    """`openai:MODEL`; the key comes from OPENAI_API_KEY and is needed at OpenAI's own address only.

    Where the table does not say what the model makes, the request decides what is asked of the
    server.
    """
    place = OPENAI.place(model, options)
    writing = OpenAIChat(model, place.key, local=not place.official, read=options.read)
    made = place.model(
        options,
        None if options.modality == "image" else writing,
        None if options.modality == "text" else OpenAIImages(model, place.key),
    )
    made.continues = not place.official
    return made


KIND = ModelKind(
    "openai",
    "openai:MODEL, OpenAI or any compatible server with --base-url: text and pictures",
    openai,
    provider=OPENAI,
)
