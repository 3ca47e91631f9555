"""The explorer as a server on loopback. It reads and never writes; what it is asked for stands in the address.

Who may look: whoever has the token, a random word in the first address, which then lives in a cookie. The Host header must be
loopback's, so that a name that somebody points at this machine opens nothing. Runs are read on one thread, which opened them.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from ..errors import TiltmeterError, UsageError
from ..pictures import Unusable
from . import rendering
from .detail import Detail, detail
from .index import Index, opened
from .page import page
from .parts import Page
from .thumbnails import Thumbnails, content
from .view import View

T = TypeVar("T")
LOOPBACK = "127.0.0.1"
HEADERS = {
    "Content-Security-Policy": rendering.policy(inline=False),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
KEPT = {"Cache-Control": "private, max-age=86400, immutable"}  # a blob's name is the hash of its content


class Explorer:
    """The pages of some runs. Opened and closed on the thread that reads them."""

    def __init__(self, folders: Sequence[Path | str]) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="runs")
        self._thumbnails = Thumbnails()
        try:
            self.indices: list[Index] = self._thread.submit(opened, folders).result()
        except BaseException:
            self._thread.shutdown()
            raise
        self.folders = {n: source.store.folder for index in self.indices for n, source in index.sources.items()}
        self.titles = [index.protocol.title for index in self.indices]

    async def read(self, function: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(function, *given))

    def close(self) -> None:
        for index in self.indices:
            self._thread.submit(index.close).result()
        self._thread.shutdown()

    # what is shown

    async def grid(self, request: Request) -> Response:
        view = View.parse(request.query_params)
        found, looked = await self.read(self._grid, view)
        studies = tuple((title, f"/?study={n}") for n, title in enumerate(self.titles)) if self.titles[1:] else ()
        return HTMLResponse(rendering.grid(found, self.places(found.view), studies, looked))

    def _grid(self, view: View) -> tuple[Page, Detail | None]:
        if view.study >= len(self.indices):
            raise UsageError("There is no such group of runs.")
        index = self.indices[view.study]
        run, _, trial = view.open.partition("-")
        try:
            looked = detail(index, int(run), trial) if trial and run.isascii() and run.isdigit() else None
        except UsageError:
            looked = None  # an old address: the grid is shown all the same
        return page(index, view), looked

    async def output(self, request: Request) -> Response:
        run, trial = request.path_params["run"], request.path_params["trial"]
        index = next((index for index in self.indices if run in index.sources), None)
        if index is None:
            raise UsageError("There is no such run.")
        found = await self.read(detail, index, run, trial)
        back = "/?" + request.url.query
        if "x-part" in request.headers:
            return HTMLResponse(rendering.part(found, self.places(View())))
        return HTMLResponse(rendering.alone(found, self.places(View()), back))

    async def picture(self, request: Request) -> Response:
        return await self._file(request, content)

    async def thumbnail(self, request: Request) -> Response:
        return await self._file(request, lambda folder, name: ("image/jpeg", self._thumbnails.small(folder, name)))

    async def _file(self, request: Request, read: Callable[[Path, str], tuple[str, bytes]]) -> Response:
        folder = self.folders.get(request.path_params["run"])
        if folder is None:
            raise UsageError("There is no such run.")
        media_type, found = await asyncio.to_thread(read, folder, request.path_params["name"])
        shown = {} if media_type.startswith("image/") else {"Content-Disposition": "attachment"}
        return Response(found, media_type=media_type, headers=KEPT | shown)

    async def state(self, request: Request) -> Response:
        """How many outputs there are, for a page that waits for more."""
        view = View.parse(request.query_params)
        index = self.indices[view.study] if view.study < len(self.indices) else self.indices[0]
        return JSONResponse({"outputs": await self.read(_outputs, index)})

    @staticmethod
    def places(view: View) -> rendering.Places:
        return rendering.Places(
            small=lambda run, name: f"/small/{run}/{quote(name, safe='')}",
            whole=lambda run, name: f"/blobs/{run}/{quote(name, safe='')}",
            output=lambda run, trial: f"/output/{run}/{quote(trial, safe='')}{view.address(page=view.page)}",
            inline=False,
        )


def _outputs(index: Index) -> int:
    return sum(next(source.store.rows("SELECT count(*) FROM outputs"))[0] for source in index.sources.values())


async def icon(request: Request) -> Response:
    """There is none; browsers ask all the same."""
    return Response(status_code=204)


async def asset(request: Request) -> Response:
    name = request.url.path.removeprefix("/")
    return Response(rendering.asset(name), media_type="text/css" if name.endswith(".css") else "text/javascript")


def application(explorer: Explorer, token: str, port: int) -> Any:
    """The ASGI application. port: the one that the Host header must name, and that the cookie is named after."""
    routes = [
        Route("/", explorer.grid), Route("/output/{run:int}/{trial:path}", explorer.output),
        Route("/small/{run:int}/{name:path}", explorer.thumbnail), Route("/blobs/{run:int}/{name:path}", explorer.picture),
        Route("/state", explorer.state), Route("/explore.css", asset), Route("/explore.js", asset),
        Route("/favicon.ico", icon),
    ]  # fmt: skip
    handlers: dict[Any, Any] = {TiltmeterError: _refused, Unusable: _refused}
    made = Starlette(routes=routes, exception_handlers=handlers)
    return Door(made, token, port)


def _refused(request: Request, error: Exception) -> Response:
    file = request.url.path.startswith(("/blobs/", "/small/"))
    status = 404 if file or isinstance(error, UsageError) else 500
    text = f"The picture {error}." if isinstance(error, Unusable) else str(error)
    return HTMLResponse(rendering.message(text, Explorer.places(View())), status, HEADERS)


class Door:
    """Lets in who has the token and came to loopback, to read; every answer has the headers."""

    def __init__(self, inside: Any, token: str, port: int) -> None:
        self._inside, self._token = inside, token
        self._cookie = f"tiltmeter-{port}"  # cookies are not told apart by port
        self._hosts = {f"{name}:{port}" for name in (LOOPBACK, "localhost")}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._inside(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        request = Request(scope)
        answer = self._checked(request)
        await (answer or self._inside)(scope, receive, _with_headers(send))

    def _checked(self, request: Request) -> Response | None:
        """The answer to who may not come in, or comes for the first time."""
        if request.headers.get("host", "") not in self._hosts:
            return _said("This address is not loopback's.", 421)
        if request.method not in ("GET", "HEAD"):
            return _said("This can only be read.", 405)
        if self._known(request.query_params.get("token", "")):
            rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
            answer = RedirectResponse(request.url.path + ("?" + urlencode(rest) if rest else ""), 303)
            answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
            return answer
        if not self._known(request.cookies.get(self._cookie, "")):
            return _said("Open the address that tiltmeter explore printed: it has a token in it.", 403)
        return None

    def _known(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


def _said(text: str, status: int) -> Response:
    return Response(text + "\n", status, media_type="text/plain")


def _with_headers(send: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = message | {"headers": [*message["headers"], *(one for one in more if one[0] not in given)]}
        await send(message)

    return sent


def bound(port: int) -> socket.socket:
    """A socket on loopback; port 0 takes a free one. UsageError where the port is taken."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((LOOPBACK, port))
    except OSError as error:
        made.close()
        raise UsageError(f"Port {port} cannot be used: {error.strerror}. Type --port 0 for a free one.") from None
    return made


def serve(folders: Sequence[Path | str], port: int, ready: Callable[[str], None]) -> None:
    """Serves until Ctrl-C. ready: is told the address when the server listens."""
    explorer = Explorer(folders)
    try:
        with bound(port) as made:
            number, token = made.getsockname()[1], secrets.token_urlsafe(24)
            config = uvicorn.Config(application(explorer, token, number), log_level="error", access_log=False, lifespan="off",
                                    ws="none", http="h11", loop="asyncio", server_header=False,
                                    timeout_graceful_shutdown=1)  # fmt: skip
            made.listen(128)
            ready(f"http://{LOOPBACK}:{number}/?token={token}")
            uvicorn.Server(config).run(sockets=[made])
    finally:
        explorer.close()
