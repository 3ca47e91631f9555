"""Lays out tables as a paper prints them: rows, columns, names, order, stars and decimals, as a
variant declares them column by column (`protocol.paper_tables.CellLayout`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from ...analyse.words import numerals, reading
from ...analyse.words.numerals import OPEN_LEADER
from ...protocol import wording
from ...protocol.paper_tables import CellLayout, TableLayout
from ...records import Estimate
from ..page_model.audits import Audit
from .cross_table_axes import FIXED, Levels, axes, levels_on

MARK = "†"  # of a cell whose p is below the layout's bound
LOOSE = tuple(name for name in FIXED if name != "measure")


@dataclass(frozen=True, slots=True)
class Shaped:
    """A paper's table: heads, rows of (levels, cells), estimates by (levels, head)."""

    row_names: Levels
    columns: tuple[Levels, ...]
    rows: tuple[tuple[Levels, tuple[str, ...]], ...]
    estimates: Mapping[tuple[Levels, Levels], Estimate]


@dataclass(frozen=True)
class PaperColumn:
    """A column of a paper's table. cell: its declaration; place: the index of this declaration."""

    cell: CellLayout
    place: int
    levels: Levels
    head: Levels


@dataclass(frozen=True)
class Shaper:
    """Lays out estimates by one declared table. The layout's `where` holds for every column."""

    read: Audit
    layout: TableLayout
    in_words: Callable[[Estimate, TableLayout], str]

    def table(self) -> Shaped | None:
        """Returns the table, or None if the run has no estimate for it."""
        counted = self.layout.count and self.read.of(self.layout.cells[0].measure)
        if not any(self.chosen) and not counted:
            return None
        rows = self._rows()
        columns = list(self._columns())
        body, estimates = [], {}
        for key in rows:
            named = self._row_words(key)
            texts = []
            for column in columns:
                estimates_of = self.placed.get((column.place, column.levels, key), [])
                texts.append(self._text(column, key, estimates_of))
                if estimates_of and "level" not in column.cell.show:
                    estimates[named, column.head] = self._cell_estimate(column, key, estimates_of)
            body.append((named, tuple(self._with_leader(columns, key, texts))))
        return Shaped(
            tuple(self._title(name) for name in self.row_axes),
            tuple(column.head for column in columns),
            tuple(body),
            estimates,
        )

    @cached_property
    def chosen(self) -> list[list[Estimate]]:
        """The estimates of each declared column: those with all its axes and the fewest factors."""
        return [self._chosen(cell.measure, cell) for cell in self.layout.cells]

    def _chosen(self, measure: str, cell: CellLayout) -> list[Estimate]:
        wanted = {**self.layout.where, **cell.where}
        of_measure = self.read.of(measure)
        names = {name for e in of_measure for name in axes(e)}
        needed = {*cell.each, *wanted, *({*self.layout.rows, cell.axis} & names)}
        fitting = [e for e in of_measure if needed <= {*axes(e)} and _within(e, wanted)]
        sizes = [len(reading.grouping(e)) for e in fitting]
        return [e for e, size in zip(fitting, sizes, strict=True) if size == min(sizes)]

    @cached_property
    def row_axes(self) -> Levels:
        """The axes of the rows: unnamed axes on which estimates differ, then named axes."""
        named = {*self.layout.rows, *self.layout.where}
        columns = list(zip(self.layout.cells, self.chosen, strict=True))
        loose = [
            name
            for name in (*LOOSE, *self.read.protocol.apart)
            if name not in named and self.layout.rows
            if any(_differs(cell, estimates, name) for cell, estimates in columns)
        ]
        return (*loose, *self.layout.rows)

    @cached_property
    def placed(self) -> dict[tuple[int, Levels, Levels], list[Estimate]]:
        """The estimates, keyed by (index of the declaration, column's levels, row's levels)."""
        places: dict[tuple[int, Levels, Levels], list[Estimate]] = {}
        for place, (cell, estimates) in enumerate(zip(self.layout.cells, self.chosen, strict=True)):
            for e in estimates:
                key = (place, levels_on(e, cell.each), levels_on(e, self.row_axes))
                places.setdefault(key, []).append(e)
        return places

    def _rows(self) -> list[Levels]:
        keys = dict.fromkeys(
            row
            for place, _, row in self.placed
            if "level" not in self.layout.cells[place].show or self.layout.count
        )
        rows = sorted(keys, key=lambda row: self._order(self.row_axes, row))
        if self.layout.ranked:
            rows.sort(key=lambda row: (self._model_of(row), -self._sum(row)))
        if self.layout.top:
            of_model = groupby(rows, key=self._model_of)
            rows = [row for _, of_one in of_model for row in list(of_one)[: self.layout.top]]
        return rows

    def _model_of(self, row: Levels) -> str:
        return dict(zip(self.row_axes, row, strict=True)).get("model", "")

    def _sum(self, row: Levels) -> float:
        terms = [
            e for (_, _, place), estimates in self.placed.items() if place == row for e in estimates
        ]
        return sum(e.value or 0.0 for e in terms if e.measure == self.layout.cells[-1].measure)

    def _columns(self) -> Iterator[PaperColumn]:
        """Yields columns in printed order; adjacent declarations over equal axes alternate."""
        for each, block in groupby(enumerate(self.layout.cells), key=lambda one: one[1].each):
            cells = dict(block)
            levels_seen = {levels for place, levels, _ in self.placed if place in cells}
            for levels in (
                sorted(levels_seen, key=lambda one: self._order(each, one)) if each else [()]
            ):
                words = {n: self._level(n, x) for n, x in zip(each, levels, strict=True)}
                for place, cell in cells.items():
                    head = tuple(line.format_map(words) for line in cell.head)
                    yield PaperColumn(cell, place, levels, head)

    def _order(self, names: Sequence[str], levels: Levels) -> list[int]:
        return [self._sort_key(name, level) for name, level in zip(names, levels, strict=True)]

    def _sort_key(self, name: str, level: str) -> int:
        order = [*self.layout.names.get(name, {}), *self.read.protocol.levels.get(name, {})]
        order += self._axis_levels.get(name, ())
        return order.index(level) if level in order else len(order)

    @cached_property
    def _axis_levels(self) -> dict[str, list[str]]:
        """The levels of each axis, in the order of the estimates."""
        occurring: dict[str, dict[str, None]] = {}
        for e in (e for estimates in self.chosen for e in estimates):
            for name, level in axes(e).items():
                occurring.setdefault(name, {})[level] = None
        return {name: [*levels] for name, levels in occurring.items()}

    def _level(self, name: str, level: str) -> str:
        title = self.layout.names.get(name, {}).get(level)
        if title is not None:
            return title
        if name == "instrument":
            return self.read.instrument(level)
        words = wording.title(self.read.protocol, name, level)
        return level if words == level else reading.title(words)

    def _title(self, name: str) -> str:
        return self.layout.names.get(name, {}).get("", name)

    def _row_words(self, key: Levels) -> Levels:
        return tuple(self._level(n, x) for n, x in zip(self.row_axes, key, strict=True)) or (
            self.layout.title,
        )

    def _text(self, column: PaperColumn, key: Levels, own: Sequence[Estimate]) -> str:
        cell = column.cell
        if "level" in cell.show:
            return self._list_levels(cell, own)
        if not own:
            return numerals.NOTHING
        one = self._cell_estimate(column, key, own)
        how = replace(
            self.layout,
            show=cell.show or self.layout.show or ("value",),
            percent=cell.percent or self.layout.percent,
            signed=cell.signed,
            decimals=self.layout.decimals if cell.decimals is None else cell.decimals,
        )
        if cell.show == ("se",):
            text = self.in_words(_binomial_error(one), replace(how, show=("value",)))
        elif cell.show == ("p",):
            text = numerals.chance(one.deciding_p)
        elif cell.show == ("baseline",):
            baseline = (one.sides or {}).get("baseline")
            text = self.in_words(replace(one, value=baseline), replace(how, show=("value",)))
        else:
            text = self.in_words(one, how)
        p = one.deciding_p
        is_marked = self.layout.mark_below and p is not None and p < self.layout.mark_below
        return f"{text}{cell.after}{self._stars(column, key)}{MARK if is_marked else ''}"

    def _with_leader(
        self, columns: Sequence[PaperColumn], key: Levels, texts: Sequence[str]
    ) -> Iterator[str]:
        """Yields a row's cells; marks the highest of each row or column if the layout says so."""
        for column, text in zip(columns, texts, strict=True):
            rivals = [
                _number(estimates)
                for (place, levels, row), estimates in self.placed.items()
                if place == column.place
                if (self.layout.leader and row == key)
                or (self.layout.column_leader and levels == column.levels)
            ]
            value = _number(self.placed.get((column.place, column.levels, key), []))
            is_leader = rivals and value == max(rivals) and "level" not in column.cell.show
            yield f"{text} {OPEN_LEADER}" if is_leader else text

    def _cell_estimate(self, column: PaperColumn, key: Levels, own: Sequence[Estimate]) -> Estimate:
        """Returns the estimate of a cell; less the one at the levels in `less`, if declared."""
        (one, *_), cell = own, column.cell
        if not cell.less:
            return one
        other = replace(cell, where={**cell.where, **cell.less}, less={})
        base = [e for e in self._chosen(cell.measure, other) if levels_on(e, self.row_axes) == key]
        is_measured = one.value is not None and base and base[0].value is not None
        value = one.value - base[0].value if is_measured else None  # type: ignore[operator]
        return replace(one, value=value, p=None, p_adjusted=None)

    def _list_levels(self, cell: CellLayout, own: Sequence[Estimate]) -> str:
        """Lists the levels that a row has on an axis; "All …" if it has every level."""
        if cell.axis == "contrast":
            return ", ".join(dict.fromkeys(x for e in own for x in (e.contrast or {}).values()))
        levels = dict.fromkeys(axes(e).get(cell.axis, "") for e in own)
        every = {axes(e).get(cell.axis) for e in self.read.of(cell.measure)} - {None}
        if len(every) > 1 and every == {*levels}:
            return f"All {self._title(cell.axis)}"
        words = sorted(levels, key=lambda one: self._sort_key(cell.axis, one))
        return ", ".join(self._level(cell.axis, one) for one in words)

    def _stars(self, column: PaperColumn, key: Levels) -> str:
        stars, cell = column.cell.stars, column.cell
        if stars is None:
            return ""
        here = dict(zip((*self.row_axes, *cell.each), (*key, *column.levels), strict=True))
        if any(here.get(name) not in levels for name, levels in stars.at.items()):
            return ""
        spec = self.read.spec(stars.measure)
        if spec and spec.attribute in here:
            expected = [by[here[f]] for f, by in spec.expected.items() if here.get(f) in by]
            if expected and here[spec.attribute] not in expected:
                return ""
        tested = [
            e
            for e in self._chosen(stars.measure, CellLayout((), stars.measure, where=stars.where))
            if levels_on(e, self.row_axes) == key
        ]
        if len(tested) != 1 or (tested[0].value or 0.0) <= 0:
            return ""
        return (tested[0].stars or "")[: stars.most]


