"""`planted:SETTINGS`: a model with a tilt of known size, for tests, tutorials and checks of one's
own installation.

It gets the same requests as any model, and finds the design's cell by looking the prompt up in the
protocol. Equal requests (messages, start of the answer, seed, nonce) get equal replies, whatever
the order and the concurrency; another nonce or seed is an independent sample. Settings of delivery
(faults, latency) do not change the text.

The settings are listed in settings.py; `truths` in subjects.py gives the numbers that an audit
should estimate. server.py serves the same model over HTTP. In process, a fault raises the error
that the HTTP client would raise.
"""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from typing import Any

from ..errors import Incapable, MissingKey, ModelError, TransientError
from ..models import FREE, Model, Price
from ..models.http import NO_LOGPROBS
from ..models.kinds import ModelKind
from ..models.options import DEFAULTS, ModelOptions, ReadBlob
from ..records import CUT, STOP, Message, Reply, Request
from .settings import FAULTS, SWITCHES, Settings
from .tilt import uniforms

Identity = tuple[tuple[Message, ...], str, int | None, str]
_DELIVERY = {*FAULTS, *SWITCHES, "wait", "latency", "most", "refuses", "text"}
_BROKEN = {
    "html": "answers with a web page, not with an API",
    "notchat": "does not answer as a chat API should",
    "redirect": "redirects (HTTP 307)",
    "quota": "the account has no credit left (HTTP 429)",
}


class Planted(Model):
    """A model with a known tilt, in process. timeout: seconds that the fault `hang` takes."""

    continues = True
    parallel = 1000
    makes = ("text", "pictures")

    def __init__(
        self,
        settings: Settings,
        price: Price = FREE,
        timeout: float = 120.0,
        see: ReadBlob | None = None,
    ) -> None:
        from .judge import PlantedJudge  # with half of the instruments, which `ls` does not pay for
        from .subjects import spoken_by

        self.name, self.price, self.settings = f"planted:{settings.text}", price, settings
        self.subject = spoken_by(settings)
        self._timeout, self.sees = timeout, not settings.blind
        # Of a protocol file the name and not the path, so that the draws are the same wherever it
        # lies.
        resolved = replace(settings, protocol=self.subject.protocol.name)
        self._mark = repr(
            [
                (f.name, getattr(resolved, f.name))
                for f in fields(resolved)
                if f.name not in _DELIVERY
            ]
        )
        self._judge = PlantedJudge(settings, self.subject, see)
        self._attempts: dict[Identity, int] = {}

    async def ask(self, request: Request) -> Reply:
        """Returns the planted reply after its latency, or raises the attempt's fault."""
        await asyncio.sleep(self.latency(request))
        fault = self.fault(request)
        if fault == "hang":
            await asyncio.sleep(self._timeout)
        self._raise(fault)
        if request.logprobs and self.settings.nologprobs:
            raise Incapable(f"{self.name} {NO_LOGPROBS}")
        return self.reply(request)

    def _raise(self, fault: str) -> None:
        settings = self.settings
        if settings.unauthorised:
            raise MissingKey(
                f"{self.name} refuses the key (HTTP 401), as it was told to. Leave out "
                "unauthorised=1."
            )
        for name, message in _BROKEN.items():
            if getattr(settings, name):
                raise ModelError(f"{self.name} {message}, as it was told to. Leave out {name}=1.")
        if fault:
            wait = settings.wait if fault == "limit" else None
            raise TransientError(f"{self.name}: {FAULTS[fault]}, as it was told to", wait)

    def latency(self, request: Request) -> float:
        """Samples a latency in seconds, 0.5 to 1.5 × the setting, so that replies change order."""
        if not self.settings.latency:
            return 0.0
        (uniform,) = uniforms(self.settings.seed, "latency", _identity(request), number=1)
        return self.settings.latency * (0.5 + uniform)

    def fault(self, request: Request) -> str:
        """Samples this attempt's fault, or ""; counts a request's attempts until it succeeds."""
        if not self.settings.faulty:
            return ""
        identity = _identity(request)
        attempt = self._attempts.get(identity, 0)
        (uniform,) = uniforms(self.settings.seed, "fault", identity, attempt, number=1)
        for name in FAULTS:
            uniform -= getattr(self.settings, name)
            if uniform < 0:
                self._attempts[identity] = attempt + 1
                return name
        self._attempts.pop(identity, None)
        return ""

    def reply(self, request: Request) -> Reply:
        """Returns the reply to a request; pure."""
        draws = uniforms(self._mark, _identity(request))
        judged = None if request.size else self._judge.reply(request, draws)
        answer = self.subject.reply(request, draws) if judged is None else Reply(judged)
        sent = {} if request.size else self._as_sent(answer, request)
        return replace(
            answer,
            served="planted",
            fingerprint=f"tilt-{self.settings.seed}",
            omitted=self.settings.refuses,
            **sent,
        )

    def _as_sent(self, reply: Reply, request: Request) -> dict[str, Any]:
        """Returns a reply's fields as a server sends them: cut at a stop or limit, with usage."""
        text, ended = reply.text, STOP
        for mark in request.stop:
            text = text.partition(mark)[0]
        words = text.split(" ")
        if len(words) > request.sampling.max_tokens:
            text, ended = " ".join(words[: request.sampling.max_tokens]), CUT
        return {
            "text": text,
            "ended": ended,
            "alternatives": () if self.settings.nologprobs else reply.alternatives,
            "usage": None if self.settings.lie else usage(request, text),
        }


def _identity(request: Request) -> Identity:
    """Returns the key of a request's random numbers: equal keys give equal replies."""
    return (request.messages, request.begin, request.sampling.seed, request.nonce)


def usage(request: Request, text: str) -> tuple[int, int]:
    """Estimates the numbers of prompt and completion tokens: one per four bytes."""
    size = sum(len(message.content.encode()) for message in request.messages) + len(request.begin)
    return size // 4 + 1, min(request.sampling.max_tokens, len(text.encode()) // 4 + 1)


def planted(settings: str, options: ModelOptions = DEFAULTS) -> Planted:
    """Makes the model `planted:SETTINGS`; without settings it chooses all words equally often."""
    from .subjects import parse

    price = FREE if options.price is None else options.price
    return Planted(parse(settings), price, options.timeout, options.read)


KIND = ModelKind(
    "planted", "planted:SETTINGS, a model with a tilt of known size", planted, price=FREE
)
