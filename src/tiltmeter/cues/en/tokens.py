"""Words of a text, and stretches of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD = re.compile(r"[^\W\d_]+")


def inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """True if a place lies in one of some spans."""
    return any(start <= place < end for start, end in spans)
