"""POSTs to one address thousands of times, over aiohttp's connections and parser but without its
session.

The work that a session repeats for every request (URL, headers, cookies, proxy, redirects) is done
once per address. Names, TLS, the pool of connections and the parser of replies are still aiohttp's,
and the same bytes are sent. These parts of aiohttp are undocumented: if one differs from what is
known, the session is used. tests/models/http/test_posting.py compares the two. This is stricter in
one case: if data arrived on an idle connection, the connection is closed, while a session would
take that data for the next reply.

A connection is kept here after a post, not by the connector, and one timer watches all requests:
finding, binding and returning a connection, and a timer each, took 9 µs per request.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from aiohttp import ClientSession, StreamReader
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.client_reqrep import ClientRequest
    from aiohttp.connector import BaseConnector
    from aiohttp.connector import Connection as Wire

KNOWN_VERSIONS = ("3.12.", "3.13.", "3.14.")  # of aiohttp, that the tests ran with
MOST_ADDRESSES = 100  # that are remembered; a model has one or two
BUFFER_BYTES = 2**16  # of a reply before its server has to wait, as in a session
_LENGTH = b"Content-Length: 1"
_UNKNOWN = (ImportError, AttributeError, TypeError, KeyError, ValueError)


@runtime_checkable
class Receiving(Protocol):
    """A transport of asyncio. max_size: the size in bytes of the buffer for each read. The default
    of 256 KiB is so large that the system maps and unmaps it for every reply: 16 µs of CPU, when a
    whole call takes 21.
    """

    max_size: int


class Received(NamedTuple):
    """A reply with its whole body."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Idle(NamedTuple):
    """An idle connection. since: when it became idle, by the loop's time."""

    wire: Wire
    protocol: ResponseHandler
    since: float


class Head(NamedTuple):
    """Everything but its body that a request needs. before, after: the header bytes around the
    number in Content-Length; request: tells the connector where to connect; idle: usable
    connections, longest idle first.
    """

    request: ClientRequest
    before: bytes
    after: bytes
    idle: deque[Idle]


