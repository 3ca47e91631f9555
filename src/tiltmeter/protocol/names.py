"""Checks of names in a protocol's file: an unknown name is refused, with the nearest known one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..errors import ProtocolError, UnknownName
from .source.source_lines import SourceLocation


def refuse_unknown(what: str, name: str, known: Iterable[str], place: SourceLocation) -> None:
    """Raises ProtocolError if a name is unknown; the message suggests the nearest known name."""
    names = list(known)
    if name not in names:
        raise ProtocolError(f"{place}: {UnknownName(what, name, names)}")


def refuse_twice(names: Sequence[str], place: SourceLocation, *inside: str) -> None:
    """Raises ProtocolError if a name occurs twice."""
    for name, number in Counter(names).items():
        if number > 1:
            last = len(names) - 1 - list(reversed(names)).index(name)
            raise ProtocolError(
                f"{place.at(last, *inside)}: '{name}' occurs {number} times. Rename or remove one."
            )


def refuse_unknown_levels(
    factor: str, listed: Sequence[str], known: Iterable[str], place: SourceLocation
) -> None:
    """Raises ProtocolError for an unknown level in a list that should name every level of a factor,
    if the list also lacks a level of the design: the unknown level is then misspelt.

    A list that names all levels of the design may name further levels, so that a protocol's list
    stays right if its items are cut down to a few.
    """
    levels = list(known)
    if not set(levels) <= set(listed):
        for level in listed:
            refuse_unknown(factor, level, levels, place)
