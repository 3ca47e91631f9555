"""Differences, apart from the cue, between the prompts that a measure compares. Pure.

Two cells are a pair if one is at a level and the other at its baseline, and they agree in the item
and in every other factor that both levels share. A factor whose values differ between the two
levels (the names of each gender) is part of the cue: first values are paired with first values, and
so on, in the order of the tables. Means do not depend on that order; the largest difference does.
If each side has items of its own there are no pairs, and the means of both sides are compared.

Lengths are in characters and in words (separated by blanks, so not in Chinese or Japanese). Tokens
depend on the model.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from ...languages.letters import NAME
from ...languages.patterns import lazy
from .. import MeasureSpec, Protocol
from .contrasts import each_contrast
from .tables import SEVERAL, Row

_SLOT = lazy(rf"\{{({NAME})\}}")
SHARED_VALUES = 0.5  # of the values of a factor, in both levels: else it is part of the cue


@dataclass(frozen=True, slots=True)
class Spread:
    """The difference of level and baseline over pairs: its mean, and its largest absolute value."""

    mean: float
    largest: int


@dataclass(frozen=True, slots=True)
class PromptDifference:
    """The differences between the prompts of one contrast.

    levels:       the number of levels compared with the baseline ("" if each with each other).
    alone:        prompts of either side without a partner.
    own_items:    True if each side has items of its own, so that only means can be compared.
    columns:      columns of the cue's tables whose text differs in a pair; elsewhere: such columns
                  of other tables.
    punctuation, capitals: pairs in which these differ, in kind or in number.
    words_apart:  the most words that one prompt of a pair has and the other lacks, if a column
                  holds whole prompts; None otherwise.
    """

    factor: str
    level: str
    baseline: str
    levels: int
    pairs: int
    alone: int
    own_items: bool
    columns: tuple[str, ...]
    elsewhere: tuple[str, ...]
    characters: Spread
    words: Spread
    punctuation: int
    capitals: int
    words_apart: int | None


def prompt_differences(
    protocol: Protocol, asked: Sequence[Mapping[str, str]] | None = None
) -> list[PromptDifference]:
    """Compares the prompts of each contrast that the measures declare, once; leaves out factors
    with controls (translations).

    asked: the levels of the factors that a run or a plan uses; default: the whole design.
    """
    cells = protocol.cells if asked is None else _asked_cells(protocol, asked)
    contrasts = [
        (spec, spec.contrast)
        for measure in protocol.measures
        for spec in each_contrast(protocol, measure)
        if spec.contrast
    ]
    translated = {contrast.get("factor") for _, contrast in contrasts if "controls" in contrast}
    rows: dict[tuple[str, str, str], PromptDifference | None] = {}
    for measure, contrast in contrasts:
        key = (contrast.get("factor", ""), contrast.get("level", ""), contrast.get("baseline", ""))
        if key[0] in protocol.factors and key[0] not in translated and key not in rows:
            rows[key] = _difference(protocol, cells, measure, *key)
    return [row for row in rows.values() if row]


def sentence(row: PromptDifference) -> str:
    """Describes a row in one sentence, for `show` and the report."""
    level = row.level or (
        f"each of {row.levels} levels" if row.baseline else f"{row.levels} levels with one another"
    )
    head = f"{level} against {row.baseline}" if row.baseline else level
    pairs = f"{row.pairs:,} {'pair' if row.pairs == 1 else 'pairs'} of prompts"
    if row.own_items:
        pairs = f"no pairs, since each side has items of its own, {row.alone:,} prompts in all"
    differ = f"differ in {_join_names(row.columns)}" if row.columns else "are the same"
    if row.words_apart is not None and not row.own_items:
        apart = _with_unit(row.words_apart, "word")
        differ = f"differ in up to {apart}"
    parts = [f"{row.factor}, {head}: {pairs}, which {differ}"]
    parts.append(f"{_length(row.characters, 'character', row)}, {_length(row.words, 'word', row)}")
    if row.elsewhere:
        parts.append(
            f"{_join_names(row.elsewhere)} differs too, and is in no table of {row.factor}"
        )
    for name, number in (
        ("punctuation differs", row.punctuation),
        ("capitals differ", row.capitals),
    ):
        if number and not row.own_items:
            parts.append(f"{name} in {number:,} {'pair' if number == 1 else 'pairs'}")
    if row.alone and not row.own_items:
        parts.append(
            f"{row.alone:,} {'prompt has' if row.alone == 1 else 'prompts have'} no partner"
        )
    return "; ".join(parts) + "."


def _join_names(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _length(spread: Spread, unit: str, row: PromptDifference) -> str:
    if not spread.largest:
        return f"as many {unit}s"
    if not row.baseline:
        return f"up to {_with_unit(spread.largest, unit)} apart"
    mean = round(abs(spread.mean), 1)
    longer = (
        f"{_with_unit(mean, unit)} {'longer' if spread.mean > 0 else 'shorter'}"
        if mean
        else f"as many {unit}s"
    )
    return f"{longer} in the mean" + ("" if row.own_items else f" (at most {spread.largest} apart)")


def _with_unit(number: float, unit: str) -> str:
    return f"{number:g} {unit}{'' if number == 1 else 's'}"


def _asked_cells(protocol: Protocol, asked: Sequence[Mapping[str, str]]) -> list[Row]:
    names = (*protocol.factors, protocol.item)
    levels_asked = {tuple(levels.get(name, "") for name in names) for levels in asked}
    return [cell for cell in protocol.cells if tuple(cell[name] for name in names) in levels_asked]


def _difference(
    protocol: Protocol,
    cells: Sequence[Row],
    measure: MeasureSpec,
    factor: str,
    level: str,
    baseline: str,
) -> PromptDifference | None:
    at: dict[str, list[Row]] = {}
    for cell in filter(lambda cell: _is_measured(measure, cell), cells):
        for name in cell[factor].split(SEVERAL):
            at.setdefault(name, []).append(cell)
    sides = list(_sides(list(at), level, baseline))
    pairs: list[tuple[Row, Row]] = []
    alone, has_own_items, cue = 0, False, {factor}
    for level_name, base_name in sides:
        shared = _shared_factors(protocol, factor, at[level_name], at[base_name])
        has_own_items = has_own_items or protocol.item not in (factor, *shared)
        cue |= {*protocol.factors, protocol.item} - {*shared}
        more, left = _pairs(
            at[level_name], at[base_name], _without_marks(shared, at[level_name], at[base_name])
        )
        pairs, alone = pairs + more, alone + left
    if not pairs:
        return None
    levels = len({name for side in sides for name in side}) - bool(baseline)
    columns, elsewhere = _columns(protocol, cue, pairs)
    texts = [(protocol.prompt_text(a), protocol.prompt_text(b)) for a, b in pairs]
    row = PromptDifference(
        factor,
        level,
        baseline,
        levels,
        len(pairs),
        alone,
        has_own_items,
        columns,
        elsewhere,
        _spread(texts, len),
        _spread(texts, _word_count),
        _differing_pairs(texts, _punctuation),
        _differing_pairs(texts, _capitals),
        max(map(_words_apart, texts)) if _is_whole(protocol, columns) else None,
    )
    if not has_own_items:
        return row
    first, second = zip(*sides, strict=True)
    by_side = ([cell for name in names for cell in at[name]] for names in (first, second))
    return _in_the_mean(row, *(list(map(protocol.prompt_text, cells)) for cells in by_side))


def _in_the_mean(
    row: PromptDifference, first: Sequence[str], second: Sequence[str]
) -> PromptDifference:
    """Compares the means of two sides with different items, over all their prompts."""

    def mean(count: Callable[[str], int]) -> float:
        return fmean(map(count, first)) - fmean(map(count, second))

    return replace(
        row,
        pairs=0,
        alone=len(first) + len(second),
        characters=replace(row.characters, mean=mean(len)),
        words=replace(row.words, mean=mean(_word_count)),
    )


def _is_measured(measure: MeasureSpec, cell: Row) -> bool:
    """True if a cell satisfies a measure's `where`."""
    return all(
        set(cell[name].split(SEVERAL)) & set(values)
        for name, values in measure.where.items()
        if name in cell
    )


