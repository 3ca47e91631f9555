"""The facts of a run for its report: size, models, design, long signatures, commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...analyse.stopping.plan import StoppingPlan, read_plan
from ...analyse.stopping.progress import read_progress
from ...analyse.whole_run import signature
from ...protocol import Protocol, wording
from ...protocol.design import prompt_pairs
from ...protocol.design.tables import SEVERAL
from ...records import Json, __version__
from ...store import Store
from ...store.queries import endpoints, labels, settings
from ...store.queries import trials as asked
from ..first_screen import summary
from ..page_model.figures import Pairs
from . import cascades, models_asked

_Extent = tuple[str, int, int, tuple[str, ...]]  # mode, samples, items, languages


@dataclass(frozen=True)
class RunFacts:
    """The facts that are read once per run. models: summed from its calls; parts: its trials by
    subject and mode; frozen: the settings with which the run began.
    """

    store: Store
    protocol: Protocol
    models: list[models_asked.Facts]
    parts: list[asked.TrialPart]
    annotators: list[str]
    frozen: settings.Frozen


def read_facts(store: Store, protocol: Protocol) -> RunFacts:
    """Reads the facts of a run."""
    return RunFacts(
        store,
        protocol,
        models_asked.facts(store),
        asked.parts(store),
        labels.annotators(store),
        settings.frozen(store),
    )


def asked_line(facts: RunFacts) -> str:
    """Writes a line on the run's size: answers, models, items, labels by rules and judges."""
    items, of_all, languages = _extent(facts)
    planned = settings.progress(facts.store).planned
    line = summary.asked_line(facts.protocol, facts.parts, items, of_all, languages, planned)
    sentences = (share.sentence for share in cascades.shares(facts.store) if share.answers)
    return "; ".join((line, *sentences))


def _extent(facts: RunFacts) -> tuple[int, int, tuple[str, ...]]:
    """Returns (number of items asked, items of the protocol in these languages, the languages)."""
    protocol, levels = facts.protocol, asked.levels_asked(facts.store)
    of = {row.get(protocol.item, "") for row in levels}
    languages = {row.get("language", "") for row in levels}
    # what several items share is none of them
    items = len({item for item in of if SEVERAL not in item})
    return items, len(protocol.items(languages)), tuple(sorted(languages - {""}))


def design(facts: RunFacts) -> Pairs:
    """Returns the design as (name, value) rows."""
    store, protocol = facts.store, facts.protocol
    items, of_all, _ = _extent(facts)
    answered, planned = settings.progress(store)
    noun = wording.item_noun(protocol)
    rows = [
        ("protocol", f"{protocol.name}, version {protocol.version}, data {protocol.digest[:8]}"),
        ("asked", f"{answered:,} of {planned:,} trials, {items:,} of {of_all:,} {noun}s"),
        ("factors", ", ".join(protocol.factors)),
        *(
            ("prompts compared", prompt_pairs.sentence(row))
            for row in prompt_pairs.prompt_differences(protocol, asked.levels_asked(store))
        ),
        ("labelled by", ", ".join(facts.annotators) or "nobody yet"),
        ("seed", str(facts.frozen.get("seed", 0))),
        *((f"endpoint of {model}", described) for model, described in endpoints.lines(store)),
    ]
    for part in {(p.mode, p.begin, p.samples): p for p in facts.parts}.values():
        begun = f", the answer begun with “{part.begin}”" if part.begin else ""
        mode = protocol.modes.get(part.mode)
        how = (
            "probabilities of the next tokens read"
            if mode and mode.logprobs
            else f"{part.samples:,} draws of each prompt"
        )
        rows.append((f"mode {part.mode}", how + begun))
    return tuple(rows)


def long_signatures(facts: RunFacts) -> Iterator[tuple[str, str]]:
    """Yields the long signature of each subject, as JSON."""
    for name in dict.fromkeys(part.subject for part in facts.parts):
        about = [
            fact.as_dict()
            for fact in facts.models
            if fact.model == name or fact.purpose != "subject"
        ]
        text = _signature(facts, about or [{"name": name}])
        yield name, json.dumps(text, ensure_ascii=False, indent=1)


def _signature(facts: RunFacts, models: list[dict[str, Any]]) -> dict[str, Any]:
    settings = {
        model: {name: value for name, value in record.items() if name != "address"}
        for model, record in endpoints.endpoints(facts.store).items()
    }
    return signature.long(facts.protocol, models, facts.annotators, facts.frozen, settings)


def info(facts: RunFacts) -> dict[str, Json]:
    """Returns plain values for the `run` of the JSON output."""
    progress = read_progress(facts.store)
    together = [share.as_dict() for share in cascades.shares(facts.store)]
    return {
        "tiltmeter": __version__,
        "title": facts.protocol.title,
        "trials": sum(part.trials for part in facts.parts),
        "answered": sum(part.answered for part in facts.parts),
        "asked": [
            {
                "subject": p.subject,
                "mode": p.mode,
                "trials": p.trials,
                "answered": p.answered,
                "begin": p.begin,
                "temperature": p.temperature,
                "top_p": p.top_p,
                "max_tokens": p.max_tokens,
            }
            for p in facts.parts
        ],
        "cost": None
        if any(fact.unknown_cost for fact in facts.models)
        else round(sum(fact.cost for fact in facts.models), 6),
        **({"cascades": together} if together else {}),
        **({"stopping": progress.as_dict()} if progress else {}),
        "signature": _signature(facts, [fact.as_dict() for fact in facts.models]),
    }


