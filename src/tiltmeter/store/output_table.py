"""Outputs of one or more runs as tables in memory, to be counted, searched and paged through.

`output` has a row an output with the levels of its factors, `label` the labels of the attributes
that were asked for, `hit` what searches found, `annotator_call` which calls are about an output.
Nothing here is written into a run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ..errors import UsageError
from .selection import Selection

CellKey: TypeAlias = tuple[str, str]  # level of the rows, level of the columns
_PLAIN_COLUMNS = ("subject", "mode", "outcome")
_TABLES = """
DROP TABLE IF EXISTS output;
DROP TABLE IF EXISTS label;
DROP TABLE IF EXISTS share;
DROP TABLE IF EXISTS hit;
DROP TABLE IF EXISTS annotator_call;
CREATE TABLE output (
  n INTEGER PRIMARY KEY, run INTEGER, id TEXT, subject TEXT, mode TEXT, sample INTEGER,
  outcome TEXT, blob TEXT, condition TEXT {factors});
CREATE UNIQUE INDEX output_by_id ON output (run, id);
CREATE TABLE label (
  attribute TEXT, n INTEGER, value TEXT, weight REAL, own INTEGER, split INTEGER, surprise REAL);
CREATE INDEX label_of ON label (attribute, n);
CREATE TABLE share (condition TEXT, value TEXT, bits REAL, PRIMARY KEY (condition, value))
  WITHOUT ROWID;
CREATE TABLE hit (text TEXT, n INTEGER, PRIMARY KEY (text, n)) WITHOUT ROWID;
CREATE TABLE annotator_call (run INTEGER, id TEXT, call INTEGER, PRIMARY KEY (run, id, call))
  WITHOUT ROWID;
"""
_SORTS = {
    "sample": "c.sample, c.run, c.id",
    "surprise": "s.surprise IS NULL, s.surprise DESC, c.sample, c.id",
    "label": "s.value IS NULL, s.value, c.sample, c.id",
}
_PLACED = """
WITH s AS (
  SELECT n, group_concat(value, char(10)) AS value, max(surprise) AS surprise, max(split) AS split
  FROM label WHERE attribute = ? AND own GROUP BY n),
placed AS (
  SELECT c.n, {row} AS r, {column} AS k, s.value, s.surprise, s.split,
    row_number() OVER (PARTITION BY {row}, {column} ORDER BY {order}) AS place
  FROM output c LEFT JOIN s USING (n)
  WHERE {where} AND {row} IN ({rows}) AND {column} IN ({columns}))
SELECT p.r, p.k, c.run, c.id, c.outcome, c.blob, c.sample, p.value, p.surprise, p.split {names}
FROM placed p JOIN output c USING (n)
WHERE p.place BETWEEN ? AND ? ORDER BY p.r, p.k, p.place
"""


# An output as the table takes it: id, subject, mode, sample, outcome, blob, the condition that
# shares of labels are worked out within, then the levels of the factors in their order.
OutputRow: TypeAlias = tuple[str | int, ...]


class LabelRow(NamedTuple):
    """One label. own: it is the output's own; split: annotators disagree on the output."""

    value: str
    weight: float
    own: bool
    split: bool


class PlacedOutput(NamedTuple):
    """An output in its cell, with the values that are its own and the greatest surprise of them."""

    cell: CellKey
    run: int
    id: str
    outcome: str
    blob: str
    sample: int
    values: tuple[str, ...]
    surprise: float | None
    split: bool
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """What of a grid is shown. first, last: places in a cell, from 1."""

    rows: Sequence[str]
    columns: Sequence[str]
    first: int
    last: int


