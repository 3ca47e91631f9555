"""The cells of a grid: their outputs, counts and labels, limited to what a page can show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...instruments.images.colour import own
from ...records import ANSWER, OUTCOMES
from ...store.queries import outputs
from ...store.queries.outputs import ShownOutput
from ..selection.index import QUERY, Index
from ..selection.parts import LABEL, NONE, Card, ShareBar
from ..selection.placed import CellKey, GridWindow, PlacedOutput, Selection
from ..selection.view import ALL, View

FEWEST_SAMPLES = 4  # of a cell, where there are many cells
MOST_COLUMNS = 24
ROWS_TOGETHER = 8  # that stand together, with fewer samples each, before pages are cut between them
SHORT_CHARACTERS = 420  #  of a text in the grid
MOST_COLOURS = 7
MOST_PARTS = 12  # of a bar, one a value; the values that are left share the last


def selection(view: View, *, narrow: bool, tab: bool = True) -> Selection:
    """Selects a view's outputs. narrow: True to apply the filters; tab: True for its tab only."""
    chosen = dict(view.levels) | ({view.by: view.tab} if tab and view.by not in (LABEL, "") else {})
    levels = {name: level for name, level in chosen.items() if level != ALL}
    values = [view.tab] if tab and view.by == LABEL and view.tab != ALL else []
    values += [view.value] if narrow and view.value else []
    labels = [(view.attribute, None if value == NONE else value) for value in values]
    searches = [QUERY + view.query] if view.query else []
    if not narrow:
        return Selection(levels, labels, searches=searches)
    split = view.attribute if view.split else ""
    texts = [view.text] if view.text else []
    return Selection(levels, labels, view.outcome, split, [*searches, *texts])


def colours(index: Index, attribute: str) -> dict[str, str]:
    """Returns {value: its colour}: #rrggbb for colour names, else a CSS class, the last grey."""
    values = index.values(attribute)
    classes = {
        name: "#{:02x}{:02x}{:02x}".format(*rgb)
        for name, rgb in own([v for v in values if v not in OUTCOMES]).items()
    }
    used = len(classes)
    for value in (value for value in values if value not in classes):
        has_colour = value not in OUTCOMES and used < MOST_COLOURS
        classes[value] = f"c{used}" if has_colour else f"g{(len(classes) - used) % 4}"
        used += has_colour
    return classes | {NONE: "g3"}


def in_design_order(index: Index, factor: str, found: set[str]) -> list[str]:
    """Sorts levels in the order of the design; subjects and modes, which have none, by name."""
    order = {level: n for n, level in enumerate(index.protocol.levels.get(factor, {}))}
    return sorted(found, key=lambda level: (order.get(level, len(order)), level))


def columns(
    index: Index, view: View, every: Mapping[tuple[str, str], int]
) -> tuple[list[str], tuple[str, ...]]:
    """Returns (levels for the columns of a grid, baseline first; a note if some do not fit)."""
    levels = in_design_order(index, view.columns, {column for _, column in every})
    first = baseline(index, view)
    levels.sort(key=lambda level: level != first)
    shown, number = levels[:MOST_COLUMNS], len(levels)
    note = (
        f"The first {len(shown)} of {number} levels of {view.columns}; choose another for columns."
    )
    return shown, (note,) if len(shown) < number else ()


