"""Local servers that draw, each in the documented format of a provider; they refuse a request that breaks its rules.

They stand in for providers that no test may call: a dialect that passes here has still never met a live one. Each counts
what it was handed in (`submitted`) and keeps what came with every request (`seen`). `does` is what it is to do wrong.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from tests.drawing import picture

KEY = "key-" + "0123456789abcdef" * 6
PNG = picture("PNG", (64, 48), colour=(200, 10, 10))
BASE64 = base64.b64encode(PNG).decode()


class Studio:
    """One server. polls: looks that find the work not ended yet; does: a fault by name."""

    prefix = "/v1"

    def __init__(self, does: str = "", *, polls: int = 1, key: str = KEY) -> None:
        self.does, self.polls, self.key = does, polls, key
        self.submitted: list[Any] = []
        self.seen: list[tuple[str, str, dict[str, str]]] = []  # method, path, headers
        self.looks: dict[str, int] = {}
        self.fetches = 0
        self.url = self.elsewhere = ""

    async def __aenter__(self) -> Studio:
        self._runner = web.ServerRunner(
            web.Server(self._route, access_log=None), shutdown_timeout=0.2
        )  # type: ignore[arg-type]
        await self._runner.setup()
        sites = [
            web.TCPSite(self._runner, "127.0.0.1", 0) for _ in range(2)
        ]  # the API, and where the pictures lie
        for site in sites:
            await site.start()
        here, there = (f"http://127.0.0.1:{address[1]}" for address in self._runner.addresses)
        self.root, self.url, self.elsewhere = here, here + self.prefix, there
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        self.seen.append((request.method, str(request.rel_url), dict(request.headers)))
        if request.path.startswith("/picture"):
            return await self._picture(request)
        if request.path == "/count":
            return reply(200, {"submitted": len(self.submitted), "looks": sum(self.looks.values())})
        if request.method == "POST":
            if not self.allowed(request.headers):
                return reply(*self.stranger(request.headers))
            body = json.loads(await request.read())
            said = self.order(request.path, body)
            return said if isinstance(said, web.StreamResponse) else reply(*said)
        if not self.allowed(request.headers):
            return reply(*self.stranger(request.headers))
        name = request.query.get("id") or request.path.rstrip("/").rpartition("/")[2]
        self.looks[name] = self.looks.get(name, 0) + 1
        said = self.look(request.path, name, self.looks[name])
        return said if isinstance(said, web.StreamResponse) else reply(*said)

    async def _picture(self, request: web.BaseRequest) -> web.StreamResponse:
        """Where pictures lie. Faults: gone, once (gone at first), html, cut, redirect, private, loop, busy, large."""
        self.fetches += 1
        fault = request.path.removeprefix("/picture").strip("/")
        if fault == "gone" or (fault == "once" and self.fetches == 1):
            return web.Response(status=403, text="<Error>AccessDenied: request has expired</Error>")
        if fault == "html":
            return web.Response(text="<html>Please sign in</html>", content_type="text/html")
        if fault == "broken":
            return web.Response(body=PNG[:70], content_type="image/png")
        if fault == "cut":  # the connection breaks off in the middle
            response = web.StreamResponse(headers={"Content-Length": str(len(PNG))})
            await response.prepare(request)
            await response.write(PNG[:20])
            assert request.transport is not None
            request.transport.close()
            return response
        if fault in ("redirect", "private", "loop"):
            port = self.elsewhere.rpartition(":")[2]
            where = {
                "redirect": "/picture",
                "private": f"http://localhost:{port}/picture",
                "loop": "/picture/loop",
            }[fault]
            return web.Response(status=302, headers={"Location": where})
        if fault == "busy" and self.fetches < 3:
            return web.Response(status=503)
        if fault == "slow":
            await asyncio.sleep(30)
        return web.Response(body=PNG, content_type="image/png")

    def picture_url(self) -> str:
        """Where the picture of some work lies: on another port, as a provider's files lie on another host."""
        kind, _, fault = self.does.partition("/")
        return f"{self.elsewhere}/picture{'/' + fault if kind == 'picture' else ''}"

    def allowed(self, headers: Any) -> bool:
        raise NotImplementedError

    def stranger(self, headers: Any) -> tuple[int, Any]:
        raise NotImplementedError

    def order(self, path: str, body: Any) -> Any:
        raise NotImplementedError

    def look(self, path: str, name: str, number: int) -> Any:
        raise NotImplementedError


def reply(status: int, body: Any) -> web.Response:
    if isinstance(body, str):
        return web.Response(status=status, text=body, content_type="text/html")
    return web.Response(
        status=status, body=json.dumps(body).encode(), content_type="application/json"
    )


