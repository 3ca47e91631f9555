"""The steps of one batch, from what is written of it to its results."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from ...errors import Interrupted, ModelError, TransientError
from ...models import Model, Price
from ...models.batch import wire_of
from ...models.batch.file import FILE, FileBatches
from ...models.batch.format import BatchFormat, Handed, Seen
from ...models.batch.openai import OpenAIBatches
from ...models.batch.wire import Gone
from ...models.http import HttpModel
from ...store import Store
from ...store.queries import batches, settings
from ...store.queries.batches import (
    ENDED,
    INTENDED,
    LOST,
    OPEN,
    REFUSED,
    UNFINISHED,
    UPLOADED,
    BatchRow,
)
from ..engine.limits import Limits, Stopped, pause
from ..engine.open_models import Models
from ..engine.retries import Patience, wait_asked_for
from .lines import file_of, names, rebuild, remove_file
from .results import AllFaulty, Collector

FIRST_LOOK_S = 30.0  # between the first two looks at a batch
LATE_LIST_S = 60.0  # for which a provider's list may lack a batch that was just made
LOOKS_UNTIL_LOST, LONGEST_MISS_S = 3, 2.0  # that find no such batch; seconds between them
TRIES = 3  # of a request in batches of one command
T = TypeVar("T")
# Words for states in which what was not done is given back and not billed.
_CUT_OFF = ("expire", "cancel", "timeout")


class Batching(NamedTuple):
    """How batches are wanted. hands_in: False where requests are asked singly, and batches of an
    earlier command are only taken in; wait: True to stay until they have ended; poll: seconds
    between the first two looks; file: where requests are written for somebody else to run, None for
    the providers' own batches.
    """

    hands_in: bool = False
    wait: bool = False
    poll: float = FIRST_LOOK_S
    file: Path | None = None


def age_s(date: str) -> float:
    """Seconds since a date of the run."""
    return (datetime.now(UTC) - datetime.fromisoformat(date)).total_seconds()


class Unsure(Exception):
    """Whether a batch was made cannot be told yet."""


class Steps:
    """What is done with single batches. price: of a model's calls in a batch; stop: set when the
    command is interrupted.
    """

    def __init__(
        self,
        store: Store,
        models: Models,
        limits: Limits,
        how: Batching,
        price: Callable[[str], Price | None],
    ) -> None:
        self._store, self._models, self._limits = store, models, limits
        self._how, self._price = how, price
        self.stop = asyncio.Event()
        self.tries: dict[str, int] = {}  # request → batches that gave no answer to it
        self.token_limits: dict[str, float] = {}  # model → tokens that it was found to queue
        self.warnings: set[str] = set()

    def form(self, model: Model) -> BatchFormat | None:
        """How a model takes batches, None where it takes none."""
        form = model.batches if isinstance(model, HttpModel) else None
        if self._how.file is None:
            return form
        return FileBatches(self._how.file) if isinstance(form, OpenAIBatches) else None

    def rows_out(self) -> list[BatchRow]:
        """The batches that were begun and have not ended."""
        return batches.rows(self._store, UNFINISHED)

    def is_overdue(self, row: BatchRow) -> bool:
        """True if a batch was handed in twice as long ago as its provider keeps at one; never of a
        file that somebody else runs.
        """
        model = self._models.opened(row.model)
        form = model.batches if isinstance(model, HttpModel) else None
        if row.remote_id.startswith(FILE):
            return False
        return form is not None and age_s(row.since) > 2 * 3600 * form.bounds.hours

    async def pause(self, seconds: float) -> None:
        """Sleeps; raises Interrupted where the command is."""
        try:
            await pause(seconds, self.stop)
        except Stopped:
            raise Interrupted(
                "Stopped. Batches that are out go on; the same command collects them."
            ) from None

    async def hand_in(self, row: BatchRow) -> bool:
        """From what is written of a batch to its receipt. False where that cannot be told yet."""
        model, form = await self._reach(row)
        wire = wire_of(model)
        if not row.file_id and not file_of(self._store, row.key).is_file():
            await rebuild(self._store, row, model, form)
        if row.state == INTENDED:
            file_id = await self._patiently(lambda: form.upload(wire, self._handover(row)))
            row = batches.keep(self._store, row._replace(state=UPLOADED, file_id=file_id))
        patience = Patience(self._limits.patience)
        while True:
            row = batches.keep(self._store, row)  # with the time of this try
            try:
                seen = await form.create(wire, self._handover(row))
                break
            except TransientError as error:
                await self._wait_for_next_try(patience, error)
                try:
                    found = await self._search(row)
                except Unsure:
                    return False
                if found is not None:
                    seen = found
                    break
            except ModelError as error:
                if error.possibly_paid:
                    raise
                crowded = "enqueued" in str(error).lower()
                self._take_refusal(
                    row, Seen("", ended=True, said="", fault=str(error), crowded=crowded)
                )
                return False
        self._receive(row, seen)
        return True

    def _receive(self, row: BatchRow, seen: Seen) -> BatchRow:
        row = row._replace(state=OPEN, remote_id=seen.remote, told=seen.said)
        row = batches.keep(self._store, row)
        remove_file(self._store, row.key)
        return row

    async def _search(self, row: BatchRow) -> Seen | None:
        """A batch of which no receipt came, where the provider has it; Unsure where that does not
        show yet. That it is not there is believed a while after it was tried.
        """
        model, form = await self._reach(row)
        known = names(batches.rows(self._store))
        while True:
            age = age_s(row.changed)
            unsure = False
            async for candidate in form.candidates(wire_of(model), self._handover(row)):
                if candidate.seen.remote in known:
                    continue
                if candidate.ours:
                    return candidate.seen
                unsure = unsure or candidate.ours is None
            if unsure:
                raise Unsure
            grace = max(self._how.poll, LATE_LIST_S)
            if age >= grace:
                return None
            await self.pause(grace - age)

    async def confirm(self, row: BatchRow) -> BatchRow | None:
        """A batch of an earlier command that has no receipt: found, or handed in now; None where it
        is given up or cannot be told.
        """
        try:
            found = await self._search(row) if row.state == UPLOADED else None
        except Unsure:
            batches.keep(self._store, row._replace(told="waits: an open batch may be this one"))
            return None
        if found is not None:
            return self._receive(row, found)
        if not self._how.hands_in:
            self._refuse(row, "was not handed in")
        elif await self.hand_in(row):
            return next(one for one in self.rows_out() if one.key == row.key)
        return None

    async def look(self, row: BatchRow) -> Seen | None:
        """How a batch stands; where it has ended, what came of it is stored. None where the
        provider does not know it: that is believed after some looks.
        """
        model, form = await self._reach(row)
        for last in (*[False] * (LOOKS_UNTIL_LOST - 1), True):
            try:
                seen = await form.look(wire_of(model), row.remote_id)
                break
            except TransientError as error:
                return Seen(row.remote_id, ended=False, said=str(error))
            except Gone as error:
                if last:
                    self._lost(row, str(error))
                    return None
                await self.pause(min(self._how.poll, LONGEST_MISS_S))
        if seen.fault:
            self._take_refusal(row, seen)
        elif seen.ended:
            return await self._collect(row, model, form, seen)
        elif seen.said != row.told:
            batches.keep(self._store, row._replace(told=seen.said))
        return seen

    async def end(self, row: BatchRow) -> None:
        """Stops what is not done of a batch, and takes in what is. One that has ended is not
        cancelled: providers refuse that.
        """
        seen = await self.look(row)
        if seen is None or seen.ended:
            return
        model, form = await self._reach(row)
        await self._patiently(lambda: form.cancel(wire_of(model), row.remote_id))
        await self.look(row._replace(told=seen.said))

    async def _collect(
        self, row: BatchRow, model: HttpModel, form: BatchFormat, seen: Seen
    ) -> Seen:
        """Stores the results; requests without one may be handed in again."""
        collector = Collector(self._store, row, model, self._price(row.model), self.warnings.add)
        try:
            got = await collector.collect(form, seen)
        except TransientError as error:
            return seen._replace(ended=False, said=str(error))
        except Gone as error:
            self._lost(row, str(error))
            return seen
        except AllFaulty as error:
            self._refuse(row, str(error))
            raise
        left = batches.keys_of(self._store, row.key)
        in_file = row.remote_id.startswith(FILE)  # of which the words name a path
        cut_off = not in_file and any(sign in seen.said for sign in _CUT_OFF)
        missing = [] if cut_off else [key for key in left if key not in got.given_back]
        self._lose(row.reserved * len(missing) / max(1, row.requests))
        for key in left:
            self.tries[key] = self.tries.get(key, 0) + 1
        self.tries.update(dict.fromkeys(missing, TRIES))  # they may be paid for
        said = f"{seen.said}; {len(left):,} of {row.requests:,} not answered" if left else seen.said
        told = f"{said}: {got.fault}" if got.fault else said
        batches.close(self._store, row._replace(state=ENDED, told=told), give_back=True)
        batches.forget(self._store, [key for key in left if self.tries[key] >= TRIES])
        return seen._replace(done=row.requests - len(left))

    def _take_refusal(self, row: BatchRow, seen: Seen) -> None:
        """A batch that the provider refused whole, for which nothing is charged. Where too many
        tokens are queued, less is handed in at once from now on.
        """
        if not seen.crowded or row.requests == 1:
            self._refuse(row, seen.fault)
            raise ModelError(f"The provider refused a whole batch of {row.model}: {seen.fault}")
        others = sum(
            one.tokens for one in self.rows_out() if one.model == row.model and one.key != row.key
        )
        self.token_limits[row.model] = others + row.tokens / 2
        row = row._replace(state=REFUSED, told=seen.fault)
        batches.close(self._store, row, give_back=True)
        remove_file(self._store, row.key)

    def _refuse(self, row: BatchRow, said: str) -> None:
        row = row._replace(state=REFUSED, told=said)
        batches.close(self._store, row, give_back=False)
        remove_file(self._store, row.key)

    def _lost(self, row: BatchRow, said: str) -> None:
        self.warnings.add(
            f"{row.model} no longer knows a batch of {row.requests:,} requests, which may be paid "
            f"for ({said}). They are asked again when the same command is run once more."
        )
        for key in batches.keys_of(self._store, row.key):
            self.tries[key] = TRIES
        self._lose(row.reserved)
        batches.close(self._store, row._replace(state=LOST, told=said), give_back=False)

    def _lose(self, dollars: float) -> None:
        if not dollars:
            return
        settings.keep_possibly_paid(self._store, settings.possibly_paid(self._store) + dollars, 0.0)

    # the way there

    async def _reach(self, row: BatchRow) -> tuple[HttpModel, BatchFormat]:
        """The model of a batch and how it takes batches."""
        model = await self._models.get(row.model)
        form = self.form(model)
        if row.remote_id.startswith(FILE):
            form = FileBatches(Path())
        elif row.state != INTENDED and row.file_id != FILE:
            form = model.batches if isinstance(model, HttpModel) else None
        elif row.file_id == FILE and not self._how.hands_in:
            form = FileBatches(Path())  # to be given up
        elif row.file_id == FILE and self._how.file is None:
            raise ModelError("A batch of this run is to be written to a file: give --batch-file.")
        if not isinstance(model, HttpModel) or form is None:
            raise ModelError(f"{row.model} takes no batches, and one of this run is out there.")
        return model, form

    def _handover(self, row: BatchRow) -> Handed:
        return Handed(
            row.key,
            row.model.partition(":")[2].partition("?")[0],
            row.path,
            row.requests,
            file_of(self._store, row.key),
            row.since,
            pictures="image" in row.path,
            file_id=row.file_id,
        )

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        patience = Patience(self._limits.patience)
        while True:
            try:
                return await work()
            except TransientError as error:
                await self._wait_for_next_try(patience, error)

    async def _wait_for_next_try(self, patience: Patience, error: TransientError) -> None:
        wait = patience.next_wait(wait_asked_for(error), 0.0)
        if wait is None:
            raise ModelError(f"{error}. Run the same command again when the server is well.")
        await self.pause(wait)
