"""Converts the commands' options to Choices, Limits, Connect and Batching.

An option sets the field of the same name, unless its function here differs. `refuse_unknown`
refuses unknown names at run time, as mypy does statically.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ... import registry
from ...errors import UnknownName, UsageError
from ...models.workers import Workers
from ...models.workers.worker import IN_FLIGHT
from ...protocol import Protocol
from ...protocol.source.filled import filled
from ...stages.batches.reach import Batching
from ...stages.engine.limits import Limits
from ...stages.planning import cost
from ...stages.planning.plan import Choices
from ...stages.planning.shards import Shard
from ...stages.steps.connect import Connect
from ...stages.steps.label import ask_about_unread, ask_where_unsure
from ...system import intake
from .forms import names
from .given_models import ModelGiven, fill_protocol, model_names
from .records import (
    AskOptions,
    BatchOptions,
    ChoiceOptions,
    ConnectOptions,
    JudgeOptions,
    LabelOptions,
    RunOptions,
)

LOCAL = ("builtin", "gguf")  # kinds whose context tiltmeter chooses
JUDGE_FOR = ALL, UNSURE, UNREAD = "all", "unsure", "unread"


@dataclass(frozen=True, slots=True)
class Asking:
    """The settings for asking judges and subjects. given: {kind of material: the user's text};
    shard: the shard of the plan to ask, None for all of it.
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
    """Reads the options of a command that asks models. subjects: the audited models."""
    judges = model_names(judge)
    named = (*subjects, *judges)
    connected, batches = connect(options, named, workers(options)), batching(options)
    shared = [name for name in named if batches.hands_in and len(connected.urls(name)) > 1]
    if shared:
        raise UsageError(
            f"A batch goes to one server, but {shared[0]} has several --base-url. Give one "
            "--base-url, or leave the batch out."
        )
    return Asking(judges, material(taxonomy), limits(options), connected, batches)


def several(names: str | Sequence[str]) -> tuple[str, ...]:
    """Returns one name or several as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def connect(
    options: ConnectOptions, named: Sequence[str] = (), workers: Workers | None = None
) -> Connect:
    """Reads the settings of connections. named: the user's models, which may execute code."""
    by_model = {"": options.get("base_url", ""), **options.get("base_urls", {})}
    urls = {
        whom: tuple(dict.fromkeys(filter(None, several(some)))) for whom, some in by_model.items()
    }
    first = {whom: some[0] for whom, some in urls.items() if some}
    return filled(
        Connect,
        options,
        base_url=first.pop("", ""),
        base_urls=first,
        further={whom: some[1:] for whom, some in urls.items() if len(some) > 1},
        named=tuple(named),
        workers=workers,
    )


def workers(options: AskOptions) -> Workers | None:
    """Reads the number of worker processes, None for this process. Raises UsageError."""
    spec = options.get("workers")
    return None if spec is None else Workers.parse(str(spec))


def with_judges(
    protocol: Protocol, judge: ModelGiven, options: JudgeOptions
) -> tuple[ModelGiven, Protocol]:
    """Returns (judges, protocol); the protocol then says which answers they label: all, unsure or
    unread ones. Adds the protocol to planted judges of the latter. UsageError if options conflict.
    """
    scope, sure, names = options.get("judge_for", ALL), options.get("sure"), model_names(judge)
    if scope not in JUDGE_FOR:
        raise UnknownName("--judge-for", scope, JUDGE_FOR)
    if sure is not None and not 0 <= sure <= 1:
        raise UsageError("--sure must be a share from 0 to 1, such as 0.9.")
    if scope != ALL and names:
        judge = names = tuple(fill_protocol(name, protocol, protocol) for name in names)
    if scope == UNSURE:
        return judge, ask_where_unsure(protocol, names, sure)
    if sure is not None:
        raise UsageError("--sure needs --judge MODEL --judge-for unsure.")
    return judge, ask_about_unread(protocol, names) if scope == UNREAD else protocol


def asked_protocol(
    given: str | Path | Protocol, judge: ModelGiven, options: ChoiceOptions
) -> Protocol | str | Path:
    """Returns the protocol as given; with --mitigate, a copy with the mitigations of the file."""
    file = options.get("mitigate")
    if file is None:
        return given
    is_graded = bool(model_names(judge))
    return registry.with_mitigations(registry.protocol(given), str(file), graded=is_graded)


def limits(options: AskOptions) -> Limits:
    """Reads the limits of a run; with workers, raises the number of calls to their capacity."""
    allowed, processes = filled(Limits, options), workers(options)
    if processes is None:
        return allowed
    most = max(allowed.most_in_flight, IN_FLIGHT * processes.number)
    return replace(allowed, concurrency=most)


def batching(options: BatchOptions) -> Batching:
    """Reads the options of batches."""
    file = options.get("batch_file")
    return filled(
        Batching,
        options,
        hands_in=options.get("batch", False) or file is not None,
        file=None if file is None else Path(file),
    )


def choices(
    model: ModelGiven,
    options: ChoiceOptions,
    protocol: str | Path | Protocol,
    declared: Protocol,
) -> Choices:
    """Reads the choice of questions and subjects. protocol: the protocol as the caller named it."""
    where, nouns = dict(options.get("where", {})), options.get("declension")
    if nouns:  # this factor has an option of its own
        where.setdefault("declension", names(nouns))
    return filled(
        Choices,
        options,
        subjects=tuple(fill_protocol(name, protocol, declared) for name in model_names(model)),
        languages=several(options.get("language", options.get("languages", ()))),
        modes=several(options.get("mode", options.get("modes", ()))),
        where={factor: several(levels) for factor, levels in where.items()},
        cross=several(options.get("cross", ())),
    )


def connect_subjects(connected: Connect, choices: Choices, declared: Protocol) -> Connect:
    """Adds the subjects' reasoning effort, and the context that a local model needs."""
    is_local = any(name.partition(":")[0] in LOCAL for name in choices.subjects)
    return replace(
        connected,
        reasoning=choices.reasoning,
        subjects=choices.subjects,
        needed_context=cost.longest(declared, choices) if is_local else 0,
        no_system=choices.system == "",
    )


def shard(options: RunOptions) -> Shard | None:
    """Reads which shard of the plan to ask, None for the whole plan. Raises UsageError."""
    text = options.get("shard")
    return None if text is None else Shard.parse(text)


def material(taxonomy: Path | str | None) -> dict[str, str]:
    """Reads the user's material for labelling: {kind of material: its text}."""
    if taxonomy is None:
        return {}
    try:
        return {"taxonomy": intake.read_text(taxonomy, intake.MOST_DECLARED_BYTES)}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--taxonomy {taxonomy} cannot be read: {error}. Name a text.") from None


def refuse_unknown(options: Iterable[str], known: Collection[str]) -> None:
    """Raises UnknownName, with the most similar name, for an option that the command lacks."""
    for name in options:
        if name not in known:
            raise UnknownName("option", name, sorted(known))
