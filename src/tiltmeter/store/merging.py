"""Merges the rows of one run into another: equal rows become one, contradictions raise RunMismatch.

Rows are matched by content: trials and calls by the hash that is their key, outputs by trial,
labels by output and annotator: of two histories of labels, one must continue the other. All rows of
a run are added in one transaction, so that repeating the command finishes a killed merge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..errors import RunMismatch, StoreError
from ..records import LabelCall, Output, content_id
from . import Store, blobs
from .queries.batches import BATCH_COLUMNS
from .rows import CALL_COLUMNS, TRIAL_COLUMNS

PART = "part"  # what the tables of the other run are called
COUNTED = ("trials", "outputs", "calls", "labels")
_LABEL_COLUMNS = "NULL, output, annotator, attribute, value, position, weight, current, date"
# A call that outputs with the same question share: each run has paid for one of its own.
_SHARED = "(b.nonce LIKE '/%')"
_HISTORIES = """
CREATE TEMP TABLE {table} AS SELECT n, output, annotator,
  json_group_array(json_array(attribute, value, position, weight)) AS said, sum(current) AS current
FROM (SELECT * FROM {labels} WHERE n IN (SELECT output FROM main.packed_labels
  INTERSECT SELECT output FROM part.packed_labels) ORDER BY n, annotator, id)
