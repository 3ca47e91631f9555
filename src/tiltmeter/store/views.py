"""The tables of a run as they are read: temporary views over the packed ones.

Each column is read only if a query names it. `n` of trials, outputs, labels, label_calls and
trial_looks is the integer of a trial's id and sorts as the id does; `n` of calls, and `c` of
outputs and label_calls, is that of a call. Queries join and sort by these: ids have no index. A
column that is computed has its stored parts beside it (`subject_0`, `raw_1`); code that reads many
rows takes these and makes each text once (columns.py).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from .packing import id_number, join_request, number_text, unpack

PACKED = (
    *("packed_trials", "packed_calls", "packed_outputs", "packed_labels", "packed_label_calls"),
    *("packed_trial_looks", "words", "texts", "bases"),
)
WORD, TEXT, DATE, SQUEEZED, REQUEST, SAMPLING = (
    *("word", "text", "date", "squeezed", "request", "sampling"),
)


class ViewColumn(NamedTuple):
    """A column of a view. sql: its value; kind: how columns.py computes it from its parts, "" if it
    is stored as it is; parts: its stored columns.
    """

    sql: str
    kind: str = ""
    parts: tuple[str, ...] = ()


def _plain(column: str) -> ViewColumn:
    return ViewColumn(f"p.{column}")


def _word_sql(column: str) -> str:
    return f"(SELECT text FROM {{run}}.words WHERE n = p.{column})"


def _word(column: str) -> ViewColumn:
    return ViewColumn(_word_sql(column), WORD, (f"p.{column}",))


_BASE = "(SELECT unpacked(body, '') FROM {run}.texts WHERE n = t.base)"
_BODY = f"CASE typeof(t.body) WHEN 'blob' THEN unpacked(t.body, {_BASE}) ELSE t.body END"
SOME_TEXTS = (
    f"SELECT t.n, {_BODY} FROM texts t WHERE t.n IN (SELECT value FROM json_each(?))"
).replace("{run}", "main")


def _text_sql(column: str) -> str:
    return f"(SELECT {_BODY} FROM {{run}}.texts t WHERE t.n = p.{column})"


def _text(column: str) -> ViewColumn:
    return ViewColumn(_text_sql(column), TEXT, (f"p.{column}",))


def _trial(column: str) -> str:
    """Writes SQL for the id of a trial; for a missing trial, the text of its integer."""
    return (
        f"coalesce((SELECT id FROM {{run}}.packed_trials WHERE n = {column}),"
        f" number_text({column}))"
    )


def _call(column: str) -> ViewColumn:
    """Returns a column with the key of a call, or the stored text if it is not a number."""
    return ViewColumn(
        f"coalesce((SELECT key FROM {{run}}.packed_calls WHERE n = {column}"
        f" AND typeof({column}) = 'integer'), {column})"
    )


def _date(column: str) -> ViewColumn:
    sql = (
        f"CASE typeof({column}) WHEN 'integer' THEN"
        f" strftime('%Y-%m-%dT%H:%M:%f', {column} / 1000.0, 'unixepoch') || '+00:00'"
        f" ELSE {column} END"
    )
    return ViewColumn(sql, DATE, (column,))


def _squeezed(column: str, base: str = "") -> ViewColumn:
    """Returns a column of compressed texts. base: the column of texts that they build upon."""
    under = _text_sql(base) if base else "''"
    sql = f"CASE typeof(p.{column}) WHEN 'blob' THEN unpacked(p.{column}, {under}) ELSE p.{column}"
    return ViewColumn(f"{sql} END", SQUEEZED, (f"p.{column}", f"p.{base}" if base else "NULL"))


_NONCE = f"coalesce({_trial('p.about')} || '/', '') || {_word_sql('turn')}"
_REQUEST = ViewColumn(
    f"joined_request({_word_sql('shape')}, {_text_sql('context')}, {_text_sql('prompt')},"
    f" p.pictures, p.seed, {_NONCE})",
    REQUEST,
    (*("p.shape", "p.context", "p.prompt", "p.pictures", "p.seed"), _trial("p.about"), "p.turn"),
)
_DRAWN = ViewColumn(
    f"{_word_sql('sampling')} || CASE WHEN substr({_word_sql('sampling')}, -1) = ',' THEN"
    " coalesce(p.seed, 'null') || ']' ELSE '' END",
    SAMPLING,
    ("p.sampling", "p.seed"),
)
_COLUMNS: dict[str, dict[str, ViewColumn]] = {
    "trials": {
        "id": _plain("id"),
        "subject": _word("subject"),
        "mode": _word("mode"),
        "factors": _text("factors"),
        "sample": _plain("sample"),
        "prompt": _text("prompt"),
        "begin": _word("begin"),
        "sampling": _DRAWN,
        "n": _plain("n"),
    },
    "calls": {
        "key": _plain("key"),
        "purpose": _word("purpose"),
        "model": _word("model"),
        "request": _REQUEST,
        "remote_id": _plain("remote_id"),
        "outcome": _word("outcome"),
        "text": _plain("text"),
        "alternatives": _squeezed("alternatives"),
        "blob": _plain("blob"),
        "revised": _plain("revised"),
        "raw": _squeezed("raw", "base"),
        "served": _word("served"),
        "fingerprint": _word("fingerprint"),
        "prompt_tokens": _plain("prompt_tokens"),
        "completion_tokens": _plain("completion_tokens"),
        "cost": _plain("cost"),
        "omitted": _word("omitted"),
        "date": _date("p.date"),
        "ended": _word("ended"),
        "thought": _plain("thought"),
        "nonce": ViewColumn(_NONCE),
        "n": _plain("n"),
        "about": _plain("about"),
    },
    "outputs": {
        "trial": ViewColumn(_trial("p.n")),
        "outcome": _word("outcome"),
        "text": ViewColumn(
            "coalesce(p.text, (SELECT text FROM {run}.packed_calls WHERE n = p.call))",
            parts=("p.text",),
        ),
        "call": _call("p.call"),
        "blob": _plain("blob"),
        "ended": _word("ended"),
        "thought": _plain("thought"),
        "n": _plain("n"),
        "c": _plain("call"),
    },
    "labels": {
        "id": _plain("id"),
        "output": ViewColumn(_trial("p.output")),
        "annotator": _word("annotator"),
        "attribute": _word("attribute"),
        "value": _word("value"),
        "position": _plain("position"),
        "weight": _plain("weight"),
        "current": _plain("current"),
        "date": _date("p.date"),
        "n": _plain("output"),
    },
    "label_calls": {
        "output": ViewColumn(_trial("p.output")),
        "annotator": _word("annotator"),
        "turn": _plain("turn"),
        "call": _call("p.call"),
        "n": _plain("output"),
        "c": _plain("call"),
    },
    "trial_looks": {"trial": ViewColumn(_trial("p.n")), "look": _plain("look"), "n": _plain("n")},
    "call_servers": {"call": _plain("key"), "server": _plain("server"), "c": _plain("n")},
}
_SOURCES = {name: f"packed_{name}" for name in _COLUMNS} | {"call_servers": "packed_calls"}
TABLES = tuple(_COLUMNS)
_INNER = frozenset({"n", "c", "nonce", "about"})


class AskedColumn(NamedTuple):
    """A column that columns.py reads. parts: SQL of its stored columns; kind: see ViewColumn."""

    kind: str
    parts: tuple[str, ...]


def public_columns(table: str, alias: str) -> dict[str, AskedColumn]:
    """Returns a table's columns except the integers n, c, …. alias: of the table in the query."""
    columns_ = {}
    for name, column in _COLUMNS[table].items():
        numbers = range(len(column.parts)) if column.kind else ()
        parts = tuple(f"{alias}.{name}_{number}" for number in numbers)
        columns_[name] = AskedColumn(column.kind, parts or (f"{alias}.{name}",))
    return {name: asked for name, asked in columns_.items() if name not in _INNER}


