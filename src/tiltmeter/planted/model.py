"""`planted:SETTINGS`: a model with a tilt of known size, for tests, tutorials and checks of one's
own set-up.

It is given what any model is given, the request, and knows the class of a word by looking its
prompt up in the protocol. The same request (messages, begun answer, seed, nonce) gets the same
reply whatever the order and the concurrency; another nonce or seed is an independent draw. Settings
that concern delivery (faults, latency) do not change what is said.

The settings are listed in settings.py; `truth` and `mean_truth` in tilt.py say what an audit of it
should find. server.py puts the same model behind HTTP. In process a fault is the error that the
client would have made of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from .. import registry
from ..errors import Incapable, MissingKey, ModelError, TransientError
from ..models import FREE, Model, Price
from ..models.http import NO_LOGPROBS
from ..models.kinds import ModelKind
from ..models.options import DEFAULTS, ModelOptions, ReadBlob
from ..records import CUT, INVALID, STOP, Message, Reply, Request, Token
from .answers import PlantedText
from .capabilities import drawn_of, topics_of, words_of, written_of
from .dialogues import Dialogues, topic_truth
from .judge import Judge
from .lookup import asked_of, texts_of
from .pictures import Pictures, picture_truth
from .prose import Prose
from .rankings import PlantedRankings, ranked_by, ranking_truth
from .settings import FAULTS, SWITCHES, Settings, parse
from .speech import Known, finish_answer, know, next_token, pick, say
from .tilt import Tilt, mean_truth, truth, uniforms
from .words import Words, picks_truth, ratio_truth

__all__ = [
    "Planted",
    "mean_truth",
    "picks_truth",
    "picture_truth",
    "planted",
    "ranking_truth",
    "ratio_truth",
    "topic_truth",
    "truth",
]
Identity = tuple[tuple[Message, ...], str, int | None, str]
_DELIVERY = {*FAULTS, *SWITCHES, "wait", "latency", "most", "refuses", "text"}
_BROKEN = {
    "html": "answers with a web page, not with an API",
    "notchat": "does not answer as a chat API should",
    "redirect": "redirects (HTTP 307)",
    "quota": "the account has no credit left (HTTP 429)",
}


class Planted(Model):
    """A model with a known tilt, in process. `timeout` is how many seconds a `hang` lasts here."""

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
        self.name, self.price, self.settings = f"planted:{settings.text}", price, settings
        self.tilt = spoken_by(settings)
        self._timeout, self.sees = timeout, not settings.blind
        # Of a protocol file the name and not the path, so that the draws are the same wherever it
        # lies.
        known = replace(settings, protocol=self.tilt.protocol.name)
        self._mark = repr(
            [(f.name, getattr(known, f.name)) for f in fields(known) if f.name not in _DELIVERY]
        )
        self._judge = Judge(settings, self.tilt if isinstance(self.tilt, Tilt) else None, see)
        self._met: dict[str, Known] = {}
        self._attempts: dict[Identity, int] = {}

    async def ask(self, request: Request) -> Reply:
        """The planted reply, after its latency; raises this attempt's fault where it has one."""
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
        for name, said in _BROKEN.items():
            if getattr(settings, name):
                raise ModelError(f"{self.name} {said}, as it was told to. Leave out {name}=1.")
        if fault:
            wait = settings.wait if fault == "limit" else None
            raise TransientError(f"{self.name}: {FAULTS[fault]}, as it was told to", wait)

    def latency(self, request: Request) -> float:
        """Seconds, uniform between half and one and a half times the setting, so that replies
        overtake each other.
        """
        if not self.settings.latency:
            return 0.0
        (uniform,) = uniforms(self.settings.seed, "latency", _identity(request), number=1)
        return self.settings.latency * (0.5 + uniform)

    def fault(self, request: Request) -> str:
        """The fault of this attempt at a request, or "". Counts attempts; forgets them when one
        gets through.
        """
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
        """What is said to a request: pure."""
        draws = uniforms(self._mark, _identity(request))
        if request.size:
            return self._picture(request, draws)
        text = self._judge.reply(request, draws)
        alternatives: tuple[Token, ...] = ()
        if text is None and isinstance(self.tilt, PlantedText):
            text = self.tilt.write(self._cell(request), draws)
        elif text is None:
            if isinstance(self.tilt, Pictures):
                raise Incapable(
                    f"{self.name} draws pictures of {self.settings.protocol}, and was asked for "
                    "text."
                )
            known = self._meaning_of(request)
            if request.logprobs:
                text, alternatives = next_token(
                    self.settings, known, request.begin, request.logprobs, draws[0]
                )
            else:
                text = self._draw(known, request, draws)
        for mark in request.stop:
            text = text.partition(mark)[0]
        words, ended = text.split(" "), STOP
        if len(words) > request.sampling.max_tokens:
            text, ended = " ".join(words[: request.sampling.max_tokens]), CUT
        places = (alternatives,) if alternatives and not self.settings.nologprobs else ()
        return Reply(
            text,
            alternatives=places,
            served="planted",
            fingerprint=f"tilt-{self.settings.seed}",
            usage=None if self.settings.lie else usage(request, text),
            omitted=self.settings.refuses,
            ended=ended,
        )

    def _picture(self, request: Request, draws: Sequence[float]) -> Reply:
        if not isinstance(self.tilt, Pictures):
            raise Incapable(
                f"{self.name} writes and does not draw. Add for instance protocol=gramvis."
            )
        reply = self.tilt.reply(self._cell(request), request.size, draws)
        return replace(
            reply,
            served="planted",
            fingerprint=f"tilt-{self.settings.seed}",
            omitted=self.settings.refuses,
        )

    def _cell(self, request: Request) -> Mapping[str, str]:
        """The cell of a prompt, which must be the protocol's."""
        for words in texts_of(request, bool(self.tilt.protocol.pictures)):
            if words in self.tilt.cells:
                return self.tilt.cells[words]
        raise self._unknown(request)

    def _unknown(self, request: Request) -> ModelError:
        prompt = asked_of(request)
        return ModelError(
            f"{self.name} does not know the prompt '{prompt[:60]}…': it is none of "
            f"{self.settings.protocol}. Add for instance protocol=roles or protocol=FILE.toml."
        )

    def _meaning_of(self, request: Request) -> Known:
        """What the prompt of a request means. A prompt that is not the protocol's is an item of its
        own.
        """
        assert isinstance(self.tilt, Tilt)
        for words in texts_of(request, bool(self.tilt.protocol.pictures)):
            known = self._met.get(words)
            if known is None and words in self.tilt.cells:
                known = know(self.tilt, self.tilt.cells[words], asked_of(request))
                self._met[words] = known
            if known is not None:
                return known
        prompt = asked_of(request)
        if self.settings.levels or self.settings.planted or self.settings.order:
            raise self._unknown(request)
        return know(self.tilt, {self.tilt.protocol.item: prompt}, prompt)

    def _draw(self, known: Known, request: Request, draws: Sequence[float]) -> str:
        """A drawn answer: the outcome by the first number, its words by the second."""
        outcome = pick(known.outcomes, draws[0], INVALID)
        if request.begin and outcome in known.forms:
            return finish_answer(request.begin, known.forms[outcome])
        return say(self.settings, known, outcome, draws[1])


