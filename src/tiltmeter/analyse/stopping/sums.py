"""The labels of a run, summed per claim by item and condition, or its outputs by group; read from
the same tables as the report's estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...protocol import EVERY, MeasureSpec, Protocol
from ...protocol.design.contrasts import each_contrast
from ...protocol.design.tables import SEVERAL
from ...records import Estimate
from ...store import Store
from ..counts.count_table import CountTable, Floats
from ..counts.value_counts import Values
from ..counts.whole_outputs import split_by_base
from ..measures.controlled_effects import TESTED, Sides, item_sides
from ..measures.divergences import codes_of
from ..measures.joint_effect import joint_groups
from ..scores.many_cells import CellSides, sides_between_groups, sides_from_base
from ..whole_run.measure_run import kept_rows, tables
from .plan import key_of


@dataclass(frozen=True, slots=True)
class ItemSums:
    """Hits and outcomes by item and condition, (items, conditions), the tested condition first."""

    items: tuple[str, ...]
    hits: Floats
    outcomes: Floats
    null: float = 0.0

    def in_order(self, items: Sequence[str]) -> ItemSums:
        """Returns the sums for these items, in this order; 0 for an item without labels."""
        place = {item: n for n, item in enumerate(self.items)}
        rows = [place.get(item, -1) for item in items]
        pad = np.zeros((1, self.hits.shape[1]))
        hits, outcomes = (np.vstack([one, pad])[rows] for one in (self.hits, self.outcomes))
        return ItemSums(tuple(items), hits, outcomes, self.null)


@dataclass(frozen=True, slots=True)
class OutputGroups:
    """The outputs of each group, each as {attribute: value}. attributes: those compared."""

    groups: tuple[Sequence[Values], ...]
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CellGroups:
    """The outputs of each group by object, for a claim over many cells."""

    objects: tuple[OutputGroups, ...]


Data = ItemSums | OutputGroups | CellGroups
Found = tuple[Mapping[str, str], Mapping[str, str] | None, Data]
Reader = Callable[[CountTable, MeasureSpec, Sequence[str]], Iterator[Found]]


def alone_with(protocol: Protocol, measures: Sequence[MeasureSpec]) -> Protocol:
    """Returns the protocol with only these measures and the default variant."""
    variants = {"default": protocol.variants["default"]}
    return replace(protocol, measures=tuple(measures), variants=variants)


def claim_data(store: Store, protocol: Protocol) -> dict[str, Data]:
    """Returns {`key_of` a claim: its sums or outputs}, for claims tested by items or outputs."""
    by_claim: dict[str, Data] = {}
    for over, stratum, table, _ in tables(store, protocol):
        place = {k: v for k, v in stratum.items() if k not in ("subject", "annotator")}
        blank = Estimate("", stratum["subject"], stratum["annotator"], "", {}, None, None, "")
        for spec in protocol.measures:
            reader = READERS.get(spec.kind)
            if reader is None or spec.over != over:
                continue
            part = replace(table, rows=kept_rows(table.rows, spec.where))
            if spec.attribute != EVERY and spec.attribute not in set(part.rows["attribute"]):
                continue
            for by in spec.by:
                for one in each_contrast(protocol, spec):
                    for condition, contrast, data in reader(part, one, by):
                        levels = {**place, **condition}
                        row = replace(blank, measure=spec.name, condition=levels, contrast=contrast)
                        by_claim[key_of(row)] = data
    return by_claim


def _shares(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Found]:
    if measure.null is None:
        return
    null = measure.null
    null = null / (1 + null) if measure.kind == "odds" else null
    for added, groups in table.count_groups(measure, by):
        for group in groups:
            if not group.fixed:
                hits, among = group.hits[:, None], group.among[:, None]
                data = ItemSums(tuple(group.items), hits, among, null)
                yield {**group.condition, **added}, None, data


def _pairs(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Found]:
    for added, pair in table.pairs(measure, by):
        hits, among = np.stack(pair.hits, axis=1), np.stack(pair.among, axis=1)
        if len(pair.items) > 1 and (among > 0).all(axis=1).any():
            data = ItemSums(tuple(pair.items), hits, among)
            yield {**pair.condition, **added}, pair.contrast, data


def _effects(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Found]:
    contrast = measure.contrast or {}
    for sides in item_sides(table, measure, by):
        for control in contrast["controls"].split(SEVERAL):
            if control in sides.hits and _own_controls(sides):
                yield sides.condition, {contrast["factor"]: control}, _sums([sides], [control])


def _joint(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Found]:
    for group in joint_groups(table, measure, by):
        if group.complete and all(map(_own_controls, group.complete)):
            yield group.condition, group.contrast, _sums(group.complete, group.controls)


def _own_controls(sides: Sides) -> bool:
    """True if no two items share their controls."""
    return list(sides.names) == list(sides.items)


def _sums(parts: Sequence[Sides], controls: Sequence[str]) -> ItemSums:
    ends = (TESTED, *controls)
    hits = np.vstack([np.stack([one.hits[end] for end in ends], axis=1) for one in parts])
    among = np.vstack([np.stack([one.among[end] for end in ends], axis=1) for one in parts])
    return ItemSums(tuple(item for one in parts for item in one.items), hits, among)


def _against_base(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Found]:
    outputs = table.labelled_outputs()
    for cell in split_by_base(outputs, table.stratum, measure, by, table.protocol):
        attributes = tuple(cell.attributes)
        if measure.kind == "from_base":
            for place, of_dimension in cell.groups.items():
                yield cell.about(place), None, OutputGroups((cell.base, of_dimension), attributes)
        else:
            for dimension, groups in cell.dimensions().items():
                if len(groups) > 1:
                    sides = tuple(groups.values())
                    about = {**cell.condition, "dimension": dimension}
                    yield about, None, OutputGroups(sides, attributes)


def _cells_from_base(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Found]:
    for sides in sides_from_base(table, measure):
        yield sides.about, None, _cell_groups(sides)


def _cells_between_groups(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[Found]:
    for sides in sides_between_groups(table, measure):
        yield sides.about, None, _cell_groups(sides)


def _cell_groups(sides: CellSides) -> CellGroups:
    pairs = zip(sides.cells, sides.groups, strict=True)
    return CellGroups(
        tuple(OutputGroups(tuple(groups), tuple(cell.attributes)) for cell, groups in pairs)
    )


def _cells_between_levels(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[Found]:
    for condition, contrast, data in _between_levels(table, measure, by):
        if isinstance(data, OutputGroups) and "all pairs" in (contrast or {}).values():
            yield condition, None, CellGroups((data,))


def _between_levels(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Found]:
    if by:
        return  # of a part of the outputs: by its plain p
    factor, among = (measure.contrast or {})["factor"], table.answers(measure)
    codes = codes_of(table, measure, among) if table.drawn else {}
    name = measure.attribute
    outputs = {
        level: tuple({name: among[code]} for code in level_codes[:, 0])
        for level, level_codes in codes.items()
    }
    if len(outputs) > 1:
        yield {}, {factor: "all pairs"}, OutputGroups(tuple(outputs.values()), (name,))
    levels = list(outputs)
    for place, first in enumerate(levels):
        for second in levels[place + 1 :]:
            pair = (outputs[first], outputs[second])
            yield {}, {factor: f"{first} − {second}"}, OutputGroups(pair, (name,))


READERS: Mapping[str, Reader] = {
    "share": _shares,
    "odds": _shares,
    "difference": _pairs,
    "ratio": _pairs,
    "effect": _effects,
    "joint_effect": _joint,
    "from_base": _against_base,
    "between_groups": _against_base,
    "divergence": _between_levels,
    "cells_from_base": _cells_from_base,
    "cells_between_groups": _cells_between_groups,
    "cells_between_levels": _cells_between_levels,
}
