"""The pictures of PAIRS that a copy of the release has, with the facts that their paths state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_PATH = re.compile(r"data/occupations/(\w+)/(black|white)_(man|woman)\.png")


def table(contents: Iterable[str]) -> str:
    """Returns the pictures as JSON lines, one row per picture."""
    rows = (
        {"picture": path, "scenario": match[1], "race": match[2], "gender": match[3]}
        for path in contents
        if (match := _PATH.fullmatch(path))
    )
    return "".join(json.dumps(row) + "\n" for row in rows)
