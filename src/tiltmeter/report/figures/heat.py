"""Heat map: rows × columns × value, each cell with its number and n, coloured around the null value
if there is one.

Columns are the last factor of the measure's grouping; rows are the other factors and the value.
Each stratum has a map. If no grouping has more than one factor, the columns are the strata.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...analyse.claims.output_query import query_of
from ...analyse.words import numerals, reading
from ...protocol import MeasureSpec
from ...records import Estimate
from ..page_model import audits, strata
from ..page_model.audits import Audit
from ..page_model.figures import Heat, HeatCell

ROWS, COLUMNS = 60, 8  # of a map; more rows have no map, more columns a further one
OPEN = 6  # maps of a measure that are not folded
STEPS = 4  # of the scale on each side of the null value; twice as many where there is none
RATIO, DIFFERENCE = 4.0, 0.5  # ends of the scales of ratios and of differences of shares
Name = Callable[[Estimate], str]


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of one map. across: the columns' name; rows: row → column → estimate; scaled: all
    estimates that share the colour scale; words: number and symbol per (row, column), if they
    differ from the default.
    """

    across: str
    rows: dict[str, dict[str, Estimate]]
    scaled: list[Estimate]
    words: Mapping[tuple[str, str], tuple[str, str]] | None = None

    def shown(self) -> list[Estimate]:
        """Returns the estimates of all cells."""
        return [e for row in self.rows.values() for e in row.values()]


def build(audit: Audit, spec: MeasureSpec, prefix: str) -> Iterator[Heat]:
    """Yields the heat maps of a measure, wide ones in several parts."""
    maps = [
        (by, stratum, grid)
        for by in _groupings(spec)
        for stratum, grid in _grids(audit, spec, by)
        if 0 < len(grid.rows) <= ROWS
    ]
    place = 0
    for by, stratum, grid in maps:
        names = list(dict.fromkeys(name for row in grid.rows.values() for name in row))
        parts = [names[start : start + COLUMNS] for start in range(0, len(names), COLUMNS)]
        for number, columns in enumerate(parts, 1):
            place += 1
            name = audits.slug(prefix, spec.name, *by, "figure", place)
            detail = [f"by {', '.join(by)}"] if len({one for one, _, _ in maps}) > 1 else []
            title = strata.heading(
                spec, ", ".join([*detail, *filter(None, [stratum])]), number, len(parts)
            )
            table = strata.table_id(audit, spec, reading.grouping(grid.shown()[0]), prefix)
            figure = heat(audit, spec, grid, columns)
            yield replace(figure, id=name, title=title, table=table, folded=place > OPEN)


def _groupings(spec: MeasureSpec) -> list[tuple[str, ...]]:
    """Lists the groupings that give both rows and columns; all groupings if there are none."""
    is_per_value = spec.values == ("*",)
    return [by for by in spec.by if len(by) + is_per_value > 1 and by] or list(spec.by)


def _grids(audit: Audit, spec: MeasureSpec, by: tuple[str, ...]) -> Iterator[tuple[str, Grid]]:
    """Yields (stratum's label, map) per stratum; or ("", a map with the strata as columns)."""
    is_per_value = spec.values == ("*",)
    rows = [e for e in audit.of(spec.name) if reading.grouping(e)[: len(by)] == by]
    rows = [e for e in rows if len(reading.grouping(e)) == len(by) + is_per_value]
    if not rows:
        return
    if not by or len(by) + is_per_value < 2:
        names = strata.labels(audit, rows)
        yield (
            "",
            _grid(
                strata.differing(audit, rows),
                (rows, rows),
                lambda e: names[reading.stratum(e)],
                reading.group_label,
            ),
        )
        return
    column, present, labels = by[-1], strata.present(audit, rows), strata.labels(audit, rows)
    rows, silent = _order_columns(audit, rows, column), {column, *_implied_factors(rows, by)}
    for stratum in present:
        of_stratum = [e for e in rows if reading.stratum(e) == stratum]
        words = labels[stratum] if len(present) > 1 else ""
        yield (
            words,
            _grid(
                column,
                (of_stratum, rows),
                lambda e: reading.group(e)[column],
                lambda e: _row(e, silent),
            ),
        )


def _grid(across: str, of: tuple[list[Estimate], list[Estimate]], column: Name, row: Name) -> Grid:
    """Arranges estimates by row and column. of: (estimates to show, all estimates on the scale)."""
    visible, scaled = of
    cells: dict[str, dict[str, Estimate]] = {}
    for e in visible:
        cells.setdefault(row(e) or "all", {})[column(e)] = e
    return Grid(across, cells, scaled)


def _order_columns(audit: Audit, found: list[Estimate], column: str) -> list[Estimate]:
    """Sorts estimates by the design's order of the columns' levels."""
    order = audit.protocol.levels.get(column, {})
    return sorted(found, key=lambda e: order.get(reading.group(e)[column], len(order)))


def _implied_factors(found: Sequence[Estimate], by: Sequence[str]) -> set[str]:
    """Returns the factors that the column's level implies; rows need not show them."""
    implied = set()
    for name in by[:-1]:
        levels: dict[str, set[str]] = {}
        for e in found:
            levels.setdefault(reading.group(e)[by[-1]], set()).add(reading.group(e)[name])
        has_several = len({level for each in levels.values() for level in each}) > 1
        if has_several and all(len(each) == 1 for each in levels.values()):
            implied.add(name)
    return implied if len(implied) < len(by) - 1 else set()


def _row(estimate: Estimate, silent: set[str]) -> str:
    return ", ".join(level for name, level in reading.group(estimate).items() if name not in silent)


