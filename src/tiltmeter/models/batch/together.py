"""Together's batches: like OpenAI's, but uploaded to another path, with states in capitals and no
metadata: a batch without a receipt is found by its input file. Format: the types of the together
package 3.1; limits: docs.together.ai/docs/inference/batch.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from ...records import Json
from ..http.body import at, list_at, needed, text_at, word_at
from ..http.dialect import HttpRequest
from .format import Bounds, Candidate, Handed, Seen
from .openai import OpenAIBatches, endpoint, results
from .wire import Wire

_ENDED = ("COMPLETED", "FAILED", "EXPIRED", "CANCELLED")


class TogetherBatches(OpenAIBatches):
    """OpenAI's batch format without metadata."""

    def __init__(self) -> None:
        super().__init__(Bounds(50_000, 100 * 10**6, 24, 30 * 10**9))

    def line(self, custom_id: str, sent: HttpRequest) -> Mapping[str, Json]:
        """Returns the line of a request: its name and body."""
        return {"custom_id": custom_id, "body": sent.body}

    async def upload(self, wire: Wire, handed: Handed) -> str:
        """Uploads the file: POST /files/upload."""
        fields = {"purpose": "batch-api", "file_name": handed.file.name, "file_type": "jsonl"}
        body = await wire.post_form("/files/upload", fields, handed.file)
        return wire.read(lambda body: needed(body, "id"), body)

    async def create(self, wire: Wire, handed: Handed) -> Seen:
        """Creates the batch: POST /batches."""
        body = {"input_file_id": handed.file_id, "endpoint": endpoint(handed.path)}
        created = await wire.post("/batches", {**body, "completion_window": "24h"})
        return wire.read(self._read_batch, at(created, "job") or created)

    async def candidates(self, wire: Wire, handed: Handed) -> AsyncIterator[Candidate]:
        """Yields the account's batches whose input file is ours."""
        body = await wire.get("/batches")
        for one in body if isinstance(body, list) else list_at(body, "data"):
            if text_at(one, "input_file_id") == handed.file_id:
                yield Candidate(wire.read(self._read_batch, one), ours=True)

    def _read_batch(self, body: Json) -> Seen:
        state = word_at(body, "status")
        failed = state == "FAILED" and not results(body)
        return Seen(
            needed(body, "id"),
            ended=state in _ENDED,
            said=state.lower(),
            fault=(word_at(body, "error") or "no reason was given") if failed else "",
            results=results(body),
        )
