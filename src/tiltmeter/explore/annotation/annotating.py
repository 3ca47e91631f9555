"""The annotation page, served on loopback: one item at a time, each answer saved at once.

It shows the material to judge by (prompt, text or picture), but neither the subject's name nor any
label, and writes only answers. A save also sends the state that it replaces, so that two windows
cannot overwrite each other unnoticed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ...errors import RunBusy, TiltmeterError, UsageError
from ...gold import annotation, answers, people, refuse_stopped
from ...gold.annotation import Task
from ...gold.answers import State
from ...gold.review import Review, open_review
from ...gold.whole_outputs import WholeOutputTask, open_whole_outputs
from ...protocol import EVERY
from ...report.page_model.sanitize import visible
from ...store.queries import trials
from .. import rendering, security
from ..selection.index import Source
from ..selection.thumbnails import content
from .desk_end import end_of_task
from .desk_items import marked_cells, read_marks, shown_item

PATIENCE_MS = 3_000  # that a save waits for another process's


@dataclass(frozen=True, slots=True)
class DeskTask:
    """A person's task: to label a sample, settle disagreements, or review the run's taxonomy.
    among: the people who share the sample; () if everybody labels all of it.
    """

    annotator: str
    attribute: str = ""
    number: int | None = None
    seed: int | None = None
    what: str = "label"
    among: tuple[str, ...] = ()

    def open(self, source: Source) -> Task | Review | WholeOutputTask:
        """Opens this task on a run. Raises UsageError if there is nothing to do."""
        store, protocol = source.store, source.protocol
        annotator = people.annotator_named(store, protocol, self.annotator)
        if self.what == "review":
            return open_review(store, protocol, annotator)
        if self.what == "adjudicate":
            return annotation.open_adjudication(store, protocol, annotator, self.attribute)
        drawn = annotation.shared_sample(store, protocol, self.attribute, self.number, self.seed)
        named = [people.annotator_named(store, protocol, name) for name in self.among]
        among = people.divide(store, drawn["attribute"], annotator, named)
        mine = people.part_of(drawn["outputs"], annotator, among)
        drawn = {**drawn, "outputs": {key: drawn["outputs"][key] for key in mine}}
        if drawn["attribute"] == EVERY:
            return open_whole_outputs(store, protocol, annotator, drawn)
        return annotation.open_task(store, protocol, annotator, drawn)


class Desk:
    """A person's annotation task on one run; one thread opens, uses and closes the run's file."""

    def __init__(self, folder: Path | str, wanted: DeskTask) -> None:
        self._thread = security.OneThread()
        self.wanted = wanted
        try:
            self.source, self.task = self._thread.wait(_open, folder, wanted)
        except BaseException:
            self._thread.end()
            raise
        self.folder = self.source.store.folder
        self.order = self.task.items
        self.cells = marked_cells(self.source.protocol, self.task.attribute)

    def close(self) -> None:
        """Closes the run, on the thread that opened it."""
        self._thread.wait(self.source.store.close)
        self._thread.end()

    async def page(self, request: Request) -> Response:
        """Returns the page that shows items one by one."""
        missing = await self._thread.read(_missing, self.source)
        return HTMLResponse(
            rendering.render_template(
                "annotate.html.j2",
                protocol=self.source.protocol,
                task=self.task,
                what=self.wanted.what,
                missing=missing,
                person=self.wanted.annotator,
                words=answers.wording(),
                longest=answers.MOST_CHARACTERS,
                marking=bool(self.cells),
                whole=isinstance(self.task, WholeOutputTask),
                asked=self.source.protocol.annotation.get(self.task.attribute, {}),
            )
        )

    async def items(self, request: Request) -> Response:
        """Returns the id and the present answer of every item, in this person's order."""
        states = await self._thread.read(self.task.states)
        return JSONResponse(
            [{"id": item, "state": states.get(item, State())._asdict()} for item in self.order]
        )

    async def item(self, request: Request) -> Response:
        """Returns the content of one item."""
        item = await self._thread.read(
            shown_item, self.source, self.task, request.path_params["item"], self.cells
        )
        return JSONResponse(item)

    async def end(self, request: Request) -> Response:
        """Returns the data of the end page; status 409 if an item is not done."""
        states = await self._thread.read(self.task.states)
        if not all(states.get(item, State()).done for item in self.order):
            return JSONResponse({"error": "Not all items are done."}, 409)
        task = self.task
        names = list(task.tasks) if isinstance(task, WholeOutputTask) else [task.attribute]
        opened = sum(bool(state.opened) for state in states.values())
        ending = await self._thread.read(end_of_task, self.source, names, self.wanted.what, opened)
        return JSONResponse(ending)

    async def reading(self, request: Request) -> Response:
        """Returns the label that follows from the pronouns that a person marked in an answer."""
        marks = request.query_params.get("marks", "")
        answers.check_state(State(marks=marks), ())
        item = request.path_params["item"]
        value = await self._thread.read(
            read_marks, self.source, self.cells, item, self.task.attribute, marks
        )
        return JSONResponse({"value": value})

    async def save(self, request: Request) -> Response:
        """Saves an answer; returns 409 and the stored state if another window has changed it."""
        item, seen, now = _parse(await request.body())
        stored = await self._thread.read(self.task.save, item, seen, now)
        is_stored = stored == now or stored == now._replace(value="", skipped=now.value)
        return JSONResponse({"state": stored._asdict()}, 200 if is_stored else 409)

    async def picture(self, request: Request) -> Response:
        """Returns a stored picture at full size."""
        media_type, picture_bytes = await asyncio.to_thread(
            content, self.folder, request.path_params["name"]
        )
        headers = {} if media_type.startswith("image/") else {"Content-Disposition": "attachment"}
        return Response(picture_bytes, media_type=media_type, headers=headers)


