"""One request → one reply: its turn, its budget, its tries, work that is queued, its picture."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from ...errors import ModelError, TiltmeterError, TransientError, Unanswered
from ...models import Model, Queued
from ...records import ANSWER, ERROR, Reply, Request
from ...store import Store
from ...store.queries import batches, calls, settings
from .limits import Budget, Gate, Limits, Stopped, Tally, pause
from .retries import Patience
from .store_picture import store_picture

PICTURES_AT_ONCE = 2  # that are unpacked: one of 99 megapixels takes 300 MB
LOG = logging.getLogger("tiltmeter")  # calls and waits, with no text that is sent or comes back
LOG.addHandler(logging.NullHandler())
ODD_IN_A_ROW = 5  # unreadable replies of a model, before the run stops


class Caller:
    """Asks models within the limits of a run.

    stop: set when nothing further is to be sent; halt: stops the run with an error.
    """

    def __init__(
        self,
        store: Store,
        limits: Limits,
        tally: Tally,
        watch: Callable[[Tally], None],
        halt: Callable[[Exception], None],
    ) -> None:
        self._store, self._limits, self._tally = store, limits, tally
        self._watch, self._halt = watch, halt
        self.stop = asyncio.Event()
        self._unpacking = asyncio.Semaphore(PICTURES_AT_ONCE)
        self.in_flight = 0
        self._gates: dict[str, Gate] = {}
        self._answered_at: dict[str, float] = {}  # model → when it last sent a reply that is one
        self._odd: dict[str, int] = {}  # model → unreadable replies since
        lost = settings.possibly_paid(store)
        cap = limits.max_cost
        if cap is not None:  # what batches that are out may cost is not there to be spent
            cap = max(0.0, cap - batches.reserved_dollars(store))
        self._budget = Budget(cap, tally.spent, lost, self._keep_possibly_paid)
        self._show_cost()

    async def ask(self, model: Model, request: Request) -> Reply:
        """The reply, once it can be had.

        Raises TransientError where all tries were in vain, Stopped where the run stops meanwhile.
        """
        gate = self._gates.get(request.model)
        if gate is None:
            gate = Gate(min(model.parallel, self._limits.concurrency), self._limits.rate)
            self._gates[request.model] = gate
        patience: Patience | None = None
        if gate.free:
            gate.free -= 1
        else:
            await gate.wait_for_place()
        try:
            while True:
                if gate.limited or self.stop.is_set():
                    await gate.turn(self.stop)
                try:
                    return await self._call(model, request)
                except TransientError as error:
                    patience = patience or Patience(self._limits.patience)
                    await self._wait(patience, error, request.model)
        finally:
            gate.leave()

    async def _wait(self, patience: Patience, error: TransientError, model: str) -> None:
        """Waits for the next try, and says what for; raises the error where there is none."""
        wait = patience.next_wait(error.retry_after, self._answered_at.get(model, 0.0))
        if wait is None:
            raise error
        self._tally.retries += 1
        left = max(0.0, patience.seconds_left()) / 60
        self._tally.waiting = f"tries again in {wait:.0f} s, for {left:.0f} min more: {error}"
        LOG.info("%s %s", model, self._tally.waiting)
        self._watch(self._tally)
        await pause(wait, self.stop)

    async def _call(self, model: Model, request: Request) -> Reply:
        handed_in = self._is_handed_in(model, request)  # before; what it may cost was counted then
        reserved = 0.0
        if self._budget.cap is not None and not handed_in:
            reserved = await self._budget.reserve(model, request)
            if self.stop.is_set():  # while the call waited for its share
                self._budget.settle(reserved, 0.0)
                raise Stopped
        self.in_flight += 1
        cost, lost, began = 0.0, True, time.monotonic()
        try:
            reply = await self._readable(model, request)
            self._tally.calls += 1
            self._tally.by = model.progress
            if LOG.isEnabledFor(logging.DEBUG):
                _log_call(request, reply, time.monotonic() - began)
            known = self._cost(model, request, reply)
            cost, lost = known or 0.0, False
            return reply if known == reply.cost else replace(reply, cost=known)
        except (Stopped, TiltmeterError) as error:
            out = self._is_handed_in(model, request)  # it is looked for again by the next try
            lost = out or getattr(error, "possibly_paid", False)
            raise
        finally:
            self.in_flight -= 1
            worst = 0.0
            if lost != handed_in and model.price is not None:
                worst = model.price.worst(request)
            self._budget.settle(reserved, cost, worst if lost else -worst)
            self._show_cost()

    def _is_handed_in(self, model: Model, request: Request) -> bool:
        return isinstance(model, Queued) and bool(self._store.remote_id(request.key))

    def _cost(self, model: Model, request: Request, reply: Reply) -> float | None:
        """What a reply cost in US dollars; None where the price is unknown."""
        known = reply.cost
        if known is None and model.price is not None:
            known = model.price.cost(request, reply)
            if known is None:
                known = model.price.worst(request)
                self._tally.warnings.add(
                    f"{model.name} does not say what it used, or says what cannot be: the "
                    "worst case is counted as its cost."
                )
        if known is None:
            self._tally.unknown_cost += 1
        return known

    def _show_cost(self) -> None:
        self._tally.spent = self._budget.spent
        self._tally.possibly_paid = self._budget.lost

    def _keep_possibly_paid(self, lost: float, open_: float) -> None:
        settings.keep_possibly_paid(self._store, lost, open_)

    def close(self) -> None:
        """Nothing is in flight any more."""
        self._budget.close()

    async def _readable(self, model: Model, request: Request) -> Reply:
        """The reply. One that is none, from a model that has sent others, is the outcome `error`
        with what came; several in a row stop the run.
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
            odd = self._odd[request.model] = self._odd.get(request.model, 0) + 1
            if odd >= ODD_IN_A_ROW:
                said = f"{error} {odd} replies in a row were such; they are stored as errors."
                self._halt(ModelError(said))
        else:
            self._answered_at[request.model] = time.monotonic()
            self._odd[request.model] = 0
            if not self.stop.is_set():
                self._tally.waiting = ""
        return reply

    def _has_answered(self, model: str) -> bool:
        return model in self._answered_at or calls.has_answered(self._store, model)

    async def _fetch(self, model: Queued, request: Request) -> Reply:
        """Work that is handed in and fetched is handed in once, also by a process that was killed
        since.
        """
        remote = self._store.remote_id(request.key)
        if not remote:
            handed = await self._submit(model, request)
            if isinstance(handed, Reply):  # refused at once
                return handed
            remote = handed
            self._store.write_remote_id(request, remote)
        return replace(await self._unless_stopped(model.fetch(request, remote)), remote=remote)

    async def _submit(self, model: Queued, request: Request) -> str | Reply:
        """Hands work in. Where no receipt comes back it may have been taken: it is not handed in
        once more in this run.
        """
        try:
            return await model.submit(request)
        except TransientError as error:
            if not error.possibly_paid:
                raise
            raise Unanswered(
                f"{error}: the work was handed in and no receipt came, so it may be paid for and "
                "lost. It is not handed in again by itself; the same command does so",
                possibly_paid=True,
            ) from None

    async def _unless_stopped(self, work: Coroutine[Any, Any, Reply]) -> Reply:
        """Waiting for work whose id is stored may end at once: the same command goes on waiting."""
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
