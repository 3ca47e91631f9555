"""The connection to one server, for all dialects: sends requests, interprets statuses and lost
connections.

408, 409, 425, 429, 5xx, a lost or truncated reply may pass (TransientError); 401, 402, 403, 404, a
redirect, a page of HTML do not (ModelError). Keys never reach a message: they are cut out of all
texts from a server.

A reply may name a further address (of a result, or of a picture). A host other than the base URL's
is reached only at a public address. The address that is connected to is the one checked, so a name
that resolves differently a moment later gains nothing.
"""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from email.utils import parsedate_to_datetime
from typing import IO, TYPE_CHECKING, NoReturn, TypeVar
from urllib.parse import urlsplit

from ...errors import (
    MORE_FILES,
    TOO_MANY_FILES,
    MissingKey,
    ModelError,
    TiltmeterError,
    TransientError,
)
from ...records import Json
from ...records.json_text import json_writer
from ...secret_filter import HIDDEN, mask, without, without_bytes
from .addresses import NOT_PUBLIC, proxy_of, public_socket
from .allowance import Allowance, retry_after
from .answer import (
    FULL_STATUSES,
    FULL_WORDS,
    NO_CREDIT,
    PASSING_STATUSES,
    UNANSWERED,
    Answer,
    TooLong,
    plain,
    refusal,
)
from .body import message
from .body import parse as parse_json
from .posting import Posting, Received

if TYPE_CHECKING:
    from aiohttp import AddrInfoType, ClientResponse, ClientSession, FormData, StreamReader

MAX_REPLY_BYTES = 64 * 2**20  # bytes; more than any reply or picture that is meant
# seconds that an idle connection is kept: llama.cpp's server and uvicorn close theirs after 5
IDLE_SECONDS = 4.0
SHORTEST_KEY = 8  # what is shorter ("none", "x") is no secret, and may be a word of an answer
MOST_OFFSET_S = 3600 * 24 * 365 * 10  # of a server's clock; one that is further off tells nothing
SHOWN_RAW = 64 * 2**10  # bytes of an unreadable reply that are kept
_write_json = json_writer(", ", ": ", sort_keys=False)
T = TypeVar("T")


