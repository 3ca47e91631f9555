"""Whole tables of a run, as they are exported."""

from __future__ import annotations

from typing import NamedTuple

from .. import Store
from ..database import Value

_QUERIES = {
    "trials": "SELECT * FROM trials ORDER BY id",
    "calls": "SELECT * FROM calls ORDER BY key",
    "outputs": "SELECT o.*, t.subject, t.mode, t.factors, t.sample, t.prompt FROM outputs o"
    " JOIN trials t ON t.id = o.trial ORDER BY o.trial",
    "labels": "SELECT * FROM labels ORDER BY id",
}
NAMES = tuple(_QUERIES)


class Table(NamedTuple):
    """A table with the names of its columns."""

    columns: list[str]
    rows: list[tuple[Value, ...]]


def table(store: Store, name: str) -> Table:
    """One of NAMES; outputs come with what their trials say."""
    query = _QUERIES[name]
    return Table(store.columns(query), list(store.rows(query)))


def size(store: Store, name: str) -> int:
    """How many rows a table has."""
    return int(store.first(f"SELECT count(*) FROM ({_QUERIES[name]})")[0])
