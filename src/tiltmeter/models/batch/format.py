"""Work that a provider does in bulk, at a lower price and within a day: what each provider's
batches look like, one file each. `stages.batches` drives them.

The requests and their replies are those of the provider's ordinary dialect. A format says how a
request is put into a line, how a batch is handed in, looked at, found again, read and cancelled.
Formats and limits as of November 2026 (docs/how-to/batches.md says what each rests on).
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
    """The limits of one batch, and how long a provider keeps at it. tokens: that may be queued for
    a model, None where the provider names none.
    """

    requests: int
    size_bytes: int
    hours: float
    tokens: int | None = None


class Handed(NamedTuple):
    """A batch as it is handed in. key: our own, unique to this batch; file: its lines; file_id: the
    provider's id of the uploaded file; since: when it was handed in, by the provider's clock (UTC,
    ISO 8601); pictures: True if pictures are to come back.
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
        """The beginning of every custom_id of the batch."""
        return self.key[:PREFIX_CHARACTERS]


class Seen(NamedTuple):
    """A batch as the provider says it is.

    remote:  the provider's id.
    ended:   True if nothing more will be done; its results can be read, where it has any.
    said:    the provider's own word for its state.
    fault:   why the batch was refused as a whole, in a line; "" where it was not.
    crowded: True if the fault is that too many tokens are queued, which passes.
    done, total: requests; None where the provider says nothing before the end.
    succeeded, failed: requests that are charged for, and those that are not; None if not told.
    results: where results are read, as the format knows it.
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
    """A batch of the account that may be ours. ours: None where that shows at its end only."""

    seen: Seen
    ours: bool | None


class BatchLine(NamedTuple):
    """The result of one request. status: the HTTP status of the equivalent single call, GIVEN_BACK,
    or UNREADABLE; body: as the single call would have brought it; said: why there is none.
    """

    custom_id: str
    status: int
    body: Json = None
    said: str = ""


class BatchFormat(Protocol):
    """A provider's batches."""

    bounds: Bounds
    frame: tuple[str, str, str]  # before, between and after the lines of a file

    def line(self, custom_id: str, sent: HttpRequest) -> Mapping[str, Json]:
        """A request as a line of the input."""

    async def upload(self, wire: Wire, handed: Handed) -> str:
        """Uploads the input; the provider's id of the file, "" where it goes with `create`."""

    async def create(self, wire: Wire, handed: Handed) -> Seen:
        """Hands the batch in, which is not to be done twice."""

    def candidates(self, wire: Wire, handed: Handed) -> AsyncIterator[Candidate]:
        """The batches of the account that may be this one, of which no receipt came."""

    async def look(self, wire: Wire, remote: str) -> Seen:
        """Looks up the state of a batch. ModelError where the provider does not know it."""

    def lines(self, wire: Wire, seen: Seen) -> AsyncIterator[BatchLine]:
        """The results of a batch that has ended, as they stream in, in any order."""

    async def cancel(self, wire: Wire, remote: str) -> None:
        """Stops what is not done."""


def later_page(parameter: str, body: Json) -> str:
    """What a list's path needs for the page after one that names its last batch; "" if none."""
    last = text_at(body, "last_id") or text_at(body, "data", -1, "id")
    return f"&{parameter}={quote(last, safe='')}" if at(body, "has_more") and last else ""


def status_of(value: Json) -> int:
    """An HTTP status as providers write it, also as text; UNREADABLE if it is none."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value.strip()[:4])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_status = isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599
    return value if is_status and isinstance(value, int) else UNREADABLE


def custom_id(prefix: str, key: str) -> str:
    """The name of a request in a batch: letters, digits and a hyphen, 57 characters."""
    return f"{prefix}-{key}"


def request_key(prefix: str, name: str) -> str:
    """The key of the request that a custom_id names; "" where it is another batch's."""
    sender, hyphen, key = name.partition("-")
    return key if sender == prefix and hyphen and len(key) == REQUEST_CHARACTERS else ""
