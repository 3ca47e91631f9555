"""Everything that a run holds about one output: prompt, content, labels, votes, reply, cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...analyse.whole_run import signature
from ...analyse.words import numerals
from ...errors import StoreError, UsageError
from ...images import Unusable, check_picture
from ...protocol.design.tables import SEVERAL
from ...records import ANSWER, VOTE
from ...store import Store
from ...store.blobs import ChangedFile
from ...store.packing import id_number
from ...store.queries import calls, outputs, settings
from ...store.queries.labels import OutputLabel, of_output
from .index import Index, Source
from .parts import SUBJECT

if TYPE_CHECKING:
    from .marks import Rewrite

MOST_CHARACTERS = 20_000  # characters of a text or raw reply that are shown
MOST_TOKENS = 8  # most probable first tokens


@dataclass(frozen=True, slots=True)
class Call:
    """A request to a model and its reply. cost: in US dollars, None if unknown."""

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
        """The cost in US dollars, or "unknown"."""
        return "unknown" if self.cost is None else numerals.dollars(self.cost)


@dataclass(frozen=True, slots=True)
class Detail:
    """An output in full. picture: name of its blob, "" for none; damage: why it cannot be shown;
    paired: (level, output) with the same prompt at other levels of the factor `compared`; shown:
    blobs of the pictures shown with the prompt.
    """

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
    labels: tuple[OutputLabel, ...]
    probabilities: str
    call: Call | None
    voices: tuple[Call, ...]
    rewrite: Rewrite | None
    signatures: tuple[str, ...]
    language: str
    compared: str
    paired: tuple[tuple[str, str], ...]
    shown: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The output's key: RUN-OUTPUT, as used in addresses."""
        return f"{self.run}-{self.id}"

    @property
    def price(self) -> str:
        """The cost of all calls in US dollars, and the number of calls with unknown cost. If equal
        outputs share a reply, its cost is counted in full for each of them.
        """
        calls = (*filter(None, [self.call]), *self.voices)
        costs = [call.cost for call in calls if call.cost is not None]
        parts = [numerals.dollars(sum(costs))] if costs else []
        if len(costs) < len(calls):
            parts.append(f"{len(calls) - len(costs)} of {len(calls)} calls at unknown cost")
        note = " (replies shared with equal outputs counted whole)"
        has_voices = any(call.cost for call in self.voices)
        return (" and ".join(parts) or "none") + note * has_voices


def detail(index: Index, run: int, output: str) -> Detail:
    """Reads an output in full. Raises UsageError if there is no such output."""
    # with the instruments and the report, for which a first page need not wait
    from ...report.first_screen.examples import first_tokens
    from .marks import rewrite

    index.refresh()
    source = index.sources.get(run)
    stored = outputs.one(source.store, output) if source else None
    if source is None or stored is None:
        raise UsageError(f"There is no output {output[:40]} in this run.")
    trial, returned = stored
    levels, text = trial.factors, returned.text
    asked = calls.by_key(source.store, returned.call, MOST_CHARACTERS + 1)
    judged = tuple(_judge_calls(source, calls.annotator_calls(source.store, output)))
    labels = tuple(_label(one, judged) for one in of_output(source.store, output))
    name, about, damage = picture(source.store, returned.blob, returned.outcome)
    cell = index.cells.get(tuple(levels.get(factor, "") for factor in index.factors), {})
    is_comparable = returned.outcome == ANSWER and not returned.blob
    return Detail(
        run,
        source.name,
        output,
        index.title(SUBJECT, trial.subject),
        trial.mode,
        tuple(_level_rows(index, levels)),
        trial.sample,
        shorten(trial.prompt),
        trial.begin,
        asked.revised if asked else "",
        returned.outcome,
        shorten(text),
        name,
        about,
        damage,
        labels,
        first_tokens(asked.alternatives, MOST_TOKENS) if asked else "",
        _call(asked) if asked else None,
        judged,
        rewrite(cell, text) if is_comparable else None,
        tuple(_signatures(source, trial.subject, trial.mode, levels, labels)),
        levels.get("language", ""),
        index.contrasted,
        tuple(_pairs_of(index, run, output)),
        source.protocol.shown_with(cell) if cell else (),
    )


def _pairs_of(index: Index, run: int, output: str) -> list[tuple[str, str]]:
    """Lists (level, output) of the same prompt with another level of the contrasted factor."""
    if index.contrasted not in index.factors:
        return []
    partners = index.table.pairs_of(run, id_number(output), index.contrasted, index.tied)
    ids = outputs.shown(index.sources[run].store, [number for _, number in partners], 0)
    return [(index.title(index.contrasted, level), ids[number].id) for level, number in partners]


def _level_rows(index: Index, levels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in index.factors:
        if levels.get(name):
            yield name, index.title(name, levels[name]).replace(SEVERAL, " / ")


def _judge_calls(source: Source, row_ids: Sequence[int]) -> Iterator[Call]:
    read = [_call(calls.by_row(source.store, row_id, MOST_CHARACTERS + 1)) for row_id in row_ids]
    yield from sorted(read, key=lambda call: (call.purpose, call.turn))


def _label(one: OutputLabel, judged: Sequence[Call]) -> OutputLabel:
    """Adds the judge's model to a vote, or the vote's number; returns other labels unchanged."""
    if not one.attribute.endswith(VOTE):
        return one
    prefix = f"{one.position}/"
    mine = (
        call.model
        for call in judged
        if call.purpose == one.annotator and call.turn.startswith(prefix)
    )
    return one._replace(judge=next(mine, f"vote {one.position + 1}"))


def _call(one: calls.StoredCall) -> Call:
    has_counts = one.prompt_tokens is not None
    return Call(
        one.purpose,
        one.model,
        one.outcome or "waiting",
        shorten(one.text),
        shorten(one.raw),
        one.served,
        one.fingerprint,
        f"{one.prompt_tokens} + {one.completion_tokens}" if has_counts else "",
        one.cost,
        ", ".join(one.omitted),
        one.date,
        one.request.turn,
    )


def shorten(text: str) -> str:
    """Cuts a text to MOST_CHARACTERS and appends a note if it is longer."""
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}… (cut here; the run has it whole)"


def picture(store: Store, blob: str, outcome: str) -> tuple[str, str, str]:
    """Returns (name, format and size, reason why it cannot be shown) for an output's picture."""
    if not blob or outcome != ANSWER:
        return "", "", ""
    try:
        facts = check_picture(store.blob(blob))
    except (StoreError, Unusable) as error:
        why = "is not in the run's folder"
        if isinstance(error, Unusable):
            why = str(error)
        elif isinstance(error, ChangedFile):
            why = "is not what was stored: its content was changed"
        return blob, "", f"The picture {why}."
    return blob, f"{facts.media_type}, {facts.width} × {facts.height} pixels", ""


def _signatures(
    source: Source,
    subject: str,
    mode: str,
    levels: Mapping[str, str],
    labels: Sequence[OutputLabel],
) -> Iterator[str]:
    stratum = {"mode": mode} | ({"language": levels["language"]} if levels.get("language") else {})
    frozen = settings.frozen(source.store)
    for annotator in dict.fromkeys(label.annotator for label in labels):
        yield signature.short(source.protocol, subject, annotator, stratum, 1, "default", frozen)
