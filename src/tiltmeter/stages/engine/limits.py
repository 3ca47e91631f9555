"""What a run may use: calls at once, calls a minute, US dollars. And the tally of what it did
use.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from ...errors import BudgetError
from ...models import Model
from ...models.table import price_line
from ...records import Request

NOTHING_USD = 1e-12  # less than any call costs: what rounding leaves
PATIENCE_S = 1800.0  # of an outage that a call outlasts


@dataclass(frozen=True, slots=True)
class Limits:
    """What a person allows. rate: calls a minute to each model; max_cost: US dollars for the whole
    run; patience: seconds of an outage that a call outlasts.
    """

    concurrency: int = 16
    rate: float | None = None
    max_cost: float | None = None
    patience: float = PATIENCE_S


@dataclass(slots=True)
class Tally:
    """What happened; `spent` in US dollars includes what the run had cost before.

    before:        how many were done when it began.
    possibly_paid: US dollars at the most of calls that were sent and not answered, which a provider
                   may have charged; also those before.
    waiting:       what is waited for, "" for nothing unusual.
    by:            who answers, where a model has workers (`Model.progress`).
    lines:         what is to be shown whole, as of a pilot that is over.
    """

    done: int = 0
    before: int = 0
    failed: int = 0
    calls: int = 0
    reused: int = 0
    retries: int = 0
    spent: float = 0.0
    possibly_paid: float = 0.0
    waiting: str = ""
    by: str = ""
    unknown_cost: int = 0
    last_failure: str = ""
    warnings: set[str] = field(default_factory=set)
    lines: tuple[str, ...] = ()


class Budget:
    """Reserves the worst case of a call before it is sent, and settles it when the reply says what
    it cost.

    lost: US dollars at the most of calls that were sent and not answered: they count. keep: stores
    what is lost and, under a cap, the most that was in flight at once, which is lost if the process
    is killed.
    """

    def __init__(
        self,
        cap: float | None,
        spent: float,
        lost: float = 0.0,
        keep: Callable[[float, float], None] = lambda lost, in_flight: None,
    ) -> None:
        self.cap, self.spent, self.lost, self._reserved = cap, spent, lost, 0.0
        self._keep, self._most = keep, 0.0
        self._settled = asyncio.Event()

    async def reserve(self, model: Model, request: Request) -> float:
        """Waits until the worst case of a call fits under the cap; returns it, in US dollars.

        BudgetError where it cannot fit any more, and where the price is not known.
        """
        if self.cap is None:
            return 0.0
        if model.price is None:
            raise refuse_unknown_price(model.name)
        worst = model.price.worst(request)
        while self.spent + self.lost + self._reserved + worst > self.cap:
            if self._reserved <= NOTHING_USD:
                raise self._exhausted_error(model.name, worst)
            self._settled.clear()
            await self._settled.wait()
        self._reserved += worst
        if self._reserved > self._most + NOTHING_USD:
            self._most = self._reserved
            self._keep(self.lost, self._most)
        return worst

    def _exhausted_error(self, name: str, worst: float) -> BudgetError:
        lost = (
            f" and up to ${self.lost:.4f} may have been charged for calls that were not answered"
            if self.lost
            else ""
        )
        return BudgetError(
            f"The next call to {name} could cost ${worst:.4f} and ${self.spent:.4f} of "
            f"${self.cap:.4f} are spent{lost}. Raise --max-cost and run the same command again."
        )

    def settle(self, reserved: float, cost: float, lost: float = 0.0) -> None:
        """Gives back what a call had reserved, and counts what it cost, or what it may have cost
        where no reply came (US dollars; negative where one came after all).
        """
        if self.cap is not None:
            self._reserved -= reserved
        self.spent += cost
        if lost:
            self.lost = max(0.0, self.lost + lost)
            self._keep(self.lost, self._most)
        self._settled.set()

    def close(self) -> None:
        """Nothing is in flight any more."""
        if self._most:
            self._keep(self.lost, 0.0)


def refuse_unknown_price(name: str) -> BudgetError:
    """What is said where a cap cannot be kept."""
    return BudgetError(
        f"The price of {name} is unknown, so --max-cost cannot be kept. Add for instance: "
        f"--price {name}=2.5/10   (US dollars for a million tokens, in/out)\n"
        f"or for good, in {price_line(name)}"
    )


class Deferred(Exception):
    """A request waits for a batch; its job is done again when the reply is there."""


class Gate:
    """How many calls a model takes at once and in a minute. limited: True if by the minute; free:
    places that can be taken at once, by taking one off; `leave` gives it back. (A semaphore makes
    two coroutines and a generator for each call.)
    """

    def __init__(self, parallel: int, rate: float | None) -> None:
        self.free = parallel
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.limited = bool(rate)
        self._gap = 60.0 / rate if rate else 0.0
        self._next = 0.0

    async def wait_for_place(self) -> None:
        """Takes a place as soon as another call leaves one, in the order of asking."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # it was given one meanwhile
                self.leave()
            raise

    def leave(self) -> None:
        """Gives a place to the call that has waited longest, or frees it."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self.free += 1

    async def turn(self, stop: asyncio.Event) -> None:
        """Waits for the turn of a call; raises Stopped where the run stopped while it waited, here
        or for its place.
        """
        now = time.monotonic()
        self._next = max(now, self._next) + self._gap
        await pause(self._next - self._gap - now, stop)


class Stopped(Exception):
    """The run is stopping; nothing further is sent."""


async def pause(seconds: float, stop: asyncio.Event) -> None:
    """Sleeps, but wakes when the run stops."""
    if seconds > 0:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)
    if stop.is_set():
        raise Stopped
