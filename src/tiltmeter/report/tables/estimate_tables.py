"""Makes tables of estimates. Empty columns are left out; texts that all rows share stand above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from string import ascii_lowercase

from ...analyse.words import numerals, reading
from ...protocol.design.cue_words import BY_WORD
from ...records import OUTCOMES, Estimate
from ...stats.results import count_of
from ..page_model import audits
from ..page_model.audits import Audit
from ..page_model.figures import Pairs
from ..page_model.table import Column, Table
from . import columns as table_fields
from .columns import MARK
from .drawers import links

ENDINGS = {
    reading.INTERACTION: "at one level of another factor less at another",
    reading.MISSING: "what counts neither way, at one level less at the other",
    "_plugin": "as it is, with what chance gives",
    "_difference": "less that of the base prompt",
}


def tables(audit: Audit, prefix: str) -> Iterator[Table]:
    """Yields a variant's tables: of declared measures, outcomes, and all other estimates."""
    for spec in audit.protocol.measures:
        yield from _measure(audit, spec.name, spec.text or spec.name, prefix)
    yield from _outcome_table(audit, prefix)
    known = {reading.OUTCOME_RATE} | {spec.name for spec in audit.protocol.measures}
    beside = (reading.BOUNDS, reading.CORRECTED)
    known |= {f"{name}{end}" for name in known for end in beside}
    for name in dict.fromkeys(e.measure for e in audit.estimates if e.measure not in known):
        yield from _measure(audit, name, _title(audit, name), prefix)


def _title(audit: Audit, name: str) -> str:
    """Returns the title of an undeclared measure, after the declared measure that it belongs to."""
    if name == reading.CAPTURED:
        return "probability that the options take up among all continuations"
    for ending, words in ENDINGS.items():
        by_word = audit.spec(name) if name.endswith(BY_WORD) else None
        if by_word:
            return by_word.text
        spec = audit.spec(name.removesuffix(ending)) if name.endswith(ending) else None
        if spec:
            return f"{words}: {spec.text or spec.name}"
    return name


def _measure(audit: Audit, name: str, title: str, prefix: str) -> Iterator[Table]:
    """Yields a table of all groupings with few levels, and a folded table per other grouping."""
    rows = audit.of(name)
    few: list[Estimate] = []
    many: dict[tuple[str, ...], list[Estimate]] = {}
    fine = audit.fine(name)
    for estimate in rows:
        by = reading.grouping(estimate)
        (many.setdefault(by, []) if by in fine else few).append(estimate)
    if few:
        few, is_long = audits.together(few), len(few) > audits.MANY
        yield _table(audit, few, audits.slug(prefix, name), title, folded=is_long)
    for by, estimates in many.items():
        table_title = f"{title}, by {', '.join(by)}" if by else title
        heading = (
            f"{table_title}: {len({reading.key(e) for e in estimates})} rows, from the highest "
            "to the lowest"
        )
        yield _table(audit, _rank(estimates), audits.slug(prefix, name, *by), heading, folded=True)


