"""Short names of models: just enough characters to tell them apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from string import ascii_uppercase

from ...errors import UnknownName
from ...records import Estimate
from .reading import TOGETHER

LONGEST_CHARACTERS = 24  # of a short name; longer ones become a letter
_SEPARATORS = re.compile("[:/]")


def short_names(subjects: Sequence[str], named: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns {model: short name} in the order given: its name in `named` ({model: name}), else the
    shortest ending after a colon or slash (without settings after a "?") that no other model has,
    else A, B, C. A pooled subject
    joins its models' short names, or is "all models" if that is too long.
    """
    titles = named or {}
    whole = {name: name.split(TOGETHER) for name in subjects if TOGETHER in name}
    unique = list(dict.fromkeys(name for name in subjects if name not in whole))
    plain = [name.partition("?")[0] for name in unique]
    shortened = {
        name: titles.get(name) or _ending(short if plain.count(short) == 1 else name, plain)
        for name, short in zip(unique, plain, strict=True)
    }
    letters = (letter for letter in _letters() if letter not in shortened.values())
    alone = {name: short or next(letters) for name, short in shortened.items()}
    together = {name: " + ".join(alone.get(p, p) for p in parts) for name, parts in whole.items()}
    return alone | {
        name: short if len(short) <= LONGEST_CHARACTERS else "all models"
        for name, short in together.items()
    }


def given_names(labels: Mapping[str, str], known: Iterable[str]) -> dict[str, str]:
    """Inverts labels, {short name: model}. Raises UnknownName for a model not in `known`."""
    models = list(dict.fromkeys(known))
    for model in labels.values():
        if model not in models:
            raise UnknownName("model", model, models)
    return {model: label for label, model in labels.items()}


def with_names(rows: Sequence[Estimate], labels: Mapping[str, str] | None) -> Sequence[Estimate]:
    """Replaces models by short names for display, in each estimate. labels: {short name: model}."""
    if not labels:
        return rows
    names = given_names(labels, (row.subject for row in rows))
    return [replace(row, subject=names.get(row.subject, row.subject)) for row in rows]


def _ending(name: str, names: Sequence[str]) -> str:
    """Returns the shortest unique ending; "" if it is long or contains settings (`she=0.7`)."""
    others = [other for other in names if other != name]
    starts = [match.end() for match in _SEPARATORS.finditer(name)]
    for start in [*reversed(starts), 0]:
        ending = name[start:]
        if ending and not any(other.endswith(ending) for other in others):
            return ending if len(ending) <= LONGEST_CHARACTERS and "=" not in ending else ""
    return ""


def _letters() -> Iterator[str]:
    yield from ascii_uppercase
    yield from (f"{one}{two}" for one in ascii_uppercase for two in ascii_uppercase)
