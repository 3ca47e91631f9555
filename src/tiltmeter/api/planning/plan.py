"""The plan of a run: trials, calls, cost, and detectable differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Unpack

from ... import registry
from ...errors import Incapable
from ...models import Model
from ...models.kinds import kind_of, makes, sees
from ...planted.model import KIND as PLANTED
from ...protocol import Protocol, told_by
from ...protocol.design import prompt_pairs
from ...records import Message, Request, Sampling, Trial
from ...stages.engine.limits import Limits
from ...stages.planning import cost, other_levels
from ...stages.planning import plan as planning
from ...stages.steps.connect import Connect, KnownModel
from ...stages.steps.label import annotators, missing_judges
from ..options import options as arguments
from ..options.given_models import ModelGiven, model_names
from ..options.records import PlanOptions, RunOptions
from ..stopping.stopped_run import is_stopping
from .plan_page import Plan

TRIAL_COLUMNS = ("trial", "subject", "mode", "sample", "prompt")


class Assumed(NamedTuple):
    """Assumptions of a plan: correlations of items' answers, the difference to detect or None."""

    icc: float
    correlation: float
    wanted: float | None


def plan(
    protocol: str | Path | Protocol,
    model: ModelGiven,
    *,
    judge: ModelGiven = (),
    icc: float | None = None,
    detect: float | None = None,
    correlation: float | None = None,
    variant: str = "default",
    **options: Unpack[PlanOptions],
) -> Plan:
    """Plans a run without asking a model or needing a key.

    icc:    the correlation between outputs of one item, from 0 to 1; .2 by default.
    detect: a difference in shares (0.05 for 5 points); the items and samples it needs are computed.
    correlation: the correlation between an item's shares at two levels, from 0 to 1; .8 by default.
    stop:   True to simulate a run that stops early; by default as the protocol says.
    """
    arguments.refuse_unknown(options, PlanOptions.__optional_keys__)
    protocol = arguments.asked_protocol(protocol, judge, options)
    declared = told_by(registry.protocol(protocol), variant)
    judge, declared = arguments.with_judges(declared, judge, options)
    choices = arguments.choices(model, options, protocol, declared)
    connect = arguments.connect_subjects(arguments.connect(options), choices, declared)
    batching = arguments.batching(options)
    asking = arguments.Asking(model_names(judge), {}, Limits(), connect, batching)
    from ...stages.planning import power

    icc = power.ICC if icc is None else icc
    assumed = Assumed(icc, power.CORRELATION if correlation is None else correlation, detect)
    return _plan(declared, choices, asking, assumed, is_stopping(declared, options.get("stop")))


def _plan(
    declared: Protocol,
    choices: planning.Choices,
    asking: arguments.Asking,
    assumed: Assumed,
    stop: bool,
) -> Plan:
    from ...stages.planning import power

    judges, connect = asking.judges, asking.connect
    in_batches = asking.batching.hands_in
    names = list(dict.fromkeys((*choices.subjects, *judges)))
    _check_models(connect, names)
    counted = planning.count(declared, choices)
    price = connect.batch_price if in_batches else connect.expected_price
    lines = cost.lines(declared, choices, annotators(declared, judges), price)
    totals, forecast = cost.totals(lines), None
    if stop:
        from ..stopping.forecast import StoppingQuestion, stopping_forecast

        question = StoppingQuestion(declared, choices, asking, *assumed, totals)
        forecast = stopping_forecast(question)
    return Plan(
        declared.name,
        declared.version,
        counted,
        _trials(declared, counted, for_discovery=False),
        _trials(declared, counted, for_discovery=True),
        tuple(lines),
        totals,
        cost.RULE,
        planning.tally(declared, choices),
        tuple(other_levels.others(declared, choices)),
        tuple(_describe(connect, name, in_batches) for name in names),
        tuple(missing_judges(declared, judges)),
        tuple(_too_small(connect)),
        tuple(_misfits(declared, counted, judges)),
        tuple(prompt_pairs.prompt_differences(declared, planning.cells(declared, choices))),
        *assumed,
        tuple(
            power.detectable(
                declared,
                choices,
                assumed.icc,
                assumed.wanted,
                correlation=assumed.correlation,
            )
        ),
        forecast,
    )


def _check_models(connect: Connect, names: Sequence[str]) -> None:
    """Raises UsageError for a name that no run would take, or a planted model's wrong setting."""
    connect.check(names)
    for name in names:
        if kind_of(name) is PLANTED:
            connect.model(name, 1)


def _describe(connect: Connect, name: str, in_batches: bool) -> KnownModel:
    """Describes a model; adds the price of batches if the plan uses them."""
    description = connect.describe(name)
    if in_batches:
        description["batch"] = connect.describe_batch(name)
    return description


def _trials(
    declared: Protocol, counted: Mapping[str, Mapping[str, int]], for_discovery: bool
) -> int:
    """Counts the trials in measured modes, or in discovery modes if `for_discovery`."""
    return sum(
        number
        for modes in counted.values()
        for name, number in modes.items()
        if declared.modes[name].for_discovery == for_discovery
    )


def _too_small(connect: Connect) -> Iterator[str]:
    """Yields a warning if the longest prompt may exceed the typed --context."""
    context, needed = connect.context, connect.needed_context
    if context and needed > context:
        yield (
            f"A model on this machine would hold {context:,} tokens (--context), and the longest "
            f"prompt with its reply may need {needed:,}. Leave --context out, or type: "
            f"--context {-(-needed // 256) * 256}"
        )


def _misfits(
    declared: Protocol, counted: Mapping[str, Mapping[str, int]], judges: Sequence[str]
) -> list[str]:
    """Lists errors for models that lack an ability which the run needs, such as seeing pictures."""
    requests = {
        (subject, declared.modes[mode].size) for subject, modes in counted.items() for mode in modes
    }
    pictures = (Message("user", "", declared.pictures),) if declared.pictures else ()
    refusals = []
    for name, size in sorted(requests | {(judge, "") for judge in judges}):
        model = Model()
        model.name, model.makes, model.sees = name, makes(name), sees(name)
        try:
            model.check(Request(name, pictures, Sampling(), size=size))
        except Incapable as error:
            refusals.append(str(error))
    return list(dict.fromkeys(refusals))


def trials(
    protocol: str | Path | Protocol,
    model: ModelGiven,
    **options: Unpack[RunOptions],
) -> Iterator[dict[str, str]]:
    """Yields the trials of a plan as rows: id (`trial`), subject, mode, sample and prompt, then the
    factors and the item. A factor with one of these names is `factor_NAME`.
    """
    arguments.refuse_unknown(options, RunOptions.__optional_keys__)
    declared = registry.protocol(protocol)
    choices = arguments.choices(model, options, protocol, declared)
    shard, planned = arguments.shard(options), planning.trials(declared, choices)
    for trial in shard.part(planned) if shard else planned:
        yield _row(trial)


def _row(trial: Trial) -> dict[str, str]:
    values = (trial.id, trial.subject, trial.mode, str(trial.sample), trial.prompt)
    return dict(zip(TRIAL_COLUMNS, values, strict=True)) | {
        f"factor_{name}" if name in TRIAL_COLUMNS else name: level
        for name, level in trial.factors.items()
    }