def joined(above: Shaped, below: Shaped) -> Shaped:
    """Appends the rows of `below` to `above`, matching cells by the heads of their columns."""
    wide = len(above.row_names)
    rows, estimates = list(above.rows), dict(above.estimates)
    for levels, cells in below.rows:
        cell_of = dict(zip(below.columns, cells, strict=True))
        named = (*levels, *("" for _ in range(wide - len(levels))))
        rows.append((named, tuple(cell_of.get(head, "") for head in above.columns)))
        estimates |= {
            (named, head): below.estimates[levels, head]
            for head in above.columns
            if (levels, head) in below.estimates
        }
    return replace(above, rows=tuple(rows), estimates=estimates)


def shown(layout: TableLayout, show: tuple[str, ...]) -> TableLayout:
    """Returns the layout with `show` as parts of all number cells; unchanged if `show` is empty."""
    if not show:
        return layout
    cells = (one if "level" in one.show else replace(one, show=show) for one in layout.cells)
    return replace(layout, show=show, cells=tuple(cells))


def split_layouts(layouts: Iterable[TableLayout]) -> Iterator[TableLayout]:
    """Yields the layouts; a layout with a `split` becomes one layout per level."""
    for layout in layouts:
        if not layout.split:
            yield layout
        for axis, titles in layout.split.items():
            for level, title in titles.items():
                where = {**layout.where, axis: (level,)}
                yield replace(layout, title=title, where=where, split={})


def _differs(cell: CellLayout, own: Sequence[Estimate], name: str) -> bool:
    """True if a column's estimates differ on an axis that its declaration does not name."""
    inside = name in (*cell.each, *cell.where, *cell.less) or name == cell.axis
    return not inside and len({axes(e).get(name, "") for e in own}) > 1


def _binomial_error(one: Estimate) -> Estimate:
    """Replaces a share p of n outputs by its standard error √(p(1 − p)/n), as papers print it."""
    share = one.value or 0.0
    error = math.sqrt(share * (1 - share) / one.n) if one.value is not None and one.n else None
    return replace(one, value=error, contrast=None)


def _number(own: Sequence[Estimate]) -> float:
    return -math.inf if not own or own[0].value is None else own[0].value


def _within(e: Estimate, wanted: Mapping[str, Levels]) -> bool:
    axis_levels = axes(e)
    return all(axis_levels.get(name) in levels for name, levels in wanted.items())
