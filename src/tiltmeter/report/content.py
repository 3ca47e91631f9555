"""A run and its estimates → everything that a report says, as frozen dataclasses, each number
written once.

Every text of the result is safe to look at (see `visible`); the reporters still escape it for their
format.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .. import gold
from ..analyse import cautions, numerals, reading, signature
from ..analyse.background import read_background
from ..analyse.verdicts import NOTHING_KNOWN
from ..gold import validation
from ..models.kinds import serves_asked
from ..protocol import Protocol, prompt_pairs
from ..protocol.tables import SEVERAL
from ..records import Estimate, Json, __version__
from ..stages import injection_count
from ..store import Store, served_models
from ..store.queries import labels, settings
from ..store.queries import trials as asked
from . import (
    audits,
    behind,
    examples,
    findings,
    pictures,
    ranked_pictures,
    sanitize,
    screen,
    subjects,
    summary,
    tables,
    taxonomies,
)
from . import judges as cards
from .figures import figures
from .model import Content, Pairs, Section, Signature

PROMPTS = 4  # prompts shown as examples
FEW = 4  # levels of a factor whose every combination deserves an example prompt


def build(
    store: Store,
    protocol: Protocol,
    estimates: Sequence[Estimate],
    named: Mapping[str, str] | None = None,
) -> Content:
    """The content of a report. Estimates of several variants go into sections of their own. named:
    {model: short name}, where somebody gave one.
    """
    known, trials = subjects.facts(store), asked.parts(store)
    marks = audits.number_signatures(estimate.signature for estimate in estimates)
    variants = dict.fromkeys(estimate.variant for estimate in estimates)
    read = [
        audits.audit(protocol, [e for e in estimates if e.variant == name], marks)
        for name in variants
    ]
    background = read_background(store, protocol, read[0].estimates) if read else NOTHING_KNOWN
    judged = findings.judge(read[0], background, named) if read else []
    headline = summary.label_findings(
        [finding for audit in read[:1] for finding in findings.findings(audit, judged)]
    )
    shown = summary.first(headline)
    annotators = labels.annotators(store)
    frozen = settings.frozen(store)
    dates = [fact.last for fact in known if fact.last]
    asked_line = _asked_line(store, protocol, trials)
    basis = summary.basis(store, protocol, read[0] if read else None, annotators)
    date = max(dates)[:10] if dates else ""
    told, shots = examples.examples(store, protocol), pictures.grids(store, protocol)
    ranked = ranked_pictures.grids(store, protocol, read[0].estimates if read else ())
    shots = (*shots, *ranked)
    drawers, drawer_of = behind.behind(store, protocol, estimates, told, shots)
    content = Content(
        title=protocol.title,
        question=protocol.question,
        protocol=f"{protocol.name}/{protocol.version}",
        date=date,
        version=__version__,
        asked=asked_line,
        screen=screen.screen(
            store,
            read[0] if read else None,
            judged,
            (protocol.title, date, asked_line),
            summary.missing_share(dict(basis)),
            named,
        ),
        lead=summary.summary(headline, len(headline)),
        basis=basis,
        findings=shown,
        every_finding=headline,
        cautions=summary.CAUTIONS,
        design=_design(store, protocol, trials, annotators, frozen),
        prompts=_prompts(protocol, estimates),
        measures=_measures(read[0].protocol if len(read) == 1 else protocol),
        subjects=subjects.subjects(known, trials, served_models.warnings(store, serves_asked)),
        sections=(
            *(_section(audit) for audit in read),
            *_validation(store, protocol),
            *filter(None, [taxonomies.section(store, protocol)]),
        ),
        examples=told,
        pictures=shots,
        behind=drawers,
        behind_of=drawer_of,
        limits=(
            *protocol.limits,
            *_cautions(store, protocol),
            *_correction_note(store),
            *_injection(store),
        ),
        departures=protocol.departures,
        citation=protocol.citation,
        signatures=tuple(Signature(mark, text) for text, mark in marks.items()),
        long_signatures=tuple(_long(protocol, known, trials, annotators, frozen)),
        commands=tuple(_commands(store, protocol, known, trials, frozen, read)),
        commands_note="Set the same keys in the environment and, where one was used, the same "
        "--base-url. A sampled model gives other draws; what must agree is what lies within the "
        "intervals.",
    )
    return replace(
        sanitize.all_visible(content), run_info=_info(protocol, known, trials, annotators, frozen)
    )


def _asked_line(store: Store, protocol: Protocol, trials: Sequence[asked.Part]) -> str:
    items, of_all, languages = _extent(store, protocol)
    progress = settings.progress(store)
    return summary.asked_line(protocol, trials, items, of_all, languages, progress.planned)


def _extent(store: Store, protocol: Protocol) -> tuple[int, int, tuple[str, ...]]:
    """How many items were asked about, of how many in the languages that were asked, and these
    languages.
    """
    levels = asked.levels_asked(store)
    of = {row.get(protocol.item, "") for row in levels}
    languages = {row.get("language", "") for row in levels}
    # what several items share is none of them
    items = len({item for item in of if SEVERAL not in item})
    return items, len(protocol.items(languages)), tuple(sorted(languages - {""}))


def _section(audit: audits.Audit) -> Section:
    name = audit.estimates[0].variant
    variant = audit.protocol.variants.get(name)
    title = "Results" if name == "default" else f"Results, variant “{name}”"
    drawn, listed = tuple(figures(audit, name)), tuple(tables.tables(audit, name))
    return Section(name, title, variant.text if variant else "", drawn, listed)


def _validation(store: Store, protocol: Protocol) -> Iterator[Section]:
    """Judges against people, where the run has gold or a panel's votes."""
    if gold.has_gold(store) or labels.have_votes(store):
        found = cards.section(validation.check(store, protocol))
        yield from [found] if found else []


