"""Finds submitted work whose receipt did not come, in the provider's own list of its work.

Only work that can be nobody else's is taken: it has the same input, was created after the request
began by the provider's clock, has no receipt here, and no equal request is on its way. If more such
work is listed than receipts are lost, it stays possibly paid.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

from ...errors import ModelError, TransientError
from ...records import Json, Reply, Request
from . import DialectConnection, HttpRequest
from .connection import Connection

LOOKS = 4  # at the list, which may not have new work at once
PAUSE_SECONDS = 1.0  # before a look; twice as long before the next
MOST_PAGES = 10
ROUNDED_SECONDS = 2.0  # by which a Date header and a date of creation may be apart


class Work(NamedTuple):
    """A listed work item. address: to poll; created: ISO 8601; is_same: True for the same input."""

    address: str
    created: str
    is_same: bool


@runtime_checkable
class ListsWork(Protocol):
    """A dialect of a provider that lists its work, the newest first."""

    work_list: str

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of a request for the list."""

    def listed(self, sent: HttpRequest, body: Json) -> tuple[list[Work], str]:
        """Parses a page of the list, for one request: (work, the next page's address or "")."""


class Submitted(NamedTuple):
    """A receipt. address: polls the work; omitted: parameters left out."""

    address: str
    omitted: tuple[str, ...]


Submit = Callable[[Request], Awaitable[Submitted | Reply]]


class LostReceipts:
    """The requests of one model on their way, and the receipts that came."""

    def __init__(
        self, connection: Connection, exchange: DialectConnection, list_: ListsWork
    ) -> None:
        self._connection, self._exchange, self._list = connection, exchange, list_
        self._under_way, self._lost = Counter[str](), Counter[str]()
        self._taken: set[str] = set()
        self._one_by_one = asyncio.Lock()

    async def submit(self, request: Request, submit: Submit) -> Submitted | Reply:
        """Submits a request; if its receipt does not come, finds the work in the list. Raises what
        `submit` raises if the list is inconclusive.
        """
        asked = json.dumps(self._exchange.build(request, ()).body, sort_keys=True)
        began = time.time()
        self._under_way[asked] += 1
        try:
            got = await submit(request)
        except (TransientError, ModelError) as error:
            if not error.possibly_paid:
                raise
            failure = error
        else:
            if isinstance(got, Submitted):
                self._taken.add(got.address)
            return got
        finally:
            self._under_way[asked] -= 1
        sent = self._exchange.build(request)
        address = await self._find(asked, sent, began)
        if not address:
            raise failure
        return Submitted(address, sent.omitted)

    async def _find(self, asked: str, sent: HttpRequest, began: float) -> str:
        """Returns the address of a request's work, or "". began: by our own clock."""
        self._lost[asked] += 1
        try:
            async with self._one_by_one:
                for look in range(LOOKS):
                    await asyncio.sleep(PAUSE_SECONDS * 2**look)
                    if self._under_way[asked]:
                        continue
                    matches = await self._read_list(sent, began)
                    if matches and not self._under_way[asked]:
                        chosen = matches[-1] if len(matches) <= self._lost[asked] else ""
                        self._taken.add(chosen)
                        return chosen
        finally:
            self._lost[asked] -= 1
        return ""

    async def _read_list(self, sent: HttpRequest, began: float) -> list[str]:
        """Returns the addresses of work that may be the request's, the newest first."""
        url, addresses = self._connection.base + self._list.work_list, list[str]()
        for _ in range(MOST_PAGES):
            try:
                answer = await self._connection.send(url, self._list.headers)
                if answer.status != 200:
                    return []
                works, url = self._connection.parse_body(answer, partial(self._list.listed, sent))
            except (TransientError, ModelError):
                return []
            since = began + (self._connection.clock_offset_s or 0.0) - ROUNDED_SECONDS
            new = [work for work in works if _seconds(work.created) >= since]
            addresses += [work.address for work in new if self._may_be_lost(work)]
            if len(new) < len(works) or not url:
                return addresses
            if not self._is_own(url):
                return []
        return []

    def _may_be_lost(self, work: Work) -> bool:
        is_free = work.is_same and work.address not in self._taken
        return is_free and self._is_own(work.address)

    def _is_own(self, url: str) -> bool:
        with suppress(ValueError):  # of an address that is none
            return self._connection.own(url)
        return False


def _seconds(date: str) -> float:
    """Returns an ISO 8601 date as a timestamp; 0 if the text is not a date."""
    with suppress(ValueError, OverflowError):
        when = datetime.fromisoformat(date)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    return 0.0
