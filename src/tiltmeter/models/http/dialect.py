"""The interface of a provider's dialect: it builds requests, and interprets replies and errors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from ...records import Json, Reply, Request
from .connection import Connection
from .fetching import Link

# What is "left out" of a model that is served at another path of its provider: the dialect then
# builds a request in that path's format, and nothing that was asked for is missing.
CHAT = "chat"
# Nothing is missing either if the limit goes by another name; log-probabilities are never left out.
_AS_ASKED = {CHAT, "max_tokens", "logprobs"}
_AS_SENT: Mapping[str, str] = {}


def left_out(omitted: Collection[str]) -> list[str]:
    """Lists, in order, the endpoint's parameters that the model is known to refuse."""
    return sorted(set(omitted) - _AS_ASKED)


def json_headers(header: str, key: str, before: str = "") -> dict[str, str]:
    """Returns the headers of a JSON body. The key, if any, follows the word `before`."""
    return {"Content-Type": "application/json"} | ({header: f"{before}{key}"} if key else {})


def part(
    wanted: Mapping[str, Json], omitted: Collection[str], names: Mapping[str, str] = _AS_SENT
) -> tuple[dict[str, Json], list[str]]:
    """Splits wanted parameters into parameters to send and the names of the omitted parameters;
    drops None values. names: {parameter: its name in `omitted`}, if the two differ.
    """
    sent: dict[str, Json] = {name: value for name, value in wanted.items() if value is not None}
    omitted_names = [name for name in sent if names.get(name, name) in omitted] if omitted else []
    for name in omitted_names:
        del sent[name]
    return sent, [names.get(name, name) for name in omitted_names]


class HttpRequest(NamedTuple):
    """A request as sent. omitted: parameters not sent, as the model refuses them."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Json]
    omitted: tuple[str, ...] = ()


class Speech(Protocol):
    """The common interface of dialects: builds requests and interprets errors."""

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds the request without the parameters in `omitted`."""

    def refused(self, request: Request, body: Json) -> Reply | None:
        """Returns a reply if an error is a policy refusal, which counts as a result; else None."""

    def unwelcome(self, body: Json) -> str:
        """Returns the parameter that an error 400 names and that can be omitted, or ""."""


class Dialect(Speech, Protocol):
    """A provider's wire format, for replies that come at once."""

    def parse(self, request: Request, body: Json) -> Reply | Link:
        """Parses a 200's body into a reply or a link to the picture. ValueError if malformed."""


@runtime_checkable
class Reserving(Protocol):
    """A dialect that reserves extra tokens for the model's thinking."""

    reserve: int


@runtime_checkable
class Describing(Protocol):
    """A dialect that can ask a server for its description."""

    async def describe(self, connection: Connection) -> dict[str, Json]:
        """Describes the server in its own words."""


class Translating(Speech, Protocol):
    """A dialect whose provider uses statuses in senses of its own."""

    def status(self, status: int, body: Json) -> tuple[int, float | None]:
        """Returns the status in HTTP's sense (401, 402, 429, …), and the seconds to wait."""
