"""Builds the content of a report from a run and its estimates, as frozen dataclasses, with each
number written once.

Every text of the result is safe to look at (see `visible`); the renderers still escape it for their
format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ... import registry
from ...analyse.claims.background import read_background
from ...analyse.claims.verdicts import Verdict
from ...analyse.whole_run import warnings
from ...analyse.whole_run.measure_run import measured_rows
from ...analyse.whole_run.printed_beside import PUBLISHED, PrintedBeside, beside, subjects_of
from ...analyse.words import numerals, reading
from ...models.kinds import serves_asked
from ...protocol import Protocol
from ...protocol.design.thin_design import thin_design
from ...records import Estimate, __version__
from ...stages.steps import injection_count
from ...store import Store, served_models
from ...store.queries import labels, settings
from ..figures import figures
from ..first_screen import examples, findings, picture_grid, ranked_pictures, screen, summary
from ..page_model import audits, sanitize
from ..page_model.figures import Pairs
from ..page_model.page import Content, PictureGrid, Section, Signature, Subject
from ..tables import drawers as behind
from ..tables import estimate_tables, looks, printed_numbers, taxonomies
from . import cascades, models_asked, run_facts

PROMPTS = 4  # prompts shown as examples
FEW = 4  # levels of a factor whose every combination deserves an example prompt
COMMANDS_NOTE = (
    "Set the same keys in the environment and, where one was used, the same --base-url. A sampled "
    "model gives other draws; what must agree is what lies within the intervals."
)


def build(
    store: Store,
    protocol: Protocol,
    estimates: Sequence[Estimate],
    named: Mapping[str, str] | None = None,
    *,
    for_page: bool = True,
) -> Content:
    """Returns the content of a report, with a section per variant. named: {model: short name}.
    for_page: True to include figures, outputs, drawers and all else that only a page shows.
    """
    facts = run_facts.read_facts(store, protocol)
    marks = audits.number_signatures(estimate.signature for estimate in estimates)
    read = _by_variant(protocol, estimates, marks)
    first = read[0] if read else None
    judged = _judge(store, first, named)
    headline = (
        tuple(summary.label_findings(list(findings.findings(first, judged)))) if first else ()
    )
    dates = [fact.last for fact in facts.models if fact.last]
    title_line = (protocol.title, max(dates)[:10] if dates else "", run_facts.asked_line(facts))
    missing = summary.missing_answers(store, protocol)
    printed = _printed_beside(store, first, judged)
    alone = (read[0].protocol, estimates) if len(read) == 1 else (protocol, ())
    content = Content(
        title=protocol.title,
        question=protocol.question,
        protocol=f"{protocol.name}/{protocol.version}",
        date=title_line[1],
        version=__version__,
        asked=title_line[2],
        screen=screen.screen(store, first, judged, title_line, missing, named, for_page=for_page),
        lead=summary.summary(headline, len(headline)),
        basis=summary.basis(store, missing, first, facts.annotators),
        findings=summary.first(headline),
        every_finding=headline,
        cautions=summary.CAUTIONS,
        measures=_measures(*alone),
        sections=tuple(_sections(store, protocol, read, named, for_page)),
        departures=protocol.departures,
        citation=protocol.citation,
        signatures=tuple(Signature(mark, text) for text, mark in marks.items()),
    )
    content = _with_printed(content, printed)
    if for_page:
        content = _with_page(store, protocol, estimates, content, (facts, read))
    run_info = run_facts.info(facts)
    if printed:
        run_info = {**run_info, "published": [number.as_dict() for number in printed]}
    return replace(sanitize.all_visible(content), run_info=run_info)


def _with_printed(content: Content, printed: Sequence[PrintedBeside]) -> Content:
    """Adds the numbers printed by the authors, if there are any, to the content."""
    if not printed:
        return content
    badges = (*content.screen.badges, printed_numbers.badge(printed))
    sections = (*content.sections, printed_numbers.section(printed))
    return replace(content, screen=replace(content.screen, badges=badges), sections=sections)


def _with_page(
    store: Store,
    protocol: Protocol,
    estimates: Sequence[Estimate],
    content: Content,
    about: tuple[run_facts.RunFacts, Sequence[audits.Audit]],
) -> Content:
    """Adds everything that only a page shows."""
    facts, read = about
    whole = replace(
        content,
        design=run_facts.design(facts),
        prompts=_prompts(protocol, estimates),
        subjects=_subjects(store, facts),
        examples=examples.examples(store, protocol),
        pictures=tuple(_pictures(store, protocol, read[0] if read else None)),
        limits=tuple(_limits(store, protocol)),
        long_signatures=tuple(run_facts.long_signatures(facts)),
        commands=tuple(run_facts.commands(facts, [audit.estimates[0].variant for audit in read])),
        commands_note=COMMANDS_NOTE,
    )
    drawers, ids = behind.behind(store, protocol, estimates, whole)
    return replace(whole, behind=drawers, behind_of=ids)


def _by_variant(
    protocol: Protocol, estimates: Sequence[Estimate], marks: Mapping[str, str]
) -> list[audits.Audit]:
    variants = audits.grouped(estimates, lambda row: row.variant)
    return [audits.audit(protocol, rows, marks) for rows in variants.values()]


def _judge(
    store: Store, audit: audits.Audit | None, named: Mapping[str, str] | None
) -> list[Verdict]:
    """Returns the verdicts on the first variant's headline claims."""
    if audit is None:
        return []
    background = read_background(store, audit.protocol, audit.estimates)
    return findings.judge(audit, background, named)


