"""Scores of whole outputs over several cells (the objects of a subject, or of all subjects): the
averages and totals of the SODA paper's Tables 2 to 5, with a test by shuffling inside each cell.

The measure's contrast lists in `cells` the factors that define a cell. Cells have equal weights and
may differ in attributes. The variant `published` has the paper's plain means, without a test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...protocol import MeasureSpec, Variant
from ...protocol.design.tables import SEVERAL
from ...records import Estimate
from ...stats.results import join_notes
from ...stats.shuffles.permutation import Permuted
from ...stats.shuffles.pooled_permutation import Pooled, PooledCell, Score, pooled_score
from ...stats.shuffles.shuffling import Shuffles
from ..counts.count_table import CountTable
from ..counts.value_counts import OutputGroup, Values, codes, count_with_value
from ..counts.whole_outputs import BASE, DRAWS, BaseAndGroups, Place, split_by_base
from ..measures.estimate_rows import row_of, with_chance_adjusted, with_shuffled
from ..words.reading import PUBLISHED
from .as_published import attribute_distance
from .concentration import (
    commonest_shift,
    concentration_value,
    has_one_value,
)

FEWEST_CELLS = 2  # below it the rows of the one cell say the same
WHOLE_DRAWS = 1_999  # shuffles of all groups of a cell together, which take the longest


@dataclass(frozen=True)
class _Cells:
    """The cells that a measure averages over, each with its own shuffles."""

    table: CountTable
    measure: MeasureSpec
    cells: Sequence[BaseAndGroups]
    shuffles: Sequence[Shuffles]

    @property
    def published(self) -> bool:
        """True for the variant of the paper."""
        return self.table.variant.name == PUBLISHED

    def condition(self, by: Sequence[str], place: Place | None) -> dict[str, str]:
        """Returns a row's condition: dimension and group if in `by`; {} for a row on all groups."""
        contrast = self.measure.contrast or {}
        names = (contrast["within"], contrast["factor"])
        levels = zip(names, place or (), strict=False)
        return {name: level for name, level in levels if name in by}

    def places(self) -> list[Place]:
        """Returns (dimension, group) of all cells, in the order of the design."""
        return places_of(self.cells)

    def prompts(self, place: Place | None) -> Iterator[tuple[BaseAndGroups, OutputGroup]]:
        """Yields (cell, outputs) of a prompt in each cell; of every prompt if place is None."""
        for cell in self.cells:
            yield from (
                (cell, outputs) for key, outputs in cell.prompts.items() if place in (None, key)
            )

    def row(self, condition: Mapping[str, str], n: float, cells: int) -> Estimate:
        """Makes an estimate without a value."""
        return row_of(self.measure, dict(condition), n=n, clusters=cells)

    def score(self, sides: Sequence[Sequence[Sequence[Values]]], score: Score) -> Pooled:
        """Pools a score over cells. sides: by cell, its groups, base first."""
        return pooled_score(
            cells=[
                PooledCell(
                    codes(groups, cell.attributes),
                    cell.attributes,
                    shuffles,
                    [cell.support(name) for name in cell.attributes]
                    if score == "concentration"
                    else None,
                )
                for cell, shuffles, groups in zip(self.cells, self.shuffles, sides, strict=True)
            ],
            score=score,
            by_name=score == "pairs",
        )


def _cells_of(table: CountTable, measure: MeasureSpec, draws: int = DRAWS) -> _Cells:
    cells = cells_of(table, measure)
    return _Cells(table, measure, cells, [cell.shuffles(draws) for cell in cells])


def cells_of(table: CountTable, measure: MeasureSpec) -> list[BaseAndGroups]:
    """Returns the cells of a stratum, or of all subjects if the measure pools subjects."""
    outputs, stratum = table.labelled_outputs(), table.stratum
    subjects = outputs.subjects(stratum) if "subject" in measure.over else [stratum[0]]
    names = [one for one in (measure.contrast or {})["cells"].split(SEVERAL) if one != "subject"]
    return [
        cell
        for subject in subjects
        for key in [(subject, *stratum[1:])]
        for cell in split_by_base(outputs, key, measure, names, table.protocol)
    ]


def places_of(cells: Sequence[BaseAndGroups]) -> list[Place]:
    """Returns (dimension, group) of all cells, in the order of the design."""
    return list(dict.fromkeys(place for cell in cells for place in cell.groups))


