"""The items with the largest and smallest effects, with the pictures of all their conditions side
by side (GRAMVIS, Figures 4 and 5), and the rule by which they were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...analyse.words import numerals
from ...protocol import MeasureSpec, Protocol
from ...protocol.design.tables import SEVERAL
from ...records import Estimate
from ...store import Store
from ...store.queries import outputs
from ...store.queries.outputs import PicturedOutput
from ..page_model.page import PictureGrid, PictureRow
from .picture_grid import shot

KIND = "item_effects"
EACH_END = 3  # items
SAMPLES = 2  # pictures of a condition
TESTED = "tested"  # the column of what is no control


def grids(store: Store, protocol: Protocol, estimates: Sequence[Estimate]) -> Iterator[PictureGrid]:
    """Yields a grid per subject; nothing if no measure ranks items, or the run has no pictures."""
    spec = next((spec for spec in protocol.measures if spec.kind == KIND), None)
    if spec is None or not outputs.have_pictures(store):
        return
    ranked: dict[str, dict[str, list[float]]] = {}
    for row in estimates:
        if row.measure == spec.name and row.value is not None:
            items = ranked.setdefault(row.subject, {})
            items.setdefault(row.condition[protocol.item], []).append(row.value)
    taken = {item for items in ranked.values() for item, _ in _extreme_items(items)}
    by_item: dict[tuple[str, str], dict[str, list[PicturedOutput]]] = {}
    for one in outputs.iter_pictured(store):
        item = one.levels[protocol.item]
        if item in taken:
            cell = by_item.setdefault((one.subject, item), {}).setdefault(
                _side(spec, one.levels), []
            )
            if len(cell) < SAMPLES:
                cell.append(one)
    for subject, items in ranked.items():
        chosen = _extreme_items(items)
        if any((subject, item) in by_item for item, _ in chosen):
            yield _grid(store, protocol, spec, subject, chosen, by_item, len(items))


def _extreme_items(items: Mapping[str, Sequence[float]]) -> list[tuple[str, float]]:
    """Returns (item, mean effect) for the largest and smallest effects; for all items if few."""
    means = sorted(
        ((item, sum(values) / len(values)) for item, values in items.items()),
        key=lambda one: (-one[1], one[0]),
    )
    return means if len(means) <= 2 * EACH_END else [*means[:EACH_END], *means[-EACH_END:]]


def _side(spec: MeasureSpec, levels: Mapping[str, str]) -> str:
    contrast = spec.contrast or {}
    level = levels.get(contrast["factor"], "")
    return level if level in contrast["controls"].split(SEVERAL) else TESTED


def _grid(
    store: Store,
    protocol: Protocol,
    spec: MeasureSpec,
    subject: str,
    chosen: Sequence[tuple[str, float]],
    shown: Mapping[tuple[str, str], Mapping[str, Sequence[PicturedOutput]]],
    of: int,
) -> PictureGrid:
    contrast = spec.contrast or {}
    columns = (TESTED, *contrast["controls"].split(SEVERAL))
    rows = []
    for item, mean in chosen:
        cells = shown.get((subject, item), {})
        pictures = tuple(
            tuple(shot(store, protocol, one) for one in cells.get(column, ())) for column in columns
        )
        rows.append(PictureRow(f"{item} ({numerals.difference(mean, 2)})", pictures))
    rule = (
        f"{len(chosen)} of {of} {protocol.item}s: the {EACH_END} with the largest and the "
        f"{EACH_END} with the smallest {spec.name}, mean over the controls (in brackets); the "
        f"first {SAMPLES} pictures of each condition. Chosen for their numbers: they show what an "
        "effect looks like, and prove none."
    )
    return PictureGrid(subject, contrast["factor"], columns, tuple(rows), rule)
