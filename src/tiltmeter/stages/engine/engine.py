"""The engine, which turns requests into stored replies, for subjects and judges alike: connections,
limits, retries, budget, resume, progress.

A job is a generator that yields requests, is sent their replies and returns rows (outputs or
labels). Jobs come from sources (a subject's trials, an annotator's outputs), which all run at once.
A source has enough workers to keep its models' windows full, and takes its next job only when a
worker is free, so memory does not grow with the number of trials. A request that was answered
before is answered from the store, so the same command resumes a run. Identical questions to a
deterministic judge (`Request.shared`) are sent once: the others wait for the reply to the first; if
the first fails, the next one is sent.

A worker takes its next job only when the rows of the last one are committed, so a killed process
loses only the paid calls in flight. Commits are grouped: all results of a few turns of the event
loop go into one transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial

from ...errors import Interrupted, ModelError, TiltmeterError, TransientError, Unanswered
from ...records import Reply, Request
from ...store import Store
from .caller import LOG, Caller
from .garbage import rare_collection
from .interruption import on_interruption
from .limits import Deferred, Limits, Stopped, Tally
from .open_models import Models
from .retries import FAILURES_IN_A_ROW
from .sources import WAITING, Job, JobSource, Row
from .writer import Call, Writer

AWAITED_S = 5.0  # for calls that are paid for, once a run was interrupted
UNASKED_TOGETHER = 100  # jobs that asked nobody, whose rows are one transaction


class Engine:
    """The engine: runs jobs, which ask models, and writes their rows to a store."""

    def __init__(
        self,
        store: Store,
        models: Models,
        limits: Limits,
        watch: Callable[[Tally], None] = lambda tally: None,
        tally: Tally | None = None,
    ) -> None:
        self._store, self._models, self._limits, self._watch = store, models, limits, watch
        self._spent = store.spent()
        self.tally = tally or Tally(spent=self._spent)
        self._failures = 0
        self._most_workers = 2 * limits.concurrency + 2 * WAITING if limits.concurrency else 2048
        self._error: Exception | None = None
        self._dropping: asyncio.TimerHandle | None = None

    async def drive(self, jobs: Iterable[Job]) -> Tally:
        """Runs the jobs of one source; see `drive_all`."""
        await self.drive_all([JobSource(jobs, self.tally, self._watch)])
        return self.tally

    async def drive_all(self, sources: Sequence[JobSource]) -> None:
        """Runs all jobs at once; raises the first error that stops a run, after storing results."""
        models = self._models
        self._caller = Caller(
            self._store, self._limits, models.windows, self._spent, self._halt, self.start
        )
        self._writer = Writer(self._store, self._limits.durable)
        # calls that were answered before this drive, and shared ones of this drive, by purpose
        self._known: dict[str, set[str]] = {}
        # shared requests, by key; an event where another one waits
        self._being_asked: dict[str, asyncio.Event | None] = {}
        with rare_collection(), on_interruption(lambda: self._interrupt(sources)):
            async with asyncio.TaskGroup() as self._group:
                for source in sources:
                    self._caller.show_cost(source.tally)
                    self.start(source)
            for source in sources:
                await self._store_rest(source)
        if self._dropping is not None:
            self._dropping.cancel()
        self._writer.close()
        self._caller.close()
        for source in sources:
            self._caller.show_cost(source.tally)
            _log_end(source.tally)
        if self._error is not None:
            raise self._error

    def start(self, source: JobSource) -> None:
        """Starts one more worker on a source, if it has jobs left and not too many workers."""
        if not source.is_empty and source.workers < self._most_workers:
            source.workers += 1
            work = self._work(source)
            try:
                self._group.create_task(work)
            except RuntimeError:  # the group is ending after an error
                work.close()
                source.workers -= 1

    def _interrupt(self, sources: Sequence[JobSource]) -> None:
        """Stops sending: cancels calls that are priced at 0, and waits a few seconds for paid
        calls, whose replies are stored. A second Ctrl-C ends the process at once.
        """
        self._halt(
            Interrupted(
                "Stopped. Everything received is stored; the same command goes on from here."
            )
        )
        paid = self._caller.paid_in_flight
        self._caller.drop(free_only=True)
        loop = asyncio.get_running_loop()
        self._dropping = loop.call_later(AWAITED_S, partial(self._caller.drop, free_only=False))
        for source in sources:
            source.tally.waiting = (
                f"stopping: {paid} calls in flight are awaited {AWAITED_S:.0f} s and stored; "
                "Ctrl-C again ends at once, and what they cost is lost"
                if paid
                else "stopping: calls in flight are priced at 0 and are dropped"
            )
        sources[0].show()

    def _halt(self, error: Exception) -> None:
        self._error = self._error or error
        self._caller.halt()

    async def _work(self, source: JobSource) -> None:
        try:
            while not self._caller.stop.is_set():
                try:
                    job = source.draw()
                    if job is None:
                        return
                    await self._run_job(job, source)
                except Stopped:
                    return
                except Deferred:
                    pass
                except Unanswered as error:
                    source.tally.failed += 1
                    source.tally.last_failure = str(error)
                except TransientError as error:
                    self._give_up(error, source.tally)
                # A fault in one job loses no reply of the others.
                except Exception as error:  # noqa: BLE001
                    self._halt(error)
                    return
                source.show()
        finally:
            source.workers -= 1

    def _give_up(self, error: TransientError, tally: Tally) -> None:
        """Counts a call that failed in all tries; stops the run at FAILURES_IN_A_ROW such calls."""
        tally.failed += 1
        tally.last_failure = str(error)
        self._failures += 1
        if self._failures >= FAILURES_IN_A_ROW:
            self._halt(
                ModelError(
                    f"{error}. {self._failures} calls in a row failed in all of their tries. What "
                    "was received is stored; run the same command again when the server is well."
                )
            )

    async def _run_job(self, job: Job, source: JobSource) -> None:
        paid: list[Call] = []
        was_asked = False
        try:
            requests = next(job)
            was_asked = True
            while True:
                if len(requests) == 1:
                    reply, is_new = await self._answer(requests[0], source)
                    if is_new:
                        paid.append((requests[0], reply))
                    replies = [reply]
                else:
                    replies = await self._ask_several(requests, source)
                requests = job.send(replies)
                if paid:  # a further turn follows: what this one cost is stored first, once
                    handed, paid = paid, []
                    await self._put(handed, ())
        except StopIteration as end:
            self._failures = 0
            if was_asked:
                await self._put(paid, end.value)
                source.tally.done += 1
                source.stored(end.value)
                return
            source.unasked.append(end.value)
            if len(source.unasked) >= UNASKED_TOGETHER:
                jobs, source.unasked = source.unasked, []
                await self._store_unasked(jobs, source.tally)
        except BaseException:
            if paid:
                await self._put(paid, ())
            raise
        finally:
            job.close()

    async def _store_rest(self, source: JobSource) -> None:
        try:
            if source.unasked:
                await self._store_unasked(source.unasked, source.tally)
        except TiltmeterError as error:
            self._halt(error)

    async def _store_unasked(self, jobs: Sequence[Sequence[Row]], tally: Tally) -> None:
        """Stores the rows of jobs that asked no model. As such rows can be recomputed free of
        charge, many share a transaction; if it fails, each job is stored by itself.
        """
        try:
            await self._writer.put((), [row for rows in jobs for row in rows])
            tally.done += len(jobs)
        except Unanswered as error:
            if len(jobs) > 1:
                for job in jobs:
                    await self._store_unasked([job], tally)
                return
            tally.failed += 1
            tally.last_failure = str(error)

    async def _put(self, calls: Sequence[Call], rows: Sequence[Row]) -> None:
        """Stores calls and rows; then wakes jobs that wait for the reply to one of these calls."""
        try:
            await self._writer.put(calls, rows)
        finally:
            for request, _ in calls:
                self._caller.leave(request)
                if request.shared:
                    self._known[request.purpose].add(request.key)
                    self._release(request)

    async def _ask_several(self, requests: Sequence[Request], source: JobSource) -> list[Reply]:
        """Asks the requests of one turn concurrently. Stores each reply as it comes; if a request
        fails, raises its error once all have ended.
        """
        results = await asyncio.gather(
            *(self._answer_and_store(request, source) for request in requests),
            return_exceptions=True,
        )
        replies = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            replies.append(result)
        return replies

    async def _answer_and_store(self, request: Request, source: JobSource) -> Reply:
        reply, is_new = await self._answer(request, source)
        if is_new:
            await self._put([(request, reply)], ())
        return reply

    def _answer(
        self, request: Request, source: JobSource
    ) -> Coroutine[None, None, tuple[Reply, bool]]:
        """Returns (reply, True if it is new); `_put` stores new replies to shared requests."""
        answer = self._answer_shared if request.shared else self._answer_once
        return answer(request, source)

    async def _answer_shared(self, request: Request, source: JobSource) -> tuple[Reply, bool]:
        """Answers a request once, even if jobs ask the identical request at the same time."""
        while request.key in self._being_asked:
            event = self._being_asked[request.key]
            if event is None:
                event = self._being_asked[request.key] = asyncio.Event()
            await event.wait()
        self._being_asked[request.key] = None
        is_new = False
        try:
            reply, is_new = await self._answer_once(request, source)
            return reply, is_new
        finally:
            if not is_new:
                self._release(request)

    def _release(self, request: Request) -> None:
        event = self._being_asked.pop(request.key)
        if event is not None:
            event.set()

    async def _answer_once(self, request: Request, source: JobSource) -> tuple[Reply, bool]:
        keys = self._known.get(request.purpose)
        if keys is None:
            keys = self._known[request.purpose] = self._store.answered_keys(request.purpose)
        stored = self._store.reply(request.key) if request.key in keys else None
        if stored is not None:
            source.tally.reused += 1
            return stored, False
        if self._caller.stop.is_set():
            raise Stopped
        aside = self._models.aside
        if aside is not None and aside.is_out(request):
            raise Deferred
        model = self._models.opened(request.model) or await self._models.get(request.model)
        if aside is not None and aside.puts_aside(model, request):
            raise Deferred
        return await self._caller.ask(model, request, source), True


def _log_end(tally: Tally) -> None:
    LOG.info(
        "%d done with %d calls, %d unanswered, $%.4f",
        tally.done,
        tally.calls,
        tally.failed,
        tally.spent,
    )
