"""Posting without aiohttp's session, held against the session on a table of odd servers.

A fresh `Connection` posts to a server that plays a scenario, once each way: what each request comes
to (status, body, headers, or the error with its words and whether it may be paid), every byte that
the server was sent, and how many connections were made have to be the same.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Mapping
from typing import Any, NamedTuple

import aiohttp
import pytest

from tiltmeter.errors import TiltmeterError, TransientError
from tiltmeter.models.http import answer, connection, posting
from tiltmeter.models.http.connection import Connection
from tiltmeter.models.http.posting import Posting
from tiltmeter.records import Json

KEY = "sk-" + "0123456789abcdef" * 4
HEADERS = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
BODY: dict[str, Json] = {"model": "m", "messages": [{"role": "user", "content": "Wer? é 😀"}]}
TIMEOUT_S = 0.25
MOST_BYTES = 50_000


def http(body: bytes = b'{"a": 1}', status: str = "200 OK", *headers: str) -> bytes:
    """A reply with its length, unless a header says how long it is."""
    own = any(name in " ".join(headers) for name in ("Content-Length", "Transfer", "close"))
    lines = [f"HTTP/1.1 {status}", *headers, *(() if own else (f"Content-Length: {len(body)}",))]
    return "\r\n".join((*lines, "", "")).encode() + body


def chunks(*parts: bytes, end: bytes = b"0\r\n\r\n", headers: tuple[str, ...] = ()) -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + end
    return http(body, "200 OK", "Transfer-Encoding: chunked", *headers)


KEEP, CLOSE, ABORT, EARLY = "keep", "close", "abort", "before all was sent"


class Turn(NamedTuple):
    """What the server does with one request. parts: sent one after the other, in turns of the loop
    of their own; then: what becomes of the connection.
    """

    parts: tuple[bytes, ...] = (http(),)
    then: str = KEEP


def one(*parts: bytes, then: str = KEEP) -> tuple[Turn, ...]:
    """An odd turn as the very first, one that is well, and the odd one again."""
    return Turn(parts, then), Turn(), Turn(parts, then)


GZIP = "Content-Encoding: gzip"
SCENARIOS: dict[str, tuple[Turn, ...]] = {
    "well": (Turn(), Turn(), Turn()),
    "in pieces": one(http()[:7], http()[7:40], http()[40:]),
    "empty": one(http(b"")),
    "204": one(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "204 with a body": one(http(b"odd", "204 No Content")),
    "304": one(b"HTTP/1.1 304 Not Modified\r\n\r\n"),
    "304 with a length": one(http(b"", "304 Not Modified", "Content-Length: 12")),
    "100 first": one(b"HTTP/1.1 100 Continue\r\n\r\n", http()),
    "100 and 103 in one": one(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n" + http()),
    "only 100, then closed": one(b"HTTP/1.1 100 Continue\r\n\r\n", then=CLOSE),
    "101": one(http(b"", "101 Switching Protocols", "Connection: Upgrade", "Upgrade: x"), b"hello"),
    "chunked": one(chunks(b'{"a"', b": 1}")),
    "chunked in pieces": one(chunks(b'{"a"', b": 1}", end=b""), b"0\r\n", b"\r\n"),
    "chunked with trailers": one(chunks(b"{}", end=b"0\r\nX-Sum: 1\r\n\r\n")),
    "chunked and cut": one(chunks(b'{"a"', end=b""), then=CLOSE),
    "chunked and no size": one(chunks(b"{}", end=b"zz\r\n\r\n")),
    "chunked with an extension": one(chunks(b"{}", end=b"2;x=y\r\n{}\r\n0\r\n\r\n")),
    "a length and chunked": one(chunks(b"{}", headers=("Content-Length: 2",))),
    "cut": one(http(b'{"a"', "200 OK", "Content-Length: 8"), then=CLOSE),
    "cut and reset": one(http(b'{"a"', "200 OK", "Content-Length: 8"), then=ABORT),
    "cut in the head": one(http()[:30], then=CLOSE),
    "nothing, then closed": one(then=CLOSE),
    "nothing, then reset": one(then=ABORT),
    "closed when it was kept": (Turn(), Turn((), CLOSE), Turn(), Turn((), ABORT), Turn()),
    "closed after each reply": one(http(), then=CLOSE),
    "said to be closed": one(http(b"{}", "200 OK", "Content-Length: 2", "Connection: close")),
    "until the end": one(http(b'{"a": 1}', "200 OK", "Connection: close"), then=CLOSE),
    "until a reset": one(http(b'{"a": 1}', "200 OK", "Connection: close"), then=ABORT),
    "HTTP/1.0": one(b"HTTP/1.0 200 OK\r\n\r\n{}", then=CLOSE),
    "two replies at once": one(http() + http(b'{"smuggled": 1}')),
    "more than its length": one(http(b'{"a": 1}and more', "200 OK", "Content-Length: 8")),
    "two lengths": one(http(b"{}", "200 OK", "Content-Length: 2", "Content-Length: 3")),
    "a negative length": one(http(b"{}", "200 OK", "Content-Length: -2")),
    "a length in words": one(http(b"{}", "200 OK", "Content-Length: two")),
    "gzip": one(http(gzip.compress(b'{"a": 1}'), "200 OK", GZIP)),
    "gzip in pieces": one(chunks(*(bytes((b,)) for b in gzip.compress(b"{}")), headers=(GZIP,))),
    "deflate": one(http(zlib.compress(b'{"a": 1}'), "200 OK", "Content-Encoding: deflate")),
    "gzip that is none": one(http(b'{"a": 1}', "200 OK", GZIP)),
    "gzip that is cut": one(http(gzip.compress(b'{"a": 1}' * 99)[:40], "200 OK", GZIP)),
    "an encoding that nobody knows": one(http(b"{}", "200 OK", "Content-Encoding: odd")),
    "too long without end": one(chunks(*[b"0" * 9000] * 6, end=b"")),
    "as long as it may be": one(http(b"0" * MOST_BYTES)),
    "a redirect": one(http(b"", "302 Found", "Location: http://127.0.0.1:1/")),
    "a redirect that keeps POST": one(http(b"", "307 Moved", "Location: /elsewhere")),
    "an error": one(http(b'{"error": "no"}', "500 Oh")),
    "a status of two digits": one(http(b"{}", "20 OK")),
    "a status of four digits": one(http(b"{}", "2000 OK")),
    "a status in words": one(http(b"{}", "fine")),
    "no reason": one(http(b"{}", "200")),
    "no HTTP": one(b"220 mail.example.org ESMTP\r\n", then=CLOSE),
    "bytes": one(bytes(range(256)), then=CLOSE),
    "HTTP/9.9": one(b"HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
    "a header without end": one(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 9000 + b"\r\n\r\n", then=CLOSE),
    "200 headers": one(http(b"{}", "200 OK", *(f"X-{n}: 1" for n in range(200)))),
    "a header that is none": one(http(b"{}", "200 OK", "no colon")),
    "a header that is folded": one(http(b"{}", "200 OK", "X: a\r\n b")),
    "a header twice": one(http(b"{}", "200 OK", "Retry-After: 1", "retry-after: 2")),
    "bytes in a header": one(http(b"{}", "200 OK", "X: \x01é")),
    "only line feeds": one(b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}"),
    "the key": one(http(f'{{"a": "{KEY}"}}'.encode())),
    "a reply before all was sent": one(http(b"{}", "413 Large"), then=EARLY),
    "before all was sent, closed": one(
        http(b"{}", "413 Large", "Content-Length: 2", "Connection: close"), then=EARLY
    ),
}
HANGS: dict[str, tuple[Turn, ...]] = {
    "before the head": one(),
    "in the head": one(http()[:20]),
    "in the body": one(http(b"{", "200 OK", "Content-Length: 2")),
    "in a chunk": one(chunks(b"{", end=b"")),
    "before the end": one(http(b'{"a": 1}', "200 OK", "Connection: close")),
    "after 100": one(b"HTTP/1.1 100 Continue\r\n\r\n"),
}


class Odd(asyncio.Protocol):
    """A connection of the server; requests are counted over all of them."""

    def __init__(self, server: Server) -> None:
        self.server, self.came = server, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections += 1

    def data_received(self, data: bytes) -> None:
        self.came += data
        head, _, body = self.came.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]
        turn = self.server.turns[self.server.requests]
        if len(body) < int(length or 0) and turn.then != EARLY:
            return
        self.server.requests += 1
        if turn.then != EARLY:  # else it is chance how much had come
            self.server.sent.append(self.came)
        self.came = b""
        self.server.tasks.append(asyncio.ensure_future(self.answer(turn)))

    async def answer(self, turn: Turn) -> None:
        if turn.then == EARLY:
            self.transport.pause_reading()
        for part in turn.parts:
            self.transport.write(part)
            await asyncio.sleep(0.001)
        if turn.then == CLOSE:
            self.transport.close()
        elif turn.then in (ABORT, EARLY):
            await asyncio.sleep(0.005)
            self.transport.abort()


class Server:
    """Plays a scenario. sent: what came, request by request."""

    def __init__(self, turns: tuple[Turn, ...]) -> None:
        self.turns, self.sent = turns, list[bytes]()
        self.requests = self.connections = 0
        self.tasks: list[asyncio.Future[None]] = []

    async def __aenter__(self) -> str:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Odd(self), "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await asyncio.gather(*self.tasks)


Outcome = tuple[object, ...]
Played = tuple[list[Outcome], list[bytes], int]


async def outcome(work: Awaitable[answer.Answer]) -> Outcome:
    """What a request comes to, in plain values."""
    try:
        answer = await work
    except TiltmeterError as error:
        return type(error).__name__, str(error), *vars(error).values()
    return answer.status, list(answer.headers.items()), answer.content, answer.body, answer.fault


async def play(
    turns: tuple[Turn, ...], way: str, timeout_s: float = 5.0, body: Mapping[str, Json] = BODY
) -> Played:
    """Outcomes of the requests, what the server was sent, how many connections it had."""
    server = Server(turns)
    async with server as url:
        made = Connection("openai:m", url, key=KEY, timeout=timeout_s)
        await made.open()
        assert made._posting is not None
        if way == "session":
            made._posting = None
        try:
            outcomes = []
            for _ in turns:
                sending = made.send(f"{url}/chat?q=ä&r=1", HEADERS, body, MOST_BYTES)
                outcomes.append(await outcome(sending))
                await asyncio.gather(*server.tasks)
                await asyncio.sleep(0.004)  # what comes late has come
            assert (made._posting is None) == (way == "session")
        finally:
            await made.close()
    host = url.removeprefix("http://").partition("/")[0]  # a port alone could be digits of the key
    plain = [
        tuple(part.replace(host, "HOST") if isinstance(part, str) else part for part in parts)
        for parts in outcomes
    ]
    sent = [came.replace(host.encode(), b"HOST") for came in server.sent]
    return plain, sent, server.connections


@pytest.fixture(autouse=True)
def _few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SHOWN_RAW", 300)


def both(
    turns: tuple[Turn, ...], timeout_s: float = 5.0, body: Mapping[str, Json] = BODY
) -> list[Played]:
    """The same over the session and without it."""

    async def main() -> list[Played]:
        return await asyncio.gather(
            *(play(turns, way, timeout_s, body) for way in ("session", "posting"))
        )

    return asyncio.run(main())


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_same_as_the_session(name: str) -> None:
    large: dict[str, Json] = {"text": "x" * 1_000_000} if "all was sent" in name else BODY
    session, ours = both(SCENARIOS[name], body=large)
    assert ours == session


@pytest.mark.parametrize("name", HANGS)
def test_a_hang_ends_at_the_time_out(name: str) -> None:
    session, ours = both(HANGS[name][:1], TIMEOUT_S)
    assert ours == session
    assert ours[0][0][:2] == ("TransientError", "openai:m did not answer within 0.25 s")


@pytest.mark.parametrize(
    "reply", [http(gzip.compress(b"0" * 10**6), "200 OK", GZIP), http(b"0" * (MOST_BYTES + 1))]
)
def test_after_a_reply_that_is_too_long_the_connection_is_closed(reply: bytes) -> None:
    session, ours = both(one(reply))
    assert ours[:2] == session[:2]
    assert ours[0][0][0] == "TooLong"
    assert ours[2] >= session[2]


def test_a_reply_that_nobody_asked_for_is_nobodys() -> None:
    session, ours = both((Turn((http(), http(b'{"smuggled": 1}'))), Turn(), Turn()))
    assert [outcome[2] for outcome in session[0]][1] == b'{"smuggled": 1}'  # why this is stricter
    assert [outcome[2] for outcome in ours[0]] == [b'{"a": 1}'] * 3
    assert ours[2] == 2


def test_a_cookie_makes_it_the_sessions() -> None:
    turns = (Turn((http(b"{}", "200 OK", "Set-Cookie: a=1"),)), Turn(), Turn())

    async def main() -> list[bool]:
        async with Server(turns) as url:
            made = Connection("openai:m", url)
            await made.open()
            ways = []
            for _ in turns:
                ways.append(made._posting is None)
                await made.send(url, HEADERS, BODY)
            await made.close()
            return ways

    assert asyncio.run(main()) == [False, True, True]


# addresses


async def refusal(url: str, way: str, headers: Mapping[str, str] = HEADERS) -> Outcome:
    """What posting to an address comes to where there is no server of ours."""
    made = Connection("openai:m", "http://127.0.0.1:1/v1", key=KEY, timeout=TIMEOUT_S)
    await made.open()
    if way == "session":
        made._posting = None
    try:
        return await outcome(made.send(url, headers, BODY))
    except ValueError as error:
        return type(error).__name__, str(error)
    finally:
        await made.close()


def refusals(url: str, headers: Mapping[str, str] = HEADERS) -> list[Outcome]:
    async def main() -> list[Outcome]:
        return [await refusal(url, way, headers) for way in ("session", "posting")]

    return asyncio.run(main())


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:1/v1", "https://127.0.0.1:1/v1", "http://[::1]:1/", "http://", "x"),
        *("ftp://127.0.0.1/", "http:///v1", "http://a b/", "http://127.0.0.1:99999/", "file:///x"),
        *("http://" + "a" * 70 + "/", "http://u:p@127.0.0.1:1/"),
    ],
)
def test_an_address_where_nothing_is(url: str) -> None:
    session, ours = refusals(url, {} if "@" in url else HEADERS)
    assert ours == session
    assert ours[0] in ("ModelError", "TransientError")


@pytest.mark.parametrize("header", ["a\r\nX: 1", "a\nb", "a\0b", "ä"])
def test_a_header_that_is_none_is_sent_by_nobody(header: str) -> None:
    session, ours = refusals("http://127.0.0.1:1/v1", {"Authorization": header})
    assert ours == session


def test_a_server_that_takes_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async def late(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(aiohttp.TCPConnector, "_create_connection", late)
    session, ours = refusals("http://127.0.0.1:1/v1")
    assert ours == session
    assert "Connection timeout to host" in str(ours[1])

    async def never(*_: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(aiohttp.TCPConnector, "_create_connection", never)
    session, ours = refusals("http://127.0.0.1:1/v1")
    assert "did not answer within" in str(session[1])
    assert "Connection timeout to host" in str(ours[1])  # so that it is not counted as paid


def test_who_was_long_in_connecting_is_not_waited_for_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A request that is asked first and sent last ends first."""
    connect, ended = aiohttp.TCPConnector._create_connection, list[str]()

    async def slow_at_first(*given: Any) -> Any:
        monkeypatch.setattr(aiohttp.TCPConnector, "_create_connection", connect)
        await asyncio.sleep(TIMEOUT_S * 0.8)
        return await connect(*given)

    async def ask(made: Connection, name: str) -> None:
        with pytest.raises(TransientError, match="did not answer within"):
            await made.send(f"{made.base}/{name}", HEADERS, BODY)
        ended.append(name)

    async def main() -> None:
        async with Server((Turn(()), Turn(()))) as url:
            made = Connection("openai:m", url, key=KEY, timeout=TIMEOUT_S)
            await made.open()
            first = asyncio.ensure_future(ask(made, "slow"))
            await asyncio.sleep(TIMEOUT_S * 0.4)
            await asyncio.gather(first, ask(made, "quick"))
            await made.close()

    monkeypatch.setattr(aiohttp.TCPConnector, "_create_connection", slow_at_first)
    asyncio.run(main())
    assert ended == ["slow", "quick"]


