"""Anthropic's Message Batches. The requests go with the call that creates the batch, which accepts
no key of ours; a batch without a receipt is recognised by its requests' names, readable only after
it ended. Format: the types of the anthropic package 2.12; limits:
docs.claude.com/en/docs/build-with-claude/batch-processing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import quote

from ...records import Json
from ..http.body import at, count_at, list_at, needed, object_at, word_at
from ..http.dialect import HttpRequest
from .format import GIVEN_BACK, UNREADABLE, BatchLine, Bounds, Candidate, Handed, Seen, later_page
from .wire import Wire

BATCHES = "/messages/batches"
PAGE = 100  # batches that are listed at a time
CLOCKS_DIFFER = timedelta(minutes=5)
# What an error would have had as its status: platform.claude.com/docs/en/api/errors.
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}

_NOT_DONE = ("canceled", "expired")


class AnthropicBatches:
    """Anthropic's batch format; its documentation limits a batch to 256 MB."""

    bounds = Bounds(100_000, 256 * 10**6, 24)
    frame = ('{"requests":[', ",\n", "]}")

    def line(self, custom_id: str, sent: HttpRequest) -> Mapping[str, Json]:
        """Returns the line of a request: its name and ordinary body."""
        return {"custom_id": custom_id, "params": sent.body}

    async def upload(self, wire: Wire, handed: Handed) -> str:
        """Uploads nothing, as `create` sends the requests. Asks for the provider's time if it is
        unknown: a batch without a receipt is searched for by time.
        """
        if not wire.knows_time:
            await wire.get(f"{BATCHES}?limit=1")
        return ""

    async def create(self, wire: Wire, handed: Handed) -> Seen:
        """Creates the batch: POST /messages/batches."""
        return wire.read(_read_batch, await wire.post_file(BATCHES, handed.file))

    async def candidates(self, wire: Wire, handed: Handed) -> AsyncIterator[Candidate]:
        """Yields recent batches of as many requests; only an ended batch shows if it is ours."""
        since = datetime.fromisoformat(handed.since) - CLOCKS_DIFFER
        async for body in wire.pages(f"{BATCHES}?limit={PAGE}", partial(later_page, "after_id")):
            listed = list_at(body, "data")
            young = [one for one in listed if wire.read(_creation_time, one) >= since]
            for one in young:
                if _total(one) == handed.requests:
                    status = wire.read(_read_batch, one)
                    yield Candidate(status, await self._is_ours(wire, status, handed.prefix))
            if not young:  # the newest come first
                return

    async def _is_ours(self, wire: Wire, seen: Seen, prefix: str) -> bool | None:
        if not seen.ended:
            return None
        async for line in self.lines(wire, seen):
            return line.custom_id.startswith(f"{prefix}-")
        return None if seen.results else False

    async def look(self, wire: Wire, remote: str) -> Seen:
        """Returns the batch's state: GET /messages/batches/ID."""
        return wire.read(_read_batch, await wire.get(f"{BATCHES}/{quote(remote, safe='')}"))

    async def lines(self, wire: Wire, seen: Seen) -> AsyncIterator[BatchLine]:
        """Yields the results: GET /messages/batches/ID/results."""
        async for body in wire.lines(f"{BATCHES}/{quote(seen.remote, safe='')}/results"):
            yield _line(body)

    async def cancel(self, wire: Wire, remote: str) -> None:
        """Cancels the batch: POST /messages/batches/ID/cancel."""
        await wire.post(f"{BATCHES}/{quote(remote, safe='')}/cancel", {})


def _creation_time(body: Json) -> datetime:
    created = datetime.fromisoformat(needed(body, "created_at"))
    return created if created.tzinfo else created.replace(tzinfo=UTC)


def _total(body: Json) -> int:
    counts = object_at(body, "request_counts")
    return sum(count_at(counts, name) or 0 for name in counts)


def _read_batch(body: Json) -> Seen:
    """Parses a batch's state, without progress: all is `processing` until the whole batch ends."""
    state = needed(body, "processing_status")
    ended = state == "ended"
    url = word_at(body, "results_url")
    counts = object_at(body, "request_counts")
    others = [count_at(counts, name) for name in ("errored", "canceled", "expired")]
    return Seen(
        needed(body, "id"),
        ended,
        state,
        results=(url,) if ended and url else (),
        succeeded=count_at(counts, "succeeded"),
        failed=None if None in others else sum(number or 0 for number in others),
    )


def _line(body: Json) -> BatchLine:
    name, kind = word_at(body, "custom_id"), word_at(body, "result", "type")
    if kind == "succeeded":
        return BatchLine(name, 200, at(body, "result", "message"))
    error = object_at(body, "result", "error")
    if kind == "errored" and error:
        status = _STATUSES.get(word_at(error, "error", "type"), 500)
        return BatchLine(name, status, error)
    status = GIVEN_BACK if kind in _NOT_DONE else UNREADABLE
    return BatchLine(name, status, None, kind or "no result")
