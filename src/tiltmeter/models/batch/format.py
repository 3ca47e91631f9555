"""Batches, which providers process at a lower price within a day: one file per provider's format.
`stages.batches` drives them.

Requests and replies are in the provider's ordinary dialect. A format defines the line of a request,
and how to submit, poll, find again, read and cancel a batch. Formats and limits as of November 2026
(docs/how-to/batches.md lists the sources).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import quote

from ...records import Json
from ..http.body import at, text_at
from ..http.dialect import HttpRequest
from .wire import Wire

PREFIX_CHARACTERS, REQUEST_CHARACTERS = 24, 32  # of a custom_id: 57 with the hyphen, 64 are allowed
GIVEN_BACK = 0  # status of a line that was not done and not billed: expired, cancelled
UNREADABLE = -1  # status of a line that does not tell whether it was done: it is read again later
TAG = "tiltmeter"  # the name of our key among a batch's metadata


class Bounds(NamedTuple):
    """The limits of one batch, and the hours a provider may take. tokens: the most queued per
    model, None if the provider states no limit.
    """

    requests: int
    size_bytes: int
    hours: float
    tokens: int | None = None


class Handed(NamedTuple):
    """A batch to submit. key: our own, unique to this batch; file: its lines; file_id: the
    provider's id of the uploaded file; since: time of submission by the provider's clock (UTC, ISO
    8601); pictures: True if the replies are pictures.
    """

    key: str
    model: str
    path: str
    requests: int
    file: Path
    since: str
    pictures: bool = False
    file_id: str = ""

    @property
    def prefix(self) -> str:
        """The first characters of every custom_id of the batch."""
        return self.key[:PREFIX_CHARACTERS]


class Seen(NamedTuple):
    """The state of a batch as the provider reports it.

    remote:  the provider's id.
    ended:   True if no more requests will be processed, and any results can be fetched.
    said:    the provider's own word for the state.
    fault:   the reason, in one line, if the batch was refused as a whole; else "".
    crowded: True if the fault is temporary: too many tokens are queued.
    done, total: numbers of requests; None if not reported before the end.
    succeeded, failed: numbers of requests charged and not charged for, or None.
    results: ids or addresses of the results, as the format needs them.
    """

    remote: str
    ended: bool
    said: str
    fault: str = ""
    crowded: bool = False
    done: int | None = None
    total: int | None = None
    results: tuple[str, ...] = ()
    inlined: tuple[Json, ...] = ()
    succeeded: int | None = None
    failed: int | None = None


class Candidate(NamedTuple):
    """A listed batch that may be ours. ours: None if this is unknown until the batch has ended."""

    seen: Seen
    ours: bool | None


class BatchLine(NamedTuple):
    """The result of one request. status: the HTTP status of the equivalent single call, GIVEN_BACK,
    or UNREADABLE; body: as the single call would have returned it; said: the reason if body is
    None."""

    custom_id: str
    status: int
    body: Json = None
    said: str = ""


class BatchFormat(Protocol):
    """The interface of a provider's batches."""

    bounds: Bounds
    frame: tuple[str, str, str]  # before, between and after the lines of a file

    def line(self, custom_id: str, sent: HttpRequest) -> Mapping[str, Json]:
        """Returns a request as a line of the input."""

    async def upload(self, wire: Wire, handed: Handed) -> str:
        """Uploads the input; returns the provider's id of the file, "" if `create` sends it."""

    async def create(self, wire: Wire, handed: Handed) -> Seen:
        """Submits the batch. A repeated call would submit it twice."""

    def candidates(self, wire: Wire, handed: Handed) -> AsyncIterator[Candidate]:
        """Yields the account's batches that may be this one, if no receipt came for it."""

    async def look(self, wire: Wire, remote: str) -> Seen:
        """Returns the state of a batch. Raises ModelError if the provider does not know it."""

    def lines(self, wire: Wire, seen: Seen) -> AsyncIterator[BatchLine]:
        """Yields the results of a batch that has ended, as they arrive, in any order."""

    async def cancel(self, wire: Wire, remote: str) -> None:
        """Cancels the requests that are not done."""


def later_page(parameter: str, body: Json) -> str:
    """Returns the query for a list's next page, after this page's last id; "" on the last page."""
    last = text_at(body, "last_id") or text_at(body, "data", -1, "id")
    return f"&{parameter}={quote(last, safe='')}" if at(body, "has_more") and last else ""


def status_of(value: Json) -> int:
    """Parses an HTTP status, a number or text; UNREADABLE if it is not a status."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value.strip()[:4])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_status = isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599
    return value if is_status and isinstance(value, int) else UNREADABLE


def custom_id(prefix: str, key: str) -> str:
    """Returns the name of a request in a batch: letters, digits and a hyphen, 57 characters."""
    return f"{prefix}-{key}"


def request_key(prefix: str, name: str) -> str:
    """Returns the key of the request that a custom_id names; "" for another batch's request."""
    sender, hyphen, key = name.partition("-")
    return key if sender == prefix and hyphen and len(key) == REQUEST_CHARACTERS else ""
