"""Assigns each estimate a row and a column of a cross table.

An estimate has a level on each of its *axes*: model, instrument, mode, language, measure, the
factors of its group, and those of its contrast. A table lays some axes out as rows, others as
columns. Nothing is pooled or dropped silently: an axis on which estimates differ becomes one of the
rows if the table does not name it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...analyse.words import reading
from ...errors import UnknownName, UsageError
from ...protocol.paper_tables import SHOWN, TableLayout
from ...records import Estimate
from ..page_model.audits import Audit

ALIASES = {"subject": "model", "annotator": "instrument"}
FIXED = ("model", "instrument", "mode", "language", "measure")  # axes that every table may name
WIDEST = 4  # columns of a table of one row: more levels become its rows

Levels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """The estimates of a table, keyed by (row's levels, column's levels). hints: what the table
    leaves out, and what to type for it."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[Levels, Levels], Estimate]
    hints: tuple[str, ...] = ()


def place(read: Audit, estimates: Sequence[Estimate], layout: TableLayout) -> Placed:
    """Arranges the estimates that a layout selects by row and column. Raises UnknownName for an
    axis that the estimates lack, UsageError if no estimate is left.
    """
    layout = _with_names(layout)
    return _place(read, _in_where(estimates, layout), layout)


def _with_names(layout: TableLayout) -> TableLayout:
    """Resolves aliases of axes in a layout. Raises UsageError if an axis is named twice,
    UnknownName for an unknown cell part.
    """
    rows, columns = (
        tuple(ALIASES.get(name, name) for name in names) for names in (layout.rows, layout.columns)
    )
    twice = [name for n, name in enumerate((*rows, *columns)) if name in (*rows, *columns)[:n]]
    if twice:
        raise UsageError(f"Axis '{twice[0]}' is named twice. Name it in --rows or in --columns.")
    for part in layout.show:
        if part not in SHOWN:
            raise UnknownName("cell part", part, SHOWN)
    where = {ALIASES.get(name, name): levels for name, levels in layout.where.items()}
    return replace(layout, rows=rows, columns=columns, where=where)


def axes(estimate: Estimate) -> dict[str, str]:
    """Returns the level of each axis of an estimate."""
    inner = {name: level for name, level in estimate.condition.items() if level}
    outer = {"model": estimate.subject, "instrument": estimate.instrument}
    return {**outer, **inner, **(estimate.contrast or {}), "measure": estimate.measure}


def _in_where(estimates: Sequence[Estimate], layout: TableLayout) -> list[Estimate]:
    """Keeps estimates at the layout's levels. Raises UnknownName for an unknown axis or level,
    UsageError if no estimate is at all of them.
    """
    for name, levels in layout.where.items():
        seen = list(dict.fromkeys(axes(e)[name] for e in estimates if name in axes(e)))
        if not seen:
            raise UnknownName("axis", name, _all_axes(estimates))
        for level in levels:
            if level not in seen:
                raise UnknownName(name, level, seen)
    inside = [
        e
        for e in estimates
        if all(axes(e).get(name) in levels for name, levels in layout.where.items())
    ]
    if not inside:
        raise UsageError(
            f"No estimate of {', '.join(layout.measures)} is at {_words(layout.where)} together. "
            "Give one --where fewer."
        )
    return inside


def _words(where: Mapping[str, Sequence[str]]) -> str:
    return " and ".join(f"{name}={','.join(levels)}" for name, levels in where.items())


def _all_axes(estimates: Sequence[Estimate]) -> list[str]:
    return list(dict.fromkeys(name for e in estimates for name in axes(e)))


def _place(read: Audit, estimates: Sequence[Estimate], layout: TableLayout) -> Placed:
    """Arranges the estimates of the layout's grouping by row and column."""
    named = {*layout.rows, *layout.columns}
    for name in named - {*FIXED}:
        if not any(name in axes(e) for e in estimates):
            raise UnknownName("axis", name, _all_axes(estimates))
    groupings = _groupings(read, estimates, layout)
    placed = _of_one_grouping(read, estimates, layout, groupings)
    differing = [
        name for name in _all_axes(placed) if len({axes(e).get(name, "") for e in placed}) > 1
    ]
    loose = [name for name in differing if name not in named]
    rows, columns = layout.rows, layout.columns
    if not columns:
        columns = (_default_column(read, layout, loose),)
        loose = [name for name in loose if name not in columns]
        levels = {axes(e).get(columns[0], "") for e in placed}
        if not (rows or loose or layout.leader) and len(levels) > WIDEST:
            rows, columns = columns, ("measure",)
    for name in list(loose):
        others = [other for other in loose if other != name]
        if _is_implied(placed, name, (*others, *rows, *columns)):
            loose = others
    rows = (*loose, *rows)
    rows, columns = (_without_single(placed, names) for names in (rows, columns))
    cells = {(levels_on(e, rows), levels_on(e, columns)): e for e in placed}
    return Placed(rows, columns, cells, tuple(_hints(layout, placed, groupings)))


def _hints(
    layout: TableLayout, placed: Sequence[Estimate], groupings: Mapping[str, Sequence[Levels]]
) -> Iterator[str]:
    """Yields a line per measure that the table lacks, and one on the other groupings."""
    present = {e.measure for e in placed}
    axis = ", ".join(name for name in (*layout.rows, *layout.columns) if name not in FIXED)
    lacks = f"at {_words(layout.where)}" if layout.where else f"by {axis}"
    for name in layout.measures:
        if name not in present:
            yield f"{name} has no estimate {lacks}: it is not in this table."
    others = [",".join(of) for several in groupings.values() for of in several[1:] if of]
    for names in dict.fromkeys(others):
        yield f"The numbers by {names.replace(',', ', ')}: --rows {names}"


