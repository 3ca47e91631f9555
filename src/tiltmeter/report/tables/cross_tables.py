"""Writes estimates as a table of rows × columns, as papers print them (`placement`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import takewhile

from ...analyse.words import numerals, reading
from ...analyse.words.numerals import LEADER, OPEN_LEADER
from ...protocol import Protocol
from ...protocol.paper_tables import TableLayout
from ...records import Estimate
from ...stats.results import count_of
from ..page_model.audits import Audit, audit, number_signatures
from ..page_model.strata import significant
from .cross_table_axes import (
    FIXED,
    Levels,
    Placed,
    axes,
    check_measures,
    measures_of_tables,
    notes_on_levels,
    place,
)
from .paper_shape import MARK, Shaper, joined, shown, split_layouts


@dataclass(frozen=True, slots=True)
class CrossTable:
    """A table of text. row_names, column_names: the axes; columns: per column, its level on each
    column axis; rows: (level on each row axis, cells); hints: lines for whoever made it, which are
    not printed with it; estimates: {(row's, column's levels): estimate}."""

    title: str
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    columns: tuple[Levels, ...]
    rows: tuple[tuple[Levels, tuple[str, ...]], ...]
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    estimates: Mapping[tuple[Levels, Levels], Estimate] = field(default_factory=dict, repr=False)


def declared(
    protocol: Protocol,
    estimates: Sequence[Estimate],
    variant: str,
    name: str = "",
    show: tuple[str, ...] = (),
) -> Iterator[CrossTable]:
    """Yields the tables that a variant declares, if the run has estimates for them; or only the
    table of this name ("Figure 6", the title up to its colon). show: parts of a cell to print,
    instead of the declared parts.
    """
    measured = {estimate.measure for estimate in estimates}
    layouts = [shown(one, show) for one in split_layouts(protocol.variants[variant].tables)]
    for number, layout in enumerate(layouts, 1):
        if layout.continues or (name and layout.title.partition(":")[0] != name):
            continue
        if layout.cells:
            below = takewhile(lambda one: one.continues, layouts[number:])
            shaped = _in_paper_shape(_audit(protocol, estimates), (layout, *below))
            if shaped is not None:
                yield shaped
            continue
        measured_layout = replace(
            layout, measures=tuple(n for n in layout.measures if n in measured)
        )
        if measured_layout.measures:
            yield cross_table(protocol, estimates, measured_layout)


def _audit(protocol: Protocol, estimates: Sequence[Estimate]) -> Audit:
    return audit(protocol, estimates, number_signatures(e.signature for e in estimates))


def _in_paper_shape(read: Audit, layouts: Sequence[TableLayout]) -> CrossTable | None:
    """Makes a table as the paper prints it, with its continuations; None without estimates."""

    def in_words(estimate: Estimate, how: TableLayout) -> str:
        return _cell(read, estimate, how)

    parts = [Shaper(read, layout, in_words).table() for layout in layouts]
    shaped = [part for part in parts if part is not None]
    if not shaped or parts[0] is None:
        return None
    whole, (layout, *_) = reduce(joined, shaped), layouts
    estimates = list(whole.estimates.values())
    return CrossTable(
        title=layout.title,
        row_names=whole.row_names,
        column_names=tuple("" for _ in layout.cells[0].head),
        columns=whole.columns,
        rows=whole.rows,
        notes=tuple(_paper_notes(layout, whole.rows, estimates)),
        signatures=tuple(dict.fromkeys(e.signature for e in estimates if e.signature)),
        estimates=whole.estimates,
    )


def _paper_notes(
    layout: TableLayout, rows: Sequence[object], shown: Sequence[Estimate]
) -> Iterator[str]:
    """Yields notes on the number of rows of a list of cases, on stars, and on marks."""
    if layout.count:
        yield f"{count_of(len(rows), layout.count)}."
    if any(cell.stars or "stars" in cell.show for cell in layout.cells):
        yield f"{_stars(shown)}."
    if layout.leader or layout.column_leader:
        yield f"{OPEN_LEADER}: the highest of its {'row' if layout.leader else 'column'}."
    if layout.mark_below:
        bound = numerals.fixed_decimals(layout.mark_below, 2).removeprefix("0")
        yield f"{MARK} p < {bound}."


def _stars(estimates: Sequence[Estimate]) -> str:
    is_adjusted = any(e.p_adjusted is not None for e in estimates)
    return f"* p < .05, ** p < .01, *** p < .001, {'adjusted' if is_adjusted else 'not adjusted'}"


def cross_table(
    protocol: Protocol, estimates: Sequence[Estimate], layout: TableLayout
) -> CrossTable:
    """Makes the table of a layout. Raises UnknownName for a measure without estimates or an axis
    that the estimates lack, UsageError if no estimate is left.
    """
    check_measures(estimates, layout.measures)
    read = _audit(protocol, estimates)
    rows = [e for name in layout.measures for e in read.of(name)]
    return _in_words(read, place(read, rows, layout), layout)


def cross_tables(
    protocol: Protocol, estimates: Sequence[Estimate], layout: TableLayout
) -> list[CrossTable]:
    """Makes the table of a layout; without named axes one per measures that share a factor. Raises
    as `cross_table`.
    """
    check_measures(estimates, layout.measures)
    apart = measures_of_tables(_audit(protocol, estimates), estimates, layout)
    return [cross_table(protocol, estimates, replace(layout, measures=names)) for names in apart]


def _in_words(read: Audit, placed: Placed, layout: TableLayout) -> CrossTable:
    """Writes the arranged estimates as text; rows and columns are in the design's order."""
    order = _Order(read, list(placed.cells.values()))
    rows = order.sorted(placed.rows, {row for row, _ in placed.cells})
    columns = order.sorted(placed.columns, {column for _, column in placed.cells})
    if layout.ranked:
        rows = sorted(rows, key=lambda row: -_sum(placed, row))
    leads = _leading(read, placed, rows, columns) if layout.leader else {}
    body = [
        (
            _level_names(order, placed.rows, row),
            tuple(
                _cell(read, placed.cells.get((row, column)), layout) + leads.get((row, column), "")
                for column in columns
            ),
        )
        for row in rows
    ]
    return CrossTable(
        title=layout.title or _title(read, layout, placed),
        row_names=placed.rows,
        column_names=placed.columns,
        columns=tuple(_level_names(order, placed.columns, column) for column in columns),
        rows=tuple(body),
        notes=(
            *_notes(read, list(placed.cells.values()), layout),
            *notes_on_levels(placed, layout),
        ),
        signatures=tuple(dict.fromkeys(e.signature for e in placed.cells.values() if e.signature)),
        hints=placed.hints,
        estimates={
            (_level_names(order, placed.rows, row), _level_names(order, placed.columns, column)): e
            for (row, column), e in placed.cells.items()
        },
    )