def dimensions_of(places: Sequence[Place]) -> dict[str, list[Place]]:
    """Returns {dimension: its (dimension, group) pairs} for dimensions with several groups."""
    dimensions: dict[str, list[Place]] = {}
    for place in places:
        dimensions.setdefault(place[0], []).append(place)
    return {name: groups for name, groups in dimensions.items() if len(groups) > 1}


def cells_of_both(
    first: Sequence[BaseAndGroups], second: Sequence[BaseAndGroups]
) -> list[tuple[BaseAndGroups, BaseAndGroups]]:
    """Pairs the cells of two runs, or of two levels of a factor, that have the same condition."""
    before, after = (
        {tuple(cell.condition.items()): cell for cell in cells} for cells in (first, second)
    )
    return [(cell, after[key]) for key, cell in before.items() if key in after]


def from_base(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Yields the divergence from the base prompt over cells: of each group if `by` names groups,
    else of all groups together (Table 2, last row; the averages of its models).
    """
    cells = _cells_of(table, measure, DRAWS if by else WHOLE_DRAWS)
    if len(cells.cells) < FEWEST_CELLS:
        return
    for condition, sides in _sides(cells, by):
        n = _outputs(sides)
        if cells.published:
            pairs = [
                (cell, [groups[0], group])
                for cell, groups in zip(cells.cells, sides, strict=True)
                for group in groups[1:]
            ]
            yield _published(cells, condition, n, [_distances(*one)[""] for one in pairs])
        else:
            yield _adjusted_whole(cells.row(condition, n, 0), cells.score(sides, "base"))


def between_groups(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> Iterator[Estimate]:
    """Yields the divergence between the groups of each dimension over cells, as a whole and by
    attribute, the attributes with the largest sums first (Table 3).
    """
    all_cells = _cells_of(table, measure)
    if len(all_cells.cells) < FEWEST_CELLS:
        return
    whole_rows, each = [], []
    for dimension in dict.fromkeys(place[0] for place in all_cells.places()):
        sides = [list(cell.dimensions().get(dimension, {}).values()) for cell in all_cells.cells]
        if min(map(len, sides)) < 2:
            continue
        condition, n = {"dimension": dimension}, _outputs(sides)
        if all_cells.published:
            scores = [_distances(*one) for one in zip(all_cells.cells, sides, strict=True)]
            whole_rows.append(_published(all_cells, condition, n, [one.get("") for one in scores]))
            for name in dict.fromkeys(name for one in scores for name in one if name):
                about = {**condition, "attribute": name}
                n = _with_value(sides, name)
                each.append(_published(all_cells, about, n, [one.get(name) for one in scores]))
            continue
        score = all_cells.score(sides, "pairs")
        whole_rows.append(_adjusted_whole(all_cells.row(condition, n, 0), score))
        for name, (one, cells) in score.by_name.items():
            about = {**condition, "attribute": name}
            each.append(_adjusted(all_cells.row(about, _with_value(sides, name), 0), one, cells))
    yield from whole_rows
    sums: dict[str, float] = {}
    for row in each:
        name = row.condition["attribute"]
        sums[name] = sums.get(name, 0.0) + (row.value or 0.0)
    yield from sorted(each, key=lambda row: -sums[row.condition["attribute"]])


def concentration(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Computes the concentration over cells (Table 4); by default its surplus too."""
    cells = _cells_of(table, measure, DRAWS if by else WHOLE_DRAWS)
    if len(cells.cells) < FEWEST_CELLS:
        return
    for place in [BASE, *cells.places()] if by else [None]:
        condition = cells.condition(by, place)
        prompts = list(cells.prompts(place))
        values = [_level(cells, cell, outputs) for cell, outputs in prompts]
        n = float(sum(len(outputs) for _, outputs in prompts))
        yield _published(cells, condition, n, values)
    if cells.published:
        return
    for condition, sides in _sides(cells, by):
        score = cells.score(sides, "concentration")
        one, row = score.whole, cells.row(condition, _outputs(sides), score.cells)
        about = {(measure.contrast or {})["factor"]: f"{condition.get('group', 'groups')} − base"}
        name = f"{measure.name}_difference"
        yield replace(_tested(row, one), measure=name, contrast=about)


def dominant(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Over all cells, the prompts × attributes of which all outputs have one value (Table 5)."""
    cells = _cells_of(table, measure)
    for place in [BASE, *cells.places()] if by else [None]:
        condition = cells.condition(by, place)
        cases = [
            is_alike
            for cell, outputs in cells.prompts(place)
            for name in cell.attributes
            for is_alike in [has_one_value(outputs, name)]
            if is_alike is not None
        ]
        yield _total(cells, condition, cases, ("one value", "several values"))


def shift(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Counts groups × attributes whose commonest value is not the base's (Table 8)."""
    cells, least_share = _cells_of(table, measure), measure.null or 0.0
    for place in cells.places() if by else [None]:
        condition = cells.condition(by, place)
        cases = [
            commonest_shift(cell, outputs, name, least_share) is not None
            for cell in cells.cells
            for key, outputs in cell.groups.items()
            if place in (None, key)
            for name in cell.attributes
            if has_one_value(outputs, name) is not None
        ]
        yield _total(cells, condition, cases, ("moved", "not moved"))


def _sides(
    found: _Cells, by: Sequence[str]
) -> Iterator[tuple[dict[str, str], list[list[OutputGroup]]]]:
    """Yields (condition, base and groups by cell): per group if `by`, else all groups at once."""
    if not by:
        yield {}, [[cell.base, *cell.groups.values()] for cell in found.cells]
        return
    for place in found.places():
        empty = OutputGroup()
        sides = [[cell.base, cell.groups.get(place, empty)] for cell in found.cells]
        yield found.condition(by, place), sides


def _outputs(sides: Sequence[Sequence[Sequence[Values]]]) -> float:
    return float(sum(len(group) for groups in sides for group in groups))


def _with_value(sides: Sequence[Sequence[Sequence[Values]]], name: str) -> float:
    """Counts the outputs in all cells that have a value of an attribute."""
    return sum(count_with_value(groups, name) for groups in sides)


def _adjusted_whole(row: Estimate, pooled: Pooled) -> Estimate:
    return _adjusted(row, pooled.whole, pooled.cells)


def _adjusted(row: Estimate, one: Permuted, cells: int) -> Estimate:
    """Returns the row of the chance-adjusted mean over cells."""
    if one.expected is not None and one.expected >= 1:
        one = replace(one, value=None)
    return with_chance_adjusted(replace(row, clusters=cells), one, one.note, cells=_over(cells))


def _tested(row: Estimate, one: Permuted) -> Estimate:
    note = join_notes(_over(row.clusters or 0), one.note) or ""
    return with_shuffled(row, one, note=note)


def _over(cells: int) -> str:
    return f"mean over {cells} cells"


def _published(
    found: _Cells, condition: Mapping[str, str], n: float, values: Sequence[float | None]
) -> Estimate:
    """Returns the row of the plain mean over the scores that are not None."""
    present = [value for value in values if value is not None]
    row = found.row(condition, n, len(found.cells))
    if found.published and found.measure.kind != "concentration_pooled":
        row = replace(row, unit="distance")
    if not present:
        return replace(row, note="no outputs")
    return replace(row, value=float(np.mean(present)), note=f"mean of {len(present)} scores")


def _distances(cell: BaseAndGroups, sides: Sequence[Sequence[Values]]) -> dict[str, float | None]:
    """Returns {attribute: the paper's distance between the groups}, with the mean under ""."""
    distances = {name: attribute_distance(sides, name) for name in cell.attributes}
    present = [value for value in distances.values() if value is not None]
    return {"": float(np.mean(present)) if present else None, **distances}


def _level(found: _Cells, cell: BaseAndGroups, outputs: Sequence[Values]) -> float | None:
    """Returns the concentration of a prompt, averaged over attributes."""
    variant: Variant = found.table.variant
    values = [concentration_value(cell, outputs, name, variant)[0] for name in cell.attributes]
    present = [value for value in values if value is not None]
    return float(np.mean(present)) if present else None


def _total(
    found: _Cells, condition: Mapping[str, str], cases: Sequence[bool], names: tuple[str, str]
) -> Estimate:
    row = found.row(condition, float(len(cases)), len(found.cells))
    if not cases:
        return replace(row, note="no outputs")
    hits = sum(cases)
    outcomes = {names[0]: float(hits), names[1]: float(len(cases) - hits)}
    note = f"{hits} of {len(cases)}"
    return replace(row, value=hits / len(cases), unit="share", outcomes=outcomes, note=note)
