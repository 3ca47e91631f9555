"""Conversion between records and rows of a run's file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from ..records import (
    Message,
    Output,
    Reply,
    Request,
    Sampling,
    Token,
    Trial,
    canonical,
)

Value: TypeAlias = str | int | float | None  # of a column
REPLY_COLUMNS = (
    "text, outcome, alternatives, served, fingerprint, prompt_tokens, completion_tokens, cost,"
    " omitted, revised, raw, blob, ended, thought"
)
TRIAL_COLUMNS = "id, subject, mode, factors, sample, prompt, begin, sampling"
CALL_COLUMNS = (
    "key, purpose, model, request, remote_id, outcome, text, alternatives, blob, revised, raw,"
    " served, fingerprint, prompt_tokens, completion_tokens, cost, omitted, ended, thought, date"
)


SEED = re.compile(r"(0|[1-9][0-9]{0,17})\]").fullmatch  # at the end of `sampling`
OUTPUTS = ", ".join(f"o.{name}" for name in Output._fields[1:])  # columns beside the trial
INSERT_ARTEFACT = "INSERT OR REPLACE INTO artefacts (kind, name, content, date) VALUES (?,?,?,?)"


class StoredRequest(NamedTuple):
    """A request in the form of `Request.text`: a JSON array of these fields in this order.

    messages: [role, content, pictures] each; nonce: `TRIAL/SAMPLE` for a subject, `OUTPUT/TURN` for
    an annotator, or `/TURN` if outputs with the same question share the call.
    """

    model: str
    messages: Sequence[tuple[str, str, Sequence[str]]]
    sampling: Sequence[float | None]
    begin: str
    logprobs: int
    schema: str
    purpose: str
    nonce: str
    size: str = ""
    longest: int = 0
    stop: Sequence[str] = ()

    @classmethod
    def parse(cls, text: str) -> StoredRequest:
        """Parses `Request.text`, the column `request` of a call."""
        return cls(*json.loads(text))

    @property
    def about(self) -> str:
        """The trial or output that the call is about; "" if several outputs share the call."""
        return str(self.nonce).partition("/")[0]

    @property
    def turn(self) -> str:
        """The nonce's part after the trial or output: a sample number, or a judge's turn."""
        return str(self.nonce).partition("/")[2]


def request_of(text: str) -> Request:
    """Parses `Request.text` into a request."""
    stored = StoredRequest.parse(text)
    messages = tuple(Message(role, said, tuple(shown)) for role, said, shown in stored.messages)
    sampling = Sampling(*stored.sampling)  # type: ignore[arg-type]
    return Request(stored.model, messages, sampling, *stored[3:-1], stop=tuple(stored.stop))


def field_path(record: type[StoredRequest | Sampling], name: str) -> str:
    """Returns the path of a field in the JSON array of a record, for SQLite's json_extract."""
    return f"$[{record._fields.index(name)}]"


def trial_of(row: Sequence[Any]) -> Trial:
    """Makes a trial from its columns (TRIAL_COLUMNS)."""
    key, subject, mode, factors, sample, prompt, begin, sampling = row
    return Trial(key, subject, mode, levels(factors), sample, prompt, begin, _sampling(sampling))


def _sampling(text: str) -> Sampling:
    """Parses a trial's column `sampling`; trials share all of it but the seed at its end."""
    shared, _, seed = text.rpartition(",")
    if SEED(seed):
        return Sampling._make((*_read_shared(shared), int(seed[:-1])))
    return Sampling(*json.loads(text))


@lru_cache(maxsize=1000)
def _read_shared(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(f"{text}]"))


def trial_row(trial: Trial) -> tuple[Value | Sampling, ...]:
    """Returns the columns of a trial (TRIAL_COLUMNS)."""
    factors = _factors(tuple(trial.factors.items()))
    return (*trial[:3], factors, *trial[4:8])


@lru_cache(maxsize=20_000)
def _factors(levels_of: tuple[tuple[str, str], ...]) -> str:
    """Writes the column `factors` of a trial; cached, as many trials share one."""
    return canonical(dict(levels_of))


@lru_cache(maxsize=20_000)
def levels(factors: str) -> Mapping[str, str]:
    """Parses a trial's column `factors` into {factor: level}; cached, as many trials share one."""
    by_factor: dict[str, str] = json.loads(factors)
    return by_factor


def omitted_settings(text: str | None) -> tuple[str, ...]:
    """Parses the column `omitted` of a call: the settings that a provider refused."""
    return tuple(json.loads(text)) if text else ()


def reply_of(row: Sequence[Any]) -> Reply:
    """Makes a reply from the columns of a call (REPLY_COLUMNS)."""
    text, outcome, alternatives, served, fingerprint, prompt, completion, cost, *rest = row
    omitted, revised, raw, blob, ended, thought = rest
    return Reply(
        text,
        outcome,
        unpack(alternatives),
        served,
        fingerprint,
        None if prompt is None else (prompt, completion),
        cost,
        omitted_settings(omitted),
        revised,
        raw=raw,
        blob=blob,
        ended=ended,
        thought=thought,
    )


def call_row(request: Request, reply: Reply, date: str) -> tuple[Value, ...]:
    """Returns the columns of a call (CALL_COLUMNS)."""
    prompt, completion = reply.usage or (None, None)
    omitted = json.dumps(reply.omitted) if reply.omitted else ""
    return (
        request.key,
        request.purpose,
        request.model,
        request.text,
        reply.remote or None,
        reply.outcome or None,
        reply.text,
        pack(reply.alternatives),
        reply.blob,
        reply.revised,
        reply.raw,
        reply.served,
        reply.fingerprint,
        prompt,
        completion,
        reply.cost,
        omitted,
        reply.ended,
        reply.thought,
        date,
    )


def pack(alternatives: Sequence[Sequence[Token]]) -> str:
    """Writes alternatives as JSON; bytes as hexadecimal, since a token may split a character."""
    return (
        json.dumps(
            [[(t.bytes.hex(), round(t.logprob, 6)) for t in place] for place in alternatives]
        )
        if alternatives
        else ""
    )


def unpack(text: str | None) -> tuple[tuple[Token, ...], ...]:
    """Parses a call's `alternatives`: tokens with log-probabilities at each position."""
    if not text:
        return ()
    return tuple(tuple(Token(bytes.fromhex(b), p) for b, p in place) for place in json.loads(text))