@dataclass(frozen=True, slots=True)
class Layout:
    """The rows of a page, and which samples each cell shows (first to last, from 1)."""

    rows: tuple[str, ...]
    first: int
    last: int
    page: int
    pages: int

    @classmethod
    def of(cls, rows: Sequence[str], columns: int, most: int, number: int, page: int) -> Layout:
        """Lays out a page (from 1) of about `number` outputs. most: samples in the largest cell."""
        together = max(1, columns) * min(max(1, len(rows)), ROWS_TOGETHER)
        samples = max(1, min(most, max(FEWEST_SAMPLES, number // together)))
        height = max(1, number // max(1, columns * samples))
        blocks, turns = -(-len(rows) // height), -(-most // samples)
        pages = max(1, blocks * turns)
        page = min(max(1, page), pages)
        block, turn = divmod(page - 1, max(1, turns))
        page_rows = tuple(rows[block * height : (block + 1) * height])
        return cls(page_rows, turn * samples + 1, (turn + 1) * samples, page, pages)

    @classmethod
    def of_rows(cls, rows: Sequence[str], samples: int, height: int, page: int) -> Layout:
        """Lays out page `page` (from 1) of `height` rows, with the first samples of each cell."""
        pages = max(1, -(-len(rows) // height))
        page = min(max(1, page), pages)
        page_rows = tuple(rows[(page - 1) * height : page * height])
        return cls(page_rows, 1, max(1, samples), page, pages)


def cards(
    index: Index, view: View, selected: Selection, window: GridWindow, colours: Mapping[str, str]
) -> dict[CellKey, list[Card]]:
    """Returns the outputs to show on a page, by cell."""
    hidden = {view.rows, view.columns, view.by, *(set(index.factors) - set(index.several))}
    axes = view.rows, view.columns
    placed = list(index.table.iter_placed(axes, window, selected, view.attribute, view.sort))
    by_cell: dict[CellKey, list[Card]] = {}
    stored = read_shown(index, placed, SHORT_CHARACTERS + 1)
    for one in placed:
        output = stored[one.run][one.number]
        factors = dict(zip(index.factors, one.levels, strict=True))
        about = [
            f"{name} {index.title(name, level)}"
            for name, level in factors.items()
            if level and name not in hidden
        ]
        picture = output.blob if one.outcome == ANSWER else ""
        by_cell.setdefault(one.cell, []).append(
            Card(
                one.run,
                output.id,
                picture,
                "" if picture else _shorten(output.text),
                one.outcome,
                one.values,
                colours.get(one.values[0] if one.values else NONE, "g3"),
                one.split,
                one.surprise,
                " · ".join([*about, f"sample {one.sample + 1}"]),
                factors.get("language", ""),
            )
        )
    return by_cell


def read_shown(
    index: Index, placed: Iterable[PlacedOutput], characters: int
) -> dict[int, dict[int, ShownOutput]]:
    """Returns {run: {trial's number: output with id, picture, first characters of its text}}."""
    numbers: dict[int, list[int]] = {}
    for one in placed:
        numbers.setdefault(one.run, []).append(one.number)
    return {
        run: outputs.shown(index.sources[run].store, of, characters) for run, of in numbers.items()
    }


def _shorten(text: str) -> str:
    if len(text) <= SHORT_CHARACTERS:
        return text
    return text[:SHORT_CHARACTERS].rstrip() + "…"


def bars(
    index: Index,
    view: View,
    selected: Selection,
    rows: Sequence[str],
    colours: Mapping[str, str],
) -> dict[CellKey, tuple[ShareBar, ...]]:
    """Returns the distribution of labels of each cell as bars; filters have no effect."""
    counts = index.table.cell_values(
        view.rows, view.columns, rows, selected, (view.attribute, NONE)
    )
    return {cell: _stack(weights, colours) for cell, weights in counts.items()}


def _stack(said: Mapping[str, float], colours: Mapping[str, str]) -> tuple[ShareBar, ...]:
    """Makes bars from weights, in the order of the colours; rare values share the last bar."""
    largest = dict(sorted(said.items(), key=lambda one: -one[1])[:MOST_PARTS])
    total, begin, bars = sum(said.values()) or 1.0, 0.0, []
    for value in sorted(largest, key=list(colours).index):
        bars.append(ShareBar(value, said[value], said[value] / total, begin, colours[value]))
        begin += said[value] / total
    if len(said) > MOST_PARTS:
        rest = total - sum(largest.values())
        bars.append(ShareBar(f"{len(said) - MOST_PARTS} others", rest, rest / total, begin, "g3"))
    return tuple(bars)


def baseline(index: Index, view: View) -> str:
    """Returns the level of the columns that the protocol uses as baseline, "" for none. Measures
    that are not headlines matter only if no headline has a contrast.
    """
    if view.columns != index.contrasted:
        return ""
    compared = [
        (spec.headline, spec.contrast)
        for spec in index.protocol.measures
        if spec.contrast and spec.contrast.get("factor") == index.contrasted
    ]
    chosen = [one for is_headline, one in compared if is_headline] or [one for _, one in compared]
    return next((contrast["baseline"] for contrast in chosen if "baseline" in contrast), "")
