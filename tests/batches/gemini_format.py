"""Gemini's batches: inline, or by a file that is uploaded in two steps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from aiohttp import web

from tests.batches.answers import Answers, gemini_error
from tests.batches.provider import (
    Answer,
    Batch,
    Provider,
    read_requests,
    read_results,
    write_requests,
)
from tests.batches.wire import (
    CHUNK_BYTES,
    Complaint,
    Format,
    Upload,
    number_of,
    read_json,
    send,
    send_lines,
)
from tiltmeter.models.http.body import at, list_at, object_at, text_at
from tiltmeter.records import Json

MOST_INLINE_BYTES, MOST_FILE_BYTES = 20 * 2**20, 2 * 2**30
_STATES = {
    "validating": "PENDING",
    "in_progress": "RUNNING",
    "finalizing": "RUNNING",
    "completed": "SUCCEEDED",
    "failed": "FAILED",
    "expired": "EXPIRED",
    "cancelling": "RUNNING",
    "cancelled": "CANCELLED",
}
_FIELDS = {"contents", "systemInstruction", "generationConfig", "safetySettings", "tools", "model"}


class GeminiFormat(Format):
    """A batch is a long-running operation. Results come in the order of the requests."""

    base = "/v1beta"

    def __init__(self, provider: Provider, answers: Answers) -> None:
        super().__init__(provider)
        self._answers = answers

    def answer(self, name: str, body: Json) -> Answer:
        """Content; a field that is unknown is an error."""
        unknown = object_at(body).keys() - _FIELDS
        if unknown:
            said = f'Invalid JSON payload received. Unknown name "{min(unknown)}"'
            return 400, gemini_error(400, "INVALID_ARGUMENT", said)
        return self._answers.content(body)

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.post("/v1beta/models/{model}:generateContent", self.ask),
            web.post("/v1beta/models/{model}:batchGenerateContent", self.create),
            web.get("/v1beta/batches", self.list),
            web.get("/v1beta/batches/{id}", self.get),
            web.post("/v1beta/batches/{id}:cancel", self.cancel),
            web.post("/upload/v1beta/files", self.upload),
            web.post("/upload/v1beta/files/{id}", self.put),
            web.get("/download/v1beta/files/{id}:download", self.download),
            web.get("/v1beta/files/{id}:download", self.download),
            web.get("/v1beta/files/{id}", self.get_file),
        ]

    def check_key(self, request: web.Request) -> None:
        if "x-goog-api-key" not in request.headers and "upload_id" not in request.query:
            raise Complaint(403, "Method doesn't allow unregistered callers")

    def error(self, status: int, said: str) -> Json:
        names = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
        return gemini_error(status, names.get(status, "FAILED_PRECONDITION"), said)

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """One request at once."""
        status, body = self.provider.single(await read_json(request))
        return send(body, status)

    # files

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """The first step: says where the bytes go."""
        wanted = {"X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start"}
        if any(request.headers.get(name) != value for name, value in wanted.items()):
            raise Complaint(400, f"the headers are {wanted}")
        size = int(request.headers["X-Goog-Upload-Header-Content-Length"])
        kind = request.headers["X-Goog-Upload-Header-Content-Type"]
        if size > MOST_FILE_BYTES or kind not in ("jsonl", "application/jsonl", "application/json"):
            raise Complaint(400, f"a file of {kind} with {size} bytes")
        name = text_at(await read_json(request), "file", "displayName")
        path = self.provider.new_file()
        upload = Upload(path.name, path, size, name, "", {})
        self.uploads[upload.id] = upload
        place = f"http://{request.host}/upload/v1beta/files/{upload.id}?upload_id=1"
        headers = {"X-Goog-Upload-URL": place, "X-Goog-Upload-Status": "active"}
        return send({}, headers=headers)

    async def put(self, request: web.Request) -> web.StreamResponse:
        """The bytes, all at once or in pieces; the last one says `finalize`."""
        upload = self.uploads[request.match_info["id"]]
        came = upload.path.stat().st_size
        if int(request.headers["X-Goog-Upload-Offset"]) != came:
            raise Complaint(400, f"{came} bytes are here")
        with upload.path.open("ab") as file:
            async for chunk in request.content.iter_chunked(CHUNK_BYTES):
                file.write(chunk)
        if "finalize" not in request.headers["X-Goog-Upload-Command"]:
            return send({}, headers={"X-Goog-Upload-Status": "active"})
        if upload.path.stat().st_size != upload.size_bytes:
            raise Complaint(400, "the file has another size than was said")
        self.provider.ledger.uploads += 1
        headers = {"X-Goog-Upload-Status": "final"}
        return send({"file": self.file_object(upload)}, headers=headers)

    def file_object(self, upload: Upload) -> Json:
        """A file as the API shows it."""
        return {
            "name": f"files/{upload.id}",
            "displayName": upload.name,
            "mimeType": "application/jsonl",
            "sizeBytes": str(upload.size_bytes),
            "state": "ACTIVE",
            "source": "UPLOADED",
        }

    async def get_file(self, request: web.Request) -> web.StreamResponse:
        """An uploaded file."""
        upload = self.uploads.get(request.match_info["id"])
        if upload is None:
            raise Complaint(404, "there is no such file")
        return send(self.file_object(upload))

    async def download(self, request: web.Request) -> web.StreamResponse:
        """The results of a batch that was made from a file."""
        batch = self.provider.find(request.match_info["id"])
        if batch is None or batch.results is None or request.query.get("alt") != "media":
            raise Complaint(404, "there is no such file of results")
        return await send_lines(request, self.lines(batch))

    # batches

    async def create(self, request: web.Request) -> web.StreamResponse:
        """Takes a batch, with its requests in it or in a file."""
        body = await read_json(request)
        batch = object_at(body, "batch")
        if (
            not {"displayName", "inputConfig"}
            <= batch.keys()
            <= {"displayName", "inputConfig", "priority"}
        ):
            raise Complaint(400, f"a batch has displayName and inputConfig, not {list(batch)}")
        given = object_at(batch, "inputConfig")
        name = text_at(batch, "displayName")
        if given.keys() == {"fileName"}:
            lines = self._lines_of_file(text_at(given, "fileName"))
        elif given.keys() == {"requests"}:
            if (request.content_length or 0) > MOST_INLINE_BYTES:
                raise Complaint(400, "Request payload size exceeds the limit")
            lines = iter(_inline(list_at(given, "requests", "requests")))
        else:
            raise Complaint(400, f"inputConfig: fileName or requests, not {list(given)}")
        path = self.provider.new_file()
        total = write_requests(path, lines)
        named: dict[str, Json] = {"displayName": name, "file": "fileName" in given}
        model = f"models/{request.match_info['model']}"
        return send(self.object(self.provider.add(path, total, model, named)))

    def _lines_of_file(self, name: str) -> Iterator[tuple[str, Json]]:
        upload = self.uploads.get(name.removeprefix("files/"))
        if upload is None or upload.path.stat().st_size != upload.size_bytes:
            raise Complaint(404, f"{name} is not found")
        with upload.path.open(encoding="utf-8") as file:
            for text in file:
                line = json.loads(text)
                if object_at(line).keys() != {"key", "request"}:
                    raise Complaint(400, f"a line has key and request, not {list(line)}")
                yield line["key"], line["request"]

    async def list(self, request: web.Request) -> web.StreamResponse:
        """A page of all batches."""
        most = min(number_of(request, "pageSize", 50, 1000), self.provider.odd.page)
        begin = int(request.query.get("pageToken", "0") or 0)
        batches = self.provider.listed()
        page = [self.object(batch, inline=False) for batch in batches[begin : begin + most]]
        more = begin + most < len(batches)
        return send({"operations": page} | ({"nextPageToken": str(begin + most)} if more else {}))

    async def get(self, request: web.Request) -> web.StreamResponse:
        """A batch."""
        return send(self.object(self.batch(request)))

    async def cancel(self, request: web.Request) -> web.StreamResponse:
        """Ends a batch."""
        self.cancelled(request)
        return send({})

    def lines(self, batch: Batch) -> Iterator[Json]:
        """What came of each request, in the order of the requests where that is so here."""
        assert batch.results is not None
        order = {name: place for place, (name, _) in enumerate(read_requests(batch.requests))}
        results = list(read_results(batch.results))
        for name, status, body in sorted(results, key=lambda each: order[each[0]]):
            yield {"key": name} | _outcome(status, body)

    def object(self, batch: Batch, *, inline: bool = True) -> Json:
        """A batch as the API shows it."""
        time = datetime.fromtimestamp(batch.created, UTC).isoformat().replace("+00:00", "Z")
        metadata: dict[str, Json] = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "model": batch.model,
            "displayName": batch.named.get("displayName", "another"),
            "createTime": time,
            "updateTime": time,
            "state": f"BATCH_STATE_{_STATES[batch.state]}",
            "name": f"batches/{batch.id}",
            "batchStats": {
                "requestCount": str(batch.total),
                "successfulRequestCount": str(batch.succeeded),
                "failedRequestCount": str(batch.errored),
                "pendingRequestCount": str(0 if batch.ended else batch.total),
            },
        }
        shown: dict[str, Json] = {"name": f"batches/{batch.id}", "metadata": metadata}
        if batch.ended:
            shown["done"] = True
        if batch.state == "failed":
            shown["error"] = {"code": 3, "message": batch.problem[1]}
        if batch.results is not None and batch.named.get("file"):
            metadata["output"] = {"responsesFile": f"files/{batch.id}"}
        elif batch.results is not None and inline:
            lines = [_inlined(line) for line in self.lines(batch)]
            metadata["output"] = {"inlinedResponses": {"inlinedResponses": lines}}
        return shown


def _inline(requests: list[Json]) -> Iterator[tuple[str, Json]]:
    for each in requests:
        if object_at(each).keys() != {"request", "metadata"} or not text_at(
            each, "metadata", "key"
        ):
            raise Complaint(400, "a request has request and metadata with a key")
        yield text_at(each, "metadata", "key"), at(each, "request")


def _outcome(status: int, body: Json) -> dict[str, Json]:
    if status == 200:
        return {"response": body}
    if not status:
        said = "The request was not processed before the batch ended."
        return {"error": {"code": 1, "message": said, "status": "CANCELLED"}}
    code = 13 if status >= 500 else 3
    return {"error": {"code": code, "message": text_at(body, "error", "message")}}


def _inlined(line: Json) -> Json:
    found = object_at(line)
    return {name: value for name, value in found.items() if name != "key"} | {
        "metadata": {"key": found["key"]}
    }