# at a surprise the session


def test_a_request_that_is_cancelled_leaves_nothing_behind() -> None:
    async def main() -> tuple[int, bytes]:
        server = Server((Turn(()), Turn()))
        async with server as url:
            made = Connection("openai:m", url)
            await made.open()
            sending = asyncio.ensure_future(made.send(url, HEADERS, BODY))
            while not server.sent:
                await asyncio.sleep(0.001)
            sending.cancel()
            await asyncio.wait([sending])
            assert sending.cancelled()
            answer = await made.send(url, HEADERS, BODY)
            await made.close()
            return server.connections, answer.content

    assert asyncio.run(main()) == (2, b'{"a": 1}')


async def _posts(url: str) -> bool:
    """True if a connection posts by itself, after one request that has to be answered."""
    made = Connection("openai:m", url)
    await made.open()
    assert (await made.send(url, HEADERS, BODY)).content == b'{"a": 1}'
    await made.close()
    return made._posting is not None


def one_request() -> bool:
    async def main() -> bool:
        async with Server((Turn(),)) as url:
            return await _posts(url)

    return asyncio.run(main())


def test_this_version_of_aiohttp_is_known() -> None:
    """Where it fails after an update: run this file with it, and add it to KNOWN_VERSIONS."""
    assert one_request()