def heat(
    audit: Audit,
    spec: MeasureSpec,
    grid: Grid,
    columns: Sequence[str],
) -> Heat:
    """Returns one map, on the scale that all maps of the measure share (`grid.scaled`)."""
    level, scale = scale_of(spec, [e.value for e in grid.scaled if e.value is not None])
    leaders = _leaders(audit, spec)

    def cell(row: str, column: str) -> HeatCell | None:
        e = grid.rows[row].get(column)
        if e is None or e.value is None:
            return None
        number = _words(spec, e.value, signed=reading.is_signed(spec, e))
        words = grid.words[row, column] if grid.words else (number, _symbol(e, spec, leaders))
        is_bold = spec.null is None or e.p is None or strata.significant(e)
        query = query_of(audit.protocol, e).text()
        return HeatCell(
            level(e.value) if is_bold else 0, words[0], numerals.count(e.n), words[1], query
        )

    cells = {row: tuple(cell(row, column) for column in columns) for row in grid.rows}
    lines = [
        f"{row}, {column}: {one.text}{one.symbol} (n {one.n})"
        if one
        else f"{row}, {column}: nothing measured"
        for row, line in cells.items()
        for column, one in zip(columns, line, strict=True)
    ]
    has_hole = any(one is None for line in cells.values() for one in line)
    return Heat(
        id="",
        title="",
        text=strata.describe_figure(spec, lines),
        note=strata.alone(strata.labels(audit, grid.scaled)) + _note(spec, bool(leaders), has_hole),
        across=grid.across,
        columns=tuple(columns),
        rows=tuple(cells.items()),
        diverging=spec.null is not None,
        scale=scale,
    )


def scale_of(
    spec: MeasureSpec, values: Sequence[float]
) -> tuple[Callable[[float], int], tuple[tuple[int, str], ...]]:
    """Returns (value → colour level, labels of the ends and of the null value). `_reach` gives the
    ends; values beyond an end have its colour. Ratios are scaled by their logarithm.
    """
    is_ratio = spec.unit in numerals.RATIOS
    sizes = [math.log(v) if is_ratio else v for v in values if v > 0 or not is_ratio] or [0.0]
    base = (
        (math.log(spec.null) if is_ratio else spec.null)
        if spec.null is not None
        else min(0.0, *sizes, 0.0)
    )
    reach = _reach(spec, base, max((abs(v - base) for v in sizes), default=0.0) or 1.0)
    steps = STEPS if spec.null is not None else 2 * STEPS

    def level(value: float) -> int:
        inner = (math.log(value) if value > 0 else base - reach) if is_ratio else value
        return max(-steps, min(steps, round((inner - base) / reach * steps)))

    def words(inner: float) -> str:
        return _words(spec, math.exp(inner) if is_ratio else inner, signed=spec.signed)

    at_most, at_least = ("≤ ", "≥ ") if is_ratio or _is_difference(spec) else ("", "")
    ends = ((steps, at_least + words(base + reach)),)
    null = words(base)
    return level, (
        (-steps, at_most + words(base - reach)),
        (0, null),
        *ends,
    ) if spec.null is not None else (
        (0, null),
        *ends,
    )


def _words(spec: MeasureSpec, value: float, *, signed: bool) -> str:
    """Formats a number for a cell: a share in per cent, a difference in points."""
    if spec.unit != "share":
        return numerals.quantity(value, spec.unit, signed, 2)
    if not signed:
        return numerals.percent(value)
    size = numerals.fixed_decimals(abs(100 * value), numerals.point_places(value))
    return f"{numerals.sign(value)}{size}"


def _reach(spec: MeasureSpec, base: float, largest: float) -> float:
    """Returns the distance of the last colour from the null value: the possible range for shares
    and divergences, .5 for differences of shares, log 4 for ratios, and the largest observed
    distance for other units.
    """
    if spec.unit in numerals.RATIOS:
        return math.log(RATIO)
    if _is_difference(spec):
        return DIFFERENCE
    if spec.unit == "share" or spec.unit in numerals.DIVERGENCES:
        return 1.0 - base if spec.null is None or spec.unit != "share" else max(base, 1.0 - base)
    return largest


def _is_difference(spec: MeasureSpec) -> bool:
    return spec.unit == "share" and spec.null == 0 and spec.signed


def _leaders(audit: Audit, spec: MeasureSpec) -> dict[object, bool]:
    """Returns {(stratum, group): True if the leading level is significant}, from a "leader" measure
    of the same labels; {} if the measure has its own test.
    """
    if spec.null is not None:
        return {}
    return {
        (reading.stratum(e), reading.key(e)): strata.significant(e)
        for other in audit.protocol.measures
        if other.kind == "leader" and (other.attribute, other.among) == (spec.attribute, spec.among)
        for e in audit.of(other.name)
    }


def _symbol(estimate: Estimate, spec: MeasureSpec, leaders: dict[object, bool]) -> str:
    leads = leaders.get((reading.stratum(estimate), reading.key(estimate)))
    if leads is not None:
        return "▲" if leads else "△"
    if spec.null is None or estimate.value is None or not strata.significant(estimate):
        return ""
    return "▲" if estimate.value > spec.null else "▼"


def _note(spec: MeasureSpec, leaders: bool, holes: bool) -> str:
    sentence = "In a cell: the value, and n under it."
    if spec.null is not None:
        sentence += (
            f" ▲ ▼: above or below {_words(spec, spec.null, signed=spec.signed)} after adjustment "
            f"({strata.level()}); "
        )
        sentence += "white without a symbol: no difference found at this n."
    elif leaders:
        sentence += (
            " ▲ △: the highest of its row; ▲ where the row's columns differ after adjustment "
            f"({strata.level()})."
        )
    return sentence + (" Hatched: nothing measured." if holes else "")