def _title(read: Audit, layout: TableLayout, placed: Placed) -> str:
    shown = {e.measure for e in placed.cells.values()}
    specs = [(name, read.spec(name)) for name in layout.measures if name in shown]
    return "; ".join(
        reading.title(spec.text if spec and spec.text else name) for name, spec in specs
    )


def _value(estimate: Estimate | None) -> float:
    return float("-inf") if estimate is None or estimate.value is None else estimate.value


def _sum(placed: Placed, row: Levels) -> float:
    """Sums a row's values; −∞ if it has no value."""
    in_row = (e.value for (place, _), e in placed.cells.items() if place == row)
    values = [value for value in in_row if value is not None]
    return sum(values) if values else float("-inf")


@dataclass(frozen=True, slots=True)
class _Order:
    """The order of levels: the design's, then the measures' values, then first appearance."""

    read: Audit
    estimates: Sequence[Estimate]

    def sorted(self, names: Sequence[str], keys: set[Levels]) -> list[Levels]:
        """Sorts keys by the order of levels on each axis."""
        places = [self._places(name) for name in names]
        return sorted(
            keys,
            key=lambda key: [p.get(level, len(p)) for p, level in zip(places, key, strict=True)],
        )

    def name(self, axis: str, level: str) -> str:
        """Returns a level as the table shows it: only an instrument loses its hash."""
        return self.read.instrument(level) if axis == "instrument" else level

    def _places(self, name: str) -> dict[str, int]:
        levels = dict.fromkeys(axes(e).get(name, "") for e in self.estimates)
        counted = self.read.protocol.crosstab
        given = counted.get("levels", ()) if counted and counted["columns"] == name else ()
        design = [*given, *self.read.protocol.levels.get(name, {})]
        among = dict.fromkeys(
            value
            for spec in self.read.protocol.measures
            if spec.attribute == name
            for value in (*spec.among, *spec.values)
        )
        return {level: n for n, level in enumerate(dict.fromkeys([*design, *among, *levels]))}


