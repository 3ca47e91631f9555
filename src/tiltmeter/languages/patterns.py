"""Regular expressions that are compiled when they are first used.

A command imports some 200 patterns and uses a third of them, and many are only a part of others; to
compile all of them took a tenth of a second of every start.
"""

from __future__ import annotations

import re
from typing import Any, cast


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