def _correction_note(store: Store) -> Iterator[str]:
    if not gold.has_gold(store) and labels.exist(store):
        yield (
            "Labels are those of the instruments named. None was compared with people (tiltmeter "
            "validate RUN), so their errors are not known and all numbers are uncorrected."
        )


def _cautions(store: Store, protocol: Protocol) -> Iterator[str]:
    yield from (f"{text}." for text in cautions.warnings(store, protocol))


def _design(
    store: Store,
    protocol: Protocol,
    trials: Sequence[asked.Part],
    annotators: Sequence[str],
    frozen: settings.Frozen,
) -> Pairs:
    items, of_all, _ = _extent(store, protocol)
    answered, planned = settings.progress(store)
    rows = [
        ("protocol", f"{protocol.name}, version {protocol.version}, data {protocol.digest[:8]}"),
        ("asked", f"{answered:,} of {planned:,} trials, {items:,} of {of_all:,} {protocol.item}s"),
        ("factors", ", ".join(protocol.factors)),
        *(
            ("prompts compared", prompt_pairs.sentence(row))
            for row in prompt_pairs.prompt_differences(protocol, asked.levels_asked(store))
        ),
        ("labelled by", ", ".join(annotators) or "nobody yet"),
        ("seed", str(frozen.get("seed", 0))),
    ]
    for part in {(p.mode, p.begin, p.samples): p for p in trials}.values():
        begun = f", the answer begun with “{part.begin}”" if part.begin else ""
        mode = protocol.modes.get(part.mode)
        how = (
            "probabilities of the next tokens read"
            if mode and mode.logprobs
            else f"{part.samples:,} draws of each prompt"
        )
        rows.append((f"mode {part.mode}", how + begun))
    return tuple(rows)


def _injection(store: Store) -> Iterator[str]:
    """How often what judges were shown, and what they said, tried to instruct its reader; nothing
    where no judge labelled.
    """
    found = injection_count.read_counts(store)
    if found:
        sorts = "; ".join(
            f"{name.replace('_', ' ')} {number:,}" for name, number in found["sorts"].items()
        )
        yield (
            f"{found['output_attempts']:,} of {found['outputs']:,} outputs that judges were "
            f"shown{f' ({sorts})' if sorts else ''}, and {found['reply_attempts']:,} of "
            f"{found['replies']:,} replies of judges, try to instruct their reader. Outputs were "
            "shown as data."
        )


def _prompts(protocol: Protocol, estimates: Sequence[Estimate]) -> Pairs:
    """A prompt for each combination of the factors that have few levels, of the languages that were
    asked.
    """
    languages = {e.condition["language"] for e in estimates if "language" in e.condition}
    cells = [cell for cell in protocol.cells if not languages or cell.get("language") in languages]
    few = [name for name in protocol.factors if len({cell[name] for cell in cells}) <= FEW]
    names = [protocol.tally] if protocol.tally else few
    first: dict[str, str] = {}
    for cell in cells:
        first.setdefault(
            " · ".join(f"{name}: {cell[name]}" for name in names), protocol.prompt_text(cell)
        )
    shown = tuple(first.items())[:PROMPTS]
    return (*shown, ("", f"and {len(first) - PROMPTS} more")) if len(first) > PROMPTS else shown


def _measures(protocol: Protocol) -> Pairs:
    rows = []
    for spec in protocol.measures:
        null = (
            f"; {numerals.quantity(spec.null, spec.unit, spec.signed)} is no tilt"
            if reading.null_of(spec) is not None
            else ""
        )
        rows.append((spec.name, f"{spec.text or spec.kind}{null}"))
    return tuple(rows)


