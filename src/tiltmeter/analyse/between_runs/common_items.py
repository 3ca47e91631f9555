"""The items that two runs share, by group: asked in both runs, and with counted answers in both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from ...protocol import MeasureSpec
from ...stats.results import join_notes
from ..correction.corrected_rows import side_cuts_of
from ..counts.count_table import CountTable, Cut, Key
from ..measures.controlled_effects import TESTED, shared_items

Tables = tuple[CountTable, CountTable]


@dataclass(frozen=True, slots=True)
class CommonItems:
    """The items in both runs. asked: both tables with these items only; counted: both tables with
    the items that have an answer in the denominator on every side. alone: by group, the number of
    items in one run only; unanswered: by group, the number of shared items that `counted` leaves
    out."""

    asked: Tables
    counted: Tables
    by: Sequence[str]
    alone: Mapping[Key, int]
    unanswered: Mapping[Key, int]

    @property
    def some_unanswered(self) -> bool:
        """True if both runs asked some item that is left out for lack of counted answers."""
        return any(self.unanswered.values())

    def note(self, condition: Mapping[str, str]) -> str | None:
        """Returns a note on how many items of a group are not compared; None if all are."""
        place = tuple((name, condition[name]) for name in self.by)
        alone, unanswered = self.alone.get(place, 0), self.unanswered.get(place, 0)
        return join_notes(
            f"items that one run alone has: {alone}" if alone else None,
            f"items of which a run has no answer that counts: {unanswered}" if unanswered else None,
        )


def common_items(
    tables: Tables, measure: MeasureSpec, by: Sequence[str], against: str = TESTED
) -> CommonItems:
    """Finds the common items of each group. against: the side with which a difference or effect
    compares the tested side.

    Items that share controls are kept or left out together.
    """
    cuts = [side_cuts_of(table, measure, by) for table in tables]
    shared, sides = shared_items(tables[0]), dict.fromkeys((TESTED, against))
    asked, counted, alone, unanswered = [], [], {}, {}
    for key in (key for key in cuts[0] if key in cuts[1]):
        corners = [run[key].get(side) for run in cuts for side in sides]
        known_cuts = [cut for cut in corners if cut is not None]
        if len(known_cuts) < len(corners):
            continue
        items = dict.fromkeys(item for cut in known_cuts for item in cut.items)
        ids = {shared.get(item, item) for item in items}
        shared_ids = set.intersection(
            *({shared.get(i, i) for i in cut.items} for cut in known_cuts)
        )
        answered = set.intersection(
            *({shared.get(i, i) for i in _counting(cut, measure)} for cut in known_cuts)
        )
        levels = [level for _, level in key]
        asked += [(*levels, item) for item in items if shared.get(item, item) in shared_ids]
        counted += [(*levels, item) for item in items if shared.get(item, item) in answered]
        alone[key], unanswered[key] = len(ids) - len(shared_ids), len(shared_ids) - len(answered)
    pair = [_keep(tables, by, places) for places in (asked, counted)]
    return CommonItems(pair[0], pair[1], by, alone, unanswered)


def _counting(cut: Cut, measure: MeasureSpec) -> Iterator[str]:
    """Yields the items that have a label in the denominator."""
    sums = cut.sum(measure.among or tuple(cut.values))
    return (item for item, n in zip(cut.items, sums, strict=True) if n > 0)


def _keep(tables: Tables, by: Sequence[str], places: Collection[tuple[str, ...]]) -> Tables:
    """Returns both tables with only those rows whose (*levels of `by`, item) is in `places`."""
    item = tables[0].protocol.item
    names = [f"{number}" for number in range(len(by))] + ["item"]
    frame = pl.DataFrame(list(places), dict.fromkeys(names, pl.String), orient="row")
    columns = [*by, item]

    def keep(table: CountTable) -> CountTable:
        split = table.split_levels(by)
        rows = split.join(frame, left_on=columns, right_on=names, how="semi", maintain_order="left")
        if table.rows.height == split.height == rows.height:
            return table  # whose sums are known
        return replace(table, rows=rows)

    return keep(tables[0]), keep(tables[1])
