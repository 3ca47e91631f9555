"""Serves a planted model over loopback in OpenAI's chat format, so that tests cover all code
between an audit and a model.

    python -m tiltmeter.planted.server she=0.7,fail=.05 --port 0      (prints the base URL as its
                                                            first line)

Paths: POST /v1/chat/completions, POST /v1/images/generations, GET /v1/models, and GET /count, the
counts of this server's requests. Every error repeats the Authorization header that came, as
careless servers do, to catch a client that leaks its key into messages. It speaks plain HTTP and is
only for the machine on which it runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import blake2b

from aiohttp import web

from ..errors import TiltmeterError, UsageError
from ..models.http.body import at, object_at
from ..records import REFUSAL, Json, Reply, Request
from ..system import add_signal_handlers
from .model import Planted
from .served import chat, pictures
from .served.pictures import Shelf
from .settings import Settings
from .subjects import parse

_JSON = "application/json"
_PAGE = b"<!DOCTYPE html><html><body><h1>It works!</h1></body></html>"


class RequestCount:
    """The counts of a server's requests. Distinct requests differ in messages or seed."""

    def __init__(self) -> None:
        self.total = self.answered = 0
        self.asked: Counter[bytes] = Counter()

    def note(self, messages: Json, seed: Json) -> int:
        """Counts a request; returns the number of earlier requests equal to it."""
        self.total += 1
        key = blake2b(
            repr((messages, seed)).encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()
        self.asked[key] += 1
        return self.asked[key] - 1

    def as_dict(self) -> dict[str, int]:
        """Returns the counts. answered: number with a whole reply; most: number of equal ones."""
        return {
            "total": self.total,
            "answered": self.answered,
            "distinct": len(self.asked),
            "most": max(self.asked.values(), default=0),
        }


class Server:
    """A planted model behind HTTP. url: the base URL once started; count: counts of requests."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.count, self.url = settings, RequestCount(), ""
        self._shelf = Shelf()
        self._model = Planted(settings, see=self._shelf.see)
        self._constant = json.dumps(
            chat.completion(Reply("she", usage=(20, 1), served="planted"))
        ).encode()
        self._runner = web.ServerRunner(
            web.Server(self._route, access_log=None), shutdown_timeout=0.2
        )

    async def start(self, host: str, port: int) -> None:
        """Listens at host and port (0: any free port). Raises UsageError if this fails."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port, backlog=2048).start()
        except OSError as error:
            await self._runner.cleanup()
            raise UsageError(
                f"Port {port} of {host} cannot be used ({error.strerror}). For any free port "
                "type: --port 0"
            ) from None
        open_port = self._runner.addresses[0][1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{open_port}/v1"

    async def close(self) -> None:
        """Stops listening, and gives requests in flight 0.2 s to end."""
        await self._runner.cleanup()

    async def __aenter__(self) -> Server:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/v1/chat/completions" and request.method == "POST":
            if self.settings.fast:
                await request.read()
                self.count.total += 1
                self.count.answered += 1
                return web.Response(body=self._constant, content_type=_JSON)
            return await self._handle(request, partial(chat.chat_request, self._shelf))
        if request.path == "/v1/images/generations" and request.method == "POST":
            return await self._handle(request, pictures.picture_request)
        if request.path in ("/count", "/v1/count"):
            return _json_response(200, self.count.as_dict())
        if request.path == "/v1/models":
            return _json_response(
                200,
                {
                    "object": "list",
                    "data": [{"id": "planted", "object": "model", "owned_by": "tiltmeter"}],
                },
            )
        return _error(request, 404, f"Invalid URL ({request.method} {request.path})")

    async def _handle(
        self, request: web.BaseRequest, read: Callable[[Json], Request]
    ) -> web.StreamResponse:
        try:
            body: Json = json.loads(await request.read())
            asked = read(body)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self.count.total += 1
            return _error(request, 400, f"We could not parse the body of your request: {error!r}")
        question = at(body, "messages") or at(body, "prompt")
        again = self.count.note(question, at(body, "seed"))
        if asked.sampling.seed is None:  # without a seed each request is another draw
            asked = replace(asked, nonce=str(again))
        sent = object_at(body)
        refused = next((name for name in self.settings.refuses if name in sent), "")
        if refused:
            return _error(
                request,
                400,
                f"Unsupported parameter: '{refused}' is not supported with this model.",
                refused,
            )
        if self.settings.most and asked.logprobs > self.settings.most:
            problem = (
                f"Requested sample logprobs of {asked.logprobs}, which is greater than max "
                f"allowed: {self.settings.most}"
            )
            return _error(request, 400, problem)
        if self.settings.blind and any(message.pictures for message in asked.messages):
            return _error(request, 400, "This model does not support image inputs.")
        broken = self._broken(request)
        if broken is not None:
            return broken
        if self.settings.latency:
            await asyncio.sleep(self._model.latency(asked))
        return await self._answer(request, asked)

    def _broken(self, request: web.BaseRequest) -> web.StreamResponse | None:
        """Returns the reply if the settings make every reply wrong; else None."""
        settings = self.settings
        if settings.unauthorised:
            return _error(request, 401, "Incorrect API key provided.", code="invalid_api_key")
        if settings.quota:
            return _error(
                request, 429, "You exceeded your current quota.", code="insufficient_quota"
            )
        if settings.redirect:
            return web.Response(status=307, headers={"Location": "/v1/models"})
        if settings.html:
            return web.Response(body=_PAGE, content_type="text/html")
        if settings.notchat:
            return _json_response(
                200, {"status": "ok", "you_sent": request.headers.get("Authorization", "")}
            )
        return None

    async def _answer(self, request: web.BaseRequest, asked: Request) -> web.StreamResponse:
        fault = self._model.fault(asked)
        if fault == "fail":
            return _error(request, 503, "The server is overloaded, as it was told to be.")
        if fault == "limit":
            return _error(
                request,
                429,
                "Too many requests.",
                headers={"Retry-After": f"{self.settings.wait:g}"},
            )
        if fault == "hang":
            await asyncio.sleep(3600)
        if fault in ("hang", "drop"):
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        try:
            reply = self._model.reply(asked)
        except TiltmeterError as error:
            return _error(request, 400, str(error))
        if asked.size and reply.outcome == REFUSAL:
            self.count.answered += 1
            return _error(request, 400, reply.text, code="moderation_blocked")
        if self.settings.echo and asked.begin:
            reply = replace(reply, text=asked.begin + reply.text)
        shape = (
            pictures.generation(reply)
            if asked.size
            else chat.completion(reply, lie=self.settings.lie)
        )
        content = json.dumps(shape).encode()
        if fault == "truncate":
            return web.Response(body=content[: len(content) // 2], content_type=_JSON)
        self.count.answered += 1
        return web.Response(body=content, content_type=_JSON)


def _json_response(status: int, body: Json, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        status=status, body=json.dumps(body).encode(), content_type=_JSON, headers=headers
    )


def _error(
    request: web.BaseRequest,
    status: int,
    message: str,
    parameter: str | None = None,
    *,
    code: str | None = None,
    headers: dict[str, str] | None = None,
) -> web.Response:
    sent = request.headers.get("Authorization")
    message += f" (You sent: {sent})" if sent else ""
    error = {"message": message, "type": "invalid_request_error", "param": parameter, "code": code}
    return _json_response(status, {"error": error}, headers)


async def start(settings: str, port: int = 0, host: str = "127.0.0.1") -> Server:
    """Starts a server in the running event loop; end it by `server.close()` or `async with`."""
    server = Server(parse(settings))
    await server.start(host, port)
    return server


def serve(settings: str, host: str = "127.0.0.1", port: int = 0) -> None:
    """Serves until Ctrl-C or SIGTERM; prints the base URL as the first line on standard output."""
    with suppress(KeyboardInterrupt):
        asyncio.run(_forever(settings, host, port))


async def _forever(settings: str, host: str, port: int) -> None:
    done = asyncio.Event()
    async with await start(settings, port, host) as server:
        print(server.url, flush=True)
        # where that cannot be, Ctrl-C ends asyncio.run itself
        add_signal_handlers((signal.SIGINT, signal.SIGTERM), done.set)
        await done.wait()


def main() -> int:
    """Runs the command line of this module; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tiltmeter.planted.server", description="Serve a planted model."
    )
    parser.add_argument("settings", help="as in planted:SETTINGS, for instance she=0.7,fail=.05")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    try:
        serve(options.settings, options.host, options.port)
    except TiltmeterError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
