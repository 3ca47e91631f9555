"""Mistral's and Together's batches, which are like OpenAI's and differ in paths, lines and states."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from aiohttp import web

from tests.batches.openai_format import OpenAIFormat
from tests.batches.provider import Answer, Batch, write_requests
from tests.batches.wire import CHUNK_BYTES, Complaint, Upload, read_json, send
from tiltmeter.models.http.body import at, list_at, object_at, text_at
from tiltmeter.records import Json

_MISTRAL_STATES = {
    "validating": "QUEUED",
    "in_progress": "RUNNING",
    "finalizing": "RUNNING",
    "completed": "SUCCESS",
    "failed": "FAILED",
    "expired": "TIMEOUT_EXCEEDED",
    "cancelling": "CANCELLATION_REQUESTED",
    "cancelled": "CANCELLED",
}
MOST_INLINE = 10_000


class MistralFormat(OpenAIFormat):
    """Mistral: jobs whose lines have neither model nor url."""

    most_requests, most_megabytes = 1_000_000, 512

    def answer(self, name: str, body: Json) -> Answer:
        """A chat completion; the seed is called random_seed here, and `seed` is unknown."""
        sent = dict(object_at(body))
        if "seed" in sent:
            said = "body.seed: Extra inputs are not permitted"
            return 422, {"object": "error", "message": said, "type": "invalid_request_error"}
        seed = sent.pop("random_seed", None)
        return super().answer(name, sent | ({} if seed is None else {"seed": seed}))

    def routes(self) -> Iterable[web.RouteDef]:
        for route in super().routes():
            path = route.path.replace("/batches", "/batch/jobs")
            yield web.route(route.method, path, route.handler)

    def file_object(self, upload: Upload) -> Json:
        more = {"sample_type": "batch_request", "source": "upload", "num_lines": None}
        return object_at(super().file_object(upload)) | more

    async def create(self, request: web.Request) -> web.StreamResponse:
        body = await read_json(request)
        named = object_at(body)
        known = {"endpoint", "model", "input_files", "requests", "metadata", "timeout_hours"}
        if not named.keys() <= known:
            raise Complaint(422, f"Extra inputs are not permitted: {named.keys() - known}")
        if text_at(body, "endpoint") not in self.endpoints or not text_at(body, "model"):
            raise Complaint(422, "endpoint and model are needed")
        files = [self.uploads.get(str(each)) for each in list_at(body, "input_files")]
        if len(files) == 1 and files[0] is not None and "requests" not in named:
            batch = self.take(files[0], text_at(body, "endpoint"), named)
        elif "requests" in named and not files:
            batch = self._take_inline(named)
        else:
            raise Complaint(422, "either input_files, which must be there, or requests")
        batch.model = text_at(body, "model")
        return send(self.object(batch))

    def _take_inline(self, named: dict[str, Json]) -> Batch:
        lines = list_at(named.pop("requests"))
        if not 0 < len(lines) <= MOST_INLINE:
            raise Complaint(422, f"{len(lines)} requests")
        path = self.provider.new_file()
        try:
            total = write_requests(path, (self.read_line("", set(), line) for line in lines))
        except ValueError as problem:
            raise Complaint(422, str(problem)) from None
        return self.provider.add(path, total, "", named)

    def read_line(self, endpoint: str, models: set[str], line: Json) -> tuple[str, Json]:
        if object_at(line).keys() != {"custom_id", "body"}:
            raise ValueError(f"a line has custom_id and body, not {list(object_at(line))}")
        return text_at(line, "custom_id"), at(line, "body")

    async def list(self, request: web.Request) -> web.StreamResponse:
        number = int(request.query.get("page", "0"))
        most = min(int(request.query.get("page_size", "100")), self.provider.odd.page)
        batches = self.provider.listed()
        page = [self.object(batch) for batch in batches[number * most : (number + 1) * most]]
        return send({"object": "list", "data": page, "total": len(batches)})

    def object(self, batch: Batch) -> Json:
        done = batch.results is not None
        problem: Json = [{"message": batch.problem[1], "count": 1}] if batch.problem[0] else []
        return {
            "id": batch.id,
            "object": "batch",
            "input_files": batch.named.get("input_files", []),
            "endpoint": batch.named.get("endpoint", "/v1/chat/completions"),
            "model": batch.model,
            "metadata": batch.named.get("metadata"),
            "errors": problem,
            "status": _MISTRAL_STATES[batch.state],
            "created_at": batch.created,
            "total_requests": batch.total,
            "completed_requests": batch.succeeded + batch.errored,
            "succeeded_requests": batch.succeeded,
            "failed_requests": batch.errored,
            "output_file": f"{batch.id}-output" if done and batch.succeeded else None,
            "error_file": f"{batch.id}-errors" if done and batch.errored + batch.undone else None,
        }


class TogetherFormat(OpenAIFormat):
    """Together: lines without method and url, states in capitals, uploads in three steps or one."""

    endpoints = ("/v1/chat/completions",)
    windows = ("24h", None)  # type: ignore[assignment]
    most_megabytes = 100
    purpose = "batch-api"

    def routes(self) -> Iterable[web.RouteDef]:
        yield from super().routes()
        yield web.post(f"{self.base}/files/upload", self.upload)
        yield web.put("/presigned/{id}", self.put)
        yield web.post(f"{self.base}/files/{{id}}/preprocess", self.preprocess)

    def check_key(self, request: web.Request) -> None:
        if not request.path.startswith("/presigned/"):
            super().check_key(request)
        elif "Authorization" in request.headers:
            raise Complaint(400, "Only one auth mechanism allowed")

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """One call with the file in it (/files/upload), or the first of three."""
        if request.path.endswith("/upload"):
            return await super().upload(request)
        form = await request.post()
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        wanted = {"purpose", "file_name", "file_type", "checksum"}
        if not wanted <= fields.keys() or fields["purpose"] != self.purpose:
            raise Complaint(400, f"the form needs {sorted(wanted)}")
        same = [u for u in self.uploads.values() if u.fields.get("checksum") == fields["checksum"]]
        if same:
            return send({"file_id": same[0].id}, 409)
        upload = self.keep(self.provider.new_file(), -1, fields["file_name"], fields)
        place = f"http://{request.host}/presigned/{upload.id}"
        headers = {"Location": place, "X-Together-File-Id": upload.id}
        return web.Response(status=302, headers=headers)

    async def put(self, request: web.Request) -> web.StreamResponse:
        """The bytes of a file."""
        upload, checksum = self.uploads[request.match_info["id"]], hashlib.sha256()
        upload.size_bytes = 0
        with upload.path.open("wb") as file:
            async for chunk in request.content.iter_chunked(CHUNK_BYTES):
                upload.size_bytes += file.write(chunk)
                checksum.update(chunk)
        if checksum.hexdigest() != upload.fields["checksum"]:
            raise Complaint(400, "the checksum is another")
        return web.Response()

    async def preprocess(self, request: web.Request) -> web.StreamResponse:
        """The last of the three steps."""
        upload = self.uploads.get(request.match_info["id"])
        if upload is None or upload.size_bytes < 0:
            raise Complaint(404, "there is no such file")
        return send(self.file_object(upload))

    def file_object(self, upload: Upload) -> Json:
        shown = object_at(super().file_object(upload))
        return shown | {"FileType": "jsonl", "Processed": True, "LineCount": 0}

    def read_line(self, endpoint: str, models: set[str], line: Json) -> tuple[str, Json]:
        if (
            not {"custom_id", "body"}
            <= object_at(line).keys()
            <= {"custom_id", "method", "url", "body"}
        ):
            raise ValueError(f"a line has custom_id and body, not {list(object_at(line))}")
        models.add(text_at(line, "body", "model"))
        return text_at(line, "custom_id"), at(line, "body")

    async def create(self, request: web.Request) -> web.StreamResponse:
        body = await read_json(request)
        known = {"endpoint", "input_file_id", "completion_window", "model_id", "priority"}
        if not object_at(body).keys() <= known:
            raise Complaint(400, f"unknown: {object_at(body).keys() - known}")
        self.check_creation(body)
        upload = self.uploads.get(text_at(body, "input_file_id"))
        if upload is None or upload.size_bytes < 0:
            raise Complaint(400, "there is no such file")
        batch = self.take(upload, text_at(body, "endpoint"), object_at(body))
        return send({"job": self.object(batch), "warning": ""}, 201)

    async def list(self, request: web.Request) -> web.StreamResponse:
        return send([self.object(batch) for batch in self.provider.listed()])

    def object(self, batch: Batch) -> Json:
        shown = object_at(super().object(batch))
        state = {"finalizing": "in_progress", "cancelling": "in_progress"}.get(
            batch.state, batch.state
        )
        made = f"2026-11-01T00:{batch.number % 3600 // 60:02d}:{batch.number % 60:02d}Z"
        kept = ("id", "endpoint", "input_file_id", "output_file_id", "error_file_id")
        return {name: shown[name] for name in kept} | {
            "status": state.upper(),
            "progress": 100.0 if batch.results else 0.0,
            "model_id": batch.model,
            "created_at": made,
            "job_deadline": made.replace("11-01", "11-02"),
            "error": batch.problem[1] or None,
            "user_id": "user-1",
        }
