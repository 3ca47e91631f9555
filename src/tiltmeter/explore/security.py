"""Serves on loopback only, and only to browsers that know the token.

The token is a random word in the address that is opened first; after that it is kept in a cookie.
The Host header must be loopback's, so that a domain that resolves to this machine opens nothing.
Only named paths can be written to, and pages of other origins cannot: the browser sends the origin
of the request, and leaves the cookie out.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar
from urllib.parse import urlencode

import uvicorn
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import UsageError
from . import rendering

T = TypeVar("T")
P = ParamSpec("P")
LOOPBACK = "127.0.0.1"
MOST_BYTES = 32_768  # that may be sent: an answer, a reason and a note
HEADERS = {
    "Content-Security-Policy": rendering.policy(inline=False),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


class OneThread:
    """A thread that opens a run's file and is alone in using it."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="runs")

    def wait(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls a function on the thread, from ordinary code."""
        return self._pool.submit(function, *args, **kwargs).result()

    async def read(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls a function on the thread, from a coroutine."""
        call = partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def end(self) -> None:
        """Ends the thread once its work is done."""
        self._pool.shutdown()


class Door:
    """Middleware that checks host, method and token and sets headers. writes: paths for POST."""

    def __init__(
        self, inside: ASGIApp, token: str, port: int, writes: Collection[str] = ()
    ) -> None:
        self._inside, self._token, self._writes = inside, token, frozenset(writes)
        self._cookie = f"tiltmeter-{port}"  # cookies are not told apart by port
        self._hosts = {f"{name}:{port}" for name in (LOOPBACK, "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inside(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        request = Request(scope)
        answer = self._refuse_entry(request)
        await (answer or self._inside)(scope, receive, _with_headers(send))

    def _refuse_entry(self, request: Request) -> Response | None:
        """Returns a refusal, or a redirect that sets the cookie; None if the request may pass."""
        if request.headers.get("host", "") not in self._hosts:
            return _plain_response("This address is not loopback's.", 421)
        is_writing = request.method == "POST" and request.url.path in self._writes
        if request.method not in ("GET", "HEAD") and not is_writing:
            return _plain_response("This can only be read.", 405)
        if not is_writing and self._is_token(request.query_params.get("token", "")):
            return self._welcome(request)
        if not self._is_token(request.cookies.get(self._cookie, "")):
            return _plain_response(
                "Open the address that tiltmeter printed: it has a token in it.", 403
            )
        return self._refuse_writing(request) if is_writing else None

    def _welcome(self, request: Request) -> Response:
        rest = [
            (name, value) for name, value in request.query_params.multi_items() if name != "token"
        ]
        answer = RedirectResponse(request.url.path + ("?" + urlencode(rest) if rest else ""), 303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return answer

    def _refuse_writing(self, request: Request) -> Response | None:
        """Rejects requests from other or unknown origins, and bodies that are not short JSON."""
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        is_own_origin = origin == f"http://{request.headers['host']}" or (
            origin is None and site == "same-origin"
        )
        if not is_own_origin or site not in (None, "same-origin"):
            return _plain_response("Only the page that tiltmeter serves may write.", 403)
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _plain_response("What is sent must be JSON.", 415)
        length = request.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()) or "transfer-encoding" in request.headers:
            return _plain_response("What is sent must say how long it is.", 411)
        return (
            _plain_response(f"What is sent may have {MOST_BYTES:,} bytes at most.", 413)
            if int(length) > MOST_BYTES
            else None
        )

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


def _plain_response(text: str, status: int) -> Response:
    return Response(text + "\n", status, media_type="text/plain")


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message["headers"]}
            more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            headers = [*message["headers"], *(one for one in more if one[0] not in present)]
            message = {**message, "headers": headers}
        await send(message)

    return send_with_headers


async def icon(request: Request) -> Response:
    """Answers a browser's request for an icon with an empty response (204)."""
    return Response(status_code=204)


async def asset(request: Request) -> Response:
    """Returns a style sheet or script of this package."""
    name = request.url.path.removeprefix("/")
    return Response(
        rendering.asset(name), media_type="text/css" if name.endswith(".css") else "text/javascript"
    )


def bound(port: int) -> socket.socket:
    """Opens a socket on loopback; 0 takes any free port. UsageError if the port cannot be used."""
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((LOOPBACK, port))
    except OSError as error:
        opened.close()
        raise UsageError(
            f"Port {port} cannot be used: {error.strerror}. For any free port type: --port 0"
        ) from None
    return opened


def listen(made: Callable[[str, int], ASGIApp], port: int, ready: Callable[[str], None]) -> None:
    """Serves until Ctrl-C. made: (token, port) → application; ready: called with the address."""
    with bound(port) as taken:
        number, token = taken.getsockname()[1], secrets.token_urlsafe(24)
        config = uvicorn.Config(
            made(token, number),
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            http="h11",
            loop="asyncio",
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        taken.listen(128)
        ready(f"http://{LOOPBACK}:{number}/?token={token}")
        uvicorn.Server(config).run(sockets=[taken])
