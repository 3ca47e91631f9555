"""A run that stops early: its plan, its interim looks, and the run as it was at a look."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ...records import Json
from .. import Store, views
from ..packing import id_number
from ..rows import levels
from . import artefacts

PLAN, LOOK = "stopping plan", "look"  # kinds of artefacts


def keep_plan(store: Store, plan: Json) -> None:
    """Stores the plan that is fixed before the first output."""
    store.keep(PLAN, "", json.dumps(plan, ensure_ascii=False))


def plan(store: Store) -> str:
    """Returns the plan as JSON; "" if the run does not stop early."""
    return store.artefact(PLAN, "") or ""


def is_planned_late(store: Store) -> bool:
    """True if the plan is dated after a look."""
    query = "SELECT max(date) FROM artefacts WHERE kind=? UNION ALL SELECT min(date)"
    (plan_date,), (look_date,) = store.rows(f"{query} FROM artefacts WHERE kind=?", (PLAN, LOOK))
    return bool(plan_date and look_date and plan_date > look_date)


def keep_look(store: Store, number: int, look: Json) -> None:
    """Stores a look under its number, counted from 1."""
    store.keep(LOOK, f"{number:03}", json.dumps(look, ensure_ascii=False))


def looks(store: Store) -> list[str]:
    """Lists the looks so far, in order, as JSON."""
    return [artefact.content for artefact in artefacts.by_name(store, LOOK)]


def assign(store: Store, trials: Iterable[tuple[str, int]]) -> None:
    """Records the look that uses a trial first; an earlier record stays."""
    insert = "INSERT OR IGNORE INTO packed_trial_looks (n, look) VALUES (?,?)"
    store.write_many(insert, ((id_number(trial), look) for trial, look in trials))


def asked_levels(store: Store) -> Iterator[tuple[str, str, Mapping[str, str], int]]:
    """Yields (subject, mode, {factor: level}, number of trials that looks have used so far)."""
    return _by_levels(store, "count(*)")


def last_looks(store: Store) -> Iterator[tuple[str, str, Mapping[str, str], int]]:
    """Yields (subject, mode, {factor: level}, number of the last look that used the prompt)."""
    return _by_levels(store, "max(l.look)")


def _by_levels(store: Store, number: str) -> Iterator[tuple[str, str, Mapping[str, str], int]]:
    query = (
        f"SELECT t.subject, t.mode, t.factors, {number} FROM trial_looks l"
        " JOIN trials t ON t.n = l.n GROUP BY 1, 2, 3"
    )
    for subject, mode, factors, number in store.rows(query):
        yield subject, mode, levels(factors), int(number)


def count_unanswered(store: Store) -> int:
    """Counts the trials of the looks so far that have no output."""
    query = "SELECT count(*) FROM trial_looks WHERE n NOT IN (SELECT n FROM outputs)"
    return int(store.first(query)[0])


def last_look(store: Store) -> int:
    """Returns the last look to which trials were assigned; 0 if none."""
    return int(store.first("SELECT coalesce(max(look), 0) FROM trial_looks")[0])


def is_answered(store: Store) -> bool:
    """True if the run holds an output."""
    return store.first("SELECT 1 FROM outputs LIMIT 1") is not None


def digest(store: Store, look: int, annotators: Iterable[str]) -> str:
    """Computes the SHA-256 of the trials up to a look and of some annotators' labels of them."""
    sha256 = hashlib.sha256()
    query = "SELECT trial FROM trial_looks WHERE look <= ? ORDER BY n"
    for (trial,) in store.rows(query, (look,)):
        sha256.update(trial.encode())
    for annotator in sorted(annotators):
        query = (
            "SELECT id FROM labels WHERE current AND annotator = ? AND n IN"
            " (SELECT n FROM trial_looks WHERE look <= ?) ORDER BY id"
        )
        for (number,) in store.rows(query, (annotator, look)):
            sha256.update(f"{number} ".encode())
    return sha256.hexdigest()


def calls_up_to(store: Store, look: int) -> tuple[int, float]:
    """Returns (number of answered trials in looks 1 to `look`, their cost in US dollars)."""
    query = (
        "SELECT count(*), coalesce(sum(c.cost), 0) FROM trial_looks t"
        " JOIN outputs o ON o.n = t.n LEFT JOIN calls c ON c.n = o.c"
        " WHERE t.look BETWEEN 1 AND ?"
    )
    number, cost = store.first(query, (look,))
    return int(number), float(cost)


class RunAtLook(Store):
    """A run as it was at a look: only rows of the looks from `first` to `look` are visible. For
    reading only.
    """

    def __init__(self, folder: Path, look: int, first: int = 0) -> None:
        super().__init__(folder)
        views.drop_views(self._db, "")
        views.create_views(self._db, looks=(first, look))
        self.part = f"looks {first} to {look}"

    def __enter__(self) -> RunAtLook:
        return self
