"""`run` and `label`: models are asked, and everything that comes back is stored."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

from ... import registry
from ...protocol import Protocol, told_by
from ...stages.engine.limits import Tally
from ...stages.engine.run_coroutine import wait_for
from ...stages.planning import plan as planning
from ...stages.planning import shards
from ...stages.planning.plan import Choices
from ...stages.planning.stored_plan import keep_plan, planned_trials
from ...stages.steps import match_answers, protocol_snapshot
from ...stages.steps.check_models import check_models
from ...stages.steps.connect import Connect
from ...stages.steps.label import annotators
from ...store import Store
from ..options import options as arguments
from ..options.given_models import ModelGiven
from ..options.records import LabelOptions, RunOptions
from ..stopping import stopped_run
from . import cached_results
from .gating import freeze_margin
from .progress import Watch
from .run_folder import Run
from .stages import Stages


def run(
    protocol: str | Path | Protocol,
    model: ModelGiven,
    out: Path | str,
    *,
    judge: ModelGiven = (),
    watch: Watch | None = None,
    taxonomy: Path | str | None = None,
    variant: str = "default",
    margin: str | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Runs an audit to its labels, or goes on with it.

    protocol: a name, the path of a file that ends in .toml, or what `Protocol.declare` returned.
    model:    the subject as KIND:NAME, a function, or rows of answers; or several;
              {"name": function} gives one a name.
    out:      the run's folder; one that is there is extended.
    judge:    a model that labels the same outputs, or several.
    watch:    called with the stage, how many there are in all (None where that is not known), and
              what happened so far; a bar in a notebook where none is given.
    taxonomy: a file of attributes to label by, where the protocol would have a judge choose them.
    variant:  whose judges are told what a paper's were, where it says so (`protext`).
    margin:   how much would matter at a gate ("5"), kept before the first answer.
    """
    arguments.refuse_unknown(options, RunOptions.__optional_keys__)
    protocol = arguments.asked_protocol(protocol, judge, options)
    declared = told_by(registry.protocol(protocol), variant)
    declared = arguments.judged_by(declared, judge, options)
    choices = arguments.choices(model, options, protocol, declared)
    asking = arguments.asking(judge, taxonomy, options, choices.subjects)
    connected = arguments.connect_subjects(asking.connect, choices, declared)
    asking = replace(asking, shard=arguments.shard(options), connect=connected)
    planning.check(declared, choices)
    asking.connect.check((*choices.subjects, *asking.judges))
    # What they refuse is said before anything is asked.
    readers = annotators(declared, asking.judges, asking.given)
    stopping = stopped_run.is_stopping(declared, options.get("stop"))
    plan = stopped_run.plan_of(Path(out), declared, choices, asking) if stopping else None
    warnings = cached_results.warnings_if_finished(Path(out), declared, choices, asking, stopping)
    if warnings is None:
        check_models(declared, choices, asking.judges, asking.connect, Path(out), readers)
    notes = match_notes(declared, choices, asking.connect)
    total = sum(sum(modes.values()) for modes in planning.count(declared, choices).values())
    asked = partial(planning.cells, declared, choices)
    protocol_snapshot.refuse_secrets(
        "What an answer begins with, or a system prompt,", choices.frozen(declared)
    )
    snapshot = protocol_snapshot.record(protocol, declared, asked)
    piloting = options.get("pilot") is not False and asking.batching.file is None
    part = None
    if asking.shard:
        total = asking.shard.size(total)
        part = shards.record(asking.shard, choices, asking.judges, asking.given)
        part = shards.with_judge_for(part, declared)

    async def work() -> set[str] | None:
        """Runs all stages. Returns the warnings of labelling, None if something is left to ask."""
        with Store(out, create=True, writing=True) as store:
            shards.enter(store, part)
            store.freeze(choices.frozen(declared))
            snapshot.keep(store)
            if declared.pictures:
                protocol_snapshot.keep_pictures(store, declared, asked())
            freeze_margin(store, margin)
            stopped = (
                None if plan is None else stopped_run.open_stopped(store, declared, choices, plan)
            )
            if stopped is None:
                stopped_run.refuse_without_stop(store)
                keep_plan(store, planned_trials(declared, choices))
            stages = Stages(store, declared, choices, asking, watch, total, piloting)
            tallies = await stages.run(stopped)
            if any(tally.failed for tally in tallies):
                return None
            return set[str]().union(*(tally.warnings for tally in tallies))

    if warnings is None:
        told = wait_for(work())
        if told is not None:  # of the closed file, whose state the analysis asks for too
            with Store(out) as store:
                cached_results.keep_finished(store, declared, choices, asking, told, stopping)
    elif watch is not None:
        watch("label", None, Tally(warnings=set(warnings)))
    made = Run(out)
    made.notes += notes
    return made


def match_notes(protocol: Protocol, choices: Choices, connect: Connect) -> list[str]:
    """Lists the existing answers that match no trial, and the trials without one. UsageError where
    none of them fits.
    """
    found = list(match_answers.matches(protocol, choices, connect))
    for match in found:
        match.refuse_nothing()
    return [sentence for match in found for sentence in match.sentences()]


def label(
    folder: Path | str,
    *,
    judge: ModelGiven = (),
    watch: Watch | None = None,
    taxonomy: Path | str | None = None,
    **options: Unpack[LabelOptions],
) -> Run:
    """Labels what is not labelled yet, with the protocol's instruments and the judges named; judge,
    watch and taxonomy as in `run`.
    """
    arguments.refuse_unknown(options, LabelOptions.__optional_keys__)
    if options.get("trust"):
        protocol_snapshot.trust(folder)
    opened = Run(folder)
    protocol = arguments.judged_by(opened.protocol, judge, options)
    asking = arguments.asking(judge, taxonomy, options)
    asking.connect.check(asking.judges or ("openai",))

    async def work() -> None:
        with Store(folder, writing=True) as store:
            await Stages(store, protocol, None, asking, watch).run()

    wait_for(work())
    return opened