def _sides(levels: Sequence[str], level: str, baseline: str) -> Iterator[tuple[str, str]]:
    """Yields the pairs of levels that are compared, with the baseline second."""
    if not baseline:
        yield from ((b, a) for a, b in combinations(levels, 2))
    elif baseline in levels:
        yield from ((name, baseline) for name in levels if name != baseline and level in ("", name))


def _shared_factors(
    protocol: Protocol, factor: str, first: Sequence[Row], second: Sequence[Row]
) -> list[str]:
    """Finds the factors (including the item) whose values are mostly the same on both sides."""
    shared = []
    for name in dict.fromkeys((protocol.item, *protocol.factors)):
        a, b = {cell[name] for cell in first}, {cell[name] for cell in second}
        if name != factor and len(a & b) >= SHARED_VALUES * len(a | b):
            shared.append(name)
    return shared


def _without_marks(shared: Sequence[str], first: Sequence[Row], second: Sequence[Row]) -> list[str]:
    """Drops each shared factor that is not needed to identify the cells on both sides."""
    words = list(shared)
    for name in reversed(shared):
        fewer = [other_name for other_name in words if other_name != name]
        keys = (
            len({tuple(cell[key] for key in fewer) for cell in side}) for side in (first, second)
        )
        if list(keys) == [len(first), len(second)]:
            words = fewer
    return words


