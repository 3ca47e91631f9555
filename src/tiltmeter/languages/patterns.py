"""Regular expressions that are compiled when they are first used.

A command imports some 200 patterns and uses a third of them, and many are only a part of others; to
compile all of them took a tenth of a second of every start.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

NEVER = r"(?!)"  # a pattern that finds nothing
BEHIND = "(?<= )"  # begins each pattern of `WordPattern`


class _Lazy:
    """A stand-in that compiles its pattern at the first use, and then acts as this pattern."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, value)  # search, match, … are looked up here only once
        return value


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Returns a pattern that is compiled when it is first used for more than its text."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))


class WordPattern:
    """Patterns of words in canonical text (phrases.py), each of which begins with BEHIND.

    To find them, the space before them is matched instead of looked back at, since a literal first
    character is found five times as fast. So a match begins with this space.
    """

    def __init__(self, *patterns: str) -> None:
        known = [pattern for pattern in patterns if pattern != NEVER]
        self.pattern = "|".join(known) or NEVER
        spaced = "|".join(pattern.removeprefix(BEHIND) for pattern in known)
        self._spaced = lazy(f" (?:{spaced})" if known else NEVER)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._spaced, name)
        setattr(self, name, value)  # search, finditer, findall
        return value

    def begins(self, text: str) -> int:
        """Returns the end of the words with which a canonical text begins, or 0."""
        match = self._spaced.match(text)
        return match.end() if match else 0

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Lists (start, end) of the words in a text, without the space before them."""
        return [(match.start() + 1, match.end()) for match in self.finditer(text)]

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Replaces the words, and not the space before them."""
        return self.subn(new, text)[0]

    def subn(self, new: str | Callable[[re.Match[str]], str], text: str) -> tuple[str, int]:
        """Replaces the words as `sub` does; returns also the number of replacements."""
        spaced = f" {new}" if isinstance(new, str) else lambda match: f" {new(match)}"
        return self._spaced.subn(spaced, text)
