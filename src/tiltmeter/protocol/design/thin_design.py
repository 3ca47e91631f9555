"""Warnings about designs with too few items or cue words, or without the cue in the prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ... import row_files
from ...languages.letters import NAME
from ...languages.patterns import lazy
from .. import Protocol
from .tables import MITIGATED, SEVERAL, SYSTEM, Row

FEW_ITEMS = 9  # below, an interval over items says little (docs/explanation/statistics.md)
MOST_NAME_WORDS = 3
SHOWN_GROUPS = 3  # that a sentence names
SHOWN_LETTERS = 40  # of words that it names
NO_CUE = "The cue is not in the prompt"  # begins a sentence
_SLOT = lazy(rf"\{{({NAME})\}}")
_NAMES = lazy(
    r"(?i)(^|_|\b|first|full|last|sur|vor|nach)names?$"
)  # what a column of names is called


def thin_design(protocol: Protocol) -> list[str]:
    """Returns sentences: on levels without a common item, on too few items, on each compared factor
    with a level of a single name or with the same words at two levels, and on each factor that no
    prompt contains; [] if none of these applies. Items that are the levels of a factor are never
    too few.
    """
    unasked = (
        f"{NO_CUE}: nothing of {' or '.join(columns)} stands in it, and it is the same for all "
        f"levels of {factor}."
        for factor, columns in cues_not_asked(protocol).items()
    )
    lone, shared = _lone_names(protocol), _shared_words(protocol)
    return [*_unpaired(protocol), *_few_items(protocol), *lone, *shared, *unasked]


def lost_letters(protocol: Protocol) -> list[str]:
    """Returns a warning about letters that the tables lost when they were saved; [] if none are."""
    rows = (row for table in protocol.tables for row in table)
    warning = row_files.lost_letters(cell for row in rows for cell in row.values())
    return [warning] if warning else []


def cues_not_asked(protocol: Protocol) -> dict[str, list[str]]:
    """Returns {compared factor: its columns} for factors none of whose columns is in a prompt."""
    columns_of: dict[str, list[str]] = {}
    asked = asked_columns(protocol)
    cells = [row for table in protocol.tables for row in table]
    for factor in compared_factors(protocol):
        columns = dict.fromkeys(name for row in cells if factor in row for name in row)
        if columns and not asked & (columns.keys() | _linked_columns(protocol, factor)):
            columns_of[factor] = list(columns)
    return columns_of


def _linked_columns(protocol: Protocol, factor: str) -> set[str]:
    """Finds the columns of other tables whose rows each belong to one level, through a shared
    column (the sentences of a stereotype, the stereotypes of a side).
    """
    linked: set[str] = set()
    for table in protocol.tables:
        for key in table[0] if factor in table[0] else ():
            pairs = {(row[key], row[factor]) for row in table}
            if key != factor and len(pairs) == len(dict(pairs)):
                linked |= {
                    name for other in protocol.tables if key in other[0] for name in other[0]
                }
    return linked


def asked_columns(protocol: Protocol) -> set[str]:
    """Finds the columns named by slots of prompts and picture paths, or by slots inside these."""
    texts = [protocol.prompt, protocol.system, *(text for _, text, _ in protocol.turns)]
    texts += protocol.pictures
    texts += [mode.begin for mode in protocol.modes.values()]
    asked = {slot for text in texts for slot in _SLOT.findall(text)} | {MITIGATED, SYSTEM}
    cells = [row for table in protocol.tables for row in table]
    return asked | {
        slot for row in cells for name in asked & row.keys() for slot in _SLOT.findall(row[name])
    }


def stands_in_prompts(protocol: Protocol, factor: str, column: str) -> bool:
    """True if the words of a column, each for one level, stand in other columns that prompts are
    filled from, as if a column holds whole prompts.
    """
    asked = asked_columns(protocol) - columns_of_pictures(protocol) - {column}
    rows = [row for table in protocol.tables if factor in table[0] for row in table]
    levels = {(row.get(column, ""), row[factor]) for row in rows}
    return len(levels) == len(dict(levels)) and all(
        row.get(column, "") and any(row[column] in row[name] for name in asked & row.keys())
        for row in rows
    )


def columns_of_pictures(protocol: Protocol) -> set[str]:
    """Returns the columns that name pictures."""
    return {slot for text in protocol.pictures for slot in _SLOT.findall(text)}


def compared_factors(protocol: Protocol) -> list[str]:
    """Returns the factors that measures contrast, in the design's order."""
    factors = {spec.contrast.get("factor") for spec in protocol.measures if spec.contrast}
    return list(filter(factors.__contains__, protocol.factors))


def items_by_level(protocol: Protocol, factor: str) -> dict[str, set[str]]:
    """Returns {level of a factor: its items}; {} if no table ties items to levels, or if the items
    are the outputs themselves (files), of which no prompt is known.
    """
    item = protocol.item
    is_tied = any({factor, item} <= table[0].keys() for table in protocol.tables)
    if factor == item or not is_tied or protocol.prompt == f"{{{item}}}":
        return {}
    items: dict[str, set[str]] = {}
    for cell in protocol.cells:
        for level in cell[factor].split(SEVERAL):
            items.setdefault(level, set()).add(cell[item])
    return items


