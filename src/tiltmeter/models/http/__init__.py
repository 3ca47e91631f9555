"""Models behind HTTP that reply at once. A `Dialect` builds requests and parses replies;
connection.py does the rest.

If a provider uses a status in a sense of its own, its dialect translates it (`status`). A parameter
that the model refuses is omitted from then on, and every reply says so (`omitted`).

A provider has one dialect for text and another for pictures (used if the request names a size), or
only one of them.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ...errors import Incapable, ModelError, TransientError
from ...records import ANSWER, Json, Reply, Request
from .. import DRAWN_TOKENS, PICTURE_TOKENS, Model, Price
from .answer import MAX_TEXT, Answer
from .body import at, count_at, has_key, message
from .connection import Connection
from .dialect import (
    CHAT,
    Describing,
    Dialect,
    HttpRequest,
    Reserving,
    Speech,
    Translating,
    left_out,
)
from .fetching import Link, fetch_picture, shorten
from .pictures import off_the_loop

__all__ = [
    "NO_LOGPROBS",
    "Dialect",
    "DialectConnection",
    "Got",
    "HttpModel",
    "HttpRequest",
    "Speech",
    "Translating",
    "status_by_message",
    "usage_if_possible",
]
NO_LOGPROBS = "gives no log-probabilities, which this mode reads. Type: --mode sampled"
NOT_SERVED = 404
_REFUSING = (400, 422, NOT_SERVED)  # statuses that may say which parameter is refused
ALWAYS_POSSIBLE = 1024  # tokens, that a server may say it used whatever it was sent
T = TypeVar("T")

if TYPE_CHECKING:
    from ..batch.format import BatchFormat


class Got(NamedTuple, Generic[T]):
    """A successful exchange: the request as sent, the answer, and what was parsed from it."""

    sent: HttpRequest
    answer: Answer
    found: T


class DialectConnection:
    """A dialect over a connection. omitted: parameters known to be refused; refusals add more."""

    def __init__(
        self, connection: Connection, dialect: Speech, omitted: Collection[str] = ()
    ) -> None:
        self._connection, self._dialect, self._omitted = connection, dialect, frozenset(omitted)

    @property
    def omitted(self) -> frozenset[str]:
        """The parameters that the model is known to refuse."""
        return self._omitted

    def build(self, request: Request, omitted: Collection[str] | None = None) -> HttpRequest:
        """Builds the request. omitted: parameters to omit, instead of all known to be refused."""
        return self._dialect.build(
            request, self._omitted if omitted is None else frozenset(omitted)
        )

    def sends(self, request: Request, name: str) -> bool:
        """True if the body of a request has a field of this name."""
        return has_key(self._dialect.build(request, self._omitted).body, name)

    async def send(self, request: Request, read: Callable[[Json], T]) -> Got[T] | Reply:
        """Sends a request, again without any parameter refused; returns a result or a refusal."""
        while True:
            for turn in request.messages:
                if turn.pictures:
                    build = partial(self._dialect.build, request, self._omitted)
                    wanted = await off_the_loop(build)
                    break
            else:
                wanted = self._dialect.build(request, self._omitted)
            answer = await self._connection.send(
                self._connection.base + wanted.path,
                wanted.headers,
                wanted.body,
                None if request.size else MAX_TEXT,
            )
            result = self.read(request, wanted, answer, read)
            if result is not None:
                return result

    def read(
        self, request: Request, wanted: HttpRequest, answer: Answer, read: Callable[[Json], T]
    ) -> Got[T] | Reply | None:
        """Interprets an answer; None if it refuses a parameter, which is omitted from now on."""
        if 200 <= answer.status < 300:
            try:
                return Got(wanted, answer, self._connection.parse_body(answer, read))
            except ModelError:
                answer = answer._replace(status=_inside(answer.body))
                if not answer.status:
                    raise
        refused = self._dialect.refused(request, answer.body)
        if refused is not None:
            return replace(refused, text=self._connection.clean(refused.text))
        parameter = self._dialect.unwelcome(answer.body) if answer.status in _REFUSING else ""
        if answer.status == NOT_SERVED and parameter != CHAT:
            parameter = ""
        omitted = self._omitted | {parameter}
        if not parameter or self._dialect.build(request, omitted) == wanted:
            kind, wait = self.translate_status(answer)
            reason = self._connection.error_text(answer)
            if request.logprobs and kind in (400, 422) and "logprob" in reason.lower():
                raise Incapable(f"{self._connection.name} {NO_LOGPROBS} It said: {reason}", reason)
            self._connection.fail(answer, kind, wait)
        self._omitted = omitted
        return None

    def translate_status(self, answer: Answer) -> tuple[int, float | None]:
        """Returns the status in HTTP's sense, and the seconds to wait if the body states them."""
        translated: tuple[int, float | None] = getattr(self._dialect, "status", status_by_message)(
            answer.status, answer.body
        )
        return translated


