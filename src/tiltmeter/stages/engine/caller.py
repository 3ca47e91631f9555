"""The path of one request to its reply: queue, budget, call, retries, queued work, picture."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from ...errors import BudgetError, ModelError, TiltmeterError, TransientError, Unanswered
from ...models import Model, Queued
from ...records import ANSWER, ERROR, Reply, Request
from ...store import Store
from ...store.queries import batches, calls, settings
from .lanes import Lane
from .limits import Budget, Limits, Stopped, Tally, pause
from .retries import FAILURES_IN_A_ROW, TRIES, Patience, wait_asked_for
from .sources import JobSource
from .store_picture import store_picture
from .window import Window

PICTURES_AT_ONCE = 2  # that are unpacked: one of 99 megapixels takes 300 MB
LOG = logging.getLogger("tiltmeter")  # calls and waits, with no text that is sent or comes back
LOG.addHandler(logging.NullHandler())
ODD_IN_A_ROW = 5  # unreadable replies of a model, before the run stops


class Caller:
    """Sends the requests of a stage to all its models, within the limits of a run, on one budget.

    windows: {model name: window}; spent: earlier cost in US dollars; halt: called with an error
    that stops the run; grow: called with a source once its call begins; stop: ends all sending.
    """

    def __init__(
        self,
        store: Store,
        limits: Limits,
        windows: dict[str, Window],
        spent: float,
        halt: Callable[[Exception], None],
        grow: Callable[[JobSource], None] = lambda source: None,
    ) -> None:
        self._store, self._limits, self._windows = store, limits, windows
        self._halt, self._grow = halt, grow
        self.stop = asyncio.Event()
        self._unpacking = asyncio.Semaphore(PICTURES_AT_ONCE)
        self.in_flight = 0
        self._asking: dict[asyncio.Task[Any], bool] = {}  # waits for a reply; True: a free one
        self._lanes: dict[str, Lane] = {}
        self._answered_at: dict[str, float] = {}  # model → when it last sent a reply that is one
        self._odd: dict[str, int] = {}  # model → unreadable replies since
        lost_dollars = settings.possibly_paid(store)
        cap = limits.max_cost
        if cap is not None:  # what batches that are out may cost is not there to be spent
            cap = max(0.0, cap - batches.reserved_dollars(store))
        self._budget = Budget(cap, spent, lost_dollars, self._keep_possibly_paid)

    async def ask(self, model: Model, request: Request, source: JobSource) -> Reply:
        """Sends a request, waiting and retrying as needed, and returns the reply.

        Raises TransientError if every try failed, Stopped if the run stops meanwhile.
        """
        lane = self._lanes.get(request.model) or self._add_lane(model, request.model)
        source.tally.windows[request.model] = lane.window
        patience: Patience | None = None
        is_again = False
        while True:
            began, reserved = await self._take_place(lane, model, request, source, is_again)
            try:
                reply = await self._call(model, request, source, reserved)
            except TransientError as error:
                is_again, failure = True, error
            except BaseException as error:
                if isinstance(error, Exception) and not isinstance(error, Stopped | Unanswered):
                    self._halt(error)  # before the place goes to the next call
                lane.leave()
                raise
            else:
                lane.answered(began, model, reply)
                return reply
            finally:
                source.in_flight -= 1
            if failure.is_full:
                self._take_refusal(lane, began, failure, source)
                continue
            lane.failed(began, FAILURES_IN_A_ROW)
            patience = patience or Patience(self._limits.patience)
            await self._wait_for_next_try(patience, failure, request.model, source)

    def leave(self, request: Request) -> None:
        """Frees the slot of a call whose reply is stored: so a kill loses only calls in flight."""
        self._lanes[request.model].leave()

    def _add_lane(self, model: Model, name: str) -> Lane:
        window = self._windows.get(name)
        if window is None:
            window = self._windows[name] = self._limits.window(model)
        lane = self._lanes[name] = Lane(window)
        return lane

    async def _take_place(
        self, lane: Lane, model: Model, request: Request, source: JobSource, is_again: bool
    ) -> tuple[float, float]:
        """Waits until a call may begin; returns (start time, US dollars reserved for it). A call
        that waits for its turn or for the budget holds no slot.
        """
        while not self.stop.is_set():
            began = lane.enter_now()
            if began is None:
                began = await source.wait(lane.enter(first=is_again))
            try:
                dollars = self._reserve(model, request)
            except BudgetError:
                lane.leave()
                raise
            if dollars is not None:
                source.in_flight += 1
                if source.may_grow():
                    self._grow(source)
                return began, dollars
            lane.leave()
            await source.wait(self._budget.wait_for_settling())
        raise Stopped

    def _reserve(self, model: Model, request: Request) -> float | None:
        """Reserves US dollars for a call; None if the budget has no room until calls in flight end.
        Returns 0 for work that was already submitted, whose cost was counted then.
        """
        if self._budget.cap is None or self._is_handed_in(model, request):
            return 0.0
        return self._budget.reserve(model, request)

    def _take_refusal(
        self, lane: Lane, began: float, error: TransientError, source: JobSource
    ) -> None:
        """Slows a model's calls. ModelError if it has refused all calls for `patience` seconds."""
        try:
            wait_asked = wait_asked_for(error)
        except ModelError:
            lane.leave()
            raise
        wait = lane.refused(began, wait_asked)
        window, tally = lane.window, source.tally
        since_s = time.monotonic() - window.refused_since
        if window.refused_in_a_row >= TRIES and since_s > self._limits.patience:
            raise ModelError(
                f"{error}. The model has refused all calls for {since_s / 60:.0f} min. Everything "
                "received is stored; run the same command again when it has room."
            )
        tally.retries += 1
        reason = self._store.clean(str(error))
        tally.waiting = f"slows down, next calls in {wait:.1f} s: {reason}"
        LOG.info("%s", tally.waiting)
        source.show()

    async def _wait_for_next_try(
        self, patience: Patience, error: TransientError, model: str, source: JobSource
    ) -> None:
        """Waits for the next try and shows the reason; raises the error if no try is left."""
        wait_asked = wait_asked_for(error)
        wait = patience.next_wait(wait_asked, self._answered_at.get(model, 0.0))
        if wait is None:
            raise error
        source.tally.retries += 1
        minutes = max(0.0, patience.seconds_left()) / 60
        reason = self._store.clean(str(error))
        source.tally.waiting = f"tries again in {wait:.0f} s, for {minutes:.0f} min more: {reason}"
        LOG.info("%s %s", model, source.tally.waiting)
        source.show()
        source.failing += 1
        try:
            await pause(wait, self.stop)
        finally:
            source.failing -= 1

    async def _call(
        self, model: Model, request: Request, source: JobSource, reserved: float
    ) -> Reply:
        handed_in = self._is_handed_in(model, request)  # before; what it may cost was counted then
        tally = source.tally
        self.in_flight += 1
        task = asyncio.current_task()
        if task is not None:
            self._asking[task] = model.price is not None and not any(model.price[:3])
        cost, is_lost, began = 0.0, True, time.monotonic()
        try:
            reply = await self._readable(model, request, tally)
            tally.calls += 1
            tally.tokens += sum(reply.usage or ())
            tally.by = model.progress
            if LOG.isEnabledFor(logging.DEBUG):
                _log_call(request, reply, time.monotonic() - began)
            known = self._cost(model, request, reply, tally)
            cost, is_lost = known or 0.0, False
            if known == reply.cost:
                return reply
            return reply.received(known, reply.omitted, reply.raw)
        except (Stopped, TiltmeterError) as error:
            is_out = self._is_handed_in(model, request)  # it is looked for again by the next try
            is_lost = is_out or getattr(error, "possibly_paid", False)
            raise
        finally:
            self.in_flight -= 1
            if task is not None:
                del self._asking[task]
            highest_cost = 0.0
            if is_lost != handed_in and model.price is not None:
                highest_cost = model.price.worst(request)
            self._budget.settle(reserved, cost, highest_cost if is_lost else -highest_cost)
            self.show_cost(tally)

    def _is_handed_in(self, model: Model, request: Request) -> bool:
        return isinstance(model, Queued) and bool(self._store.remote_id(request.key))

    def _cost(self, model: Model, request: Request, reply: Reply, tally: Tally) -> float | None:
        """Computes the cost of a reply in US dollars; None if the price is unknown."""
        cost = reply.cost
        if cost is None and model.price is not None:
            cost = model.price.cost(request, reply)
            if cost is None:
                cost = model.price.worst(request)
                tally.warnings.add(
                    f"{model.name} does not say what it used, or says what cannot be: the "
                    "worst case is counted as its cost."
                )
        if cost is None:
            tally.unknown_cost += 1
        return cost

    def show_cost(self, tally: Tally) -> None:
        """Copies the cost of the run into a tally."""
        tally.spent, tally.possibly_paid = self._budget.spent, self._budget.lost

    def _keep_possibly_paid(self, lost: float, open_: float) -> None:
        settings.keep_possibly_paid(self._store, lost, open_)

    @property
    def paid_in_flight(self) -> int:
        """Counts the calls in flight that may cost something."""
        return sum(not is_free for is_free in self._asking.values())

    def drop(self, *, free_only: bool) -> None:
        """Cancels the calls in flight, or only those priced at 0. Running the command again
        sends them again.
        """
        for task, is_free in list(self._asking.items()):
            if is_free or not free_only:
                task.cancel()

    def halt(self) -> None:
        """Stops sending, and raises Stopped in the calls that wait for their turn."""
        self.stop.set()
        for lane in self._lanes.values():
            lane.stop()

    def close(self) -> None:
        """Closes the budget, once no call is in flight."""
        self._budget.close()

    async def _readable(self, model: Model, request: Request, tally: Tally) -> Reply:
        """Asks the model. An unreadable reply from a model that has answered before becomes the
        outcome `error` with the raw reply; several such replies in a row stop the run.
        """
        try:
            model.check(request)
            if isinstance(model, Queued):
                reply = await self._fetch(model, request)
            else:
                reply = await model.ask(request)
            if request.size and reply.outcome == ANSWER:
                async with self._unpacking:
                    reply = await store_picture(self._store, reply)
        except ModelError as error:
            if error.raw is None or not self._has_answered(request.model):
                raise
            reply = Reply(str(error), ERROR, raw=error.raw)
            number = self._odd[request.model] = self._odd.get(request.model, 0) + 1
            if number >= ODD_IN_A_ROW:
                problem = f"{error} {number} replies in a row were such; they are stored as errors."
                self._halt(ModelError(problem))
        else:
            self._answered_at[request.model] = time.monotonic()
            self._odd[request.model] = 0
            if not self.stop.is_set():
                tally.waiting = ""
        return reply

    def _has_answered(self, model: str) -> bool:
        return model in self._answered_at or calls.has_answered(self._store, model)

    async def _fetch(self, model: Queued, request: Request) -> Reply:
        """Submits work once, even if an earlier process was killed, and fetches the result."""
        remote = self._store.remote_id(request.key)
        if not remote:
            receipt = await self._submit(model, request)
            if isinstance(receipt, Reply):  # refused at once
                return receipt
            remote = receipt
            self._store.write_remote_id(request, remote)
        return replace(await self._unless_stopped(model.fetch(request, remote)), remote=remote)

    async def _submit(self, model: Queued, request: Request) -> str | Reply:
        """Submits work. Raises Unanswered if the work may have arrived without a receipt."""
        try:
            return await model.submit(request)
        except TransientError as error:
            if not error.possibly_paid:
                raise
            raise Unanswered(
                f"{error}: the request was sent but not confirmed, so it may be paid for and "
                "lost. It is not sent again automatically; run the same command to send it again",
                possibly_paid=True,
            ) from None

    async def _unless_stopped(self, work: Coroutine[Any, Any, Reply]) -> Reply:
        """Awaits submitted work whose id is stored; raises Stopped as soon as the run stops."""
        waiting, stopped = asyncio.ensure_future(work), asyncio.ensure_future(self.stop.wait())
        try:
            await asyncio.wait((waiting, stopped), return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise Stopped
            return waiting.result()
        finally:
            waiting.cancel()
            stopped.cancel()


def _log_call(request: Request, reply: Reply, seconds: float) -> None:
    purpose = f"{request.purpose} {request.key[:12]}: {reply.outcome}"
    tokens = " + ".join(map(str, reply.usage)) if reply.usage else "unknown"
    LOG.debug("%s, %s, %.2f s, tokens %s", request.model, purpose, seconds, tokens)
