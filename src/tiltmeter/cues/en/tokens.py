"""Words of a text, and stretches of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD = re.compile(r"[^\W\d_]+")
_NEAR = 60  # characters


def inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """True if a place lies in one of some spans."""
    return any(start <= place < end for start, end in spans)


def near(text: str, place: int) -> str:
    """Returns the characters close before a place; all of them would cost the square of a text."""
    return text[max(0, place - _NEAR) : place]
