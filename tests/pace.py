"""Bounds on the CPU of a block that hold on slow and busy machines: they grow with the pace of the machine."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

REFERENCE_S = (
    0.05  # CPU seconds of `_work` on the machine where bounds were set, with nothing beside it
)
_WORDS = "a plain sentence of words, she said, and numbers such as 12 or 3.5. " * 400


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Asserts that a block takes at most so many CPU seconds of the machine where bounds were set.

    A fixed piece of work is timed before and after it, so both are of the same minute.
    """
    before = _work()
    begun = time.process_time()
    yield
    spent = time.process_time() - begun
    pace = max(1.0, max(before, _work()) / REFERENCE_S)
    assert spent < seconds * pace, f"{spent:.2f} CPU s, at {pace:.1f} of the reference's time"


def _work() -> float:
    """CPU seconds of regular expressions, strings and numbers, as readers use them."""
    begun = time.process_time()
    for _ in range(4):
        counted: dict[str, int] = {}
        for match in re.finditer(r"\w+(?:\.\d)?", _WORDS):
            counted[match[0]] = counted.get(match[0], 0) + 1
        sum(number * number for number in range(40_000))
    return time.process_time() - begun
