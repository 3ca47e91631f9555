"""Estimates → a table of rows × columns, as papers print them.

An estimate has a level of each of its *axes*: model, instrument, mode, language, measure, the
factors of its group, and what its contrast names. A table lays some of them out as rows, others as
columns. Nothing is pooled or dropped in silence: an axis that differs and is not named becomes one
of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..analyse import numerals, reading
from ..errors import UnknownName, UsageError
from ..protocol import Protocol
from ..protocol.paper_tables import SHOWN, TableLayout
from ..records import Estimate
from .audits import Audit, audit, number_signatures
from .figures.strata import significant

ALIASES = {"subject": "model", "annotator": "instrument"}
FIXED = ("model", "instrument", "mode", "language", "measure")  # axes that every table may name
LEADER, OPEN_LEADER = "▲", "△"  # the highest of a row whose columns differ, or are not told apart

Levels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CrossTable:
    """Cells are text. row_names, column_names: the axes; columns: a level of each column axis for
    each column; rows: (a level of each row axis, the cells). estimates: by the levels of their row
    and their column.
    """

    title: str
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    columns: tuple[Levels, ...]
    rows: tuple[tuple[Levels, tuple[str, ...]], ...]
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    estimates: Mapping[tuple[Levels, Levels], Estimate] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class _Placed:
    """The estimates of a table by their place in it."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[Levels, Levels], Estimate]


def declared(
    protocol: Protocol, estimates: Sequence[Estimate], variant: str, name: str = ""
) -> Iterator[CrossTable]:
    """The tables that a variant declares, as far as the run has estimates for them; or the one of
    this name ("Figure 6", what stands before the colon of its title).
    """
    measured = {estimate.measure for estimate in estimates}
    for layout in protocol.variants[variant].tables:
        if name and layout.title.partition(":")[0] != name:
            continue
        known = replace(layout, measures=tuple(n for n in layout.measures if n in measured))
        if known.measures:
            yield cross_table(protocol, estimates, known)


def cross_table(
    protocol: Protocol, estimates: Sequence[Estimate], layout: TableLayout
) -> CrossTable:
    """The table of a layout. UnknownName for a measure that the run has no estimates of or an axis
    that they do not have; UsageError where nothing is left.
    """
    layout = _with_names(layout)
    read = audit(protocol, estimates, number_signatures(e.signature for e in estimates))
    known = dict.fromkeys(e.measure for e in estimates)
    for name in layout.measures:
        if name not in known:
            raise UnknownName("measure with estimates", name, known)
    kept = [e for name in layout.measures for e in read.of(name)]
    placed = _place(read, _in_where(kept, layout), layout)
    return _in_words(read, placed, layout)


def _with_names(layout: TableLayout) -> TableLayout:
    """The layout with the names that axes have here; UsageError for one named twice or for a part
    of a cell that there is none of.
    """
    rows, columns = (
        tuple(ALIASES.get(name, name) for name in names) for names in (layout.rows, layout.columns)
    )
    twice = [name for n, name in enumerate((*rows, *columns)) if name in (*rows, *columns)[:n]]
    if twice:
        raise UsageError(f"'{twice[0]}' is named twice. Name it in --rows or in --columns.")
    for part in layout.show:
        if part not in SHOWN:
            raise UnknownName("part of a cell", part, SHOWN)
    where = {ALIASES.get(name, name): levels for name, levels in layout.where.items()}
    return replace(layout, rows=rows, columns=columns, where=where)


def axes(estimate: Estimate) -> dict[str, str]:
    """The level of each axis of an estimate."""
    inner = {name: level for name, level in estimate.condition.items() if level}
    own = {"model": estimate.subject, "instrument": estimate.instrument}
    return {**own, **inner, **(estimate.contrast or {}), "measure": estimate.measure}