class OpenAIStudio(Studio):
    """POST /v1/images/generations. does: b64 (as gpt-image has it), url, data, local (seed is known), …"""

    def allowed(self, headers: Any) -> bool:
        return headers.get("Authorization") == f"Bearer {self.key}"

    def stranger(self, headers: Any) -> tuple[int, Any]:
        return self.error(
            401, f"Incorrect API key provided: {headers.get('Authorization')}", "invalid_api_key"
        )

    def error(
        self,
        status: int,
        said: str,
        code: str | None,
        param: str | None = None,
        kind: str = "invalid_request_error",
    ) -> tuple[int, Any]:
        return status, {"error": {"message": said, "type": kind, "param": param, "code": code}}

    def order(self, path: str, body: Any) -> Any:
        if path != "/v1/images/generations":
            return self.error(404, "Unknown request URL", "unknown_url")
        known = {"model", "prompt", "n", "size", "quality"} | (
            {"response_format", "seed"} if self.does == "url" else set()
        )
        for name in body:
            if name not in known:
                return self.error(400, f"Unknown parameter: '{name}'.", "unknown_parameter", name)
        self.submitted.append(body)
        said = "Your request was rejected by the safety system. If you believe this is an error, contact us."
        data: dict[str, Any] = {"b64_json": BASE64}
        if self.does == "url" or self.does.startswith("picture"):
            data = {
                "url": self.picture_url(),
                "revised_prompt": "A friendly guard at a gate, in watercolour",
            }
        faults: dict[str, Any] = {
            "refuse": self.error(
                400, said, "moderation_blocked", kind="image_generation_user_error"
            ),
            "policy": self.error(400, said, "content_policy_violation"),
            "quota": self.error(
                429,
                "You exceeded your current quota, please check your plan.",
                "insufficient_quota",
            ),
            "billing": self.error(
                400, "Billing hard limit has been reached", "billing_hard_limit_reached"
            ),
            "fast": self.error(
                429, "Rate limit reached for images per minute", "rate_limit_exceeded"
            ),
            "inside": (200, {"error": {"code": 500, "message": "no GPU is left"}}),
            "refusal inside": (
                200,
                {"error": {"code": "content_policy_violation", "message": said}},
            ),
            "html": (200, "<html>Welcome</html>"),
            "none": (200, {"created": 1, "data": []}),
            "size": self.error(400, "Invalid size: 7x7 is too small.", "invalid_value", "size"),
            "base64": (200, {"created": 1, "data": [{"b64_json": "no*base64"}]}),
            "data": (200, {"created": 1, "data": [{"url": f"data:image/png;base64,{BASE64}"}]}),
        }
        usage = {"input_tokens": 11, "output_tokens": 272, "total_tokens": 283}
        return faults.get(self.does, (200, {"created": 1, "data": [data], "usage": usage}))


