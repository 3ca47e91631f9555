"""One page of the explorer as plain dataclasses: tabs, and for a tab a grid with all samples of its conditions.

Rows are subjects and columns the levels of the factor that the protocol contrasts, unless the view says otherwise. A
page holds so many outputs that a browser shows them at once; what is in it is cut out by SQLite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..protocol import Protocol
from ..records import OUTCOMES
from .index import Index
from .view import ALL, View

PICTURES, TEXTS = 600, 120  # outputs of one page
FEWEST = 4  # samples of a cell, where there are many cells
TABS = 60  # levels beyond which a factor is no row of tabs by default
COLUMNS = 24
SHORT = 420  # characters of a text in the grid
COLOURS = 7
LABEL, OUTCOME, SUBJECT, MODE = "label", "outcome", "subject", "mode"
NONE = "not labelled"


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a distribution. share: of the whole, 0 to 1; begin: where it begins; colour: a class of the style sheet."""

    value: str
    count: float
    share: float
    begin: float
    colour: str


@dataclass(frozen=True, slots=True)
class Card:
    """One output. blob: the name of its picture; text: its beginning; surprise: in bits, None without a label."""

    run: int
    id: str
    blob: str
    text: str
    outcome: str
    labels: tuple[str, ...]
    colour: str
    split: bool
    surprise: float | None
    about: str
    language: str

    @property
    def key(self) -> str:
        return f"{self.run}-{self.id}"


@dataclass(frozen=True, slots=True)
class Cell:
    """total: outputs of the condition; found: of these, the ones that the filters leave."""

    bars: tuple[Bar, ...]
    total: int
    found: int
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """An option: what it is called, how many there are, its address, whether it is chosen."""

    value: str
    count: int | None
    address: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """A factor that can be narrowed down. name: of the parameter."""

    name: str
    title: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """view: with its defaults filled in. columns: (level, is it the baseline)."""

    view: View
    protocol: Protocol
    pictures: bool
    tabs: tuple[Choice, ...]
    by: tuple[str, ...]
    factors: tuple[str, ...]
    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    legend: tuple[Bar, ...]
    attributes: tuple[str, ...]
    values: tuple[Choice, ...]
    outcomes: tuple[Choice, ...]
    filters: tuple[Filter, ...]
    found: int
    total: int
    pages: int
    missing: int
    contrasted: str
    notes: tuple[str, ...]


def page(index: Index, view: View) -> Page:
    """Reads what a view shows. UsageError where it names a factor that is not there."""
    index.refresh()
    view = filled(index, view)
    index.labelled(view.attribute)
    if view.value not in (NONE, *(value for value, _ in _values(index, view.attribute))):
        view = replace(view, value="")  # of another attribute
    if view.text:
        index.found(view.text)
    tabs = _tabs(index, view)
    if view.by and view.tab not in (*(tab.value for tab in tabs), ALL):
        view = replace(view, tab=tabs[0].value if tabs else ALL)
    base, narrow = _Where(index, view, narrow=False), _Where(index, view, narrow=True)
    colours = _colours(index, view.attribute)
    sizes = _sizes(index, view, narrow)
    every = _sizes(index, view, base)
    columns, notes = _columns(index, view, every)
    rows = _ordered(index, view.rows, {row for row, _ in every})
    number = PICTURES if index.protocol.modality == "image" else TEXTS
    layout = _Layout.of(rows, len(columns), max(sizes.values(), default=0), number, view.page)
    view = replace(view, page=layout.page)
    cards = _cards(index, view, narrow, layout, columns, colours)
    bars = _bars(index, view, base, layout, colours)
    grid = tuple(
        (row, tuple(Cell(bars.get((row, column), ()), every.get((row, column), 0), sizes.get((row, column), 0),
                         tuple(cards.get((row, column), ()))) for column in columns))
        for row in layout.rows
    )  # fmt: skip
    return Page(
        view, index.protocol, index.protocol.modality == "image", _addressed(view, tabs), _bys(index),
        (*_several(index), SUBJECT, MODE), tuple((column, column == _baseline(index, view)) for column in columns), grid,
        tuple(Bar(value, count, 0, 0, colours[value]) for value, count in _values(index, view.attribute)),
        index.attributes, _values_of(index, view), _outcomes(index, view), _filters(index, view), sum(sizes.values()),
        sum(every.values()), layout.pages, index.missing(), index.contrasted, notes,
    )  # fmt: skip


# defaults