def _leading(
    read: Audit, placed: Placed, rows: Sequence[Levels], columns: Sequence[Levels]
) -> dict[tuple[Levels, Levels], str]:
    """Marks a row's highest cells, per block of columns that differ only in the last axis."""
    tests = _leader_tests(read, next(iter(placed.cells.values())))
    leaders = {}
    for row in rows:
        for block in dict.fromkeys(column[:-1] for column in columns):
            cells = {c: placed.cells.get((row, c)) for c in columns if c[:-1] == block}
            most = max(map(_value, cells.values()))
            for column, estimate in cells.items():
                if estimate is not None and _value(estimate) == most > 0:
                    are_tested = any(
                        tests.get((reading.stratum(estimate), a)) for a in axes(estimate).items()
                    )
                    leaders[row, column] = f" {LEADER if are_tested else OPEN_LEADER}"
    return leaders


def _leader_tests(
    read: Audit, like: Estimate
) -> dict[tuple[reading.Stratum, tuple[str, str]], bool]:
    """Returns {(stratum, value): True if groups differ significantly}, from a "leader" measure."""
    spec = read.spec(like.measure)
    return {
        (reading.stratum(e), (other.attribute, e.condition.get(other.attribute, ""))): significant(
            e
        )
        for other in read.protocol.measures
        if spec and other.kind == "leader"
        if (other.attribute, other.among) == (spec.attribute, spec.among)
        for e in read.of(other.name)
        if e.p is not None
    }


def _level_names(order: _Order, names: Levels, levels: Levels) -> Levels:
    return tuple(order.name(name, level) for name, level in zip(names, levels, strict=True))


def _cell(read: Audit, estimate: Estimate | None, layout: TableLayout) -> str:
    """Writes a cell; a dash if there is no estimate or it has no value."""
    if estimate is None or estimate.value is None:
        return numerals.NOTHING
    show = layout.show or (("value",) if estimate.low is None else ("value", "interval"))
    spec, places = read.spec(estimate.measure), layout.decimals
    signed = reading.is_signed(spec, estimate) if layout.signed is None else layout.signed
    texts = {
        "value": _number(estimate.value, estimate.unit, signed, layout),
        "interval": _interval_text(estimate, signed, layout),
        "stars": estimate.stars or "",
        "p": f"p {numerals.chance(estimate.deciding_p)}",
        "n": f"(n {numerals.count(estimate.n)})",
    }
    if places is None and not layout.percent:
        texts["value"] = reading.value(estimate, spec)
        texts["interval"] = reading.interval(estimate, spec)
    if estimate.low is None and estimate.high is None:
        texts["interval"] = ""
    if estimate.deciding_p is None:
        texts["p"] = ""
    text = ""
    for part in show:
        text += texts[part] if part == "stars" or not text or not texts[part] else f" {texts[part]}"
    return text or numerals.NOTHING


def _number(value: float | None, unit: str, signed: bool, layout: TableLayout) -> str:
    is_fixed = layout.leading_zero and layout.decimals is not None
    if (layout.percent or is_fixed) and unit == "share" and value is not None:
        places = 1 if layout.decimals is None else layout.decimals
        scaled = (100 if layout.percent else 1) * value
        text = numerals.fixed_decimals(scaled, places, layout.half_even)
        return f"+{text}" if signed and value > 0 else text
    return numerals.quantity(value, unit, signed, layout.decimals)


def _interval_text(estimate: Estimate, signed: bool, layout: TableLayout) -> str:
    low, high = (
        _number(end, estimate.unit, signed, layout) for end in (estimate.low, estimate.high)
    )
    return f"[{low}, {high}]"


def _notes(read: Audit, estimates: Sequence[Estimate], layout: TableLayout) -> Iterator[str]:
    """Yields the notes that explain the cells."""
    shared = [
        (name, {axes(e).get(name, "") for e in estimates}) for name in FIXED if name != "measure"
    ]
    for name, levels in shared:
        level = next(iter(levels), "")
        if len(levels) == 1 and level:
            yield f"{name}: {read.instrument(level) if name == 'instrument' else level}."
    if layout.percent and any(e.unit == "share" for e in estimates):
        yield "Shares in per cent."
    confidence = {e.confidence for e in estimates if e.confidence and e.low is not None}
    if len(confidence) == 1 and "interval" in (layout.show or ("interval",)):
        yield f"[ ]: {100 * confidence.pop():g} % intervals."
    if "stars" in layout.show:
        yield f"{_stars(estimates)}; no star: no difference found at this n, or not tested."
    is_tested = any(_leader_tests(read, e) for e in estimates[:1])
    if layout.leader and not is_tested:
        yield f"{OPEN_LEADER}: the highest of its row; no test was made."
    elif layout.leader:
        yield (
            f"{LEADER} {OPEN_LEADER}: the highest of its row; {LEADER} where the columns of the "
            "row differ after adjustment (p < .05)."
        )
    if any(e.value is None for e in estimates):
        yield f"{numerals.NOTHING}: not measured."
