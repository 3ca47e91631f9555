"""The explorer as a server on loopback. It reads and never writes; what it is asked for stands in
the address.

Runs are read on one thread, which opened them. Who may look: security.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ..errors import TiltmeterError, UsageError
from ..images import Unusable
from ..store.queries import outputs
from . import rendering, security
from .detail import Detail, detail
from .index import Index, open_indices
from .page import page
from .parts import Page
from .sheet import contact_sheet
from .thumbnails import Thumbnails, content
from .view import View

# a blob's name is the hash of its content
LASTING = {"Cache-Control": "private, max-age=86400, immutable"}


class Explorer:
    """The pages of some runs. Opened and closed on the thread that reads them."""

    def __init__(self, folders: Sequence[Path | str]) -> None:
        self._thread = security.OneThread()
        self.read = self._thread.read
        self._thumbnails = Thumbnails()
        try:
            self.indices: list[Index] = self._thread.wait(open_indices, folders)
        except BaseException:
            self._thread.end()
            raise
        self.folders = {
            n: source.store.folder for index in self.indices for n, source in index.sources.items()
        }
        self.titles = [index.protocol.title for index in self.indices]

    def close(self) -> None:
        """Closes the runs, on the thread that opened them."""
        for index in self.indices:
            self._thread.wait(index.close)
        self._thread.end()

    # what is shown

    async def grid(self, request: Request) -> Response:
        """The page of a view, with the output that is looked at."""
        view = View.parse(request.query_params)
        found, looked = await self.read(self._grid, view)
        studies = (
            tuple((title, f"/?study={n}") for n, title in enumerate(self.titles))
            if self.titles[1:]
            else ()
        )
        pictured = found.pictures and found.view.show != "counts"
        sheet = "/sheet.png" + view.address(page=view.page) if pictured else ""
        places = self.places(found.view)
        return HTMLResponse(rendering.grid(found, places, studies, looked, sheet=sheet))

    async def sheet(self, request: Request) -> Response:
        """The pictures of a page as one PNG."""
        found, _ = await self.read(self._grid, View.parse(request.query_params))

        def small(run: int, name: str) -> bytes:
            return self._thumbnails.small(self.folders[run], name)

        made = await asyncio.to_thread(contact_sheet, found, small)
        name = {"Content-Disposition": 'attachment; filename="contact-sheet.png"'}
        return Response(made, media_type="image/png", headers=name)

    def _grid(self, view: View) -> tuple[Page, Detail | None]:
        if view.study >= len(self.indices):
            raise UsageError("There is no such group of runs.")
        index = self.indices[view.study]
        run, _, trial = view.open.partition("-")
        try:
            looked = (
                detail(index, int(run), trial)
                if trial and run.isascii() and run.isdigit()
                else None
            )
        except UsageError:
            looked = None  # an old address: the grid is shown all the same
        return page(index, view), looked

    async def output(self, request: Request) -> Response:
        """One output: a part for the script, else a page of its own."""
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
        """A stored file, whole."""
        return await self._file(request, content)

    async def thumbnail(self, request: Request) -> Response:
        """A stored picture, small."""
        return await self._file(
            request, lambda folder, name: ("image/jpeg", self._thumbnails.small(folder, name))
        )

    async def _file(
        self, request: Request, read: Callable[[Path, str], tuple[str, bytes]]
    ) -> Response:
        folder = self.folders.get(request.path_params["run"])
        if folder is None:
            raise UsageError("There is no such run.")
        media_type, found = await asyncio.to_thread(read, folder, request.path_params["name"])
        shown = {} if media_type.startswith("image/") else {"Content-Disposition": "attachment"}
        return Response(found, media_type=media_type, headers=LASTING | shown)

    async def state(self, request: Request) -> Response:
        """How many outputs there are, for a page that waits for more."""
        view = View.parse(request.query_params)
        index = self.indices[view.study] if view.study < len(self.indices) else self.indices[0]
        return JSONResponse({"outputs": await self.read(_outputs, index)})

    @staticmethod
    def places(view: View) -> rendering.Places:
        """Where things are on this server; an output's address says from which view it is."""
        shown = view.address(page=view.page)
        return rendering.Places(
            small=lambda run, name: f"/small/{run}/{quote(name, safe='')}",
            whole=lambda run, name: f"/blobs/{run}/{quote(name, safe='')}",
            output=lambda run, trial: f"/output/{run}/{quote(trial, safe='')}{shown}",
            inline=False,
        )


def _outputs(index: Index) -> int:
    return sum(outputs.number(source.store) for source in index.sources.values())


def application(explorer: Explorer, token: str, port: int) -> ASGIApp:
    """The ASGI application. port: the one that the Host header must name, and that the cookie is
    named after.
    """
    routes = [
        Route("/", explorer.grid),
        Route("/output/{run:int}/{trial:path}", explorer.output),
        Route("/small/{run:int}/{name:path}", explorer.thumbnail),
        Route("/blobs/{run:int}/{name:path}", explorer.picture),
        Route("/state", explorer.state),
        Route("/sheet.png", explorer.sheet),
        Route("/explore.css", security.asset),
        Route("/explore.js", security.asset),
        Route("/favicon.ico", security.icon),
    ]
    made = Starlette(
        routes=routes,
        exception_handlers={TiltmeterError: _error_response, Unusable: _error_response},
    )
    return security.Door(made, token, port)


def _error_response(request: Request, error: Exception) -> Response:
    file = request.url.path.startswith(("/blobs/", "/small/"))
    status = 404 if file or isinstance(error, UsageError) else 500
    text = f"The picture {error}." if isinstance(error, Unusable) else str(error)
    return HTMLResponse(rendering.message(text, Explorer.places(View())), status, security.HEADERS)


def serve(folders: Sequence[Path | str], port: int, ready: Callable[[str], None]) -> None:
    """Serves until Ctrl-C. ready: is told the address when the server listens."""
    explorer = Explorer(folders)
    rendering.load_templates()  # before anybody waits for a page
    try:
        security.listen(partial(application, explorer), port, ready)
    finally:
        explorer.close()