def test_an_unknown_version_or_another_build_is_left_to_the_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(aiohttp, "__version__", "3.99.0")
        assert not one_request()
    with monkeypatch.context() as patch:
        patch.delattr(aiohttp.client_reqrep, "ClientRequest")
        assert not one_request()
    with monkeypatch.context() as patch:
        patch.setattr(aiohttp.client_reqrep, "ClientRequest", lambda verb, url: None)
        assert not one_request()
    assert one_request()


def test_a_reply_is_received_into_no_more_room_than_it_is_kept_in() -> None:
    """Of itself asyncio makes room for 256 KiB whenever something comes."""

    async def main() -> list[int]:
        async with Server((Turn(),)) as url, aiohttp.ClientSession() as session:
            made = Posting.over(session, 1.0, 4.0)
            assert made is not None
            await made.send(url, HEADERS, b"{}", MOST_BYTES, Connection("openai:m", url)._content)
            kept = [one.protocol.transport for idle in made._idle.values() for one in idle]
            made.close()
            return [one.max_size for one in kept if isinstance(one, posting.Receiving)]

    assert asyncio.run(main()) == [posting.BUFFER_BYTES]


def test_few_addresses_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "MOST_ADDRESSES", 2)

    async def main() -> int:
        async with aiohttp.ClientSession() as session:
            made = Posting.over(session, 1.0, 4.0)
            assert made is not None
            for number in range(9):
                made._head(f"http://127.0.0.1/{number}", HEADERS)
            return len(made._heads)

    assert asyncio.run(main()) <= 2