def _without_single(found: Sequence[Estimate], names: Levels) -> Levels:
    """Drops stratum axes with a single level, which a note states; keeps at least the last axis."""
    several = [
        name
        for name in names
        if name not in FIXED or len({axes(e).get(name, "") for e in found}) > 1
    ]
    return tuple(several) or names[-1:]


def _default_column(read: Audit, layout: TableLayout, loose: Sequence[str]) -> str:
    """Returns the last differing factor; else a counted attribute; else another axis."""
    values = {spec.attribute for name in layout.measures if (spec := read.spec(name))}
    last = [name for name in loose if name not in (*FIXED, *values)]
    return (last or [name for name in loose if name in values] or list(loose) or ["measure"])[-1]


def _is_implied(found: Sequence[Estimate], name: str, others: Sequence[str]) -> bool:
    """True if the levels on the other axes determine the level on this axis."""
    implied: dict[Levels, set[str]] = {}
    for e in found:
        implied.setdefault(levels_on(e, others), set()).add(axes(e).get(name, ""))
    return bool(others) and all(len(levels) == 1 for levels in implied.values())


def check_measures(estimates: Sequence[Estimate], names: Sequence[str]) -> None:
    """Raises UnknownName for a measure without estimates."""
    present = dict.fromkeys(e.measure for e in estimates)
    for name in names:
        if name not in present:
            raise UnknownName("measure with estimates", name, present)


def notes_on_levels(placed: Placed, layout: TableLayout) -> Iterator[str]:
    """Yields a note on each factor of which a level was chosen, unless an axis shows it."""
    for name, levels in layout.where.items():
        if name not in (*FIXED, *ALIASES, *placed.rows, *placed.columns):
            yield f"{name}: {', '.join(levels)}."


def measures_of_tables(
    read: Audit, estimates: Sequence[Estimate], layout: TableLayout
) -> list[tuple[str, ...]]:
    """Returns the measures of each table: apart if they share no factor, as their cells would be
    empty in each other's rows; together if axes are named.
    """
    layout = _with_names(layout)
    if layout.rows or layout.columns:
        return [layout.measures]
    inside = _in_where(estimates, layout)
    groupings = _groupings(read, inside, layout)
    together: dict[Levels, list[str]] = {}
    for measure in sorted(layout.measures, key=lambda name: not groupings[name]):
        contrast = next((e.contrast for e in inside if e.measure == measure), None) or {}
        several = groupings[measure] or [next(iter(together), ())]
        factors = (*several[0], *contrast)
        alike = (names for names in together if {*factors} & {*names} or factors == names)
        together.setdefault(next(alike, factors), []).append(measure)
    return [*map(tuple, together.values())]


def _groupings(
    read: Audit, estimates: Sequence[Estimate], layout: TableLayout
) -> dict[str, list[Levels]]:
    """Returns per measure its coarsest groupings by all named axes; first the one to show: one that
    all measures have, else the first declared.
    """
    named = {*layout.rows, *layout.columns} - {*FIXED}
    is_whole = not named and not {*layout.where} - {*FIXED}
    coarsest: dict[str, list[Levels]] = {}
    for measure in layout.measures:
        rows = [e for e in estimates if e.measure == measure and named <= {*axes(e)}]
        all_of_it = list(dict.fromkeys(_factors(read, e) for e in rows))
        sizes = [len(names) for names in all_of_it if not is_whole or names]
        least = min(sizes, default=0)
        coarsest[measure] = [names for names in all_of_it if len(names) == least]
    shared = [names for names in map(set, coarsest.values()) if names]
    common = set.intersection(*shared) if shared else set()
    return {
        measure: sorted(several, key=lambda names: names not in common)
        for measure, several in coarsest.items()
    }


def _of_one_grouping(
    read: Audit,
    estimates: Sequence[Estimate],
    layout: TableLayout,
    groupings: Mapping[str, Sequence[Levels]],
) -> list[Estimate]:
    """Returns the estimates with all named axes; per measure, only of its first grouping."""
    named = {*layout.rows, *layout.columns} - {*FIXED}
    chosen = [
        e
        for measure in layout.measures
        for e in estimates
        if e.measure == measure and named <= {*axes(e)}
        if _factors(read, e) == groupings[measure][0]
    ]
    if not chosen:
        words = "; ".join(
            dict.fromkeys(", ".join(_factors(read, e)) or "the whole" for e in estimates)
        )
        raise UsageError(
            f"No estimate of {', '.join(layout.measures)} has {', '.join(sorted(named))} together. "
            f"Name factors that occur together: {words}."
        )
    return chosen


def _factors(read: Audit, estimate: Estimate) -> tuple[str, ...]:
    """Returns the factors of an estimate's group, apart from the attribute that it counts."""
    spec = read.spec(estimate.measure)
    attribute = spec.attribute if spec else ""
    return tuple(name for name in reading.grouping(estimate) if name != attribute)


def levels_on(estimate: Estimate, names: Sequence[str]) -> Levels:
    """Returns the levels of an estimate on some axes, "" on an axis that it lacks."""
    levels = axes(estimate)
    return tuple(levels.get(name, "") for name in names)
