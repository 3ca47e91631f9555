"""What a comparison of runs begins with: what changed, what did not, and what cannot be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...analyse.between_runs.compare import Comparison
from ...analyse.between_runs.paired_runs import ComparisonRow
from ...analyse.words import numerals
from ...analyse.words.short_model_names import given_names, short_names
from ...analyse.words.verdict_words import Word

NAMED = 3  # differences that a line names
SAME = "The same in every item"
LINES = tuple(dict.fromkeys(word.record.change for word in Word if word.record.change))


def with_names(found: Comparison, labels: Mapping[str, str]) -> tuple[Comparison, dict[str, str]]:
    """With short names in place of models, and {model: its short name} of those that have one.
    labels: {short name: model}, where somebody gave one.
    """
    sides = dict.fromkeys(side for row in found.rows for side in row.runs)
    models = dict.fromkeys(side.partition(": ")[2] for side in sides if ": " in side)
    names = short_names(list(models), given_names(labels, models))

    def short(side: str) -> str:
        run, mark, model = side.partition(": ")
        return f"{run}: {names[model]}" if mark else run

    def row_with_names(row: ComparisonRow) -> ComparisonRow:
        first, second = (short(side) for side in row.runs)
        held = {**(row.estimate.contrast or {}), "run": f"{second} {numerals.MINUS} {first}"}
        return replace(row, runs=(first, second), estimate=replace(row.estimate, contrast=held))

    told = {model: name for model, name in names.items() if name != model}
    return replace(found, rows=tuple(map(row_with_names, found.rows))), told


def headline_differences(found: Comparison) -> Comparison:
    """With the rows that verdicts rest on alone, those that changed first; with all rows where
    there is none.
    """
    rows = [row for row in found.rows if row.claim is not None and row.claim.word.record.change]
    rows.sort(key=lambda row: _place(row.verdict or Word.NO_TEST))
    return replace(found, rows=tuple(rows)) if rows else found


def _place(word: Word) -> tuple[int, int]:
    return LINES.index(word.record.change), list(Word).index(word)


def changes(found: Comparison) -> Iterator[str]:
    """The lines of `summary`; what leaves a verdict open or bears on it stands below."""
    yield from summary(found)
    yield from cautions(found)


def summary(found: Comparison) -> Iterator[str]:
    """A line for what changed, one for what did not, and one for what cannot be told."""
    rows = [row for row in headline_differences(found).rows if row.claim]
    for begin in (*LINES, SAME):
        own = [row for row in rows if _begin(row) == begin]
        if own:
            head = begin.format(margin=numerals.share(own[0].margin, 2))
            yield f"{head}: {len(own)} of {len(rows)} headline numbers. {_named(own)}"
    if not rows:
        yield "No headline number could be tested against the other run."


def _begin(row: ComparisonRow) -> str:
    """How the line of a difference begins. Items that are all alike in both runs leave no variance
    for an interval; too few data they are not.
    """
    estimate = row.estimate
    none = row.verdict == Word.NO_DIFFERENCE and estimate.value == 0 and estimate.low is None
    alike = none and (estimate.clusters or 0) > 1
    return SAME if alike else (row.verdict or Word.NO_TEST).record.change


def cautions(found: Comparison) -> list[str]:
    """What to mind of the headline differences, each once with the runs that it is of."""
    runs: dict[str, list[str]] = {}
    for row in found.rows:
        for caution in row.claim.cautions if row.claim else ():
            runs.setdefault(caution.text, []).append(" and ".join(row.runs))
    return [f"{'; '.join(dict.fromkeys(of))}: {text}" for text, of in runs.items()]


def _named(rows: Sequence[ComparisonRow]) -> str:
    told = [_difference(row) for row in rows[:NAMED]]
    more = f"; {len(rows) - NAMED} more below" if len(rows) > NAMED else ""
    return f"{'; '.join(told)}{more}."


def _difference(row: ComparisonRow) -> str:
    """`share_she in en, fair − roles: .71 → .49 (p < .001)`."""
    e = row.estimate
    where = ", ".join(level for name, level in e.condition.items() if level and name != "mode")
    held = [level for name, level in (e.contrast or {}).items() if name != "run"]
    name = " ".join(filter(None, (e.measure, f"in {where}" if where else "", *held)))
    values = (
        f": {numerals.quantity(row.first, 'share', bool(held), 2)} → "
        f"{numerals.quantity(row.second, 'share', bool(held), 2)}"
        if row.first is not None and row.second is not None
        else ""
    )
    chance = numerals.chance(e.p_adjusted)
    p = f" (adjusted p {chance if chance[0] in '<>' else f'= {chance}'})"
    return f"{name}, {(e.contrast or {}).get('run', '')}{values}{p}"
