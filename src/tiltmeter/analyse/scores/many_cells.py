"""Claims over many cells: whether a group differs anywhere, in one test over all objects, and which
value of which attribute shows the difference (`stats.shuffles.many_cells`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...protocol import MeasureSpec
from ...records import CellClaim, Estimate, NamedCell
from ...stats.arguments import Codes
from ...stats.power.cell_rises import value_rise
from ...stats.results import ALPHA, join_notes
from ...stats.shuffles.many_cells import CellKey, ManyCells, ObjectOutputs, many_cells
from ..counts.count_table import CountTable
from ..counts.value_counts import OutputGroup, codes_with_values
from ..counts.whole_outputs import DRAWS, BaseAndGroups, shuffles_of
from ..measures.divergences import codes_of
from ..measures.estimate_rows import row_of
from .kinds import note_of
from .over_cells import cells_of, dimensions_of, places_of

METHOD = "largest cell or mean divergence, rows permuted inside each"


@dataclass(frozen=True)
class Compared:
    """The two sides of a claim. parts: outputs by object, as input of the test; objects: their
    names; names: of the groups. If `based`, the first group is the base; otherwise two groups are
    compared with each other, and each of three or more with the rest.
    """

    parts: Sequence[ObjectOutputs]
    objects: Sequence[str]
    names: Sequence[str]
    based: bool


class CellSides(NamedTuple):
    """The groups that a claim compares. about: its condition; names: of the groups; groups: by
    cell, the groups' outputs in the order of `names`.
    """

    about: dict[str, str]
    names: Sequence[str]
    cells: Sequence[BaseAndGroups]
    groups: Sequence[Sequence[OutputGroup]]


def sides_from_base(table: CountTable, measure: MeasureSpec) -> Iterator[CellSides]:
    """Yields, per group of a dimension, the base and this group, in all objects."""
    contrast, cells = measure.contrast or {}, cells_of(table, measure)
    for place in places_of(cells):
        groups = [[cell.base, cell.groups.get(place, OutputGroup())] for cell in cells]
        about = dict(zip((contrast["within"], contrast["factor"]), place, strict=True))
        yield CellSides(about, (contrast["baseline"], place[1]), cells, groups)


def sides_between_groups(table: CountTable, measure: MeasureSpec) -> Iterator[CellSides]:
    """Yields, per dimension with several groups, these groups, in all objects."""
    contrast, cells = measure.contrast or {}, cells_of(table, measure)
    for dimension, levels in dimensions_of(places_of(cells)).items():
        groups = [[cell.groups.get(place, OutputGroup()) for place in levels] for cell in cells]
        names = [group for _, group in levels]
        yield CellSides({contrast["within"]: dimension}, names, cells, groups)


def from_base(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """One claim for each group of a dimension: do its outputs differ from those of the base prompt
    in any value of any attribute, over all objects? Value: the difference of the shares of the
    largest cell. p by shuffling whole outputs inside each object.
    """
    for sides in sides_from_base(table, measure):
        yield _noted(table, claim_row(measure, sides.about, _compared(sides, based=True))[0])


def between_groups(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    """Yields one claim for each dimension with several groups: that the outputs of these groups
    differ. With three or more groups, a cell is a group against all others.
    """
    for sides in sides_between_groups(table, measure):
        yield _noted(table, claim_row(measure, sides.about, _compared(sides, based=False))[0])


def between_levels(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    """One claim over all levels of a factor: do their labels differ? With three or more levels, a
    cell is a level against all others. Only labels of sampled answers can be shuffled.
    """
    among = table.answers(measure)
    codes = codes_of(table, measure, among) if table.drawn else {}
    if len(codes) < 2:
        reason = "labels of fewer than two levels" if table.drawn else "read from probabilities"
        yield row_of(measure, {}, note=f"{reason}: nothing to shuffle")
        return
    shuffles = shuffles_of(measure.name, DRAWS)
    part = ObjectOutputs(list(codes.values()), (measure.attribute,), (among,), shuffles)
    yield claim_row(measure, {}, Compared([part], [""], list(codes), False))[0]


def _compared(sides: CellSides, *, based: bool) -> Compared:
    parts = []
    for cell, groups in zip(sides.cells, sides.groups, strict=True):
        rows, values = codes_with_values(groups, cell.attributes)
        parts.append(ObjectOutputs(rows, cell.attributes, values, cell.shuffles(DRAWS)))
    objects = [", ".join((*cell.condition.values(), cell.subject)[:1]) for cell in sides.cells]
    return Compared(parts, objects, sides.names, based)


def claim_row(
    measure: MeasureSpec, about: Mapping[str, str], compared: Compared
) -> tuple[Estimate, tuple[float | None, float | None]]:
    """Returns the row of a claim, and the shares in its largest cell (base's, group's)."""
    claim = many_cells(parts=compared.parts)
    rows = sum(len(group) for part in compared.parts for group in part.groups)
    row = row_of(measure, dict(about), n=float(rows), clusters=len(compared.parts))
    if claim.p is None or not claim.cells:
        reason = "too few outputs of each group to show a difference"
        return replace(row, note=reason), (None, None)
    largest = _with_raw_shares(compared, claim.cells[0], 1.0)

    def name_cells(level: float, rejected: bool) -> CellClaim:
        return _cell_claim(compared, claim, level, rejected)

    def detect(level: float) -> float | None:
        return _rises(compared, claim, level)[0]

    row = replace(
        row,
        value=largest["share"] - largest["base_share"],
        test=METHOD,
        p=claim.p,
        detect=detect if measure.headline else None,
        note=_note(claim, largest),
        name_cells=name_cells if measure.headline else None,
    )
    return row, (largest["base_share"], largest["share"])


def _note(found: ManyCells, largest: NamedCell) -> str:
    """Describes the largest cell with its observed shares, and the mean divergence."""
    where = f" ({largest['object']})" if largest["object"] else ""
    base = largest["base"] or "the others"
    prefix = (
        f"largest of {len(found.cells)} cells: {largest['attribute']} {largest['value']}{where}, "
        f"{largest['share']:.3f} for {largest['group']}, {largest['base_share']:.3f} for {base}"
    )
    note = f"mean divergence {found.divergence:.4f} bits, by chance {found.expected:.4f}"
    return join_notes(prefix, note if np.isfinite(found.divergence) else None) or ""


def _cell_claim(compared: Compared, found: ManyCells, level: float, rejected: bool) -> CellClaim:
    """Selects the cells that show the effect of a significant claim. level: α of a cell's test."""
    claims = round(ALPHA / level)
    everywhere, one = _rises(compared, found, level)
    named_cells: dict[str, NamedCell] = {}
    for key, p in found.named(level) if rejected else ():
        named_cells.setdefault(key.attribute, _with_raw_shares(compared, key, min(1.0, p * claims)))
    return CellClaim(
        named=list(named_cells.values()),
        largest=_with_raw_shares(compared, found.cells[0], 1.0),
        follows=[],
        follows_from=None,
        tested=len(found.cells),
        level=level,
        detectable_all=everywhere,
        detectable_one=one,
    )


