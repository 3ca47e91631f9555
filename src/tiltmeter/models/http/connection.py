"""The way to one server, once for all dialects: requests, and what statuses and lost connections
mean.

408, 409, 425, 429, 5xx, a lost or truncated reply may pass (TransientError); 401, 402, 403, 404, a
redirect, a page of HTML do not (ModelError). Keys never reach a message: they are cut out of
whatever a server says.

A reply may name a further address (where to look for a result, where a picture lies). Another host
than that of the base URL
is reached only at a public address, which is checked on the very address that is connected to: a
name that resolves to another one a moment later gains nothing.
"""

from __future__ import annotations

import errno
import ipaddress
import json
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeVar
from urllib.parse import urlsplit

from ...errors import MissingKey, ModelError, TiltmeterError, TransientError
from .body import Json, at

if TYPE_CHECKING:
    from aiohttp import AddrInfoType, ClientResponse, ClientSession

MAX_REPLY = 64 * 2**20  # bytes; more than any reply or picture that is meant
# seconds that an idle connection is kept: llama.cpp's server and uvicorn close theirs after 5
KEPT = 4.0
PASSING = {408, 409, 425, 429}
_NOT_PUBLIC = "is no public address"
_NAT64 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address in the last 32 bits
T = TypeVar("T")


class TooLong(ModelError):
    """A reply of more than MAX_REPLY."""


