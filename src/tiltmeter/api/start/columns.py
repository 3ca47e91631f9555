"""Detects the columns of a table of prompts: the prompt, the cue, and the item, or items from the
prompts themselves.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from ...languages import letters
from ...row_files import Row

# What people call such columns, the likeliest first.
PROMPTS = ("prompt", "question", "text", "input", "instruction")
CUES = ("group", "gender", "sex", "race", "ethnicity", "cue", "age", "religion", "nationality")
ITEMS = ("item", "pair", "pair_id", "template", "template_id", "topic", "scenario", "job")
MAX_LEVELS = 12  # a column with more values is no cue
MOST_NAMED = 6  # cells in a caution
NAME_OF_COLUMN = re.compile(rf"[^\W\d]{letters.NAME}|[^\W\d]")
_TOKENS = re.compile(r"\w+|[^\w\s]")


def named_so(columns: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Returns all columns: first the columns with a usual name, then the others in order."""
    lower = {name.lower(): name for name in reversed(columns)}
    first = [lower[name] for name in usual if name in lower]
    return list(dict.fromkeys((*first, *columns)))


def find_prompt(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Returns the first column with a usual name of prompts, else the column with most text."""
    column = named_so(columns, PROMPTS)[0]
    if column.lower() in PROMPTS:
        return column
    return max(columns, key=lambda name: sum(len(row[name]) for row in rows))


def find_cue(rows: Sequence[Row], columns: Sequence[str], items: Sequence[str]) -> str:
    """Returns the first column with few values, which all occur with every value of an item."""
    few = few_valued(rows, columns)
    return next((name for name in few if find_item(rows, name, items)), "")


def few_valued(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Returns the columns that may be the cue, likeliest first: a usual name of a cue, then no
    usual name of an item, then fewest values.
    """
    most = min(MAX_LEVELS, len(rows) // 2)
    by_name = named_so(columns, CUES)
    values = {name: len({row[name] for row in rows}) for name in by_name}
    few = [name for name in by_name if 2 <= values[name] <= most]
    return sorted(
        few, key=lambda n: (0,) if n.lower() in CUES else (1, n.lower() in ITEMS, values[n])
    )


def fold_spellings(rows: Sequence[Row], columns: Sequence[str]) -> tuple[list[Row], str]:
    """Gives values that differ only in case or blanks their most frequent spelling, in columns of
    few values. Returns the rows, and a caution that names the cells; "" if none was changed.
    """
    changed: dict[int, Row] = {}
    texts = []
    for column in columns:
        counts = Counter(row[column] for row in rows if row[column].strip())
        spellings = {value.strip().casefold(): value for value, _ in reversed(counts.most_common())}
        if len(spellings) == len(counts) or len(spellings) > MAX_LEVELS:
            continue
        for number, row in enumerate(rows):
            usual = spellings.get(row[column].strip().casefold(), row[column]).strip()
            if usual and usual != row[column]:
                changed[number] = {**changed.get(number, row), column: usual}
                texts.append(f"{column} “{row[column]}” (row {number + 1}) as “{usual}”")
    more = f", and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    named = ", ".join(texts[:MOST_NAMED])
    note = f"Read as one value (rows after the header): {named}{more}." if texts else ""
    return [changed.get(number, row) for number, row in enumerate(rows)], note


def find_item(rows: Sequence[Row], cue: str, columns: Sequence[str]) -> str:
    """Returns the column whose values all occur with every level of the cue, usual names first."""
    matches = []
    levels = len({row[cue] for row in rows})
    for name in named_so([name for name in columns if name != cue], ITEMS):
        values = {row[name] for row in rows}
        if len({(row[name], row[cue]) for row in rows}) == len(values) * levels > levels:
            is_slot = NAME_OF_COLUMN.fullmatch(name) is not None
            matches.append((name.lower() in ITEMS, len(values), is_slot, name))
    return max(matches, key=lambda match: match[:3])[3] if matches else ""


def add_items(rows: Sequence[Row], prompt: str, cues: Sequence[str]) -> tuple[str, tuple[Row, ...]]:
    """Returns the first cue whose values share the same prompts except for words of the cue, and
    the rows with an item column added. If no cue does: the only cue or "", and no rows.
    """
    column = next(name for name in (*ITEMS, "same_prompts") if name not in rows[0])
    for cue in cues:
        if items := _items(rows, prompt, cue):
            return cue, tuple({**row, column: item} for row, item in zip(rows, items, strict=True))
    return (cues[0] if len(cues) == 1 else ""), ()


def _items(rows: Sequence[Row], prompt: str, cue: str) -> list[str]:
    """Returns the topic of each prompt: its words without the words that only some values of the
    cue have, and without those that every prompt has. Returns [] unless the words of each value
    occur equally often with every topic, so that pairs are never guessed.
    """
    words = [_TOKENS.findall(row[prompt]) for row in rows]
    levels: dict[str, set[str]] = defaultdict(set)
    for row, row_words in zip(rows, words, strict=True):
        for word in row_words:
            levels[word].add(row[cue])
    all_levels = {row[cue] for row in rows}
    unmatched = [
        tuple(word for word in row_words if levels[word] == all_levels) for row_words in words
    ]
    counts: dict[tuple[str, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for row, row_words, item in zip(rows, words, unmatched, strict=True):
        counts[item][row[cue], *(word for word in row_words if levels[word] != all_levels)] += 1
    if len(counts) < 2 or any(one != counts[unmatched[0]] for one in counts.values()):
        return []
    everywhere = set.intersection(*map(set, counts))
    names = {item: " ".join(word for word in item if word not in everywhere) for item in counts}
    if "" in names.values() or len(set(names.values())) < len(names):
        names = {item: str(number) for number, item in enumerate(counts, 1)}
    return [names[item] for item in unmatched]
