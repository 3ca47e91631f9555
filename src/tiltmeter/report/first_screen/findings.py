"""Converts verdicts to the rows of a report's table: finding, certainty, cautions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...analyse.claims import evidence, families, verdicts
from ...analyse.claims.background import Background
from ...analyse.claims.tested_word import test_word
from ...analyse.claims.verdicts import NOTHING_KNOWN, Verdict
from ...analyse.words import headlines, numerals, reading, sentences
from ...analyse.words.verdict_words import Word
from ...protocol import MeasureSpec
from ...protocol.measures import measure_kind
from ...records import Estimate
from ..figures import forest
from ..page_model import audits
from ..page_model.audits import Audit
from ..page_model.page import Finding
from .ranking import effect_of


def findings(audit: Audit, judged: Iterable[Verdict] | None = None) -> Iterator[Finding]:
    """Yields a row per headline claim, in the protocol's order. judged: the claims' verdicts."""
    every = list(judge(audit) if judged is None else judged)
    rows: dict[str, list[Estimate]] = {}
    for one in every:
        rows.setdefault(one.claim.spec.name, []).append(one.claim.row)
    quiet = _quiet_nuisances(every)
    for number, one in enumerate(every, 1):
        if not any(one is left_out for left_out in quiet):
            yield _finding(audit, one, rows[one.claim.spec.name], number)


def _quiet_nuisances(judged: Sequence[Verdict]) -> list[Verdict]:
    """Returns the verdicts on nuisances without a tilt, except the one with the largest effect."""
    nuisances = [one for one in judged if one.nuisance]
    quiet = [one for one in nuisances if one.word != Word.TILT]
    largest = max(nuisances, key=effect_of, default=None)
    return [one for one in quiet if one is not largest]


def judge(
    audit: Audit,
    background: Background = NOTHING_KNOWN,
    named: Mapping[str, str] | None = None,
) -> list[Verdict]:
    """Returns the verdicts on the headline claims. named: {model: short name}."""
    claims = evidence.gather(audit.protocol, audit.estimates, named)
    return [verdicts.judge(claim, background) for claim in claims]


def headline(audit: Audit) -> list[tuple[MeasureSpec, Estimate]]:
    """Returns (measure, estimate) per headline claim of an audit."""
    return families.headline(audit.protocol, audit.estimates)


def _finding(audit: Audit, one: Verdict, alike: Sequence[Estimate], number: int) -> Finding:
    """Converts a verdict to a row. alike: the rows of its measure, whose scale the gauge uses."""
    claim = one.claim
    spec, row = claim.spec, claim.row
    parts = [
        (name, reading.level_title(audit.protocol, name, level))
        for name, level in (*audit.differing_levels(claim.raw)[1:], *reading.key(row))
    ]
    named = (("model", claim.slots["subject"]), *((name, level) for name, level in parts if level))
    digits = reading.places(row, spec)
    slug = audits.slug("gauge", row.variant, number)
    return Finding(
        subject=row.subject,
        about=" · ".join(f"{name}: {level}" for name, level in parts if level),
        what=_heading(spec),
        parts=named,
        verdict=one.word,
        chip=_chip(audit, one),
        value=_in_points(headlines.amount(row.value, row.unit, reading.is_signed(spec, row)))
        if row.unit == "share"
        else reading.value(row, spec, digits),
        interval=headlines.interval(spec, row) or numerals.NOTHING
        if row.unit == "share"
        else reading.interval(row, spec, digits),
        sentence=one.sentence,
        sure=tuple(_evidence_lines(audit, claim, one.word == Word.NOT_SETTLED)),
        warnings=tuple(c.text for c in one.cautions if not c.kind.mark),
        gauge=forest.gauge(audit, spec, row, alike, slug),
        mark=audit.marks.get(row.signature, ""),
        signature=row.signature,
        measure=spec.name,
        place=number,
        n=numerals.count(row.n),
        p=numerals.chance(row.deciding_p),
        query=one.query.text(),
        language=row.condition.get("language", ""),
    )


def _chip(audit: Audit, one: Verdict) -> str:
    """Returns the verdict in a few words; for a tilt, its strength and direction."""
    word, grade = one.word, one.strength
    words = sentences.chip(word, one.claim.spec, one.claim.row, audit.protocol)
    if not grade or words == word.chip:
        return grade or words
    return f"{grade} {words.removeprefix('tilts ')}"


def _in_points(text: str) -> str:
    """Drops "points" after a difference, as a column is too narrow for the word."""
    return re.sub(r" points?$", "", text)


def _heading(spec: MeasureSpec) -> str:
    """Returns the measure as a heading that also states its null value."""
    null = (
        f"; {headlines.amount(spec.null, spec.unit, spec.signed)} is no tilt"
        if spec.null is not None
        else ""
    )
    return f"{reading.title(spec.text or spec.name)}{null}"


def _evidence_lines(audit: Audit, claim: evidence.Claim, open_: bool) -> Iterator[str]:
    """Yields lines of evidence: n, groups, contrasts. open_: True if the direction is open."""
    spec, row, raw = claim.spec, claim.row, claim.raw
    if row.value is None:
        return
    over = (
        f" over {numerals.count(row.clusters)} {audit.items(row.clusters)}" if row.clusters else ""
    )
    counted = "labels that count" if audit.is_sampled(raw) else "(sum of probabilities)"
    yield f"n = {numerals.count(row.n)} {counted}{over}."
    if not reading.group(raw):
        aside = [factor for factor, _, _ in claim.nuisances]
        for by, text in _by_group(audit, spec, raw):
            doubt = " (what leaves the whole open holds for these too)"
            yield f"By {', '.join(by)}{doubt if open_ and not {*by} & {*aside} else ''}: {text}."
    for other, effect in _contrasts(audit, spec, raw):
        yield _contrast(other, effect)
    if row is not raw:
        yield (
            f"Without the correction: {reading.number(raw, spec)}; by "
            f"{audit.instrument(raw.instrument)}."
        )
    if row.note:
        yield f"Note: {row.note}."


def _contrasts(
    audit: Audit, spec: MeasureSpec, estimate: Estimate
) -> Iterator[tuple[MeasureSpec, Estimate]]:
    """Yields whole-stratum contrasts of the labels that the headline measure counts."""
    counted = (spec.attribute, spec.values, spec.among, spec.where)
    for other in audit.protocol.measures:
        alike = (other.attribute, other.values, other.among, other.where) == counted
        one_sided = measure_kind(other.kind).sides == "level"  # one number against another
        if other.contrast and other is not spec and alike and one_sided:
            rows = [e for e in audit.wholes(other.name, reading.stratum(estimate)) if e.contrast]
            if len(rows) == 1:
                yield other, rows[0]


def _by_group(
    audit: Audit, spec: MeasureSpec, whole: Estimate
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields (grouping, text) per tested grouping; the text says which groups tilt which way."""
    rows = [
        e
        for e in audit.of(spec.name)
        if reading.stratum(e) == reading.stratum(whole) and reading.group(e)
    ]
    given_up = whole.stopped is not None and whole.stopped["state"] == "not pursued"
    for by in dict.fromkeys(reading.grouping(e) for e in rows):
        tested = [
            (test_word(e, spec.null), e)
            for e in rows
            if reading.grouping(e) == by and e.p is not None and e.value is not None
        ]
        if not tested or len(tested) > audits.MANY:
            continue
        parts: dict[str, list[Estimate]] = {}
        for word, row in tested:
            direction = sentences.direction(spec, row) or "a difference found"
            if word == Word.NO_DIFFERENCE and given_up:
                word = Word.NOT_PURSUED  # with the whole, before its full n
            direction = direction if word == Word.TILT else word.chip
            parts.setdefault(direction, []).append(row)
        details = "; ".join(
            f"{direction} in {_estimate_list(audit, spec, named)}"
            for direction, named in parts.items()
        )
        yield by, details


def _estimate_list(audit: Audit, spec: MeasureSpec, estimates: Sequence[Estimate]) -> str:
    return ", ".join(f"{audit.group_label(e)} ({reading.number(e, spec)})" for e in estimates)


def _contrast(spec: MeasureSpec, estimate: Estimate) -> str:
    """Writes a contrast with size and p: `Order effect (she_first − he_first), order_effect: …`."""
    contrast = spec.contrast or {}
    name = f"{reading.title(contrast.get('factor', spec.name))} effect"
    name += f" ({reading.contrast_label(estimate).partition(': ')[2] or spec.name}; {spec.name})"
    word, number = test_word(estimate, spec.null), reading.number(estimate, spec)
    if word == Word.NOT_MEASURED:
        return f"{name}: not measured ({estimate.note or 'no reason was stored'})."
    if word == Word.NO_TEST:
        return f"{name}: {number}; no test was made."
    prefix = "" if word == Word.TILT else f"{word.chip}, "
    return f"{name}: {prefix}{number}, {sentences.chance(estimate)}."
