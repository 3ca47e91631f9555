"""The tables of a run as they are read: temporary views over the packed ones.

Each column is read only if a query names it. `n` of trials, outputs, labels, label_calls and
trial_looks is the integer of a trial's id and sorts as the id does; `n` of calls and `c` of outputs
and label_calls is that of a call. Queries join and sort by these: ids have no index of their own.
"""

from __future__ import annotations

import sqlite3

from .packing import id_number, join_request, number_text, unpack

PACKED = (
    *("packed_trials", "packed_calls", "packed_outputs", "packed_labels", "packed_label_calls"),
    *("packed_trial_looks", "words", "texts", "bases"),
)


def _word(column: str) -> str:
    return f"(SELECT text FROM {{run}}.words WHERE n = {column})"


def _text(column: str) -> str:
    base = "(SELECT unpacked(body, '') FROM {run}.texts WHERE n = t.base)"
    return (
        "(SELECT CASE typeof(t.body) WHEN 'blob' THEN unpacked(t.body, " + base + ") ELSE t.body"
        f" END FROM {{run}}.texts t WHERE t.n = {column})"
    )


def _trial(column: str) -> str:
    """The id of a trial; what its integer says of it if there is no such trial."""
    return (
        f"coalesce((SELECT id FROM {{run}}.packed_trials WHERE n = {column}),"
        f" number_text({column}))"
    )


def _call(column: str) -> str:
    """The key of a call, or what stands there instead of its number."""
    return (
        f"coalesce((SELECT key FROM {{run}}.packed_calls WHERE n = {column}"
        f" AND typeof({column}) = 'integer'), {column})"
    )


def _date(column: str) -> str:
    return (
        f"CASE typeof({column}) WHEN 'integer' THEN"
        f" strftime('%Y-%m-%dT%H:%M:%f', {column} / 1000.0, 'unixepoch') || '+00:00'"
        f" ELSE {column} END"
    )


_SAMPLING = _word("p.sampling")
_COLUMNS: dict[str, dict[str, str]] = {
    "trials": {
        "id": "p.id",
        "subject": _word("p.subject"),
        "mode": _word("p.mode"),
        "factors": _text("p.factors"),
        "sample": "p.sample",
        "prompt": _text("p.prompt"),
        "begin": _word("p.begin"),
        "sampling": f"{_SAMPLING} || CASE WHEN substr({_SAMPLING}, -1) = ',' THEN"
        " coalesce(p.seed, 'null') || ']' ELSE '' END",
        "n": "p.n",
    },
    "calls": {
        "key": "p.key",
        "purpose": _word("p.purpose"),
        "model": _word("p.model"),
        "request": f"joined_request({_word('p.shape')}, {_text('p.context')}, {_text('p.prompt')},"
        " p.pictures, p.seed,"
        f" coalesce({_trial('p.about')} || '/', '') || {_word('p.turn')})",
        "remote_id": "p.remote_id",
        "outcome": _word("p.outcome"),
        "text": "p.text",
        "alternatives": "CASE typeof(p.alternatives) WHEN 'blob' THEN"
        " unpacked(p.alternatives, '') ELSE p.alternatives END",
        "blob": "p.blob",
        "revised": "p.revised",
        "raw": "CASE typeof(p.raw) WHEN 'blob' THEN unpacked(p.raw,"
        f" {_text('p.base')}) ELSE p.raw END",
        "served": _word("p.served"),
        "fingerprint": _word("p.fingerprint"),
        "prompt_tokens": "p.prompt_tokens",
        "completion_tokens": "p.completion_tokens",
        "cost": "p.cost",
        "omitted": _word("p.omitted"),
        "date": _date("p.date"),
        "ended": _word("p.ended"),
        "thought": "p.thought",
        "nonce": f"coalesce({_trial('p.about')} || '/', '') || {_word('p.turn')}",
        "n": "p.n",
        "about": "p.about",
    },
    "outputs": {
        "trial": _trial("p.n"),
        "outcome": _word("p.outcome"),
        "text": "coalesce(p.text, (SELECT text FROM {run}.packed_calls WHERE n = p.call))",
        "call": _call("p.call"),
        "blob": "p.blob",
        "ended": _word("p.ended"),
        "thought": "p.thought",
        "n": "p.n",
        "c": "p.call",
    },
    "labels": {
        "id": "p.id",
        "output": _trial("p.output"),
        "annotator": _word("p.annotator"),
        "attribute": _word("p.attribute"),
        "value": _word("p.value"),
        "position": "p.position",
        "weight": "p.weight",
        "current": "p.current",
        "date": _date("p.date"),
        "n": "p.output",
    },
    "label_calls": {
        "output": _trial("p.output"),
        "annotator": _word("p.annotator"),
        "turn": "p.turn",
        "call": _call("p.call"),
        "n": "p.output",
        "c": "p.call",
    },
    "trial_looks": {"trial": _trial("p.n"), "look": "p.look", "n": "p.n"},
    "call_servers": {"call": "p.key", "server": "p.server", "c": "p.n"},
}
_SOURCES = {name: f"packed_{name}" for name in _COLUMNS} | {"call_servers": "packed_calls"}
TABLES = tuple(_COLUMNS)
_INNER = frozenset({"n", "c", "nonce", "about"})


def public_columns(table: str) -> list[str]:
    """Returns the columns of a table that are handed on, without integers of this file."""
    return [name for name in _COLUMNS[table] if name not in _INNER]


def create_views(
    db: sqlite3.Connection,
    run: str = "main",
    prefix: str = "",
    looks: tuple[int, int] | None = None,
) -> None:
    """Makes the views of a run. run: its database; prefix: of the views' names; looks: the first
    and the last look whose trials, outputs and labels are read, None for all.
    """
    for table, columns in _COLUMNS.items():
        listed = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
        query = f"SELECT {listed} FROM {{run}}.{_SOURCES[table]} p"
        if table == "call_servers":
            query += " WHERE p.server IS NOT NULL"
        elif looks and table in ("trials", "outputs", "labels"):
            query += (
                f" WHERE {columns['n']} IN (SELECT n FROM {{run}}.packed_trial_looks"
                f" WHERE look BETWEEN {looks[0]:d} AND {looks[1]:d})"
            )
        db.execute(f"DROP VIEW IF EXISTS temp.{prefix}{table}")
        db.execute(f"CREATE TEMP VIEW {prefix}{table} AS " + query.replace("{run}", run))


def drop_views(db: sqlite3.Connection, prefix: str) -> None:
    """Forgets the views of another run."""
    for table in _COLUMNS:
        db.execute(f"DROP VIEW IF EXISTS temp.{prefix}{table}")


def _number_text(number: int | None) -> str | None:
    return None if number is None else number_text(number)


def add_functions(db: sqlite3.Connection) -> None:
    """Teaches a connection the functions that the views name."""
    db.create_function("unpacked", 2, unpack, deterministic=True)
    db.create_function("joined_request", 6, join_request, deterministic=True)
    db.create_function("number_text", 1, _number_text, deterministic=True)
    db.create_function("id_number", 1, id_number, deterministic=True)