class OutputTable:
    """Tables in memory. factors: whose levels each output has."""

    def __init__(self, factors: Sequence[str]) -> None:
        self._factors = tuple(factors)
        self._db = sqlite3.connect(":memory:", isolation_level=None)

    def close(self) -> None:
        """Forgets everything."""
        with suppress(sqlite3.Error):
            self._db.close()

    def bytes_used(self) -> int:
        """Bytes of memory that the tables take."""
        pages, size = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
        )
        return int(pages) * int(size)

    def column(self, name: str) -> str:
        """The column of a factor, the mode, the subject or the outcome. UsageError where there is
        none.
        """
        if name in _PLAIN_COLUMNS:
            return f"c.{name}"
        if name in self._factors:
            return f"c.f{self._factors.index(name)}"
        raise UsageError(
            f"There is no factor '{name}'. There is: "
            f"{', '.join((*self._factors, 'subject', 'mode'))}."
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # filling

    def fill(self, outputs: Iterable[tuple[int, Iterable[OutputRow]]]) -> None:
        """Begins anew with the outputs of each (run, outputs)."""
        own = "".join(f", f{n}" for n in range(len(self._factors)))
        typed = "".join(f", f{n} TEXT" for n in range(len(self._factors)))
        self._db.executescript(_TABLES.format(factors=typed))
        names = f"run, id, subject, mode, sample, outcome, blob, condition{own}"
        marks = ",".join("?" * (7 + len(self._factors)))
        with self._transaction():
            for run, rows in outputs:
                query = f"INSERT INTO output ({names}) VALUES ({run:d},{marks})"
                self._db.executemany(query, rows)

    def add_labels(
        self, attribute: str, labels: Iterable[tuple[int, str, Sequence[LabelRow]]]
    ) -> None:
        """Labels of an attribute: (run, output, its labels)."""
        query = "INSERT INTO label SELECT ?, n, ?, ?, ?, ?, NULL FROM output WHERE run=? AND id=?"
        with self._transaction():
            for run, output, rows in labels:
                self._db.executemany(query, [(attribute, *row, run, output) for row in rows])

    def add_single_labels(
        self, attribute: str, run: int, labels: Iterable[tuple[str, str, bool]]
    ) -> None:
        """Labels of an attribute with one label an output: (output, value, split)."""
        with self._transaction():
            self._db.execute("CREATE TEMP TABLE given (id TEXT, value TEXT, split INTEGER)")
            self._db.executemany("INSERT INTO given VALUES (?, ?, ?)", labels)
            self._db.execute(
                "INSERT INTO label SELECT ?, c.n, g.value, 1, 1, g.split, NULL"
                " FROM given g JOIN output c ON c.run = ? AND c.id = g.id",
                (attribute, run),
            )
            self._db.execute("DROP TABLE given")

    def set_surprises(self, attribute: str, bits: Iterable[tuple[str, str, float]]) -> None:
        """How surprising each value is in its condition: (condition, value, bits)."""
        with self._transaction():
            self._db.execute("DELETE FROM share")
            self._db.executemany("INSERT INTO share VALUES (?, ?, ?)", bits)
            self._db.execute(
                "UPDATE label SET surprise = ("
                " SELECT bits FROM share s JOIN output c ON c.condition = s.condition"
                " WHERE c.n = label.n AND s.value = label.value) WHERE attribute = ? AND own",
                (attribute,),
            )

    def was_searched(self, text: str) -> bool:
        """True if the hits of a search are there, also where it has none."""
        query = "SELECT 1 FROM hit WHERE text = ? LIMIT 1"
        return self._db.execute(query, (text,)).fetchone() is not None

    def forget_searches(self, most: int) -> None:
        """Forgets what searches found, where there are more of them."""
        searches = self._db.execute("SELECT count(DISTINCT text) FROM hit").fetchone()[0]
        if searches > most:
            self._db.execute("DELETE FROM hit")

    def add_hits(self, text: str, hits: Iterable[tuple[int, str]]) -> None:
        """What a search found: (run, output)."""
        with self._transaction():
            self._db.execute("INSERT INTO hit VALUES (?, -1)", (text,))  # it was looked for
            self._db.executemany(
                "INSERT INTO hit SELECT ?, n FROM output WHERE run = ? AND id = ?",
                ((text, run, output) for run, output in hits),
            )

    def has_calls(self, run: int) -> bool:
        """True if the calls of a run's annotators are there."""
        query = "SELECT 1 FROM annotator_call WHERE run = ? AND id = ''"
        return self._db.execute(query, (run,)).fetchone() is not None

    def add_calls(self, run: int, calls: Iterable[tuple[str, int]]) -> None:
        """The calls of a run's annotators: (output, row id)."""
        insert = "INSERT OR IGNORE INTO annotator_call VALUES (?, ?, ?)"
        with self._transaction():
            self._db.executemany(insert, ((run, output, call) for output, call in calls))
            self._db.execute(insert, (run, "", -1))

    # counting

    def level_counts(self, name: str) -> dict[str, int]:
        """Level → outputs, of a factor, the mode, the subject or the outcome; most first."""
        column = self.column(name)
        query = f"SELECT {column}, count(*) FROM output c GROUP BY 1 ORDER BY 2 DESC, 1"
        return dict(self._db.execute(query))

    def value_weights(self, attribute: str) -> dict[str, float]:
        """Value → sum of weights of an attribute's labels; most first."""
        query = (
            "SELECT value, sum(weight) FROM label WHERE attribute = ? GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        return dict(self._db.execute(query, (attribute,)))

    def condition_weights(self, attribute: str) -> list[tuple[str, str, float]]:
        """(condition, value, sum of weights) of an attribute's labels, by condition."""
        query = (
            "SELECT c.condition, l.value, sum(l.weight) FROM label l JOIN output c USING (n)"
            " WHERE l.attribute = ? GROUP BY 1, 2 ORDER BY 1"
        )
        return self._db.execute(query, (attribute,)).fetchall()

    def distinct(self, name: str, other: str) -> tuple[int, int]:
        """How many levels a factor has, and how many pairs with the levels of another."""
        one, two = self.column(name), self.column(other)
        found = self._db.execute(
            f"SELECT count(DISTINCT {one}),"
            f" (SELECT count(*) FROM (SELECT DISTINCT {one}, {two} FROM output c)) FROM output c"
        ).fetchone()
        return found[0], found[1]

    def selected_levels(self, name: str, selection: Selection) -> dict[str, int]:
        """Level → selected outputs."""
        where, values = selection.condition(self.column)
        query = f"SELECT {self.column(name)}, count(*) FROM output c WHERE {where} GROUP BY 1"
        return dict(self._db.execute(query, values))

    def selected_values(
        self, attribute: str, unlabelled: str, selection: Selection
    ) -> dict[str, int]:
        """Value → selected outputs whose own label it is, most first. unlabelled: for none."""
        where, values = selection.condition(self.column)
        query = (
            "SELECT coalesce(l.value, ?), count(DISTINCT c.n) FROM output c"
            " LEFT JOIN label l ON l.n = c.n AND l.attribute = ? AND l.own"
            f" WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        return dict(self._db.execute(query, (unlabelled, attribute, *values)))

    def cell_sizes(self, row: str, column: str, selection: Selection) -> dict[CellKey, int]:
        """Cell → selected outputs. row, column: names of factors."""
        where, values = selection.condition(self.column)
        query = (
            f"SELECT {self.column(row)}, {self.column(column)}, count(*) FROM output c"
            f" WHERE {where} GROUP BY 1, 2"
        )
        return {(a, b): count for a, b, count in self._db.execute(query, values)}

    def cell_values(
        self,
        row: str,
        column: str,
        rows: Sequence[str] | None,
        labels: Selection,
        by: tuple[str, str],
    ) -> dict[CellKey, dict[str, float]]:
        """Cell → value → sum of weights, of selected outputs. rows: None for all; by: the
        attribute, and what an output without a label of it has.
        """
        where, values = labels.condition(self.column)
        if rows is not None:
            where += f" AND {self.column(row)} IN ({_marks(rows)})"
            values = [*values, *rows]
        attribute, unlabelled = by
        query = (
            f"SELECT {self.column(row)}, {self.column(column)}, coalesce(l.value, ?),"
            " sum(coalesce(l.weight, 1)) FROM output c"
            " LEFT JOIN label l ON l.n = c.n AND l.attribute = ?"
            f" WHERE {where} GROUP BY 1, 2, 3"
        )
        counts: dict[CellKey, dict[str, float]] = {}
        for r, k, value, count in self._db.execute(query, (unlabelled, attribute, *values)):
            counts.setdefault((r, k), {})[value] = count
        return counts

    def level_marks(
        self, name: str, attribute: str, selection: Selection
    ) -> dict[str, tuple[float, float]]:
        """Level → (mean surprise in bits, share on which annotators disagree), of selected outputs
        that have a label of their own.
        """
        where, values = selection.condition(self.column)
        query = (
            f"SELECT {self.column(name)}, avg(l.surprise), avg(l.split) FROM output c"
            f" JOIN label l ON l.n = c.n AND l.attribute = ? AND l.own WHERE {where} GROUP BY 1"
        )
        rows = self._db.execute(query, (attribute, *values))
        return {level: (surprise or 0.0, split or 0.0) for level, surprise, split in rows}

    def paired(
        self, run: int, output: str, factor: str, tied: Sequence[str]
    ) -> list[tuple[str, str]]:
        """(level, output) of what differs from an output in a factor, and what is tied to it,
        alone: the same subject, mode, sample and other levels; in the order of the levels.
        """
        names = [name for name in self._factors if name not in (factor, *tied)]
        same = " AND ".join(
            f"c.{one} IS o.{one}"
            for one in (
                "run",
                "subject",
                "mode",
                "sample",
                *(f"f{self._factors.index(n)}" for n in names),
            )
        )
        column = self.column(factor)
        query = (
            f"SELECT {column}, c.id FROM output o JOIN output c ON {same} AND c.n <> o.n"
            f" WHERE o.run = ? AND o.id = ? AND {column} <> {column.replace('c.', 'o.')} ORDER BY 1"
        )
        return self._db.execute(query, (run, output)).fetchall()

    # reading

    def iter_placed(
        self,
        axes: tuple[str, str],
        window: Window,
        selection: Selection,
        attribute: str,
        sort: str,
    ) -> Iterator[PlacedOutput]:
        """The selected outputs of a window, cell by cell. axes: the factors of rows and columns;
        sort: sample, surprise or label.
        """
        where, values = selection.condition(self.column)
        query = _PLACED.format(
            row=self.column(axes[0]),
            column=self.column(axes[1]),
            order=_SORTS[sort],
            where=where,
            rows=_marks(window.rows),
            columns=_marks(window.columns),
            names="".join(f", c.f{n}" for n in range(len(self._factors))),
        )
        shown = (*window.rows, *window.columns, window.first, window.last)
        for r, k, run, output, outcome, blob, sample, joined, *rest in self._db.execute(
            query, (attribute, *values, *shown)
        ):
            surprise, split, *levels = rest
            own = tuple(joined.split("\n")) if joined else ()
            yield PlacedOutput(
                (r, k), run, output, outcome, blob, sample, own, surprise, bool(split), (*levels,)
            )

    def calls_about(self, run: int, output: str) -> list[int]:
        """Row ids of the calls that annotators made about an output."""
        query = "SELECT call FROM annotator_call WHERE run = ? AND id = ? ORDER BY 1"
        return [row[0] for row in self._db.execute(query, (run, output))]


def _marks(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))