def _in_where(estimates: Sequence[Estimate], layout: TableLayout) -> list[Estimate]:
    """The estimates at the levels that are kept."""
    for name, levels in layout.where.items():
        seen = list(dict.fromkeys(axes(e)[name] for e in estimates if name in axes(e)))
        if not seen:
            raise UnknownName("axis", name, _all_axes(estimates))
        for level in levels:
            if level not in seen:
                raise UnknownName(name, level, seen)
    return [
        e
        for e in estimates
        if all(axes(e).get(name) in levels for name, levels in layout.where.items())
    ]


def _all_axes(estimates: Sequence[Estimate]) -> list[str]:
    return list(dict.fromkeys(name for e in estimates for name in axes(e)))


def _place(read: Audit, estimates: Sequence[Estimate], layout: TableLayout) -> _Placed:
    """Each estimate of the grouping that the layout asks for, at its row and column."""
    named = {*layout.rows, *layout.columns}
    for name in named - {*FIXED}:
        if not any(name in axes(e) for e in estimates):
            raise UnknownName("axis", name, _all_axes(estimates))
    found = _of_one_grouping(read, estimates, layout)
    differing = [
        name for name in _all_axes(found) if len({axes(e).get(name, "") for e in found}) > 1
    ]
    loose = [name for name in differing if name not in named]
    rows, columns = layout.rows, layout.columns
    if not columns:
        columns = (_default_column(read, layout, loose),)
        loose = [name for name in loose if name not in columns]
    for name in list(loose):
        others = [other for other in loose if other != name]
        if _implied(found, name, (*others, *rows, *columns)):
            loose = others
    rows = (*loose, *rows)
    rows, columns = (_without_single(found, names) for names in (rows, columns))
    cells = {(_levels(e, rows), _levels(e, columns)): e for e in found}
    return _Placed(rows, columns, cells)


def _without_single(found: Sequence[Estimate], names: Levels) -> Levels:
    """Without parts of the stratum that have one level only, which stands under the table; the last
    name stays.
    """
    kept = [
        name
        for name in names
        if name not in FIXED or len({axes(e).get(name, "") for e in found}) > 1
    ]
    return tuple(kept) or names[-1:]


def _default_column(read: Audit, layout: TableLayout, loose: Sequence[str]) -> str:
    """The last factor that differs; a value that each row is about, or the stratum, where there is
    no other.
    """
    values = {spec.attribute for name in layout.measures if (spec := read.spec(name))}
    last = [name for name in loose if name not in (*FIXED, *values)]
    return (last or [name for name in loose if name in values] or list(loose) or ["measure"])[-1]


def _implied(found: Sequence[Estimate], name: str, others: Sequence[str]) -> bool:
    """True if the levels of the other axes say which level of this one it is."""
    told: dict[Levels, set[str]] = {}
    for e in found:
        told.setdefault(_levels(e, others), set()).add(axes(e).get(name, ""))
    return bool(others) and all(len(levels) == 1 for levels in told.values())


def _of_one_grouping(
    read: Audit, estimates: Sequence[Estimate], layout: TableLayout
) -> list[Estimate]:
    """The estimates that have every axis that is named, and of each measure those cut by no other
    factor, or by as few as can be.
    """
    named = {*layout.rows, *layout.columns} - {*FIXED}
    whole = not named and not layout.where
    found: list[Estimate] = []
    for measure in layout.measures:
        own = [e for e in estimates if e.measure == measure and named <= {*axes(e)}]
        sizes = [len(_factors(read, e)) for e in own if not whole or _factors(read, e)]
        least = min(sizes, default=0)
        found += [e for e in own if len(_factors(read, e)) == least]
    if not found:
        words = "; ".join(
            dict.fromkeys(", ".join(_factors(read, e)) or "the whole" for e in estimates)
        )
        raise UsageError(
            f"No estimate of {', '.join(layout.measures)} has {', '.join(sorted(named))} together. "
            f"They are cut by: {words}."
        )
    return found