class GeminiStudio(Studio):
    """generateContent with pictures. does: the reason to stop, or `text` for words in place of a picture."""

    prefix = "/v1beta"

    def allowed(self, headers: Any) -> bool:
        return headers.get("x-goog-api-key") == self.key

    def stranger(self, headers: Any) -> tuple[int, Any]:
        said = "API key not valid. Please pass a valid API key."
        return 400, {
            "error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT", "details": []}
        }

    def order(self, path: str, body: Any) -> Any:
        config = body["generationConfig"]
        known = {"temperature", "topP", "seed", "responseModalities", "imageConfig"}
        if set(config) - known or config.get("responseModalities") != ["IMAGE"]:
            said = f'Invalid JSON payload received. Unknown name "{next(iter(set(config) - known), "")}"'
            return 400, {"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}
        if self.does == "noconfig" and "imageConfig" in config:
            return 400, {
                "error": {"code": 400, "message": "image_config is not supported by this model"}
            }
        self.submitted.append(body)
        parts: list[Any] = [
            {"text": "Here it is."},
            {"inlineData": {"mimeType": "image/png", "data": BASE64}},
        ]
        if self.does == "thought":
            parts = [
                {"thought": True, "inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                *parts,
            ]
        if self.does == "text":
            parts = [{"text": "I would rather describe it."}]
        if self.does == "blocked":
            return 200, {
                "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
                "usageMetadata": {"promptTokenCount": 9},
            }
        candidate: dict[str, Any] = {"content": {"parts": parts}, "finishReason": "STOP"}
        if self.does.isupper():
            candidate = {
                "finishReason": self.does,
                "finishMessage": "Unable to show the generated image.",
            }
        usage = {"promptTokenCount": 9, "candidatesTokenCount": 1290}
        return 200, {
            "candidates": [candidate],
            "modelVersion": "gemini-3.1-flash-image",
            "usageMetadata": usage,
        }


class BflStudio(Studio):
    """POST /v1/MODEL and GET /v1/get_result?id=…; `most`: tasks that were at work at once.

    filling: no task ends while others are handed in, so that it is no matter of speed how many are there at once.
    """

    most = ended = 0
    filling = False

    def allowed(self, headers: Any) -> bool:
        return headers.get("x-key") == self.key

    def stranger(self, headers: Any) -> tuple[int, Any]:
        return 403, {
            "detail": f"Not authenticated - Invalid Authentication ({headers.get('x-key')})"
        }

    def order(self, path: str, body: Any) -> Any:
        known = {"prompt", "width", "height", "seed", "safety_tolerance"} | (
            {"prompt_upsampling"} if "flex" in path else set()
        )
        for name in body:
            if name not in known:
                return 422, {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", name],
                            "msg": "Extra inputs are not permitted",
                        }
                    ]
                }
        faults: dict[str, Any] = {
            "credit": (402, {"detail": "Insufficient credits"}),
            "fast": (429, {"detail": "Too many active tasks (24)"}),
            "receipt": (200, {"id": "1"}),
        }
        if self.does in faults:
            return faults[self.does]
        self.submitted.append(body)
        if self.filling:
            self.looks.clear()
        self.most = max(self.most, len(self.submitted) - self.ended)
        name = f"task{len(self.submitted)}"
        where = "http://10.0.0.7" if self.does == "theft" else self.root
        return 200, {"id": name, "polling_url": f"{where}/v1/get_result?id={name}"}

    def look(self, path: str, name: str, number: int) -> Any:
        if self.does == "never" or number <= self.polls:
            return 200, {
                "id": name,
                "status": ("Pending", "Reasoning", "Generating")[number % 3],
                "result": None,
            }
        if self.does == "slip" and number <= self.polls + 2:
            return 404, {"id": name, "status": "Task not found", "result": None}
        if self.does in ("Request Moderated", "Content Moderated", "Error"):
            return 200, {
                "id": name,
                "status": self.does,
                "details": {"Moderation Reasons": ["Safety"]},
                "result": None,
            }
        if self.does == "lost":
            return 200, {"id": name, "status": "Task not found", "result": None}
        if self.does == "html":
            return 200, "<html>502</html>"
        self.ended += 1
        result = {
            "sample": self.picture_url(),
            "prompt": self.submitted[0]["prompt"] if self.submitted else "",
            "seed": 1,
        }
        if self.does == "empty":
            del result["sample"]
        if self.does == "revised":
            result["prompt"] = "A guard, cinematic light"
        if self.does == "private":
            result["sample"] = "http://169.254.169.254/latest/meta-data"
        return 200, {"id": name, "status": "Ready", "result": result}


class ReplicateStudio(Studio):
    """POST /v1/models/OWNER/NAME/predictions or /v1/predictions, and GET /v1/predictions or /v1/predictions/ID."""

    def __init__(self, does: str = "", **more: Any) -> None:
        super().__init__(does, **more)
        self.predictions: list[Any] = []
        self.loses: dict[str, Any] = {}  # prediction → what comes in place of its receipt

    def allowed(self, headers: Any) -> bool:
        return headers.get("Authorization") == f"Bearer {self.key}"

    def stranger(self, headers: Any) -> tuple[int, Any]:
        return 401, {
            "title": "Unauthenticated",
            "detail": "You did not pass a valid authentication token",
            "status": 401,
        }

    def order(self, path: str, body: Any) -> Any:
        for name in body["input"]:
            if name not in ("prompt", "aspect_ratio", "seed", "go_fast"):
                return 422, {
                    "title": "Input validation failed",
                    "detail": f"- input: Additional property {name} is not allowed\n",
                    "status": 422,
                }
        if self.does == "credit":
            return 402, {
                "title": "Insufficient credit",
                "detail": "You have insufficient credit to run this model.",
                "status": 402,
            }
        if self.does == "fast":
            return 429, {
                "detail": "Request was throttled. Expected available in 1 second.",
                "status": 429,
            }
        self.submitted.append((path, body))
        name = f"p{len(self.submitted)}"
        self.list(name, body["input"])
        if name in self.loses:
            return self.loses[name]
        return 201, {
            "id": name,
            "model": "o/n",
            "version": "hidden",
            "status": "starting",
            "error": None,
            "output": None,
            "urls": {"get": f"{self.root}/v1/predictions/{name}", "cancel": ""},
        }

    def list(self, name: str, inputs: Any, ago_s: float = 0.0, **changes: Any) -> None:
        """Puts a prediction into the list."""
        created = datetime.fromtimestamp(time.time() - ago_s, UTC).isoformat()
        urls = {"get": f"{self.root}/v1/predictions/{name}"}
        known = {"id": name, "model": "owner/name", "input": inputs, "created_at": created}
        self.predictions.insert(0, known | {"urls": urls, "data_removed": False} | changes)

    def page(self, number: int) -> Any:
        """The list, in pages of two, which has new work from the second look on."""
        if number == 1 or self.does == "no list":
            return (503, {}) if self.does == "no list" else (200, {"results": [], "next": None})
        more = f"{self.url}/predictions/page2" if len(self.predictions) > 2 else None
        return 200, {"results": self.predictions[:2], "next": more}

    def look(self, path: str, name: str, number: int) -> Any:
        if name == "predictions":
            return self.page(number)
        if name == "page2":
            return 200, {"results": self.predictions[2:], "next": None}
        body = {
            "id": name,
            "model": "o/n",
            "version": "hidden",
            "status": "processing",
            "error": None,
            "output": None,
            "logs": "",
        }
        if number <= self.polls or self.does == "never":
            return 200, body
        ends: dict[str, Any] = {
            "one": {"status": "succeeded", "output": self.picture_url()},
            "nsfw": {
                "status": "failed",
                "error": "NSFW content detected. Try running it again, or try a different prompt.",
            },
            "E005": {
                "status": "failed",
                "error": "The input or output was flagged as sensitive. Please try again. (E005)",
            },
            "cuda": {"status": "failed", "error": "CUDA out of memory"},
            "canceled": {"status": "canceled"},
            "empty": {"status": "succeeded", "output": []},
            "held": {
                "status": "succeeded",
                "output": [],
                "logs": "NSFW content detected in image 0",
            },
        }
        if self.does == "lost":
            return 404, {"detail": "The requested resource could not be found.", "status": 404}
        return 200, body | ends.get(
            self.does, {"status": "succeeded", "output": [self.picture_url()]}
        )