class HttpModel(Model):
    """A model behind HTTP, with its connection's name. dialect, drawing: for text and for pictures;
    one of them may be None. batches: the provider's batch format, or None; settle: called between
    opening the connection and the first request.
    """

    def __init__(
        self,
        connection: Connection,
        dialect: Dialect | None,
        *,
        drawing: Dialect | None = None,
        price: Price | None = None,
        parallel: int = 16,
        omitted: Collection[str] = (),
    ) -> None:
        self.name, self.price, self.parallel = connection.name, price, parallel
        self.connection = connection
        self.batches: BatchFormat | None = None
        self.settle: Callable[[], Awaitable[None]] | None = None
        both = {"text": dialect, "pictures": drawing}
        self._dialects = {made: used for made, used in both.items() if used is not None}
        self.makes = tuple(self._dialects)
        self._exchanges = {
            made: DialectConnection(connection, used, omitted)
            for made, used in self._dialects.items()
        }

    @property
    def switched_off(self) -> bool:
        """True if requests for text tell the model not to think."""
        return getattr(self._dialects.get("text"), "switched_off", False) is True

    def reserve_thought(self, tokens: int) -> None:
        """Increases the token limit of requests for text by `tokens`, for the model's thinking."""
        super().reserve_thought(tokens)
        writing: object = self._dialects.get("text")
        if isinstance(writing, Reserving):
            writing.reserve = tokens

    async def describe(self) -> dict[str, Json]:
        """Describes the server, if it is self-hosted, and the settings of requests to it."""
        writing: object = self._dialects.get("text")
        if not isinstance(writing, Describing):
            return {}
        described = await writing.describe(self.connection)
        refused = self._exchanges["text"].omitted
        facts: dict[str, Json] = {"reserve": self.reserve, "left_out": [*left_out(refused)]}
        return {**described, **facts} | ({"interface": "responses"} if CHAT in refused else {})

    def sends_temperature(self, request: Request) -> bool:
        """True for text; for a picture, True if the request's body has a temperature."""
        exchange = self._exchanges["pictures" if request.size else "text"]
        return not request.size or exchange.sends(request, "temperature")

    def allowed_rate(self, tokens: float) -> tuple[float, float] | None:
        """Returns the rate that the last reply's headers allow; None if they say nothing."""
        allowance = self.connection.allowance
        return allowance.rate(tokens, time.monotonic()) if allowance.is_known else None

    async def open(self) -> None:
        """Opens the connection, and runs `settle`."""
        await self.connection.open()
        if self.settle is not None:
            await self.settle()

    async def close(self) -> None:
        """Closes the connection."""
        await self.connection.close()

    async def ask(self, request: Request) -> Reply:
        """Returns a reply, with any picture. Raises Incapable if requested logprobs are missing."""
        exchange, read = self.exchange(request), partial(self._dialect(request).parse, request)
        return await self._finish(request, await exchange.send(request, read))

    def exchange(self, request: Request) -> DialectConnection:
        """Returns the connection to use for a request: the text or the picture dialect's."""
        return self._exchanges["pictures" if request.size else "text"]

    async def read_result(
        self, request: Request, answer: Answer, omitted: Collection[str]
    ) -> Reply:
        """Returns the reply in a batch's result, as `ask` would return it. omitted: parameters
        omitted at submission. Raises what `ask` raises; also TransientError if the model refuses a
        parameter, which is omitted from now on.
        """
        exchange, read = self.exchange(request), partial(self._dialect(request).parse, request)
        messages = tuple(each._replace(pictures=()) for each in request.messages)
        blind = replace(request, messages=messages)  # what was left out does not hang on pictures
        got = exchange.read(blind, exchange.build(blind, omitted), answer, read)
        if got is None:
            raise TransientError(f"{self.name} refuses a parameter, which is left out from now on")
        return await self._finish(request, got)

    def _dialect(self, request: Request) -> Dialect:
        return self._dialects["pictures" if request.size else "text"]

    async def _finish(self, request: Request, got: Got[Reply | Link] | Reply) -> Reply:
        """Returns the reply with its picture, its cost and the raw body."""
        if isinstance(got, Reply):
            return got
        if request.size:
            raw = self.connection.clean(shorten(got.answer.body))
        else:  # no key is in these bytes (Connection.without_key)
            raw = got.answer.content.decode("utf-8", "replace")
        reply = got.found
        if isinstance(reply, Link):
            reply = await fetch_picture(self.connection, reply, got.sent.headers)
        if request.logprobs and reply.outcome == ANSWER and not any(reply.alternatives):
            raise Incapable(f"{self.name} {NO_LOGPROBS}", raw, possibly_paid=True)
        cost = None if self.price is None else self.price.cost(request, reply)
        return reply.received(cost, got.sent.omitted, raw)


def usage_if_possible(
    prompt: int | None, completion: int | None, request: Request, reserve: int = 0
) -> tuple[int, int] | None:
    """Returns the (prompt, completion) tokens that a server reports; None if these numbers are
    impossible, so that the worst case counts instead.

    A prompt cannot have more tokens than bytes, plus the tokens that a provider adds (64 per turn,
    1,024 in all). reserve: tokens reserved for thinking, besides those for the answer.
    """
    if prompt is None or completion is None or prompt <= 0 or completion < 0:
        return None
    if prompt <= ALWAYS_POSSIBLE >= completion:
        return prompt, completion
    sent = ALWAYS_POSSIBLE + len(request.schema)
    for each in request.messages:
        sent += len(each.content.encode()) + 64 + PICTURE_TOKENS * len(each.pictures)
    most = 4 * (request.sampling.max_tokens + reserve) + ALWAYS_POSSIBLE
    most = DRAWN_TOKENS if request.size else most
    return None if prompt > sent or completion > most else (prompt, completion)


def _inside(body: Json) -> int:
    """Returns the status of an error inside the body of a success; 0 if there is none."""
    code = count_at(body, "error", "code")
    if not at(body, "error"):
        return 0
    return code if code is not None and 400 <= code < 600 else 500


def status_by_message(status: int, body: Json) -> tuple[int, None]:
    """Returns the status that an OpenAI-compatible server means: 402 if the account is empty, which
    it sends as 429 or 400.
    """
    text = message(body)
    return (402 if "insufficient_quota" in text or "billing" in text.lower() else status), None
