"""The rows of an audit, in the order of making: Trial → Request → Reply → Output → Label →
Estimate.

All are immutable. A row that is stored has an id made from its content, so that the same row has
the same id on every machine and runs can be cut into shards and merged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from .estimates import CellClaim as CellClaim
from .estimates import Estimate as Estimate
from .estimates import NamedCell as NamedCell
from .estimates import NamedItem as NamedItem
from .estimates import Population as Population
from .estimates import Voice as Voice
from .json_text import json_writer, whole_text

__version__ = "0.2.0"  # of the tool; a part of every signature

# A value that JSON can hold. A mapping of these is an object, a sequence (no text) a list.
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

SUBJECT = "subject"  # the purpose of a call that generates; any other purpose is an annotator

# Outcomes of an output. An output that is not an answer has a value too, counted in every table.
ANSWER = "answer"
REFUSAL = "refusal"  # by the model or by the provider's policy: a result, not an error
ERROR = "error"  # a reply came and cannot be used
CUT = "cut"  # the limit of tokens came before the answer, or before an end that is needed

# Reasons for the end of a reply, beside REFUSAL and CUT (here: at a limit of tokens).
STOP = "stop"  # the model ended it, or a stop text came
FILTER = "filter"  # a content filter of the provider
TOOL = "tool"  # it called a tool, though none was offered
UNKNOWN = "unknown"  # the server does not say

# Values that a label can take beside a protocol's own: no answer is a value too.
BOTH = "both"
NEITHER = "neither"
INVALID = "invalid"
OTHER_LANGUAGE = "other_language"
UNRESOLVED = "unresolved"
UNSURE = "unsure"  # given by rules that can read an answer in two ways with different labels
NO_DECISION = "no_decision"  # too few votes of a panel
OTHER = "other"
OUTCOMES = (
    BOTH,
    NEITHER,
    REFUSAL,
    OTHER_LANGUAGE,
    OTHER,
    UNRESOLVED,
    NO_DECISION,
    INVALID,
    CUT,
    ERROR,
)

# Parts of the names of annotators and attributes.
HUMAN = "human:"  # begins an annotator that is a person
ADJUDICATED = " (adjudicated)"  # ends the annotator of a decision where people disagreed
CORRECTED = (
    " (corrected)"  # ends the annotator of a correction made in sight of the labels: not gold
)
VOTE = "_vote"  # ends the attribute of a panel's single votes


canonical = json_writer(",", ":", sort_keys=True)


def content_id(*parts: object) -> str:
    """Returns the `digest` of the canonical JSON of `parts`."""
    return digest(canonical(parts))


def digest(text: str) -> str:
    """Returns 32 hexadecimal digits (128 bits) of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def blob_name(content: bytes, suffix: str) -> str:
    """Names a file in a run's `blobs/`: 32 hexadecimal digits of its SHA-256, and a suffix."""
    return hashlib.sha256(content).hexdigest()[:32] + suffix


class Sampling(NamedTuple):
    """Sampling settings: sent, recorded and signed; a setting of None is left to the provider."""

    temperature: float | None = 1.0
    top_p: float | None = 1.0
    max_tokens: int = 256
    seed: int | None = None


DRAWN = Sampling()


class Message(NamedTuple):
    """One turn of a conversation; `pictures` are blob names in the run's folder."""

    role: str
    content: str
    pictures: tuple[str, ...] = ()


class Trial(NamedTuple):
    """One prompt and one sample number: the unit of generating and of resuming.

    context:  the system prompt and the turns before the prompt; pictures: blob names of the
              pictures shown with the prompt. Both follow from the protocol and the run's settings,
              and are not columns of the run's table.
    """

    id: str
    subject: str
    mode: str
    factors: Mapping[str, str]
    sample: int
    prompt: str
    begin: str
    sampling: Sampling
    context: tuple[Message, ...] = ()
    pictures: tuple[str, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole conversation that is sent to the subject."""
        return (*self.context, Message("user", self.prompt, self.pictures))


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model, independent of any provider's format.

    model:    `kind:name` of the model.
    begin:    the start of an answer that the model is to continue, or "".
    logprobs: alternatives with log-probabilities per position; 0 for none.
    schema:   a JSON Schema (as text) that the reply must follow, or "".
    purpose:  "subject" or the annotator's id.
    size:     WIDTHxHEIGHT in pixels of the wanted picture; "" asks for text.
    longest:  the most pixels of a shown picture's longer side; 0 shows pictures as they are.
    stop:     texts before which a reply ends; () for a model that accepts none.
    nonce:    tells two samples of the same prompt apart: `TRIAL/SAMPLE` for a subject, the output's
              id and a turn for a judge; `/TURN` for a judge at temperature 0, so that equal
              questions about several outputs are one call.
    """

    model: str
    messages: tuple[Message, ...]
    sampling: Sampling = DRAWN
    begin: str = ""
    logprobs: int = 0
    schema: str = ""
    purpose: str = SUBJECT
    nonce: str = ""
    size: str = ""
    longest: int = 0
    stop: tuple[str, ...] = ()
    # canonical JSON, stored with the reply
    text: str = field(init=False, repr=False, compare=False)
    # the id of the call: a request is paid for once
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        further = (self.size, self.longest, self.stop) if self.stop else (self.size, self.longest)
        text = canonical(
            (
                self.model,
                self.messages,
                self.sampling,
                self.begin,
                self.logprobs,
                self.schema,
                self.purpose,
                self.nonce,
                *(further if any(further) else ()),
            )
        )
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "key", digest(text))

    @property
    def shared(self) -> bool:
        """True if equal questions about other outputs share this request."""
        return self.nonce.startswith("/")