def _open(folder: Path | str, wanted: DeskTask) -> tuple[Source, Task | Review | WholeOutputTask]:
    source = Source.open(0, folder)
    try:
        refuse_stopped(source.store)
        source.store.wait_for_others(PATIENCE_MS)
        return source, wanted.open(source)
    except BaseException:
        source.store.close()
        raise


def _missing(source: Source) -> int:
    """Counts planned trials without an output, which cannot be in a sample."""
    return trials.open_trials(source.store)


def _parse(body: bytes) -> tuple[str, State, State]:
    """Parses (item, seen, now) from a request's body. Raises UsageError if it is malformed."""
    try:
        sent = json.loads(body)
        states = [
            State(**{name: sent[which][name] for name in State._fields})
            for which in ("seen", "now")
        ]
        item = sent["item"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UsageError(
            "A request to save must be a JSON object with the fields 'item', 'seen' and 'now'."
        ) from None
    if not all(isinstance(text, str) for text in (item, *states[0], *states[1])):
        raise UsageError("'item' and the fields inside 'seen' and 'now' must be strings.")
    try:
        json.dumps(sent, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise UsageError(
            "A text contains an incomplete character (half a surrogate pair)."
        ) from None
    return item, states[0], states[1]


# the server


def application(desk: Desk, token: str, port: int) -> ASGIApp:
    """Makes the ASGI application. port: to check the Host header and to name the cookie."""
    routes = [
        Route("/", desk.page),
        Route("/items", desk.items),
        Route("/item/{item:path}", desk.item),
        Route("/reading/{item:path}", desk.reading),
        Route("/end", desk.end),
        Route("/save", desk.save, methods=["POST"]),
        Route("/blobs/{name:path}", desk.picture),
        *(
            Route(f"/{name}", security.asset)
            for name in ("explore.css", "annotate.css", "annotate.js")
        ),
        Route("/favicon.ico", security.icon),
    ]
    app = Starlette(routes=routes, exception_handlers={TiltmeterError: _error_response})
    return security.Door(app, token, port, {"/save"})


def _error_response(request: Request, error: Exception) -> Response:
    status = 503 if isinstance(error, RunBusy) else 400 if isinstance(error, UsageError) else 500
    return JSONResponse({"error": visible(str(error))}, status, security.HEADERS)


def serve(
    folder: Path | str, wanted: DeskTask, port: int, ready: Callable[[str, Desk], None]
) -> None:
    """Serves until Ctrl-C. ready: called with the address and the desk once the server listens."""
    desk = Desk(folder, wanted)
    try:
        security.listen(partial(application, desk), port, lambda address: ready(address, desk))
    finally:
        desk.close()
