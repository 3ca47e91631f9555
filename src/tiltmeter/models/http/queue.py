"""Models to which work is submitted and fetched later: submits, polls and fetches for all such
providers.

Two things are stored about submitted work: the address to poll, so that a new process can go on
after a kill, and the parameters omitted at submission (after a `#`, which is never sent). A poll
has the key only if it goes to the host of the base URL or, over https, to a host of the provider's
own domain (api.bfl.ai names api.eu1.bfl.ai).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from ...errors import ModelError, Unanswered
from ...records import ERROR, Json, Reply, Request
from .. import Queued
from ..options import ModelOptions
from . import DialectConnection, Speech
from .answer import PASSING_STATUSES, Answer
from .fetching import Link, Unfetched, content, loss_reason, shorten, split
from .lost_receipts import ListsWork, LostReceipts, Submitted
from .provider import Place, Provider

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 5.0  # seconds between two looks
# times --timeout, until work that has not ended is left for the next run of the same command
PATIENCE_TIMEOUTS = 5
# looks in a row that find no such work, before it is believed: a cluster may not know it at once
LOOKS_UNTIL_LOST = 3


class Next(NamedTuple):
    """The address of the result of ended work."""

    url: str


class WorkMissing(NamedTuple):
    """The result of a poll for unknown work. reply: the outcome, if later polls agree."""

    reply: Reply


class QueueDialect(Speech, Protocol):
    """A provider's wire format for work that is submitted and polled."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of a poll."""

    def submitted(self, body: Json) -> str:
        """Returns the address to poll (a URL or a path). Raises ValueError without a receipt."""

    def look(self, request: Request, body: Json) -> Reply | Link | Next | None:
        """Parses the state of work; None until the work has ended. ValueError if malformed."""


class QueueModel(Queued):
    """A model of pictures behind a queue. parallel: the most tasks in progress at once."""

    makes = ("pictures",)

    def __init__(
        self,
        place: Place,
        dialect: QueueDialect,
        *,
        domain: str,
        timeout: float = 120.0,
        parallel: int = 16,
        omitted: Collection[str] = (),
    ) -> None:
        self.name, self.price, self.parallel = place.name, place.price, parallel
        self.connection = place.connection(timeout)
        self._dialect, self._exchange = (
            dialect,
            DialectConnection(self.connection, dialect, omitted),
        )
        self._receipts = (
            LostReceipts(self.connection, self._exchange, dialect)
            if isinstance(dialect, ListsWork)
            else None
        )
        self._domain = domain if _within(urlsplit(place.url).hostname, domain) else ""

    def sends_temperature(self, request: Request) -> bool:
        """True if the request's body has a temperature."""
        return self._exchange.sends(request, "temperature")

    async def open(self) -> None:
        """Opens the connection."""
        await self.connection.open()

    async def close(self) -> None:
        """Closes the connection."""
        await self.connection.close()

    async def submit(self, request: Request) -> str | Reply:
        """Submits the request; returns the work's address, # and omitted names, or a refusal."""
        receipts = self._receipts
        got = await (receipts.submit(request, self._submit) if receipts else self._submit(request))
        return got if isinstance(got, Reply) else f"{got.address}#{','.join(got.omitted)}"

    async def _submit(self, request: Request) -> Submitted | Reply:
        got = await self._exchange.send(request, self._dialect.submitted)
        if isinstance(got, Reply):
            return got
        return Submitted(self._address(got.found).partition("#")[0], got.sent.omitted)

    async def fetch(self, request: Request, remote: str) -> Reply:
        """Waits for the work at `remote` (from `submit`); returns its reply, with the picture."""
        url, _, left_out = remote.partition("#")
        reply = await self._wait_until_ended(request, self._address(url))
        return replace(reply, omitted=tuple(filter(None, left_out.split(","))))

    def _address(self, url: str) -> str:
        """Returns the complete address. Raises ModelError if the key may not be sent to it."""
        url = self.connection.base + url if url.startswith("/") else url
        try:
            parts = split(url)
        except Unfetched as problem:
            raise ModelError(f"{self.name} accepted the work, but {problem}") from None
        inside = self._domain and parts.scheme == "https" and _within(parts.hostname, self._domain)
        if not self.connection.own(url) and not inside:
            raise ModelError(
                f"{self.name} says that the result is on {parts.hostname}, which is somebody "
                "else's host: the key is not sent there. Check --base-url."
            )
        return url

    async def _wait_until_ended(self, request: Request, start: str) -> Reply:
        """Polls until the work has ended; fetches the picture. Polls again if its link expired."""
        until, wait, missing, again = (
            time.monotonic() + PATIENCE_TIMEOUTS * self.connection.timeout,
            FIRST_PAUSE_SECONDS,
            0,
            False,
        )
        url = start
        while True:
            answer = await self.connection.send(url, self._dialect.headers)
            look = self._read_look(request, answer)
            if isinstance(look, WorkMissing):
                missing += 1
                look = None if missing < LOOKS_UNTIL_LOST else look.reply
            if isinstance(look, Next):
                url, before, look = self._address(look.url), url, None
                if url != before:
                    continue
            if isinstance(look, Link):
                look, again = await self._picture_of(look, again), True
                url = start
            if look is not None:
                return replace(
                    look,
                    text=self.connection.clean(look.text),
                    raw=self.connection.clean(shorten(answer.body)),
                )
            if time.monotonic() > until:
                raise Unanswered(
                    f"{self.name} has not finished within "
                    f"{PATIENCE_TIMEOUTS * self.connection.timeout:g} s. Run the same command to "
                    "wait longer; the work is not submitted again."
                )
            await asyncio.sleep(wait)
            wait = min(LONGEST_PAUSE_SECONDS, wait * 1.5)

    async def _picture_of(self, link: Link, again: bool) -> Reply | None:
        """Returns the reply with its picture. If that is gone: an error if `again`, else None."""
        try:
            return replace(
                link.reply, picture=await content(self.connection, link.url, self._dialect.headers)
            )
        except Unfetched as problem:
            return replace(link.reply, outcome=ERROR, text=loss_reason(problem)) if again else None

    def _read_look(
        self, request: Request, answer: Answer
    ) -> Reply | Link | Next | WorkMissing | None:
        """Interprets a poll's answer. Missing or failed work is an outcome, not an error."""
        kind, pause = self._exchange.translate_status(answer)
        if 200 <= kind < 300:
            return self.connection.parse_body(answer, partial(self._dialect.look, request))
        refused = self._dialect.refused(request, answer.body)
        if refused is not None:
            return refused
        reason = self.connection.error_text(answer)
        if kind in (404, 410):
            return WorkMissing(Reply(f"the provider no longer knows this work: {reason}", ERROR))
        if kind in PASSING_STATUSES or kind >= 500 or kind in (401, 402, 403) or kind < 400:
            self.connection.fail(answer, kind, pause)
        return Reply(f"the work failed (HTTP {answer.status}): {reason}", ERROR)


def _within(host: str | None, domain: str) -> bool:
    return f".{host}".endswith(f".{domain}")


def queue_model(
    provider: Provider,
    name: str,
    options: ModelOptions,
    speak: Callable[[str, str], QueueDialect],
    most: int,
) -> QueueModel:
    """Makes a provider's model. speak: (name, key) → dialect; most: tasks accepted at once."""
    place = provider.place(name, options)
    return QueueModel(
        place,
        speak(name, place.key),
        domain=provider.domain,
        timeout=options.timeout,
        parallel=min(options.concurrency, most),
        omitted=options.omitted,
    )
