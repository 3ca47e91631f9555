"""The speaker of a quotation, or of a line of dialogue that begins with a label ("**Amina:** …", "|
Amina | … |"). Rules only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .passage import WordToken, words

_MARKS = frozenset("*_|#>-–—•")
_LONGEST_LABEL = 4  # words


class Line(NamedTuple):
    """A line of dialogue: its tokens first to last. label: the tokens of its label."""

    first: int
    last: int
    label: range


def speaker(found: Sequence[WordToken], span: tuple[int, int]) -> range:
    """Returns the tokens that name the speaker of a quotation: next to a verb of speech that
    follows the quotation or precedes it.
    """
    low, high = span
    speech = words("speech")
    verb = next(
        (at for at in range(high + 1, min(high + 6, len(found))) if found[at].word in speech), None
    )
    if verb is not None and all(found[at].word not in ".\n" for at in range(high + 1, verb)):
        return (
            range(high + 1, verb)
            if verb > high + 1
            else range(verb + 1, _until(found, verb + 1, 1))
        )
    for at in range(low - 1, max(low - 10, -1), -1):
        if found[at].word in ".?!\n":
            break
        if found[at].word in speech:
            return range(_until(found, at - 1, -1) + 1, at)
    return range(0)


def _until(found: Sequence[WordToken], at: int, step: int) -> int:
    """Returns the index of the first preposition or end of a clause from `at` on, at most four
    steps away.
    """
    for _ in range(4):
        if (
            not 0 <= at < len(found)
            or not found[at].word[0].isalnum()
            or found[at].word in words("prepositions")
        ):
            break
        at += step
    return at


def dialogue(found: Sequence[WordToken]) -> list[Line]:
    """Returns the lines that begin with a label, if at least two labels recur or at least four
    lines have one.
    """
    lines: list[Line] = []
    begin = 0
    for at in range(len(found) + 1):
        if at == len(found) or found[at].word == "\n":
            line = _match_label(found, begin, at)
            if line is not None:
                lines.append(line)
            begin = at + 1
    names = Counter(_name(found, line) for line in lines)
    recurring_labels = sum(number > 1 for number in names.values())
    return lines if recurring_labels > 1 or len(lines) > 3 else []


def _match_label(found: Sequence[WordToken], first: int, last: int) -> Line | None:
    """Parses a line with a label: a few words, the first capitalised, then a colon or bar."""
    at = first
    while at < last and found[at].word in _MARKS:
        at += 1
    begin = at
    while at < last and at - begin < _LONGEST_LABEL and found[at].word[0].isalnum():
        at += 1
    label = range(begin, at)
    if not label or not found[begin].raw[0].isupper():
        return None
    while at < last and found[at].word in "*_.":
        at += 1
    return Line(at, last, label) if at < last and found[at].word in ":|" else None


def _name(found: Sequence[WordToken], line: Line) -> str:
    return " ".join(found[at].word for at in line.label)


def in_brackets(found: Sequence[WordToken], line: Line, at: int) -> bool:
    """True if a token in a line of dialogue is in brackets, as stage directions are."""
    depth = 0
    for place in range(line.first, at):
        depth += (found[place].word in "([") - (found[place].word in ")]")
    return depth > 0
