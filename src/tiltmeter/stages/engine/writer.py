"""Writing of replies and rows to the store, in a transaction for a few turns of the event loop."""

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
MOST_TURNS = 8  # of the loop that a transaction waits for further rows
SYNC_S = 1.0  # of what a power cut may take, with --durable


class Batch(NamedTuple):
    """The rows of one job. written: done once the rows are committed or an error is set."""

    calls: Sequence[Call]
    rows: Sequence[Row]
    written: asyncio.Future[None]

    def settle(self, error: BaseException | None = None) -> None:
        """Wakes the job with success, or with the error; does nothing if it no longer waits."""
        if self.written.done():
            return
        if error is None:
            self.written.set_result(None)
        else:
            self.written.set_exception(error)


class Writer:
    """A writer that groups the rows of a few turns of its event loop into one transaction.

    Every waiting job is woken, whatever happens. If a transaction fails because of its content,
    each job's rows are written separately, so that one bad reply loses no other. durable: True to
    flush to disk one second after a write, and on closing. A committed transaction survives the end
    of the process, but a power cut only once it is flushed.
    """

    def __init__(self, store: Store, durable: bool = False) -> None:
        self._store = store
        self._durable = durable
        self._syncing: asyncio.TimerHandle | None = None
        self._unsynced: TiltmeterError | None = None
        self._loop = asyncio.get_running_loop()  # kept, since to look for it asks the system
        self._waiting: list[Batch] = []
        self._gathered = self._turns = 0  # jobs at the last look, and looks so far

    def put(self, calls: Sequence[Call], rows: Sequence[Row]) -> asyncio.Future[None]:
        """Queues calls and rows for storing; the future is done once they are committed."""
        if not self._waiting:
            self._loop.call_soon(self._flush)
        batch = Batch(calls, rows, self._loop.create_future())
        self._waiting.append(batch)
        return batch.written

    def close(self) -> None:
        """Flushes committed rows to disk if a flush is still due."""
        if self._syncing is not None:
            self._syncing.cancel()
            self._sync()

    def _sync(self) -> None:
        """Flushes to disk; keeps an error, which the next write raises."""
        self._syncing = None
        try:
            self._store.sync()
        except TiltmeterError as error:
            self._unsynced = error

    def _flush(self) -> None:
        if len(self._waiting) > self._gathered and self._turns < MOST_TURNS:
            self._gathered, self._turns = len(self._waiting), self._turns + 1
            self._loop.call_soon(self._flush)  # a page is written once per transaction
            return
        self._gathered = self._turns = 0
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
        """Writes one job's rows; if they are refused, its calls one by one. Returns the error."""
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
        """Writes a reply; if it cannot be stored, writes the outcome `error` with its cost."""
        request, reply = call
        try:
            self._store.write([call], (), ())
        except TiltmeterError:
            raise
        except UNSTORABLE as problem:
            message = f"the reply cannot be stored ({problem})"
            self._store.write([(request, Reply(message, ERROR, cost=reply.cost))], (), ())
