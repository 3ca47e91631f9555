"""Whole tables of a run, read in pieces: a million rows in Python are a gigabyte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from .. import Store, views
from ..rows import Value

_CALL = (
    "coalesce((SELECT call FROM label_calls c WHERE c.n = l.n"
    " AND c.annotator = l.annotator ORDER BY turn DESC LIMIT 1), '') AS call"
)


def _listed(table: str, alias: str) -> str:
    return ", ".join(f"{alias}.{name}" for name in views.public_columns(table))


_LABELS = f"SELECT {_listed('labels', 'l')}, {_CALL}"
_QUERIES = {
    "trials": f"SELECT {_listed('trials', 't')} FROM trials t ORDER BY t.n",
    "calls": f"SELECT {_listed('calls', 'c')} FROM calls c ORDER BY c.key",
    "outputs": f"SELECT {_listed('outputs', 'o')}, t.subject, t.mode, t.factors, t.sample, t.prompt"
    " FROM outputs o JOIN trials t ON t.n = o.n ORDER BY o.n",
    "labels": f"{_LABELS} FROM labels l ORDER BY l.id",
    "labels with factors": f"{_LABELS}, t.factors FROM labels l"
    " LEFT JOIN trials t ON t.n = l.n ORDER BY l.id",
}
PIECE_ROWS = 10_000


class StoredTable(NamedTuple):
    """A table, or a piece of one, with the names of its columns."""

    columns: list[str]
    rows: list[tuple[Value, ...]]


def pieces(store: Store, name: str) -> Iterator[StoredTable]:
    """A table by its name, piece by piece; at least one, which may be empty. Outputs come with what
    their trials say.
    """
    query = _QUERIES[name]
    columns, rows = store.columns(query), store.rows(query)
    yield StoredTable(columns, list(islice(rows, PIECE_ROWS)))
    while piece := list(islice(rows, PIECE_ROWS)):
        yield StoredTable(columns, piece)


def factor_names(store: Store) -> list[str]:
    """The factors that trials name, in the order in which they are met."""
    named = "SELECT DISTINCT (SELECT json_group_array(key) FROM json_each(factors)) FROM trials"
    sets = (json.loads(row[0]) for row in store.rows(named))
    return list(dict.fromkeys(name for names in sets for name in names))


def size(store: Store, name: str) -> int:
    """How many rows a table has."""
    return int(store.first(f"SELECT count(*) FROM ({_QUERIES[name]})")[0])
