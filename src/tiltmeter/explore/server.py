"""The explorer as a server on loopback. The address holds the whole view. Runs are only read,
except for corrections by a person who gave a name (corrections.py).

One thread opens and reads the runs. Access is checked in security.py.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
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
from ..report.page_model.sanitize import all_visible
from ..store.queries import outputs
from . import rendering, security
from .browse.page import page
from .browse.report_page import ReportPages, response
from .selection.detail import Detail, detail
from .selection.index import Index, open_indices
from .selection.parts import OutputsPage
from .selection.thumbnails import Thumbnails, content
from .selection.view import View

NAMELESS = (
    "Nobody gave a name. To correct labels here type: tiltmeter explore {run} --annotator NAME. "
    "For gold, which is given without seeing labels: tiltmeter annotate {run} --annotator NAME"
)
# a blob's name is the hash of its content
LASTING = {"Cache-Control": "private, max-age=86400, immutable"}


class Explorer:
    """The explorer's pages for some runs, which one thread opens, reads and closes."""

    def __init__(
        self,
        folders: Sequence[Path | str],
        annotator: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """Opens the runs. annotator: who may correct labels, or ""; labels: {short name: model}."""
        self._thread = security.OneThread()
        self.read = self._thread.read
        self._thumbnails = Thumbnails()
        self._reports = ReportPages()
        try:
            self.indices: list[Index] = self._thread.wait(open_indices, folders, labels)
            self._correctors = self._thread.wait(self._correctors_named, annotator)
        except BaseException:
            self._thread.end()
            raise
        self.folders = {
            n: source.store.folder for index in self.indices for n, source in index.sources.items()
        }
        self.titles = [index.protocol.title for index in self.indices]

    def _correctors_named(self, name: str) -> dict[int, str]:
        """Returns {run: annotator for corrections}; empty if no name was given."""
        if not name:
            return {}
        from .browse import corrections  # with what gold is, for which a first page need not wait

        sources = [source for index in self.indices for source in index.sources.values()]
        return {source.number: corrections.corrector(source, name) for source in sources}

    def close(self) -> None:
        """Closes the runs, on the thread that opened them."""
        for index in self.indices:
            self._thread.wait(index.close)
        self._thread.end()

    # what is shown

    async def grid(self, request: Request) -> Response:
        """Returns the page of a view; if an output is opened, with the output beside it."""
        view = View.parse(request.query_params)
        page, looked = await self.read(self._grid, view)
        studies = tuple((title, f"/?study={n}") for n, title in enumerate(self.titles))
        sheet = "/sheet.png" + view.address(page=view.page) if page.has_sheet else ""
        places = self.places(page.view)
        reports = self._report_links(page.view.study)
        html = rendering.grid(
            page, places, studies if studies[1:] else (), looked, sheet=sheet, reports=reports
        )
        return HTMLResponse(html)

    def _report_links(self, study: int) -> tuple[tuple[str, str], ...]:
        """Returns (link text, address) of every run's report."""
        runs = self.indices[study].sources.values()
        has_several = len(runs) > 1
        return tuple(
            (f"Report of {run.name}" if has_several else "Report", f"/report/{run.number}")
            for run in runs
        )

    async def sheet(self, request: Request) -> Response:
        """Returns the pictures or texts of a page as one PNG."""
        from .browse.sheet import contact_sheet  # with Pillow, for which a first page need not wait

        page, _ = await self.read(self._grid, View.parse(request.query_params))

        def small(run: int, name: str) -> bytes:
            return self._thumbnails.small(self.folders[run], name)

        png = await asyncio.to_thread(contact_sheet, page, small)
        name = {"Content-Disposition": 'attachment; filename="contact-sheet.png"'}
        return Response(png, media_type="image/png", headers=name)

    def _grid(self, view: View) -> tuple[OutputsPage, Detail | None]:
        if view.study >= len(self.indices):
            raise UsageError("This page has no such group of runs. Reload it.")
        index = self.indices[view.study]
        run, _, trial = view.open.partition("-")
        try:
            has_output = trial and run.isascii() and run.isdigit()
            looked = detail(index, int(run), trial) if has_output else None
        except UsageError:
            looked = None  # an old address: the grid is shown all the same
        return page(index, view), looked

    async def output(self, request: Request) -> Response:
        """Returns one output: as a fragment if the script asks, else as a page."""
        run, trial = request.path_params["run"], request.path_params["trial"]
        index = self._index_of(run)
        details = await self.read(detail, index, run, trial)
        back = "/?" + request.url.query
        if "x-part" in request.headers:
            return HTMLResponse(rendering.part(details, self.places(View())))
        return HTMLResponse(rendering.alone(details, self.places(View()), back))

    def _index_of(self, run: int) -> Index:
        index_of_run = next((index for index in self.indices if run in index.sources), None)
        if index_of_run is None:
            raise UsageError("There is no such run.")
        return index_of_run

    async def report(self, request: Request) -> Response:
        """Returns the report of a run; its numbers link to their outputs in the grid."""
        run = request.path_params["run"]
        index = self._index_of(run)
        study = self.indices.index(index)
        return response(await self.read(self._reports.page, index, run, study))

    async def correctable(self, request: Request) -> Response:
        """Lists the attributes of an output that can be corrected; 403 if no name was given."""
        run, output = request.path_params["run"], request.path_params["trial"]
        source = self._index_of(run).sources[run]
        if run not in self._correctors:
            folder = shlex.quote(str(source.store.folder))
            return JSONResponse({"error": NAMELESS.format(run=folder)}, 403)
        from .browse import corrections

        name = self._correctors[run]
        attributes = await self.read(corrections.correctable, source, output, name)
        return JSONResponse([all_visible(one) for one in attributes])

    async def correct(self, request: Request) -> Response:
        """Stores or withdraws a correction; status 403 if no name was given."""
        from .browse import corrections

        run, *correction = corrections.parse_correction(await request.body())
        index = self._index_of(run)
        if run not in self._correctors:
            return JSONResponse({"error": "Nobody gave a name with --annotator."}, 403)
        output, attribute, value = correction
        source, annotator = index.sources[run], self._correctors[run]
        await self.read(corrections.correct, source, output, annotator, attribute, value)
        await self.read(index.forget_labels)
        self._reports.forget()
        return JSONResponse({"stored": value})

    async def picture(self, request: Request) -> Response:
        """Returns a stored file at full size."""
        return await self._file(request, content)

    async def thumbnail(self, request: Request) -> Response:
        """Returns a stored picture as a small JPEG."""
        return await self._file(
            request, lambda folder, name: ("image/jpeg", self._thumbnails.small(folder, name))
        )

    async def _file(
        self, request: Request, read: Callable[[Path, str], tuple[str, bytes]]
    ) -> Response:
        folder = self.folders.get(request.path_params["run"])
        if folder is None:
            raise UsageError("There is no such run.")
        media_type, content = await asyncio.to_thread(read, folder, request.path_params["name"])
        headers = {} if media_type.startswith("image/") else {"Content-Disposition": "attachment"}
        return Response(content, media_type=media_type, headers=LASTING | headers)

    async def state(self, request: Request) -> Response:
        """Returns the number of outputs, to a page that polls for new ones."""
        view = View.parse(request.query_params)
        index = self.indices[view.study] if view.study < len(self.indices) else self.indices[0]
        return JSONResponse({"outputs": await self.read(_outputs, index)})

    @staticmethod
    def places(view: View) -> rendering.Places:
        """Returns functions for addresses here; an output's includes the view to return to."""
        address = view.address(page=view.page)
        return rendering.Places(
            small=lambda run, name: f"/small/{run}/{quote(name, safe='')}",
            whole=lambda run, name: f"/blobs/{run}/{quote(name, safe='')}",
            output=lambda run, trial: f"/output/{run}/{quote(trial, safe='')}{address}",
            inline=False,
        )


def _outputs(index: Index) -> int:
    return sum(outputs.number(source.store) for source in index.sources.values())


def application(explorer: Explorer, token: str, port: int) -> ASGIApp:
    """Makes the ASGI application. port: to check the Host header and to name the cookie."""
    routes = [
        Route("/", explorer.grid),
        Route("/output/{run:int}/{trial:path}", explorer.output),
        Route("/report/{run:int}", explorer.report),
        Route("/small/{run:int}/{name:path}", explorer.thumbnail),
        Route("/blobs/{run:int}/{name:path}", explorer.picture),
        Route("/state", explorer.state),
        Route("/sheet.png", explorer.sheet),
        Route("/correctable/{run:int}/{trial:path}", explorer.correctable),
        Route("/correct", explorer.correct, methods=["POST"]),
        Route("/explore.css", security.asset),
        Route("/explore.js", security.asset),
        Route("/favicon.ico", security.icon),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={TiltmeterError: _error_response, Unusable: _error_response},
    )
    return security.Door(app, token, port, {"/correct"})


def _error_response(request: Request, error: Exception) -> Response:
    file = request.url.path.startswith(("/blobs/", "/small/"))
    status = 404 if file or isinstance(error, UsageError) else 500
    text = f"The picture {error}." if isinstance(error, Unusable) else str(error)
    return HTMLResponse(rendering.message(text, Explorer.places(View())), status, security.HEADERS)


def serve(explorer: Explorer, port: int, ready: Callable[[str], None]) -> None:
    """Serves until Ctrl-C, then closes the explorer. ready: called with the address."""
    rendering.load_templates()  # before anybody waits for a page
    try:
        security.listen(partial(application, explorer), port, ready)
    finally:
        explorer.close()
