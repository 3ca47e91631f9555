"""The rows that flow: Trial → Request → Reply → Output → Label → Estimate.

All are immutable. A row that is stored has an id made from its content, so that the same row has
the same id on every machine and runs can be cut into shards and merged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypeAlias, TypedDict

from .json_text import json_writer, whole_text

__version__ = "0.2.0"  # of the tool; a part of every signature

# A value that JSON can hold. A mapping of these is an object, a sequence (no text) a list.
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

SUBJECT = "subject"  # the purpose of a call that generates; any other purpose is an annotator

# Outcomes of an output. What is not an answer is a value, counted in every table.
ANSWER = "answer"
REFUSAL = "refusal"  # by the model or by the provider's policy: a result, not an error
ERROR = "error"  # the call was answered and cannot be used
CUT = "cut"  # the limit came before the answer, or before its end where the end is needed

# Why a reply ended, beside REFUSAL and CUT (there: at a limit of tokens).
STOP = "stop"  # the model ended it, or a mark that was asked for
FILTER = "filter"  # a filter of the provider's
TOOL = "tool"  # a call of a tool, which nobody offered
UNKNOWN = "unknown"  # nobody says

# Values that a label can take beside a protocol's own. STYLE: no answer is a value.
BOTH = "both"
NEITHER = "neither"
INVALID = "invalid"
OTHER_LANGUAGE = "other_language"
UNRESOLVED = "unresolved"
UNSURE = "unsure"  # by rules that read an answer in ways whose labels differ
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

# How labels are named: who said it, and of what.
HUMAN = "human:"  # begins an annotator that is a person
ADJUDICATED = " (adjudicated)"  # ends the annotator of a decision where people disagreed
CORRECTED = " (corrected)"  # ends the annotator of a correction in sight of the labels: no gold
VOTE = "_vote"  # ends the attribute of a panel's single votes


canonical = json_writer(",", ":", sort_keys=True)


def content_id(*parts: object) -> str:
    """`digest` of the canonical JSON of `parts`."""
    return digest(canonical(parts))


def digest(text: str) -> str:
    """32 hexadecimal digits (128 bits) of SHA-256 over a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def blob_name(content: bytes, suffix: str) -> str:
    """Returns the name of a file in a run's `blobs/`: 32 hexadecimal digits of its SHA-256, and its
    suffix with the dot.
    """
    return hashlib.sha256(content).hexdigest()[:32] + suffix


class Sampling(NamedTuple):
    """The sampling settings of a reply. Sent in full, recorded, and part of the signature; None is
    left to the provider.
    """

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
    """One prompt and one sample number: the unit that is generated once and resumed by.

    context:  the system prompt and the turns before the prompt; pictures: blob names of those that
              are shown with it. Both follow from the protocol and the run's settings, and are no
              columns of the run's table.
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
        """The whole conversation that the subject is asked to answer."""
        return (*self.context, Message("user", self.prompt, self.pictures))


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model, in no provider's words.

    model:    `kind:name` of the model that is asked.
    begin:    a begun answer that the model is to continue, or "".
    logprobs: how many alternatives with log-probabilities for each position; 0 for none.
    schema:   a JSON Schema (as text) that the reply must follow, or "".
    purpose:  "subject" or the annotator's id.
    size:     WIDTHxHEIGHT in pixels of the picture that is asked for; "" asks for text.
    longest:  pixels that the longer side of a shown picture has at most; 0 shows them as they are.
    stop:     texts at which a reply ends, without them; none of them for a model that takes none.
    nonce:    what keeps two draws of the same prompt apart: `TRIAL/SAMPLE` for a subject, the
              output's id and a turn for a judge; `/TURN` for a judge who draws nothing, so that
              equal questions about several outputs are one call.
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
    # canonical JSON, stored beside the reply
    text: str = field(init=False, repr=False, compare=False)
    # id of the call: a request is paid for once
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
        """True if it names no output: equal questions about others are this request too."""
        return self.nonce.startswith("/")


class Token(NamedTuple):
    """One alternative for one position: its bytes and its natural log-probability."""

    bytes: bytes
    logprob: float


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply, and its cost. Its texts are whole: any file can hold them.

    alternatives: for each generated position the tokens offered with their log-probabilities.
    usage:        (prompt tokens, completion tokens) as the server said, or None.
    cost:         US dollars, or None where the price is unknown.
    omitted:      parameters that the model refuses and that were left out (`provider default`).
    revised:      the prompt as the provider rewrote it, where it says so.
    picture:      the bytes of the picture that came; the engine stores them and puts their name
                  into `blob`.
    remote:       the id under which the provider worked on it, where it was submitted and polled.
    server:       which of several servers sent it, from 1 as they were named; 0 where there is one.
    ended:        why it ended: STOP, CUT, FILTER, REFUSAL, TOOL or UNKNOWN.
    thought:      tokens of the completion that went into reasoning; None if nobody says.
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
        """The reply with what is known once it came. It is made for every call, and takes a third
        of what `dataclasses.replace` does.
        """
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
    """A subject's reply to a trial (an output's id is its trial's). ended, thought: as of the
    reply.
    """

    trial: str
    outcome: str
    text: str
    call: str
    blob: str = ""
    ended: str = UNKNOWN
    thought: int | None = None


class Label(NamedTuple):
    """An annotator's value for one attribute of an output.

    position: 0, or the rank where an attribute has several values (ten picked words).
    weight:   1, or a probability where the value was not drawn but read from log-probabilities.
    """

    output: str
    annotator: str
    attribute: str
    value: str
    position: int = 0
    weight: float = 1.0


class LabelCall(NamedTuple):
    """The call that an annotator's labels of an output rest on. turn: 1 for the first that was
    asked about it; several outputs may share a call.
    """

    output: str
    annotator: str
    turn: int
    call: str


# What an instrument is: it yields requests, is sent their replies, and returns labels.
Steps = Generator[Sequence[Request], Sequence[Reply], Sequence[Label]]


@dataclass(frozen=True, slots=True)
class Answered:
    """An output with the trial that asked for it, as an instrument sees it.

    exact: the output was asked for with log-probabilities, whether or not the reply has any.
    cell:  the row of the design that the trial comes from, with the columns that are no factors (an
           input text).
    picture: the bytes of the output, for an instrument that reads pictures itself.
    told:    what judges are shown before the prompt: the system prompt where the protocol says so.
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
        """The subject's task, as a judge is shown it."""
        return f"{self.told}\n\n{self.trial.prompt}" if self.told else self.trial.prompt