def _factors(read: Audit, estimate: Estimate) -> tuple[str, ...]:
    """What cuts the estimate out of its stratum: factors, not a value that each row is about."""
    spec = read.spec(estimate.measure)
    own = spec.attribute if spec else ""
    return tuple(name for name in reading.grouping(estimate) if name != own)


def _levels(estimate: Estimate, names: Sequence[str]) -> Levels:
    own = axes(estimate)
    return tuple(own.get(name, "") for name in names)


def _in_words(read: Audit, placed: _Placed, layout: TableLayout) -> CrossTable:
    """The placed estimates as text, rows and columns in the order of the design."""
    order = _Order(read, list(placed.cells.values()))
    rows = order.sorted(placed.rows, {row for row, _ in placed.cells})
    columns = order.sorted(placed.columns, {column for _, column in placed.cells})
    if layout.ranked:
        rows = sorted(rows, key=lambda row: -_sum(placed, row))
    leads = _leading(read, placed, rows, columns) if layout.leader else {}
    body = [
        (
            _named(order, placed.rows, row),
            tuple(
                _cell(read, placed.cells.get((row, column)), layout) + leads.get((row, column), "")
                for column in columns
            ),
        )
        for row in rows
    ]
    return CrossTable(
        title=layout.title or _title(read, layout),
        row_names=placed.rows,
        column_names=placed.columns,
        columns=tuple(_named(order, placed.columns, column) for column in columns),
        rows=tuple(body),
        notes=tuple(_notes(read, list(placed.cells.values()), layout)),
        signatures=tuple(dict.fromkeys(e.signature for e in placed.cells.values() if e.signature)),
        estimates={
            (_named(order, placed.rows, row), _named(order, placed.columns, column)): e
            for (row, column), e in placed.cells.items()
        },
    )


def _title(read: Audit, layout: TableLayout) -> str:
    specs = [(name, read.spec(name)) for name in layout.measures]
    return "; ".join(
        reading.title(spec.text if spec and spec.text else name) for name, spec in specs
    )


def _value(estimate: Estimate | None) -> float:
    return float("-inf") if estimate is None or estimate.value is None else estimate.value


def _sum(placed: _Placed, row: Levels) -> float:
    """The sum of what was measured in a row; below all others where nothing was."""
    own = (e.value for (place, _), e in placed.cells.items() if place == row)
    values = [value for value in own if value is not None]
    return sum(values) if values else float("-inf")


@dataclass(frozen=True, slots=True)
class _Order:
    """The order of levels: that of the design, of a measure's values, else of first appearance."""

    read: Audit
    estimates: Sequence[Estimate]

    def sorted(self, names: Sequence[str], keys: set[Levels]) -> list[Levels]:
        """The keys in the order of the levels of each axis."""
        places = [self._places(name) for name in names]
        return sorted(
            keys,
            key=lambda key: [p.get(level, len(p)) for p, level in zip(places, key, strict=True)],
        )

    def name(self, axis: str, level: str) -> str:
        """A level as a table says it: an instrument without its hash."""
        return self.read.instrument(level) if axis == "instrument" else level

    def _places(self, name: str) -> dict[str, int]:
        seen = dict.fromkeys(axes(e).get(name, "") for e in self.estimates)
        counted = self.read.protocol.crosstab
        given = counted.get("levels", ()) if counted and counted["columns"] == name else ()
        design = [*given, *self.read.protocol.levels.get(name, {})]
        among = dict.fromkeys(
            value
            for spec in self.read.protocol.measures
            if spec.attribute == name
            for value in (*spec.among, *spec.values)
        )
        return {level: n for n, level in enumerate(dict.fromkeys([*design, *among, *seen]))}