class IdeogramStudio(Studio):
    """POST /v2/image/generate/MODEL and GET /v2/generations/ID."""

    prefix = "/v2"

    def allowed(self, headers: Any) -> bool:
        return headers.get("Api-Key") == self.key

    def stranger(self, headers: Any) -> tuple[int, Any]:
        return 401, {"error": "Invalid API key"}

    def order(self, path: str, body: Any) -> Any:
        if path != "/v2/image/generate/ideogram-4-5" or body.pop("async") is not True:
            return 404, {"error": "Not found"}
        if self.does == "refuse":
            return 422, {"error": "Prompt or provided image failed the safety checks"}
        if self.does == "fast":
            return 429, {"error": "Too many requests"}
        self.submitted.append(body)
        return 200, {"generation_id": f"g{len(self.submitted)}", "seed": 7}

    def look(self, path: str, name: str, number: int) -> Any:
        if number <= self.polls:
            return 200, {"generation_id": name, "status": "pending"}
        drawn: dict[str, Any] = {
            "url": self.picture_url(),
            "prompt": self.submitted[0]["prompt"],
            "is_image_safe": True,
            "seed": 7,
        }
        if self.does == "unsafe":
            drawn |= {"is_image_safe": False, "url": ""}
        if self.does == "failed":
            return 200, {"generation_id": name, "status": "failed", "error": "out of capacity"}
        return 200, {"generation_id": name, "status": "completed", "data": [drawn]}


class FalStudio(Studio):
    """POST /OWNER/APP, GET …/requests/ID/status and GET …/requests/ID."""

    prefix = ""

    def allowed(self, headers: Any) -> bool:
        return headers.get("Authorization") == f"Key {self.key}"

    def stranger(self, headers: Any) -> tuple[int, Any]:
        return 401, {
            "detail": "Cannot access application. Authentication is required to access this application."
        }

    def order(self, path: str, body: Any) -> Any:
        self.submitted.append((path, body))
        base = f"{self.root}/fal-ai/flux/requests/r{len(self.submitted)}"
        return 200, {
            "request_id": f"r{len(self.submitted)}",
            "status": "IN_QUEUE",
            "status_url": f"{base}/status",
            "response_url": base,
        }

    def look(self, path: str, name: str, number: int) -> Any:
        if name == "status":
            url = f"{self.root}{path.removesuffix('/status')}"
            done = number > self.polls
            return (200 if done else 202), {
                "status": "COMPLETED" if done else "IN_PROGRESS",
                "response_url": url,
            }
        if self.does == "policy":
            return 422, {
                "detail": [
                    {
                        "loc": ["body", "prompt"],
                        "msg": "flagged by a content checker",
                        "type": "content_policy_violation",
                    }
                ]
            }
        if self.does == "invalid":
            return 422, {
                "detail": [
                    {"loc": ["body", "prompt"], "msg": "too long", "type": "string_too_long"}
                ]
            }
        images = [{"url": self.picture_url(), "content_type": "image/png"}]
        return 200, {
            "images": images,
            "prompt": "A photo of a guard",
            "has_nsfw_concepts": [self.does == "nsfw"],
            "seed": 7,
        }
