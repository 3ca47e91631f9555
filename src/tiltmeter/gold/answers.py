"""A person's answers about an item, and their storage.

A value is a label of `human:NAME`, like an imported one; a skip is not a label. Everything else
(skips, notes, marks in the text) is an artefact per annotator and attribute.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypedDict

from ..errors import UsageError
from ..store import Store
from ..store.queries import labels

# kind of the artefacts with what is no label: ANNOTATOR/ATTRIBUTE → {output: {skipped, note,
# marks}}
WORK = "annotation"
# characters
MOST_CHARACTERS = {
    "annotator": 60,
    "skipped": 200,
    "note": 2_000,
    "marks": 2_000,
    "value": 80,
}
KEYS = "123456789abcdefghijklmopqrtvwxyz"  # of labels; n, s and u are those of note, skip and undo
_MARKS = re.compile(r"(\d+:(primary|another|several)( (?=\d)|$))*", re.ASCII)


class State(NamedTuple):
    """A person's answers about an item so far; it has a value or a reason to skip, never both.

    marks: POSITION:WHOSE of each marked word, separated by blanks. opened: "1" if the person
    unfolded the folded prompt before or after the answer.
    """

    value: str = ""
    skipped: str = ""
    note: str = ""
    marks: str = ""
    opened: str = ""

    @property
    def done(self) -> bool:
        """True if the item has a value or a reason to skip."""
        return bool(self.value or self.skipped)


class ValueChoice(NamedTuple):
    """A value that can be chosen. key: the keyboard key for it, or ""."""

    value: str
    meaning: str
    key: str


class Wording(TypedDict):
    """The annotation page's words for reasons to skip, and for the marks of a taxonomy. closed: the
    answers to offer besides a closed list's values; colours: {palette value: its meaning}.
    """

    closed: dict[str, str]
    colours: dict[str, str]
    skips: dict[str, list[str]]
    review: dict[str, str]


@cache
def wording() -> Wording:
    """Returns the texts of answers.toml."""
    text = Path(__file__).with_name("answers.toml").read_text("utf-8")
    content = tomllib.loads(text)
    return Wording(
        closed=content["closed"],
        colours=content["colours"],
        skips=content["skips"],
        review=content["review"],
    )


def with_keys(values: Sequence[tuple[str, str]]) -> tuple[ValueChoice, ...]:
    """Assigns each (value, meaning) a keyboard key; "" once the keys are used up."""
    keys = (*KEYS, *("" for _ in values))
    return tuple(
        ValueChoice(value, meaning, key)
        for (value, meaning), key in zip(values, keys, strict=False)
    )


def check_state(now: State, known: Sequence[ValueChoice]) -> None:
    """Raises UsageError for an unlisted value, a value with a skip, or a long or malformed text."""
    if now.value and now.value not in {one.value for one in known}:
        raise UsageError(f"'{now.value[:80]}' is not on the list.")
    if now.value and now.skipped:
        raise UsageError("An item that is skipped cannot have a value.")
    if not now.skipped.isprintable():
        raise UsageError("A reason to skip must be one line of printable characters.")
    if now.opened not in ("", "1"):
        raise UsageError('\'opened\' must be "" or "1".')
    if not _MARKS.fullmatch(now.marks):
        raise UsageError("Marks must be written as POSITION:WHOSE, separated by blanks.")
    for name in ("skipped", "note", "marks"):
        if len(getattr(now, name)) > MOST_CHARACTERS[name]:
            raise UsageError(f"'{name}' is longer than {MOST_CHARACTERS[name]} characters.")


def write_notes(store: Store, kind: str, name: str, item: str, state: State) -> None:
    """Stores the parts of an answer that are not labels (skip, note, marks) in an artefact."""
    notes: dict[str, dict[str, str]] = json.loads(store.artefact(kind, name) or "{}")
    notes[item] = {key: text for key, text in state._asdict().items() if text}
    store.keep(
        kind,
        name,
        json.dumps({item: note for item, note in notes.items() if note}, ensure_ascii=False),
    )


def read_notes(store: Store, kind: str, name: str) -> dict[str, State]:
    """Returns {item: State with the parts of its answer that are not labels} from an artefact."""
    return {
        item: State(**state)
        for item, state in json.loads(store.artefact(kind, name) or "{}").items()
    }


def read_states(store: Store, annotator: str, attribute: str) -> dict[str, State]:
    """Returns {output: a person's answers so far}, from labels and notes."""
    states = read_notes(store, WORK, f"{annotator}/{attribute}")
    for output, value in labels.values(store, annotator, attribute).items():
        states[output] = states.get(output, State())._replace(value=value, skipped="")
    return states
