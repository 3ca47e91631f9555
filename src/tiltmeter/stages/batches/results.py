"""What came of a batch → stored replies, as they stream in."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...errors import ModelError, TransientError
from ...models import Price
from ...models.batch import wire_of
from ...models.batch.format import BatchFormat, Line, Seen, request_key
from ...models.http import HttpModel
from ...models.http.connection import PASSING_STATUSES, Answer
from ...records import ANSWER, ERROR, Reply, Request, canonical
from ...store import Store
from ...store.queries import batches
from ...store.queries.batches import BatchRow
from ..engine.store_picture import store_picture

COMMIT_REPLIES = 1_000  # in one transaction
FEW_FAULTS = 5  # faulty requests of a batch with no good one, from which on the batch is at fault


class AllFaulty(ModelError):
    """The provider took none of the requests of a batch."""


class Collected(NamedTuple):
    """Of one batch. given_back: the requests of which a line says that they are to be sent again;
    fault: why, of the last of them.
    """

    given_back: set[str]
    fault: str


class Collector:
    """Reads the results of one batch into the run. price: what a call costs in a batch; warn: is
    called with what should be known.
    """

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
        self._given_back: set[str] = set()
        self._fault, self._good = "", 0

    async def collect(self, form: BatchFormat, seen: Seen) -> Collected:
        """Stores every reply once. AllFaulty where the provider refused every single request: then
        none is stored.
        """
        self._good = self._row.requests - len(batches.keys_of(self._store, self._row.key))
        async for line in form.lines(wire_of(self._model), seen):
            request = self._find(line)
            if request is None:
                continue
            reply = await self._read(request, line)
            if reply is None:
                self._given_back.add(request.key)
                continue
            self._good += reply.outcome != ERROR or line.status < 400
            self._replies[request.key] = request, reply
            if self._good and len(self._replies) >= COMMIT_REPLIES:  # else the rest may all fail
                self._commit()
        self._commit()
        return Collected(self._given_back, self._fault)

    def _find(self, line: Line) -> Request | None:
        """The request that a line is of; None where it is answered already, or another batch's."""
        key = request_key(self._row.key[:24], line.custom_id)
        if not key or key in self._replies:
            return None
        return batches.request_in(self._store, self._row.key, key)

    async def _read(self, request: Request, line: Line) -> Reply | None:
        """The reply of a line; None where the request is to be sent again."""
        if line.status in PASSING_STATUSES or line.status >= 500 or not line.status:
            self._fault = line.said or f"HTTP {line.status}"
            return None
        answer = Answer(line.status, {}, canonical(line.body).encode(), line.body)
        try:
            reply = await self._model.read_result(request, answer, self._row.omitted)
        except TransientError as error:
            self._fault = str(error)
            return None
        except ModelError as error:
            if error.raw is None:
                self._fault = str(error)
                return None
            reply = Reply(str(error), ERROR, raw=error.raw)
        if request.size and reply.outcome == ANSWER:
            reply = await store_picture(self._store, reply)
        cost = self._cost_of(request, reply, billed=line.status < 400)
        return reply.received(cost, reply.omitted, reply.raw)

    def _cost_of(self, request: Request, reply: Reply, billed: bool) -> float | None:
        """US dollars at the price of a batch. What failed is not billed."""
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
        faults = [reply for _, reply in replies if reply.outcome == ERROR]
        if len(faults) >= FEW_FAULTS and not self._good:
            raise AllFaulty(f"All requests of a batch failed: {faults[0].text}")
        batches.store_replies(self._store, replies)
        self._replies = {}