def _leading(
    read: Audit, placed: _Placed, rows: Sequence[Levels], columns: Sequence[Levels]
) -> dict[tuple[Levels, Levels], str]:
    """The mark of the highest cell of each row, within columns that share all axes but the last;
    of all that tie.
    """
    tests = _leader_tests(read, next(iter(placed.cells.values())))
    found = {}
    for row in rows:
        for block in dict.fromkeys(column[:-1] for column in columns):
            cells = {c: placed.cells.get((row, c)) for c in columns if c[:-1] == block}
            most = max(map(_value, cells.values()))
            for column, estimate in cells.items():
                if estimate is not None and _value(estimate) == most > 0:
                    differ = any(
                        tests.get((reading.stratum(estimate), a)) for a in axes(estimate).items()
                    )
                    found[row, column] = f" {LEADER if differ else OPEN_LEADER}"
    return found


def _leader_tests(
    read: Audit, like: Estimate
) -> dict[tuple[reading.Stratum, tuple[str, str]], bool]:
    """Whether the groups differ in each value, as the protocol's leader of the same labels says."""
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


def _named(order: _Order, names: Levels, levels: Levels) -> Levels:
    return tuple(order.name(name, level) for name, level in zip(names, levels, strict=True))


def _adjusted(estimate: Estimate | None) -> float | None:
    if estimate is None:
        return None
    return estimate.p if estimate.p_adjusted is None else estimate.p_adjusted


def _cell(read: Audit, estimate: Estimate | None, layout: TableLayout) -> str:
    """What a cell says; a dash where there is no estimate or no value."""
    if estimate is None or estimate.value is None:
        return numerals.NOTHING
    show = layout.show or (("value",) if estimate.low is None else ("value", "interval"))
    spec, places = read.spec(estimate.measure), layout.decimals
    signed = reading.is_signed(spec, estimate)
    said = {
        "value": _number(estimate.value, estimate.unit, signed, layout),
        "interval": _ends(estimate, signed, layout),
        "stars": estimate.stars or "",
        "p": f"p {numerals.chance(_adjusted(estimate))}",
        "n": f"(n {numerals.count(estimate.n)})",
    }
    if places is None and not layout.percent:
        said["value"] = reading.value(estimate, spec)
        said["interval"] = reading.interval(estimate, spec)
    if estimate.low is None and estimate.high is None:
        said["interval"] = ""
    if _adjusted(estimate) is None:
        said["p"] = ""
    text = ""
    for part in show:
        text += said[part] if part == "stars" or not text or not said[part] else f" {said[part]}"
    return text or numerals.NOTHING


def _number(value: float | None, unit: str, signed: bool, layout: TableLayout) -> str:
    if layout.percent and unit == "share" and value is not None:
        places = 1 if layout.decimals is None else layout.decimals
        text = numerals.fixed_decimals(100 * value, places)
        return f"+{text}" if signed and value > 0 else text
    return numerals.quantity(value, unit, signed, layout.decimals)


def _ends(estimate: Estimate, signed: bool, layout: TableLayout) -> str:
    low, high = (
        _number(end, estimate.unit, signed, layout) for end in (estimate.low, estimate.high)
    )
    return f"[{low}, {high}]"


def _notes(read: Audit, estimates: Sequence[Estimate], layout: TableLayout) -> Iterator[str]:
    """What the cells mean, once, under the table."""
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
        adjusted = any(e.p_adjusted is not None for e in estimates)
        yield (
            f"* p < .05, ** p < .01, *** p < .001, {'adjusted' if adjusted else 'not adjusted'}; "
            "no star: no difference found at this n, or not tested."
        )
    tested = any(_leader_tests(read, e) for e in estimates[:1])
    if layout.leader and not tested:
        yield f"{OPEN_LEADER}: the highest of its row; no test was made."
    elif layout.leader:
        yield (
            f"{LEADER} {OPEN_LEADER}: the highest of its row; {LEADER} where the columns of the "
            "row differ after adjustment (p < .05)."
        )
    if any(e.value is None for e in estimates):
        yield f"{numerals.NOTHING}: not measured."
