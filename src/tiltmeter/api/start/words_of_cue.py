"""The names or other words by which the prompts of an item show their cue: a column of the table,
or the capitalised words in which these prompts differ.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ...protocol.design.thin_design import is_called_name
from ...row_files import Row
from ...stats.crossed.words import LEAST_WORDS

NAME = "name"  # the column that is added
MOST_WORDS = 4  # of one name, with a title or a pronoun at the start of a sentence
_SHOWN = 3  # words per level that a caution quotes
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def word_column(
    rows: Sequence[Row], prompt: str, cues: Sequence[str], columns: Sequence[str]
) -> str:
    """Returns the column whose words stand in the prompts, each word for one level of each cue; ""
    if there is none. If each level has one word, the column must be called a name.
    """
    matches = []
    for column in columns:
        words = {row[column] for row in rows}
        if not all(0 < len(word.split()) <= MOST_WORDS for word in words):
            continue
        if any(row[column] not in row[prompt] for row in rows):
            continue
        levels = [len({row[cue] for row in rows}) for cue in cues]
        if any(len({(row[column], row[cue]) for row in rows}) > len(words) for cue in cues):
            continue
        if len(words) > max(levels) or is_called_name(column):
            matches.append((is_called_name(column), len(words), column))
    return max(matches)[2] if matches else ""


def names_in_prompts(
    rows: Sequence[Row], prompt: str, parts: Sequence[str], cues: Sequence[str]
) -> list[str]:
    """Returns for each row the capitalised words that only some prompts with the same `parts` (item
    and language) have; [] unless each row has a few, which stand for one level of each cue, and
    a level has several names in one item.
    """
    words = [" ".join(capitals) for capitals in _differing_words(rows, prompt, parts)]
    if not all(0 < len(word.split()) <= MOST_WORDS for word in words):
        return []
    names: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row, word in zip(rows, words, strict=True):
        names[tuple(row[column] for column in (*parts, *cues))].add(word)
    for cue in cues:
        pairs = {(word, row[cue]) for row, word in zip(rows, words, strict=True)}
        if len(pairs) > len(set(words)):
            return []
    return words if max(map(len, names.values())) > 1 else []


def caution(rows: Sequence[Row], prompt: str, parts: Sequence[str], cue: str) -> str:
    """Returns a caution if the levels of a cue have few capitalised words of their own in the
    prompts, which may be names, and no column has them; "" otherwise.
    """
    words: dict[str, dict[str, None]] = defaultdict(dict)
    for row, capitals in zip(rows, _differing_words(rows, prompt, parts), strict=True):
        words[row[cue]][" ".join(capitals)] = None
    if any("" in of or len(of) >= LEAST_WORDS for of in words.values()):
        return ""
    return (
        f"The cue is few words ({_quoted(words)}). If these are names, a tilt may be one name's, "
        "not its group's: give ten names per level, in a column of their own, and begin anew."
    )


def _quoted(words: Mapping[str, Mapping[str, None]]) -> str:
    return "; ".join(
        f"{level}: {', '.join(list(of)[:_SHOWN])}" for level, of in list(words.items())[:_SHOWN]
    )


def _differing_words(rows: Sequence[Row], prompt: str, parts: Sequence[str]) -> list[list[str]]:
    """Returns the capitalised words of each prompt, once each, that some prompt with the same parts
    lacks.
    """
    found = [dict.fromkeys(_WORD.findall(row[prompt])) for row in rows]
    keys = [tuple(row[part] for part in parts) for row in rows]
    shared: dict[tuple[str, ...], set[str]] = {}
    for key, words in zip(keys, found, strict=True):
        shared[key] = shared[key] & words.keys() if key in shared else set(words)
    return [
        [word for word in words if word[:1].isupper() and word not in shared[key]]
        for key, words in zip(keys, found, strict=True)
    ]
