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
    """The limits that a user sets. concurrency: calls in flight to each model at most, None for as
    many as its servers take; rate: calls per minute to each model; max_cost: US dollars for the
    whole run; patience: seconds of an outage that a call outlasts; durable: True to write what is
    stored to the disk each second, for a power cut.
    """

    concurrency: int | None = None
    rate: float | None = None
    max_cost: float | None = None
    patience: float = PATIENCE_S
    durable: bool = False

    @property
    def most_in_flight(self) -> int:
        """Calls in flight at most to one server of a model."""
        return self.concurrency or MOST_SIZE

    def window(self, model: Model) -> Window:
        """The window of a model's calls, as nothing is known of it yet."""
        most = min(model.parallel, self.concurrency or MOST_SIZE * model.servers)
        rate = self.rate / 60 if self.rate else math.inf
        return Window(FIRST_SIZE * model.servers, most, rate)


@dataclass(slots=True)
class Tally:
    """The events of a stage so far; `spent` in US dollars includes the earlier cost of the run.

    before:        how many of what it was to do were done when it began.
    possibly_paid: US dollars at the most of calls that were sent and not answered, which a provider
                   may have charged; also those before.
    waiting:       what is waited for, "" for nothing unusual.
    by:            who answers, where a model has workers (`Model.progress`).
    tokens:        of the calls' prompts and answers.
    cut, unread:   replies that were cut at the limit of tokens; outputs whose form is not known.
    windows:       of the models that were asked, by name.
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
    tokens: int = 0
    cut: int = 0
    unread: int = 0
    warnings: set[str] = field(default_factory=set)
    windows: dict[str, Window] = field(default_factory=dict)
    lines: tuple[str, ...] = ()

    def skip(self, number: int) -> None:
        """Counts what was done before."""
        self.before += number


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

    def reserve(self, model: Model, request: Request) -> float | None:
        """Reserves the worst case of a call, in US dollars; None if it does not fit under the cap
        beside what is in flight.

        BudgetError if it cannot fit any more, or the price is not known.
        """
        if self.cap is None:
            return 0.0
        if model.price is None:
            raise refuse_unknown_price(model.name)
        worst = model.price.worst(request)
        if self.spent + self.lost + self._reserved + worst > self.cap:
            if self._reserved <= NOTHING_USD:
                raise self._exhausted_error(model.name, worst)
            self._settled.clear()
            return None
        self._reserved += worst
        if self._reserved > self._most + NOTHING_USD:
            self._most = self._reserved
            self._keep(self.lost, self._most)
        return worst

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
    """Makes the error for a cap that cannot be kept."""
    return BudgetError(
        f"The price of {name} is unknown, so --max-cost cannot be kept. Add for instance: "
        f"--price {name}=2.5/10   (US dollars for a million tokens, in/out)\n"
        f"or for good, in {price_line(name)}"
    )


class Deferred(Exception):
    """A request waits for a batch; its job is done again when the reply is there."""


class Stopped(Exception):
    """The run is stopping; nothing further is sent."""


async def pause(seconds: float, stop: asyncio.Event) -> None:
    """Sleeps, but wakes when the run stops."""
    if seconds > 0:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)
    if stop.is_set():
        raise Stopped
