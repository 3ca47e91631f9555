"""Requests → stored replies, for subjects and judges alike: connections, limits, retries, budget,
resume, progress.

A job is a generator that yields requests, is sent their replies and returns rows (outputs or
labels). The engine drives as many jobs at once as it has workers and draws the next one only when a
worker is free, so memory does not grow with the
number of trials. A request that was answered before is answered from the store: the same command
goes on where it was.

A worker gives up its place only when its rows are committed, so a killed process has paid for
nothing beyond what was in
flight. Commits are grouped: all that one turn of the event loop brought goes into one transaction.
"""

from __future__ import annotations

import asyncio
import gc
import random
import signal
import threading
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from .. import images
from ..errors import Interrupted, ModelError, TiltmeterError, TransientError, Unanswered
from ..models import Model, Queued
from ..records import ANSWER, ERROR, Reply, Request
from ..store import Store
from .limits import Budget, Gate, Limits, Stopped, Tally, pause
from .writer import Row, Writer

Job = Generator[Sequence[Request], Sequence[Reply], Sequence[Row]]

TRIES = 7  # of one call: with the waits below about two minutes in all
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds
FAILURES_IN_A_ROW = 5  # calls that used up all their tries, before the run stops


class Models:
    """The models of a run, made and opened when first asked: a stage that asks none starts no
    server and needs no key.

    An async context manager: leaving it closes what was opened.
    """

    def __init__(self, make: Callable[[str], Model]) -> None:
        self._make = make
        self._opened: dict[str, asyncio.Task[Model]] = {}

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

    async def __aexit__(self, *_: object) -> None:
        for task in self._opened.values():
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
        self._error: Exception | None = None

    async def drive(self, jobs: Iterable[Job]) -> Tally:
        """Runs all jobs; raises the first error that stops a run once what was in flight is
        stored.
        """
        self._stop = asyncio.Event()
        self._budget = Budget(self._limits.max_cost, self.tally.spent)
        self._writer = Writer(self._store)
        self._gates: dict[str, Gate] = {}
        self._known: dict[
            str, set[str]
        ] = {}  # calls that were answered before this drive, by purpose
        source = iter(jobs)
        with self._interrupt(), _fewer_collections():
            async with asyncio.TaskGroup() as group:
                for _ in range(self._limits.concurrency):
                    group.create_task(self._work(source))
        if self._error is not None:
            raise self._error
        return self.tally

    @contextmanager
    def _interrupt(self) -> Iterator[None]:
        """Ctrl-C: nothing new is sent, what is in flight is stored. A second one ends at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()

        def stop() -> None:
            loop.remove_signal_handler(signal.SIGINT)
            self._halt(
                Interrupted(
                    "Stopped. Everything received is stored; the same command goes on from here."
                )
            )

        try:
            loop.add_signal_handler(signal.SIGINT, stop)
        except (
            NotImplementedError
        ):  # Windows: KeyboardInterrupt ends at once, the store is whole all the same
            yield
            return
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _halt(self, error: Exception) -> None:
        self._error = self._error or error
        self._stop.set()

    async def _work(self, source: Iterator[Job]) -> None:
        while not self._stop.is_set():
            try:
                job = next(source, None)
                if job is None:
                    return
                await self._do(job)
            except Stopped:
                return
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
                    f"{error}. {self._failures} calls in a row failed {TRIES} times each. What "
                    "was received is stored; run the same command again when the server is well."
                )
            )

    async def _do(self, job: Job) -> None:
        paid: list[tuple[Request, Reply]] = []
        try:
            requests = next(job)
            while True:
                if len(requests) == 1:
                    answers = [await self._answer(requests[0])]
                else:
                    answers = await self._several(requests)
                fresh = [
                    (request, reply)
                    for request, (reply, new) in zip(requests, answers, strict=True)
                    if new
                ]
                paid += fresh
                requests = job.send([reply for reply, _ in answers])
                if paid:  # a further turn follows: what this one cost is stored first
                    await self._writer.put(paid, ())
                    paid = []
        except StopIteration as end:
            self._failures = 0
            await self._writer.put(paid, end.value)
            self.tally.done += 1
        except BaseException:
            if paid:
                await self._writer.put(paid, ())
            raise
        finally:
            job.close()

    async def _several(self, requests: Sequence[Request]) -> list[tuple[Reply, bool]]:
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
            replies.append((result, False))
        return replies

    async def _answer_and_store(self, request: Request) -> Reply:
        reply, new = await self._answer(request)
        if new:
            await self._writer.put([(request, reply)], ())
        return reply

    async def _answer(self, request: Request) -> tuple[Reply, bool]:
        """A reply, and whether it is new (else it was in the store)."""
        known = self._known.get(request.purpose)
        if known is None:
            known = self._known[request.purpose] = self._store.answered(request.purpose)
        stored = self._store.reply(request.key) if request.key in known else None
        if stored is not None:
            self.tally.reused += 1
            return stored, False
        if self._stop.is_set():
            raise Stopped
        model = await self._models.get(request.model)
        gate = self._gates.get(request.model)
        if gate is None:
            gate = Gate(min(model.parallel, self._limits.concurrency), self._limits.rate)
            self._gates[request.model] = gate
        async with gate.places:
            for attempt in range(1, TRIES + 1):
                await gate.turn(self._stop)
                try:
                    return await self._call(model, request), True
                except TransientError as error:
                    if attempt == TRIES:
                        raise
                    self.tally.retries += 1
                    wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1)) * random.uniform(
                        0.5, 1.0
                    )
                    await pause(
                        wait
                        if error.retry_after is None
                        else min(error.retry_after, 10 * LONGEST_WAIT),
                        self._stop,
                    )
        raise AssertionError("unreachable")

    async def _call(self, model: Model, request: Request) -> Reply:
        reserved = await self._budget.reserve(model, request)
        cost = 0.0
        try:
            reply = await self._ask(model, request)
            self.tally.calls += 1
            known = reply.cost
            if known is None and model.price is not None:
                known = model.price.cost(request, reply)
                if known is None:
                    known = model.price.worst(request)
                    self.tally.warnings.add(
                        f"{model.name} does not say what it used, or says what cannot be: the "
                        "worst case is counted as its cost."
                    )
            if known is None:
                self.tally.unknown_cost += 1
            cost = known or 0.0
            return replace(reply, cost=known)
        finally:
            self._budget.settle(reserved, cost)
            self.tally.spent = self._budget.spent

    async def _ask(self, model: Model, request: Request) -> Reply:
        """Asks; work that is handed in and fetched is handed in once, also by a process that was
        killed since.
        """
        model.check(request)
        if isinstance(model, Queued):
            remote = self._store.remote(request.key)
            if not remote:
                handed = await model.submit(request)
                if isinstance(handed, Reply):  # refused at once
                    return handed
                remote = handed
                self._store.submitted(request, remote)
            reply = replace(await self._unless_stopped(model.fetch(request, remote)), remote=remote)
        else:
            reply = await model.ask(request)
        return (
            await self._store_picture(reply) if request.size and reply.outcome == ANSWER else reply
        )

    async def _unless_stopped(self, work: Coroutine[Any, Any, Reply]) -> Reply:
        """Waiting for work whose id is stored may end at once: the same command goes on waiting."""
        waiting, stopped = asyncio.ensure_future(work), asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait((waiting, stopped), return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise Stopped
            return waiting.result()
        finally:
            waiting.cancel()
            stopped.cancel()

    async def _store_picture(self, reply: Reply) -> Reply:
        """The reply with its picture stored. One that cannot be used is an outcome, and what came
        is kept all the same.
        """
        try:
            found = await asyncio.to_thread(images.checked, reply.picture)
        except images.Unusable as problem:
            blob = self._store.put_blob(reply.picture, ".bin") if reply.picture else ""
            return replace(
                reply,
                outcome=ERROR,
                text=f"the picture {blob or 'that came'} {problem}",
                picture=b"",
                blob=blob,
            )
        return replace(reply, picture=b"", blob=self._store.put_picture(reply.picture, found))


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Python's default looks for cycles every 700 new objects, a fifth of the CPU time of a call: a
    call leaves none behind.
    """
    before = gc.get_threshold()
    gc.set_threshold(50_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end from ordinary code, also inside a notebook whose loop is running
    already.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
