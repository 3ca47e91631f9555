"""A provider of batches behind HTTP, which can kill its client at a chosen step.

    python -m tests.batches openai --settings she=.7 --oddities '{"looks": 3}'

prints its base URL as its first line. GET /ledger says what was billed; POST /forget {"lie"} begins anew, with a lie of lies.py or none;
POST /arm {"pid", "step", "phase"} kills a process when the so-manieth request from now came
(`before`), was done and not answered (`done`), or was answered (`sent`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from aiohttp import web

from tests.batches.answers import Answers
from tests.batches.anthropic_format import AnthropicFormat
from tests.batches.followers import MistralFormat, TogetherFormat
from tests.batches.gemini_format import GeminiFormat
from tests.batches.lies import Liar, Said, by_name, kind_of
from tests.batches.openai_format import AzureFormat, GroqFormat, OpenAIFormat
from tests.batches.provider import Ledger, Oddities, Provider
from tests.batches.wire import IN_ONE_PIECE, Complaint, Format, read_json, send
from tiltmeter.models.http.body import count_at, text_at
from tiltmeter.records import Json

FORMATS: dict[str, Callable[[Provider, Answers], Format]] = {
    "openai": OpenAIFormat,
    "azure": AzureFormat,
    "groq": GroqFormat,
    "mistral": MistralFormat,
    "together": TogetherFormat,
    "anthropic": AnthropicFormat,
    "gemini": GeminiFormat,
}
PHASES = ("before", "done", "sent")
MOST_BODY_BYTES = 2**32
Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]

ABOUT = ("/v1/models", "/props", "/version", "/api/version", "/tokenize", "/apply-template")


class BatchServer:
    """A provider in one format. url: its base URL."""

    def __init__(self, format_: str, settings: str = "", odd: Oddities | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory()
        odd = odd or Oddities()
        self._answers = answers = Answers(settings, odd.filtered)
        self.provider = Provider(Path(self._folder.name), odd, self._answer, format_[:2])
        self.format, self.url = FORMATS[format_](self.provider, answers), ""
        self._pid, self._phase, self._kill_at, self._step, self._armed = 0, "", 0, 0, 0
        self.name, self.liar, self._receipts_lost = format_, Liar(), 0

    @property
    def ledger(self) -> Ledger:
        """What came and what was billed."""
        return self.provider.ledger

    def _answer(self, name: str, body: Json) -> tuple[int, Json]:
        return self.format.answer(name, body)

    async def __aenter__(self) -> BatchServer:
        app = web.Application(client_max_size=MOST_BODY_BYTES, middlewares=[self._handle])
        app.router.add_get("/ledger", self._show)
        app.router.add_post("/arm", self._arm)
        app.router.add_post("/forget", self._forget)
        app.router.add_routes(self.format.routes())
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.host = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.url = self.host + self.format.base
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
        self._folder.cleanup()

    @web.middleware
    async def _handle(self, request: web.Request, handler: Handle) -> web.StreamResponse:
        if request.path in ("/ledger", "/arm", "/forget"):
            return await handler(request)
        self.ledger.steps.append(f"{request.method} {request.path}")
        self._step += 1
        step = self._step
        self._meet(step, "before")
        try:
            self.format.check_key(request)
            made = len(self.ledger.created)
            lies = self.liar.changes(kind_of(request.method, request.path))
            IN_ONE_PIECE.set(lies)
            response = await handler(request)
            created = len(self.ledger.created) > made
            lost = created and (self.provider.loses_reply() or self._loses_receipt())
            if lies and isinstance(response, web.Response):
                response = self._lie(response)
                lost = lost or response.headers.get("X-Abort") == "1"
        except Complaint as complaint:
            if not self.liar.provokes(kind_of(request.method, request.path)):
                self.ledger.complaints.append(f"{request.method} {request.path}: {complaint.said}")
            response = send(self.format.error(complaint.status, complaint.said), complaint.status)
            lost = False
        except web.HTTPNotFound:
            said = f"Invalid URL ({request.method} {request.path})"
            if not request.path.startswith(ABOUT):  # it is asked about itself, and says nothing
                self.ledger.complaints.append(said)
            return send(self.format.error(404, said), 404)
        self._meet(step, "done")
        if lost and request.transport is not None:
            request.transport.abort()
            return response
        if self._pid and self._phase == "sent" and not response.prepared:
            await response.prepare(request)
            await response.write_eof()
        self._meet(step, "sent")
        return response

    def _loses_receipt(self) -> bool:
        lost = self.liar.loses_receipt() and not self._receipts_lost
        self._receipts_lost += lost
        return lost

    def _lie(self, response: web.Response) -> web.Response:
        body = response.body
        assert isinstance(body, bytes)
        truth = Said(response.status, body, {"Content-Type": "application/json"})
        said = self.liar.change(truth)
        headers = {**said.headers, **({"X-Abort": "1"} if said.abort else {})}
        return web.Response(status=said.status, body=said.content, headers=headers)

    def _meet(self, step: int, phase: str) -> None:
        """Kills the client where that was asked for."""
        if self._pid and (step - self._armed, phase) == (self._kill_at, self._phase):
            with suppress(ProcessLookupError):  # its last step was the last thing it did
                os.kill(self._pid, signal.SIGKILL)
                self.ledger.kills.append(f"{self.ledger.steps[-1]} {phase}")
            self._pid = 0

    async def _arm(self, request: web.Request) -> web.StreamResponse:
        body = await read_json(request)
        self._pid, self._phase = count_at(body, "pid") or 0, text_at(body, "phase")
        self._kill_at, self._armed = count_at(body, "step") or 0, self._step
        return send({})

    def forget(self) -> None:
        """As if nothing had come yet."""
        self.provider.forget()
        self.format.uploads.clear()
        self._answers.forget()
        self._pid, self._receipts_lost = 0, 0
        self.liar = Liar()

    async def _forget(self, request: web.Request) -> web.StreamResponse:
        body = await read_json(request) if request.can_read_body else {}
        self.forget()
        self.liar = Liar(by_name(self.name, text_at(body, "lie")))
        return send({})

    async def _show(self, request: web.Request) -> web.StreamResponse:
        return send(self.ledger.as_dict())


async def serve(format_: str, settings: str, odd: Oddities) -> None:
    """Serves until it is told to end."""
    done = asyncio.Event()
    async with BatchServer(format_, settings, odd) as server:
        print(server.url, flush=True)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, done.set)
        await done.wait()
