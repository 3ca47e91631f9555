"""Matched sets of names, from which both versions of a prompt take their names.

A name as written is never compared with a listed name, which would compare familiarity too. The
prompt and a seed choose the set: the effects of single names average out, and every run has the
same."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ..row_files import own_rows

# Lists that protocols share: `protocols/data/README.md` says how they were matched.
_LISTS = Path(__file__).parents[1] / "protocols" / "data"
_MOSTLY_READ_AS_WORDS = frozenset(("amber", "paige", "drake", "madison", "cade", "chaim", "haley"))


class MatchedNames(NamedTuple):
    """The names of a matched set. names: {(group, gender): name}; swapping a cue exchanges them."""

    names: MappingProxyType[tuple[str, str], str]


@lru_cache
def sets(attribute: str) -> tuple[MatchedNames, ...]:
    """Returns the matched sets of an attribute (gender or race)."""
    file, column = (
        ("cue_names_age.csv", "cohort")
        if attribute == "gender"
        else ("cue_names_ethnicity.csv", "ethnicity")
    )
    rows: dict[str, dict[tuple[str, str], str]] = {}
    for row in own_rows(_LISTS / file):
        rows.setdefault(row["set"], {})[row[column], row["gender"]] = row["name"]
    usable = [
        {key: name for key, name in names.items() if attribute != "gender" or key[0] == "younger"}
        for names in rows.values()
    ]
    return tuple(
        MatchedNames(MappingProxyType(names))
        for names in usable
        if not _MOSTLY_READ_AS_WORDS & {name.lower() for name in names.values()}
    )


class Picker:
    """A chooser of names for the people of one prompt, with a different set per person."""

    def __init__(self, text: str, seed: int) -> None:
        self._text, self._key = text.casefold(), f"{seed}\n{text}"
        self._chosen: dict[tuple[str, str], MatchedNames] = {}

    def pick(self, attribute: str, person: str) -> MatchedNames:
        """Returns a person's set of names: the set that contains the person's name; else one
        chosen by hash, if possible a set of whose names the text has none.
        """
        key = attribute, person.casefold()
        if key not in self._chosen:
            self._chosen[key] = self._find(attribute, key[1])
        return self._chosen[key]

    def _find(self, attribute: str, person: str) -> MatchedNames:
        everyone = sets(attribute)
        taken = list(self._chosen.values())
        for named in everyone:
            if person in {name.lower() for name in named.names.values()} and named not in taken:
                return named
        start = int(hashlib.sha256(f"{self._key}\n{person}".encode()).hexdigest(), 16)
        for step in range(len(everyone)):
            named = everyone[(start + step) % len(everyone)]
            if named not in taken and not any(
                name.lower() in self._text for name in named.names.values()
            ):
                return named
        return everyone[start % len(everyone)]
