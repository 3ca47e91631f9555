"""Makes a report of one run, or of several side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...analyse.between_runs import compare
from ...analyse.claims.background import read_background
from ...analyse.claims.verdicts import Verdict
from ...analyse.words import numerals, reading
from ...analyse.words.short_model_names import short_names
from ...analyse.words.verdict_words import Word
from ...errors import RunMismatch, UsageError
from ...protocol import Protocol
from ...records import Estimate
from ...store import Store
from ..first_screen import findings
from ..page_model import audits, sanitize
from ..page_model.page import Report, Section, ToldRun, alone
from ..page_model.table import Column, Table
from ..run_page import content
from ..tables import judges
from . import changes

Parts = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Analysed:
    """An open run with its estimates."""

    store: Store
    protocol: Protocol
    estimates: Sequence[Estimate]


def report(runs: Sequence[Analysed], named: Mapping[str, str] | None = None) -> Report:
    """Makes the report of one run, or of several. named: {model: short name}."""
    if len({Path(run.store.folder).resolve() for run in runs}) < len(runs):
        raise UsageError("A run is named twice. Name each run once: tiltmeter report RUN RUN")
    if len(runs) > 1:  # one letter is one model on the whole page
        subjects = dict.fromkeys(row.subject for run in runs for row in run.estimates)
        named = short_names(list(subjects), named)
    contents = [content.build(run.store, run.protocol, run.estimates, named) for run in runs]
    if len(runs) == 1:
        return alone(contents[0])
    names = _names(runs)
    told = tuple(
        ToldRun(name, one, f"r{n}-")
        for n, (name, one) in enumerate(zip(names, contents, strict=True), 1)
    )
    is_same = len({run.protocol.name for run in runs}) == 1
    titles = list(dict.fromkeys(one.title for one in contents))
    question = contents[0].question if is_same else ""
    return sanitize.all_visible(Report(" · ".join(titles), question, told, _against(runs, names)))


def _names(runs: Sequence[Analysed]) -> list[str]:
    """Returns the names of the runs' folders, never paths; adds numbers to equal names."""
    bare = [Path(run.store.folder).resolve().name for run in runs]
    return [
        f"{name} ({bare[: place + 1].count(name)})" if bare.count(name) > 1 else name
        for place, name in enumerate(bare)
    ]


def _against(runs: Sequence[Analysed], names: Sequence[str]) -> Section | None:
    """Compares runs of one protocol, each with the first; None if no two runs share a protocol."""
    tables: list[Table] = []
    lines: list[str] = []
    for name in dict.fromkeys(run.protocol.name for run in runs):
        places = [place for place, run in enumerate(runs) if run.protocol.name == name]
        if len(places) > 1:
            of = {names[place]: runs[place] for place in places}
            tables.append(_side_by_side(of))
            try:
                stores, protocols = (
                    [run.store for run in of.values()],
                    [run.protocol for run in of.values()],
                )
                comparison = compare.compare(stores, protocols, names=list(of))
            except (RunMismatch, UsageError) as error:
                lines.append(f"{', '.join(of)}: {_without_places(str(error), of)}")
                continue
            section = judges.comparison(comparison)
            tables += [section] if section.rows else []
            lines += [*changes.changes(comparison), *comparison.warnings]
            lines += (f"Not compared: {line}." for line in comparison.left_out)
    return (
        Section("against", "Runs side by side", "\n".join(lines), (), tuple(tables))
        if tables
        else None
    )


def _without_places(text: str, of: Mapping[str, Analysed]) -> str:
    """Replaces the folders of runs in a message by the runs' names."""
    for name, run in of.items():
        text = text.replace(str(run.store.folder), name)
    return text


def _side_by_side(of: Mapping[str, Analysed]) -> Table:
    """Tabulates headline numbers (rows) by run and subject (columns)."""
    cells: dict[tuple[str, Parts], dict[tuple[str, str], str]] = {}
    words: set[Word] = set()
    for name, run in of.items():
        default = [e for e in run.estimates if e.variant == run.estimates[0].variant]
        background = read_background(run.store, run.protocol, default)
        for one in findings.judge(audits.audit(run.protocol, default, {}), background):
            spec, raw = one.claim.spec, one.claim.raw
            key = (spec.text or spec.name, _levels_of(raw))
            cells.setdefault(key, {})[name, raw.subject] = _cell(one)
            words.add(one.word)
    columns = list(dict.fromkeys(place for row in cells.values() for place in row))
    subjects = Counter(name for name, _ in columns)
    heads = [
        Column(f"{name}: {subject}" if subjects[name] > 1 else name, "number", True)
        for name, subject in columns
    ]
    rows = tuple(
        (
            reading.title(what),
            " · ".join(_differing(parts, [own for other, own in cells if other == what])) or "all",
            *(row.get(place, numerals.NOTHING) for place in columns),
        )
        for (what, parts), row in cells.items()
    )
    title = f"Headline numbers of {next(iter(of.values())).protocol.name}"
    return Table(
        audits.slug("side", title),
        title,
        _key(words),
        (Column("measure", brief=True), Column("group", brief=True), *heads),
        rows,
        folded=len(rows) > audits.MANY,
    )


def _key(words: Container[Word]) -> str:
    """Explains the verdicts' symbols below the table."""
    legends = [
        f"{word.symbol} {word.record.legend or word.chip}"
        for word in Word
        if word in words and word.record.legend is not None
    ]
    return " · ".join((*legends, "95 % intervals; headline measures only"))


def _levels_of(estimate: Estimate) -> Parts:
    """Returns (name, level) of an estimate's instrument, condition and contrast."""
    instrument = estimate.instrument.partition("@")[0]
    return (
        ("instrument", instrument),
        *estimate.condition.items(),
        *(estimate.contrast or {}).items(),
    )


def _differing(parts: Parts, others: Sequence[Parts]) -> Iterator[str]:
    """Yields the levels that distinguish a row from others of its measure."""
    for part in parts:
        if part[1] and any(part not in other for other in others):
            yield part[1]


def _cell(one: Verdict) -> str:
    """Writes the verdict's symbol and its number."""
    row = one.claim.row
    if row.value is None:
        return numerals.NOTHING
    sign = one.word.symbol
    return f"{sign} {reading.number(row, one.claim.spec)}"