class Posting:
    """A fast way to post over a session's connector. timeout_s: for a whole request; idle_s: how
    long an idle connection is kept.
    """

    def __init__(
        self, session: ClientSession, connector: BaseConnector, timeout_s: float, idle_s: float
    ) -> None:
        from aiohttp import ClientTimeout

        self._session, self._connector = session, connector
        self._timeout_s, self._idle_s = timeout_s, idle_s
        self._loop = asyncio.get_running_loop()
        self._connect_limits = ClientTimeout(
            connect=timeout_s, sock_connect=session.timeout.sock_connect
        )
        self._heads: dict[tuple[object, ...], Head] = {}
        self._idle: dict[object, deque[Idle]] = {}  # by what aiohttp tells connections apart by
        # what was sent and not answered, until when
        self._deadlines: dict[asyncio.Transport, float] = {}
        self._aborting: asyncio.TimerHandle | None = None
        self._closing: asyncio.TimerHandle | None = None
        self._is_closed = False

    @classmethod
    def over(cls, session: ClientSession, timeout_s: float, idle_s: float) -> Posting | None:
        """Makes a Posting; None if this version of aiohttp is unknown or built differently."""
        import aiohttp

        if session.connector is None or not aiohttp.__version__.startswith(KNOWN_VERSIONS):
            return None
        posting = cls(session, session.connector, timeout_s, idle_s)
        return posting if posting._make_head("http://localhost/", {}) else None

    def _make_head(self, url: str, headers: Mapping[str, str]) -> Head | None:
        try:
            from aiohttp.client_reqrep import ClientRequest
            from aiohttp.http_writer import _serialize_headers
            from yarl import URL

            place = URL(url)
            if place.scheme not in ("http", "https") or not place.raw_host or place.user:
                return None
            request = ClientRequest(
                "POST",
                place,
                headers=headers,
                data=b" ",
                loop=self._loop,
                session=self._session,
            )
            sent = _serialize_headers(f"POST {place.raw_path_qs} HTTP/1.1", request.headers)
            key = request.connection_key
        except _UNKNOWN:
            return None
        before, length, after = sent.partition(_LENGTH)
        if not length:
            return None
        idle = self._idle.setdefault(key, deque())
        return Head(request, before + length[:-1], after, idle)

    def _head(self, url: str, headers: Mapping[str, str]) -> Head | None:
        key = (url, *headers.items())
        head = self._heads.get(key)
        if head is None:
            head = self._make_head(url, headers)
            if head is not None:
                if len(self._heads) >= MOST_ADDRESSES:
                    self._heads.clear()
                self._heads[key] = head
        return head

    async def send(
        self,
        url: str,
        headers: Mapping[str, str],
        data: bytes,
        most: int,
        read: Callable[[StreamReader, int], Awaitable[bytes]],
    ) -> Received | None:
        """Posts the data and returns the reply. Returns None if nothing was sent, so that the
        session must send it or report the fault. Raises as the session would. most: the largest
        reply in bytes; read: reads the body.
        """
        head = self._head(url, headers)
        if head is None:
            return None
        begin = self._loop.time()
        deadline = begin + self._timeout_s
        wire = self._take_idle(head.idle, begin) or await self._connect(head.request)
        protocol, transport = wire.protocol, wire.transport
        if protocol is None or transport is None:
            wire.close()
            raise ConnectionResetError("Connection lost")
        self._abort_at(deadline, transport)
        try:
            protocol.set_response_params(read_until_eof=True, read_bufsize=BUFFER_BYTES)
            transport.write(b"%b%d%b%b" % (head.before, len(data), head.after, data))
            message, stream = await protocol.read()
            while message.code < 200 and message.code != 101:
                message, stream = await protocol.read()
            content = await read(stream, most)
            now = self._loop.time()
            if deadline <= now:  # a body without a length may have ended by the abort
                raise TimeoutError
        except BaseException as error:
            wire.close()
            if isinstance(error, Exception) and deadline <= self._loop.time():
                raise TimeoutError from None
            _raise_as_session(error, head.request)
            raise
        finally:
            self._deadlines.pop(transport, None)
        # unless the reply came before all was sent, or its server closes the connection
        if protocol.should_close or transport.get_write_buffer_size():
            wire.close()
        else:
            self._keep(Idle(wire, protocol, now), head.idle)
        return Received(message.code, message.headers, content)

    def close(self) -> None:
        """Returns idle connections to the connector; requests in flight end as usual."""
        self._is_closed = True
        if self._closing is not None:
            self._closing.cancel()
        for idle in self._idle.values():
            while idle:
                idle.popleft().wire.release()

    def _abort_at(self, deadline: float, transport: asyncio.Transport) -> None:
        """Aborts a request at its deadline, by a timer that all requests share, to save CPU."""
        self._deadlines[transport] = deadline
        if self._aborting is None or deadline < self._aborting.when():  # it was long in connecting
            self._wake_at(deadline)

    def _wake_at(self, deadline: float) -> None:
        if self._aborting is not None:
            self._aborting.cancel()
        self._aborting = self._loop.call_at(deadline, self._abort_late)

    def _abort_late(self) -> None:
        self._aborting = None
        now = self._loop.time()
        for transport in [late for late, until in self._deadlines.items() if until <= now]:
            del self._deadlines[transport]
            transport.abort()
        if self._deadlines:
            self._wake_at(min(self._deadlines.values()))

    def _take_idle(self, idle: deque[Idle], now: float) -> Wire | None:
        """Returns an idle connection that is still usable, or None."""
        while idle:
            wire, protocol, since = idle.popleft()
            if (
                now - since <= self._idle_s
                and protocol.is_connected()
                and not protocol.should_close
            ):
                return wire
            wire.close()
        return None

    async def _connect(self, request: ClientRequest) -> Wire:
        try:
            wire = await self._connector.connect(request, [], self._connect_limits)
        except TimeoutError:
            from aiohttp import ConnectionTimeoutError

            message = f"Connection timeout to host {request.url}"
            raise ConnectionTimeoutError(message) from None
        _receive_less(wire.transport)
        return wire

    def _keep(self, one: Idle, idle: deque[Idle]) -> None:
        """Stores a connection for the next request."""
        if self._is_closed:
            one.wire.release()
            return
        idle.append(one)
        if self._closing is None:
            self._closing = self._loop.call_later(self._idle_s, self._close_idle)

    def _close_idle(self) -> None:
        """Closes connections that have been idle too long."""
        self._closing = None
        since = self._loop.time() - self._idle_s
        for idle in self._idle.values():
            while idle and (idle[0].since <= since or idle[0].wire.closed):
                idle.popleft().wire.close()
            if idle and self._closing is None:
                self._closing = self._loop.call_later(self._idle_s, self._close_idle)


def _receive_less(transport: asyncio.Transport | Receiving | None) -> None:
    if isinstance(transport, Receiving):
        transport.max_size = BUFFER_BYTES


def _raise_as_session(error: BaseException, request: ClientRequest) -> None:
    """Raises the error that a session would raise for a parser's error."""
    from aiohttp import ClientResponseError
    from aiohttp.http import HttpProcessingError

    if isinstance(error, HttpProcessingError):
        raise ClientResponseError(
            request.request_info, (), status=error.code, message=error.message
        ) from None
