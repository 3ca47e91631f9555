"""A queue per model: the calls that wait for a slot, and the slots in use."""

from __future__ import annotations

import asyncio
import time
from collections import deque

from ...models import Model
from ...records import Reply
from .limits import Stopped
from .window import Window

USUAL_TOKENS = 500.0  # of a call, before any was counted
RECENT = 0.05  # share of the last call in the mean number of tokens


class Lane:
    """The queue of calls for a model's window (a semaphore would take two coroutines per call)."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self._waiting: deque[asyncio.Future[float]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._tokens = USUAL_TOKENS

    def enter_now(self) -> float | None:
        """Takes a slot if a call may begin at once; returns the time, else None."""
        window = self.window
        if self._waiting or not window.has_place:
            return None
        now = time.monotonic()
        return None if window.delay(now) else window.begin(now)

    async def enter(self, first: bool) -> float:
        """Waits for a slot; returns the time. first: True to go before all other waiting calls.
        Raises Stopped if the run stops meanwhile.
        """
        slot: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        (self._waiting.appendleft if first else self._waiting.append)(slot)
        self.admit()
        try:
            return await slot
        except asyncio.CancelledError:
            if slot.done() and not slot.cancelled() and slot.exception() is None:
                self.leave()
            raise

    def admit(self) -> None:
        """Gives free slots to the longest-waiting calls; sets a timer if no call may begin yet."""
        while self._waiting and self.window.has_place:
            now = time.monotonic()
            delay = self.window.delay(now)
            if delay > 0:
                if self._timer is None:
                    loop = asyncio.get_running_loop()
                    self._timer = loop.call_later(delay, self._wake)
                return
            slot = self._waiting.popleft()
            if not slot.done():
                slot.set_result(self.window.begin(now))

    def _wake(self) -> None:
        self._timer = None
        self.admit()

    def stop(self) -> None:
        """Raises Stopped in all waiting calls."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting:
            slot = self._waiting.popleft()
            if not slot.done():
                slot.set_exception(Stopped())

    # how a call ends

    def leave(self) -> None:
        """Frees the slot of a call whose reply is stored, or that says nothing about the server."""
        self.window.leave()
        self.admit()

    def answered(self, began: float, model: Model, reply: Reply) -> None:
        """Records a reply; the call keeps its slot until the reply is stored (`leave`)."""
        now = time.monotonic()
        self.window.answered(began, now)
        if reply.usage is not None:
            self._tokens += RECENT * (sum(reply.usage) - self._tokens)
        limit = model.allowed_rate(self._tokens)
        if limit is not None:
            self.window.allow(limit[0], now + limit[1])

    def failed(self, began: float, least: int) -> None:
        """Ends a call that failed at the server. least: see Window.failed."""
        self.window.failed(began, time.monotonic(), least)
        self.admit()

    def refused(self, began: float, retry_after: float | None) -> float:
        """Ends a call that the server refused; returns the seconds until others may begin."""
        wait = self.window.refused(began, time.monotonic(), retry_after)
        self.admit()
        return wait
