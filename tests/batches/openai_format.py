"""OpenAI's files and batches, and those of Azure, Groq, Mistral and Together, which follow them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from aiohttp import web

from tests.batches.answers import Answers
from tests.batches.provider import DAY_S, Answer, Batch, Provider, read_results, write_requests
from tests.batches.wire import (
    Complaint,
    Format,
    Problem,
    Upload,
    number_of,
    read_json,
    send,
    send_lines,
)
from tiltmeter.models.http.body import at, object_at, text_at
from tiltmeter.records import Json

MB = 10**6
_UNDONE = {
    "expired": ("batch_expired", "This request could not be executed before the completion window expired."),
    "cancelled": ("batch_cancelled", "This request was not executed since the batch was cancelled."),
}  # fmt: skip


class OpenAIFormat(Format):
    """OpenAI. endpoints: what a batch may be of; requests and megabytes: what a file may have."""

    endpoints: tuple[str, ...] = ("/v1/chat/completions", "/v1/images/generations")
    windows: tuple[str, ...] = ("24h",)
    most_requests, most_megabytes = 50_000, 200
    purpose = "batch"

    def __init__(self, provider: Provider, answers: Answers) -> None:
        super().__init__(provider)
        self._answers = answers

    def answer(self, name: str, body: Json) -> Answer:
        """A chat completion, or a picture."""
        return self._answers.chat(body)

    def routes(self) -> Iterable[web.RouteDef]:
        base = self.base
        return [
            web.post(f"{base}/chat/completions", self.ask),
            web.post(f"{base}/images/generations", self.ask),
            web.post(f"{base}/files", self.upload),
            web.get(f"{base}/files/{{id}}/content", self.download),
            web.post(f"{base}/batches", self.create),
            web.get(f"{base}/batches", self.list),
            web.get(f"{base}/batches/{{id}}", self.get),
            web.post(f"{base}/batches/{{id}}/cancel", self.cancel),
        ]

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """One request at once."""
        status, body = self.provider.single(await read_json(request))
        return send(body, status)

    # files

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """Takes a file of requests."""
        upload = await self.receive_form(request)
        if upload.purpose != self.purpose:
            raise Complaint(400, f"'{upload.purpose}' is not one of ['{self.purpose}'] - 'purpose'")
        if upload.size_bytes > self.most_megabytes * MB:
            raise Complaint(413, "The file is too large.")
        return send(self.file_object(upload))

    def file_object(self, upload: Upload) -> Json:
        """A file as the API shows it."""
        return {
            "id": upload.id,
            "object": "file",
            "bytes": upload.size_bytes,
            "created_at": 1_760_000_000,
            "filename": upload.name,
            "purpose": self.purpose,
            "status": "processed",
        }

    async def download(self, request: web.Request) -> web.StreamResponse:
        """The results of a batch: `batch_…-output` and `batch_…-errors` are its files."""
        name, _, which = request.match_info["id"].rpartition("-")
        batch = self.provider.find(name)
        if batch is None or batch.results is None or which not in ("output", "errors"):
            raise Complaint(404, f"No such File object: {request.match_info['id']}")
        return await send_lines(request, self.lines(batch, which))

    def lines(self, batch: Batch, which: str) -> Iterator[Json]:
        """The lines of one of the two files."""
        assert batch.results is not None
        for name, status, body in read_results(batch.results):
            if (which == "output") == (status == 200):
                yield self.line(batch, name, status, body)

    def line(self, batch: Batch, name: str, status: int, body: Json) -> Json:
        """A line of results."""
        start: dict[str, Json] = {"id": f"batch_req_{name}", "custom_id": name}
        if status:
            response: Json = {"status_code": status, "request_id": "req_1", "body": body}
            return start | {"response": response, "error": None}
        code, said = _UNDONE[batch.state]
        return start | {"response": None, "error": {"code": code, "message": said}}

    # batches

    async def create(self, request: web.Request) -> web.StreamResponse:
        """Takes a batch of requests in a file."""
        body = await read_json(request)
        self.check_creation(body)
        upload = self.uploads.get(text_at(body, "input_file_id"))
        if upload is None:
            raise Complaint(400, f"No such File object: {text_at(body, 'input_file_id')}")
        endpoint = text_at(body, "endpoint")
        batch = self.take(upload, endpoint, object_at(body))
        return send(self.object(batch))

    def check_creation(self, body: Json) -> None:
        """Complaint where the creation breaks a documented rule."""
        if text_at(body, "endpoint") not in self.endpoints:
            raise Complaint(400, f"Invalid endpoint: '{text_at(body, 'endpoint')}'")
        if at(body, "completion_window") not in self.windows:
            raise Complaint(400, f"completion_window: one of {self.windows}")
        check_metadata(object_at(body, "metadata"))

    def take(self, upload: Upload, endpoint: str, named: dict[str, Json]) -> Batch:
        """A batch of an uploaded file; one that breaks a rule fails when it is looked at."""
        problems: list[Problem] = []
        models: set[str] = set()
        requests = self.provider.new_file()
        total = write_requests(
            requests, read_file(upload, partial(self.read_line, endpoint, models), problems)
        )
        if len(models) > 1:
            problems.append(Problem("model_mismatch", f"one model a file, not {sorted(models)}"))
        if not 0 < total <= self.most_requests:
            problems.append(Problem("too_many_tasks", f"{total} requests"))
        batch = self.provider.add(requests, total, min(models, default=""), named)
        if problems:
            batch.problem = (problems[0].code, problems[0].message)
            self.provider.ledger.complaints += [each.message for each in problems]
        return batch

    def read_line(self, endpoint: str, models: set[str], line: Json) -> tuple[str, Json]:
        """Name and body of a line. ValueError where it breaks a documented rule."""
        if object_at(line).keys() != {"custom_id", "method", "url", "body"}:
            raise ValueError(f"a line has custom_id, method, url and body, not {line}")
        if at(line, "method") != "POST" or at(line, "url") != endpoint:
            raise ValueError(f"the line's url is not that of the batch, {endpoint}")
        models.add(text_at(line, "body", "model"))
        return text_at(line, "custom_id"), at(line, "body")

    async def list(self, request: web.Request) -> web.StreamResponse:
        """A page of all batches, the newest first."""
        most = min(number_of(request, "limit", 20, 100), self.provider.odd.page)
        after = request.query.get("after")
        batches = self.provider.listed()
        names = [batch.id for batch in batches]
        if after is not None and after not in names:
            raise Complaint(400, f"No batch found with id '{after}'.")
        begin = names.index(after) + 1 if after else 0
        page = [self.object(batch) for batch in batches[begin : begin + most]]
        return send(
            {
                "object": "list",
                "data": page,
                "first_id": at(page, 0, "id"),
                "last_id": at(page, -1, "id"),
                "has_more": begin + most < len(batches),
            }
        )

    async def get(self, request: web.Request) -> web.StreamResponse:
        """A batch."""
        return send(self.object(self.batch(request)))

    async def cancel(self, request: web.Request) -> web.StreamResponse:
        """Ends a batch."""
        return send(self.object(self.cancelled(request)))

    def object(self, batch: Batch) -> Json:
        """A batch as the API shows it."""
        failed = batch.errored + batch.undone
        shown: dict[str, Json] = {
            "id": batch.id,
            "object": "batch",
            "endpoint": batch.named.get("endpoint", "/v1/chat/completions"),
            "errors": None,
            "input_file_id": batch.named.get("input_file_id", "file-other"),
            "completion_window": batch.named.get("completion_window", "24h"),
            "status": batch.state,
            "output_file_id": f"{batch.id}-output" if batch.succeeded else None,
            "error_file_id": f"{batch.id}-errors" if failed else None,
            "created_at": batch.created,
            "expires_at": batch.created + DAY_S,
            f"{batch.state}_at": batch.created + batch.looks,
            "request_counts": {
                "total": batch.total,
                "completed": batch.succeeded,
                "failed": batch.errored,
            },
            "metadata": batch.named.get("metadata"),
        }
        shown.pop("validating_at", None)
        if batch.state == "failed":
            code, said = batch.problem
            problem = {"code": code, "line": None, "message": said, "param": None}
            shown["errors"] = {"object": "list", "data": [problem]}
        return shown


class GroqFormat(OpenAIFormat):
    """Groq."""

    base = "/openai/v1"
    endpoints = ("/v1/chat/completions",)
    windows = ("24h", "7d")
    most_megabytes = 100


class AzureFormat(OpenAIFormat):
    """Azure's OpenAI, under the newer path and, with api-version, under the older one."""

    base = "/openai/v1"
    endpoints = ("/chat/completions", "/v1/chat/completions")

    def check_key(self, request: web.Request) -> None:
        if "api-key" not in request.headers:
            raise Complaint(401, "Access denied due to missing api-key.")
        if not request.path.startswith(self.base) and "api-version" not in request.query:
            raise Complaint(404, "Resource not found")

    def routes(self) -> Iterable[web.RouteDef]:
        for route in super().routes():
            yield route
            yield web.route(route.method, route.path.replace(self.base, "/openai"), route.handler)
        yield web.post("/openai/deployments/{name}/chat/completions", self.ask)


def check_metadata(metadata: dict[str, Json]) -> None:
    """Complaint where metadata are more than OpenAI takes."""
    few = len(metadata) <= 16 and all(len(key) <= 64 for key in metadata)
    if not few or not all(isinstance(v, str) and len(v) <= 512 for v in metadata.values()):
        raise Complaint(400, "metadata: at most 16 pairs, keys of 64 and texts of 512 characters")


def read_file(
    upload: Upload, read_line: Callable[[Json], tuple[str, Json]], problems: list[Problem]
) -> Iterator[tuple[str, Json]]:
    """Name and body of each line of an uploaded file; what breaks a rule goes to `problems`."""
    names: set[str] = set()
    with upload.path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            try:
                name, body = read_line(json.loads(text))
            except ValueError as problem:
                problems.append(Problem("invalid_json_line", str(problem), number))
                return
            if not name or name in names:
                problems.append(Problem("duplicate_custom_id", f"custom_id '{name}'", number))
                return
            names.add(name)
            yield name, body
