"""Chooses the first screen's figure: the protocol's, else a forest plot of the lead headline."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from ...analyse.claims import families
from ...analyse.claims.output_query import joined, query_of_labels
from ...analyse.words import numerals, reading
from ...protocol import EVERY, MeasureSpec, wording
from ...records import Estimate
from ..page_model import audits, strata
from ..page_model.audits import Audit
from ..page_model.figures import Dots, Figure, FigureRow, Heat, Plot, Point, Stacked
from . import dots, dumbbell, forest, heat, stacked
from .readable import in_per_cent
from .stacked import StackedCounts

PREFIX = "first"  # of its id: the same figure may stand in a section again
MOST_PANELS = 4  # side by side
ROWS = 20  # of a forest plot for which the screen has room


def first_figure(
    audit: Audit,
    names: Mapping[str, str],
    tilted: Collection[str] = (),
    leading: str = "",
    attribute: str = "",
) -> Figure | None:
    """Returns the figure with titles instead of levels; None if nothing was measured. names: the
    short names of models; tilted: titles of the levels with a tilt, which get a mark; leading: the
    headline's measure; attribute: the attribute of the headline's cell.
    """
    kinds = (
        _figures(audit, tilted, attribute),
        _leading(audit, leading),
        stacked.outcomes(audit, PREFIX),
    )
    figure = next(chain(*kinds), None)
    if figure is None:
        return None
    variant = audit.estimates[0].variant  # tables begin with it
    table = variant + figure.table.removeprefix(PREFIX) if figure.table else ""
    note = _without_stratum(audit, figure.note)
    unfolded = replace(figure, folded=False, note=note, table=table)
    return in_per_cent(titled(audit, names, unfolded), audit.protocol.matters / 100)


def _without_stratum(audit: Audit, note: str) -> str:
    """Drops the only stratum's name from a figure's note, as the screen names it above."""
    one_each = {reading.stratum(e): e for e in audit.estimates}.values()
    if len({e.subject for e in one_each}) > 1:
        return note
    begins = (strata.alone(strata.labels(audit, [e])) for e in one_each)
    return next((note[len(text) :] for text in begins if text and note.startswith(text)), note)


def _figures(audit: Audit, tilted: Collection[str], attribute: str) -> Iterator[Figure]:
    first = audit.protocol.first
    spec = audit.spec(first["measure"]) if first else None
    if spec is None or not audit.of(spec.name):
        return
    kind, by = first.get("figure", spec.figure), tuple(first.get("by", ()))
    if kind == "moved":
        yield from _shift_bars(audit, spec, tilted, attribute)
    elif kind == "dots":
        yield from dots.build(audit, replace(spec, by=(by,) if by else spec.by), PREFIX)
    elif kind == "dumbbell":
        chosen = [one for one in spec.by if one == by] or list(spec.by)
        yield from dumbbell.build(audit, replace(spec, by=tuple(chosen)), PREFIX)
    elif kind == "heat":
        yield from heat.build(audit, replace(spec, by=(by,) if by else spec.by), PREFIX)
    else:
        rows = [e for e in audit.of(spec.name) if reading.grouping(e) == by and e.value is not None]
        yield from _forest(audit, spec, rows)


def _leading(audit: Audit, leading: str) -> Iterator[Figure]:
    """Yields a forest plot of the leading measure, or of the first headline that has a number."""
    rows = families.headline(audit.protocol, audit.estimates)
    measured = [spec for spec, row in rows if row.value is not None]
    spec = next((spec for spec in measured if spec.name == leading), next(iter(measured), None))
    if spec is not None:
        of_first = [row for one, row in rows if one is spec and row.value is not None]
        yield from _forest(
            audit, spec, of_first if len(of_first) > 2 else _with_groups(audit, spec, of_first)
        )


def _with_groups(audit: Audit, spec: MeasureSpec, own: Sequence[Estimate]) -> list[Estimate]:
    """Returns the whole-stratum rows and the rows of the first grouping that fits the screen."""
    fine = audit.fine(spec.name)
    for by in (by for by in spec.by if by and by not in fine):
        rows = [e for e in audit.of(spec.name) if reading.grouping(e)[: len(by)] == by]
        if len(own) + len(rows) <= ROWS:
            return [*own, *(e for e in rows if e.value is not None and e not in own)]
    return list(own)


def _forest(audit: Audit, spec: MeasureSpec, rows: Sequence[Estimate]) -> Iterator[Figure]:
    """Yields a plot with as many strata as fit; with several models, in a panel per model."""
    subjects = list(dict.fromkeys(e.subject for e in rows))
    if len(subjects) > 1 and len({reading.contrast_label(e) for e in rows}) <= strata.SERIES:
        models = subjects[:MOST_PANELS]
        yield _panels(audit, spec, [e for e in rows if e.subject in models], len(subjects))
        return
    chosen: list[Estimate] = []
    for stratum in audit.strata:
        of_stratum = [e for e in rows if reading.stratum(e) == stratum]
        if chosen and len(chosen) + len(of_stratum) > ROWS:
            break
        chosen += of_stratum
    if not chosen:
        return
    name, title = _named(spec)
    contrasts = list(dict.fromkeys(reading.contrast_label(e) for e in chosen))
    if 1 < len(contrasts) <= strata.SERIES and len(chosen) > len(contrasts):
        yield _joined(audit, spec, chosen, contrasts, name, title)
    else:
        yield forest.forest(audit, spec, chosen, name, title, _table(audit, spec, chosen))


def _table(audit: Audit, spec: MeasureSpec, rows: Sequence[Estimate]) -> str:
    return strata.table_id(audit, spec, reading.grouping(rows[0]), PREFIX)


def _named(spec: MeasureSpec) -> tuple[str, str]:
    """Returns the id and the title of a measure's figure."""
    title = reading.title((spec.text or spec.name).partition(" (")[0])
    return audits.slug(PREFIX, spec.name), title


