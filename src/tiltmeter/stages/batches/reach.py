"""Access to the provider of a batch: its model, its format, and waiting for a server that is
failing. Files and models that only another user's run names are refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from ... import registry
from ...errors import Interrupted, ModelError, TransientError, UsageError
from ...models import Model
from ...models.batch.file import FILE, FileBatches, names_own_file, path_of
from ...models.batch.format import BatchFormat, Handed
from ...models.batch.openai import OpenAIBatches
from ...models.http import HttpModel
from ...models.kinds import known_kind
from ...store import Store
from ...store.queries import batches
from ...store.queries.batches import RESERVED, BatchRow
from ..engine.limits import Limits, Stopped, pause
from ..engine.open_models import Models
from ..engine.retries import Patience, wait_asked_for
from .lines import file_of

FIRST_LOOK_S = 30.0  # between the first two looks at a batch
T = TypeVar("T")


class Batching(NamedTuple):
    """The settings of batches. hands_in: False if requests are sent singly and an earlier command's
    batches are only collected; wait: True to stay until batches have ended; poll: seconds between
    the first two looks; file: the file of requests for somebody else to run, None for the
    providers' own batches; pay_again: True to send requests again that may have been charged;
    trust: True to read files that another user's run names.
    """

    hands_in: bool = False
    wait: bool = False
    poll: float = FIRST_LOOK_S
    file: Path | None = None
    pay_again: bool = False
    trust: bool = False


class Way:
    """Access to providers of batches. stop: set when the command is interrupted."""

    def __init__(self, store: Store, models: Models, limits: Limits, how: Batching) -> None:
        self._store, self._models, self._limits, self._how = store, models, limits, how
        self.stop = asyncio.Event()

    def form(self, model: Model) -> BatchFormat | None:
        """Returns the format in which a model takes batches; None if it takes none."""
        form = model.batches if isinstance(model, HttpModel) else None
        if self._how.file is None:
            return form
        return FileBatches(self._how.file) if isinstance(form, OpenAIBatches) else None

    def opened_form(self, name: str) -> BatchFormat | None:
        """Returns the batch format of a model that is open already; None if it takes no batches."""
        model = self._models.opened(name)
        return model.batches if isinstance(model, HttpModel) else None

    async def pause(self, seconds: float) -> None:
        """Sleeps; raises Interrupted if the command is interrupted."""
        try:
            await pause(seconds, self.stop)
        except Stopped:
            raise Interrupted(
                "Stopped. The batches that were submitted go on; the same command collects them."
            ) from None

    async def reach(self, row: BatchRow) -> tuple[HttpModel, BatchFormat]:
        """Returns the model of a batch and its format. Raises UsageError if another user's run
        names a file outside its folder or an unfit model, ModelError if the model takes no batches.
        """
        self._refuse_foreign(row)
        model = await self._models.get(row.model)
        form = self.form(model)
        if row.remote_id.startswith(FILE):
            form = FileBatches(Path())
        elif row.state != RESERVED and row.file_id != FILE:
            form = model.batches if isinstance(model, HttpModel) else None
        elif row.file_id == FILE and not self._how.hands_in:
            form = FileBatches(Path())  # to be given up
        elif row.file_id == FILE and self._how.file is None:
            raise ModelError("This run has a batch for a file. Type also: --batch-file FILE.jsonl")
        if not isinstance(model, HttpModel) or form is None:
            raise ModelError(f"{row.model} takes no batches now, but this run has an open batch.")
        return model, form

    def _refuse_foreign(self, row: BatchRow) -> None:
        if self._how.trust:
            return
        advice = "If that is what you want, type the same command with --trust."
        if row.remote_id.startswith(FILE) and not names_own_file(
            row.remote_id, self._store.folder, self._how.file
        ):
            path = path_of(row.remote_id)
            raise UsageError(
                f"{self._store.folder} names the batch {path}, but that file is outside the folder "
                f"and has other requests. If it is yours, type: --batch-file {path}. {advice}"
            )
        kind = known_kind(row.model)
        if kind is None or kind.name not in registry.MODELS or not kind.batches:
            raise UsageError(f"{self._store.folder} names a batch of {row.model}. {advice}")
        if not batches.is_own(row):
            raise UsageError(
                f"{self._store.folder} names a batch of {row.model} that was not submitted from "
                f"this machine: {row.remote_id or 'a batch without a receipt'}. {advice}"
            )

    def handover(self, row: BatchRow) -> Handed:
        """Returns the facts about a batch that are sent to a provider."""
        return Handed(
            row.key,
            row.model.partition(":")[2].partition("?")[0],
            row.path,
            row.requests,
            file_of(self._store, row.key),
            min(row.sent or row.since, row.since),  # a clock that is ahead would hide the batch
            pictures="image" in row.path,
            file_id=row.file_id,
        )

    async def patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        """Awaits `work`, retrying while the server fails and the patience of the run lasts."""
        patience = self.patience()
        while True:
            try:
                return await work()
            except TransientError as error:
                await self.wait_for_next_try(patience, error)

    def patience(self) -> Patience:
        """Makes a retry policy from the limits of the run."""
        return Patience(self._limits.patience)

    async def wait_for_next_try(self, patience: Patience, error: TransientError) -> None:
        """Sleeps before another try. Raises ModelError if no patience is left."""
        wait = patience.next_wait(wait_asked_for(error), 0.0)
        if wait is None:
            raise ModelError(f"{error}. Run the same command again when the server is well.")
        await self.pause(wait)
