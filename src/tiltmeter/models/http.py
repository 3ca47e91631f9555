"""HTTP, once for all providers: a thin client over aiohttp. A `Dialect` says what is sent and what came back.

What a status means is the same everywhere: 408, 409, 425, 429, 5xx, a lost or truncated reply may pass (TransientError);
401, 403, 404, a redirect, a page of HTML do not (ModelError). A parameter that the model refuses is left out from then
on, and every reply says so (`omitted`). Keys never reach a message: they are cut out of whatever a server says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn, Protocol

from ..errors import Incapable, MissingKey, ModelError, TiltmeterError, TransientError
from ..records import ANSWER, Reply, Request
from . import Model, Price

MAX_REPLY = 64 * 2**20  # bytes; more than any reply that is meant
NO_LOGPROBS = "gives no log-probabilities, which this mode reads. Type: --mode sampled"
_PASSING = {408, 409, 425, 429}


class HttpRequest(NamedTuple):
    """What is sent. omitted: what the request asks for and the body leaves out, since the model refuses it."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    omitted: tuple[str, ...] = ()


class Dialect(Protocol):
    """A provider's wire format."""

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """What is sent, without the parameters in `omitted`."""

    def parse(self, request: Request, body: Any) -> Reply:
        """The reply in a 200; raises ValueError with a reason where the body is not one."""

    def refused(self, request: Request, body: Any) -> Reply | None:
        """The reply where an error status is a policy refusal, a result and not an error; else None."""

    def unwelcome(self, body: Any) -> str:
        """The parameter that an error 400 complains of and that can be left out, or ""."""


class HttpModel(Model):
    """A model behind HTTP."""

    def __init__(self, name: str, dialect: Dialect, base_url: str, *, key: str = "", key_name: str = "",
                 price: Price | None = None, timeout: float = 120.0, parallel: int = 16, continues: bool = False,
                 ) -> None:  # fmt: skip
        self.name, self.price, self.parallel, self.continues = name, price, parallel, continues
        self._dialect, self._base, self._timeout = dialect, base_url.rstrip("/"), timeout
        self._key, self._key_name = key, key_name
        self._omitted: frozenset[str] = frozenset()
        self._met = False
        self._session: Any = None

    async def open(self) -> None:
        import aiohttp

        self._aiohttp = aiohttp
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=min(20.0, self._timeout)),
            auto_decompress=True,
        )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def ask(self, request: Request) -> Reply:
        while True:
            wanted = self._dialect.build(request, self._omitted)
            status, headers, content = await self._post(wanted)
            if status == 200:
                reply = self._read(request, content)
                return replace(reply, omitted=wanted.omitted) if wanted.omitted else reply
            body = _json(content)
            refused = self._dialect.refused(request, body)
            if refused is not None:
                return replace(refused, text=self._clean(refused.text))
            parameter = self._dialect.unwelcome(body) if status in (400, 422) else ""
            omitted = self._omitted | {parameter}
            if not parameter or self._dialect.build(request, omitted) == wanted:
                self._fail(request, status, headers, body, content)
            self._omitted = omitted

    async def _post(self, wanted: HttpRequest) -> tuple[int, Mapping[str, str], bytes]:
        data = json.dumps(wanted.body, ensure_ascii=False).encode()
        try:
            async with self._session.post(
                self._base + wanted.path, data=data, headers=wanted.headers, allow_redirects=False
            ) as response:
                content = await self._content(response)
                self._met = True
                return response.status, response.headers, content
        except (TimeoutError, self._aiohttp.ClientError, OSError) as error:
            raise self._lost(error) from None

    async def _content(self, response: Any) -> bytes:
        content = bytearray()
        async for chunk in response.content.iter_any():
            content += chunk
            if len(content) > MAX_REPLY:
                raise ModelError(
                    f"{self.name} sent more than {MAX_REPLY // 2**20} MiB for one reply. Check --base-url."
                )
        return bytes(content)

    def _lost(self, error: Exception) -> TiltmeterError:
        """What a failed connection means. Before the first reply of all, an address that does not answer is a wrong one."""
        aiohttp = self._aiohttp
        said = self._clean(str(error)) or type(error).__name__
        if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
            return ModelError(f"'{self._base}' is not a URL. Type for instance: --base-url http://localhost:8000/v1")
        if not self._met and isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return ModelError(f"Nothing answers at {self._base} ({said}). Start the server, or mend --base-url.")
        if not self._met and isinstance(error, aiohttp.ClientResponseError):
            return ModelError(f"{self._base} does not speak HTTP ({said}). Mend --base-url.")
        if isinstance(error, TimeoutError):
            return TransientError(f"{self.name} did not answer within {self._timeout:g} s")
        return TransientError(f"{self.name}: {said}")

    def _read(self, request: Request, content: bytes) -> Reply:
        if content.lstrip()[:1] == b"<":
            raise ModelError(
                f"{self._base} answers with a web page, not with an API. The base URL of most servers ends in /v1."
            )
        body = _json(content)
        if body is None:
            raise TransientError(f"{self.name} sent JSON that breaks off: {self._start(content)}")
        try:
            reply = self._dialect.parse(request, body)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            problem = error if isinstance(error, ValueError) else f"unexpected shape ({type(error).__name__} {error})"
            raise ModelError(
                f"{self._base} does not answer as {self.name} should: {self._clean(str(problem))}. It said: "
                f"{self._start(content)}"
            ) from None
        if request.logprobs and reply.outcome == ANSWER and not any(reply.alternatives):
            raise Incapable(f"{self.name} {NO_LOGPROBS}")
        return reply

    def _fail(self, request: Request, status: int, headers: Mapping[str, str], body: Any, content: bytes) -> NoReturn:
        said = self._clean(_message(body))[:300] or self._start(content)
        if request.logprobs and status in (400, 422) and "logprob" in said:
            raise Incapable(f"{self.name} {NO_LOGPROBS} It said: {said}")
        if status in (401, 403):
            how = f"Set {self._key_name} in the environment." if self._key_name else "Check the key."
            raise MissingKey(f"{self.name} refuses the key (HTTP {status}): {said} {how}")
        if "insufficient_quota" in said or "billing" in said.lower():
            raise ModelError(f"{self.name}: the account has no credit left (HTTP {status}): {said}")
        if status in _PASSING or status >= 500:
            raise TransientError(f"{self.name} answered HTTP {status}: {said}", _retry_after(headers))
        if status == 404:
            raise ModelError(
                f"{self._base} does not know this model or this path (HTTP 404): {said} Check the name "
                "after 'openai:' and --base-url (most end in /v1)."
            )
        if 300 <= status < 400:
            raise ModelError(
                f"{self._base} redirects (HTTP {status}); redirects are not followed, since they would carry "
                "the key along. Give the final address as --base-url."
            )
        raise ModelError(f"{self.name} refuses the request (HTTP {status}): {said}")

    def _clean(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _start(self, content: bytes) -> str:
        """The beginning of a reply. It is cut after the key is taken out, so that no piece of the key is left."""
        return self._clean(content[:4096].decode("utf-8", "replace"))[:120].replace("\n", " ")


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _message(body: Any) -> str:
    """What an error body says, in the shapes that servers use."""
    if not isinstance(body, dict):
        return ""
    error = body.get("error", body)
    if isinstance(error, dict):
        parts = [str(error[name]) for name in ("code", "type", "message", "detail") if error.get(name)]
        return " ".join(dict.fromkeys(parts))
    return str(error)


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
