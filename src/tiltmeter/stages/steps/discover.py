"""Instruments that learn from sets of outputs before they label (a taxonomy, for instance): each
result is stored as an artefact.

A stage between run and label. Its calls are like any others: a discovery is a generator of
requests, as labelling is; they pass through the engine, are stored, and are answered from the store
when the same command runs again. Instruments learn from outputs of discovery modes, or from a
subject's measured outputs if it has no others; the run's artefact `learnt_from` records which.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from ...instruments import Discovery, Instrument, Learner
from ...instruments.images.taxonomy import ASIDE, LEARNT_FROM, MEASURED
from ...protocol import Protocol
from ...records import Output, Trial
from ...store import Store
from ...system.writing import write_whole
from ..engine.engine import Engine
from ..engine.limits import Limits, Tally
from ..engine.open_models import Models
from ..engine.sources import Job


async def discover(
    store: Store,
    protocol: Protocol,
    instruments: Sequence[Instrument],
    models: Models,
    limits: Limits,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Lets each `Learner` learn from sets of outputs, except from sets that its artefact covers."""
    engine = Engine(store, models, limits, watch)
    learners = [instrument for instrument in instruments if isinstance(instrument, Learner)]
    failures: list[str] = []
    if not learners:
        return engine.tally
    outputs, source = _outputs_to_learn_from(store, protocol)
    for instrument in learners:
        instrument.take_over(
            store.artefact(instrument.artefact, instrument.artefact_name)
            or instrument.artefact_text()
        )
    try:
        return await engine.drive(_jobs(outputs, learners, failures))
    finally:
        for instrument in learners:
            _keep(store, instrument, source)
        engine.tally.warnings.update(failures)


def _jobs(
    outputs: Sequence[tuple[Trial, Output]], learners: Sequence[Learner], failed: list[str]
) -> Iterator[Job]:
    for instrument in learners:
        for name, discovery in instrument.discover(outputs):
            yield _job(instrument, name, discovery, failed)


def _job(
    instrument: Learner, which: Mapping[str, str], discovery: Discovery, failed: list[str]
) -> Job:
    is_done = yield from discovery
    if not is_done:
        kind, which_set = instrument.artefact, ", ".join(which.values())
        failed.append(
            f"{instrument.judge} found no {kind} for {which_set}: too few outputs, or no reply "
            f"that can be used. These outputs are not labelled. Give --{kind} FILE, or another "
            "--judge."
        )
    return ()


def _outputs_to_learn_from(
    store: Store, protocol: Protocol
) -> tuple[list[tuple[Trial, Output]], dict[str, str]]:
    """Returns the outputs to learn from, and {subject: MEASURED, or ASIDE for discovery modes}."""
    aside: list[tuple[Trial, Output]] = []
    measured: list[tuple[Trial, Output]] = []
    for trial, output in store.iter_outputs():
        mode = protocol.modes.get(trial.mode)
        (aside if mode and mode.for_discovery else measured).append((trial, output))
    held_out = {trial.subject for trial, _ in aside}
    rest = [item for item in measured if item[0].subject not in held_out]
    source = {**{trial.subject: MEASURED for trial, _ in rest}, **dict.fromkeys(held_out, ASIDE)}
    return [*aside, *rest], source


def _keep(store: Store, instrument: Learner, source: Mapping[str, str]) -> None:
    """Stores the artefact, and writes it to the run's folder for a person to read, edit and give to
    another run.

    source: {subject: the kind of outputs that the artefact was learned from}.
    """
    text = instrument.artefact_text()
    if not text or store.artefact(instrument.artefact, instrument.artefact_name) == text:
        return
    store.keep(instrument.artefact, instrument.artefact_name, text)
    store.keep(LEARNT_FROM, instrument.artefact_name, json.dumps(source, ensure_ascii=False))
    write_whole(store.folder / f"{instrument.artefact}.toml", text)
