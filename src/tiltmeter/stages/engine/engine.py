"""Requests → stored replies, for subjects and judges alike: connections, limits, retries, budget,
resume, progress.

A job is a generator that yields requests, is sent their replies and returns rows (outputs or
labels). The engine drives as many jobs at once as it has workers and draws the next one only when a
worker is free, so memory does not grow with the
number of trials. A request that was answered before is answered from the store: the same command
goes on where it was. So is a question that others asked in the same words of a judge who draws
nothing (`Request.shared`): the first is sent, the others wait for its reply, and where it has none
the next is sent in its place.

A worker gives up its place only when its rows are committed, so a killed process has paid for
nothing beyond what was in flight. Commits are grouped: all that one turn of the event loop brought
goes into one transaction.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import Protocol

from ...errors import Interrupted, ModelError, TiltmeterError, TransientError, Unanswered
from ...models import Model
from ...records import Reply, Request
from ...store import Store
from .caller import LOG, Caller
from .interruption import on_interruption
from .limits import Deferred, Limits, Stopped, Tally
from .writer import Call, Row, Writer

Job = Generator[Sequence[Request], Sequence[Reply], Sequence[Row]]

UNASKED_TOGETHER = 100  # jobs that asked nobody, whose rows are one transaction
FAILURES_IN_A_ROW = 5  # calls that used up all their tries, before the run stops


_GC = threading.Lock()
_BEFORE: list[tuple[int, int, int]] = []  # the program's own first, then one a further run


class Aside(Protocol):
    """Where requests are put that wait for a batch (batches.py)."""

    @property
    def deferred(self) -> int:
        """Requests of this stage that wait for a batch."""

    def is_out(self, request: Request) -> bool:
        """True if a request is in a batch, which is waited for."""

    def puts_aside(self, model: Model, request: Request) -> bool:
        """True if a request goes into a batch."""


class Models:
    """The models of a run, made and opened when first asked: a stage that asks none starts no
    server and needs no key. aside: where requests go that wait for a batch; None for nowhere.

    An async context manager: leaving it closes what was opened.
    """

    aside: Aside | None = None

    def __init__(self, make: Callable[[str], Model]) -> None:
        self._make = make
        self._opened: dict[str, asyncio.Task[Model]] = {}

    def opened(self, name: str) -> Model | None:
        """The model of that name, where it is open already."""
        task = self._opened.get(name)
        return task.result() if task is not None and task.done() else None

    async def get(self, name: str) -> Model:
        """The model of that name, opened; waits where another job is opening it."""
        task = self._opened.get(name)
        if task is None:
            task = self._opened[name] = asyncio.ensure_future(self._open(name))
        return task.result() if task.done() else await asyncio.shield(task)

    async def _open(self, name: str) -> Model:
        model = self._make(name)
        await model.open()
        return model

    async def __aenter__(self) -> Models:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Closes every model that was opened. What one raises comes out when the others are closed,
        and takes the place of no error of the run.
        """
        try:
            async with AsyncExitStack() as stack:
                for task in self._opened.values():
                    stack.push_async_callback(_close, task)
        except Exception as fault:
            if error is None:
                raise
            error.add_note(f"A model could not be closed either: {fault!r}")


async def _close(task: asyncio.Task[Model]) -> None:
    with suppress(TiltmeterError, asyncio.CancelledError):
        await (await task).close()


