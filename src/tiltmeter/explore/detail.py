"""One output with all that is stored about it: prompt, text or picture, every label, vote and raw
reply, cost, signature.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..analyse import numerals, signature
from ..errors import StoreError, UsageError
from ..gold import VOTE
from ..images import Unusable, checked
from ..protocol import Protocol
from ..protocol.tables import SEVERAL
from ..records import ANSWER
from ..store import Store
from ..store.rows import unpack
from .index import Index, Source
from .marks import Rewrite, rewrite

LONGEST = 20_000  # characters of a text or raw reply that are shown
TOKENS = 8  # most probable first tokens
_TRIAL = """
SELECT t.subject, t.mode, t.factors, t.sample, t.prompt, t.begin, t.sampling, o.outcome, o.text, o.call, o.blob
FROM outputs o JOIN trials t ON t.id = o.trial WHERE o.trial = ?
"""
_CALL = """
SELECT purpose, model, outcome, substr(text, 1, 20001), substr(raw, 1, 20001), revised, served, fingerprint, prompt_tokens,
completion_tokens, cost, omitted, date, alternatives, request FROM calls
"""
_LABELS = """
SELECT annotator, attribute, position, value, weight, date FROM labels WHERE output = ? AND current ORDER BY 1, 2, 3, id
"""


@dataclass(frozen=True, slots=True)
class Said:
    """One label. weight: 1, or a probability; judge: the model, where it is one vote of a panel."""

    annotator: str
    attribute: str
    position: int
    value: str
    weight: float
    date: str
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One paid request and what came back; cost in US dollars, None where it is not known."""

    purpose: str
    model: str
    outcome: str
    text: str
    raw: str
    served: str
    fingerprint: str
    tokens: str
    cost: float | None
    omitted: str
    date: str
    turn: str

    @property
    def price(self) -> str:
        return "unknown" if self.cost is None else numerals.dollars(self.cost)


@dataclass(frozen=True, slots=True)
class Detail:
    """picture: the name of a blob, "" where there is none; damage: why it cannot be shown."""

    run: int
    run_name: str
    id: str
    subject: str
    mode: str
    levels: tuple[tuple[str, str], ...]
    sample: int
    prompt: str
    begin: str
    revised: str
    outcome: str
    text: str
    picture: str
    about: str
    damage: str
    labels: tuple[Said, ...]
    probabilities: str
    call: Call | None
    voices: tuple[Call, ...]
    rewrite: Rewrite | None
    signatures: tuple[str, ...]
    language: str

    @property
    def key(self) -> str:
        return f"{self.run}-{self.id}"

    @property
    def price(self) -> str:
        """US dollars of all calls, with how many are of unknown cost."""
        calls = (*filter(None, [self.call]), *self.voices)
        known = [call.cost for call in calls if call.cost is not None]
        unknown = (
            f"{len(calls) - len(known)} of {len(calls)} calls at unknown cost"
            if len(known) < len(calls)
            else ""
        )
        return (
            " and ".join(filter(None, [numerals.dollars(sum(known)) if known else "", unknown]))
            or "none"
        )


def detail(index: Index, run: int, trial: str) -> Detail:
    """UsageError where there is no such output."""
    index.refresh()
    source = index.sources.get(run)
    row = next(source.store.rows(_TRIAL, (trial,)), None) if source else None
    if source is None or row is None:
        raise UsageError(f"There is no output {trial[:40]} in this run.")
    subject, mode, factors, sample, prompt, begin, _, outcome, text, key, blob = row
    levels: dict[str, str] = json.loads(factors)
    call, revised, alternatives = _subject_call(source, key)
    voices = tuple(_voices(source, index.voices(run, trial)))
    labels = tuple(_judged(Said(*one), voices) for one in source.store.rows(_LABELS, (trial,)))
    shown, about, damage = picture(source.store, blob, outcome)
    cell = index.cells.get(tuple(levels.get(name, "") for name in index.factors), {})
    marked = rewrite(cell, text) if outcome == ANSWER and not blob else None
    return Detail(
        run,
        source.name,
        trial,
        subject,
        mode,
        tuple(_shown(index.protocol, levels)),
        sample,
        cut(prompt),
        begin,
        revised,
        outcome,
        cut(text),
        shown,
        about,
        damage,
        labels,
        _probabilities(alternatives),
        call,
        voices,
        marked,
        tuple(_signatures(source, subject, mode, levels, labels)),
        levels.get("language", ""),
    )


