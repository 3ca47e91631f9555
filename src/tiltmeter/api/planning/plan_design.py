"""The differences that a plan detects, as blocks of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...display.document import Block
from ...stats.results import count_of

if TYPE_CHECKING:  # imports scipy, which a run that only asks must not pay for
    from ...stages.planning.power import Detectable

SPARE = ("2 × samples", "2 × items", "outputs each", "tests")  # a narrow terminal does without
FEW_ROWS = 4  # of detectable differences, header included, on a small screen


def design_blocks(
    design: Sequence[Detectable], wanted: float | None, assumed: tuple[float, float]
) -> Iterator[Block]:
    """Yields the table of detectable differences, and notes for reading it. wanted: the difference
    to detect, or None; assumed: (correlation between answers of an item, correlation between the
    shares of its two sides).
    """
    more = (f"items for {wanted:g}", f"samples for {wanted:g}") if wanted else ()
    twice = ("2 × items", "2 × samples")
    header = ("measure", "of", "items", "outputs each", "tests", "detectable", *twice, *more)
    rows = [_cells(row, with_needed=bool(wanted)) for row in design]
    room = len(rows) + 1 - FEW_ROWS
    yield Block(
        heading="Detectable with 80 % power at .05 over the tests that are adjusted together "
        f"(items as clusters, intra-item correlation {assumed[0]:g} assumed, "
        f"{assumed[1]:g} between the sides of an item):",
        table=[header, *rows],
        words=2,
        spare=SPARE,
        brief=range(min(FEW_ROWS, len(rows) + 1)),
        noun=f"{room} more detectable differences",
        weight=5,
    )
    notes = list(_design_notes(design, wanted))
    warnings = [place for place, line in enumerate(notes) if line.startswith("warning")]
    yield Block(lines=notes, brief=warnings, noun="how to read them", weight=2)


def _cells(row: Detectable, with_needed: bool) -> tuple[str, ...]:
    in_points = row.unit == "share"
    scale, places = (100, 1) if in_points else (1, 3)
    value = "–"
    if row.detectable is not None:
        value = f"{scale * row.detectable:.{places}f} {'points' if in_points else row.unit}"
    twice = tuple(
        "" if detectable is None else f"{scale * detectable:.{places}f}"
        for detectable in (row.twice_items, row.twice_samples)
    )
    needed = (
        (_number_or_dash(row.items_needed), _number_or_dash(row.samples_needed))
        if with_needed
        else ()
    )
    items = "–" if row.clusters is None else str(row.clusters)
    size = f"{row.per_cluster:.3g}"
    return (row.measure, _group_text(row), items, size, str(row.tests), value, *twice, *needed)


def _group_text(row: Detectable) -> str:
    return ", ".join(filter(None, (row.language, row.mode, *row.group.values())))


def _design_notes(design: Sequence[Detectable], wanted: float | None) -> Iterator[str]:
    from ...protocol import FEW_OUTPUTS

    for row in design:
        if row.note and (row.detectable is None or row.clusters is None):
            yield f"  {row.measure}, {_group_text(row)}: {row.note}"
    for row in design:
        if row.by_words:
            yield f"  {row.measure}, {_group_text(row)}: {row.by_words}"
    if any(row.by_words and row.detectable for row in design):
        yield "  the table has the larger of two: what these items detect, and what these words do"
    if any(row.tests > 1 for row in design):
        yield "  tests, at most: a difference's refusals and missing answers count if there are any"
    yield (
        "  a run computes its own from how much its items differ: larger, if they differ more than "
        "assumed, or answers are refused or unread"
    )
    if any(row.twice_items is not None for row in design):
        yield "  2 × items, 2 × samples: what twice the calls would find, spent on one or the other"
    if any(row.clusters is None for row in design):
        yield (
            "  items –: outputs are what is sampled there, each by itself, of a group or of a side"
        )
    sizes = [row.per_cluster for row in design if row.clusters is None]
    if sizes and min(sizes) < FEW_OUTPUTS:
        yield (
            f"warning: groups of {count_of(min(sizes), 'output')}: of fewer than {FEW_OUTPUTS} "
            f"little can be said. Type: --samples {FEW_OUTPUTS}"
        )
    if wanted and any(row.samples_needed is None for row in design):
        yield (
            "  –: no number does; with more samples the items themselves still differ, and an "
            "item is read once in exact mode"
        )


def _number_or_dash(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"