def filled(index: Index, view: View) -> View:
    """The view with what it leaves open: columns by the contrast, rows by subject, tabs by the item or what is grouped by."""
    several = _several(index)
    modes = {row[0] for row in index.rows("SELECT DISTINCT mode FROM card")}
    levels = dict(view.levels)
    if not view.rows and view.columns != MODE and _one_of_several_modes(index, modes):
        view = replace(view, rows=MODE)
    if MODE not in (view.rows, view.columns, view.by) and MODE not in levels and len(modes) > 1:
        levels[MODE] = next(name for name in index.protocol.modes if name in modes)
    columns = view.columns or (index.contrasted if index.contrasted in several else SUBJECT)
    spare = index.contrasted if columns == SUBJECT and index.contrasted in several else MODE
    rows = view.rows if view.rows and view.rows != columns else (SUBJECT if columns != SUBJECT else spare)
    by = view.by if view.by in _bys(index) else _by(index, columns, rows)
    attribute = view.attribute if view.attribute in index.attributes else next(iter(index.attributes), "")
    for name in (columns, rows, *levels):
        index.column(name)
    return replace(view, columns=columns, rows=rows, by=by, attribute=attribute, levels=tuple(levels.items()))


def _one_of_several_modes(index: Index, modes: set[str]) -> bool:
    """Whether one subject was asked in several modes that are measured: then these are the rows."""
    (subjects,) = index.rows("SELECT count(DISTINCT subject) FROM card")[0]
    return subjects == 1 and len([name for name in modes if not index.protocol.modes[name].aside]) > 1


def _several(index: Index) -> tuple[str, ...]:
    """Factors with more than one level among the outputs."""
    counts = index.rows("SELECT " + ", ".join(f"count(DISTINCT f{n})" for n in range(len(index.factors))) + " FROM card")[0]
    return tuple(name for name, count in zip(index.factors, counts, strict=True) if count > 1)


def _by(index: Index, columns: str, rows: str) -> str:
    item, several = index.protocol.item, _several(index)
    groups = [factor for spec in index.protocol.measures for group in spec.by for factor in group]
    free = [name for name in dict.fromkeys(groups) if name in several and name not in (columns, rows)]
    own, column = index.column(item), index.column(columns)
    query = f"SELECT count(DISTINCT {own}), (SELECT count(*) FROM (SELECT DISTINCT {own}, {column} FROM card c)) FROM card c"
    items, cells = index.rows(query)[0]
    compared = cells > items or columns == SUBJECT  # else an item is in one column alone
    if item not in (columns, rows) and compared and (1 < items <= TABS or (items > 1 and not free)):
        return item
    return next((name for name in free if name != item), LABEL)


def _bys(index: Index) -> tuple[str, ...]:
    return (*_several(index), LABEL, OUTCOME, SUBJECT)


def _baseline(index: Index, view: View) -> str:
    if view.columns != index.contrasted:
        return ""
    contrasts = (spec.contrast or {} for spec in index.protocol.measures)
    return next((c["baseline"] for c in contrasts if c.get("factor") == index.contrasted and "baseline" in c), "")


# what is asked of the index


class _Where:
    """The outputs of a view as a condition of SQL over card c; `narrow` with the filters that leave the bars as they are."""

    def __init__(self, index: Index, view: View, narrow: bool, tab: bool = True) -> None:
        self.values: list[Any] = []
        parts = ["1"]
        levels = dict(view.levels) | ({view.by: view.tab} if tab and view.by not in (LABEL, "") else {})
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
            parts.append("EXISTS (SELECT 1 FROM label l WHERE l.n = c.n AND l.attribute = ? AND l.split)")
            self.values.append(view.attribute)
        if view.text:
            parts.append("c.n IN (SELECT n FROM hit WHERE text = ?)")
            self.values.append(view.text)

    def _labelled(self, parts: list[str], attribute: str, value: str) -> None:
        if value == NONE:
            parts.append("NOT EXISTS (SELECT 1 FROM label l WHERE l.n = c.n AND l.attribute = ?)")
            self.values.append(attribute)
            return
        parts.append("EXISTS (SELECT 1 FROM label l WHERE l.n = c.n AND l.attribute = ? AND l.value = ? AND l.own)")
        self.values += [attribute, value]


def _sizes(index: Index, view: View, where: _Where) -> dict[tuple[str, str], int]:
    row, column = index.column(view.rows), index.column(view.columns)
    found = index.rows(f"SELECT {row}, {column}, count(*) FROM card c WHERE {where.text} GROUP BY 1, 2", where.values)
    return {(a, b): count for a, b, count in found}


