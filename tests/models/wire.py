"""Local servers that speak Anthropic's and Gemini's documented formats and refuse a request that breaks the rules.

They stand in for providers that no test may call. What they check was written from the public documentation; a dialect
that passes here has still never met a live provider. The word that they answer is in the prompt: `Say: WORD`.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import web

from tiltmeter.records import Reply, Request

KEY = "key-" + "0123456789abcdef" * 6


class Wire:
    """A server. `says` replaces its replies: (status, body) each, then it answers by itself. `seen`: bodies that came."""

    def __init__(
        self, says: Sequence[tuple[int, Any]] = (), *, refuses: Sequence[str] = (), key: str = KEY
    ) -> None:
        self.seen: list[dict[str, Any]] = []
        self.pictures: list[str] = []
        self.says, self.refuses, self.key, self.url = list(says), tuple(refuses), key, ""

    async def __aenter__(self) -> Wire:
        self._runner = web.ServerRunner(
            web.Server(self._route, access_log=None), shutdown_timeout=0.2
        )  # type: ignore[arg-type]
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/{self.prefix}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def talk(self, made: Callable[[], Any], *requests: Request) -> list[Reply]:
        """What a model (made when the server's address is known) replies to requests, one after the other."""

        async def main() -> list[Reply]:
            async with self:
                model = made()
                await model.open()
                try:
                    return [await model.ask(each) for each in requests]
                finally:
                    await model.close()

        return asyncio.run(main())

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            status, body = self.answer(
                request.path, dict(request.headers), json.loads(await request.read())
            )
        except Refused as refused:
            status, body = refused.status, refused.body
        return web.Response(
            status=status, body=json.dumps(body).encode(), content_type="application/json"
        )

    prefix = ""

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        raise NotImplementedError


class Refused(Exception):
    def __init__(self, status: int, body: Any) -> None:
        self.status, self.body = status, body


def only(body: dict[str, Any], known: set[str], complain: Callable[[str], Exception]) -> None:
    for name in body:
        if name not in known:
            raise complain(name)


class AnthropicWire(Wire):
    prefix = "v1"

    def error(self, status: int, kind: str, said: str) -> Refused:
        return Refused(
            status,
            {"type": "error", "error": {"type": kind, "message": said}, "request_id": "req_1"},
        )

    def invalid(self, said: str) -> Refused:
        return self.error(400, "invalid_request_error", said)

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        if path != "/v1/messages":
            raise self.error(404, "not_found_error", "Not found")
        if headers.get("x-api-key") != self.key:
            raise self.error(
                401, "authentication_error", f"invalid x-api-key ({headers.get('x-api-key')})"
            )
        if headers.get("anthropic-version") != "2023-06-01":
            raise self.invalid("anthropic-version: header is required")
        self.check(body)
        self.seen.append(body)
        if self.says:
            return self.says.pop(0)
        word = body["messages"][0]["content"]
        word = (
            word
            if isinstance(word, str)
            else next(block["text"] for block in word if block["type"] == "text")
        )
        return 200, anthropic_reply(word.partition("Say: ")[2] or "well")

    def check(self, body: dict[str, Any]) -> None:
        known = {
            "model",
            "messages",
            "max_tokens",
            "system",
            "temperature",
            "top_p",
            "output_config",
        }
        only(body, known, lambda name: self.invalid(f"{name}: Extra inputs are not permitted"))
        for need in ("model", "messages", "max_tokens"):
            if need not in body:
                raise self.invalid(f"{need}: Field required")
        if "temperature" in body and not 0 <= body["temperature"] <= 1:
            raise self.invalid("temperature: Input should be less than or equal to 1")
        if "both" in self.refuses and {"temperature", "top_p"} <= body.keys():
            raise self.invalid(
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
            )
        for name in ("temperature", "top_p"):
            if name in self.refuses and name in body:
                raise self.invalid(f"`{name}` is deprecated for this model.")
        turns = body["messages"]
        if any(turn["role"] not in ("user", "assistant") for turn in turns):
            raise self.invalid(
                'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter'
            )
        if any(not turn["content"] for turn in turns):
            raise self.invalid("messages: text content blocks must be non-empty")
        last = turns[-1]
        if last["role"] == "assistant":
            if "begin" in self.refuses:
                raise self.invalid(
                    "This model does not support assistant message prefill. "
                    "The conversation must end with a user message."
                )
            if last["content"] != last["content"].rstrip():
                raise self.invalid(
                    "messages: final assistant content cannot end with trailing whitespace"
                )
        for turn in turns:
            for block in turn["content"] if isinstance(turn["content"], list) else ():
                if block["type"] == "image":
                    self.pictures.append(
                        picture(
                            block["source"]["media_type"], block["source"]["data"], self.invalid
                        )
                    )


def anthropic_reply(text: str, **changes: Any) -> dict[str, Any]:
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 12,
            "output_tokens": 3,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }
    return body | changes


