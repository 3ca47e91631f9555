"""HTTP, once for all providers: a thin client over aiohttp. A `Dialect` says what is sent and what came back.

What a status means is the same everywhere: 408, 409, 425, 429, 5xx, a lost or truncated reply may pass (TransientError);
401, 402, 403, 404, a redirect, a page of HTML do not (ModelError). A provider that uses another status for one of these
is translated by its dialect (`status`). A parameter that the model refuses is left out from then on, and every reply
says so (`omitted`). Keys never reach a message: they are cut out of whatever a server says.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn, Protocol

from ..errors import Incapable, MissingKey, ModelError, TiltmeterError, TransientError
from ..records import ANSWER, Reply, Request
from . import DRAWN_TOKENS, PICTURE_TOKENS, Model, Price

MAX_REPLY = 64 * 2**20  # bytes; more than any reply that is meant
NO_LOGPROBS = "gives no log-probabilities, which this mode reads. Type: --mode sampled"
KEPT = 4.0  # seconds that an idle connection is kept: llama.cpp's server and uvicorn close theirs after 5
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


class Translating(Dialect, Protocol):
    """A dialect whose provider uses statuses in a sense of its own."""

    def status(self, status: int, body: Any) -> tuple[int, float | None]:
        """The status as HTTP means it (401 wrong key, 402 no credit, 429 too fast), and seconds to wait where said."""


class HttpModel(Model):
    """A model behind HTTP."""

    def __init__(self, name: str, dialect: Dialect, base_url: str, *, key: str = "", key_name: str = "",
                 price: Price | None = None, timeout: float = 120.0, parallel: int = 16, continues: bool = False,
                 omitted: Collection[str] = ()) -> None:  # fmt: skip
        self.name, self.price, self.parallel, self.continues = name, price, parallel, continues
        self._dialect, self._base, self._timeout = dialect, base_url.rstrip("/"), timeout
        self._key, self._key_name = key, key_name
        self._omitted = frozenset(omitted)  # what the model is known to refuse, then what it refused
        self._met = False
        self._session: Any = None

    @property
    def base_url(self) -> str:
        return self._base

    async def open(self) -> None:
        import aiohttp

        self._aiohttp = aiohttp
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, keepalive_timeout=KEPT),
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
                raw = self._clean(content.decode("utf-8", "replace"))
                return replace(self._read(request, content), omitted=wanted.omitted, raw=raw)
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
        said = self._clean(message(body))[:300] or self._start(content)
        meant, wait = getattr(self._dialect, "status", as_said)(status, body)  # a dialect need not have it
        if request.logprobs and meant in (400, 422) and "logprob" in said.lower():
            raise Incapable(f"{self.name} {NO_LOGPROBS} It said: {said}")
        if meant in (401, 403):
            how = f"Set {self._key_name} in the environment." if self._key_name else "Check the key."
            raise MissingKey(f"{self.name} refuses the key (HTTP {status}): {said} {how}")
        if meant == 402:
            raise ModelError(f"{self.name}: the account has no credit left (HTTP {status}): {said}")
        if meant in _PASSING or meant >= 500:
            raise TransientError(
                f"{self.name} answered HTTP {status}: {said}", _retry_after(headers) if wait is None else wait
            )
        if meant == 404:
            kind = self.name.partition(":")[0]
            raise ModelError(
                f"{self._base} does not know this model or this path (HTTP 404): {said} Check the name "
                f"after '{kind}:' and --base-url (most end in /v1)."
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


def believed(prompt: Any, completion: Any, request: Request) -> tuple[int, int] | None:
    """What a server says it used, or None where that cannot be: then the worst case is counted.

    A token is at least one byte of the prompt, beside what a provider adds of its own (64 a turn, 1,024 in all).
    """
    if not isinstance(prompt, int) or not isinstance(completion, int) or prompt <= 0 or completion < 0:
        return None
    shown = PICTURE_TOKENS * sum(len(each.pictures) for each in request.messages)
    sent = sum(len(each.content.encode()) + 64 for each in request.messages) + len(request.schema) + 1024 + shown
    most = DRAWN_TOKENS if request.size else 4 * request.sampling.max_tokens + 1024
    return None if prompt > sent or completion > most else (prompt, completion)


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def as_said(status: int, body: Any) -> tuple[int, None]:
    """What OpenAI and those who follow it mean: an empty account answers 429, as a client that is too fast does."""
    said = message(body)
    return (402 if "insufficient_quota" in said or "billing" in said.lower() else status), None


def message(body: Any) -> str:
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