def _long(
    protocol: Protocol,
    known: Sequence[subjects.Facts],
    trials: Sequence[asked.Part],
    annotators: list[str],
    frozen: settings.Frozen,
) -> Iterator[tuple[str, str]]:
    """The long signature of each subject, as JSON."""
    for name in dict.fromkeys(part.subject for part in trials):
        about = [
            fact.as_dict() for fact in known if fact.model == name or fact.purpose != "subject"
        ]
        text = signature.long(protocol, about or [{"name": name}], annotators, frozen)
        yield name, json.dumps(text, ensure_ascii=False, indent=1)


def _info(
    protocol: Protocol,
    known: Sequence[subjects.Facts],
    trials: Sequence[asked.Part],
    annotators: list[str],
    frozen: settings.Frozen,
) -> dict[str, Json]:
    """The `run` of the JSON output: plain values."""
    return {
        "tiltmeter": __version__,
        "title": protocol.title,
        "trials": sum(part.trials for part in trials),
        "answered": sum(part.answered for part in trials),
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
            for p in trials
        ],
        "cost": None
        if any(fact.unknown_cost for fact in known)
        else round(sum(fact.cost for fact in known), 6),
        "signature": signature.long(
            protocol, [fact.as_dict() for fact in known], annotators, frozen
        ),
    }


def _commands(
    store: Store,
    protocol: Protocol,
    known: Sequence[subjects.Facts],
    trials: Sequence[asked.Part],
    frozen: settings.Frozen,
    audits: Sequence[audits.Audit],
) -> Iterator[str]:
    """What to type for the same audit. One command for each set of modes, samples and items that
    was asked together.
    """
    yield f"pip install tiltmeter=={__version__}"
    judges = dict.fromkeys(fact.model for fact in known if fact.role == "judge")
    shared = [f"--seed {frozen.get('seed', 0)}"]
    for name in ("begin", "temperature"):
        if frozen.get(name) is not None:
            shared.append(f"--{name} {shlex.quote(str(frozen[name]))}")
    imports = settings.imports(store)
    for one in imports:
        yield f"tiltmeter import {_source(store, protocol)} {shlex.quote(one.file)} --out RUN"
    imported = {name for one in imports for name in one.subjects}
    together: dict[tuple[str, int, int, tuple[str, ...]], list[str]] = {}
    for (subject, mode), (samples, items, languages) in _extents(store, protocol).items():
        if subject in imported:
            continue
        together.setdefault((mode, samples, items, languages), []).append(subject)
    for (mode, samples, items, languages), names in together.items():
        options = [f"--model {shlex.quote(name)}" for name in names]
        options += [f"--language {shlex.quote(name)}" for name in languages]
        options.append(f"--mode {shlex.quote(mode)}")
        declared = protocol.modes.get(mode)
        if declared and not declared.logprobs and samples != declared.samples:
            options.append(f"--samples {samples}")
        if items < len(protocol.items(languages)):
            options.append(f"--limit {items}")
        options += [f"--judge {shlex.quote(name)}" for name in judges]
        yield f"tiltmeter run {_source(store, protocol)} {' '.join([*options, *shared])} --out RUN"
    for audit in audits:
        name = audit.estimates[0].variant
        if name != "default":
            yield f"tiltmeter analyse RUN --variant {shlex.quote(name)}"
    yield "tiltmeter analyse RUN --json"


def _extents(
    store: Store, protocol: Protocol
) -> dict[tuple[str, str], tuple[int, int, tuple[str, ...]]]:
    """By subject and mode: samples, items, and the languages where they are not all."""
    seen: dict[tuple[str, str], tuple[int, set[str], set[str]]] = {}
    for one in asked.extents(store):
        most, items, languages = seen.get((one.subject, one.mode), (0, set(), set()))
        items.add(one.levels.get(protocol.item, ""))
        languages.add(one.levels.get("language", ""))
        seen[one.subject, one.mode] = max(most, one.samples), items, languages
    every = set(protocol.languages)
    return {
        key: (samples, len(items), () if languages >= every else tuple(sorted(languages)))
        for key, (samples, items, languages) in sorted(seen.items())
    }


def _source(store: Store, protocol: Protocol) -> str:
    """The name of a protocol that ships, or the file name of one's own (never its folder)."""
    source = settings.source(store) or protocol.name
    return (
        shlex.quote(source.replace("\\", "/").rsplit("/", 1)[-1])
        if source.endswith(".toml")
        else shlex.quote(source)
    )
