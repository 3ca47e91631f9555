"""Gemini's batches: up to 20 MB go with the call that creates the batch, more through the Files
API. Results come in the order of the requests but are matched by name. Format: the types of the
google-genai package 3.4; limits: ai.google.dev/gemini-api/docs/batch-api.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from urllib.parse import quote

from ...records import Json
from ..http.body import at, count_at, list_at, needed, object_at, text_at, word_at
from ..http.dialect import HttpRequest
from .format import GIVEN_BACK, UNREADABLE, BatchLine, Bounds, Candidate, Handed, Seen
from .wire import Wire

MOST_INLINE_BYTES = 16 * 10**6  # of lines; 20 MB are allowed, of a body that has more beside them
MOST_INLINE_REQUESTS = 2_000  # their replies come in one body
PAGE = 100  # batches that are listed at a time
_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED")
_CROWDED = 8  # RESOURCE_EXHAUSTED
# google.rpc.Code → the status of the single call; cloud.google.com/apis/design/errors.
_STATUSES = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 13: 500, 14: 503, 16: 401}


class GeminiBatches:
    """Gemini's batch format, for requests whose single call is /models/M:generateContent."""

    bounds = Bounds(200_000, 2 * 10**9, 48)
    frame = ("", "\n", "\n")

    def line(self, custom_id: str, sent: HttpRequest) -> Mapping[str, Json]:
        """Returns the line of a request: its name and ordinary body."""
        return {"key": custom_id, "request": sent.body}

    async def upload(self, wire: Wire, handed: Handed) -> str:
        """Uploads the file through the Files API; returns "" if `create` sends the lines itself."""
        small = handed.file.stat().st_size <= MOST_INLINE_BYTES
        if small and handed.requests <= MOST_INLINE_REQUESTS and not handed.pictures:
            return ""
        about: dict[str, Json] = {"file": {"display_name": handed.key}}
        url = f"{wire.sibling('upload')}/files"
        body = await wire.post_resumable(url, about, handed.file)
        return wire.read(lambda body: needed(body, "file", "name"), body)

    async def create(self, wire: Wire, handed: Handed) -> Seen:
        """Creates the batch: POST models/M:batchGenerateContent, with our key as display name."""
        source: Mapping[str, Json] = (
            {"fileName": handed.file_id} if handed.file_id else {"requests": _inline(handed)}
        )
        model, _, _ = handed.path.rpartition(":")
        body: dict[str, Json] = {"displayName": handed.key, "inputConfig": source}
        return wire.read(
            _read_batch, await wire.post(f"{model}:batchGenerateContent", {"batch": body})
        )

    async def candidates(self, wire: Wire, handed: Handed) -> AsyncIterator[Candidate]:
        """Yields the account's batches that have our key."""
        async for body in wire.pages(f"/batches?pageSize={PAGE}", _page_after):
            for one in list_at(body, "operations") or list_at(body, "batches"):
                if text_at(_about(one), "displayName") == handed.key:
                    yield Candidate(wire.read(_read_batch, one), ours=True)

    async def look(self, wire: Wire, remote: str) -> Seen:
        """Returns the batch's state: GET batches/ID."""
        return wire.read(_read_batch, await wire.get(f"/{quote(remote, safe='/')}"))

    async def lines(self, wire: Wire, seen: Seen) -> AsyncIterator[BatchLine]:
        """Yields the results inside the batch's state, then the results in its file."""
        for body in seen.inlined:
            yield _line(body, text_at(body, "metadata", "key"))
        for name in seen.results:
            path = f"{wire.sibling('download')}/{quote(name, safe='/')}:download?alt=media"
            async for body in wire.lines(path):
                yield _line(body, text_at(body, "key"))

    async def cancel(self, wire: Wire, remote: str) -> None:
        """Cancels the batch: POST batches/ID:cancel."""
        await wire.post(f"/{quote(remote, safe='/')}:cancel", {})


def _page_after(body: Json) -> str:
    token = text_at(body, "nextPageToken")
    return f"&pageToken={quote(token, safe='')}" if token else ""


def _inline(handed: Handed) -> Json:
    """Returns the lines of a small file for the body of `create`."""
    with handed.file.open(encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return {"requests": [{"request": r["request"], "metadata": {"key": r["key"]}} for r in read]}


def _about(body: Json) -> Mapping[str, Json]:
    """Returns the fields that describe a batch: an operation's `metadata`, or else the body."""
    return object_at(body, "metadata") or object_at(body)


def _read_batch(body: Json) -> Seen:
    about = _about(body)
    state = word_at(about, "state").removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
    error = object_at(body, "error") or object_at(about, "error")
    output = object_at(about, "output") or object_at(body, "response")
    file = text_at(output, "responsesFile")
    inlined = tuple(list_at(output, "inlinedResponses", "inlinedResponses"))
    fault = word_at(error, "message") or "no reason was given"
    done, failed = (
        _number(about, name) for name in ("successfulRequestCount", "failedRequestCount")
    )
    refused = state == "FAILED" and not (file or inlined) and not done
    return Seen(
        needed(body, "name"),
        ended=state in _ENDED,
        said=state.lower(),
        fault=fault if refused else "",
        crowded=count_at(error, "code") == _CROWDED,
        done=None if done is None else done + (failed or 0),
        total=_number(about, "requestCount"),
        results=(file,) if file else (),
        inlined=inlined,
        succeeded=done,
        failed=failed if done is None else failed or 0,
    )


def _number(about: Json, name: str) -> int | None:
    """Parses a count of `batchStats`, an int64, which Google's JSON writes as text."""
    number = word_at(about, "batchStats", name)
    return int(number) if number.isdecimal() else None


def _line(body: Json, name: str) -> BatchLine:
    if at(body, "response"):
        return BatchLine(name, 200, at(body, "response"))
    error = object_at(body, "error")
    if not error:
        return BatchLine(name, UNREADABLE, None, "neither a response nor an error")
    code = count_at(error, "code") or 0
    status = code if code >= 400 else _STATUSES.get(code, GIVEN_BACK)
    return BatchLine(name, status, {"error": error}, word_at(error, "message") or "no response")
