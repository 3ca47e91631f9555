"""What a run would do, before it does: trials, calls, money, and what it could detect."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from .. import registry
from ..errors import Incapable
from ..models import Model, table
from ..protocol import Protocol, prompt_pairs
from ..records import Json, Request, Sampling, Trial
from ..stages import cost
from ..stages import plan as planning
from ..stages.connect import KnownModel
from ..stages.label import annotators, missing_judges
from ..stages.limits import Limits
from . import options as arguments
from . import plan_page
from .models import ModelGiven, model_names
from .options import PlanOptions, RunOptions
from .stopped_run import is_stopping

OWN_COLUMNS = ("trial", "subject", "mode", "sample", "prompt")  # of a table of trials

if TYPE_CHECKING:  # it brings scipy, which a run that only asks does without
    from ..stages import power
    from .stopped_plan import StoppingForecast


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """What a run would do. Nothing was asked for it.

    subjects:      {subject: {mode: trials}}.
    trials:        how many are measured; for_discovery: how many are drawn for an instrument to
                   learn from, and never measured.
    calls:         a line for each model and part: calls, tokens, US dollars; `totals`: their sums.
    rule:          how tokens were estimated.
    prompts:       prompts by level of the factor that the protocol counts by; mostly empty.
    others:        what further levels of factors with a default would take.
    models:        what the table of models knows of each: its end, and where its price is from.
    waiting:       a line for each instrument that waits for judges.
    misfits:       a line for each model that would be asked for what it cannot give.
    matched:       how the prompts that are held against each other differ.
    icc:           the intra-item correlation that `design` assumes.
    wanted:        the difference in shares that was to be detected, or None.
    design:        the smallest difference that each headline measure detects with 80 % power.
    stopping:      of a run that stops early, what it would ask and find; else None, and not in
                   `as_dict`.
    """

    protocol: str
    version: str
    subjects: Mapping[str, Mapping[str, int]]
    trials: int
    for_discovery: int
    calls: tuple[cost.Line, ...]
    totals: cost.Totals
    rule: str
    prompts: Mapping[str, int]
    others: tuple[planning.Other, ...]
    models: tuple[KnownModel, ...]
    waiting: tuple[str, ...]
    misfits: tuple[str, ...]
    matched: tuple[prompt_pairs.PromptDifference, ...]
    icc: float
    wanted: float | None
    design: tuple[power.Detectable, ...]
    stopping: StoppingForecast | None = None

    def as_dict(self) -> dict[str, Json]:
        """Plain values, as `tiltmeter plan --json` prints them (`for_discovery` is "aside")."""
        return {
            {"for_discovery": "aside"}.get(name, name): list(value)
            if isinstance(value, tuple)
            else value
            for name, value in asdict(self).items()
            if name != "stopping" or value is not None
        }

    def __repr__(self) -> str:
        return plan_page.line(self)

    def _repr_html_(self) -> str:
        return plan_page.page(self).html()

    def __getitem__(self, name: str) -> Json:
        warnings.warn(
            f"plan(…)['{name}'] is plan(…).{name} now, or plan(…).as_dict()['{name}']",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.as_dict()[name]


def plan(
    protocol: str | Path | Protocol,
    model: ModelGiven,
    *,
    judge: ModelGiven = (),
    icc: float | None = None,
    detect: float | None = None,
    stop: bool | None = None,
    **options: Unpack[PlanOptions],
) -> Plan:
    """What a run would do; nothing is asked, and no key is needed.

    icc:    how alike the outputs of one item are, from 0 to 1; .2 where it is not given.
    detect: a difference in shares (0.05 for 5 points) for which the items and the samples needed
            are worked out.
    stop:   True to simulate a run that asks no further for what is decided; as the protocol says
            where it is left out.
    """
    arguments.refuse_unknown(options, PlanOptions.__optional_keys__)
    declared = registry.protocol(protocol)
    choices = arguments.choices(model, options, protocol, declared)
    connect = arguments.connect(options)
    judges = model_names(judge)
    names = list(dict.fromkeys((*choices.subjects, *judges)))
    connect.check(names)
    counted = planning.count(declared, choices)
    batching = arguments.batching(options)
    in_batches = batching.hands_in
    price = connect.batch_price if in_batches else connect.expected_price
    lines = cost.lines(declared, choices, annotators(declared, judges), price)
    models = [connect.describe(name) for name in names]
    for known in models if in_batches else ():
        known["batch"] = connect.describe_batch(known["name"])
    from ..stages import power

    icc = power.ICC if icc is None else icc
    totals, forecast = cost.totals(lines), None
    if is_stopping(declared, stop):
        from .stopped_plan import StoppingQuestion, stopping_forecast

        asking = arguments.Asking(judges, {}, Limits(), connect, batching)
        question = StoppingQuestion(declared, choices, asking, icc, detect, totals)
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
        tuple(planning.others(declared, choices)),
        tuple(models),
        tuple(missing_judges(declared, judges)),
        tuple(_misfits(declared, counted, judges)),
        tuple(prompt_pairs.prompt_differences(declared, planning.cells(declared, choices))),
        icc,
        detect,
        tuple(power.detectable(declared, choices, icc, detect)),
        forecast,
    )


def _trials(
    declared: Protocol, counted: Mapping[str, Mapping[str, int]], for_discovery: bool
) -> int:
    """How many trials there are in the modes that are measured, or in those for discovery."""
    return sum(
        number
        for modes in counted.values()
        for name, number in modes.items()
        if declared.modes[name].for_discovery == for_discovery
    )


def _misfits(
    declared: Protocol, counted: Mapping[str, Mapping[str, int]], judges: Sequence[str]
) -> list[str]:
    """What a run would say of a model that draws and is asked for text, or the reverse."""
    requests = {
        (subject, declared.modes[mode].size) for subject, modes in counted.items() for mode in modes
    }
    refusals = []
    for name, size in sorted(requests | {(judge, "") for judge in judges}):
        model = Model()
        model.name, model.makes = name, table.makes(name)
        try:
            model.check(Request(name, (), Sampling(), size=size))
        except Incapable as error:
            refusals.append(str(error))
    return list(dict.fromkeys(refusals))


def trials(
    protocol: str | Path | Protocol,
    model: ModelGiven,
    **options: Unpack[RunOptions],
) -> Iterator[dict[str, str]]:
    """The trials of a plan, each as a row: its own id (`trial`), subject, mode, sample and prompt,
    then its factors and its item. A factor that has one of these names is `factor_NAME`.
    """
    arguments.refuse_unknown(options, RunOptions.__optional_keys__)
    declared = registry.protocol(protocol)
    choices = arguments.choices(model, options, protocol, declared)
    shard, planned = arguments.shard(options), planning.trials(declared, choices)
    for trial in shard.part(planned) if shard else planned:
        yield _row(trial)


def _row(trial: Trial) -> dict[str, str]:
    own = (trial.id, trial.subject, trial.mode, str(trial.sample), trial.prompt)
    return dict(zip(OWN_COLUMNS, own, strict=True)) | {
        f"factor_{name}" if name in OWN_COLUMNS else name: level
        for name, level in trial.factors.items()
    }
