"""Stores the results of a batch as replies while they stream in."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...errors import MissingKey, ModelError, TransientError
from ...models import Price
from ...models.batch import wire_of
from ...models.batch.format import UNREADABLE, BatchFormat, BatchLine, Seen, request_key
from ...models.http import HttpModel
from ...models.http.answer import PASSING_STATUSES, Answer
from ...records import ANSWER, ERROR, Reply, Request, canonical
from ...store import Store
from ...store.queries import batches
from ...store.queries.batches import BatchRow
from ..engine.store_picture import store_picture

COMMIT_REPLIES = 1_000  # in one transaction
MOST_LINES_OF_ONE = 100  # lines of results for a request
FEW_FAULTS = 5  # faulty requests of a batch with no good one, from which on the batch is at fault


class Faulty(NamedTuple):
    """A request that the provider rejected or answered wrongly. billed: True if charged."""

    request: Request
    reply: Reply
    billed: bool


class Collected(NamedTuple):
    """The result of reading a batch once. Good replies are stored by then; nothing else is decided.

    billed:     number of charged results read, in this reading or an earlier one.
    given_back: keys of the requests that a line reports as not done.
    faulty:     requests to be stored as errors once the batch is settled.
    unread:     keys of the requests without a readable line.
    fault:      the reason of the last unreadable line; "" if all can be read.
    """

    billed: int
    given_back: frozenset[str]
    faulty: tuple[Faulty, ...]
    unread: frozenset[str]
    fault: str


class Collector:
    """A reader of a batch's results into the run. price: of a call; warn: called with warnings."""

    def __init__(
        self,
        store: Store,
        row: BatchRow,
        model: HttpModel,
        price: Price | None,
        warn: Callable[[str], None],
    ) -> None:
        self._store, self._row, self._model = store, row, model
        self._price, self._warn = price, warn
        self._replies: dict[str, tuple[Request, Reply]] = {}
        self._faulty: dict[str, Faulty] = {}
        self._given_back: set[str] = set()
        self._fault = ""

    async def collect(self, form: BatchFormat, seen: Seen) -> Collected:
        """Stores good replies once, even if a later line is unreadable. Raises MissingKey."""
        most_lines, lines = MOST_LINES_OF_ONE * self._row.requests, 0
        try:
            async for line in form.lines(wire_of(self._model), seen):
                lines += 1
                if lines > most_lines:
                    raise ModelError(f"the server sent more than {most_lines:,} results")
                await self._take(line)
                if len(self._replies) >= COMMIT_REPLIES:
                    self._commit()
        except MissingKey:
            raise
        except (TransientError, ModelError) as error:  # read again later
            self._fault = str(error)
        finally:
            self._commit()
        faulty = self._faulty
        billed = batches.row(self._store, self._row.key).billed
        uncollected = frozenset(batches.keys_of(self._store, self._row.key))
        return Collected(
            billed + sum(fault.billed for fault in faulty.values()),
            frozenset(self._given_back) & uncollected,
            tuple(faulty.values()),
            uncollected - self._given_back - faulty.keys(),
            self._fault,
        )

    async def _take(self, line: BatchLine) -> None:
        """Reads a line about a request without a reply: as reply, fault, or request given back."""
        key = request_key(self._row.key[:24], line.custom_id)
        if not key or key in self._replies:
            return
        request = batches.request_in(self._store, self._row.key, key)
        if request is None:
            return
        is_good = 0 < line.status < 400
        if line.status == UNREADABLE or (is_good and not isinstance(line.body, dict)):
            self._fault = line.said or "a result without a body"
            return
        if line.status in PASSING_STATUSES or line.status >= 500 or not line.status:
            self._fault = line.said or f"HTTP {line.status}"
            self._given_back.add(key)
            return
        await self._read(request, line)

    async def _read(self, request: Request, line: BatchLine) -> None:
        """Reads the reply on a line and counts it as good or faulty."""
        answer = Answer(line.status, {}, canonical(line.body).encode(), line.body)
        is_billed = line.status < 400
        is_faulty = False
        try:
            reply = await self._model.read_result(request, answer, self._row.omitted)
        except (TransientError, ModelError) as error:
            if isinstance(error, TransientError) or error.raw is None:
                self._fault = str(error)
                if not is_billed:  # else it is read again, and not asked again
                    self._given_back.add(request.key)
                return
            reply, is_faulty = Reply(str(error), ERROR, raw=error.raw), True
        if request.size and reply.outcome == ANSWER:
            reply = await store_picture(self._store, reply)
        reply = reply.received(self._cost_of(request, reply, is_billed), reply.omitted, reply.raw)
        self._given_back.discard(request.key)
        if is_faulty or (reply.outcome == ERROR and not is_billed):
            self._faulty[request.key] = Faulty(request, reply, is_billed)
        else:
            self._faulty.pop(request.key, None)
            self._replies[request.key] = request, reply

    def _cost_of(self, request: Request, reply: Reply, billed: bool) -> float | None:
        """Returns a reply's cost at the batch price, in US dollars; 0 if it was not billed."""
        if self._price is None or not billed:
            return None if self._price is None else 0.0
        cost = self._price.cost(request, reply)
        if cost is None:
            cost = self._price.worst(request)
            self._warn(
                f"{self._model.name} does not say what it used, or says what cannot be: the "
                "worst case is counted as its cost."
            )
        return cost

    def _commit(self) -> None:
        replies = list(self._replies.values())
        batches.store_replies(self._store, self._row.key, replies, len(replies))
        self._replies = {}


def keep_faulty(store: Store, row: BatchRow, faulty: tuple[Faulty, ...]) -> None:
    """Stores error replies for the requests that the provider rejected."""
    replies = [(fault.request, fault.reply) for fault in faulty]
    batches.store_replies(store, row.key, replies, sum(fault.billed for fault in faulty))
