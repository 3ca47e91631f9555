"""What the formats share: reading and sending over HTTP, streamed where it may be large."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import BodyPartReader, web

from tests.batches.provider import Answer, Batch, Provider
from tiltmeter.records import Json

CHUNK_BYTES = 2**20


IN_ONE_PIECE: ContextVar[bool] = ContextVar("IN_ONE_PIECE", default=False)


class Complaint(Exception):
    """What the client did against the format, and what the provider says to it."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status, self.said = status, said


@dataclass(frozen=True)
class Problem:
    """Why a file of requests is refused whole."""

    code: str
    message: str
    line: int | None = None


@dataclass
class Upload:
    """A file as the client sent it."""

    id: str
    path: Path
    size_bytes: int
    name: str
    purpose: str
    fields: dict[str, str] = field(default_factory=dict)


class Format:
    """A wire format over a provider. base: what stands between host and path in its base URL."""

    base = "/v1"

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.uploads: dict[str, Upload] = {}

    def routes(self) -> Iterable[web.RouteDef]:
        """All that the client may ask for."""
        raise NotImplementedError

    def answer(self, name: str, body: Json) -> Answer:
        """What the ordinary endpoint says to the body of a line."""
        raise NotImplementedError

    def check_key(self, request: web.Request) -> None:
        """Complaint 401 where the key is not where it belongs."""
        if not request.headers.get("Authorization", "").startswith("Bearer "):
            raise Complaint(401, "You didn't provide an API key.")

    def error(self, status: int, said: str) -> Json:
        """An error in this format."""
        return {"error": {"message": said, "type": "invalid_request_error", "code": None}}

    async def receive_form(self, request: web.Request) -> Upload:
        """A multipart form with a file, which goes to the disk as it comes."""
        if not request.content_type.startswith("multipart/"):
            raise Complaint(400, "multipart/form-data is needed")
        fields: dict[str, str] = {}
        path, name, size = self.provider.new_file(), "", -1
        reader = await request.multipart()
        async for part in reader:
            assert isinstance(part, BodyPartReader)
            if part.name == "file":
                name, size = part.filename or "", 0
                with path.open("wb") as file:
                    while chunk := await part.read_chunk(CHUNK_BYTES):
                        size += file.write(chunk)
            else:
                fields[part.name or ""] = await part.text()
        if size < 0:
            raise Complaint(400, "'file' is a required property")
        return self.keep(path, size, name, fields)

    def keep(self, path: Path, size: int, name: str, fields: dict[str, str]) -> Upload:
        """Takes a file that has arrived."""
        upload = Upload(path.name, path, size, name, fields.get("purpose", ""), fields)
        self.uploads[upload.id] = upload
        self.provider.ledger.uploads += 1
        return upload

    def batch(self, request: web.Request) -> Batch:
        """The batch that a path names, looked at. Complaint 404 where there is none."""
        name = request.match_info["id"]
        batch = self.provider.look(name)
        if batch is None:
            raise Complaint(404, f"No batch found with id '{name}'.")
        return batch

    def cancelled(self, request: web.Request) -> Batch:
        """The batch that a path names, told to end."""
        batch = self.provider.cancel(request.match_info["id"])
        if batch is None:
            raise Complaint(404, f"No batch found with id '{request.match_info['id']}'.")
        return batch


def number_of(request: web.Request, name: str, otherwise: int, most: int) -> int:
    """A whole number of the query. Complaint 400 where it is none, or beyond `most`."""
    text = request.query.get(name, str(otherwise))
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise Complaint(400, f"{name} must be from 1 to {most}")
    return int(text)


def send(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """JSON."""
    text = json.dumps(body)
    return web.Response(status=status, text=text, content_type="application/json", headers=headers)


async def send_lines(request: web.Request, lines: Iterable[Json]) -> web.StreamResponse:
    """JSON lines, as a stream; in one piece where something is to be changed in them."""
    if IN_ONE_PIECE.get():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        return web.Response(text=text, content_type="application/octet-stream")
    response = web.StreamResponse(headers={"Content-Type": "application/octet-stream"})
    await response.prepare(request)
    piece: list[str] = []
    for line in lines:
        piece.append(json.dumps(line, ensure_ascii=False) + "\n")
        if len(piece) == 256:
            await response.write("".join(piece).encode())
            piece = []
    await response.write("".join(piece).encode())
    await response.write_eof()
    return response


async def read_json(request: web.Request) -> Json:
    """The body of a request. Complaint 400 where it is no JSON object."""
    try:
        body: Json = json.loads(await request.read())
    except ValueError:
        raise Complaint(400, "We could not parse the JSON body of your request.") from None
    if not isinstance(body, dict):
        raise Complaint(400, "The body is no object.")
    return body