class Connection:
    """A model's address, its key and its open sessions. name: `kind:name`, for messages; timeout:
    in seconds; proxied: True if the base URL is reached through the proxy that the environment
    names.
    """

    def __init__(
        self,
        name: str,
        base: str,
        *,
        key: str = "",
        key_name: str = "",
        timeout: float = 120.0,
        proxied: bool = False,
    ) -> None:
        self.name, self.base, self.key, self.key_name = name, base.rstrip("/"), key, key_name
        self.timeout = timeout
        self._session: ClientSession | None = None
        self._public: ClientSession | None = None
        self._posting: Posting | None = None
        self._met = False
        self._dated = ("", 0.0)  # the last Date header, and our own time then
        self.allowance = Allowance()
        self._proxied, self._proxy = proxied, ""

    async def open(self) -> None:
        """Opens the session, in the asking event loop."""
        if self._proxied:
            self._proxy = proxy_of(self.base)
        self._session = self._new_session(None)
        if not self._proxy:
            self._posting = Posting.over(self._session, self.timeout, IDLE_SECONDS)

    async def close(self) -> None:
        """Closes all sessions."""
        if self._posting is not None:
            self._posting.close()
        for session in (self._session, self._public):
            if session is not None:
                await session.close()

    def _leave_to_session(self) -> None:
        """Ends the fast path: from now on the session sends every request."""
        if self._posting is not None:
            self._posting.close()
            self._posting = None

    @property
    def clock_offset_s(self) -> float | None:
        """Seconds by which the server's clock is ahead of ours; None if it sent no time."""
        sent, ours = self._dated
        with suppress(ValueError, TypeError, OverflowError):
            offset = parsedate_to_datetime(sent).timestamp() - ours
            return offset if abs(offset) < MOST_OFFSET_S else None
        return None

    @property
    def session(self) -> ClientSession:
        """The session to the base URL; the connection must be open."""
        assert self._session is not None
        return self._session

    def _new_session(
        self, factory: Callable[[AddrInfoType], socket.socket] | None
    ) -> ClientSession:
        import aiohttp

        self._aiohttp = aiohttp
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, ttl_dns_cache=300, keepalive_timeout=IDLE_SECONDS, socket_factory=factory
            ),
            timeout=aiohttp.ClientTimeout(total=self.timeout, sock_connect=min(20.0, self.timeout)),
            auto_decompress=True,
        )

    def own(self, url: str) -> bool:
        """True if a URL is on the host of the base URL."""
        return urlsplit(url).hostname == urlsplit(self.base).hostname

    async def send(
        self,
        url: str,
        headers: Mapping[str, str],
        body: Mapping[str, Json] | None = None,
        most: int | None = None,
    ) -> Answer:
        """Posts a body, or sends a GET if there is none; follows no redirects. most: the largest
        reply in bytes, by default MAX_REPLY_BYTES.

        Raises TransientError or ModelError if no complete reply arrives.
        """
        most = most or MAX_REPLY_BYTES
        received = None
        try:
            data = None if body is None else _write_json(body).encode()
            if data is not None and self._posting is not None:
                received = await self._posting.send(url, headers, data, most, self._content)
                # cookies are kept by the session, which sends them
                if received is None or "Set-Cookie" in received.headers:
                    self._leave_to_session()
            if received is None:
                received = await self._ask_session(url, headers, data, most)
        except (TimeoutError, self._aiohttp.ClientError, OSError, UnicodeError) as error:
            raise self._lost(url, error, body is not None) from None
        self._met = True
        self.allowance.note(received.headers, time.monotonic())
        self._dated = received.headers.get("Date", ""), time.time()
        content = self.without_key(received.content)
        return Answer(received.status, received.headers, content, *parse_json(content))

    async def _ask_session(
        self, url: str, headers: Mapping[str, str], data: bytes | None, most: int
    ) -> Received:
        """Posts data over the session, or sends a GET if there are no data."""
        session, proxy = self.session, self._proxy or None
        if data is None and not self.own(url):  # never through a proxy, which would look up names
            session = self._public = self._public or self._new_session(public_socket)
            proxy = None
        method = "GET" if data is None else "POST"
        async with session.request(
            method, url, data=data, headers=headers, allow_redirects=False, proxy=proxy
        ) as response:
            content = await self._content(response.content, most)
            return Received(response.status, response.headers, content)

    async def _content(self, stream: StreamReader, most: int) -> bytes:
        """Reads a whole body, decompressed as it arrives. TooLong if it exceeds `most` bytes."""
        content = await stream.readany()
        if stream.at_eof() and len(content) <= most:
            return content
        grown = bytearray(content)
        while len(grown) <= most and not stream.at_eof():
            grown += await stream.readany()
        if len(grown) > most:
            raise TooLong(
                f"{self.name} sent more than {most // 2**20} MiB for one reply. Check --base-url.",
                self._raw(self.without_key(bytes(grown[:SHOWN_RAW]))),
                possibly_paid=True,
            )
        return bytes(grown)

    def without_key(self, content: bytes) -> bytes:
        """Cuts the key out of received bytes, before anything parses them."""
        if len(self.key) < SHORTEST_KEY:
            return content
        return without_bytes(self.key, content)

    def _raw(self, content: bytes) -> str:
        return self.clean(content[:SHOWN_RAW].decode("utf-8", "replace"))

    def _lost(self, url: str, error: Exception, posted: bool) -> TiltmeterError:
        """Returns the error to raise for a failed connection. Before the server's first reply, an
        address that does not answer counts as a wrong address.
        """
        aiohttp = self._aiohttp
        reason = self.clean(plain(str(error))) or type(error).__name__
        if NOT_PUBLIC in reason:
            host = urlsplit(url).hostname
            return ModelError(
                f"{self.name} sent an address on {host}, which {NOT_PUBLIC}, so it was not opened. "
                "If that server is yours, name it with --base-url."
            )
        if getattr(error, "errno", None) in TOO_MANY_FILES:
            return ModelError(f"{self.name} cannot be asked: too many files are open. {MORE_FILES}")
        first, base = not self._met and self.own(url), mask((), self.base)
        if isinstance(error, aiohttp.ClientHttpProxyError | aiohttp.ClientProxyConnectionError):
            return ModelError(
                f"The proxy {urlsplit(self._proxy).hostname} does not let {self.name} through "
                f"({reason}). Correct HTTPS_PROXY, or name the host in NO_PROXY."
            )
        # a part of a name with more than 63 characters is a UnicodeError
        if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError | UnicodeError):
            return ModelError(
                f"'{base}' is not a URL. Type for instance: --base-url http://localhost:8000/v1"
            )
        if first and isinstance(
            error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError
        ):
            return ModelError(
                f"Nothing answers at {base} ({reason}). Start the server, or correct --base-url."
            )
        if first and isinstance(error, aiohttp.ClientResponseError):
            return ModelError(f"{base} does not speak HTTP ({reason}). Correct --base-url.")
        unsent = aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError
        paid = posted and not isinstance(error, unsent)
        if isinstance(error, TimeoutError):
            late = f"{self.name} did not answer within {self.timeout:g} s"
            return TransientError(late, possibly_paid=paid)
        return TransientError(f"{self.name}: {reason}", possibly_paid=paid)

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        data: IO[bytes] | FormData | None = None,
    ) -> AsyncIterator[ClientResponse]:
        """Opens a reply to be read piece by piece; `data` may be a file. The reply may take any
        time in all, but be silent for `timeout` seconds only. Raises as `send` does.
        """
        aiohttp = self._aiohttp
        quiet = aiohttp.ClientTimeout(sock_connect=min(20.0, self.timeout), sock_read=self.timeout)
        try:
            async with self.session.request(
                method,
                url,
                data=data,
                headers=headers,
                allow_redirects=False,
                proxy=self._proxy or None,
                timeout=quiet,
            ) as response:
                self._met = True
                self._dated = response.headers.get("Date", ""), time.time()
                yield response
        except (TimeoutError, aiohttp.ClientError) as error:
            raise self._lost(url, error, method == "POST") from None

    def parse_body(self, answer: Answer, parse: Callable[[Json], T]) -> T:
        """Parses the body of a success. Raises ModelError if the dialect does not know its form."""
        if answer.content.lstrip()[:1] == b"<":
            raise ModelError(
                f"{self.base} answers with a web page, not with an API. The base URL of most "
                "servers ends in /v1.",
                self._raw(answer.content),
                possibly_paid=True,
            )
        if answer.fault or answer.body is None:
            fault = f"{self.name} sent {answer.fault or 'null'}: {self.start(answer.content)}"
            if answer.breaks_off:
                raise TransientError(fault, possibly_paid=True)
            raise ModelError(fault, self._raw(answer.content), possibly_paid=True)
        try:
            return parse(answer.body)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            problem = (
                error
                if isinstance(error, ValueError)
                else f"unexpected shape ({type(error).__name__} {error})"
            )
            raise ModelError(
                f"{self.base} does not answer as {self.name} should: {self.clean(str(problem))}. "
                f"It said: {self.start(answer.content)}",
                self._raw(answer.content),
                possibly_paid=True,
            ) from None

    def error_text(self, answer: Answer) -> str:
        """Returns an error's text as one line."""
        return self.clean(plain(message(answer.body)))[:300] or self.start(answer.content)

    def fail(self, answer: Answer, meant: int, wait: float | None) -> NoReturn:
        """Raises an answer's error. meant: its status in HTTP's sense; wait: seconds to wait."""
        status, reason, raw = answer.status, self.error_text(answer), self._raw(answer.content)
        if meant in (401, 403):
            how = f"Set {self.key_name} in the environment." if self.key_name else "Check the key."
            raise MissingKey(f"{self.name} refuses the key (HTTP {status}): {reason} {how}")
        if meant == 402 or (meant == 429 and NO_CREDIT.search(message(answer.body))):
            raise ModelError(
                f"{self.name}: the account has no credit left (HTTP {status}): {reason}"
            )
        if meant in PASSING_STATUSES or meant >= 500:
            wait = retry_after(answer.headers) if wait is None else wait
            is_full = meant == 503 and (wait is not None or bool(FULL_WORDS.search(reason)))
            raise TransientError(
                f"{self.name} answered HTTP {status}: {reason}",
                wait,
                possibly_paid=status in UNANSWERED,
                is_full=is_full or meant in FULL_STATUSES,
            )
        raise ModelError(refusal(self.name, self.base, (meant, status), reason), raw)

    def clean(self, text: str) -> str:
        """Removes the key from a text."""
        if len(self.key) < SHORTEST_KEY:
            return text.replace(self.key, HIDDEN) if self.key else text
        return without((self.key,), text)

    def start(self, content: bytes) -> str:
        """Returns a reply's first characters, cut only after the key is removed."""
        return self.clean(plain(content[:4096].decode("utf-8", "replace")))[:120]
