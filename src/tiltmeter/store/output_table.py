"""Outputs of one or more runs as tables in memory, to be counted and paged through
(table_filling.py fills them).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from .table_filling import FilledTables, LabelRow, OutputRow, Selection

__all__ = ["CellKey", "GridWindow", "LabelRow", "OutputRow", "OutputTable", "PlacedOutput"]
CellKey: TypeAlias = tuple[str, str]  # level of the rows, level of the columns
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
class GridWindow:
    """What of a grid is shown. first, last: places in a cell, from 1."""

    rows: Sequence[str]
    columns: Sequence[str]
    first: int
    last: int


class OutputTable(FilledTables):
    """Tables in memory that are counted and read."""

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

    def pairs_of(
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

    def iter_outputs(self, attribute: str) -> Iterator[PlacedOutput]:
        """Every output with the values of an attribute that are its own, by run and id."""
        query = (
            "SELECT c.run, c.id, c.outcome, c.blob, c.sample, group_concat(l.value, char(10))"
            " FROM output c LEFT JOIN label l ON l.n = c.n AND l.attribute = ? AND l.own"
            " GROUP BY c.n ORDER BY c.run, c.id"
        )
        for run, output, outcome, blob, sample, joined in self._db.execute(query, (attribute,)):
            own = tuple(joined.split("\n")) if joined else ()
            yield PlacedOutput(("", ""), run, output, outcome, blob, sample, own, None, False, ())

    def iter_placed(
        self,
        axes: tuple[str, str],
        window: GridWindow,
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