def _rises(compared: Compared, found: ManyCells, level: float) -> tuple[float | None, float | None]:
    """Returns the rises of a share detected with 80 % power: (in all objects together, in one)."""
    sizes = np.array([[len(group) for group in part.groups] for part in compared.parts], float)
    filled = [row for row in sizes if (row > 0).sum() > 1]
    if not filled:
        return None, None
    if compared.based:
        group, base = np.mean([row[1] for row in filled]), np.mean([row[0] for row in filled])
    else:
        group = np.mean([row.sum() / len(row) for row in filled])
        base = np.mean([row.sum() for row in filled]) - group
    critical, parts = found.critical(level), len(filled)
    everywhere, one = (
        value_rise(
            group=round(size * group), base=round(size * base), critical=critical, parts=size
        )
        for size in (parts, 1)
    )
    return everywhere, one


def _with_raw_shares(compared: Compared, key: CellKey, p_adjusted: float) -> NamedCell:
    """Returns a cell with the raw shares on its two sides. If two groups are compared without a
    base, `group` is the one in which the value is more frequent.
    """
    group, others = key.group, [g for g in range(len(compared.names)) if g != key.group]
    if (
        len(others) == 1
        and not compared.based
        and _share(compared, key, [group])[0] < (_share(compared, key, others)[0])
    ):
        group, others = others[0], [group]
    (share, n), (base_share, base_n) = (_share(compared, key, g) for g in ([group], others))
    return NamedCell(
        attribute=key.attribute,
        value=key.value,
        object=_object(compared, key),
        group=compared.names[group],
        base=compared.names[others[0]] if len(others) == 1 else None,
        share=share,
        n=n,
        base_share=base_share,
        base_n=base_n,
        p_adjusted=p_adjusted,
    )


def _object(compared: Compared, key: CellKey) -> str | None:
    """Returns the object of a cell; None if the cell covers several objects."""
    alone = 0 if len(compared.objects) == 1 else key.part
    return None if alone is None else compared.objects[alone] or None


def _share(compared: Compared, key: CellKey, groups: Sequence[int]) -> tuple[float, float]:
    """Returns the share of a value in some groups, and its denominator: the outputs that have a
    value of the attribute, in all objects that have the attribute, or in the cell's object.
    """
    hits = total = 0
    for place, part in enumerate(compared.parts):
        if key.attribute not in part.names or key.part not in (None, place):
            continue
        column = list(part.names).index(key.attribute)
        values = list(part.values[column])
        code = values.index(key.value) if key.value in values else len(values)
        own: list[Codes] = [part.groups[g][:, column] for g in groups]
        hits += sum(int((codes == code).sum()) for codes in own)
        total += sum(int((codes >= 0).sum()) for codes in own)
    return (hits / total if total else 0.0), float(total)


def _noted(table: CountTable, row: Estimate) -> Estimate:
    """Adds the note on pooled subjects and on how attributes were chosen."""
    return replace(row, note=join_notes(row.note, note_of(table)(row)) or "")
