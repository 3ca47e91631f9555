"""What fills the tables in memory that outputs are counted in (output_table.py).

`output` has a row an output with the levels of its factors, `label` the labels of the attributes
that were asked for, `hit` what searches found, `annotator_call` which calls are about an output.
Nothing here is written into a run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ..errors import UsageError
from .rows import Value

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
# An output as the table takes it: id, subject, mode, sample, outcome, blob, the condition that
# shares of labels are worked out within, then the levels of the factors in their order.
OutputRow: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Selection:
    """Some of the outputs. levels: of factors, mode, subject, outcome; labels: (attribute, value)
    that the output's own label has, value None for outputs without one; outcome: beside a level of
    the outcome; split: an attribute on which annotators disagree; searches: what each of these
    found.
    """

    levels: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[tuple[str, str | None]] = ()
    outcome: str = ""
    split: str = ""
    searches: Sequence[str] = ()

    def condition(self, column: Callable[[str], str]) -> tuple[str, list[Value]]:
        """As SQL over output c, with the values of its marks. column: of a factor's name."""
        parts: list[tuple[str, tuple[Value, ...]]] = [("1", ())]
        for name, level in self.levels.items():
            parts.append((f"{column(name)} = ?", (level,)))
        of = "SELECT 1 FROM label l WHERE l.n = c.n AND l.attribute = ?"
        for attribute, value in self.labels:
            if value is None:
                parts.append((f"NOT EXISTS ({of})", (attribute,)))
            else:
                parts.append((f"EXISTS ({of} AND l.value = ? AND l.own)", (attribute, value)))
        if self.outcome:
            parts.append(("c.outcome = ?", (self.outcome,)))
        if self.split:
            parts.append((f"EXISTS ({of} AND l.split)", (self.split,)))
        for text in self.searches:
            parts.append(("c.n IN (SELECT n FROM hit WHERE text = ?)", (text,)))
        return " AND ".join(text for text, _ in parts), [v for _, values in parts for v in values]


class LabelRow(NamedTuple):
    """One label. own: it is the output's own; split: annotators disagree on the output."""

    value: str
    weight: float
    own: bool
    split: bool


class FilledTables:
    """The tables and what fills them. factors: whose levels each output has."""

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
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:  # a full disk has ended it already
                self._db.execute("ROLLBACK")

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
