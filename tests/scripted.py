"""A chat server that replies as a script says, to stand for endpoints that think, stop early or refuse parameters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

Body = dict[str, Any]
Script = Callable[[Body], "tuple[int, Any]"]
USAGE = {"prompt_tokens": 40, "completion_tokens": 3, "total_tokens": 43}


def chat(
    text: str | None,
    reason: str | None = "stop",
    *,
    usage: Mapping[str, Any] | None = None,
    model: str = "scripted",
    **message: Any,
) -> tuple[int, Body]:
    """A chat completion with a text and a `finish_reason`; further keywords go into the message."""
    told = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": told, "finish_reason": reason}
    body = {"model": model, "choices": [choice], "usage": dict(usage or USAGE)}
    return 200, body


def refuse(parameter: str) -> tuple[int, Body]:
    """An error 400 that names a parameter, as OpenAI words it."""
    said = f"Unsupported parameter: '{parameter}' is not supported with this model."
    return 400, {"error": {"message": said, "param": parameter, "code": "unsupported_parameter"}}


class Scripted:
    """The server. reply: what it says to a body of /v1/chat/completions; paths: what it says on other paths, else 404;
    delay: seconds before each reply. `seen`: the bodies that came.
    """

    def __init__(
        self,
        reply: Script,
        paths: Mapping[str, Callable[[Body], Any]] | None = None,
        delay: float = 0.0,
    ) -> None:
        self.seen: list[Body] = []
        self.url = ""
        self._reply, self._paths, self._delay = reply, paths or {}, delay

    async def __aenter__(self) -> Scripted:
        handler: Any = web.Server(self._route, access_log=None)  # type: ignore[arg-type]
        self._runner = web.ServerRunner(handler, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        content = await request.read()
        body = json.loads(content) if content else {}
        if request.path == "/v1/chat/completions":
            self.seen.append(body)
            if self._delay:
                await asyncio.sleep(self._delay)
            status, said = self._reply(body)
        elif request.path in self._paths:
            status, said = 200, self._paths[request.path](body)
        else:
            status, said = 404, {"error": {"message": "there is nothing here"}}
        return web.Response(
            status=status, body=json.dumps(said).encode(), content_type="application/json"
        )
