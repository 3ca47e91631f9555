"""OpenAI's chat format: OpenAI itself, and vLLM, SGLang, Ollama, llama.cpp, Together, OpenRouter and others.

Sampling is sent in full. To a server that is not OpenAI's, `top_k` 0 and `min_p` 0 are sent too, since llama.cpp's
defaults (40 and 0.05) cut off the tail and shift every share; a server that refuses a parameter is asked without it.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any
from urllib.parse import urlsplit

from ..errors import MissingKey, UsageError
from ..records import ERROR, REFUSAL, Reply, Request, Token
from . import FREE, Price
from .http import HttpModel, HttpRequest

OPENAI_URL = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"
# What can be left out when a server refuses it; what is left out is recorded as the provider's default.
# A begun answer is left out whole. `max_tokens` goes by its newer name, and of `top_logprobs` 20 are asked for, which is
# what OpenAI gives and what vLLM gives unless it is started with more; neither counts as left out.
_CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}
_OPTIONAL = ("temperature", "top_p", "seed", "top_k", "min_p", "max_tokens", "top_logprobs", "response_format",
             *_CONTINUE)  # fmt: skip
FEW = 20  # alternatives


class OpenAIChat:
    """The dialect: `build` and `parse` are pure."""

    def __init__(self, model: str, key: str, *, local: bool) -> None:
        self._model, self._local = model, local
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        sampling = request.sampling
        limit = "max_completion_tokens" if "max_tokens" in omitted else "max_tokens"
        body: dict[str, Any] = {"temperature": sampling.temperature, "top_p": sampling.top_p, "seed": sampling.seed}
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
            body |= {"logprobs": True, "top_logprobs": min(request.logprobs, FEW) if few else request.logprobs}
        body |= {"model": self._model, "messages": messages, limit: sampling.max_tokens}
        return HttpRequest("/chat/completions", self._headers, body, tuple(left_out))

    def parse(self, request: Request, body: Any) -> Reply:
        if not isinstance(body, dict) or not isinstance(body.get("choices"), list) or not body["choices"]:
            raise ValueError("there are no 'choices' in the reply, so this is not a chat API")
        choice = body["choices"][0]
        message = choice["message"]
        text = _whole(message.get("content") or "")
        outcome = "answer"
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            text, outcome = _whole(message.get("refusal") or text), REFUSAL
        if not isinstance(text, str):
            text, outcome = "", ERROR
        if request.begin and text.startswith(request.begin):  # llama.cpp echoes the begun answer
            text = text[len(request.begin) :]
        return Reply(
            text,
            outcome,
            alternatives=_alternatives(choice) if request.logprobs else (),
            served=str(body.get("model") or ""),
            fingerprint=str(body.get("system_fingerprint") or ""),
            usage=_usage(body.get("usage"), request),
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
        if "logprobs" in said:  # vLLM: "Requested sample logprobs of 100, which is greater than max allowed: 20"
            return "top_logprobs"
        return next((name for name in _OPTIONAL if re.search(rf"\b{name}\b", said)), "")


def _whole(text: Any) -> Any:
    """Text with half surrogate pairs replaced: a reply that is cut within an emoji holds one, and no file can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(text, str) else text


def _alternatives(choice: dict[str, Any]) -> tuple[tuple[Token, ...], ...]:
    content = (choice.get("logprobs") or {}).get("content") or ()
    return tuple(
        tuple(Token(_bytes(entry), _logprob(entry)) for entry in place.get("top_logprobs") or ()) for place in content
    )


def _bytes(entry: dict[str, Any]) -> bytes:
    given = entry.get("bytes")
    return bytes(given) if given else str(entry["token"]).encode("utf-8", "replace")


def _logprob(entry: dict[str, Any]) -> float:
    logprob = float(entry["logprob"])
    if not logprob <= 1e-3:  # NaN, or above what rounding explains
        raise ValueError(f"the log-probability {logprob} is none")
    return logprob


def _usage(usage: Any, request: Request) -> tuple[int, int] | None:
    """What the server says it used, or None where that cannot be: then the worst case is counted."""
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int) or prompt <= 0 or completion < 0:
        return None
    bytes_sent = sum(len(message.content.encode()) + 64 for message in request.messages) + 1024
    if prompt > bytes_sent or completion > 4 * request.sampling.max_tokens + 1024:
        return None
    return prompt, completion


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        if parts.username or parts.password:
            raise UsageError(f"--base-url must not hold a name or a password. Put the key into {KEY}.")
        return parts.hostname or ""
    except ValueError:
        raise UsageError(f"'{url}' is not a URL. Type for instance: --base-url http://localhost:8000/v1") from None


def openai(model: str, *, base_url: str = "", price: Price | None = None, timeout: float = 120.0, concurrency: int = 16,
           **_: Any) -> HttpModel:  # fmt: skip
    """`openai:MODEL`; the key comes from OPENAI_API_KEY and is needed at OpenAI's own address only."""
    if not model:
        raise UsageError("Which model? Type for instance: --model openai:gpt-4.1-mini")
    key = os.environ.get(KEY, "").strip()
    if any(not "!" <= character <= "~" for character in key):
        raise MissingKey(f"{KEY} holds a blank or a character that no key has. Set it again.")
    url = base_url or OPENAI_URL
    host = _host(url)
    official = host == "api.openai.com"
    if official and not key:
        raise MissingKey(
            f"openai:{model} needs a key. Type: export {KEY}=…   (or name your own server with --base-url)"
        )
    if price is None and host in ("localhost", "127.0.0.1", "::1"):
        price = FREE
    return HttpModel(f"openai:{model}", OpenAIChat(model, key, local=not official), url, key=key, key_name=KEY,
                     price=price, timeout=timeout, parallel=concurrency, continues=not official)  # fmt: skip