def _panels(audit: Audit, spec: MeasureSpec, rows: Sequence[Estimate], models: int) -> Plot:
    """Returns a plot with a panel per model; the rows of each panel are as in `_joined`."""
    contrasts = list(dict.fromkeys(reading.contrast_label(e) for e in rows))
    plot = _joined(audit, spec, rows, contrasts, *_named(spec))
    lines: list[FigureRow] = []
    for subject in dict.fromkeys(e.subject for e in rows):
        of_subject = [e for e in rows if e.subject == subject]
        part = _joined(audit, spec, of_subject, contrasts, *_named(spec))
        lines += [replace(row, group=subject) for row in part.rows]
    panels = len({row.group for row in lines})
    note = f"{plot.note} {panels} of {models} models; the others below." if panels < models else ""
    return replace(plot, rows=tuple(lines), panels=True, note=note or plot.note)


def _joined(
    audit: Audit,
    spec: MeasureSpec,
    rows: Sequence[Estimate],
    contrasts: Sequence[str],
    name: str,
    title: str,
) -> Plot:
    """Returns a plot with a row per stratum and group, which joins a point per contrast."""
    base = forest.forest(audit, spec, rows, name, title, _table(audit, spec, rows))
    labels = strata.labels(audit, rows)
    lines: dict[tuple[str, str], list[Point]] = {}
    for e in rows:
        stratum = labels[reading.stratum(e)] if len(labels) > 1 else ""
        label = ", ".join(filter(None, (stratum, reading.group_label(e))))
        series = contrasts.index(reading.contrast_label(e))
        lines.setdefault(("", label), []).append(forest.point(audit, spec, e, series))
    return replace(
        base,
        series=tuple(f"against {_baseline(audit, label)}" for label in contrasts),
        rows=tuple(FigureRow(*place, tuple(points)) for place, points in lines.items()),
        joined=True,
    )


def _baseline(audit: Audit, contrast: str) -> str:
    """Returns the title of a contrast's baseline."""
    factor, _, level = contrast.partition(": ")
    return wording.title(audit.protocol, factor, level) if level else contrast