def _rank(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Sorts by a group's value in the first stratum that has it; highest first, None last."""
    lead: dict[object, float] = {}
    for estimate in estimates:
        if estimate.value is not None:
            lead.setdefault(reading.key(estimate), estimate.value)
    return sorted(
        audits.together(estimates), key=lambda e: -lead.get(reading.key(e), float("-inf"))
    )


def _table(audit: Audit, rows: Sequence[Estimate], name: str, title: str, folded: bool) -> Table:
    letters = note_letters([*rows, *_corrected_rows(audit, rows)])
    columns = [
        (field.column, [field.read(row) for row in rows])
        for field in table_fields.fields(audit, rows, letters)
    ]
    columns = [(column, texts) for column, texts in columns if _is_needed(column, texts)]
    shared = [
        f"{column.name}: {texts[0]}" for column, texts in columns if _has_one_text(column, texts)
    ]
    columns = [(column, texts) for column, texts in columns if not _has_one_text(column, texts)]
    notes = tuple((letter, text) for text, letter in letters.items())
    about = " · ".join([*shared, _about(audit, rows)])
    return Table(
        name,
        reading.title(title),
        about.removesuffix(" · "),
        tuple(column for column, _ in columns),
        tuple(zip(*(texts for _, texts in columns), strict=True)),
        notes,
        _marks(audit, rows),
        folded,
        links(audit.protocol, rows),
    )


def _is_needed(column: Column, texts: Sequence[str]) -> bool:
    keep = column.kind == "mark" or column.name in ("group", "share", "odds", "value", "n")
    return keep or any(text != numerals.NOTHING for text in texts)


def _has_one_text(column: Column, texts: Sequence[str]) -> bool:
    """True if all rows have the same text, which can then stand above the table."""
    movable = column.kind == "text" and column.name not in ("group", "note", "outcomes")
    return movable and len(set(texts)) == 1


def note_letters(rows: Sequence[Estimate]) -> dict[str, str]:
    """Returns {note: letter}, so that a long note stands under the table only once."""
    notes = dict.fromkeys(e.note for e in rows if e.note)
    return {text: _letter(place) for place, text in enumerate(notes)}


def _corrected_rows(audit: Audit, rows: Sequence[Estimate]) -> list[Estimate]:
    """Returns the gold-corrected versions of these rows, as the table shows notes of both."""
    keys = {(reading.stratum(e), reading.key(e)) for e in rows}
    corrected = audit.of(f"{rows[0].measure}{reading.CORRECTED}")
    return [e for e in corrected if (reading.stratum(e), reading.key(e)) in keys]


def _letter(place: int) -> str:
    more, last = divmod(place, 26)
    return (_letter(more - 1) if more else "") + ascii_lowercase[last]


def _about(audit: Audit, rows: Sequence[Estimate]) -> str:
    """Writes the values that all rows share: stratum, interval method, test."""
    methods = [e.interval_method for e in rows if e.interval_method and e.low is not None]
    tests = [e.test for e in rows if e.test and e.p is not None]
    parts = [f"{name}: {level}" for name, level in audit.same()]
    parts += [_shared_text("interval", methods), _shared_text("test", tests)]
    return " · ".join(filter(None, parts))


def _shared_text(what: str, values: Sequence[str]) -> str:
    """Writes the value that all rows share (`interval: wilson`), or each value's number of rows."""
    counted = Counter(values)
    if len(counted) < 2:
        return f"{what}: {values[0]}" if values else ""
    return f"{what}: " + ", ".join(
        f"{name} ({count_of(number, 'row')})" for name, number in counted.most_common()
    )


def _marks(audit: Audit, rows: Sequence[Estimate]) -> Pairs:
    used = dict.fromkeys(e.signature for e in rows if e.signature in audit.marks)
    return tuple((audit.marks[text], text) for text in used)


def _outcome_table(audit: Audit, prefix: str) -> Iterator[Table]:
    """Tabulates rates, intervals and counts: a row per condition, a column per outcome."""
    rates = audit.of(reading.OUTCOME_RATE)
    if not rates:
        return
    outcomes = list(dict.fromkeys(e.condition.get("outcome", "") for e in rates))
    names = [name for name in outcomes if name not in OUTCOMES] + [
        name for name in OUTCOMES if name in outcomes
    ]
    conditions: dict[object, list[Estimate]] = {}
    for e in sorted(rates, key=lambda e: audit.strata.index(reading.stratum(e))):
        about_labels = e.condition.get("attribute", "")
        conditions.setdefault(
            (reading.stratum(e), about_labels, *reading.condition(e).items()), []
        ).append(e)
    rows = [_outcome_row(audit, group, names) for group in conditions.values()]
    named = (*_of_outcomes(rates[0]), *(part for part, _ in audit.brief(rates[0])))
    columns = (
        *(Column(part, brief=True) for part in named),
        Column("n", "number", True),
        *(Column(name, "number", True) for name in names),
        MARK,
    )
    about = (
        _about(audit, rates)
        + " · share of all outputs [interval] (count); refusals and other non-answers are "
        "outcomes too"
    )
    title = "Every outcome, answers or not"
    yield Table(
        audits.slug(prefix, "outcomes"),
        title,
        about.removeprefix(" · "),
        columns,
        tuple(rows),
        (),
        _marks(audit, rates),
        links=links(audit.protocol, [group[0] for group in conditions.values()]),
    )


def _outcome_row(audit: Audit, group: Sequence[Estimate], names: Sequence[str]) -> tuple[str, ...]:
    """Returns one condition's row, with the rate of each outcome."""
    of_outcome, one = {e.condition.get("outcome", ""): e for e in group}, group[0]
    return (
        *_of_outcomes(one).values(),
        *(level or numerals.NOTHING for _, level in audit.brief(one)),
        numerals.count(one.n),
        *(_rate(of_outcome.get(name), audit.is_sampled(one)) for name in names),
        audit.marks.get(one.signature, numerals.NOTHING),
    )


def _of_outcomes(rate: Estimate) -> dict[str, str]:
    """Returns {factor: level} for the rate of an outcome, without the outcome."""
    return {name: level for name, level in reading.group(rate).items() if name != "outcome"}


def _rate(estimate: Estimate | None, drawn: bool) -> str:
    """Writes a rate; a missing rate is 0 for sampled outputs and a dash for read probabilities."""
    if estimate is None:
        return "0" if drawn else numerals.NOTHING
    number = numerals.count(sum(estimate.outcomes.values()))
    return (
        f"{numerals.share(estimate.value)} "
        f"{numerals.interval(estimate.low, estimate.high, 'share')} ({number})"
    )