def commands(facts: RunFacts, variants: Sequence[str]) -> Iterator[str]:
    """Yields commands that repeat the audit, one per group of models with the same options."""
    yield f"pip install tiltmeter=={__version__}"
    name, imports = _source(facts), settings.imports(facts.store)
    for one in imports:
        yield f"tiltmeter import {name} {shlex.quote(one.file)} --out RUN"
    imported = {subject for one in imports for subject in one.subjects}
    together: dict[_Extent, list[str]] = {}
    for (subject, mode), extent in _extents(facts).items():
        if subject not in imported:
            together.setdefault((mode, *extent), []).append(subject)
    stopped = read_plan(facts.store)
    if stopped is not None:
        together = {}
        given = (*_options_of_plan(stopped), *_judge_options(facts), *_shared_options(facts))
        options = " ".join([*given, "--stop"])
        yield f"tiltmeter run {name} {options} --out RUN"
    for group, models in together.items():
        options = " ".join([*_options(facts, group, models), *_shared_options(facts)])
        yield f"tiltmeter run {name} {options} --out RUN"
    yield from (f"tiltmeter label RUN{options}" for options in _labelled_later(facts))
    for variant in variants:
        if variant != "default":
            yield f"tiltmeter analyse RUN --variant {shlex.quote(variant)}"
    yield "tiltmeter analyse RUN --json"


def _options_of_plan(plan: StoppingPlan) -> Iterator[str]:
    """Yields the options of a run that may stop early; its looks decide the number of answers."""
    for option, key in (("model", "subjects"), ("language", "languages"), ("mode", "modes")):
        for value in _as_list(plan.choices.get(key)):
            yield f"--{option} {shlex.quote(value)}"
    for key in ("samples", "limit"):
        if plan.choices.get(key) is not None:
            yield f"--{key} {plan.choices[key]}"
    where = plan.choices.get("where")
    for factor, levels in where.items() if isinstance(where, Mapping) else ():
        typed = f"{factor}={','.join(_as_list(levels))}"
        yield f"--where {shlex.quote(typed)}"
    yield from (f"--cross {shlex.quote(value)}" for value in _as_list(plan.choices.get("cross")))
    yield from (f"--judge {shlex.quote(judge)}" for judge in plan.judges)


def _as_list(value: Json) -> list[str]:
    return list(map(str, value)) if isinstance(value, Sequence) and value else []


def _shared_options(facts: RunFacts) -> Iterator[str]:
    yield f"--seed {facts.frozen.get('seed', 0)}"
    for name in ("begin", "temperature"):
        if facts.frozen.get(name) is not None:
            yield f"--{name} {shlex.quote(str(facts.frozen[name]))}"


def _options(facts: RunFacts, extent: _Extent, models: Sequence[str]) -> Iterator[str]:
    mode, samples, items, languages = extent
    yield from (f"--model {shlex.quote(model)}" for model in models)
    yield from (f"--language {shlex.quote(language)}" for language in languages)
    yield f"--mode {shlex.quote(mode)}"
    declared = facts.protocol.modes.get(mode)
    if declared and not declared.logprobs and samples != declared.samples:
        yield f"--samples {samples}"
    if items < len(facts.protocol.items(languages)):
        yield f"--limit {items}"
    judges = dict.fromkeys(fact.model for fact in facts.models if fact.role == "judge")
    if settings.cascades(facts.store):
        judges = dict.fromkeys(next(_judges_by_options(facts))[1])
    yield from (f"--judge {shlex.quote(judge)}" for judge in judges)
    yield from _judge_options(facts)


def _judge_options(facts: RunFacts) -> Iterator[str]:
    """Yields the options under which unsure rules call a judge, if any do."""
    if settings.cascades(facts.store):
        yield next(_judges_by_options(facts))[0]


def _judges_by_options(facts: RunFacts) -> Iterator[tuple[str, list[str]]]:
    """Yields (options, judges) for each set of options under which unsure rules called judges."""
    by_options: dict[str, list[str]] = {}
    for share in cascades.shares(facts.store):
        by_options.setdefault(" ".join(share.options), []).append(share.judge)
    yield from by_options.items()


def _labelled_later(facts: RunFacts) -> Iterator[str]:
    """Yields the options of further labelling commands, besides the first for unsure rules: other
    options, judges of every output, and rules alone.
    """
    ways = [*_judges_by_options(facts)]
    everything = [fact.model for fact in facts.models if fact.purpose in facts.annotators]
    for options, judges in (*ways[1:], *([("", everything)] if ways and everything else ())):
        named = "".join(f" --judge {shlex.quote(judge)}" for judge in dict.fromkeys(judges))
        yield f"{named}{' ' * bool(options)}{options}"
    rules = {name.partition("+")[0] for name in settings.cascades(facts.store)}
    if not everything and any(name.partition("@")[0] in rules for name in facts.annotators):
        yield ""


def _extents(facts: RunFacts) -> dict[tuple[str, str], tuple[int, int, tuple[str, ...]]]:
    """Returns {(subject, mode): (samples, number of items, languages)}; languages: () for all."""
    every, extents_of = set(facts.protocol.languages), {}
    for extent in asked.extents(facts.store):
        items = {levels.get(facts.protocol.item, "") for levels in extent.cells}
        languages = {levels.get("language", "") for levels in extent.cells}
        some = () if languages >= every else tuple(sorted(languages))
        extents_of[extent.subject, extent.mode] = extent.samples, len(items), some
    return extents_of


def _source(facts: RunFacts) -> str:
    """Returns the protocol's name, or its file's name without the folder."""
    source = settings.source(facts.store) or facts.protocol.name
    return (
        shlex.quote(source.replace("\\", "/").rsplit("/", 1)[-1])
        if source.endswith(".toml")
        else shlex.quote(source)
    )