def _shown(protocol: Protocol, levels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys((*protocol.factors, protocol.item)):
        if levels.get(name):
            yield name, levels[name].replace(SEVERAL, " / ")


def _subject_call(source: Source, key: str) -> tuple[Call | None, str, str]:
    """(the call, the prompt as it was rewritten, the packed alternatives)."""
    row = next(source.store.rows(_CALL + " WHERE key = ?", (key,)), None)
    return (_call(row), row[5] or "", row[13] or "") if row else (None, "", "")


def _voices(source: Source, calls: Sequence[int]) -> Iterator[Call]:
    found = [
        _call(row)
        for call in calls
        for row in source.store.rows(_CALL + " WHERE rowid = ?", (call,))
    ]
    yield from sorted(found, key=lambda call: (call.purpose, call.turn))


def _judged(label: Said, voices: Sequence[Call]) -> Said:
    """A vote with the model whose it is: a panel's calls are numbered by judge."""
    if not label.attribute.endswith(VOTE):
        return label
    place = f"{label.position}/"
    mine = (
        call.model
        for call in voices
        if call.purpose == label.annotator and call.turn.startswith(place)
    )
    return replace(label, judge=next(mine, f"vote {label.position + 1}"))


def _call(row: Sequence[Any]) -> Call:
    (
        purpose,
        model,
        outcome,
        text,
        raw,
        _,
        served,
        fingerprint,
        asked,
        said,
        cost,
        omitted,
        date,
        _,
        request,
    ) = row
    tokens = "" if asked is None else f"{asked} + {said}"
    turn = str(json.loads(request)[7]).partition("/")[2]
    return Call(
        purpose,
        model,
        outcome or "waiting",
        cut(text or ""),
        cut(raw or ""),
        served or "",
        fingerprint or "",
        tokens,
        cost,
        ", ".join(json.loads(omitted)) if omitted else "",
        date,
        turn,
    )


def cut(text: str) -> str:
    """A text as far as it is shown."""
    return text if len(text) <= LONGEST else text[:LONGEST] + "… (cut here; the run has it whole)"


def picture(store: Store, blob: str, outcome: str) -> tuple[str, str, str]:
    """(name, what it is, why it cannot be shown) of an output's picture."""
    if not blob or outcome != ANSWER:
        return "", "", ""
    try:
        found = checked(store.blob(blob))
    except (StoreError, Unusable) as error:
        why = str(error) if isinstance(error, Unusable) else "is not in the run's folder"
        return blob, "", f"The picture {why}."
    return blob, f"{found.media_type}, {found.width} × {found.height} pixels", ""


def _probabilities(alternatives: str) -> str:
    places = unpack(alternatives)
    best = sorted(places[0], key=lambda token: -token.logprob)[:TOKENS] if places else []
    return " · ".join(
        f"{token.bytes.decode('utf-8', 'backslashreplace')!r} "
        f"{numerals.share(math.exp(token.logprob))}"
        for token in best
    )


def _signatures(
    source: Source, subject: str, mode: str, levels: Mapping[str, str], labels: Sequence[Said]
) -> Iterator[str]:
    stratum = {"mode": mode} | ({"language": levels["language"]} if levels.get("language") else {})
    frozen = source.store.get("frozen", {})
    for annotator in dict.fromkeys(one.annotator for one in labels):
        yield signature.short(source.protocol, subject, annotator, stratum, 1, "default", frozen)
