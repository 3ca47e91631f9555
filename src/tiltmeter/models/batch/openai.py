"""Batches in OpenAI's format: OpenAI, Azure and Groq; Mistral's and Together's differ in names.

A file of lines is uploaded and a batch created from it; our key in the batch's metadata finds the
batch again. Requests done before a batch expired or was cancelled are delivered and billed; the
others are in the error file and not billed. Format: the types of the openai package 3.54; limits:
developers.openai.com/api/docs/guides/batch.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from functools import partial
from urllib.parse import quote

from ...records import Json
from ..http.body import at, count_at, list_at, needed, object_at, text_at, word_at
from ..http.dialect import HttpRequest
from .format import (
    GIVEN_BACK,
    TAG,
    UNREADABLE,
    BatchLine,
    Bounds,
    Candidate,
    Handed,
    Seen,
    later_page,
    status_of,
)
from .wire import Wire

BOUNDS = Bounds(50_000, 200 * 10**6, 24)
PAGE = 100  # batches that are listed at a time
_ENDED = ("completed", "failed", "expired", "cancelled")
_CROWDED = ("token_limit_exceeded", "enqueued")  # in the fault of a batch that may be tried later


class OpenAIBatches:
    """OpenAI's batch format. root: the path before /files and before the path of batches."""

    frame = ("", "\n", "\n")

    def __init__(self, bounds: Bounds = BOUNDS, root: str = "", batches: str = "/batches") -> None:
        self.bounds, self._root, self._batches = bounds, root, f"{root}{batches}"

    def line(self, custom_id: str, sent: HttpRequest) -> Mapping[str, Json]:
        """Returns the line of a request: its name, endpoint and ordinary body."""
        url = endpoint(sent.path)
        return {"custom_id": custom_id, "method": "POST", "url": url, "body": sent.body}

    async def upload(self, wire: Wire, handed: Handed) -> str:
        """Uploads the file: POST /files."""
        body = await wire.post_form(f"{self._root}/files", {"purpose": "batch"}, handed.file)
        return wire.read(lambda body: needed(body, "id"), body)

    async def create(self, wire: Wire, handed: Handed) -> Seen:
        """Creates the batch: POST /batches, with our key in the metadata."""
        body: dict[str, Json] = {
            "input_file_id": handed.file_id,
            "endpoint": endpoint(handed.path),
            "completion_window": "24h",
            "metadata": {TAG: handed.key},
        }
        return wire.read(self._read_batch, await wire.post(self._batches, body))

    async def candidates(self, wire: Wire, handed: Handed) -> AsyncIterator[Candidate]:
        """Yields the account's batches that have our key or our input file."""
        async for body in wire.pages(f"{self._batches}?limit={PAGE}", partial(later_page, "after")):
            for one in list_at(body, "data"):
                ours = text_at(one, "input_file_id") == handed.file_id != ""
                if ours or at(one, "metadata", TAG) == handed.key:
                    yield Candidate(wire.read(self._read_batch, one), ours=True)

    async def look(self, wire: Wire, remote: str) -> Seen:
        """Returns the batch's state: GET /batches/ID."""
        return wire.read(
            self._read_batch, await wire.get(f"{self._batches}/{quote(remote, safe='')}")
        )

    async def lines(self, wire: Wire, seen: Seen) -> AsyncIterator[BatchLine]:
        """Yields the lines of the file of results, then of the file of errors."""
        for name in seen.results:
            path = f"{self._root}/files/{quote(name, safe='')}/content"
            async for body in wire.lines(path):
                yield result(body)

    async def cancel(self, wire: Wire, remote: str) -> None:
        """Cancels the batch: POST /batches/ID/cancel."""
        await wire.post(f"{self._batches}/{quote(remote, safe='')}/cancel", {})

    def _read_batch(self, body: Json) -> Seen:
        state = word_at(body, "status").lower()
        faults = [word_at(one, "message") or word_at(one, "code") for one in _faults(body)]
        fault = "; ".join(dict.fromkeys(filter(None, faults))) or "no reason was given"
        coded = f"{fault} {' '.join(word_at(one, 'code') for one in _faults(body))}".lower()
        counts = object_at(body, "request_counts")
        done, failed = count_at(counts, "completed"), count_at(counts, "failed")
        return Seen(
            needed(body, "id"),
            ended=state in _ENDED,
            said=state,
            fault=fault if state == "failed" and not results(body) and not done else "",
            crowded=any(sign in coded for sign in _CROWDED),
            done=None if done is None else done + (failed or 0),
            total=count_at(counts, "total"),
            results=results(body),
            succeeded=done,
            failed=failed,
        )


def endpoint(path: str) -> str:
    """Returns the endpoint for a line, from the single call's path (which is longer for Azure)."""
    parts = path.partition("?")[0].split("/")
    return "/v1/responses" if parts[-1] == "responses" else "/v1/" + "/".join(parts[-2:])


def results(body: Json) -> tuple[str, ...]:
    """Returns the ids of a batch's two files: of results, of errors."""
    files = ("output_file_id", "error_file_id", "output_file", "error_file")
    return tuple(filter(None, (text_at(body, name) for name in files)))


def result(body: Json) -> BatchLine:
    """Parses a line of either file. An error without a response: the request was not processed."""
    name, response = word_at(body, "custom_id"), at(body, "response")
    if response is not None:
        status = status_of(at(response, "status_code"))
        return BatchLine(name, status, at(response, "body"), "a status that cannot be read")
    error = object_at(body, "error")
    reason = word_at(error, "message") or "no response"
    return BatchLine(name, GIVEN_BACK if error else UNREADABLE, None, reason)


def _faults(body: Json) -> list[Json]:
    return list_at(body, "errors", "data")