GROUP BY n, annotator
"""
_LABELS = f"SELECT {_LABEL_COLUMNS} FROM part_labels p WHERE {{which}} ORDER BY p.id"


def refuse_damaged(store: Store) -> None:
    """Raises StoreError if a run has contents that no run can have, or if its pictures are links,
    incomplete or missing.
    """
    damage = store.look_for_damage()
    if damage is not None:
        raise damage
    for (name,) in store.rows("SELECT DISTINCT blob FROM outputs WHERE blob <> ''"):
        if blobs.place_of(store.folder, name).is_symlink():
            raise StoreError(
                f"{store.folder}: the picture {name} is a link. Put a copy there instead."
            )
        blobs.read_blob(store.folder, name)


class RowCounts(NamedTuple):
    """The numbers of rows of a run; pictures: files that were linked or copied into the run."""

    trials: int
    outputs: int
    calls: int
    labels: int
    pictures: int = 0

    def since(self, before: RowCounts, pictures: int) -> RowCounts:
        """Returns the numbers of rows added since an earlier count, and `pictures` unchanged."""
        added = [now - earlier for now, earlier in zip(self, before, strict=True)]
        return RowCounts(*added[:-1])._replace(pictures=pictures)


class _Keyed(NamedTuple):
    """A table whose rows never change. number: the column by which rows of both runs are matched;
    same: the columns in which matched rows must agree; settled: an SQL condition on the pairs of
    rows that are compared; told: the noun for a row in messages.
    """

    name: str
    key: str
    number: str
    columns: str
    same: str
    settled: str
    told: str


_TABLES = (
    _Keyed("trials", "id", "n", TRIAL_COLUMNS, TRIAL_COLUMNS, "1", "trial"),
    _Keyed(
        "calls",
        "key",
        "key",
        CALL_COLUMNS,
        CALL_COLUMNS.removesuffix(", date"),
        f"(a.outcome IS NULL) = (b.outcome IS NULL) AND NOT {_SHARED}",
        "call",
    ),
    _Keyed(
        "outputs",
        "trial",
        "n",
        ", ".join(Output._fields),
        ", ".join(Output._fields[1:]),
        "1",
        "answer to trial",
    ),
)


def count_rows(store: Store) -> RowCounts:
    """Counts the rows of a run."""
    return RowCounts(*(int(store.first(f"SELECT count(*) FROM {name}")[0]) for name in COUNTED))


def merge_rows(
    store: Store, source: Store, adopt: Callable[[], None], computed: tuple[str, ...]
) -> int:
    """Adds all rows and pictures of another run; returns the number of pictures. Raises
    RunMismatch, and adds nothing, if a row contradicts one of this run.

    adopt: called in the same transaction, for the settings; computed: kinds of artefacts that are
    computed again rather than copied.
    """
    pictures = sum(
        blobs.link_blob(source.folder, store.folder, n) for n in blobs.names(source.folder)
    )
    with store.attached(source, PART), store.transaction():
        for table in _TABLES:
            _refuse_contradiction(store, source, table)
        _add_rows(store)
        _add_label_calls(store)
        _add_artefacts(store, source, computed)
        _add_labels(store, source)
        store.write_one(
            f"INSERT OR IGNORE INTO main.batches ({BATCH_COLUMNS}) SELECT {BATCH_COLUMNS} FROM"
            " part.batches",
            (),
        )
        adopt()
    return pictures


def _side(columns: str, alias: str) -> str:
    return ", ".join(f"{alias}.{name.strip()}" for name in columns.split(","))


def _refuse_contradiction(store: Store, source: Store, table: _Keyed) -> None:
    query = (
        f"SELECT a.{table.key} FROM {table.name} a JOIN {PART}_{table.name} b"
        f" ON a.{table.number} = b.{table.number} WHERE {table.settled}"
        f" AND ({_side(table.same, 'a')}) IS NOT ({_side(table.same, 'b')}) LIMIT 1"
    )
    row = store.first(query)
    if row is not None:
        _refuse(store, source, f"{table.told} {row[0][:12]}")


def _refuse(store: Store, source: Store, what: str) -> None:
    raise RunMismatch(
        f"{source.folder} has another {what} than {store.folder}, so they are not parts of one "
        f"run. Nothing of {source.folder} was merged. Merge the other runs into another --out."
    )


def _add_rows(store: Store) -> None:
    """Adds the trials, calls and outputs of the other run that this run lacks."""
    trials, calls, outputs = (table.columns for table in _TABLES)
    store.packer.add_trial_rows(
        store.rows(f"SELECT {trials} FROM part_trials WHERE n NOT IN (SELECT n FROM trials)")
    )
    store.write_one(  # what one run waited for, another one got
        "DELETE FROM packed_calls WHERE outcome IS NULL AND key IN"
        " (SELECT key FROM part.packed_calls WHERE outcome IS NOT NULL)",
        (),
    )
    calls_of_part = store.rows(f"SELECT {calls} FROM part_calls ORDER BY n")
    store.packer.add_calls(((row, None) for row in calls_of_part), keep=True)
    servers = list(
        store.rows(
            "SELECT key, server FROM part.packed_calls WHERE server IS NOT NULL AND key NOT IN"
            " (SELECT call FROM call_servers)"
        )
    )
    store.packer.add_servers(servers)
    added = store.rows(f"SELECT {outputs} FROM part_outputs WHERE n NOT IN (SELECT n FROM outputs)")
    store.packer.add_outputs(map(Output._make, added))


def _add_label_calls(store: Store) -> None:
    """Adds the calls that labels were read from. If both runs asked the same question and got
    different replies, the other run's call gets a new key, to which the labels from it refer.
    """
    columns = CALL_COLUMNS.removeprefix("key, ")
    same = CALL_COLUMNS.removesuffix(", date")
    own, other = _side(same, "a"), _side(same, "b")
    query = (
        f"SELECT b.key, {_side(columns, 'b')} FROM calls a JOIN part_calls b ON a.key = b.key"
        f" WHERE b.outcome IS NOT NULL AND {_SHARED} AND ({own}) IS NOT ({other})"
    )
    copies = [(row[0], content_id("twice", *row), *row[1:]) for row in store.rows(query)]
    store.packer.add_calls(((row[1:], None) for row in copies), keep=True)
    new_keys: dict[str, str] = {row[0]: row[1] for row in copies}
    query = (
        "SELECT output, annotator, turn, call FROM part_label_calls p WHERE NOT EXISTS"
        " (SELECT 1 FROM label_calls l WHERE l.n = p.n AND l.turn = p.turn"
        " AND l.annotator = p.annotator)"
    )
    store.packer.add_label_calls(
        LabelCall(output, annotator, turn, new_keys.get(call, call))
        for output, annotator, turn, call in store.rows(query)
    )


def _add_artefacts(store: Store, source: Store, computed: tuple[str, ...]) -> None:
    marks = ",".join("?" * len(computed))
    row = store.first(
        "SELECT a.kind, a.name FROM main.artefacts a JOIN part.artefacts b USING (kind, name)"
        f" WHERE a.content <> b.content AND kind NOT IN ({marks}) LIMIT 1",
        computed,
    )
    if row is not None:
        _refuse(store, source, f"{row[0]} ({row[1][:40]})")
    store.write_one(
        "INSERT OR IGNORE INTO main.artefacts (kind, name, content, date) SELECT kind, name,"
        f" content, date FROM part.artefacts WHERE kind NOT IN ({marks})",
        computed,
    )


def _add_labels(store: Store, source: Store) -> None:
    """Adds whole label histories: all labels of an output by an annotator, past ones included."""
    for table, name in (("held", "labels"), ("given", f"{PART}_labels")):
        store.write_one(_HISTORIES.format(table=table, labels=name), ())
    for number, annotator in list(_longer(store, source)):
        key = (number, annotator)
        store.write_one(
            "DELETE FROM packed_labels WHERE output = ? AND annotator ="
            " (SELECT n FROM main.words WHERE text = ?)",
            key,
        )
        query = _LABELS.format(which="p.n = ? AND p.annotator = ?")
        store.packer.add_label_rows(list(store.rows(query, key)))
    new = _LABELS.format(
        which="(p.n, p.annotator) NOT IN (SELECT n, annotator FROM temp.given) OR"
        " (p.n, p.annotator) IN (SELECT n, annotator FROM temp.given"
        " EXCEPT SELECT n, annotator FROM temp.held)"
    )
    store.packer.add_label_rows(store.rows(new))
    for table in ("held", "given"):
        store.write_one(f"DROP TABLE temp.{table}", ())


def _longer(store: Store, source: Store) -> Iterator[tuple[int, str]]:
    """Yields (output, annotator) with newer labels in the other run; RunMismatch if in conflict."""
    query = (
        "SELECT n, h.output, annotator, h.said, g.said, h.current, g.current FROM temp.held h"
        " JOIN temp.given g USING (n, annotator)"
        " WHERE h.said <> g.said OR h.current <> g.current"
    )
    rows = list(store.rows(query))  # one that is left open would keep the other run attached
    for number, output, annotator, *texts, held_current, given_current in rows:
        own_labels, other_labels = (json.loads(text) for text in texts)
        if own_labels == other_labels:  # withdrawn in one of the two
            if given_current < held_current:
                yield number, annotator
        elif other_labels[: len(own_labels)] == own_labels:
            yield number, annotator
        elif own_labels[: len(other_labels)] != other_labels:
            _refuse(store, source, f"label of {output[:12]} by {annotator}")
