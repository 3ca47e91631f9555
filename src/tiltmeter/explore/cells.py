"""The cells of a grid: which outputs are in them, how many, what was said of them. What a page has
is cut out by SQLite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..instruments.images.colour import own
from ..records import ANSWER, OUTCOMES
from .index import Index
from .parts import LABEL, NONE, Bar, Card
from .view import ALL, View

FEWEST = 4  # samples of a cell, where there are many cells
COLUMNS = 24
ROWS = 8  # that stand together, with fewer samples each, before pages are cut between them
SHORT = 420  # characters of a text in the grid
COLOURS = 7
NAMED = 12  # values of a cell that have a part of the bar for themselves


class Where:
    """The outputs of a view as a condition of SQL over card c; `narrow` with the filters that leave
    the bars as they are.
    """

    def __init__(self, index: Index, view: View, narrow: bool, tab: bool = True) -> None:
        self.values: list[Any] = []
        parts = ["1"]
        levels = dict(view.levels) | (
            {view.by: view.tab} if tab and view.by not in (LABEL, "") else {}
        )
        for name, level in levels.items():
            if level != ALL:
                parts.append(f"{index.column(name)} = ?")
                self.values.append(level)
        if tab and view.by == LABEL and view.tab != ALL:
            self._labelled(parts, view.attribute, view.tab)
        if narrow:
            self._narrow(parts, view)
        self.text = " AND ".join(parts)

    def _narrow(self, parts: list[str], view: View) -> None:
        if view.value:
            self._labelled(parts, view.attribute, view.value)
        if view.outcome:
            parts.append("c.outcome = ?")
            self.values.append(view.outcome)
        if view.split:
            parts.append(
                "EXISTS (SELECT 1 FROM label l WHERE l.n = c.n AND l.attribute = ? AND l.split)"
            )
            self.values.append(view.attribute)
        if view.text:
            parts.append("c.n IN (SELECT n FROM hit WHERE text = ?)")
            self.values.append(view.text)

    def _labelled(self, parts: list[str], attribute: str, value: str) -> None:
        if value == NONE:
            parts.append("NOT EXISTS (SELECT 1 FROM label l WHERE l.n = c.n AND l.attribute = ?)")
            self.values.append(attribute)
            return
        parts.append(
            "EXISTS (SELECT 1 FROM label l WHERE l.n = c.n AND l.attribute = ? AND l.value = ? "
            "AND l.own)"
        )
        self.values += [attribute, value]


def sizes(index: Index, view: View, where: Where) -> dict[tuple[str, str], int]:
    row, column = index.column(view.rows), index.column(view.columns)
    found = index.rows(
        f"SELECT {row}, {column}, count(*) FROM card c WHERE {where.text} GROUP BY 1, 2",
        where.values,
    )
    return {(a, b): count for a, b, count in found}


def colours(index: Index, attribute: str) -> dict[str, str]:
    """A class for each value: colours for the commonest of the protocol's own, greys for the rest;
    #rrggbb for a colour.
    """
    values = index.values(attribute)
    found = {
        name: "#{:02x}{:02x}{:02x}".format(*rgb)
        for name, rgb in own([v for v in values if v not in OUTCOMES]).items()
    }
    used = len(found)
    for value in (value for value in values if value not in found):
        coloured = value not in OUTCOMES and used < COLOURS
        found[value] = f"c{used}" if coloured else f"g{(len(found) - used) % 4}"
        used += coloured
    return found | {NONE: "g3"}


def ordered(index: Index, factor: str, found: set[str]) -> list[str]:
    """Levels in the order of the design; subjects and modes in the order of their names."""
    order = {level: n for n, level in enumerate(index.protocol.levels.get(factor, {}))}
    return sorted(found, key=lambda level: (order.get(level, len(order)), level))


def columns(
    index: Index, view: View, every: Mapping[tuple[str, str], int]
) -> tuple[list[str], tuple[str, ...]]:
    found, first = (
        ordered(index, view.columns, {column for _, column in every}),
        baseline(index, view),
    )
    found.sort(key=lambda level: level != first)
    cut = (
        f"The first {COLUMNS} of {len(found)} levels of {view.columns}; choose another for columns."
    )
    return found[:COLUMNS], (cut,) if found[COLUMNS:] else ()


@dataclass(frozen=True, slots=True)
class Layout:
    """Which rows and which samples of each cell (first, last; from 1) a page has."""

    rows: tuple[str, ...]
    first: int
    last: int
    page: int
    pages: int

    @classmethod
    def of(cls, rows: Sequence[str], columns: int, most: int, number: int, page: int) -> Layout:
        together = max(1, columns) * min(max(1, len(rows)), ROWS)
        samples = max(1, min(most, max(FEWEST, number // together)))
        height = max(1, number // max(1, columns * samples))
        blocks, turns = -(-len(rows) // height), -(-most // samples)
        pages = max(1, blocks * turns)
        page = min(max(1, page), pages)
        block, turn = divmod(page - 1, max(1, turns))
        shown = tuple(rows[block * height : (block + 1) * height])
        return cls(shown, turn * samples + 1, (turn + 1) * samples, page, pages)


_SORTS = {
    "sample": "c.sample, c.run, c.id",
    "surprise": "s.surprise IS NULL, s.surprise DESC, c.sample, c.id",
    "label": "s.value IS NULL, s.value, c.sample, c.id",
}


def cards(
    index: Index,
    view: View,
    where: Where,
    layout: Layout,
    columns: Sequence[str],
    colours: Mapping[str, str],
) -> dict[tuple[str, str], list[Card]]:
    row, column = index.column(view.rows), index.column(view.columns)
    names = ", ".join(f"c.f{n}" for n in range(len(index.factors)))
    marks, across = ",".join("?" * len(layout.rows)), ",".join("?" * len(columns))
    found = index.rows(
        "WITH s AS (SELECT n, group_concat(value, char(10)) AS value, max(surprise) AS "
        f"surprise, max(split) AS split FROM label WHERE attribute = ? AND own GROUP BY n),"
        f" placed AS (SELECT c.n, {row} AS r, {column} AS k, s.value, s.surprise, s.split,"
        f" row_number() OVER (PARTITION BY {row}, {column} ORDER BY {_SORTS[view.sort]}) AS place"
        f" FROM card c LEFT JOIN s USING (n) WHERE {where.text} AND {row} IN ({marks}) AND "
        f"{column} IN ({across}))"
        " SELECT p.r, p.k, c.run, c.id, c.outcome, c.blob, c.sample, p.value, p.surprise, "
        f"p.split, {names}"
        " FROM placed p JOIN card c USING (n) WHERE p.place BETWEEN ? AND ? ORDER BY p.r, p.k, "
        "p.place",
        (view.attribute, *where.values, *layout.rows, *columns, layout.first, layout.last),
    )
    hidden = {
        view.rows,
        view.columns,
        view.by,
        *(name for name in index.factors if name not in index.several),
    }
    made: dict[tuple[str, str], list[Card]] = {}
    for r, k, run, trial, outcome, blob, sample, values, surprise, split, *levels in found:
        labels = tuple(values.split("\n")) if values else ()
        factors = dict(zip(index.factors, levels, strict=True))
        about = [
            f"{name} {level}" for name, level in factors.items() if level and name not in hidden
        ]
        picture = blob if outcome == ANSWER else ""
        colour = colours.get(labels[0] if labels else NONE, "g3")
        made.setdefault((r, k), []).append(
            Card(
                run,
                trial,
                picture,
                "" if picture else _text(index, run, trial),
                outcome,
                labels,
                colour,
                bool(split),
                surprise,
                " · ".join([*about, f"sample {sample + 1}"]),
                factors.get("language", ""),
            )
        )
    return made


def _text(index: Index, run: int, trial: str) -> str:
    query = f"SELECT substr(text, 1, {SHORT + 1}) FROM outputs WHERE trial = ?"
    found = next(index.sources[run].store.rows(query, (trial,)), ("",))[0]
    return found if len(found) <= SHORT else found[:SHORT].rstrip() + "…"


def bars(
    index: Index,
    view: View,
    where: Where,
    layout: Layout,
    colours: Mapping[str, str],
) -> dict[tuple[str, str], tuple[Bar, ...]]:
    """What was said in each cell, whatever the filters leave of it."""
    row, column, marks = (
        index.column(view.rows),
        index.column(view.columns),
        ",".join("?" * len(layout.rows)),
    )
    found = index.rows(
        f"SELECT {row}, {column}, coalesce(l.value, ?), sum(coalesce(l.weight, 1)) FROM card c"
        f" LEFT JOIN label l ON l.n = c.n AND l.attribute = ? WHERE {where.text} AND {row} IN "
        f"({marks}) GROUP BY 1, 2, 3",
        (NONE, view.attribute, *where.values, *layout.rows),
    )
    counts: dict[tuple[str, str], dict[str, float]] = {}
    for r, k, value, count in found:
        counts.setdefault((r, k), {})[value] = count
    return {cell: _stacked(said, colours) for cell, said in counts.items()}


def _stacked(said: Mapping[str, float], colours: Mapping[str, str]) -> tuple[Bar, ...]:
    """Parts in the order of the colours; of many values the commonest, and what is left of them
    together.
    """
    kept = dict(sorted(said.items(), key=lambda one: -one[1])[:NAMED])
    whole, begin, made = sum(said.values()) or 1.0, 0.0, []
    for value in sorted(kept, key=list(colours).index):
        made.append(Bar(value, said[value], said[value] / whole, begin, colours[value]))
        begin += said[value] / whole
    if len(said) > NAMED:
        rest = whole - sum(kept.values())
        made.append(Bar(f"{len(said) - NAMED} others", rest, rest / whole, begin, "g3"))
    return tuple(made)


def baseline(index: Index, view: View) -> str:
    if view.columns != index.contrasted:
        return ""
    contrasts = (spec.contrast or {} for spec in index.protocol.measures)
    return next(
        (
            c["baseline"]
            for c in contrasts
            if c.get("factor") == index.contrasted and "baseline" in c
        ),
        "",
    )
