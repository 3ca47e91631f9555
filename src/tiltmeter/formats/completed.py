"""Documents of an exported folder that people complete: a completed one may differ from the run's
original only in the gaps that are to be filled in.

As a stranger may have made both, the time is bounded by one search per piece of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .crate import OPEN

_PLACE = re.compile(rf"(?<!says )\*\*{OPEN}\*\*|(?<!says \*\*){OPEN}")  # but where it is explained
# Ends of lines to some readers, and marks that show a line in another order than it has.
_CONTROLS = "\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029\u202a-\u202e\u2066-\u2069"
# What may not stand in a place: a heading, table or list, which could pass for a part of the
# evidence, a picture of one, a tag or comment, which could hide what follows.
_NOT_FILLED = re.compile(
    r"\n[ \t]*(?:[#|\-*+>=_]|\d+[.)])|\||```|~~~|!\[|<(?!https?:|mailto:)[a-zA-Z!/?]"
    rf"|\n[ \t]*\Z|[{_CONTROLS}]"
)
_SETTING = re.compile(rf'[^\n"\\{_CONTROLS}]*')  # in a table of settings (.cff) one line
_FURTHER_AUTHORS = re.compile(rf"(?:\n {{2,}}[^\n{_CONTROLS}]*)*")
_AFTER_AUTHORS = "\nidentifiers:"


def is_completed(original: str, text: str) -> bool:
    """True if a text equals the original except in the gaps to be filled in."""
    first, *rest = _PLACE.split(original)
    if not rest:
        return text == original
    if not text.startswith(first):
        return False
    start, pieces = len(first), list(_pieces(original, rest))
    for number, (allowed, piece) in enumerate(pieces, 1):
        is_last = number == len(pieces)
        end = len(text) - len(piece) if is_last else text.find(piece, start)
        if end < start or not text.startswith(piece, end):
            return False
        filled = text[start:end]
        if allowed is not None and not allowed.fullmatch(filled):
            return False
        if allowed is None and _NOT_FILLED.search(filled):
            return False
        start = end + len(piece)
    return True


def _pieces(original: str, rest: list[str]) -> Iterator[tuple[re.Pattern[str] | None, str]]:
    """Yields (pattern of a gap's content, None for free text; the text after that gap)."""
    if not original.startswith("cff-version"):
        yield from ((None, piece) for piece in rest)
        return
    for piece in rest:
        name, comes, after = piece.partition(_AFTER_AUTHORS)
        yield _SETTING, name
        if comes:
            yield _FURTHER_AUTHORS, comes + after
