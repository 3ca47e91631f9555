"""Rows of a run changed by hand, as somebody with an SQLite client might, by the names of the views.

A change reaches the packed column beneath; a text that words or texts do not have is added to them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tiltmeter.store import views

_WORD = "INSERT OR IGNORE INTO words (text) VALUES (NEW.{c});"
_NUMBER = "(SELECT n FROM words WHERE text IS NEW.{c})"
_TEXT = "INSERT INTO texts (body) VALUES (NEW.{c});"
_LAST = "(SELECT max(n) FROM texts)"
_CALL = "coalesce((SELECT n FROM packed_calls WHERE key = NEW.call), NEW.call)"
_TABLES = {
    "trials": (
        *("n", "id", "sample"),
        ("subject", "mode", "begin", "sampling"),
        ("factors", "prompt"),
    ),
    "calls": (
        *("n", "key", "remote_id", "text", "alternatives", "blob", "revised", "raw", "cost"),
        *("prompt_tokens", "completion_tokens", "date", "thought"),
        ("purpose", "model", "outcome", "served", "fingerprint", "omitted", "ended"),
        ("request",),
    ),
    "outputs": ("n", "text", "call", "blob", "thought", ("outcome", "ended"), ()),
    "labels": (
        *("id", "output", "position", "weight", "current", "date"),
        ("annotator", "attribute", "value"),
        (),
    ),
    "label_calls": ("output", "turn", "call", ("annotator",), ()),
    "trial_looks": ("look", (), ()),
}
_KEYS = {"labels": "id = OLD.id", "label_calls": "output = OLD.n AND turn = OLD.turn"}
_SPECIAL = {
    ("trials", "sampling"): "sampling = " + _NUMBER.format(c="sampling") + ", seed = NULL",
    ("calls", "request"): f"shape = NULL, context = NULL, prompt = {_LAST}",
    ("calls", "raw"): "raw = NEW.raw, base = NULL",
    ("outputs", "call"): f"call = {_CALL}",
    ("label_calls", "call"): f"call = {_CALL}",
    ("labels", "output"): "output = id_number(NEW.output)",
    ("label_calls", "output"): "output = id_number(NEW.output)",
}
# an output whose text is that of its call has none of its own, and keeps what it said
_KEEP = "UPDATE packed_outputs SET text = OLD.text WHERE call = OLD.n AND text IS NULL;"


def allow_changes(db: sqlite3.Connection) -> None:
    """Lets an open run's connection UPDATE and DELETE by the names of the views."""
    for table, (*plain, words, texts) in _TABLES.items():
        where = _KEYS.get(table, "n = OLD.n")
        db.execute(
            f"CREATE TEMP TRIGGER IF NOT EXISTS delete_{table} INSTEAD OF DELETE ON {table} BEGIN"
            f" DELETE FROM packed_{table} WHERE {where}; END"
        )
        for column in (*plain, *words, *texts):
            before, value = "", f"NEW.{column}"
            if column in words:
                before, value = _WORD.format(c=column), _NUMBER.format(c=column)
            elif column in texts:
                before, value = _TEXT.format(c=column), _LAST
            elif (table, column) == ("calls", "text"):
                before = _KEEP
            change = _SPECIAL.get((table, str(column)), f"{column} = {value}")
            db.execute(
                f"CREATE TEMP TRIGGER IF NOT EXISTS set_{table}_{column} INSTEAD OF UPDATE OF"
                f" {column} ON {table} BEGIN {before}"
                f" UPDATE packed_{table} SET {change} WHERE {where}; END"
            )
    words = "".join(_WORD.format(c=column) for column in ("annotator", "attribute", "value"))
    db.execute(
        "CREATE TEMP TRIGGER IF NOT EXISTS insert_labels INSTEAD OF INSERT ON labels BEGIN"
        f" {words} INSERT INTO packed_labels (output, annotator, attribute, value, position,"
        " weight, current, date) VALUES (id_number(NEW.output),"
        f" {_NUMBER.format(c='annotator')}, {_NUMBER.format(c='attribute')},"
        f" {_NUMBER.format(c='value')}, NEW.position, NEW.weight, coalesce(NEW.current, 1),"
        " NEW.date); END"
    )


@contextmanager
def changing(run: Path) -> Iterator[sqlite3.Connection]:
    """A run's file, to be changed by hand; what was changed is committed."""
    db = sqlite3.connect(run / "run.sqlite", isolation_level=None)
    try:
        views.add_functions(db)
        views.create_views(db)
        allow_changes(db)
        db.execute("BEGIN")
        yield db
        db.execute("COMMIT")
    finally:
        db.close()
