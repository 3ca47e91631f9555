"""The columns that a table of estimates can have, each with a function that reads its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ...analyse.words import numerals, reading
from ...protocol import MeasureSpec
from ...records import Estimate
from ..page_model.audits import Audit
from ..page_model.table import Column, Field

GROUP = Column("group", brief=True)
MARK = Column("signature", "mark", True, "written out at the end")
CORRECTED = Column("corrected", "number", True, "as gold says that the instrument errs")
BOUNDS = Column(
    "bounds", "number", False, "all other outcomes counted against, and all counted for"
)
ADJUSTED = Column(
    "p adjusted",
    "number",
    True,
    "Holm over a run's headline claims; Benjamini–Hochberg within other measures",
)
DETECTABLE = Column(
    "detectable",
    "number",
    False,
    "the smallest difference (or ratio) that this design finds with 80 % power; none: it could not "
    "have found any",
)


def fields(
    audit: Audit, rows: Sequence[Estimate], letters: Mapping[str, str]
) -> Iterator[Field[Estimate]]:
    """Yields all columns of a table of estimates, in order. letters: {note: its letter}."""
    spec = audit.spec(rows[0].measure)
    yield from _identity_columns(audit, rows[0])
    yield Field(Column(_value_name(rows), "number", True), lambda e: reading.value(e, spec))
    yield Field(Column(_interval_name(rows), "number", True), lambda e: reading.interval(e, spec))
    yield from _gold_columns(audit, rows[0].measure, spec)
    yield from _chances(audit, spec)
    yield from _last_columns(audit, rows[0].measure, letters)


def _identity_columns(audit: Audit, row: Estimate) -> Iterator[Field[Estimate]]:
    """Yields the columns that identify a row: its group, stratum and contrast."""
    yield Field(GROUP, lambda e: _row_label(audit, e))
    for place, (part, _) in enumerate(audit.differing_levels(row)):
        yield Field(Column(part, brief=True), _level_writer(audit, place))
    yield Field(
        Column("contrast", brief=True), lambda e: reading.contrast_label(e) or numerals.NOTHING
    )


def _gold_columns(
    audit: Audit, measure: str, spec: MeasureSpec | None
) -> Iterator[Field[Estimate]]:
    """Yields the columns for the number corrected by gold, and for its bounds."""
    bounds, corrected = (
        _row_finder(audit, measure + end) for end in (reading.BOUNDS, reading.CORRECTED)
    )

    def as_corrected(e: Estimate) -> str:
        row = corrected(e)
        return reading.as_corrected(row, spec) if row else numerals.NOTHING

    def bounds_text(e: Estimate) -> str:
        row = bounds(e)
        return reading.interval(row, spec) if row else numerals.NOTHING

    yield Field(CORRECTED, as_corrected)
    yield Field(
        Column("correction"),
        lambda e: getattr(corrected(e), "correction", numerals.NOTHING),
    )
    yield Field(BOUNDS, bounds_text)


def _chances(audit: Audit, spec: MeasureSpec | None) -> Iterator[Field[Estimate]]:
    """Yields the columns for sample size, clusters and tests."""
    clusters = Column(audit.items(), "number", False, "clusters that the interval is over")
    yield Field(Column("n", "number", True), lambda e: numerals.count(e.n))
    yield Field(clusters, lambda e: numerals.count(e.clusters))
    yield Field(Column("p", "number"), lambda e: numerals.chance(e.p))
    yield Field(ADJUSTED, lambda e: numerals.chance(e.p_adjusted))
    yield Field(DETECTABLE, lambda e: reading.detectable(e, spec))
    yield Field(
        Column("null band", "number"), lambda e: numerals.interval(e.null_low, e.null_high, e.unit)
    )


def _last_columns(
    audit: Audit, measure: str, letters: Mapping[str, str]
) -> Iterator[Field[Estimate]]:
    """Yields the columns for outcomes, notes and signatures."""
    corrected = _row_finder(audit, measure + reading.CORRECTED)
    yield Field(Column("outcomes"), lambda e: reading.outcomes(e) or numerals.NOTHING)
    yield Field(Column("note", "letter", True), lambda e: _note_letters(letters, e, corrected(e)))
    yield Field(MARK, lambda e: audit.marks.get(e.signature, numerals.NOTHING))


def _row_finder(audit: Audit, measure: str) -> Callable[[Estimate], Estimate | None]:
    """Returns a function: row → the row of `measure` in the same stratum and group, or None."""
    by_key = {_key(e): e for e in audit.of(measure)}
    return lambda e: by_key.get(_key(e)) if by_key else None


def _key(estimate: Estimate) -> object:
    return reading.stratum(estimate), reading.key(estimate)


def _level_writer(audit: Audit, place: int) -> Callable[[Estimate], str]:
    return lambda e: audit.differing_levels(e)[place][1] or numerals.NOTHING


def _row_label(audit: Audit, estimate: Estimate) -> str:
    by = reading.grouping(estimate)
    return f"{', '.join(by)}: {audit.group_label(estimate)}" if by else "all"


def _value_name(rows: Sequence[Estimate]) -> str:
    return (
        rows[0].unit if rows[0].unit in ("share", "odds") and rows[0].contrast is None else "value"
    )


def _interval_name(rows: Sequence[Estimate]) -> str:
    levels = {e.confidence for e in rows if e.confidence is not None}
    return f"{100 * levels.pop():g} % interval" if len(levels) == 1 else "interval"


def _note_letters(letters: Mapping[str, str], *rows: Estimate | None) -> str:
    """Writes the letters of the notes of some rows, such as a row and its corrected row."""
    used = dict.fromkeys(letters[row.note] for row in rows if row and row.note)
    return ", ".join(used) or numerals.NOTHING
