"""The functions `run` and `label`, which ask models and store their replies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from ... import registry
from ...protocol import Protocol, told_by
from ...protocol.design.thin_design import lost_letters
from ...stages.engine.limits import Tally
from ...stages.engine.run_coroutine import wait_for
from ...stages.planning import plan as planning
from ...stages.planning import shards
from ...stages.planning.plan import Choices
from ...stages.planning.stored_plan import keep_choices, keep_plan, planned_trials
from ...stages.steps import match_answers, protocol_snapshot
from ...stages.steps.check_models import check_models
from ...stages.steps.connect import Connect
from ...stages.steps.label import annotators
from ...store import Store
from ..options import options as arguments
from ..options.given_models import ModelGiven
from ..options.options import Asking
from ..options.records import LabelOptions, RunOptions
from ..stopping import stopped_run
from . import cached_results
from .gating import freeze_margin
from .progress import Watch
from .run_folder import Run
from .stages import Stages

if TYPE_CHECKING:  # brings numpy, which a run that asks all does without
    from ...analyse.stopping.plan import StoppingPlan


@dataclass(frozen=True, slots=True)
class _Audit:
    """An audit with its options, parsed and checked. given: the protocol as the caller named it."""

    given: str | Path | Protocol
    declared: Protocol
    choices: Choices
    asking: Asking
    stopping: bool


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
    """Runs an audit until all answers are labelled, or resumes it.

    protocol: a name, the path of a .toml file, or the result of `Protocol.declare`.
    model:    the subject as KIND:NAME, a function, or rows of answers; or several of these;
      {"name": function} gives a function a name.
    out:      the run's folder; an existing run is extended.
    judge:    a model that labels the same outputs, or several.
    watch:    called with the stage, the number of trials (None if it is not known), and the tally
      so far; by default a bar in a notebook.
    taxonomy: a file of attributes to label by, instead of attributes that a judge would choose.
    variant:  the variant whose instructions to judges are used, if it has any (`protext`).
    """
    arguments.refuse_unknown(options, RunOptions.__optional_keys__)
    audit = _audit(protocol, model, judge, taxonomy, variant, options)
    declared, choices, asking = audit.declared, audit.choices, audit.asking
    readers = annotators(declared, asking.judges, asking.given)  # refuse before anything is asked
    key = (declared, choices, asking, audit.stopping)
    plan = stopped_run.plan_of(Path(out), *key[:3]) if audit.stopping else None
    warnings = cached_results.warnings_if_finished(Path(out), *key)
    if warnings is None:
        check_models(declared, choices, asking.judges, asking.connect, Path(out), readers)
    notes = [*lost_letters(declared), *match_notes(declared, choices, asking.connect)]
    if warnings is None:
        labelled = _ask_and_label(audit, plan, Path(out), watch, options)
        if labelled is not None:  # kept for the closed file, whose state the analysis reads too
            with Store(out) as store:
                cached_results.keep_finished(store, *key[:3], labelled, audit.stopping)
    elif watch is not None:
        watch("label", None, Tally(warnings=set(warnings)))
    finished = Run(out)
    finished.notes += notes
    return finished


def _audit(
    protocol: str | Path | Protocol,
    model: ModelGiven,
    judge: ModelGiven,
    taxonomy: Path | str | None,
    variant: str,
    options: RunOptions,
) -> _Audit:
    """Reads and checks the options of `run`."""
    source = arguments.asked_protocol(protocol, judge, options)
    declared = told_by(registry.protocol(source), variant)
    judge, declared = arguments.with_judges(declared, judge, options)
    choices = arguments.choices(model, options, source, declared)
    asking = arguments.asking(judge, taxonomy, options, choices.subjects)
    connected = arguments.connect_subjects(asking.connect, choices, declared)
    asking = replace(asking, shard=arguments.shard(options), connect=connected)
    planning.check(declared, choices)
    asking.connect.check((*choices.subjects, *asking.judges))
    stopping = stopped_run.is_stopping(declared, options.get("stop"))
    return _Audit(source, declared, choices, asking, stopping)


def _ask_and_label(
    audit: _Audit,
    plan: StoppingPlan | None,
    out: Path,
    watch: Watch | None,
    options: RunOptions,
) -> set[str] | None:
    """Runs all stages. Returns the warnings of labelling; None if some trials remain unanswered."""
    declared, choices, asking = audit.declared, audit.choices, audit.asking
    total = sum(sum(modes.values()) for modes in planning.count(declared, choices).values())
    asked = partial(planning.cells, declared, choices)
    protocol_snapshot.refuse_secrets(
        "What an answer begins with, or a system prompt,", choices.frozen(declared)
    )
    snapshot = protocol_snapshot.record(audit.given, declared, asked)
    has_pilot = options.get("pilot") is not False and asking.batching.file is None
    part = None
    if asking.shard:
        total = asking.shard.size(total)
        part = shards.record(asking.shard, choices, asking.judges, asking.given)
        part = shards.with_judge_for(part, declared)

    async def work() -> set[str] | None:
        with Store(out, create=True, writing=True) as store:
            shards.enter(store, part)
            store.freeze(choices.frozen(declared))
            snapshot.keep(store)
            if declared.pictures:
                protocol_snapshot.keep_pictures(store, declared, asked())
            freeze_margin(store, options.get("margin"))
            stopped = None
            if plan is not None:
                stopped = stopped_run.open_stopped(store, declared, choices, plan)
            else:
                stopped_run.refuse_without_stop(store)
            with store.transaction():
                keep_choices(store, declared, choices)
                if plan is None:
                    keep_plan(store, planned_trials(declared, choices))
            stages = Stages(store, declared, choices, asking, watch, total, has_pilot)
            tallies = await stages.run(stopped)
            if any(tally.failed for tally in tallies):
                return None
            return set[str]().union(*(tally.warnings for tally in tallies))

    return wait_for(work())


def match_notes(protocol: Protocol, choices: Choices, connect: Connect) -> list[str]:
    """Lists notes on unmatched answers and trials. Raises UsageError if no answer matches."""
    matches = list(match_answers.matches(protocol, choices, connect))
    for match in matches:
        match.refuse_nothing()
    return [sentence for match in matches for sentence in match.sentences()]


def label(
    folder: Path | str,
    *,
    judge: ModelGiven = (),
    watch: Watch | None = None,
    taxonomy: Path | str | None = None,
    **options: Unpack[LabelOptions],
) -> Run:
    """Adds missing labels, by instruments and the given judges. Other options: see `run`."""
    arguments.refuse_unknown(options, LabelOptions.__optional_keys__)
    if options.get("trust"):
        protocol_snapshot.trust(folder)
    opened = Run(folder)
    judge, protocol = arguments.with_judges(opened.protocol, judge, options)
    asking = arguments.asking(judge, taxonomy, options)
    asking.connect.check(asking.judges or ("openai",))

    async def work() -> None:
        with Store(folder, writing=True) as store:
            await Stages(store, protocol, None, asking, watch).run()

    wait_for(work())
    return opened
