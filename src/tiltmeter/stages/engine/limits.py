"""The limits of a run (calls in flight, calls per minute, US dollars), and the tally of its use."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from ...errors import BudgetError
from ...models import Model
from ...models.table import price_line
from ...records import Request
from .window import FIRST_SIZE, MOST_SIZE, Window

NOTHING_USD = 1e-12  # less than any call costs: what rounding leaves
PATIENCE_S = 1800.0  # of an outage that a call outlasts


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that a user sets. concurrency: calls in flight per model, at most; None for as
    many as its servers take; rate: calls per minute to each model; max_cost: US dollars for the
    whole run; patience: seconds for which a call is retried in an outage; durable: True to flush to
    disk each second, against power cuts.
    """

    concurrency: int | None = None
    rate: float | None = None
    max_cost: float | None = None
    patience: float = PATIENCE_S
    durable: bool = False

    @property
    def most_in_flight(self) -> int:
        """Returns the largest number of calls that may be in flight to one server of a model."""
        return self.concurrency or MOST_SIZE

    def window(self, model: Model) -> Window:
        """Makes the window that a model's calls begin with, before its server has answered any."""
        most = min(model.parallel, self.concurrency or MOST_SIZE * model.servers)
        rate = self.rate / 60 if self.rate else math.inf
        return Window(FIRST_SIZE * model.servers, most, rate)


@dataclass(slots=True)
class Tally:
    """The events of a stage so far; `spent` in US dollars includes the earlier cost of the run.

    before:        number of the stage's jobs that were done when it began.
    possibly_paid: upper bound in US dollars of the calls that were sent and not answered, which a
        provider may have charged; earlier commands included.
    waiting:       the reason for waiting, "" if nothing unusual happens.
    by:            progress of the workers, if a model has any (`Model.progress`).
    tokens:        sum over prompts and answers of all calls.
    cut, unread:   number of replies cut at the token limit; of outputs that the rules cannot read.
    windows:       {name of a model that was asked: its window}.
    lines:         lines to show in full, such as those of a finished pilot.
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
    tokens: int = 0
    cut: int = 0
    unread: int = 0
    warnings: set[str] = field(default_factory=set)
    windows: dict[str, Window] = field(default_factory=dict)
    lines: tuple[str, ...] = ()

    def skip(self, number: int) -> None:
        """Adds jobs that were done before this stage began."""
        self.before += number


class Budget:
    """A budget that reserves the worst case of a call before it is sent, and settles the
    reservation when the reply shows the cost.

    lost: upper bound in US dollars of calls sent and not answered; counts as spent. keep: stores
    `lost` and, under a cap, the largest sum ever in flight, which is lost if the process is killed.
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

    def reserve(self, model: Model, request: Request) -> float | None:
        """Reserves the worst case of a call, in US dollars; None if it does not fit under the cap
        until calls in flight have ended.

        Raises BudgetError if it cannot fit any more, or if the price is unknown.
        """
        if self.cap is None:
            return 0.0
        if model.price is None:
            raise refuse_unknown_price(model.name)
        highest_cost = model.price.worst(request)
        if self.spent + self.lost + self._reserved + highest_cost > self.cap:
            if self._reserved <= NOTHING_USD:
                raise self._exhausted_error(model.name, highest_cost)
            self._settled.clear()
            return None
        self._reserved += highest_cost
        if self._reserved > self._most + NOTHING_USD:
            self._most = self._reserved
            self._keep(self.lost, self._most)
        return highest_cost

    async def wait_for_settling(self) -> None:
        """Waits until a call in flight has ended."""
        await self._settled.wait()

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
        """Releases a call's reservation and counts its cost, or if no reply came its possible cost
        `lost` (US dollars; negative if a reply came after all).
        """
        if self.cap is not None:
            self._reserved -= reserved
        self.spent += cost
        if lost:
            self.lost = max(0.0, self.lost + lost)
            self._keep(self.lost, self._most)
        self._settled.set()

    def close(self) -> None:
        """Records that no call is in flight any more."""
        if self._most:
            self._keep(self.lost, 0.0)


def refuse_unknown_price(name: str) -> BudgetError:
    """Makes the error for a cost cap on a model whose price is unknown."""
    return BudgetError(
        f"The price of {name} is unknown, so --max-cost cannot be kept. Add for instance: "
        f"--price {name}=2.5/10   (US dollars for a million tokens, in/out)\n"
        f"or for good, in {price_line(name)}"
    )


class Deferred(Exception):
    """Raised if a request waits for a batch; its job runs again once the reply is stored."""


class Stopped(Exception):
    """Raised while the run is stopping; nothing more is sent."""


async def pause(seconds: float, stop: asyncio.Event) -> None:
    """Sleeps, but raises Stopped as soon as the run stops."""
    if seconds > 0:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)
    if stop.is_set():
        raise Stopped
