"""Anthropic's message batches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from aiohttp import web

from tests.batches.answers import Answers, anthropic_error
from tests.batches.provider import DAY_S, Answer, Batch, Provider, read_results, write_requests
from tests.batches.wire import Complaint, Format, number_of, read_json, send, send_lines
from tiltmeter.models.http.body import at, list_at, object_at, text_at
from tiltmeter.records import Json

MOST_REQUESTS, MOST_BYTES = 100_000, 256 * 2**20
VERSIONS = ("2023-06-01", "2026-10-21")  # ours, and that of the SDK
_NAME = re.compile("[a-zA-Z0-9_-]{1,64}")
_UNDONE = {"expired": "expired", "cancelled": "canceled"}
_KINDS = {400: "invalid_request_error", 500: "api_error"}


class AnthropicFormat(Format):
    """Requests stand in the creation itself; nothing is told of a batch until it has ended."""

    def __init__(self, provider: Provider, answers: Answers) -> None:
        super().__init__(provider)
        self._answers = answers

    def answer(self, name: str, body: Json) -> Answer:
        """A message; a rule that a body breaks is told here, and not when a batch is created."""
        sent = object_at(body)
        missing = [need for need in ("model", "messages", "max_tokens") if need not in sent]
        if missing:
            return 400, anthropic_error(_KINDS[400], f"{missing[0]}: Field required")
        if "seed" in sent:
            said = "seed: Extra inputs are not permitted"
            return 400, anthropic_error(_KINDS[400], said)
        return self._answers.messages(body)

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.post("/v1/messages", self.ask),
            web.post("/v1/messages/batches", self.create),
            web.get("/v1/messages/batches", self.list),
            web.get("/v1/messages/batches/{id}", self.get),
            web.get("/v1/messages/batches/{id}/results", self.results),
            web.post("/v1/messages/batches/{id}/cancel", self.cancel),
        ]

    def check_key(self, request: web.Request) -> None:
        if not {"x-api-key", "authorization"} & {name.lower() for name in request.headers}:
            raise Complaint(401, "x-api-key header is required")
        if request.headers.get("anthropic-version") not in VERSIONS:
            raise Complaint(400, "anthropic-version: header is required")

    def error(self, status: int, said: str) -> Json:
        kinds = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large"}
        return anthropic_error(kinds.get(status, "invalid_request_error"), said)

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """One message at once."""
        status, body = self.provider.single(await read_json(request))
        return send(body, status)

    async def create(self, request: web.Request) -> web.StreamResponse:
        """Takes a batch."""
        if (request.content_length or 0) > MOST_BYTES:
            raise Complaint(413, "Request exceeds the maximum size")
        body = await read_json(request)
        if object_at(body).keys() != {"requests"}:
            raise Complaint(400, f"only requests, not {list(object_at(body))}")
        lines = list_at(body, "requests")
        if not 0 < len(lines) <= MOST_REQUESTS:
            raise Complaint(400, f"requests: {len(lines)}")
        names = [text_at(line, "custom_id") for line in lines]
        if len(set(names)) < len(names):
            raise Complaint(400, "requests: custom_id must be unique")
        wrong = [name for name in names if not _NAME.fullmatch(name)]
        if wrong:
            raise Complaint(400, f"requests.0.custom_id: '{wrong[0]}' does not match")
        if any("stream" in object_at(line, "params") for line in lines):
            raise Complaint(400, "stream is not supported in batches")
        path = self.provider.new_file()
        pairs = zip(names, (at(line, "params") for line in lines), strict=True)
        total = write_requests(path, pairs)
        batch = self.provider.add(path, total, "", {})
        if batch.problem[0]:  # here a batch that is refused is never made
            del self.provider.batches[batch.id]
            self.provider.ledger.created.remove(batch.id)
            raise Complaint(400, batch.problem[1])
        return send(self.object(batch))

    async def list(self, request: web.Request) -> web.StreamResponse:
        """A page of all batches, the newest first."""
        most = min(number_of(request, "limit", 20, 1000), self.provider.odd.page)
        batches = self.provider.listed()
        names = [batch.id for batch in batches]
        after = request.query.get("after_id")
        if after is not None and after not in names:
            raise Complaint(400, "after_id: not found")
        begin = names.index(after) + 1 if after else 0
        page = [self.object(batch) for batch in batches[begin : begin + most]]
        return send(
            {
                "data": page,
                "has_more": begin + most < len(batches),
                "first_id": at(page, 0, "id"),
                "last_id": at(page, -1, "id"),
            }
        )

    async def get(self, request: web.Request) -> web.StreamResponse:
        """A batch."""
        return send(self.object(self.batch(request), _place(request)))

    async def cancel(self, request: web.Request) -> web.StreamResponse:
        """Ends a batch."""
        return send(self.object(self.cancelled(request)))

    async def results(self, request: web.Request) -> web.StreamResponse:
        """The lines of a batch that has ended."""
        batch = self.provider.find(request.match_info["id"])
        if batch is None or batch.results is None:
            raise Complaint(404, "The batch has no results.")
        return await send_lines(request, self.lines(batch))

    def lines(self, batch: Batch) -> Iterator[Json]:
        """The lines of results."""
        assert batch.results is not None
        for name, status, body in read_results(batch.results):
            yield {"custom_id": name, "result": self._result(batch, status, body)}

    def _result(self, batch: Batch, status: int, body: Json) -> Json:
        if status == 200:
            return {"type": "succeeded", "message": body}
        if status == 500:
            body = anthropic_error(_KINDS[500], "Internal server error")
        return {"type": "errored", "error": body} if status else {"type": _UNDONE[batch.state]}

    def object(self, batch: Batch, place: str = "http://127.0.0.1") -> Json:
        """A batch as the API shows it."""
        ended, all_ = batch.ended, batch.total
        tallies = (batch.succeeded, batch.errored) if ended else (0, 0)
        state = {"cancelling": "canceling"}.get(batch.state, "ended" if ended else "in_progress")
        results = f"{place}/v1/messages/batches/{batch.id}/results"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": state,
            "request_counts": {
                "processing": 0 if ended else all_,
                "succeeded": tallies[0],
                "errored": tallies[1],
                "canceled": batch.undone if batch.state == "cancelled" else 0,
                "expired": batch.undone if batch.state == "expired" else 0,
            },
            "created_at": _time(batch.created),
            "expires_at": _time(batch.created + DAY_S),
            "ended_at": _time(batch.created + 60) if ended else None,
            "cancel_initiated_at": None,
            "archived_at": None,
            "results_url": results if ended else None,
        }


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _place(request: web.Request) -> str:
    return f"http://{request.host}"