def _values(index: Index, attribute: str) -> list[tuple[str, float]]:
    """Values of an attribute, the protocol's own first, each by how often it was said."""
    found = index.rows("SELECT value, sum(weight) FROM label WHERE attribute = ? GROUP BY 1 ORDER BY 2 DESC, 1", (attribute,))
    return sorted(found, key=lambda one: one[0] in OUTCOMES)


def _colours(index: Index, attribute: str) -> dict[str, str]:
    """A class for each value: colours for the commonest of the protocol's own, greys for the rest."""
    found, used = {}, 0
    for value, _ in _values(index, attribute):
        own = value not in OUTCOMES and used < COLOURS
        found[value] = f"c{used}" if own else f"g{(len(found) - used) % 4}"
        used += own
    return found | {NONE: "g3"}


def _ordered(index: Index, factor: str, found: set[str]) -> list[str]:
    """Levels in the order of the design; subjects and modes in the order of their names."""
    order = {level: n for n, level in enumerate(index.protocol.levels.get(factor, {}))}
    return sorted(found, key=lambda level: (order.get(level, len(order)), level))


def _columns(index: Index, view: View, every: Mapping[tuple[str, str], int]) -> tuple[list[str], tuple[str, ...]]:
    columns = _ordered(index, view.columns, {column for _, column in every})
    first = _baseline(index, view)
    columns.sort(key=lambda level: level != first)
    if len(columns) <= COLUMNS:
        return columns, ()
    return columns[:COLUMNS], (f"The first {COLUMNS} of {len(columns)} levels of {view.columns}; choose another for columns.",)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which rows and which samples of each cell (first, last; from 1) a page has."""

    rows: tuple[str, ...]
    first: int
    last: int
    page: int
    pages: int

    @classmethod
    def of(cls, rows: Sequence[str], columns: int, most: int, number: int, page: int) -> _Layout:
        samples = max(1, min(most, max(FEWEST, number // max(1, columns))))
        height = max(1, number // max(1, columns * samples))
        blocks, turns = -(-len(rows) // height), -(-most // samples)
        pages = max(1, blocks * turns)
        page = min(max(1, page), pages)
        block, turn = divmod(page - 1, max(1, turns))
        return cls(tuple(rows[block * height : (block + 1) * height]), turn * samples + 1, (turn + 1) * samples, page, pages)


_SORTS = {"sample": "c.sample, c.run, c.id", "surprise": "s.surprise IS NULL, s.surprise DESC, c.sample, c.id",
          "label": "s.value IS NULL, s.value, c.sample, c.id"}  # fmt: skip


def _cards(index: Index, view: View, where: _Where, layout: _Layout, columns: Sequence[str],
           colours: Mapping[str, str]) -> dict[tuple[str, str], list[Card]]:  # fmt: skip
    row, column = index.column(view.rows), index.column(view.columns)
    names = ", ".join(f"c.f{n}" for n in range(len(index.factors)))
    marks, across = ",".join("?" * len(layout.rows)), ",".join("?" * len(columns))
    found = index.rows(
        f"WITH s AS (SELECT n, group_concat(value, char(10)) AS value, max(surprise) AS surprise, max(split) AS split"
        f" FROM label WHERE attribute = ? AND own GROUP BY n),"
        f" placed AS (SELECT c.n, {row} AS r, {column} AS k, s.value, s.surprise, s.split,"
        f" row_number() OVER (PARTITION BY {row}, {column} ORDER BY {_SORTS[view.sort]}) AS place"
        f" FROM card c LEFT JOIN s USING (n) WHERE {where.text} AND {row} IN ({marks}) AND {column} IN ({across}))"
        f" SELECT p.r, p.k, c.run, c.id, c.outcome, c.blob, c.sample, p.value, p.surprise, p.split, {names}"
        f" FROM placed p JOIN card c USING (n) WHERE p.place BETWEEN ? AND ? ORDER BY p.r, p.k, p.place",
        (view.attribute, *where.values, *layout.rows, *columns, layout.first, layout.last))  # fmt: skip
    hidden = {view.rows, view.columns, view.by, *(name for name in index.factors if name not in _several(index))}
    made: dict[tuple[str, str], list[Card]] = {}
    for r, k, run, trial, outcome, blob, sample, values, surprise, split, *levels in found:
        labels = tuple(values.split("\n")) if values else ()
        factors = dict(zip(index.factors, levels, strict=True))
        about = [f"{name} {level}" for name, level in factors.items() if level and name not in hidden]
        text = "" if blob and outcome == "answer" else _text(index, run, trial)
        made.setdefault((r, k), []).append(
            Card(run, trial, blob if outcome == "answer" else "", text, outcome, labels, colours.get(labels[0] if labels else NONE, "g3"),
                 bool(split), surprise, " · ".join([*about, f"sample {sample + 1}"]), factors.get("language", "")))  # fmt: skip
    return made


def _text(index: Index, run: int, trial: str) -> str:
    query = f"SELECT substr(text, 1, {SHORT + 1}) FROM outputs WHERE trial = ?"
    found = next(index.sources[run].store.rows(query, (trial,)), ("",))[0]
    return found if len(found) <= SHORT else found[:SHORT].rstrip() + "…"


def _bars(index: Index, view: View, where: _Where, layout: _Layout, colours: Mapping[str, str],
          ) -> dict[tuple[str, str], tuple[Bar, ...]]:  # fmt: skip
    """What was said in each cell, whatever the filters leave of it."""
    row, column, marks = index.column(view.rows), index.column(view.columns), ",".join("?" * len(layout.rows))
    found = index.rows(
        f"SELECT {row}, {column}, coalesce(l.value, ?), sum(coalesce(l.weight, 1)) FROM card c"
        f" LEFT JOIN label l ON l.n = c.n AND l.attribute = ? WHERE {where.text} AND {row} IN ({marks}) GROUP BY 1, 2, 3",
        (NONE, view.attribute, *where.values, *layout.rows))  # fmt: skip
    counts: dict[tuple[str, str], dict[str, float]] = {}
    for r, k, value, count in found:
        counts.setdefault((r, k), {})[value] = count
    return {cell: _stacked(said, colours) for cell, said in counts.items()}


def _stacked(said: Mapping[str, float], colours: Mapping[str, str]) -> tuple[Bar, ...]:
    whole, begin, made = sum(said.values()) or 1.0, 0.0, []
    for value in sorted(said, key=lambda value: list(colours).index(value)):
        made.append(Bar(value, said[value], said[value] / whole, begin, colours[value]))
        begin += said[value] / whole
    return tuple(made)


# choices


def _tabs(index: Index, view: View) -> tuple[Choice, ...]:
    where = _Where(index, view, narrow=False, tab=False)
    if view.by == LABEL:
        found = index.rows(
            f"SELECT coalesce(l.value, ?), count(DISTINCT c.n) FROM card c LEFT JOIN label l ON l.n = c.n AND l.attribute = ? AND l.own"
            f" WHERE {where.text} GROUP BY 1 ORDER BY 2 DESC, 1", (NONE, view.attribute, *where.values))  # fmt: skip
    else:
        column = index.column(view.by)
        found = index.rows(f"SELECT {column}, count(*) FROM card c WHERE {where.text} GROUP BY 1", where.values)
        place = {level: n for n, level in enumerate(_ordered(index, view.by, {row[0] for row in found}))}
        found.sort(key=lambda row: place[row[0]])
    return tuple(Choice(value, count, "", value == view.tab) for value, count in found)


def _addressed(view: View, tabs: Sequence[Choice]) -> tuple[Choice, ...]:
    every = Choice(ALL, sum(tab.count or 0 for tab in tabs), "", False)
    return tuple(replace(tab, address=view.address(tab=tab.value), chosen=tab.value == view.tab) for tab in (*tabs, every))


def _values_of(index: Index, view: View) -> tuple[Choice, ...]:
    return tuple(Choice(value, None, "", value == view.value) for value in (*(v for v, _ in _values(index, view.attribute)), NONE))


def _outcomes(index: Index, view: View) -> tuple[Choice, ...]:
    found = index.rows("SELECT outcome, count(*) FROM card GROUP BY 1 ORDER BY 2 DESC")
    return tuple(Choice(value, count, "", value == view.outcome) for value, count in found)


def _filters(index: Index, view: View) -> tuple[Filter, ...]:
    return tuple(_all_filters(index, view))


def _all_filters(index: Index, view: View) -> Iterator[Filter]:
    """For each factor with several levels, and the mode and the subject, that is no tab, row or column."""
    taken, levels = (view.by, view.rows, view.columns), dict(view.levels)
    for name in (MODE, SUBJECT, *_several(index)):
        if name in taken and not (name == MODE and name in levels):
            continue
        column = index.column(name)
        found = {value: count for value, count in index.rows(f"SELECT {column}, count(*) FROM card c GROUP BY 1 LIMIT 401")}
        if 1 < len(found) <= 400:
            yield Filter(f"f.{name}", name, tuple(Choice(value, found[value], "", levels.get(name) == value)
                                                  for value in _ordered(index, name, set(found))))  # fmt: skip