class Engine:
    """Drives jobs over models into a store."""

    def __init__(
        self,
        store: Store,
        models: Models,
        limits: Limits,
        watch: Callable[[Tally], None] = lambda tally: None,
    ) -> None:
        self._store, self._models, self._limits, self._watch = store, models, limits, watch
        self.tally = Tally(spent=store.spent())
        self._failures = 0
        self._unasked: list[Sequence[Row]] = []  # of jobs that asked nobody, not yet stored
        self._error: Exception | None = None

    async def drive(self, jobs: Iterable[Job]) -> Tally:
        """Runs all jobs; raises the first error that stops a run once what was in flight is
        stored.
        """
        self._caller = Caller(self._store, self._limits, self.tally, self._watch, self._halt)
        self._writer = Writer(self._store)
        # calls that were answered before this drive, and shared ones of this drive, by purpose
        self._known: dict[str, set[str]] = {}
        # shared requests, by key; an event where another one waits
        self._being_asked: dict[str, asyncio.Event | None] = {}
        source = iter(jobs)
        with on_interruption(self._interrupt), fewer_collections():
            async with asyncio.TaskGroup() as group:
                for _ in range(self._limits.concurrency):
                    group.create_task(self._work(source))
            try:
                if self._unasked:
                    await self._store_unasked(self._unasked)
            except TiltmeterError as error:
                self._halt(error)
        self._caller.close()
        done, calls, failed = self.tally.done, self.tally.calls, self.tally.failed
        LOG.info(
            "%d done with %d calls, %d unanswered, $%.4f", done, calls, failed, self.tally.spent
        )
        if self._error is not None:
            raise self._error
        return self.tally

    def _interrupt(self) -> None:
        """Nothing new is sent, what is in flight is stored. A second Ctrl-C ends at once."""
        self._halt(
            Interrupted(
                "Stopped. Everything received is stored; the same command goes on from here."
            )
        )
        self.tally.waiting = (
            f"stopping: {self._caller.in_flight} calls in flight are awaited and stored; "
            "Ctrl-C again ends at once, and what they cost is lost"
        )
        self._watch(self.tally)

    def _halt(self, error: Exception) -> None:
        self._error = self._error or error
        self._caller.stop.set()

    async def _work(self, source: Iterator[Job]) -> None:
        while not self._caller.stop.is_set():
            try:
                job = next(source, None)
                if job is None:
                    return
                await self._do(job)
            except Stopped:
                return
            except Deferred:
                pass
            except Unanswered as error:
                self.tally.failed += 1
                self.tally.last_failure = str(error)
            except TransientError as error:
                self._give_up(error)
            # A fault in one job loses no reply of the others.
            except Exception as error:  # noqa: BLE001
                self._halt(error)
                return
            self._watch(self.tally)

    def _give_up(self, error: TransientError) -> None:
        """One call used up its tries: the trial stays open, and the run stops when nothing gets
        through.
        """
        self.tally.failed += 1
        self.tally.last_failure = str(error)
        self._failures += 1
        if self._failures >= FAILURES_IN_A_ROW:
            self._halt(
                ModelError(
                    f"{error}. {self._failures} calls in a row failed in all of their tries. What "
                    "was received is stored; run the same command again when the server is well."
                )
            )

    async def _do(self, job: Job) -> None:
        paid: list[Call] = []
        asked = False
        try:
            requests = next(job)
            asked = True
            while True:
                if len(requests) == 1:
                    reply, new = await self._answer(requests[0])
                    if new:
                        paid.append((requests[0], reply))
                    replies = [reply]
                else:
                    replies = await self._several(requests)
                requests = job.send(replies)
                if paid:  # a further turn follows: what this one cost is stored first, once
                    handed, paid = paid, []
                    await self._put(handed, ())
        except StopIteration as end:
            self._failures = 0
            if asked:
                await self._put(paid, end.value)
                self.tally.done += 1
                return
            self._unasked.append(end.value)
            if len(self._unasked) >= UNASKED_TOGETHER:
                jobs, self._unasked = self._unasked, []
                await self._store_unasked(jobs)
        except BaseException:
            if paid:
                await self._put(paid, ())
            raise
        finally:
            job.close()

    async def _store_unasked(self, jobs: Sequence[Sequence[Row]]) -> None:
        """Stores the rows of jobs that asked nobody. They can be had again for nothing, so they
        need not wait for a transaction each. What is refused takes no other along.
        """
        try:
            await self._writer.put((), [row for rows in jobs for row in rows])
            self.tally.done += len(jobs)
        except Unanswered as error:
            if len(jobs) > 1:
                for one in jobs:
                    await self._store_unasked([one])
                return
            self.tally.failed += 1
            self.tally.last_failure = str(error)

    async def _put(self, calls: Sequence[Call], rows: Sequence[Row]) -> None:
        """Stores; then whoever waits for one of these calls finds it, or asks."""
        try:
            await self._writer.put(calls, rows)
        finally:
            for request, _ in calls:
                if request.shared:
                    self._known[request.purpose].add(request.key)
                    self._release(request)

    async def _several(self, requests: Sequence[Request]) -> list[Reply]:
        """The requests of one turn at once. Each reply is stored when it comes: it does not wait
        for the slowest. Where one fails, its error goes on when all have ended.
        """
        results = await asyncio.gather(
            *(self._answer_and_store(request) for request in requests), return_exceptions=True
        )
        replies = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            replies.append(result)
        return replies

    async def _answer_and_store(self, request: Request) -> Reply:
        reply, new = await self._answer(request)
        if new:
            await self._put([(request, reply)], ())
        return reply

    def _answer(self, request: Request) -> Coroutine[None, None, tuple[Reply, bool]]:
        """A reply, and whether it is new (else it was in the store). A new one of a shared request
        is to be stored with `_put`.
        """
        return self._answer_shared(request) if request.shared else self._answer_once(request)

    async def _answer_shared(self, request: Request) -> tuple[Reply, bool]:
        """`_answer`, of a request that others may be waiting for, or be asked already."""
        while request.key in self._being_asked:
            answered = self._being_asked[request.key]
            if answered is None:
                answered = self._being_asked[request.key] = asyncio.Event()
            await answered.wait()
        self._being_asked[request.key] = None
        new = False
        try:
            reply, new = await self._answer_once(request)
            return reply, new
        finally:
            if not new:
                self._release(request)

    def _release(self, request: Request) -> None:
        answered = self._being_asked.pop(request.key)
        if answered is not None:
            answered.set()

    async def _answer_once(self, request: Request) -> tuple[Reply, bool]:
        known = self._known.get(request.purpose)
        if known is None:
            known = self._known[request.purpose] = self._store.answered_keys(request.purpose)
        stored = self._store.reply(request.key) if request.key in known else None
        if stored is not None:
            self.tally.reused += 1
            return stored, False
        if self._caller.stop.is_set():
            raise Stopped
        aside = self._models.aside
        if aside is not None and aside.is_out(request):
            raise Deferred
        model = self._models.opened(request.model) or await self._models.get(request.model)
        if aside is not None and aside.puts_aside(model, request):
            raise Deferred
        return await self._caller.ask(model, request), True


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Has Python look for cycles less often: by default it does every 700 new objects, a fifth of
    the CPU time of a call, and a call leaves none behind. As before once the last run of the
    process ends: a program may have several, in threads.
    """
    with _GC:
        _BEFORE.append(gc.get_threshold())
        if _BEFORE[0][0]:  # else the program has Python never look
            gc.set_threshold(max(50_000, _BEFORE[0][0]), 50, 50)
    try:
        yield
    finally:
        with _GC:
            before = _BEFORE[0]
            _BEFORE.pop()
            if not _BEFORE:
                gc.set_threshold(*before)
