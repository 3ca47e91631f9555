"""A POST to an address that is asked thousands of times, over aiohttp's connections and parser but
without its session.

What a session does anew for every request (URL, headers, cookies, proxy, redirects) is done here
once for each address. Names, TLS, the pool of connections and the reading of replies are aiohttp's
as before, and the same bytes are sent. These are parts of aiohttp that it does not document: where
one is not as known the session is used. tests/models/test_posting.py holds the two against each
other. In one thing this is stricter: a kept connection on which something came that nobody asked
for is closed, where a session takes that for the reply to the next request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet

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


class Unposted(Exception):
    """Nothing was sent: the session has to send it, or says what is wrong."""


class Received(NamedTuple):
    """A reply whose body was read."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Head(NamedTuple):
    """What is sent before a body: the bytes on both sides of its length. request: what the
    connector finds a connection by.
    """

    request: ClientRequest
    before: bytes
    after: bytes


class Posting:
    """Posts over the connector of a session. timeout_s: of a whole request, in seconds."""

    def __init__(self, session: ClientSession, connector: BaseConnector, timeout_s: float) -> None:
        from aiohttp import ClientTimeout

        self._session, self._connector, self._timeout_s = session, connector, timeout_s
        self._connect_limits = ClientTimeout(
            connect=timeout_s, sock_connect=session.timeout.sock_connect
        )
        self._heads: dict[tuple[object, ...], Head] = {}
        self._used: WeakSet[ResponseHandler] = WeakSet()

    @classmethod
    def over(cls, session: ClientSession, timeout_s: float) -> Posting | None:
        """None where this version of aiohttp is not known, or is put together otherwise."""
        import aiohttp

        if session.connector is None or not aiohttp.__version__.startswith(KNOWN_VERSIONS):
            return None
        posting = cls(session, session.connector, timeout_s)
        try:
            posting._make_head("http://localhost/", {})
        except Unposted:
            return None
        return posting

    def _make_head(self, url: str, headers: Mapping[str, str]) -> Head:
        try:
            from aiohttp.client_reqrep import ClientRequest
            from aiohttp.http_writer import _serialize_headers
            from yarl import URL

            place = URL(url)
            if place.scheme not in ("http", "https") or not place.raw_host or place.user:
                raise Unposted
            request = ClientRequest(
                "POST",
                place,
                headers=headers,
                data=b" ",
                loop=asyncio.get_running_loop(),
                session=self._session,
            )
            sent = _serialize_headers(f"POST {place.raw_path_qs} HTTP/1.1", request.headers)
        except _UNKNOWN:
            raise Unposted from None
        before, length, after = sent.partition(_LENGTH)
        if not length:
            raise Unposted
        return Head(request, before + length[:-1], after)

    def _head(self, url: str, headers: Mapping[str, str]) -> Head:
        key = (url, *headers.items())
        head = self._heads.get(key)
        if head is None:
            if len(self._heads) >= MOST_ADDRESSES:
                self._heads.clear()
            head = self._heads[key] = self._make_head(url, headers)
        return head

    async def send(
        self,
        url: str,
        headers: Mapping[str, str],
        data: bytes,
        read: Callable[[StreamReader], Awaitable[bytes]],
    ) -> Received:
        """What came back, its body as `read` reads it. Raises what the session would, and Unposted
        before anything was sent.
        """
        head = self._head(url, headers)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeout_s
        wire = await self._connect(head.request)
        transport = wire.transport
        if transport is None:
            wire.close()
            raise ConnectionResetError("Connection lost")
        # half of what asyncio.timeout costs, which cancels the task
        late = loop.call_at(deadline, transport.abort)
        try:
            received = await _exchange(wire, head, data, read)
            if late.when() <= loop.time():  # a body without a length may have ended by the abort
                raise TimeoutError
        except BaseException as error:
            wire.close()
            if isinstance(error, Exception) and late.when() <= loop.time():
                raise TimeoutError from None
            _raise_as_session(error, head.request)
            raise
        finally:
            late.cancel()
        self._give_back(wire)
        return received

    async def _connect(self, request: ClientRequest) -> Wire:
        """A connection on which nothing waits."""
        while True:
            try:
                wire = await self._connector.connect(request, [], self._connect_limits)
            except TimeoutError:
                from aiohttp import ConnectionTimeoutError

                message = f"Connection timeout to host {request.url}"
                raise ConnectionTimeoutError(message) from None
            protocol = wire.protocol
            if protocol is None or not protocol.should_close or protocol not in self._used:
                return wire
            wire.close()

    def _give_back(self, wire: Wire) -> None:
        """Has a connection kept, unless the reply came before all was sent."""
        if wire.protocol is not None:
            self._used.add(wire.protocol)
        if wire.transport is None or wire.transport.get_write_buffer_size():
            wire.close()
        else:
            wire.release()


async def _exchange(
    wire: Wire, head: Head, data: bytes, read: Callable[[StreamReader], Awaitable[bytes]]
) -> Received:
    """Sends a body over a connection and reads the reply."""
    protocol, transport = wire.protocol, wire.transport
    if protocol is None or transport is None:
        raise ConnectionResetError("Connection lost")
    protocol.set_response_params(read_until_eof=True, read_bufsize=BUFFER_BYTES)
    transport.write(b"%b%d%b%b" % (head.before, len(data), head.after, data))
    message, stream = await protocol.read()
    while message.code < 200 and message.code != 101:
        message, stream = await protocol.read()
    return Received(message.code, message.headers, await read(stream))


def _raise_as_session(error: BaseException, request: ClientRequest) -> None:
    """Raises an error of the parser as a session puts it."""
    from aiohttp import ClientResponseError
    from aiohttp.http import HttpProcessingError

    if isinstance(error, HttpProcessingError):
        raise ClientResponseError(
            request.request_info, (), status=error.code, message=error.message
        ) from None
