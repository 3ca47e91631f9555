"""Replies and rows → the store: all that one turn of the event loop brings is one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from ...errors import TiltmeterError, Unanswered
from ...records import ERROR, Label, LabelCall, Output, Reply, Request
from ...store import Store
from ...store.database import UNSTORABLE
from .sources import Row

Call = tuple[Request, Reply]
SYNC_S = 1.0  # of what a power cut may take, with --durable


class Batch(NamedTuple):
    """The rows of one job. written: done once committed, or with the error that occurred."""

    calls: Sequence[Call]
    rows: Sequence[Row]
    written: asyncio.Future[None]

    def settle(self, error: BaseException | None = None) -> None:
        """Tells the job, unless it waits no longer."""
        if self.written.done():
            return
        if error is None:
            self.written.set_result(None)
        else:
            self.written.set_exception(error)


class Writer:
    """Groups what arrives in one turn of the loop that it is made in into one transaction.

    Whoever waits is told, whatever happens. Where a transaction is refused for what stands in it,
    each job's part is written by itself, so that a reply that cannot be stored takes no other
    along.

    durable: what was written is brought to the disk a second later, and when it is closed: a
    transaction outlives the end of the process at once, but a power cut only from then on.
    """

    def __init__(self, store: Store, durable: bool = False) -> None:
        self._store = store
        self._durable = durable
        self._syncing: asyncio.TimerHandle | None = None
        self._unsynced: TiltmeterError | None = None
        self._loop = asyncio.get_running_loop()  # kept, since to look for it asks the system
        self._waiting: list[Batch] = []

    def put(self, calls: Sequence[Call], rows: Sequence[Row]) -> asyncio.Future[None]:
        """Takes what is to be stored; the future is done when it is committed."""
        if not self._waiting:
            self._loop.call_soon(self._flush)
        batch = Batch(calls, rows, self._loop.create_future())
        self._waiting.append(batch)
        return batch.written

    def close(self) -> None:
        """Brings to the disk what is not there yet."""
        if self._syncing is not None:
            self._syncing.cancel()
            self._sync()

    def _sync(self) -> None:
        """An error is met by whoever waits for what is written next."""
        self._syncing = None
        try:
            self._store.sync()
        except TiltmeterError as error:
            self._unsynced = error

    def _flush(self) -> None:
        if self._durable and self._syncing is None:
            self._syncing = self._loop.call_later(SYNC_S, self._sync)
        batches, self._waiting = self._waiting, []
        try:
            if self._unsynced is not None:
                raise self._unsynced
            self._write(batches)
        except TiltmeterError as error:  # the disk or the file, not what stands in the rows
            for batch in batches:
                batch.settle(error)
        except UNSTORABLE:
            for batch in batches:
                batch.settle(self._write_apart(batch))
        except BaseException as error:
            for batch in batches:
                batch.settle(error)
            raise
        else:
            for batch in batches:
                batch.settle()

    def _write(self, batches: Sequence[Batch]) -> None:
        calls: list[Call] = []
        outputs: list[Output] = []
        labels: list[Label] = []
        label_calls: list[LabelCall] = []
        for batch in batches:
            calls += batch.calls
            for row in batch.rows:
                if isinstance(row, Label):
                    labels.append(row)
                elif isinstance(row, Output):
                    outputs.append(row)
                else:
                    label_calls.append(row)
        self._store.write(calls, outputs, labels, label_calls)

    def _write_apart(self, batch: Batch) -> TiltmeterError | None:
        """Writes one job's part; row by row where it is refused. Returns what was refused."""
        try:
            self._write([batch])
            return None
        except TiltmeterError as error:
            return error
        except UNSTORABLE as problem:
            refused = Unanswered(f"what came cannot be stored ({problem})")
        try:
            for call in batch.calls:
                self._write_call(call)
        except TiltmeterError as error:
            return error
        return refused

    def _write_call(self, call: Call) -> None:
        """A reply; one that cannot be stored is kept as the outcome `error`, with what it cost."""
        request, reply = call
        try:
            self._store.write([call], (), ())
        except TiltmeterError:
            raise
        except UNSTORABLE as problem:
            message = f"the reply cannot be stored ({problem})"
            self._store.write([(request, Reply(message, ERROR, cost=reply.cost))], (), ())