def _unpaired(protocol: Protocol) -> Iterator[str]:
    """Yields a sentence per factor of a headline whose levels have no item in common."""
    contrasts = [spec.contrast or {} for spec in protocol.measures if spec.headline]
    for factor in dict.fromkeys(one.get("factor", "") for one in contrasts if "of" not in one):
        items = items_by_level(protocol, factor)
        if len(items) > 1 and sum(map(len, items.values())) == len(set().union(*items.values())):
            yield (
                f"There are no pairs: each {protocol.item} is asked for one level of {factor} "
                f"alone, so what differs may be the prompts' subject, not {factor}. Give the "
                "prompts of a pair the same number in a column, and name it as the item."
            )


def _few_items(protocol: Protocol) -> Iterator[str]:
    if len(protocol.items()) < FEW_ITEMS and protocol.item not in protocol.factors:
        yield (
            f"The design is thin: {protocol.counted_items}, and intervals "
            f"speak of such items. Name {FEW_ITEMS} at least, better twenty."
        )


def _lone_names(protocol: Protocol) -> Iterator[str]:
    for factor in compared_factors(protocol):
        for column in name_columns(protocol, factor):
            names = _names_by_level(protocol, factor, column)
            lone = {level: min(of) for level, of in names.items() if len(of) == 1}
            if len(names) > 1 and lone:
                yield _lone_name_sentence(factor, lone)


def _shared_words(protocol: Protocol) -> Iterator[str]:
    """Yields a sentence per compared factor with a word that several levels share (a name in two
    groups), so that some of their prompts are equal.
    """
    asked = asked_columns(protocol)
    for factor in compared_factors(protocol):
        levels: dict[tuple[tuple[str, ...], ...], dict[str, None]] = {}
        tables_of_factor = [table for table in protocol.tables if factor in table[0]]
        if len(tables_of_factor) != 1:  # of several, another may tell levels apart
            continue
        parted = {  # by which measures keep such rows apart
            name
            for spec in protocol.measures
            if spec.contrast and spec.contrast.get("factor") == factor
            for name in spec.where
        }
        linked = {
            name
            for table in protocol.tables
            if table is not tables_of_factor[0]
            for name in table[0]
        }
        for row in tables_of_factor[0]:
            words = tuple(row[name] for name in row if name in asked)
            others = tuple(
                row[name] for name in row if name in linked | parted
            )  # which may bring words
            if any(words) and factor in row:
                levels.setdefault((words, others), {})[row[factor]] = None
        shared = {" ".join(words): of for (words, _), of in levels.items() if len(of) > 1}
        if shared:
            yield _shared_words_sentence(factor, shared)


def name_columns(protocol: Protocol, factor: str) -> list[str]:
    """Finds the columns of names in the tables of a factor: by their title, or because they hold a
    few capitalised words that are not a form of the level ("Black" for black). Names of items are
    no cue.
    """
    rows = [row for table in protocol.tables if factor in table[0] for row in table]
    columns = dict.fromkeys(name for row in rows for name in row)
    return [
        column
        for column in columns
        if column not in (factor, protocol.item)
        and (is_called_name(column) or all(_is_name(row, factor, column) for row in rows))
    ]


def is_called_name(column: str) -> bool:
    """True if a column is called what columns of people's names are."""
    return _NAMES.search(column) is not None


def _is_name(row: Row, factor: str, column: str) -> bool:
    words = row.get(column, "").split()
    is_own_word = words[:1] and words[0][:3].casefold() == row[factor][:3].casefold()
    is_capitalised = all(word[:1].isupper() for word in words)
    return 0 < len(words) <= MOST_NAME_WORDS and is_capitalised and not is_own_word


def _names_by_level(protocol: Protocol, factor: str, column: str) -> dict[str, set[str]]:
    names: dict[str, set[str]] = {}
    for table in protocol.tables:
        for row in table:
            if factor in row and row.get(column):
                names.setdefault(row[factor], set()).add(row[column])
    return names


def _lone_name_sentence(factor: str, lone: Mapping[str, str]) -> str:
    named = [f"{level}: {name}" for level, name in list(lone.items())[:SHOWN_GROUPS]]
    dots = ", …" if len(lone) > SHOWN_GROUPS else ""
    return (
        f"The design is thin: one name stands for a level of {factor} ({', '.join(named)}{dots}), "
        "and a name says more than that. Give several names to each."
    )


def _shared_words_sentence(factor: str, shared: Mapping[str, Iterable[str]]) -> str:
    cases = [f"“{_short(words)}” for {' and '.join(of)}" for words, of in shared.items()]
    more = f", and {len(cases) - SHOWN_GROUPS} more" if len(cases) > SHOWN_GROUPS else ""
    return (
        f"The design is thin: the same words stand for several levels of {factor} "
        f"({', '.join(cases[:SHOWN_GROUPS])}{more}), so their prompts are the same and say nothing "
        "of either. Leave them out of all levels but one."
    )


def _short(words: str) -> str:
    return words if len(words) <= SHOWN_LETTERS else f"{words[: SHOWN_LETTERS - 1]}…"
