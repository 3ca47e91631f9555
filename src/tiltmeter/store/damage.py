"""Damage to a run's file: changes by somebody else, or a broken file.

Objects that no run has (triggers, views) are refused when the file is opened. Values are checked
only after reading them has failed: so intact runs cost nothing extra, and the error can name the
table and the column.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import MORE_FILES, TOO_MANY_FILES, RunBusy, StoreError
from .views import PACKED

TABLES = ("meta", "artefacts", "batches", "batch_requests", *PACKED)
_FOREIGN = (
    "SELECT type || ' ' || name FROM sqlite_master WHERE type NOT IN ('table', 'index')"
    " OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1"
)
_FOREIGN_TABLE = (
    "SELECT 'table ' || name FROM sqlite_master WHERE type = 'table' AND name IN"
    f" ({', '.join(repr(name[7:]) for name in PACKED if name.startswith('packed_'))}) LIMIT 1"
)
_TEXTS = {
    "meta": ("key", "value"),
    "trials": ("id", "subject", "mode", "factors", "prompt", "begin", "sampling"),
    "calls": ("key", "purpose", "model", "request", "date"),
    "outputs": ("trial", "outcome", "text", "call", "blob"),
    "labels": ("output", "annotator", "attribute", "value", "date"),
    "artefacts": ("kind", "name", "content", "date"),
    "label_calls": ("output", "annotator", "call"),
    "trial_looks": ("trial",),
    "batches": (
        *("key", "model", "path", "state", "remote_id", "file_id", "omitted", "told"),
        *("since", "changed"),
    ),
    "batch_requests": ("key", "model", "makes", "batch", "request"),
}
_OPTIONAL_TEXTS = {
    "calls": (
        *("remote_id", "outcome", "text", "alternatives", "blob", "revised", "raw"),
        *("served", "fingerprint", "omitted"),
    ),
}
_LARGEST = 2**53
OPENED: dict[Path, None] = {}  # folders of runs, by this process


class Rule(NamedTuple):
    """A rule about stored rows. wrong: an SQL condition that only damaged rows meet."""

    table: str
    column: str
    wrong: str


def _json(column: str, kind: str, each: str = "1") -> str:
    """Writes SQL that is true unless a column is JSON of this kind and each member meets `each`."""
    members = f"SELECT 1 FROM json_each({column}) WHERE NOT ({each})"
    return (
        f"CASE WHEN json_valid({column}) THEN json_type({column}) <> '{kind}'"
        f" OR EXISTS ({members}) ELSE 1 END"
    )


def _rules() -> Iterator[Rule]:
    for table, columns in _TEXTS.items():
        yield from (Rule(table, name, f"typeof({name}) <> 'text'") for name in columns)
    for table, columns in _OPTIONAL_TEXTS.items():
        kinds = "('text', 'null')"
        yield from (Rule(table, name, f"typeof({name}) NOT IN {kinds}") for name in columns)
    for table in ("calls", "labels", "artefacts"):
        yield Rule(table, "date", "date NOT GLOB '[0-9]*' OR julianday(date) IS NULL")
    not_whole = f"typeof({{0}}) <> 'integer' OR abs({{0}}) > {_LARGEST}"
    yield Rule("trials", "sample", not_whole.format("sample") + " OR sample < 0")
    yield Rule("labels", "position", not_whole.format("position"))
    yield Rule("label_calls", "turn", not_whole.format("turn"))
    yield Rule("trial_looks", "look", not_whole.format("look") + " OR look < 0")
    kinds = "kind IN ('stopping plan', 'look')"
    yield Rule("artefacts", "content", f"{kinds} AND NOT json_valid(content)")
    yield Rule("labels", "weight", "typeof(weight) NOT IN ('real', 'integer')")
    yield Rule("labels", "weight", "NOT (weight >= 0 AND weight < 1e12)")
    for table in ("calls", "outputs"):
        yield Rule(table, "ended", "typeof(ended) <> 'text'")
        yield Rule(table, "thought", f"thought IS NOT NULL AND ({not_whole.format('thought')})")
    for name in ("served", "fingerprint"):  # a receipt has none
        yield Rule("calls", name, f"outcome IS NOT NULL AND {name} IS NULL")
    for name in ("prompt_tokens", "completion_tokens"):
        yield Rule("calls", name, f"{name} IS NOT NULL AND ({not_whole.format(name)})")
    yield Rule("calls", "cost", "cost IS NOT NULL AND NOT (cost >= 0 AND cost < 1e12)")
    yield Rule("meta", "value", "NOT json_valid(value)")
    yield Rule("trials", "factors", _json("factors", "object", "type = 'text'"))
    numbers = "type IN ('integer', 'real', 'null')"
    yield Rule("trials", "sampling", _json("sampling", "array", numbers))
    yield Rule("trials", "sampling", "json_array_length(sampling) <> 4")
    yield Rule("calls", "request", _json("request", "array"))
    yield Rule("calls", "request", "json_array_length(request) NOT IN (8, 10, 11)")
    without_text = (
        "SELECT 1 FROM json_each(request, '$[1]') WHERE json_type(value, '$[1]') IS NOT 'text'"
    )
    yield Rule("calls", "request", f"EXISTS ({without_text})")
    yield Rule("batches", "omitted", _json("omitted", "array", "type = 'text'"))
    yield Rule("batches", "key", "length(key) <> 32 OR key GLOB '*[^0-9a-f]*'")
    for name in ("requests", "tokens"):
        yield Rule("batches", name, not_whole.format(name))
    yield Rule("batches", "reserved", "NOT (reserved >= 0 AND reserved < 1e12)")
    yield Rule("batch_requests", "request", _json("request", "array"))
    yield from _rules_of_optional_values()


def _rules_of_optional_values() -> Iterator[Rule]:
    if_given = "{0} IS NOT NULL AND {0} <> '' AND ({1})"
    arrays = _json("alternatives", "array", "type = 'array'")
    yield Rule("calls", "alternatives", if_given.format("alternatives", arrays))
    yield Rule(
        "calls", "omitted", if_given.format("omitted", _json("omitted", "array", "type = 'text'"))
    )
    blob = (
        "{0} IS NOT NULL AND {0} <> '' AND ({0} GLOB '*[/\\]*' OR {0} NOT GLOB '[0-9a-f]*.[a-z]*')"
    )
    yield Rule("calls", "blob", blob.format("blob"))
    yield Rule("outputs", "blob", blob.format("blob"))


def foreign_object(db: sqlite3.Connection, is_newest: bool) -> str:
    """Names an object that no run has: a trigger, a view, a virtual table, or in the newest schema
    a table with the name of a view of ours; "" if there is none.
    """
    row = db.execute(_FOREIGN).fetchone()
    if row is None and is_newest:
        row = db.execute(_FOREIGN_TABLE).fetchone()
    return str(row[0]) if row else ""


def find_damage(db: sqlite3.Connection) -> str:
    """Returns `table.column` of the first impossible value, or a missing table; "" if intact."""
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in TABLES:
        if table not in tables:
            return table
    for rule in _rules():
        try:
            wrong = db.execute(f"SELECT 1 FROM {rule.table} WHERE {rule.wrong} LIMIT 1").fetchone()
        except sqlite3.Error:  # a column that is missing, or a page that cannot be read
            return f"{rule.table}.{rule.column}"
        if wrong:
            return f"{rule.table}.{rule.column}"
    return _setting(db)


def _setting(db: sqlite3.Connection) -> str:
    """Returns `meta.KEY` for the first setting with a wrong type; "" if all are right."""
    kinds: dict[str, tuple[type, ...]] = {
        "frozen": (dict,),
        "source": (str,),
        "origin": (str,),
        "definition": (dict, type(None)),
        "imports": (list,),
        "given": (dict, type(None)),
        "possibly_paid": (dict,),
        "last_run": (dict,),
        "planned": (dict,),
        "shard": (dict,),
        "parts": (dict,),
    }
    for key, text in db.execute("SELECT key, value FROM meta"):
        try:
            value = json.loads(text)
            if not isinstance(value, kinds.get(key, object)) or not _is_whole(key, value):
                return f"meta.{key}"
        except (ValueError, RecursionError):
            return f"meta.{key}"
    return ""


def _is_whole(key: str, value: Any) -> bool:
    """True if the contents of a setting have the types that they should have."""
    if key == "planned":  # subject → mode → levels → trials
        modes = [one for one in value.values() if isinstance(one, dict)]
        cells = [one for mode in modes for one in mode.values() if isinstance(one, dict)]
        numbers = [number for cell in cells for number in cell.values()]
        is_deep = len(modes) == len(value) and len(cells) == sum(map(len, modes))
        return is_deep and all(type(number) is int and 0 <= number < _LARGEST for number in numbers)
    if key == "last_run":
        return type(value.get("failed")) is int and isinstance(value.get("last_failure", ""), str)
    if key == "versions":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    return True


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Turns errors of SQLite and the system into StoreError or RunBusy, which say what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if any(word in str(error) for word in ("JSON", "UTF-8", "overflow", "user-defined")):
            raise  # about a value that is none or too large: `damaged` finds where it stands
        if "locked" in str(error):
            raise RunBusy(
                f"Another process is in the middle of writing to {path}. Try again in a moment."
            ) from None
        if "full" in str(error):
            raise StoreError(
                f"The disk that holds {path} is full. Free space and run the same command again; "
                "everything received before is stored."
            ) from None
        if "disk I/O" in str(error):
            raise StoreError(
                f"{path} cannot be read or written ({error}). Check if the disk is full, then run "
                "the same command again."
            ) from None
        raise StoreError(f"{path} cannot be used: {error}.") from None
    except (sqlite3.ProgrammingError, sqlite3.DataError, sqlite3.IntegrityError):
        raise  # about the values of a statement, and nothing that the file is to blame for
    # SQLite's own message may quote bytes that are no text
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise StoreError(
            f"{path} is not a run file or is damaged ({error}). Restore it from a copy, or start "
            "a new run with another --out."
        ) from None
    except OSError as error:
        if error.errno in TOO_MANY_FILES:
            raise StoreError(
                f"{path} cannot be opened: too many files are open. {MORE_FILES}"
            ) from None
        raise StoreError(
            f"{path} cannot be written: {error.strerror or error}. Free space or choose another "
            "--out, and run the same command again."
        ) from None