def _printed_beside(
    store: Store, audit: audits.Audit | None, judged: Sequence[Verdict]
) -> list[PrintedBeside]:
    """Returns the authors' printed numbers next to the first variant's; [] without any."""
    readable = audit is not None and settings.own_source(store)
    printed = registry.printed_numbers(settings.source(store)) if readable else ()
    if audit is None or not {row.subject for row in audit.estimates} & subjects_of(printed):
        return []
    variants = audit.protocol.variants
    published = measured_rows(store, audit.protocol, PUBLISHED) if PUBLISHED in variants else None
    return beside(printed, audit.estimates, published, judged)


def _subjects(store: Store, facts: run_facts.RunFacts) -> tuple[Subject, ...]:
    changes = served_models.warnings(store, serves_asked)
    return models_asked.subjects(facts.models, facts.parts, changes)


def _pictures(
    store: Store, protocol: Protocol, audit: audits.Audit | None
) -> Iterator[PictureGrid]:
    yield from picture_grid.grids(store, protocol)
    yield from ranked_pictures.grids(store, protocol, audit.estimates if audit else ())


def _sections(
    store: Store,
    protocol: Protocol,
    read: Sequence[audits.Audit],
    named: Mapping[str, str] | None,
    for_page: bool,
) -> Iterator[Section]:
    yield from (_section(audit, for_page) for audit in read)
    stopped = looks.section(store, protocol, named)
    yield from [stopped] if stopped else []
    yield from _validation(store, protocol)
    taxonomy = taxonomies.section(store, protocol)
    yield from [taxonomy] if taxonomy else []


def _limits(store: Store, protocol: Protocol) -> Iterator[str]:
    yield from thin_design(protocol)
    yield from protocol.limits
    yield from (f"{text}." for text in warnings.warnings(store, protocol))
    yield from looks.limits(store)
    yield from cascades.limits(store)
    yield from _correction_note(store)
    yield from _injection(store)


def _section(audit: audits.Audit, for_page: bool) -> Section:
    name = audit.estimates[0].variant
    variant = audit.protocol.variants.get(name)
    title = "Results" if name == "default" else f"Results, variant “{name}”"
    figures_of, listed = (
        figures(audit, name) if for_page else (),
        estimate_tables.tables(audit, name),
    )
    return Section(name, title, variant.text if variant else "", tuple(figures_of), tuple(listed))


def _validation(store: Store, protocol: Protocol) -> Iterator[Section]:
    """Yields the section that compares judges with people, if the run has gold or panels' votes."""
    if labels.have_human(store) or labels.have_votes(store):
        from ...gold import validation  # 20 modules that most reports do without
        from ..tables import judges as cards

        section = cards.section(validation.check(store, protocol))
        yield from [section] if section else []


def _correction_note(store: Store) -> Iterator[str]:
    if not labels.have_human(store) and labels.exist(store):
        yield (
            "Labels are those of the instruments named. None was compared with people (tiltmeter "
            "validate RUN), so their errors are not known and all numbers are uncorrected."
        )


def _injection(store: Store) -> Iterator[str]:
    """Yields a sentence on how many outputs and judges' replies try to instruct readers."""
    counts = injection_count.read_counts(store)
    if counts:
        sorts = "; ".join(
            f"{name.replace('_', ' ')} {number:,}" for name, number in counts["sorts"].items()
        )
        yield (
            f"{counts['output_attempts']:,} of {counts['outputs']:,} outputs that judges were "
            f"shown{f' ({sorts})' if sorts else ''}, and {counts['reply_attempts']:,} of "
            f"{counts['replies']:,} replies of judges, try to instruct their reader. Outputs were "
            "shown as data."
        )


def _prompts(protocol: Protocol, estimates: Sequence[Estimate]) -> Pairs:
    """Returns (levels, prompt) per combination of factors with few levels."""
    languages = {e.condition["language"] for e in estimates if "language" in e.condition}
    cells = [cell for cell in protocol.cells if not languages or cell.get("language") in languages]
    few = [name for name in protocol.factors if len({cell[name] for cell in cells}) <= FEW]
    names = [protocol.tally] if protocol.tally else few
    first: dict[str, str] = {}
    for cell in cells:
        first.setdefault(
            " · ".join(f"{name}: {cell[name]}" for name in names), protocol.prompt_text(cell)
        )
    prompts = tuple(first.items())[:PROMPTS]
    return (*prompts, ("", f"and {len(first) - PROMPTS} more")) if len(first) > PROMPTS else prompts


def _measures(protocol: Protocol, estimates: Sequence[Estimate]) -> Pairs:
    """Returns (name, description) of the variant's measures."""
    variant = protocol.variants[estimates[0].variant if estimates else "default"]
    named = (*variant.measures, *variant.only) if variant.measures else ()
    rows = []
    for spec in protocol.measures:
        if named and spec.name not in named:
            continue
        null = (
            f"; {numerals.quantity(spec.null, spec.unit, spec.signed)} is no tilt"
            if reading.null_of(spec) is not None
            else ""
        )
        rows.append((spec.name, f"{spec.text or spec.kind}{null}"))
    return tuple(rows)
