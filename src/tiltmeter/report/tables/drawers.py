"""The outputs behind the numbers of a report: for each row of a table, which counted outputs the
page shows, and the explorer's address for all of them.

Numbers counted from the same labels share one drawer, a part of the page that opens as the target
of a link, without a script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ...analyse.claims.output_query import OutputQuery, query_of
from ...analyse.whole_run.outputs_behind import Counted
from ...analyse.words import reading
from ...protocol import Protocol, wording
from ...protocol.design.cue_words import BY_WORD
from ...records import Estimate
from ...store import Store
from ..page_model.figures import Pairs, Stacked
from ..page_model.page import Behind, Content, Examples, PictureGrid

MOST_LISTED = 20  # outputs that a drawer names
_LETTERS = 12  # of an output's id, in the id of its place in the page


def place(output: str, kind: str = "o") -> str:
    """Returns an output's id in the page. kind: "o" for a text, "s" for a picture."""
    return f"{kind}{output[:_LETTERS]}" if output else ""


def behind(
    store: Store, protocol: Protocol, rows: Iterable[Estimate], content: Content
) -> tuple[tuple[Behind, ...], dict[str, str]]:
    """Returns the drawers of a page, and {query as text: drawer's id}, for every row and for all
    other counts in figures and badges. A number without stored outputs has no drawer.
    """
    examples = dict(_page_ids(content.examples, content.pictures))
    counted = Counted(store, protocol)
    drawers: dict[tuple[str, int, Pairs], Behind] = {}
    titles: dict[object, str] = {}
    ids: dict[str, str] = {}
    names = {model: short for short, model in content.screen.names}
    outputs = (
        (query_of(protocol, row), _title(protocol, row, names))
        for row in rows
        if row.value is not None and not row.measure.endswith(BY_WORD)
    )
    for query, title in chain(outputs, _beside_rows(content)):
        text = query.text()
        if text in ids:
            continue
        behind_cell = counted.shown(query, examples)
        if behind_cell.total:
            name = titles.setdefault((behind_cell.labels, query.values), title)
            key = (name, behind_cell.total, behind_cell.here)
            if key not in drawers:
                number = f"b{len(drawers) + 1}"
                places = tuple((examples[output], label) for output, label in behind_cell.here)[
                    :MOST_LISTED
                ]
                drawers[key] = Behind(
                    number, name, behind_cell.total, len(behind_cell.here), places, text
                )
            ids[text] = drawers[key].id
    return tuple(drawers.values()), ids


def _beside_rows(content: Content) -> Iterator[tuple[OutputQuery, str]]:
    """Yields (query, title) of all counts on the page outside of tables."""
    sections = (figure for section in content.sections for figure in section.figures)
    for figure in (content.screen.figure, *sections):
        for bar in figure.bars if isinstance(figure, Stacked) else ():
            about = " · ".join(filter(None, (figure.title if figure else "", bar.group, bar.label)))
            queries = filter(None, dict.fromkeys(bar.queries))
            yield from ((OutputQuery.parse(query), about) for query in queries)
    for badge in content.screen.badges:
        if badge.query:
            yield OutputQuery.parse(badge.query), badge.text


def _title(protocol: Protocol, row: Estimate, names: Mapping[str, str]) -> str:
    """Titles a row by model, group and contrast, in the protocol's words."""
    group = [wording.title(protocol, name, level) for name, level in reading.group(row).items()]
    parts = (names.get(row.subject, row.subject), ", ".join(group), reading.contrast_label(row))
    return " · ".join(part for part in parts if part)


def _page_ids(examples: Examples, grids: Sequence[PictureGrid]) -> Iterator[tuple[str, str]]:
    """Yields (output, its id in the page), pictures last: a dict keeps the picture's id."""
    for group in examples.groups:
        for example in group.examples:
            if example.id:
                yield example.id, place(example.id)
    for grid in grids:
        for picture_row in grid.rows:
            for cell in picture_row.cells:
                for shot in cell:
                    if shot.id:
                        yield shot.id, place(shot.id, "s")


def links(protocol: Protocol, rows: Sequence[Estimate]) -> tuple[str, ...]:
    """Returns the query of each row as text."""
    return tuple(query_of(protocol, row).text() for row in rows)