class Answer(NamedTuple):
    """What came back. `body` is its JSON, or None where it is none."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    body: Json


class Connection:
    """The address of a model, its key and its open sessions. name: `kind:name`, for messages;
    timeout in seconds.
    """

    def __init__(
        self, name: str, base: str, *, key: str = "", key_name: str = "", timeout: float = 120.0
    ) -> None:
        self.name, self.base, self.key, self.key_name = name, base.rstrip("/"), key, key_name
        self.timeout = timeout
        self._session: ClientSession | None = None
        self._public: ClientSession | None = None
        self._met = False

    async def open(self) -> None:
        """Makes the session, in the loop that asks."""
        self._session = self._new_session(None)

    async def close(self) -> None:
        """Closes what was opened."""
        for session in (self._session, self._public):
            if session is not None:
                await session.close()

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
                limit=0, ttl_dns_cache=300, keepalive_timeout=KEPT, socket_factory=factory
            ),
            timeout=aiohttp.ClientTimeout(total=self.timeout, sock_connect=min(20.0, self.timeout)),
            auto_decompress=True,
        )

    def own(self, url: str) -> bool:
        """Whether a URL is on the host of the base URL."""
        return urlsplit(url).hostname == urlsplit(self.base).hostname

    async def send(
        self, url: str, headers: Mapping[str, str], body: Mapping[str, Json] | None = None
    ) -> Answer:
        """Posts a body, or gets where there is none; redirects are not followed.

        Raises TransientError or ModelError where nothing whole comes back.
        """
        session = self.session
        if body is None and not self.own(url):
            session = self._public = self._public or self._new_session(public_socket)
        method, data = (
            ("GET", None)
            if body is None
            else ("POST", json.dumps(body, ensure_ascii=False).encode())
        )
        try:
            async with session.request(
                method, url, data=data, headers=headers, allow_redirects=False
            ) as response:
                content = await self._content(response)
                self._met = True
                return Answer(response.status, response.headers, content, _json(content))
        except (TimeoutError, self._aiohttp.ClientError, OSError) as error:
            raise self._lost(url, error) from None

    async def _content(self, response: ClientResponse) -> bytes:
        content = bytearray()
        async for chunk in response.content.iter_any():
            content += chunk
            if len(content) > MAX_REPLY:
                raise TooLong(
                    f"{self.name} sent more than {MAX_REPLY // 2**20} MiB for one reply. Check "
                    "--base-url."
                )
        return bytes(content)

    def _lost(self, url: str, error: Exception) -> TiltmeterError:
        """What a failed connection means. Before the first reply of all, an address that does not
        answer is a wrong one.
        """
        aiohttp = self._aiohttp
        said = self.clean(str(error)) or type(error).__name__
        if _NOT_PUBLIC in said:
            host = urlsplit(url).hostname
            return ModelError(
                f"{self.name} sent an address on {host}, which {_NOT_PUBLIC}: it is not asked. "
                "If that server is yours, name it with --base-url."
            )
        first = not self._met and self.own(url)
        if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
            return ModelError(
                f"'{self.base}' is not a URL. Type for instance: --base-url http://localhost:8000/v1"
            )
        if first and isinstance(
            error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError
        ):
            return ModelError(
                f"Nothing answers at {self.base} ({said}). Start the server, or mend --base-url."
            )
        if first and isinstance(error, aiohttp.ClientResponseError):
            return ModelError(f"{self.base} does not speak HTTP ({said}). Mend --base-url.")
        if isinstance(error, TimeoutError):
            return TransientError(f"{self.name} did not answer within {self.timeout:g} s")
        return TransientError(f"{self.name}: {said}")

    def parse_body(self, answer: Answer, parse: Callable[[Json], T]) -> T:
        """What a good status brought; ModelError where it is not what the dialect knows."""
        if answer.content.lstrip()[:1] == b"<":
            raise ModelError(
                f"{self.base} answers with a web page, not with an API. The base URL of most "
                "servers ends in /v1."
            )
        if answer.body is None:
            raise TransientError(
                f"{self.name} sent JSON that breaks off: {self.start(answer.content)}"
            )
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
                f"It said: {self.start(answer.content)}"
            ) from None

    def error_text(self, answer: Answer) -> str:
        """What an error says, in a line."""
        return self.clean(message(answer.body))[:300] or self.start(answer.content)

    def fail(self, answer: Answer, meant: int, wait: float | None) -> NoReturn:
        """Raises what an error status means. meant: the status as HTTP means it; wait: seconds,
        where said in the body.
        """
        status, said = answer.status, self.error_text(answer)
        if meant in (401, 403):
            how = f"Set {self.key_name} in the environment." if self.key_name else "Check the key."
            raise MissingKey(f"{self.name} refuses the key (HTTP {status}): {said} {how}")
        if meant == 402:
            raise ModelError(f"{self.name}: the account has no credit left (HTTP {status}): {said}")
        if meant in PASSING or meant >= 500:
            raise TransientError(
                f"{self.name} answered HTTP {status}: {said}",
                _retry_after(answer.headers) if wait is None else wait,
            )
        if meant == 404:
            kind = self.name.partition(":")[0]
            raise ModelError(
                f"{self.base} does not know this model or this path (HTTP 404): {said} Check the "
                f"name after '{kind}:' and --base-url (most end in /v1)."
            )
        if 300 <= status < 400:
            raise ModelError(
                f"{self.base} redirects (HTTP {status}); redirects are not followed, since they "
                "would carry the key along. Give the final address as --base-url."
            )
        raise ModelError(f"{self.name} refuses the request (HTTP {status}): {said}")

    def clean(self, text: str) -> str:
        """A text without the key."""
        return text.replace(self.key, "***") if self.key else text

    def start(self, content: bytes) -> str:
        """The beginning of a reply. It is cut after the key is taken out, so that no piece of the
        key is left.
        """
        return self.clean(content[:4096].decode("utf-8", "replace"))[:120].replace("\n", " ")


def public_socket(address: AddrInfoType) -> socket.socket:
    """A socket for an address that is about to be connected to. Raises OSError where that is not a
    public one.
    """
    family, kind, protocol, _, place = address
    if not public(str(place[0])):
        raise OSError(errno.EACCES, f"{place[0]} {_NOT_PUBLIC}")
    return socket.socket(family, kind, protocol)


def public(address: str) -> bool:
    """Whether an IP address is one of the internet: not loopback, private, link-local, reserved,
    nor such a one inside IPv6.
    """
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        inner = (
            ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
            if found in _NAT64
            else found.ipv4_mapped or found.sixtofour
        )
        if inner is not None:
            return public(str(inner))
    return found.is_global and not found.is_multicast


def message(body: Json) -> str:
    """What an error body says, in the shapes that servers use."""
    if not isinstance(body, dict):
        return ""
    error = body.get("error", body)
    if isinstance(error, dict):
        parts = [str(at(error, name) or "") for name in ("code", "type", "message", "detail")]
        return " ".join(dict.fromkeys(filter(None, parts)))
    return str(error)


def _json(content: bytes) -> Json:
    try:
        body: Json = json.loads(content)
        return body
    except (ValueError, RecursionError):
        return None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header in either of its two forms (RFC 9110, 10.2.3)."""
    value = headers.get("Retry-After", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
