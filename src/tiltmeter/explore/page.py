"""One page of the explorer: tabs, and for a tab a grid with all samples of its conditions.

Rows are subjects and columns the levels of the factor that the protocol contrasts, unless the view
says otherwise. A page holds so many outputs that a browser shows them at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..store.output_table import Window
from . import cells
from .index import Index
from .parts import LABEL, MODE, NONE, OUTCOME, SUBJECT, Choice, Filter, GridCell, Page
from .view import ALL, View

PICTURES, TEXTS = 600, 120  # outputs of one page
MOST_TABS = 60  # levels beyond which a factor is no row of tabs by default
MOST_LEVELS = 400  # levels of a list to choose from


def page(index: Index, view: View) -> Page:
    """Reads what a view shows. UsageError where it names a factor that is not there."""
    index.refresh()
    view = with_defaults(index, view)
    index.load_labels(view.attribute)
    if view.value not in (NONE, *index.values(view.attribute)):
        view = replace(view, value="")  # of another attribute
    if view.text:
        index.run_search(view.text)
    tabs = _tabs(index, view)
    if view.by and view.tab not in (*(tab.value for tab in tabs), ALL):
        view = replace(view, tab=tabs[0].value if tabs else ALL)
    base, narrow = cells.selection(view, narrow=False), cells.selection(view, narrow=True)
    colours = cells.colours(index, view.attribute)
    sizes = index.table.cell_sizes(view.rows, view.columns, narrow)
    every = index.table.cell_sizes(view.rows, view.columns, base)
    columns, notes = cells.columns(index, view, every)
    rows = cells.in_design_order(index, view.rows, {row for row, _ in every})
    number = PICTURES if index.protocol.modality == "image" else TEXTS
    layout = cells.Layout.of(rows, len(columns), max(sizes.values(), default=0), number, view.page)
    view = replace(view, page=layout.page)
    window = Window(layout.rows, columns, layout.first, layout.last)
    cards = cells.cards(index, view, narrow, window, colours)
    bars = cells.bars(index, view, base, layout.rows, colours)

    def cell(row: str, column: str) -> GridCell:
        at = row, column
        return GridCell(
            bars.get(at, ()), every.get(at, 0), sizes.get(at, 0), tuple(cards.get(at, ()))
        )

    grid = tuple((row, tuple(cell(row, column) for column in columns)) for row in layout.rows)
    return Page(
        view,
        index.protocol,
        index.protocol.modality == "image",
        _with_addresses(view, tabs),
        _bys(index),
        (*index.several, SUBJECT, MODE),
        tuple((column, column == cells.baseline(index, view)) for column in columns),
        grid,
        index.attributes,
        _values_of(index, view),
        _outcomes(index, view),
        _filters(index, view),
        sum(sizes.values()),
        sum(every.values()),
        layout.pages,
        index.missing(),
        notes,
    )


# defaults


def with_defaults(index: Index, view: View) -> View:
    """The view with what it leaves open: columns by the contrast, rows by subject, tabs by the item
    or what is grouped by.
    """
    several = index.several
    modes = set(index.levels(MODE))
    levels = dict(view.levels)
    if not view.rows and view.columns != MODE and _one_of_several_modes(index, modes):
        view = replace(view, rows=MODE)
    if MODE not in (view.rows, view.columns, view.by) and MODE not in levels and len(modes) > 1:
        levels[MODE] = next((name for name in index.protocol.modes if name in modes), min(modes))
    columns = view.columns or (index.contrasted if index.contrasted in several else SUBJECT)
    spare = index.contrasted if columns == SUBJECT and index.contrasted in several else MODE
    rows = (
        view.rows
        if view.rows and view.rows != columns
        else (SUBJECT if columns != SUBJECT else spare)
    )
    by = view.by if view.by in _bys(index) else _by(index, columns, rows)
    attribute = (
        view.attribute if view.attribute in index.attributes else next(iter(index.attributes), "")
    )
    for name in (columns, rows, *levels):
        index.table.column(name)
    return replace(
        view, columns=columns, rows=rows, by=by, attribute=attribute, levels=tuple(levels.items())
    )


def _one_of_several_modes(index: Index, modes: set[str]) -> bool:
    """True if one subject was asked in several modes that are measured: then these are the rows."""
    measured = [
        name
        for name, mode in index.protocol.modes.items()
        if name in modes and not mode.for_discovery
    ]
    return len(index.levels(SUBJECT)) == 1 and len(measured) > 1


def _by(index: Index, columns: str, rows: str) -> str:
    item, several = index.protocol.item, index.several
    groups = [factor for spec in index.protocol.measures for group in spec.by for factor in group]
    free = [
        name for name in dict.fromkeys(groups) if name in several and name not in (columns, rows)
    ]
    items, cells = index.table.distinct(item, columns)
    compared = cells > items or columns == SUBJECT  # else an item is in one column alone
    if (
        item not in (columns, rows)
        and compared
        and (1 < items <= MOST_TABS or (items > 1 and not free))
    ):
        return item
    return next((name for name in free if name != item), LABEL)


def _bys(index: Index) -> tuple[str, ...]:
    return (*index.several, LABEL, OUTCOME, SUBJECT)


# choices


def _tabs(index: Index, view: View) -> tuple[Choice, ...]:
    every = cells.selection(view, narrow=False, tab=False)
    if view.by == LABEL:
        counts = index.table.selected_values(view.attribute, NONE, every)
    else:
        levels = index.table.selected_levels(view.by, every)
        counts = {
            level: levels[level] for level in cells.in_design_order(index, view.by, set(levels))
        }
    return tuple(Choice(value, count, "", value == view.tab) for value, count in counts.items())


def _with_addresses(view: View, tabs: Sequence[Choice]) -> tuple[Choice, ...]:
    every = Choice(ALL, sum(tab.count or 0 for tab in tabs), "", False)
    return tuple(
        replace(tab, address=view.address(tab=tab.value), chosen=tab.value == view.tab)
        for tab in (*tabs, every)
    )


def _values_of(index: Index, view: View) -> tuple[Choice, ...]:
    return tuple(
        Choice(value, None, "", value == view.value)
        for value in (*index.values(view.attribute), NONE)
    )


def _outcomes(index: Index, view: View) -> tuple[Choice, ...]:
    return tuple(
        Choice(value, int(count), "", value == view.outcome)
        for value, count in index.levels(OUTCOME).items()
    )


def _filters(index: Index, view: View) -> tuple[Filter, ...]:
    return tuple(_all_filters(index, view))


def _all_filters(index: Index, view: View) -> Iterator[Filter]:
    """For each factor with several levels, and the mode and the subject, that is no tab, row or
    column.
    """
    taken, levels = (view.by, view.rows, view.columns), dict(view.levels)
    for name in (MODE, SUBJECT, *index.several):
        if name in taken and not (name == MODE and name in levels):
            continue
        found = index.levels(name)
        if 1 < len(found) <= MOST_LEVELS:
            yield Filter(
                f"f.{name}",
                name,
                tuple(
                    Choice(value, int(found[value]), "", levels.get(name) == value)
                    for value in cells.in_design_order(index, name, set(found))
                ),
            )