class Population(TypedDict):
    """Of which items and cue words an estimate speaks.

    items: "like these" or "these"; cue_words: "like these", "these" or "all" (the word itself is
    the cue). words: how many on each side, the baseline first; words_sd: how far those of one side
    differ among themselves, in the unit of the estimate (log for a ratio), None if each stands in
    one item; items_n: items. df and
    se: of the test for words like these; se_items: of that over items alone; se_within: if the same
    prompts were asked again, None if none was answered twice; p_these: of the
    narrower population (these words; with few items these items too), p_these_adjusted in its own
    family; p_like_these: for items and words like these.
    """

    items: str
    cue_words: str
    words: Sequence[int]
    words_sd: float | None
    items_n: int
    df: float | None
    se: float
    se_items: float
    se_within: float | None
    p_these: float | None
    p_these_adjusted: float | None
    p_like_these: float | None


class NamedCell(TypedDict):
    """One value of one attribute, whose share a claim of many cells names.

    object: None if it is over all of several objects. base: the level that it is held against; None
    if that is all other groups. share and base_share: the raw shares of n and base_n outputs with a
    value of the attribute. p_adjusted: over all cells of the claim, times the claims of the run.
    """

    attribute: str
    value: str
    object: str | None
    group: str
    base: str | None
    share: float
    n: float
    base_share: float
    base_n: float
    p_adjusted: float


class CellClaim(TypedDict):
    """The cells that a claim of many cells names: `Estimate.cells` and `Verdict.cells`.

    named: the strongest first, one per attribute; empty if the claim is not rejected, or if it is
    and no cell by itself is ("pictures differ; in which attribute cannot be said"). largest: the
    strongest cell as it was seen, whatever its p (None if nothing could be measured); it may not be
    told as a finding. follows: values that differ too, and no longer among the answers that are
    left without the named one ("the rest follows"). follows_from: the value that this claim
    follows from, if it is such. tested: how many cells. level: at which names are tested (α over
    the claims of the run). detectable_all, detectable_one: the rise of one value from .15 in one
    group, in all objects and in one, that is found in 80 % of runs.
    """

    named: Sequence[NamedCell]
    largest: NamedCell | None
    follows: Sequence[str]
    follows_from: str | None
    tested: int
    level: float
    detectable_all: float | None
    detectable_one: float | None


class NamedItem(TypedDict):
    """One item whose share differs from the others' together: in `Estimate.between_items` under
    "exceptions", the most surprising first, up to three; empty if none can be named.

    hits of n answers; others_share: the pooled share of the other items; p_adjusted: exact binomial
    against it, by Holm over the items of the claim.
    """

    item: str
    hits: float
    n: float
    others_share: float
    p_adjusted: float


class Voice(NamedTuple):
    """A row as the labels of some people alone correct it. who: their name, or "without NAME"."""

    who: str
    value: float | None
    low: float | None
    high: float | None
    p: float | None


STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))  # p below → how papers mark it


@dataclass(frozen=True, slots=True)
class Estimate:
    """The one row in which every audit ends. None where nothing could be measured, with a note that
    says why; never 0.

    value, low, high, null_low and null_high are in `unit`; p in [0, 1]; `detectable` is the
    smallest difference from the null value that this design would find with 80 % power; `family` is
    where p is adjusted, among `family_size` claims by `adjustment` (holm, benjamini-hochberg);
    `outcomes` counts labels (sums of weights).
    """

    protocol: str
    subject: str
    instrument: str
    measure: str
    condition: Mapping[str, str]
    contrast: Mapping[str, str] | None
    value: float | None
    unit: str
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    interval_method: str | None = None
    null_low: float | None = None
    null_high: float | None = None
    test: str | None = None
    p: float | None = None
    p_adjusted: float | None = None
    family: str | None = None
    family_size: int | None = None
    adjustment: str | None = None
    n: float = 0
    clusters: int | None = None
    detectable: float | None = None
    outcomes: Mapping[str, float] = field(default_factory=dict)
    correction: str = "none"
    variant: str = "default"
    note: str = ""
    signature: str = ""
    # the smallest difference found at a level (α over the family), until the family is known
    detect: Callable[[float], float | None] | None = field(default=None, repr=False, compare=False)
    # codes of the marks of its interval, which the note tells in words
    cautions: tuple[str, ...] = field(default=(), repr=False, compare=False)
    # of an interval by t: its standard error and degrees of freedom
    spread: tuple[float, float] | None = field(default=None, repr=False, compare=False)
    # tests whether its items differ more than chance lets them, until it is known which rows claim
    test_items: Callable[[], Mapping[str, Any] | None] | None = field(
        default=None, repr=False, compare=False
    )
    # what that found: p and p_adjusted among so many `claims`; of so many `items` how many lie
    # `above` and `below` no tilt, and if they differ which are `exceptions` (NamedItem)
    between_items: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    # of rows with cue words: which population they speak of
    population: Population | None = field(default=None, repr=False, compare=False)
    # of what compares two sides, both raw numbers: `level` and `baseline`; of a joint effect those
    # of each group (`masculine`) and of its controls (`masculine_en`) too
    sides: Mapping[str, float] | None = field(default=None, repr=False, compare=False)
    # of claims of many cells: which cells they name
    cells: CellClaim | None = field(default=None, repr=False, compare=False)
    # names its cells at a level, if it is rejected, until it is known over how many claims
    name_cells: Callable[[float, bool], CellClaim] | None = field(
        default=None, repr=False, compare=False
    )
    # of a row that several people's gold corrects: what it is by each of them alone
    voices: tuple[Voice, ...] = field(default=(), repr=False, compare=False)
    # of a claim that a run stops by: its look and round, of how many, and what became of it
    stopped: Mapping[str, int | str] | None = field(default=None, repr=False, compare=False)

    @property
    def key(self) -> tuple[object, ...]:
        """Tells the row from every other of its run."""
        where = tuple(self.condition.items()), tuple((self.contrast or {}).items())
        return (self.measure, self.subject, self.instrument, self.variant, *where)

    def without_value(self, measure: str) -> Estimate:
        """The row of another measure, with nothing measured or tested yet."""
        return replace(
            self,
            measure=measure,
            value=None,
            low=None,
            high=None,
            confidence=None,
            interval_method=None,
            test=None,
            p=None,
            family=None,
            detectable=None,
            detect=None,
            spread=None,
            test_items=None,
            between_items=None,
            population=None,
            sides=None,
            cells=None,
            name_cells=None,
            cautions=(),
        )

    @property
    def deciding_p(self) -> float | None:
        """The adjusted p, or p if it is not adjusted; None if no test was made."""
        return self.p if self.p_adjusted is None else self.p_adjusted

    @property
    def stars(self) -> str | None:
        """`***` below .001, `**` below .01, `*` below .05 of the deciding p; "" above, and None if
        no test was made.
        """
        p = self.deciding_p
        return None if p is None else next((text for bound, text in STARS if p < bound), "")

    @classmethod
    def columns(cls) -> list[str]:
        """The names of what is told, in the order of the table; stars after what they rest on."""
        names = [one.name for one in fields(cls) if one.repr]
        names.insert(names.index("adjustment") + 1, "stars")
        return names

    def as_dict(self) -> dict[str, Any]:
        """Plain values in the order of the table; `stopped` only of a claim that a run stops by."""
        told = {name: getattr(self, name) for name in self.columns()}
        return told if self.stopped is None else told | {"stopped": self.stopped}