def _listed(columns: dict[str, ViewColumn]) -> Iterator[str]:
    for name, column in columns.items():
        yield f"{column.sql} AS {name}"
        yield from (f"{part} AS {name}_{place}" for place, part in enumerate(column.parts))


def number_of(mark: str) -> str:
    """Writes SQL for the integer of a word, for comparison with `annotator_0` and other such
    columns: so one text is looked up and not the text of every row. mark: the SQL parameter ("?1").
    """
    return f"(SELECT n FROM words WHERE text = {mark})"


def create_views(
    db: sqlite3.Connection,
    run: str = "main",
    prefix: str = "",
    looks: tuple[int, int] | None = None,
) -> None:
    """Creates the views of a run. run: its database; prefix: of the views' names; looks: the first
    and the last look whose trials, outputs and labels are visible, None for all.
    """
    for statement in _statements(run, prefix, looks):
        db.execute(statement)


@lru_cache
def _statements(run: str, prefix: str, looks: tuple[int, int] | None) -> tuple[str, ...]:
    """Writes the statements of `create_views`; cached, as a command opens a run several times."""
    statements = []
    for table, columns in _COLUMNS.items():
        query = f"SELECT {', '.join(_listed(columns))} FROM {{run}}.{_SOURCES[table]} p"
        if table == "call_servers":
            query += " WHERE p.server IS NOT NULL"
        elif looks and table in ("trials", "outputs", "labels"):
            query += (
                f" WHERE {columns['n'].sql} IN (SELECT n FROM {{run}}.packed_trial_looks"
                f" WHERE look BETWEEN {looks[0]:d} AND {looks[1]:d})"
            )
        statements.append(f"CREATE TEMP VIEW {prefix}{table} AS {query.replace('{run}', run)}")
    return tuple(statements)


def drop_views(db: sqlite3.Connection, prefix: str) -> None:
    """Drops the views whose names begin with a prefix."""
    for table in _COLUMNS:
        db.execute(f"DROP VIEW temp.{prefix}{table}")


def _number_text(number: int | None) -> str | None:
    return None if number is None else number_text(number)


def add_functions(db: sqlite3.Connection) -> None:
    """Registers on a connection the SQL functions that the views call."""
    db.create_function("unpacked", 2, unpack, deterministic=True)
    db.create_function("joined_request", 6, join_request, deterministic=True)
    db.create_function("number_text", 1, _number_text, deterministic=True)
    db.create_function("id_number", 1, id_number, deterministic=True)
