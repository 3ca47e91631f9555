"""The choices that a page offers: items, values, outcomes and levels of further factors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..selection.index import Index
from ..selection.parts import LABEL, MODE, NONE, OUTCOME, SUBJECT, Effect, Filter, OptionChoice
from ..selection.view import ALL, SHOWS, View
from . import cells, effects

MOST_LEVELS = 400  # levels of a list to choose from


def items(index: Index, view: View, effects_of: Mapping[str, Effect]) -> tuple[OptionChoice, ...]:
    """Returns an option per item with its number of outputs (or of hits, if there is a search)."""
    every = cells.selection(view, narrow=bool(view.text), tab=False)
    if view.by == LABEL:
        counts = index.table.selected_values(view.attribute, NONE, every)
        return tuple(
            OptionChoice(value, count, "", value == view.tab) for value, count in counts.items()
        )
    levels = index.table.selected_levels(view.by, every)
    order = cells.in_design_order(index, view.by, set(levels))
    order = effects.order_levels(index, view, view.by, effects_of, order)
    return tuple(
        OptionChoice(level, levels[level], "", level == view.tab, effects_of.get(level))
        for level in order
    )


def with_addresses(view: View, tabs: Sequence[OptionChoice]) -> tuple[OptionChoice, ...]:
    every = OptionChoice(ALL, sum(tab.count or 0 for tab in tabs), "", False)
    return tuple(
        replace(tab, address=_tab_address(view, tab.value), chosen=tab.value == view.tab)
        for tab in (*tabs, every)
    )


def _tab_address(view: View, tab: str) -> str:
    if view.show == "wall":
        return view.address(tab=tab)
    return view.address(tab=ALL) if tab == ALL else view.of_wall(tab)


def values(index: Index, view: View) -> tuple[OptionChoice, ...]:
    return tuple(
        OptionChoice(value, None, "", value == view.value)
        for value in (*index.values(view.attribute), NONE)
    )


def views(asked: View, chosen: str) -> tuple[OptionChoice, ...]:
    """Returns links to the same outputs as pairs, wall and counts."""
    return tuple(
        OptionChoice(title, None, asked.address(show=name), name == chosen)
        for name, title in SHOWS.items()
    )


def outcomes(index: Index, view: View) -> tuple[OptionChoice, ...]:
    return tuple(
        OptionChoice(value, int(count), "", value == view.outcome)
        for value, count in index.levels(OUTCOME).items()
    )


def filters(index: Index, view: View) -> tuple[Filter, ...]:
    return tuple(_all_filters(index, view))


def _all_filters(index: Index, view: View) -> Iterator[Filter]:
    """Yields a filter per factor (or mode, subject) with several levels that is not on an axis."""
    axes, levels = (view.by, view.rows, view.columns), dict(view.levels)
    for name in (MODE, SUBJECT, *index.several):
        if name in axes and not (name == MODE and name in levels):
            continue
        levels_of = index.levels(name)
        if 1 < len(levels_of) <= MOST_LEVELS:
            yield Filter(
                f"f.{name}",
                name,
                tuple(
                    OptionChoice(value, int(levels_of[value]), "", levels.get(name) == value)
                    for value in cells.in_design_order(index, name, set(levels_of))
                ),
            )