def spoken_by(settings: Settings) -> Tilt | PlantedText | Pictures:
    """What the model is asked for: a choice, picks from a list, dialogues, pictures, prose, or
    rankings.
    """
    protocol = registry.protocol(settings.protocol)
    if ranked_by(protocol) is not None:
        return PlantedRankings(settings)
    if drawn_of(protocol):
        return Pictures(settings)
    if written_of(protocol) is not None:
        return Prose(settings)
    return (
        Words(settings)
        if words_of(protocol)
        else Dialogues(settings)
        if topics_of(protocol)
        else Tilt(settings)
    )


def _identity(request: Request) -> Identity:
    """What makes two requests the same draw."""
    return (request.messages, request.begin, request.sampling.seed, request.nonce)


def usage(request: Request, text: str) -> tuple[int, int]:
    """Tokens as a plausible server would count them: one for every four bytes."""
    size = sum(len(message.content.encode()) for message in request.messages) + len(request.begin)
    return size // 4 + 1, min(request.sampling.max_tokens, len(text.encode()) // 4 + 1)


def planted(settings: str, options: ModelOptions = DEFAULTS) -> Planted:
    """`planted:SETTINGS`; without settings every word is chosen equally often."""
    price = FREE if options.price is None else options.price
    return Planted(parse(settings), price, options.timeout, options.read)


KIND = ModelKind(
    "planted", "planted:SETTINGS, a model with a tilt of known size", planted, price=FREE
)
