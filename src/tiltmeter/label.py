"""Outputs × instruments → labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from . import registry
from .engine import Engine, Job, Limits, Models, Tally
from .errors import UsageError
from .instruments import Instrument
from .protocol import Protocol
from .records import ANSWER, Answered, Label, Output, Reply, Trial
from .store import Store


def annotators(protocol: Protocol, judges: Sequence[str] = ()) -> list[Instrument]:
    """The protocol's own instruments, and each judge beside those that a judge can second."""
    made: list[Instrument] = []
    for spec in protocol.instruments:
        kind = registry.instrument(spec.kind, spec.name)
        made.append(kind(spec))
        if judges and not made[-1].second:
            raise UsageError(f"The instrument {spec.name} of {protocol.name} takes no judge; leave --judge out.")
        made += [registry.instrument(made[-1].second, spec.name)(spec, judge) for judge in judges]
    return made


def _job(store: Store, instrument: Instrument, trial: Trial, output: Output, exact: bool) -> Job:
    if output.outcome != ANSWER:
        return [Label(trial.id, instrument.annotator, instrument.attribute, output.outcome)]
    reply = store.reply(output.call) if exact else None
    labels = yield from instrument.steps(Answered(trial, output, reply or Reply(output.text), exact))
    if not labels:
        raise AssertionError(f"{instrument.annotator} gave no label; an instrument says why it has none (invalid, …)")
    return labels


async def annotate(store: Store, protocol: Protocol, judges: Sequence[str], models: Models, limits: Limits,
                   watch: Callable[[Tally], None] = lambda tally: None) -> Tally:  # fmt: skip
    """Labels every output that an annotator has not labelled yet."""
    instruments = annotators(protocol, judges)

    def jobs() -> Iterator[Job]:
        for instrument in instruments:
            for trial, output in store.unlabelled(instrument.annotator):
                exact = protocol.modes[trial.mode].logprobs > 0
                if instrument.reads_probabilities or not exact:
                    yield _job(store, instrument, trial, output, exact)

    return await Engine(store, models, limits, watch).drive(jobs())
