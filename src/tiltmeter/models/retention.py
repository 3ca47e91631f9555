"""How long providers keep the results of batches: dated entries of models.toml, or a user's."""

from __future__ import annotations

import tomllib
from functools import cache

from ..errors import UsageError
from ..system import intake
from .table import BUILT_IN, RETENTION, own_file


@cache
def kept_days(kind: str) -> float | None:
    """Returns the days after creation for which a batch's results can be read; None if unknown."""
    days: float | None = None
    for path in (BUILT_IN, own_file()):
        if not path.is_file():
            continue
        entry = tomllib.loads(intake.read_text(path, intake.MOST_DECLARED_BYTES)).get(RETENTION, {})
        if not isinstance(entry, dict) or not isinstance(entry.get(kind, {}), dict):
            raise UsageError(
                f"{path}, {RETENTION}: a table per provider expected. Type for instance: {kind} = "
                "{ days = 29, date = 2026-11-23 }"
            )
        value = entry.get(kind, {}).get("days", days)
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            raise UsageError(f"{path}, {RETENTION}, {kind}: days must be a number, not {value!r}")
        days = value
    return days
