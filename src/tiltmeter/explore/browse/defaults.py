"""Defaults of a view: the factors for columns, rows and items, the attribute, the mode."""

from __future__ import annotations

from dataclasses import replace

from ...analyse.claims.output_query import OutputQuery
from ..selection.index import Index
from ..selection.parts import LABEL, MODE, OUTCOME, SUBJECT
from ..selection.view import ALL, View

MOST_TABS = 60  # items beyond which what is grouped by is chosen from first


def with_defaults(index: Index, view: View) -> View:
    """Fills in what the view leaves open: columns are the levels of the contrast; pairs and counts
    have a row per item, the wall a row per subject, with a list of items or other groups beside it.
    """
    view = _view_of(view)
    if not view.show and (view.tab or view.by or view.rows or view.columns):
        view = replace(view, show="wall")  # as addresses of before mean it
    walled = _wall_defaults(index, view)
    if view.show == "wall":
        return walled
    rows = _pair_rows(index, walled)
    if not rows or len(index.levels(walled.columns)) < 2:
        return replace(walled, show="wall")
    levels = dict(walled.levels)
    subjects = index.levels(SUBJECT)
    if len(subjects) > 1 and SUBJECT not in (rows, walled.columns) and not view.query:
        levels.setdefault(SUBJECT, min(subjects))
    return replace(
        walled, show=view.show or "pairs", rows=rows, by=rows, tab=ALL, levels=tuple(levels.items())
    )


def _view_of(view: View) -> View:
    """Opens a view of a number's outputs with the number's attribute and all modes."""
    if not view.query:
        return view
    query = OutputQuery.parse(view.query)
    attribute = view.attribute or query.attribute
    levels = {MODE: ALL} | dict(view.levels)
    return replace(view, attribute=attribute, levels=tuple(levels.items()))


def _pair_rows(index: Index, view: View) -> str:
    """Chooses the rows' factor: the item if items occur in several columns, else a grouping."""
    item = index.protocol.item
    if item != view.columns:
        items, pairs = index.table.distinct(item, view.columns)
        if pairs > items:
            return item
    by = _first_grouping(index, view.columns, view.rows)
    if by != LABEL and by not in index.tied:
        return by
    return view.rows if view.rows != view.columns else ""


def _wall_defaults(index: Index, view: View) -> View:
    several = index.several
    modes = set(index.levels(MODE))
    levels = dict(view.levels)
    if not view.rows and view.columns != MODE and _one_of_several_modes(index, modes):
        view = replace(view, rows=MODE)
    if MODE not in (view.rows, view.columns, view.by) and MODE not in levels and len(modes) > 1:
        levels[MODE] = next((name for name in index.protocol.modes if name in modes), min(modes))
    columns = view.columns or (index.contrasted if index.contrasted in several else SUBJECT)
    spare = index.contrasted if columns == SUBJECT and index.contrasted in several else MODE
    rows = view.rows if view.rows != columns else ""
    rows = rows or (SUBJECT if columns != SUBJECT else spare)
    by = view.by if view.by in groupings(index) else _first_grouping(index, columns, rows)
    attribute = view.attribute
    if attribute not in index.attributes:
        attribute = next(iter(index.attributes), "")
    for name in (columns, rows, *levels):
        index.table.column(name)
    return replace(
        view, columns=columns, rows=rows, by=by, attribute=attribute, levels=tuple(levels.items())
    )


def _one_of_several_modes(index: Index, modes: set[str]) -> bool:
    """True if the only subject was asked in several measured modes; modes then become the rows."""
    measured = [
        name
        for name, mode in index.protocol.modes.items()
        if name in modes and not mode.for_discovery
    ]
    return len(index.levels(SUBJECT)) == 1 and len(measured) > 1


def _first_grouping(index: Index, columns: str, rows: str) -> str:
    item, several = index.protocol.item, index.several
    groups = [factor for spec in index.protocol.measures for group in spec.by for factor in group]
    free = [
        name for name in dict.fromkeys(groups) if name in several and name not in (columns, rows)
    ]
    items, cells = index.table.distinct(item, columns)
    is_compared = cells > items or columns == SUBJECT  # else an item is in one column alone
    if (
        item not in (columns, rows)
        and is_compared
        and (1 < items <= MOST_TABS or (items > 1 and not free))
    ):
        return item
    return next((name for name in free if name != item), LABEL)


def groupings(index: Index) -> tuple[str, ...]:
    return (*index.several, LABEL, OUTCOME, SUBJECT)