class Token(NamedTuple):
    """One alternative for one position: its bytes and its natural log-probability."""

    bytes: bytes
    logprob: float


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply, and its cost. Its texts have no lone surrogates, so any file can hold them.

    alternatives: per generated position, the tokens offered with their log-probabilities.
    usage:        (prompt tokens, completion tokens) by the server's count, or None.
    cost:         US dollars, or None if the price is unknown.
    omitted:      parameters left out as the model refuses them (`provider default`).
    revised:      the prompt as the provider rewrote it, if known.
    picture:      the bytes of the picture; the engine stores them and puts their name into `blob`.
    remote:       the provider's id of a job that was submitted and polled.
    server:       the number of the server that replied, from 1 in the order given; 0 if only one.
    ended:        the reason why it ended: STOP, CUT, FILTER, REFUSAL, TOOL or UNKNOWN.
    thought:      completion tokens spent on reasoning; None if the server does not say.
    """

    text: str
    outcome: str = ANSWER
    alternatives: tuple[tuple[Token, ...], ...] = ()
    served: str = ""
    fingerprint: str = ""
    usage: tuple[int, int] | None = None
    cost: float | None = None
    omitted: tuple[str, ...] = ()
    revised: str = ""
    picture: bytes = field(default=b"", repr=False)
    raw: str = ""
    blob: str = ""
    remote: str = ""
    server: int = 0
    ended: str = UNKNOWN
    thought: int | None = None

    def __post_init__(self) -> None:
        if (
            self.text.isascii()
            and self.raw.isascii()
            and self.served.isascii()
            and self.fingerprint.isascii()
            and self.revised.isascii()
            and self.remote.isascii()
        ):
            return
        for name in ("text", "served", "fingerprint", "revised", "raw", "remote"):
            object.__setattr__(self, name, whole_text(getattr(self, name)))

    def received(self, cost: float | None, omitted: tuple[str, ...], raw: str) -> Reply:
        """Returns the reply with these facts; three times as fast as `dataclasses.replace`."""
        return Reply(
            self.text,
            self.outcome,
            self.alternatives,
            self.served,
            self.fingerprint,
            self.usage,
            cost,
            omitted,
            self.revised,
            self.picture,
            raw,
            self.blob,
            self.remote,
            self.server,
            self.ended,
            self.thought,
        )


class Output(NamedTuple):
    """A subject's reply to a trial, with the trial's id. ended, thought: as in `Reply`."""

    trial: str
    outcome: str
    text: str
    call: str
    blob: str = ""
    ended: str = UNKNOWN
    thought: int | None = None


class Label(NamedTuple):
    """An annotator's value for one attribute of an output.

    position: 0, or the rank if an attribute has several values (ten picked words).
    weight:   1, or a probability if the value was read from log-probabilities, not sampled.
    """

    output: str
    annotator: str
    attribute: str
    value: str
    position: int = 0
    weight: float = 1.0


class LabelCall(NamedTuple):
    """A call from which an output's labels come. turn: from 1; several outputs may share a call."""

    output: str
    annotator: str
    turn: int
    call: str


# An instrument at work: it yields requests, is sent their replies, and returns labels.
Steps = Generator[Sequence[Request], Sequence[Reply], Sequence[Label]]


@dataclass(frozen=True, slots=True)
class Answered:
    """An output with the trial that asked for it, in the form that instruments label.

    exact:   True if the output was requested with log-probabilities, even if the reply has none.
    cell:    the row of the design behind the trial, with columns that are not factors (an input
             text).
    picture: the bytes of the output, for an instrument that reads pictures itself.
    told:    the text that judges see before the prompt: the system prompt if the protocol wants it.
    """

    trial: Trial
    output: Output
    reply: Reply
    exact: bool = False
    cell: Mapping[str, str] = field(default_factory=dict)
    picture: bytes = field(default=b"", repr=False)
    told: str = ""

    @property
    def task(self) -> str:
        """The subject's task as judges see it."""
        return f"{self.told}\n\n{self.trial.prompt}" if self.told else self.trial.prompt
