"""Sources of jobs, driven together: a subject's trials, the outputs that an annotator labels."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from typing import TypeVar

from ...records import Label, LabelCall, Output, Reply, Request
from .limits import Tally

Row = Output | Label | LabelCall
Job = Generator[Sequence[Request], Sequence[Reply], Sequence[Row]]
T = TypeVar("T")
WAITING = 8  # calls of a source that may wait for a place, before it draws no further jobs


def _never() -> bool:
    return False


def _ignore(rows: Sequence[Row]) -> None:
    """Ignores stored rows."""


class JobSource:
    """Jobs, each created when a worker is free.

    tally, watch: the events so far, and a callback that shows them; sources may share both.
    stored:   called with the rows of each job once they are committed.
    is_held:  returns True while no further job may start.
    workers:  number of workers on its jobs; it grows as long as none of its calls waits for a slot.
    waiting, in_flight, failing: numbers of its calls; failing ones wait for their next try.
    is_empty: True if no job was left at the last look.
    """

    def __init__(
        self,
        jobs: Iterable[Job | None],
        tally: Tally,
        watch: Callable[[Tally], None] = lambda tally: None,
        stored: Callable[[Sequence[Row]], None] = _ignore,
        is_held: Callable[[], bool] = _never,
    ) -> None:
        self.jobs, self.tally, self.watch = iter(jobs), tally, watch
        self.stored, self.is_held = stored, is_held
        self.workers = self.waiting = self.in_flight = self.failing = 0
        self.is_empty = False
        self.unasked: list[Sequence[Row]] = []  # of jobs that asked nobody, not yet stored

    def draw(self) -> Job | None:
        """Takes the next job; None if no job is left, none may start, or too many calls wait."""
        if max(self.waiting, self.failing) > max(WAITING, self.in_flight) or self.is_held():
            return None
        job = next(self.jobs, None)
        self.is_empty = job is None
        return job

    def may_grow(self) -> bool:
        """True if a further worker would send calls at once instead of waiting for a slot."""
        return not self.waiting and not self.is_empty and self.failing <= WAITING

    async def wait(self, place: Awaitable[T]) -> T:
        """Awaits a slot or room in the budget; the call counts as waiting meanwhile."""
        self.waiting += 1
        try:
            return await place
        finally:
            self.waiting -= 1

    def show(self) -> None:
        """Passes the tally to `watch`."""
        self.watch(self.tally)
