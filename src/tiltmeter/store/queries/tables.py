"""Whole tables of a run, read in pieces: a million rows as Python objects are a gigabyte."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .. import Store
from ..columns import read
from ..views import AskedColumn, public_columns

_CALL = (
    "coalesce((SELECT call FROM label_calls c WHERE c.n = l.n"
    " AND c.annotator_0 = l.annotator_0 ORDER BY turn DESC LIMIT 1), '')"
)
_TRIALS = public_columns("trials", "t")
_OF_TRIAL = {name: _TRIALS[name] for name in ("subject", "mode", "factors", "sample", "prompt")}
_OF_CALL = {  # as the view has them, but of one look at the call in place of three
    "trial": AskedColumn("", ("t.id",)),
    "text": AskedColumn("", ("coalesce(o.text_0, k.text)",)),
    "call": AskedColumn("", ("coalesce(k.key, o.c)",)),
}
_LABELS = public_columns("labels", "l") | {"call": AskedColumn("", (_CALL,))}
_QUERIES: Mapping[str, tuple[Mapping[str, AskedColumn], str]] = {
    "trials": (_TRIALS, "FROM trials t ORDER BY t.n"),
    "calls": (public_columns("calls", "c"), "FROM calls c ORDER BY c.key"),
    "outputs": (
        public_columns("outputs", "o") | _OF_CALL | _OF_TRIAL,
        "FROM outputs o JOIN trials t ON t.n = o.n LEFT JOIN calls k ON k.n = o.c ORDER BY o.n",
    ),
    "labels": (_LABELS, "FROM labels l ORDER BY l.id"),
    "labels with factors": (
        _LABELS
        | {"output": AskedColumn("", ("coalesce(t.id, l.output)",)), "factors": _TRIALS["factors"]},
        "FROM labels l LEFT JOIN trials t ON t.n = l.n ORDER BY l.id",
    ),
}


def pieces(store: Store, name: str) -> Iterator[dict[str, list[Any]]]:
    """Yields a table in pieces, each {column: values}; at least one, maybe empty. Outputs come with
    columns of their trials; dates are milliseconds since 1970, or the stored text if it is not a
    date.
    """
    return read(store, *_QUERIES[name])


def factor_names(store: Store) -> list[str]:
    """Lists the factors that trials name, in order of first appearance."""
    query = (
        "SELECT (SELECT json_group_array(key) FROM json_each(factors))"
        " FROM (SELECT factors FROM trials GROUP BY factors_0 ORDER BY min(n))"
    )
    sets = (json.loads(row[0]) for row in store.rows(query))
    return list(dict.fromkeys(name for names in sets for name in names))


def size(store: Store, name: str) -> int:
    """Counts the rows of a table."""
    return int(store.first(f"SELECT count(*) FROM {name}")[0])
