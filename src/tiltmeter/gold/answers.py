"""What a person says of an item, and how it is kept.

A value is a label of `human:NAME`, as an imported one is; a skip is no label. All else (skips,
notes, marks in the text) is an artefact for each annotator and attribute.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UsageError
from ..store import Store
from ..store.queries import labels

# kind of the artefacts with what is no label: ANNOTATOR/ATTRIBUTE → {output: {skipped, note,
# marks}}
WORK = "annotation"
LONGEST = {
    "annotator": 60,
    "skipped": 200,
    "note": 2_000,
    "marks": 2_000,
    "value": 80,
}  # characters
KEYS = "123456789abcdefghijklmopqrtvwxyz"  # of labels; n, s and u are those of note, skip and undo
_MARKS = re.compile(r"(\d+:(primary|another|several)( (?=\d)|$))*", re.ASCII)


class State(NamedTuple):
    """What a person has said of an item so far; a value and a reason to skip exclude each other.

    marks: whose each marked word of the text is, as PLACE:WHOSE with blanks between.
    """

    value: str = ""
    skipped: str = ""
    note: str = ""
    marks: str = ""

    @property
    def done(self) -> bool:
        return bool(self.value or self.skipped)


class Choice(NamedTuple):
    """A value that can be chosen, what it means ("" where nobody says), and its key ("" beyond the
    keys that there are).
    """

    value: str
    meaning: str
    key: str


@cache
def words() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("answers.toml").read_text("utf-8"))


def keyed(values: Sequence[tuple[str, str]]) -> tuple[Choice, ...]:
    """(value, meaning) with a key each, as far as keys go."""
    keys = (*KEYS, *("" for _ in values))
    return tuple(
        Choice(value, meaning, key) for (value, meaning), key in zip(values, keys, strict=False)
    )


def checked(now: State, known: Sequence[Choice]) -> None:
    """UsageError for a value that is not on the list, and for what is too long or contradicts
    itself.
    """
    if now.value and now.value not in {one.value for one in known}:
        raise UsageError(f"'{now.value[:80]}' is not on the list.")
    if now.value and now.skipped:
        raise UsageError("What is skipped has no value.")
    if not now.skipped.isprintable():
        raise UsageError("A reason is one line of characters that can be seen.")
    if not _MARKS.fullmatch(now.marks):
        raise UsageError("Marks are made of PLACE:WHOSE.")
    for name in ("skipped", "note", "marks"):
        if len(getattr(now, name)) > LONGEST[name]:
            raise UsageError(f"This is longer than {LONGEST[name]} characters.")


def noted(store: Store, kind: str, name: str, item: str, state: State) -> None:
    """Writes what is no label of an item into an artefact."""
    kept: dict[str, dict[str, str]] = json.loads(store.artefact(kind, name) or "{}")
    kept[item] = {key: text for key, text in state._asdict().items() if text}
    store.keep(
        kind,
        name,
        json.dumps({item: said for item, said in kept.items() if said}, ensure_ascii=False),
    )


def noted_states(store: Store, kind: str, name: str) -> dict[str, State]:
    return {
        item: State(**said) for item, said in json.loads(store.artefact(kind, name) or "{}").items()
    }


def states_of(store: Store, annotator: str, attribute: str) -> dict[str, State]:
    found = noted_states(store, WORK, f"{annotator}/{attribute}")
    for output, value in labels.values(store, annotator, attribute).items():
        found[output] = found.get(output, State())._replace(value=value, skipped="")
    return found
