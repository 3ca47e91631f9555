"""Distributes the requests to one model among workers.

The least loaded worker is asked; each has at most two requests (two batches of a model that works
on several requests as one). A worker is used as soon as it is ready, even if late; a worker that
dies is replaced. Its requests go to another worker if the model costs nothing; if they may be paid
for, they stay open and are counted. Workers must be alike: another fingerprint (weights, library,
device) stops the run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from ...errors import ModelError, TiltmeterError, Unanswered, UsageError
from ...records import Reply, Request
from .. import FREE, Model
from ..options import ReadBlob
from . import Cluster, Handle, WorkerLost, Workers
from .worker import IN_FLIGHT, Refusal, ShownPictures

STARTS = 5  # of one worker in a row that end before it is ready
DEATHS = 3  # of workers over one request, before it is left unanswered
STOP_S = 10.0  # that workers have to close their models
LOG = logging.getLogger("tiltmeter")


@dataclass(eq=False, slots=True)
class _Ready:
    """A worker that is ready for requests."""

    handle: Handle
    machine: str
    in_flight: int = 0
    answered: int = 0


@dataclass(slots=True)
class _Mark:
    """A text that all workers must report alike, and the machine that reported it first."""

    text: str = ""
    machine: str = ""

    def differs(self, text: str, machine: str) -> bool:
        """True if the text differs from the first text reported, which it stores; False for ""."""
        if text and not self.text:
            self.text, self.machine = text, machine
        return bool(text) and text != self.text


class WorkerPool(Model):
    """A model on workers. make: makes the model there, if it cannot be sent; read: reads the run's
    pictures, which are sent along.
    """

    def __init__(
        self,
        model: Model,
        make: Callable[[], Model],
        shown: ShownPictures,
        workers: Workers,
        join: Callable[[Workers], Cluster],
        read: ReadBlob | None = None,
    ) -> None:
        self.name, self.price, self.makes = model.name, model.price, model.makes
        self.continues, self._places = model.continues, IN_FLIGHT * model.batch
        self.parallel, self.servers = self._places * workers.number, workers.number
        self._model, self._make, self._shown = model, make, shown
        self._workers, self._join = workers, join
        self._read, self._local = read, model.price == FREE
        self._ready: list[_Ready] = []
        self._bringing: set[asyncio.Task[None]] = set()
        self._answered_by_lost = 0
        self._loaded, self._replied = _Mark(), _Mark()
        self._fault: TiltmeterError | None = None
        self._changed = asyncio.Condition()

    def check(self, request: Request) -> None:
        """Raises Incapable if the model cannot serve the request; asks no worker."""
        self._model.check(request)

    def sends_temperature(self, request: Request) -> bool:
        """True if the temperature of a request reaches the model."""
        return self._model.sends_temperature(request)

    @property
    def progress(self) -> str:
        """The number of replies per worker, as text."""
        counts = " · ".join(f"{one.answered:,}" for one in self._ready)
        lost = f" + {self._answered_by_lost:,} of lost ones" if self._answered_by_lost else ""
        return f"{len(self._ready)} of {self._workers.number} workers: {counts}{lost}"

    async def open(self) -> None:
        """Starts the workers, and waits until the first is ready."""
        self._cluster = await asyncio.to_thread(self._join, self._workers)
        try:
            self._payload = self._pack(self._cluster)
            for _ in range(self._workers.number):
                self._bring()
            async with self._changed:
                await self._changed.wait_for(lambda: self._fault or self._ready)
            if self._fault is not None:
                raise self._fault
        except BaseException:
            await self.close()
            raise

    def _pack(self, cluster: Cluster) -> bytes:
        try:
            return cluster.pack((self._model, self._shown))
        except UsageError:
            return cluster.pack((self._make, self._shown))

    async def close(self) -> None:
        """Ends all workers, and leaves the cluster."""
        for task in self._bringing:
            task.cancel()
        await asyncio.gather(*self._bringing, return_exceptions=True)
        ready, self._ready = self._ready, []
        try:
            await asyncio.gather(*(_stop(one.handle) for one in ready))
        finally:
            await asyncio.to_thread(self._cluster.leave)

    async def ask(self, request: Request) -> Reply:
        """Returns a worker's reply. Raises the model's errors, or Unanswered if workers died."""
        read = self._read
        names = {name for message in request.messages for name in message.pictures}
        pictures = {name: read(name) for name in names} if read is not None else {}
        for _ in range(DEATHS):
            worker = await self._take()
            try:
                reply = await worker.handle.ask(request, pictures)
            except WorkerLost as error:
                await self._replace(worker)
                if not self._local:
                    raise Unanswered(
                        f"{self.name}: {error}: the request may be paid for and is not sent again "
                        "automatically. Run the same command to send it again",
                        possibly_paid=True,
                    ) from None
            else:
                if isinstance(reply, Refusal):
                    raise reply.error()
                await self._refuse_other(worker, reply)
                worker.answered += 1
                return reply
            finally:
                await self._give_back(worker)
        raise Unanswered(f"{DEATHS} workers of {self.name} died during this request")

    async def _take(self) -> _Ready:
        """Returns the least loaded worker as soon as a worker has room."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: self._fault or any(w.in_flight < self._places for w in self._ready)
            )
            if self._fault is not None:
                raise self._fault
            worker = min(self._ready, key=lambda one: one.in_flight)
            worker.in_flight += 1
            return worker

    async def _give_back(self, worker: _Ready) -> None:
        async with self._changed:
            worker.in_flight -= 1
            self._changed.notify(1)

    async def _replace(self, worker: _Ready) -> None:
        """Replaces a lost worker, once, even if several requests notice the loss."""
        if worker in self._ready:
            self._ready.remove(worker)
            self._answered_by_lost += worker.answered
            LOG.info("a worker of %s on %s was lost", self.name, worker.machine)
            self._bring()
            await _stop(worker.handle)

    def _bring(self) -> None:
        task = asyncio.create_task(self._start())
        self._bringing.add(task)
        task.add_done_callback(self._bringing.discard)

    async def _start(self) -> None:
        """Starts a worker and adds it to the pool once it is ready."""
        for _ in range(STARTS):
            handle = self._cluster.start_worker(self._payload, self._workers.gpus)
            try:
                started = await handle.start()
            except WorkerLost:
                await _stop(handle)
                continue
            except Exception as error:  # noqa: BLE001  a model's own, of which nobody else hears
                await _stop(handle)
                reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
                await self._stop_with(ModelError(f"A worker of {self.name} ended: {reason}"))
                return
            except BaseException:
                await _stop(handle)
                raise
            if isinstance(started, Refusal):
                await self._stop_with(started.error())
            elif self._loaded.differs(started.fingerprint, started.machine):
                await self._stop_with(
                    self._other_worker(self._loaded, started.fingerprint, started.machine)
                )
            else:
                async with self._changed:
                    self._ready.append(_Ready(handle, started.machine))
                    self._changed.notify_all()
                return
            await _stop(handle)
            return
        if not self._ready:
            await self._stop_with(
                ModelError(
                    f"No worker of {self.name} starts: {STARTS} in a row ended before they were "
                    "ready. For the reason type the same command without --workers."
                )
            )

    async def _stop_with(self, fault: TiltmeterError) -> None:
        async with self._changed:
            self._fault = self._fault or fault
            self._changed.notify_all()

    async def _refuse_other(self, worker: _Ready, reply: Reply) -> None:
        """Raises ModelError if a worker's first reply names another model or fingerprint."""
        if worker.answered:
            return
        text = f"{reply.served} {reply.fingerprint}".strip()
        if self._replied.differs(text, worker.machine):
            fault = self._other_worker(self._replied, text, worker.machine)
            await self._stop_with(fault)
            raise fault

    def _other_worker(self, mark: _Mark, text: str, machine: str) -> ModelError:
        return ModelError(
            f"Workers of {self.name} differ: {mark.text} on {mark.machine}, {text} on {machine}. "
            "Their answers would come from two models. Install the same weights and versions."
        )


async def _stop(handle: Handle) -> None:
    with suppress(TimeoutError, WorkerLost):
        await asyncio.wait_for(handle.stop(), STOP_S)
