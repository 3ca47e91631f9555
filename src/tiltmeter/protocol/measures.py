"""Kinds of measures by name: built-in and of other packages (entry points `tiltmeter.measures`)."""

from __future__ import annotations

from functools import lru_cache

from ..errors import UnknownName
from ..system.entry_points import entry_points
from .built_in_measures import KINDS
from .measure_kinds import Compute, MeasureKind


def of_function(name: str, function: Compute) -> MeasureKind:
    """Makes the record of a kind that is declared only as a function."""
    first = (function.__doc__ or "").strip().partition("\n")[0]
    return MeasureKind(name=name, summary=first or f"computed by {name}", compute=function)


def names() -> list[str]:
    """Lists all kinds: shipped kinds, then kinds of other packages, which are not imported."""
    return list(dict.fromkeys((*KINDS, *sorted(entry_points("measures")))))


@lru_cache
def measure_kind(name: str) -> MeasureKind:
    """Returns the record of a kind, built in or of another package, or raises UnknownName."""
    if name in KINDS:
        return KINDS[name]
    points = entry_points("measures")
    if name not in points:
        raise UnknownName("kind", name, names())
    loaded: MeasureKind | Compute = points[name].load()
    return loaded if isinstance(loaded, MeasureKind) else of_function(name, loaded)