class GeminiWire(Wire):
    prefix = "v1beta"

    def error(self, status: int, kind: str, said: str, details: Sequence[Any] = ()) -> Refused:
        return Refused(status, gemini_error(status, kind, said, details))

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        if not path.startswith("/v1beta/models/") or not path.endswith(":generateContent"):
            raise self.error(404, "NOT_FOUND", "models/x is not found for API version v1beta")
        if headers.get("x-goog-api-key") != self.key:
            detail = {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
            }
            said = (
                f"API key not valid. Please pass a valid API key. ({headers.get('x-goog-api-key')})"
            )
            raise self.error(400, "INVALID_ARGUMENT", said, [detail])
        self.check(body)
        self.seen.append(body)
        if self.says:
            return self.says.pop(0)
        said = next(part["text"] for part in body["contents"][0]["parts"] if "text" in part)
        return 200, gemini_reply(
            said.partition("Say: ")[2] or "well",
            logprobs=body["generationConfig"].get("logprobs", 0),
        )

    def invalid(self, said: str) -> Refused:
        return self.error(400, "INVALID_ARGUMENT", said)

    def check(self, body: dict[str, Any]) -> None:
        only(
            body,
            {"contents", "systemInstruction", "generationConfig"},
            lambda name: self.invalid(
                f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
            ),
        )
        config = body["generationConfig"]
        known = {
            "temperature",
            "topP",
            "topK",
            "seed",
            "maxOutputTokens",
            "responseLogprobs",
            "logprobs",
            "responseMimeType",
            "responseJsonSchema",
            "thinkingConfig",
        }
        only(
            config,
            known - set(self.refuses),
            lambda name: self.invalid(
                f"Invalid JSON payload received. Unknown name \"{snake(name)}\" at 'generation_config': Cannot find field."
            ),
        )
        if "thinking" in self.refuses and "thinkingConfig" in config:
            raise self.invalid("Budget 0 is invalid. This model only works in thinking mode.")
        if "anylogprobs" in self.refuses and "responseLogprobs" in config:
            raise self.invalid("Logprobs is not enabled for models/gemini-x")
        if config.get("logprobs", 0) > 20 or ("logprobs" in config) != (
            "responseLogprobs" in config
        ):
            raise self.invalid("logprobs must be in [0, 20] and needs response_logprobs")
        if any(turn["role"] not in ("user", "model") for turn in body["contents"]):
            raise self.invalid("Please use a valid role: user, model.")
        if body["contents"][-1]["role"] != "user":
            raise self.invalid("Please ensure that multiturn requests end with a user role.")
        for turn in body["contents"]:
            for part in turn["parts"]:
                if "inlineData" in part:
                    self.pictures.append(
                        picture(
                            part["inlineData"]["mimeType"], part["inlineData"]["data"], self.invalid
                        )
                    )


def gemini_error(status: int, kind: str, said: str, details: Sequence[Any] = ()) -> dict[str, Any]:
    return {"error": {"code": status, "message": said, "status": kind, "details": list(details)}}


def gemini_reply(text: str, *, logprobs: int = 0, **changes: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {
        "content": {"role": "model", "parts": [{"text": text}]},
        "finishReason": "STOP",
        "index": 0,
    }
    if logprobs:
        each = [
            {"token": text, "tokenId": 1, "logProbability": -0.25},
            {"token": "other", "logProbability": -1.5},
        ]
        candidate["logprobsResult"] = {
            "topCandidates": [{"candidates": each[:logprobs]}],
            "chosenCandidates": each[:1],
        }
    return {
        "candidates": [candidate | changes],
        "modelVersion": "gemini-2.5-flash",
        "responseId": "r1",
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11},
    }


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def picture(media_type: str, data: str, complain: Callable[[str], Exception]) -> str:
    """Checks a picture (base64, a media type that is its own, a size that providers take); returns the media type."""
    content = base64.b64decode(data, validate=True)
    starts = {
        "image/png": b"\x89PNG",
        "image/jpeg": b"\xff\xd8\xff",
        "image/webp": b"RIFF",
        "image/gif": b"GIF8",
    }
    if media_type not in starts or not content.startswith(starts[media_type]):
        raise complain(f"the picture is not {media_type}")
    if len(data) > 5 * 2**20:
        raise complain("the picture exceeds 5 MB")
    return media_type
