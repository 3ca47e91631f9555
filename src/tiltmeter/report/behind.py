"""The outputs behind the numbers of a report: for each row of a table, which of those that were
counted are in the page, and the address of all of them in the explorer.

Rows that were counted from the same outputs share one drawer. A drawer opens as the target of a
link, with no script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..analyse import reading
from ..analyse.counted import Counted
from ..analyse.queries import query_of
from ..protocol import Protocol
from ..records import Estimate
from ..store import Store
from .model import Behind, Examples, Pairs, PictureGrid

MOST_LISTED = 20  # outputs that a drawer names
_LETTERS = 12  # of an output's id, in the id of its place in the page


def place(output: str, kind: str = "o") -> str:
    """The id of an output's place in the page. kind: "o" of a text, "s" of a picture."""
    return f"{kind}{output[:_LETTERS]}" if output else ""


def behind(
    store: Store,
    protocol: Protocol,
    rows: Sequence[Estimate],
    examples: Examples,
    grids: Sequence[PictureGrid],
) -> tuple[tuple[Behind, ...], dict[str, str]]:
    """The drawers, and for the query of each row (as text) the id of its drawer. Rows of which no
    output is stored have none.
    """
    shown = dict(_shown(examples, grids))
    counted = Counted(store, protocol)
    drawers: dict[tuple[str, int, Pairs], Behind] = {}
    ids: dict[str, str] = {}
    for row in rows:
        query = query_of(protocol, row)
        text = query.text()
        if text in ids or row.value is None:
            continue
        total, here = counted.shown(query, shown)
        if total:
            title = _title(row)
            key = (title, total, tuple(here))
            if key not in drawers:
                number = f"b{len(drawers) + 1}"
                drawers[key] = Behind(number, title, total, len(here), _places(here, shown), text)
            ids[text] = drawers[key].id
    return tuple(drawers.values()), ids


def _title(row: Estimate) -> str:
    parts = (row.subject, reading.group_label(row), reading.contrast_label(row))
    return " · ".join(part for part in parts if part)


def _shown(examples: Examples, grids: Sequence[PictureGrid]) -> Iterator[tuple[str, str]]:
    """(output, id of its place) of all outputs in the page; a picture before its text."""
    for group in examples.groups:
        for one in group.examples:
            if one.id:
                yield one.id, place(one.id)
    for grid in grids:
        for picture_row in grid.rows:
            for cell in picture_row.cells:
                for shot in cell:
                    if shot.id:
                        yield shot.id, place(shot.id, "s")


def _places(here: Iterable[tuple[str, str]], shown: Mapping[str, str]) -> Pairs:
    """(id of the place, label) of the outputs that a drawer names."""
    return tuple((shown[output], label) for output, label in here)[:MOST_LISTED]


def links(protocol: Protocol, rows: Sequence[Estimate]) -> tuple[str, ...]:
    """The query of each row as text."""
    return tuple(query_of(protocol, row).text() for row in rows)
