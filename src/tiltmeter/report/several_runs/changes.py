"""Puts a comparison of runs into words: changes, numbers without a change, unsettled ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...analyse.between_runs import first_words
from ...analyse.between_runs.compare import Comparison
from ...analyse.between_runs.paired_runs import ComparisonRow
from ...analyse.words import numerals
from ...analyse.words.short_model_names import given_names, short_names
from ...analyse.words.verdict_words import Word

LINES = tuple(dict.fromkeys(word.record.change for word in Word if word.record.change))


def with_names(found: Comparison, labels: Mapping[str, str]) -> tuple[Comparison, dict[str, str]]:
    """Replaces models by short names, and returns {model: short name} for the replaced models.
    labels: {short name: model}, as given by the user.
    """
    sides = dict.fromkeys(side for row in found.rows for side in row.runs)
    models = dict.fromkeys(side.partition(": ")[2] for side in sides if ": " in side)
    names = short_names(list(models), given_names(labels, models))

    def short(side: str) -> str:
        run, mark, model = side.partition(": ")
        return f"{run}: {names[model]}" if mark else run

    def row_with_names(row: ComparisonRow) -> ComparisonRow:
        first, second = (short(side) for side in row.runs)
        levels = {**(row.estimate.contrast or {}), "run": f"{second} {numerals.MINUS} {first}"}
        return replace(row, runs=(first, second), estimate=replace(row.estimate, contrast=levels))

    shortened = {model: name for model, name in names.items() if name != model}
    return replace(found, rows=tuple(map(row_with_names, found.rows))), shortened


def headline_differences(found: Comparison) -> Comparison:
    """Keeps the rows with verdicts, changed numbers first; keeps all rows if none has a verdict."""
    rows = [row for row in found.rows if row.claim is not None and row.claim.word.record.change]
    rows.sort(key=lambda row: _place(row.verdict or Word.NO_TEST))
    return replace(found, rows=tuple(rows)) if rows else found


def _place(word: Word) -> tuple[int, int]:
    return LINES.index(word.record.change), list(Word).index(word)


def changes(found: Comparison) -> Iterator[str]:
    """Yields the headline and lede, the verdicts, and the verdicts' cautions."""
    words = first_words.of_comparison(found)
    yield words.headline
    yield " ".join(words.lede)
    pills = first_words.pills(found.verdicts)
    if pills:
        yield " · ".join(f"{pill.symbol} {pill.text}" for pill in pills)
    yield from cautions(found)


def cautions(found: Comparison) -> list[str]:
    """Lists the cautions of the headline differences, each once, after the names of their runs."""
    runs: dict[str, list[str]] = {}
    for row in found.rows:
        for caution in row.claim.cautions if row.claim else ():
            runs.setdefault(caution.text, []).append(" and ".join(row.runs))
    return [f"{'; '.join(dict.fromkeys(of))}: {text}" for text, of in runs.items()]