def _pairs(
    first: Sequence[Row], second: Sequence[Row], shared: Sequence[str]
) -> tuple[list[tuple[Row, Row]], int]:
    """Pairs cells that agree in the shared factors; returns also the number without a partner."""
    sides: dict[tuple[str, ...], tuple[list[Row], list[Row]]] = {}
    for side, cells in enumerate((first, second)):
        for cell in cells:
            sides.setdefault(tuple(cell[name] for name in shared), ([], []))[side].append(cell)
    pairs = [pair for a, b in sides.values() for pair in zip(a, b, strict=False)]
    return pairs, len(first) + len(second) - 2 * len(pairs)


def _columns(
    protocol: Protocol, cue: set[str], pairs: Sequence[tuple[Row, Row]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns differing columns that reach the prompt: (in the cue's tables, in other tables)."""
    slots = {slot[1] for slot in _SLOT.finditer(protocol.prompt)}
    for row in protocol.cells:  # a slot may hold a template of its own
        slots |= {
            slot[1]
            for name in protocol.inline
            if name in slots
            for slot in _SLOT.finditer(row[name])
        }
    differ = [
        name for name in pairs[0][0] if name in slots and any(a[name] != b[name] for a, b in pairs)
    ]
    tables = [table for table in protocol.tables if cue & table[0].keys()]
    in_cue_tables = {name for table in tables for name in table[0]}
    return tuple(name for name in differ if name in in_cue_tables), tuple(
        name for name in differ if name not in in_cue_tables
    )


def _spread(texts: Sequence[tuple[str, str]], count: Callable[[str], int]) -> Spread:
    differences = [count(a) - count(b) for a, b in texts]
    return Spread(fmean(differences), max(map(abs, differences)))


def _differing_pairs(texts: Sequence[tuple[str, str]], what: Callable[[str], object]) -> int:
    """Counts pairs in which `what`, applied to the words only one text has, differs by side."""
    split = ((Counter(a.split()), Counter(b.split())) for a, b in texts)
    return sum(
        what(" ".join((a - b).elements())) != what(" ".join((b - a).elements())) for a, b in split
    )


def _is_whole(protocol: Protocol, columns: Sequence[str]) -> bool:
    """True if a prompt consists of a single column, and this column differs."""
    return len(columns) == 1 and protocol.prompt.strip() == f"{{{columns[0]}}}"


def _words_apart(texts: tuple[str, str]) -> int:
    first, second = (Counter(text.split()) for text in texts)
    return max((first - second).total(), (second - first).total())


def _word_count(text: str) -> int:
    return len(text.split())


def _punctuation(text: str) -> Mapping[str, int]:
    return Counter(sign for sign in text if unicodedata.category(sign)[0] == "P")


def _capitals(text: str) -> int:
    return sum(map(str.isupper, text))
