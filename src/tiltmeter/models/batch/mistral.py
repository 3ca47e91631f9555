"""Mistral's batches: files and results like OpenAI's, with jobs in place of batches. A line has
neither method nor endpoint nor model. Format: the types of the mistralai package 3.7; limits:
docs.mistral.ai/capabilities/batch.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from itertools import count

from ...records import Json
from ..http.body import at, count_at, list_at, needed, word_at
from ..http.dialect import HttpRequest
from .format import TAG, Bounds, Candidate, Handed, Seen
from .openai import OpenAIBatches, endpoint, results
from .wire import Wire

JOBS = "/batch/jobs"
PAGE = 100  # jobs that are listed at a time
_ENDED = ("SUCCESS", "FAILED", "TIMEOUT_EXCEEDED", "CANCELLED")


class MistralBatches(OpenAIBatches):
    """OpenAI's batch format with Mistral's jobs in place of batches."""

    def __init__(self) -> None:
        super().__init__(Bounds(1_000_000, 512 * 10**6, 24), batches=JOBS)

    def line(self, custom_id: str, sent: HttpRequest) -> Mapping[str, Json]:
        """Returns the line of a request: its name and body; the job names the model."""
        body = {name: value for name, value in sent.body.items() if name != "model"}
        return {"custom_id": custom_id, "body": body}

    async def create(self, wire: Wire, handed: Handed) -> Seen:
        """Creates the job: POST /batch/jobs, with our key in the metadata."""
        body: dict[str, Json] = {
            "input_files": [handed.file_id],
            "endpoint": endpoint(handed.path),
            "model": handed.model,
            "metadata": {TAG: handed.key},
            "timeout_hours": int(self.bounds.hours),
        }
        return wire.read(self._read_batch, await wire.post(JOBS, body))

    async def candidates(self, wire: Wire, handed: Handed) -> AsyncIterator[Candidate]:
        """Yields the account's jobs that have our key or our input file."""
        numbers = count(1)

        def following(body: Json) -> str:
            return f"&page={next(numbers)}" if len(list_at(body, "data")) >= PAGE else ""

        async for body in wire.pages(f"{JOBS}?page_size={PAGE}", following):
            for one in list_at(body, "data"):
                ours = list_at(one, "input_files") == [handed.file_id]
                if ours or at(one, "metadata", TAG) == handed.key:
                    yield Candidate(wire.read(self._read_batch, one), ours=True)

    def _read_batch(self, body: Json) -> Seen:
        state = word_at(body, "status")
        reason = "; ".join(word_at(one, "message") for one in list_at(body, "errors"))
        succeeded = count_at(body, "succeeded_requests")
        failed = state == "FAILED" and not results(body) and not succeeded
        return Seen(
            needed(body, "id"),
            ended=state in _ENDED,
            said=state.lower(),
            fault=(reason or "no reason was given") if failed else "",
            done=count_at(body, "completed_requests"),
            total=count_at(body, "total_requests"),
            results=results(body),
            succeeded=succeeded,
            failed=count_at(body, "failed_requests"),
        )
