"""Builds a page of the explorer: pairs (a row per item), a wall (all samples of one item) or
counts, with the items to choose from.

By default columns are the levels of the factor that the protocol contrasts, and rows of the wall
are subjects. A page has few enough outputs for a browser to show at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..selection.index import Index
from ..selection.parts import MODE, NONE, SUBJECT, Effect, GridCell, OutputsPage
from ..selection.placed import CellKey, GridWindow
from ..selection.view import ALL, View
from . import cells, choices, counts, effects
from .banner import banner
from .defaults import groupings, with_defaults

PICTURES, TEXTS = 600, 120  # outputs of one page
SAMPLES = {True: 4, False: 2}  # that a cell of the pairs shows, of pictures and of texts
COUNTED_ROWS = 100  # of a page of counts


def page(index: Index, view: View) -> OutputsPage:
    """Builds the page of a view. Raises UsageError if the view names an unknown factor."""
    index.refresh()
    asked, view = view, with_defaults(index, view)
    index.load_labels(view.attribute)
    if view.value not in (NONE, *index.values(view.attribute)):
        view = replace(view, value="")  # of another attribute
    index.run_searches(view.text, view.query)
    effects_of = effects.by_row(index, view, view.by)
    tabs = choices.items(index, view, effects_of)
    if view.by and view.tab not in (*(tab.value for tab in tabs), ALL):
        view = replace(view, tab=tabs[0].value if tabs else ALL)
    base, narrow = cells.selection(view, narrow=False), cells.selection(view, narrow=True)
    sizes = index.table.cell_sizes(view.rows, view.columns, narrow)
    every = index.table.cell_sizes(view.rows, view.columns, base)
    columns, notes = cells.columns(index, view, every)
    rows, changed = _rows(index, view, every, sizes, effects_of)
    layout = _layout(index, view, rows, len(columns), max(sizes.values(), default=0))
    view = replace(view, page=layout.page)
    value = counts.value_of(index, view) if view.show == "counts" else ""
    grid = _grid(index, view, layout, columns, (every, sizes), value)
    return OutputsPage(
        view,
        index.protocol,
        index.protocol.modality == "image",
        choices.with_addresses(view, tabs),
        groupings(index),
        (*index.several, SUBJECT, MODE),
        tuple((column, column == cells.baseline(index, view)) for column in columns),
        grid,
        index.attributes,
        choices.values(index, view),
        choices.outcomes(index, view),
        choices.filters(index, view),
        sum(sizes.values()),
        sum(every.values()),
        layout.pages,
        index.missing(),
        notes,
        banner(index, view, sum(every.values())),
        value,
        changed,
        choices.views(asked, view.show),
        index.title,
    )


def _rows(
    index: Index,
    view: View,
    every: Mapping[CellKey, int],
    sizes: Mapping[CellKey, int],
    effects_of: Mapping[str, Effect],
) -> tuple[list[str], tuple[int, int]]:
    """Returns a view's rows, and (number of rows whose commonest label changes, number of rows).

    Pairs and counts leave out rows without outputs and by default put the largest difference first.
    """
    ordered = cells.in_design_order(index, view.rows, {row for row, _ in every})
    if view.show == "wall":
        return ordered, (0, 0)
    with_outputs = [row for row in ordered if any(sizes.get((row, column)) for _, column in sizes)]
    by_effect = effects.order_levels(index, view, view.rows, effects_of, ordered)
    shown = [row for row in by_effect if row in with_outputs]
    moved = [row for row in shown if effects_of.get(row, effects.NO_EFFECT).changed]
    return moved if view.changed else shown, (len(moved), len(shown))


def _layout(index: Index, view: View, rows: Sequence[str], columns: int, most: int) -> cells.Layout:
    is_image = index.protocol.modality == "image"
    number = PICTURES if is_image else TEXTS
    if view.show == "wall":
        return cells.Layout.of(rows, columns, most, number, view.page)
    samples = min(most, SAMPLES[is_image])
    height = COUNTED_ROWS if view.show == "counts" else max(1, number // max(1, columns * samples))
    return cells.Layout.of_rows(rows, samples, height, view.page)


def _grid(
    index: Index,
    view: View,
    layout: cells.Layout,
    columns: Sequence[str],
    sizes: tuple[Mapping[CellKey, int], Mapping[CellKey, int]],
    value: str,
) -> tuple[tuple[str, tuple[GridCell, ...]], ...]:
    base, narrow = cells.selection(view, narrow=False), cells.selection(view, narrow=True)
    colours = cells.colours(index, view.attribute)
    is_counts = view.show == "counts"
    window = GridWindow(layout.rows, columns, layout.first, layout.last)
    cards = {} if is_counts else cells.cards(index, view, narrow, window, colours)
    bars = {} if is_counts else cells.bars(index, view, base, layout.rows, colours)
    counts_of = counts.table(index, view, layout.rows, value) if is_counts else {}
    every, left = sizes

    def cell(row: str, column: str) -> GridCell:
        at = row, column
        return GridCell(
            bars.get(at, ()),
            every.get(at, 0),
            left.get(at, 0),
            tuple(cards.get(at, ())),
            "" if view.show == "wall" else view.of_wall(row, column),
            counts_of.get(at),
        )

    return tuple((row, tuple(cell(row, column) for column in columns)) for row in layout.rows)
