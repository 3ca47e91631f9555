"""A cache of what a function makes of short texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


class Remembered(dict[str, Value]):
    """A cache of a function of words and short entries, which recur from text to text.

    A hit costs a third of an lru_cache hit. Texts longer than `longest` are not stored, and the
    cache is emptied when it is full.
    """

    FULL = 1 << 16

    def __init__(self, function: Callable[[str], Value], longest: int = 99) -> None:
        super().__init__()
        self._function, self._longest = function, longest

    def __missing__(self, text: str) -> Value:
        value = self._function(text)
        if len(text) <= self._longest:
            if len(self) >= self.FULL:
                self.clear()
            self[text] = value
        return value
