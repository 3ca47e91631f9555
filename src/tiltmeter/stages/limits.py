"""What a run may use: calls at once, calls a minute, US dollars. And the tally of what it did
use.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field

from ..errors import BudgetError
from ..models import Model
from ..models.table import price_line
from ..records import Request


@dataclass(frozen=True, slots=True)
class Limits:
    """What a person allows. rate: calls a minute to each model; max_cost: US dollars for the whole
    run.
    """

    concurrency: int = 16
    rate: float | None = None
    max_cost: float | None = None


@dataclass(slots=True)
class Tally:
    """What happened; `spent` in US dollars includes what the run had cost before."""

    done: int = 0
    failed: int = 0
    calls: int = 0
    reused: int = 0
    retries: int = 0
    spent: float = 0.0
    unknown_cost: int = 0
    last_failure: str = ""
    warnings: set[str] = field(default_factory=set)


class Budget:
    """Reserves the worst case of a call before it is sent, and settles it when the reply says what
    it cost.
    """

    def __init__(self, cap: float | None, spent: float) -> None:
        self.cap, self.spent, self._reserved = cap, spent, 0.0
        self._settled = asyncio.Event()

    async def reserve(self, model: Model, request: Request) -> float:
        """Waits until the worst case of a call fits under the cap; returns it, in US dollars.

        BudgetError where it cannot fit any more, and where the price is not known.
        """
        if self.cap is None:
            return 0.0
        if model.price is None:
            raise BudgetError(
                f"The price of {model.name} is unknown, so --max-cost cannot be kept. Add for "
                "instance: "
                f"--price {model.name}=2.5/10   (US dollars for a million tokens, in/out)\n"
                f"or for good, in {price_line(model.name)}"
            )
        worst = model.price.worst(request)
        while self.spent + self._reserved + worst > self.cap:
            if self._reserved <= 1e-12:
                raise BudgetError(
                    f"The next call to {model.name} could cost ${worst:.4f} and "
                    f"${self.spent:.4f} of "
                    f"${self.cap:.4f} are spent. Raise --max-cost and run the same command again."
                )
            self._settled.clear()
            await self._settled.wait()
        self._reserved += worst
        return worst

    def settle(self, reserved: float, cost: float) -> None:
        """Gives back what a call had reserved, and counts what it cost (US dollars)."""
        if self.cap is not None:
            self._reserved -= reserved
        self.spent += cost
        self._settled.set()


class Gate:
    """How many calls a model takes at once and in a minute."""

    def __init__(self, parallel: int, rate: float | None) -> None:
        self.places = asyncio.Semaphore(parallel)
        self._gap = 60.0 / rate if rate else 0.0
        self._next = 0.0

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
