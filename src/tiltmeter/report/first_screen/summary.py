"""Puts the first screen into words: the question, the findings, and their basis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ... import registry
from ...analyse.claims.output_query import OutputQuery
from ...analyse.words import numerals, reading
from ...analyse.words.verdict_words import BY_WEIGHT, Word
from ...protocol import Protocol, wording
from ...records import HUMAN, INVALID, NEITHER, OUTCOMES
from ...stats.results import count_of
from ...store import Store
from ...store.queries import label_counts, labels
from ...store.queries.trials import TrialPart
from ..page_model import audits
from ..page_model.figures import Pairs
from ..page_model.page import Finding
from . import findings
from .examples import main

ROOM = 12  # headline findings on the first screen; the rest are in the tables
NAMED = 3  # tilts, or models, that are named in a sentence
CAUTIONS = (
    "It holds for these models, prompts and settings, on these dates. Another version, language, "
    "wording or begun answer can give another number.",
    "“No difference found at this n” is no evidence that there is none: one smaller than the "
    "detectable one would mostly be missed. To show that a tilt is small, test it against a margin "
    "named beforehand.",
    "A tilt is a property of outputs. It does not say why it is there, nor how much harm it does "
    "in use.",
    "Do not rank models by these numbers alone: where intervals overlap, or modes differ, there "
    "is no order.",
)


def first(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Chooses the first screen's findings: the same number per measure, tilts first."""
    if len(found) <= ROOM:
        return tuple(found)
    of: dict[str, list[Finding]] = {}
    for one in sorted(found, key=place_on_screen):
        of.setdefault(one.measure, []).append(one)
    rows_of = {name: rows[: max(1, ROOM // len(of))] for name, rows in of.items()}
    return tuple(
        one for name in dict.fromkeys(one.measure for one in found) for one in rows_of[name]
    )


def place_on_screen(finding: Finding) -> tuple[bool, int]:
    """Returns a finding's sort key for a screen with room for only some: tested findings first."""
    record = finding.verdict.record
    return not record.tested, record.look.weight


def label_findings(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Labels each finding by the levels that others of its measure lack, or by its model."""
    labelled = []
    for one in found:
        same_measure = [other.parts for other in found if other.measure == one.measure]
        differ = [
            level
            for name, level in one.parts
            if any((name, level) not in parts for parts in same_measure)
        ]
        labelled.append(replace(one, label=" · ".join(differ) or one.parts[0][1]))
    return tuple(labelled)


def summary(found: Sequence[Finding], shown: int) -> str:
    """Sums up the findings: how many headline numbers differ, and which ones if they are few."""
    if len(found) == 1:
        return f"{found[0].subject}: {found[0].chip}."
    return " ".join(_count_sentences(found, shown))


def _count_sentences(found: Sequence[Finding], shown: int) -> Iterator[str]:
    of = Counter(one.verdict for one in found)
    none, shown_only = of[Word.NO_DIFFERENCE], of[Word.NO_TEST]
    tested = sum(number for word, number in of.items() if word.record.tested)
    if tested and tested == none:
        which = "the headline number" if tested == 1 else f"any of {tested} headline numbers"
        yield f"No difference was found at this n in {which}."
    elif tested:
        tilts = [one for one in found if one.verdict == Word.TILT]
        named = (
            f" ({'; '.join(f'{tilt.label}: {tilt.chip}' for tilt in tilts)})"
            if 0 < len(tilts) <= NAMED
            else ""
        )
        number = of[Word.TILT] or "none"
        yield f"A difference was found in {number} of {tested} headline numbers{named}."
        if none:
            rest = "the other" if none == 1 and tested == 2 else f"{none} of them"
            yield f"In {rest} no difference was found at this n."
    for word in BY_WEIGHT:
        if of[word] and word.record.counted:
            yield f"{of[word]} {word.record.counted}."
    if shown_only:
        with_interval = [
            e for e in found if e.verdict == Word.NO_TEST and e.interval != numerals.NOTHING
        ]
        how = " with an interval" if len(with_interval) == shown_only else ""
        numbers = "1 number was" if shown_only == 1 else f"{shown_only} numbers were"
        yield f"{numbers} measured{how}, and not tested against a value."
    if of[Word.NOT_MEASURED]:
        yield f"{of[Word.NOT_MEASURED]} could not be measured."
    if shown < len(found):
        yield f"{shown} of them stand here; all are in the tables."


def asked_line(
    protocol: Protocol,
    trials: Sequence[TrialPart],
    items: int,
    of_all: int,
    languages: Sequence[str],
    planned: int,
) -> str:
    """Writes `1,640 answers of 2 models (a, b) about 40 of 98 words` and the number planned."""
    names = list(dict.fromkeys(part.subject for part in trials))
    answered = sum(part.answered for part in trials)
    what = "pictures" if protocol.modality == "image" else "answers"
    who = names[0] if len(names) == 1 else f"{len(names)} models"
    who += f" ({', '.join(names)})" if 1 < len(names) <= NAMED else ""
    noun = wording.item_noun(protocol)
    about = f"{items:,} of " if items < of_all else ""
    about += count_of(of_all if about else items, noun)
    named = [wording.language_name(protocol, language) for language in languages]
    in_languages = f", in {', '.join(named)}" if named else ""
    of_planned = f" of {planned:,} planned" if answered < planned else ""
    return f"{answered:,}{of_planned} {what} of {who} about {about}{in_languages}"


def basis(
    store: Store, missing: Missing, audit: audits.Audit | None, annotators: Sequence[str]
) -> Pairs:
    """Lists what findings rest on: annotators, people's checks, non-answers, intervals, tests."""
    rows = [("labels", _labels(store, annotators)), ("no answer", missing.line)]
    if audit:
        rows += list(_numbers(audit))
    return tuple((name, text) for name, text in rows if text)


def _labels(store: Store, annotators: Sequence[str]) -> str:
    names = dict.fromkeys(
        name.partition("@")[0] for name in annotators if not name.startswith(HUMAN)
    )
    if not names:
        return "none yet"
    return (
        f"{', '.join(names)}; {'compared' if labels.have_human(store) else 'not compared'} with "
        "what people say"
    )


@dataclass(frozen=True, slots=True)
class Missing:
    """The outputs that are not answers. line: the number of each kind; share: in per cent, "" if
    nothing was labelled; query: selects these outputs; unread: the share of outputs that no rule
    could read; unread_query: selects the unread outputs.
    """

    line: str = ""
    share: str = ""
    query: str = ""
    unread: float = 0.0
    unread_query: str = ""


def missing_answers(store: Store, protocol: Protocol) -> Missing:
    """Counts the first instrument's labels that are no answers: refused, unreadable, others."""
    annotator, attribute = main(store, protocol)
    of = label_counts.value_weights(store, annotator, attribute)
    counted = (NEITHER,) if _counts_hits(protocol, annotator) else ()
    total = sum(of.values())
    none = {v: weight for v, weight in of.items() if v in OUTCOMES and v not in counted}
    if not total:
        return Missing()
    kinds = ", ".join(
        f"{value.replace('_', ' ')} {numerals.count(weight)}" for value, weight in none.items()
    )
    share = numerals.percent(sum(none.values()) / total)
    return Missing(
        f"{share} of labels{f' ({kinds})' if kinds else ''}",
        share,
        OutputQuery(annotator, attribute, values=tuple(none)).text(),
        none.get(INVALID, 0.0) / total,
        OutputQuery(annotator, attribute, values=(INVALID,)).text(),
    )


def _counts_hits(protocol: Protocol, annotator: str) -> bool:
    """True if the annotator's instrument searches for words: a text without hits is an answer."""
    name = annotator.partition("/")[0]
    kinds = {spec.name: spec.kind for spec in protocol.instruments}
    return name in kinds and registry.instrument_kind(kinds[name]).hits


def _numbers(audit: audits.Audit) -> Iterator[tuple[str, str]]:
    """Yields (name, text) on intervals with their clusters, and on detectable differences."""
    rows = [
        (spec, estimate)
        for spec, estimate in findings.headline(audit)
        if estimate.value is not None
    ]
    clusters = sorted({estimate.clusters for _, estimate in rows if estimate.clusters})
    levels = sorted({100 * e.confidence for _, e in rows if e.confidence and e.low is not None})
    if levels and clusters:
        over = _range([f"{number:,}" for number in clusters])
        yield (
            "intervals",
            f"{levels[0]:g} %, over {over} {audit.items(clusters[-1])}; p adjusted over all "
            "headline claims (Holm), of the rest a measure (Benjamini–Hochberg)",
        )
    by_unit: dict[
        str, list[tuple[float, str]]
    ] = {}  # by unit: a share and a number of words are not one range
    for spec, e in rows:
        if e.detectable is not None:
            by_unit.setdefault(e.unit, []).append((e.detectable, reading.detectable(e, spec, 2)))
    ranges = {unit: _range([text for _, text in sorted(one)]) for unit, one in by_unit.items()}
    texts = [f"{text} ({unit})" if len(ranges) > 1 else text for unit, text in ranges.items()]
    if texts:
        yield "smallest detectable difference", f"{' or '.join(texts)} (80 % power)"


def _range(texts: Sequence[str]) -> str:
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"
