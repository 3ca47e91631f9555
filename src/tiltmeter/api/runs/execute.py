"""`run` and `label`: models are asked, and everything that comes back is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

from ... import registry
from ...models import Model
from ...protocol import Protocol, told_by
from ...stages.batches.desk import Desk
from ...stages.engine.limits import Tally
from ...stages.engine.open_models import Models
from ...stages.engine.run_coroutine import wait_for
from ...stages.planning import plan as planning
from ...stages.planning import shards
from ...stages.planning.plan import Choices, Wanted
from ...stages.planning.stored_plan import keep_plan, planned_trials
from ...stages.steps import injection_count, match_answers, protocol_snapshot
from ...stages.steps.check_models import check_models
from ...stages.steps.connect import Connect
from ...stages.steps.generate import generate
from ...stages.steps.label import annotate, annotators, open_pipeline
from ...stages.steps.pilot import Pilot, keep_endpoints, reserve_of
from ...stages.steps.pipeline import Pipeline
from ...store import Store
from ...store.queries import settings
from ..options import options as arguments
from ..options.given_models import ModelGiven
from ..options.records import LabelOptions, RunOptions
from ..stopping import stopped_run
from . import cached_results
from .progress import Watch, notebook_watch
from .run_folder import Run

_LABELLED_LATER = (
    "A shard is not labelled here: its {what} is found out of the outputs of all. Merge the "
    "shards, then type the same command without --shard; or give --{what} FILE."
)


def run(
    protocol: str | Path | Protocol,
    model: ModelGiven,
    out: Path | str,
    *,
    judge: ModelGiven = (),
    watch: Watch | None = None,
    taxonomy: Path | str | None = None,
    variant: str = "default",
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
    """
    arguments.refuse_unknown(options, RunOptions.__optional_keys__)
    declared = told_by(registry.protocol(protocol), variant)
    declared = arguments.judged_by(declared, judge, options)
    choices = arguments.choices(model, options, protocol, declared)
    asking = arguments.asking(judge, taxonomy, options, choices.subjects)
    connected = arguments.connect_subjects(asking.connect, choices, declared)
    asking = replace(asking, shard=arguments.shard(options), connect=connected)
    planning.check(declared, choices)
    asking.connect.check((*choices.subjects, *asking.judges))
    # What they refuse is said before anything is asked.
    annotators(declared, asking.judges, asking.given)
    stopping = stopped_run.is_stopping(declared, options.get("stop"))
    plan = stopped_run.plan_of(Path(out), declared, choices, asking) if stopping else None
    warnings = cached_results.warnings_if_finished(Path(out), declared, choices, asking, stopping)
    if warnings is None:
        check_models(declared, choices, asking.judges, asking.connect, Path(out))
    notes = match_notes(declared, choices, asking.connect)
    total = sum(sum(modes.values()) for modes in planning.count(declared, choices).values())
    snapshot = protocol_snapshot.record(protocol, declared)
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
            stopped = (
                None if plan is None else stopped_run.open_stopped(store, declared, choices, plan)
            )
            if stopped is None:
                stopped_run.refuse_without_stop(store)
                keep_plan(store, planned_trials(declared, choices))
            tallies = await _stages(
                store, declared, choices, asking, watch, total, stopped, piloting
            )
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
    """What answers nothing and what is missing of answers that exist already. UsageError where none
    of them fits.
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
    opened = Run(folder)
    protocol = arguments.judged_by(opened.protocol, judge, options)
    asking = arguments.asking(judge, taxonomy, options)
    asking.connect.check(asking.judges or ("openai",))

    async def work() -> None:
        with Store(folder, writing=True) as store:
            await _stages(store, protocol, None, asking, watch)

    wait_for(work())
    return opened


async def _stages(
    store: Store,
    protocol: Protocol,
    choices: Choices | None,
    asking: arguments.Asking,
    watch: Watch | None,
    total: int | None = None,
    stopped: stopped_run.StoppedRun | None = None,
    piloting: bool = False,
) -> list[Tally]:
    """Asks the subjects where there are choices, then labels; look by look in a run that stops
    early. Returns what happened in each stage.
    """
    watch = watch or notebook_watch()
    settings.keep_version(store)

    def watcher(stage: str, number: int | None) -> Callable[[Tally], None]:
        return partial(watch, stage, number) if watch else lambda tally: None

    limits, tallies = asking.limits, list[Tally]()
    pipeline: Pipeline | None = None

    def make(name: str) -> Model:
        model = asking.connect.model(name, limits.most_in_flight, store)
        model.reserve_thought(max(model.reserve, reserve_of(store, name)))
        return model

    async with Models(make) as models:
        desk = Desk(store, models, limits, asking.batching, asking.connect.batch_price, watch)
        models.aside = desk
        await desk.take_in()
        if asking.given:  # stands until another one is given
            store.put("given", asking.given)

        async def label_now() -> Tally:
            given = settings.given_materials(store)
            return await annotate(store, protocol, asking.judges, models, limits, given=given)

        async def ask_subjects(
            judges: tuple[str, ...], wanted: Wanted | None = None, number: int | None = total
        ) -> Tally:
            nonlocal pipeline
            assert choices is not None
            if piloting:
                pilot = Pilot(
                    store,
                    protocol,
                    choices,
                    models,
                    limits,
                    watcher("pilot", None),
                    annotators(protocol, asking.judges, settings.given_materials(store) or {}),
                    label_now,
                    asking.shard,
                )
                await pilot.run(wanted)
            shown, part, pipeline = watcher("run", number), asking.shard, None
            if judges and not asking.batching.hands_in:
                pipeline = open_pipeline(store, protocol, judges, watcher("label", None))
            ask = partial(
                generate,
                store,
                protocol,
                choices,
                models,
                limits,
                shown,
                wanted,
                part,
                pipeline,
            )
            tally = await desk.repeat(ask)
            await keep_endpoints(store, models, choices.subjects)
            store.put("last_run", {"failed": tally.failed, "last_failure": tally.last_failure})
            return tally

        async def label_by(judges: tuple[str, ...]) -> Tally:
            given, shown = settings.given_materials(store), watcher("label", None)
            ask = partial(annotate, store, protocol, judges, models, limits, shown, given, pipeline)
            return await desk.repeat(ask)

        found_out = shards.waits_for_all(
            protocol, asking.judges, settings.given_materials(store) or {}
        )
        if stopped is not None:
            tallies += await stopped.ask(partial(ask_subjects, stopped.plan.judges), label_by)
        elif choices is not None:
            later = settings.shard(store) and found_out
            tallies.append(await ask_subjects(() if later else asking.judges))
        if settings.shard(store) and found_out:
            tallies.append(Tally(warnings={_LABELLED_LATER.format(what=found_out)}))
            watcher("label", None)(tallies[-1])
        elif stopped is None or stopped.plan.judges != asking.judges:
            tallies.append(await label_by(asking.judges))
    injection_count.write_counts(store)
    return tallies
