"""The options of the verbs as they are given in Python → Choices, Limits and Connect.

The TypedDicts name and type each option, so that an editor completes them and mypy refuses what
none of them has; `refuse_unknown` says the same when a program runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from .. import intake
from ..errors import UnknownName, UsageError
from ..models import Price
from ..models.workers import Workers
from ..models.workers.worker import IN_FLIGHT
from ..protocol import Protocol
from ..stages.batch_steps import Batching
from ..stages.connect import Connect
from ..stages.label import ask_where_unsure
from ..stages.limits import Limits
from ..stages.plan import Choices
from ..stages.shards import Shard
from .models import ModelGiven, fill_protocol, model_names

JUDGE_FOR = ALL, UNSURE = "all", "unsure"


class ConnectOptions(TypedDict, total=False):
    """How models are reached (`stages.connect.Connect`).

    base_url:     the server of every model that has no provider of its own, or several of them,
                  which share its requests.
    base_urls:    servers by kind of model or by model name, one or several each.
    timeout:      seconds that one call may take.
    prices:       by model name, US dollars for a million tokens, in and out.
    builtin_from: the built-in model's wheel or GGUF file, where there is no pip.
    columns:      of files of answers, {"text": "response"} where they call it otherwise.
    """

    base_url: str | Sequence[str]
    base_urls: Mapping[str, str | Sequence[str]]
    timeout: float
    prices: Mapping[str, Price]
    builtin_from: str | None
    columns: Mapping[str, str]


class BatchOptions(TypedDict, total=False):
    """What goes to a provider in batches (`stages.batch_steps.Batching`).

    batch:      True to hand requests in as batches; `errors.BatchesOut` where they have not ended:
                the same call collects them.
    wait:       True to stay until they have ended.
    poll:       seconds between the first two looks at a batch.
    batch_file: a file that requests are written to, for somebody else to run.
    """

    batch: bool
    wait: bool
    poll: float
    batch_file: Path | str | None


class JudgeOptions(TypedDict, total=False):
    """What judges label.

    judge_for: "all" for everything, beside the rules; "unsure" for what the rules are unsure of, as
               one instrument with them.
    sure:      how sure the rules must be not to ask, from 0 to 1; their own bound if left out.
    """

    judge_for: str
    sure: float | None


class AskOptions(ConnectOptions, total=False):
    """How models are reached, and what a run may use (`stages.limits.Limits`).

    concurrency: calls in flight to each model at most, None for as many as its servers take;
    rate: calls per minute to each model; max_cost: US dollars in all;
    patience: seconds of an outage that a call outlasts; workers: "8" processes of this machine for
    each model that runs in tiltmeter's own, "8@auto?gpus=1" for those of a Ray cluster.
    """

    workers: str | int | None
    concurrency: int | None
    rate: float | None
    max_cost: float | None
    patience: float


class ChoiceOptions(TypedDict, total=False):
    """What is asked (`stages.plan.Choices`).

    language, mode: one or several; `languages` and `modes` are the same.
    samples:        draws of each prompt; what the protocol's mode says otherwise.
    limit:          how many items of each language.
    where:          {factor: levels} in place of the protocol's defaults; the level "*" is all.
    cross:          intersections of two dimensions too, such as "gender×age".
    system:         a system prompt in place of the protocol's own; "" for none.
    begin:          a begun answer in place of the mode's own.
    """

    language: str | Sequence[str]
    languages: Sequence[str]
    mode: str | Sequence[str]
    modes: Sequence[str]
    samples: int | None
    limit: int | None
    seed: int
    begin: str | None
    temperature: float | None
    where: Mapping[str, str | Sequence[str]]
    cross: str | Sequence[str]
    system: str | None


class PlanOptions(ChoiceOptions, JudgeOptions, ConnectOptions, BatchOptions, total=False):
    """What is asked, and how models are reached."""


class LabelOptions(JudgeOptions, AskOptions, BatchOptions, total=False):
    """How models are reached, what a run may use, and what goes in batches."""


class RunOptions(ChoiceOptions, LabelOptions, total=False):
    """What is asked, how models are reached, and what a run may use.

    stop:  True to ask no further for what is decided (docs/stopping.md), False to ask all; as the
           protocol says where it is left out.
    shard: "3/16" for the third of sixteen equal parts of the plan; `merge` joins their runs.
    """

    stop: bool | None
    shard: str | None


@dataclass(frozen=True, slots=True)
class Asking:
    """How judges and subjects are asked. given: the material that a person gives, by kind; shard:
    the part of the plan that is asked, None for all of it.
    """

    judges: tuple[str, ...]
    given: Mapping[str, str]
    limits: Limits
    connect: Connect
    batching: Batching
    shard: Shard | None = None


def asking(
    judge: ModelGiven,
    taxonomy: Path | str | None,
    options: LabelOptions,
    subjects: Sequence[str] = (),
) -> Asking:
    """From the options of a verb that asks models. subjects: the names of the models under
    audit.
    """
    judges = model_names(judge)
    named = (*subjects, *judges)
    connected, batches = connect(options, named, workers(options)), batching(options)
    shared = [name for name in named if batches.hands_in and len(connected.urls(name)) > 1]
    if shared:
        raise UsageError(
            f"A batch goes to one server, and {shared[0]} has several. Give --base-url once, or "
            "leave the batch out."
        )
    return Asking(judges, material(taxonomy), limits(options), connected, batches)


def several(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def connect(
    options: ConnectOptions, named: Sequence[str] = (), workers: Workers | None = None
) -> Connect:
    """How models are reached. named: those that a person named, who may execute code."""
    usual = Connect()
    given = {"": options.get("base_url", ""), **options.get("base_urls", {})}
    urls = {whom: tuple(dict.fromkeys(filter(None, several(one)))) for whom, one in given.items()}
    first = {whom: some[0] for whom, some in urls.items() if some}
    return Connect(
        first.pop("", usual.base_url),
        options.get("timeout", usual.timeout),
        options.get("prices", usual.prices),
        options.get("builtin_from", usual.builtin_from),
        first,
        tuple(named),
        options.get("columns", usual.columns),
        {whom: some[1:] for whom, some in urls.items() if len(some) > 1},
        workers,
    )


def workers(options: AskOptions) -> Workers | None:
    """The processes that hold models, None for this one alone. UsageError for what is none."""
    given = options.get("workers")
    return None if given is None else Workers.parse(str(given))


def judged_by(protocol: Protocol, judge: ModelGiven, options: JudgeOptions) -> Protocol:
    """The protocol as its judges are asked. UsageError for options that do not go together."""
    where, sure = options.get("judge_for", ALL), options.get("sure")
    if where not in JUDGE_FOR:
        raise UnknownName("--judge-for", where, JUDGE_FOR)
    if sure is not None and not 0 <= sure <= 1:
        raise UsageError("--sure is a share, from 0 to 1.")
    if where == UNSURE:
        return ask_where_unsure(protocol, model_names(judge), sure)
    if sure is not None:
        raise UsageError(
            "--sure says where a judge is asked. Type also: --judge MODEL --judge-for unsure"
        )
    return protocol


def limits(options: AskOptions) -> Limits:
    """What a run may use; with workers, as many calls as they take at once."""
    usual, held = Limits(), workers(options)
    asked = options.get("concurrency", usual.concurrency)
    if held is not None:
        asked = max(asked or usual.most_in_flight, IN_FLIGHT * held.number)
    return Limits(
        asked,
        options.get("rate", usual.rate),
        options.get("max_cost", usual.max_cost),
        options.get("patience", usual.patience),
    )


def batching(options: BatchOptions) -> Batching:
    """What goes to a provider in batches."""
    usual, file = Batching(), options.get("batch_file")
    return Batching(
        options.get("batch", False) or file is not None,
        options.get("wait", usual.wait),
        options.get("poll", usual.poll),
        Path(file) if file is not None else None,
    )


def choices(
    model: ModelGiven,
    options: ChoiceOptions,
    protocol: str | Path | Protocol,
    declared: Protocol,
) -> Choices:
    """What is asked of which subjects. protocol: what the audit was named by."""
    where = options.get("where", {})
    return Choices(
        subjects=tuple(fill_protocol(name, protocol, declared) for name in model_names(model)),
        languages=several(options.get("language", options.get("languages", ()))),
        modes=several(options.get("mode", options.get("modes", ()))),
        samples=options.get("samples"),
        limit=options.get("limit"),
        seed=options.get("seed", 0),
        begin=options.get("begin"),
        temperature=options.get("temperature"),
        where={factor: several(levels) for factor, levels in where.items()},
        cross=several(options.get("cross", ())),
        system=options.get("system"),
    )


def shard(options: RunOptions) -> Shard | None:
    """The part of the plan that is asked. UsageError for what is none."""
    text = options.get("shard")
    return None if text is None else Shard.parse(text)


def material(taxonomy: Path | str | None) -> dict[str, str]:
    """The material that a person gives, by kind."""
    if taxonomy is None:
        return {}
    try:
        return {"taxonomy": intake.read_text(taxonomy, intake.MOST_DECLARED_BYTES)}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The taxonomy {taxonomy} cannot be read: {error}.") from None


def refuse_unknown(options: Iterable[str], known: Collection[str]) -> None:
    """UnknownName, with the nearest one, for an option that the verb does not have."""
    for name in options:
        if name not in known:
            raise UnknownName("option", name, sorted(known))
