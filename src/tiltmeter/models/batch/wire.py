"""HTTP for batches: streams files out and lines in. The connection interprets statuses and lost
connections.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn, TypeAlias, TypeVar
from urllib.parse import urlsplit, urlunsplit

from ...errors import ModelError
from ...records import Json
from ..http.answer import Answer
from ..http.body import parse as parse_json
from ..http.connection import Connection

if TYPE_CHECKING:
    from aiohttp import ClientResponse, FormData

    Payload: TypeAlias = IO[bytes] | FormData

T = TypeVar("T")
MOST_LINE_BYTES = 64 * 2**20  # of one result: a picture in base64 is 2 to 8 MB
MOST_PAGES = 1_000  # of a list of batches
CHUNK_BYTES = 2**16  # that are sent or read at a time
MOST_ANSWER_BYTES = 2**20  # of what answers a file; it names the file or the batch


class Gone(ModelError):
    """The error if the provider does not know the requested batch or file."""


class Wire:
    """A connection to one model's provider, with the headers of its dialect. status: interprets a
    status (`DialectConnection.translate_status`).
    """

    def __init__(
        self,
        connection: Connection,
        headers: Mapping[str, str],
        status: Callable[[Answer], tuple[int, float | None]],
    ) -> None:
        self.connection, self._status = connection, status
        self._json_headers = dict(headers)
        self._headers = {
            name: value for name, value in headers.items() if name.lower() != "content-type"
        }

    @property
    def knows_time(self) -> bool:
        """True if the provider has sent its time."""
        return self.connection.clock_offset_s is not None

    def now(self) -> datetime:
        """Returns the provider's time, by its last Date header; else our own time."""
        return datetime.now(UTC) + timedelta(seconds=self.connection.clock_offset_s or 0.0)

    async def get(self, path: str) -> Json:
        """Returns the JSON at a path below the base URL."""
        return self._read(await self.connection.send(self._url(path), self._headers))

    async def pages(self, path: str, following: Callable[[Json], str]) -> AsyncIterator[Json]:
        """Yields the pages of a list. following: returns the text to add to the path for the next
        page, or "". Raises ModelError if the list does not end.
        """
        more, before = "", None
        for _ in range(MOST_PAGES):
            body = await self.get(f"{path}{more}")
            if body == before:  # a page again is no more
                return
            yield body
            more, before = following(body), body
            if not more:
                return
        raise ModelError(
            f"{self.connection.name} lists batches without end: {MOST_PAGES:,} pages were read. "
            "Run the same command to look again.",
            possibly_paid=True,
        )

    async def post(self, path: str, body: Mapping[str, Json]) -> Json:
        """Posts a body; returns the JSON of the reply."""
        url = self._url(path)
        return self._read(await self.connection.send(url, self._json_headers, body))

    async def post_file(self, path: str, file: Path) -> Json:
        """Posts a file unchanged, streamed from the disk; returns the JSON of the reply."""
        with file.open("rb") as content:
            return await self._send(path, content, self._json_headers)

    async def post_form(self, path: str, fields: Mapping[str, str], file: Path) -> Json:
        """Posts a form: fields, then the file under the name `file`; returns the reply's JSON."""
        from aiohttp import FormData

        form = FormData()
        for field, value in fields.items():
            form.add_field(field, value)
        with file.open("rb") as content:
            form.add_field("file", content, filename=file.name, content_type="application/jsonl")
            return await self._send(path, form, self._headers)

    async def post_resumable(self, path: str, about: Mapping[str, Json], file: Path) -> Json:
        """Posts a file to an address that the provider names first, as in Google's Files API;
        returns the reply's JSON. Raises ModelError if the address is not on the provider's own
        host."""
        begin = {
            **self._json_headers,
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(file.stat().st_size),
            "X-Goog-Upload-Header-Content-Type": "application/jsonl",
        }
        begun = await self.connection.send(self._url(path), begin, about)
        url = begun.headers.get("X-Goog-Upload-URL", "")
        if not 200 <= begun.status < 300:
            self._fail(begun)
        if not url or not self.connection.own(url):
            raise ModelError(f"{self.connection.name} gave an upload address on another server.")
        rest = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize"}
        with file.open("rb") as content:
            return await self._send(url, content, {**self._headers, **rest})

    def read(self, parse: Callable[[Json], T], body: Json) -> T:
        """Parses the body of a success. Raises ModelError if the body has another form."""
        try:
            return parse(body)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise ModelError(
                f"{self.connection.name} gave an unexpected answer: {error}.", possibly_paid=True
            ) from None

    async def lines(self, path: str) -> AsyncIterator[Json]:
        """Yields each line of the body at a path as JSON, once received; None if it is not JSON."""
        url = self._url(path)
        async with self.connection.stream("GET", url, self._headers) as reply:
            if reply.status != 200:
                self._fail(await _answer(reply))
            async for line in _lines(reply, self.connection.name):
                yield parse_json(self.connection.without_key(line)).body

    def sibling(self, folder: str) -> str:
        """Returns the base URL with a folder put before its last part: /v1beta → /upload/v1beta."""
        parts = urlsplit(self.connection.base)
        head, _, tail = parts.path.rpartition("/")
        return urlunsplit(parts._replace(path=f"{head}/{folder}/{tail}"))

    def _url(self, path: str) -> str:
        return self.connection.base + path if path.startswith("/") else path

    async def _send(self, path: str, data: Payload, headers: Mapping[str, str]) -> Json:
        async with self.connection.stream("POST", self._url(path), headers, data) as reply:
            answer = await _answer(reply)
        return self._read(answer)

    def _read(self, answer: Answer) -> Json:
        if not 200 <= answer.status < 300:
            self._fail(answer)
        return self.connection.parse_body(answer, lambda body: body)

    def _fail(self, answer: Answer) -> NoReturn:
        kind, wait = self._status(answer)
        if kind in (404, 410):
            reason = self.connection.error_text(answer)
            raise Gone(f"{self.connection.name}: not found (HTTP {answer.status}): {reason}")
        self.connection.fail(answer, kind, wait)


async def _answer(reply: ClientResponse) -> Answer:
    grown = bytearray()
    async for chunk in reply.content.iter_chunked(CHUNK_BYTES):
        grown += chunk
        if len(grown) > MOST_ANSWER_BYTES:
            break
    content = bytes(grown)
    return Answer(reply.status, reply.headers, content, *parse_json(content))


async def _lines(reply: ClientResponse, name: str) -> AsyncIterator[bytes]:
    """Yields the lines of a body, without blank ones."""
    rest = bytearray()
    async for chunk in reply.content.iter_chunked(CHUNK_BYTES):
        *lines, last = chunk.split(b"\n")
        for line in lines:
            rest += line
            if rest.strip():
                yield bytes(rest)
            rest = bytearray()
        rest += last
        if len(rest) > MOST_LINE_BYTES:
            raise ModelError(
                f"{name} sent a result of more than {MOST_LINE_BYTES // 2**20} MiB in one line. "
                "Check --base-url."
            )
    if rest.strip():
        yield bytes(rest)
