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
    """Jobs, each drawn when a worker is free.

    tally, watch: what happened, and who is shown it; a source may share them with another one.
    stored:   is told the rows of each job once they are committed.
    is_held:  True while no further job is to be drawn.
    workers:  that are at its jobs. It gets more as long as none of its calls waits for a place.
    waiting, in_flight, failing: its calls; those that failed and wait for their next try.
    is_empty: no job was left when last looked.
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
        """The next job; None if there is none now, or more of them would only wait."""
        if max(self.waiting, self.failing) > max(WAITING, self.in_flight) or self.is_held():
            return None
        job = next(self.jobs, None)
        self.is_empty = job is None
        return job

    def may_grow(self) -> bool:
        """True if one more worker would find work, and not only wait."""
        return not self.waiting and not self.is_empty and self.failing <= WAITING

    async def wait(self, place: Awaitable[T]) -> T:
        """Waits for a place or for the budget; counts as a waiting call meanwhile."""
        self.waiting += 1
        try:
            return await place
        finally:
            self.waiting -= 1

    def show(self) -> None:
        """Shows what happened so far."""
        self.watch(self.tally)