def _shift_bars(
    audit: Audit, spec: MeasureSpec, tilted: Collection[str], attribute: str
) -> Iterator[Stacked]:
    """Yields, for the attribute that differs most, its label counts over all items, per level."""
    contrast = spec.contrast or {}
    factor, base = contrast.get("factor", ""), contrast.get("baseline", "")
    attribute = attribute or _moved_attribute(audit)
    counts: dict[tuple[reading.Stratum, str], list[Estimate]] = {}
    for e in audit.of(spec.name):
        if e.condition.get("attribute") == attribute and factor in e.condition:
            counts.setdefault((reading.stratum(e), e.condition[factor]), []).append(e)
    leading = next(iter(counts), (None, ""))[0]
    order = audit.protocol.levels.get(factor, {})
    rows = []
    for stratum, level in sorted(counts, key=lambda key: order.get(key[1], 0)):
        if stratum == leading:
            rows.append(_pooled(audit, factor, level, counts[stratum, level], tilted))
    if rows:
        what = wording.title(audit.protocol, "attribute", attribute)
        title = f"{reading.title(what)}, over all {audit.items()}: share of pictures"
        name = audits.slug(PREFIX, spec.name, attribute)
        mark = " ▲: a tilt was found." if tilted else ""
        table = _table(audit, spec, [rows[0].estimate])
        figure = stacked.stack_bars(audit, rows, (), name, title, table)
        base_title = wording.title(audit.protocol, factor, base)
        yield replace(figure, note=f"{figure.note} First bar: {base_title}.{mark}")


def _moved_attribute(audit: Audit) -> str:
    """Returns the attribute with the largest divergence, among those that most items have."""
    shifts: dict[str, list[float]] = {}
    for measure in (spec for spec in audit.protocol.measures if spec.attribute == EVERY):
        for e in audit.of(measure.name) if measure.null is not None else ():
            if "attribute" in e.condition and e.value is not None:
                shifts.setdefault(e.condition["attribute"], []).append(e.value)
    most = max((len(values) for values in shifts.values()), default=0)
    shared = {name: values for name, values in shifts.items() if 2 * len(values) > most}
    return max(shared, key=lambda name: max(shared[name]), default="")


def _pooled(
    audit: Audit, factor: str, level: str, rows: Sequence[Estimate], tilted: Collection[str]
) -> StackedCounts:
    totals: dict[str, float] = {}
    for e in rows:
        for value, count in e.outcomes.items():
            totals[value] = totals.get(value, 0.0) + count
    words = wording.title(audit.protocol, factor, level)
    label = f"{words} ▲" if words in tilted else words
    query = joined([query_of_labels(audit.protocol, e) for e in rows]).text()
    return StackedCounts(rows[0], label, totals, sum(totals.values()), {"": query})


def titled(audit: Audit, names: Mapping[str, str], figure: Figure) -> Figure:
    """Returns the figure with titles in place of levels and values, and short names of models."""
    titles = {
        level: words for own in audit.protocol.titles.values() for level, words in own.items()
    } | dict(names)

    def words(text: str) -> str:
        for name, short in names.items():
            text = text.replace(name, short)
        bare = text.partition(": ")[2] or text
        if bare.count(numerals.BETWEEN) == 1:  # what is held against the baseline
            bare = text = bare.partition(numerals.BETWEEN)[0]
        return " · ".join(
            ", ".join(titles.get(part, part) for part in group.split(", "))
            for group in (bare if bare in titles else text).split(" · ")
        )

    note, title = figure.note, figure.title
    for name, short in names.items():
        title = title.replace(f": {name}", "") if len(names) == 1 else title.replace(name, short)
        note = note.replace(f"{name}. ", "" if len(names) == 1 else f"{short}. ")
    figure = replace(figure, note=note, title=title)
    if isinstance(figure, Plot):
        rows = tuple(
            replace(row, label=words(row.label), group=words(row.group)) for row in figure.rows
        )
        return replace(figure, rows=rows, series=tuple(map(words, figure.series)))
    if isinstance(figure, Heat):
        titled_rows = tuple((words(label), cells) for label, cells in figure.rows)
        return replace(figure, rows=titled_rows, columns=tuple(map(words, figure.columns)))
    if isinstance(figure, Dots):
        strips = tuple(replace(one, label=words(one.label)) for one in figure.strips)
        return replace(figure, strips=strips)
    return figure
