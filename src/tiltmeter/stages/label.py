"""Outputs × instruments → labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import registry
from ..errors import UsageError
from ..instruments import Instrument
from ..protocol import Protocol
from ..protocol.tables import Row
from ..records import ANSWER, Answered, Label, Output, Reply, Trial
from ..store import Store
from .discover import discover
from .engine import Engine, Job, Models
from .limits import Limits, Tally


def annotators(
    protocol: Protocol, judges: Sequence[str] = (), given: Mapping[str, str] | None = None
) -> list[Instrument]:
    """The protocol's own instruments, and each judge beside those that a judge can second.

    An instrument that judges play parts in is made with those judges, and not at all where none is
    named: see `unjudged`.
    given: {kind of material: text} for instruments that would find it out themselves (a taxonomy).
    """
    made: list[Instrument] = []
    given = given or {}
    kinds: list[Any] = [registry.instrument(spec.kind, spec.name) for spec in protocol.instruments]
    for material in given:
        if all(kind.material != material for kind in kinds):
            raise UsageError(
                f"No instrument of {protocol.name} takes a {material}; leave --{material} out."
            )
    for spec, kind in zip(protocol.instruments, kinds, strict=True):
        if kind.material in given:
            spec = replace(spec, settings={**spec.settings, kind.material: given[kind.material]})
        if kind.judges:
            each = kind.each_judge
            if len(judges) > len(kind.judges) and not (kind.panel or each):
                raise UsageError(
                    f"{spec.name} takes {len(kind.judges)} judges at most: "
                    f"{', '.join(kind.judges)}."
                )
            made += (
                [kind(spec, judge) for judge in judges]
                if each
                else [kind(spec, *judges)]
                if judges
                else []
            )
            continue
        made.append(kind(spec))
        if kind.second:
            made += [registry.instrument(kind.second, spec.name)(spec, judge) for judge in judges]
    if judges and not any(instrument.judge for instrument in made):
        raise UsageError(f"No instrument of {protocol.name} takes a judge; leave --judge out.")
    return made


def unjudged(protocol: Protocol, judges: Sequence[str] = ()) -> list[str]:
    """For each instrument that waits for judges, a line that says what to type."""
    found = []
    for spec in protocol.instruments:
        kind: Any = registry.instrument(spec.kind, spec.name)
        if kind.judges and not judges:
            asked = " ".join(f"--judge MODEL ({part})" for part in kind.judges)
            how = (
                "any number of them"
                if kind.panel or kind.each_judge
                else "one model alone plays all parts"
            )
            found.append(f"{spec.name} needs {asked}; {how}. Type: tiltmeter label RUN --judge …")
    return found


def _job(
    store: Store, instrument: Instrument, trial: Trial, output: Output, exact: bool, cell: Row
) -> Job:
    if output.outcome != ANSWER:
        return [
            Label(trial.id, instrument.annotator, attribute, output.outcome)
            for attribute in instrument.attributes
        ]
    reply = store.reply(output.call) if exact or instrument.reads_reply else None
    picture = store.blob(output.blob) if instrument.reads_picture and output.blob else b""
    labels = yield from instrument.steps(
        Answered(trial, output, reply or Reply(output.text), exact, cell, picture)
    )
    if not labels:
        raise AssertionError(
            f"{instrument.annotator} gave no label; an instrument says why it has none (invalid, …)"
        )
    return labels


async def annotate(
    store: Store,
    protocol: Protocol,
    judges: Sequence[str],
    models: Models,
    limits: Limits,
    watch: Callable[[Tally], None] = lambda tally: None,
    given: Mapping[str, str] | None = None,
) -> Tally:
    """Labels every output that an annotator has not labelled yet; what must be found out for that
    first is found out.
    """
    instruments = annotators(protocol, judges, given)
    warnings = set(unjudged(protocol, judges))
    if any(instrument.material for instrument in instruments):
        warnings |= (await discover(store, protocol, instruments, models, limits, watch)).warnings
    names = (*protocol.factors, protocol.item)
    cells = {tuple(cell[name] for name in names): cell for cell in protocol.cells}

    def jobs() -> Iterator[Job]:
        for instrument in instruments:
            for trial, output in store.unlabelled(instrument.annotator):
                exact = protocol.modes[trial.mode].logprobs > 0
                if protocol.modes[trial.mode].for_discovery or not instrument.takes(trial):
                    continue
                if instrument.reads_probabilities or not exact:
                    cell = cells.get(tuple(trial.factors[name] for name in names), {})
                    yield _job(store, instrument, trial, output, exact, cell)

    engine = Engine(store, models, limits, watch)
    engine.tally.warnings.update(warnings)
    watch(engine.tally)
    return await engine.drive(jobs())
