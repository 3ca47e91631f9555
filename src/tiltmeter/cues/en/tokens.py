"""Patterns for words, and helpers for spans of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD = re.compile(r"[^\W\d_]+")
_NEAR = 60  # characters


def inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """True if an offset lies in one of the spans."""
    return any(start <= place < end for start, end in spans)


def near(text: str, place: int) -> str:
    """Returns the last characters before an offset, so that searches stay linear in time."""
    return text[max(0, place - _NEAR) : place]
