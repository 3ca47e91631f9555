"""Scores of whole outputs (SODA's BDS, CDS and VAC) of two subjects: how far they differ, tested by
shuffling whole outputs between the subjects inside each prompt.

The null hypothesis is that both have the same distribution for each prompt, so subjects are
compared on the attributes that both have: every attribute, if one taxonomy labelled both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...protocol import MeasureSpec
from ...protocol.design.tables import SEVERAL
from ...stats.results import join_notes
from ...stats.shuffles.compared_permutation import ComparedCell, score_difference
from ...stats.shuffles.pooled_permutation import Score
from ...stats.shuffles.shuffling import Shuffles
from ..counts.count_table import CountTable
from ..counts.value_counts import codes
from ..counts.whole_outputs import BASE, BaseAndGroups, Place, split_by_base
from ..measures.estimate_rows import row_of, with_shuffled
from ..scores.over_cells import cells_of_both, dimensions_of
from .paired_runs import ComparisonRow, PairedTables

DRAWS = 4_999  # shuffles: enough for Holm's first step over 200 differences
# kind of measure → what is computed; kinds that end in _pooled are over all cells together
SCORES: Mapping[str, Score] = {
    "from_base": "base",
    "between_groups": "pairs",
    "concentration": "level",
}
_POOLED = "_pooled"


def can_compare(measure: MeasureSpec) -> bool:
    """True if shuffling whole outputs can compare two subjects on this measure."""
    return measure.kind.removesuffix(_POOLED) in SCORES and not measure.over


@dataclass(frozen=True)
class ScorePair:
    """A measure of whole outputs, compared between two parts (`RunPart`)."""

    pairing: PairedTables

    @property
    def measure(self) -> MeasureSpec:
        """The compared measure."""
        return self.pairing.measure

    def rows(self) -> Iterator[ComparisonRow]:
        """Yields one comparison per group and cell that both parts have; if the measure is pooled,
        one per group over all cells, and one over all groups.
        """
        cells = list(self._cells)
        if self.measure.kind.endswith(_POOLED):
            if len(cells) > 1:
                for by in self.measure.by:
                    yield from self._of_cells({}, cells, by)
            return
        for cell in cells:
            yield from self._of_cells(cell.condition, [cell], self.measure.by[0])

    def _of_cells(
        self, condition: Mapping[str, str], cells: Sequence[_TwoCells], by: Sequence[str]
    ) -> Iterator[ComparisonRow]:
        contrast = self.measure.contrast or {}
        within, factor = contrast["within"], contrast["factor"]
        score = SCORES[self.measure.kind.removesuffix(_POOLED)]
        places = list(dict.fromkeys(place for cell in cells for place in cell.places))
        if score == "pairs":
            groups = [place for place in places if place != BASE]
            for dimension, groups_of in dimensions_of(groups).items():
                yield self._row({**condition, within: dimension}, cells, groups_of, score)
        elif factor in by:
            for place in places:
                if score == "level" or place != BASE:
                    chosen = [place] if score == "level" else [BASE, place]
                    about = {**condition, within: place[0], factor: place[1]}
                    yield self._row(about, cells, chosen, score)
        else:
            yield self._row(condition, cells, places, score)

    def _row(
        self,
        condition: Mapping[str, str],
        cells: Sequence[_TwoCells],
        places: Sequence[Place],
        score: Score,
    ) -> ComparisonRow:
        compared = [cell.compared(places) for cell in cells]
        difference = score_difference(cells=compared, score=score)
        one = difference.difference
        unshared = ", ".join(sorted({name for cell in cells for name in cell.alone}))
        unit = "concentration" if score == "level" else "bits"
        estimate = with_shuffled(
            row_of(self.measure, condition, unit=unit),
            one,
            n=float(sum(one.sizes)),
            clusters=difference.cells,
            note=join_notes(
                None if score == "level" else "plug-in divergences",
                f"without attributes that one of the two lacks: {unshared}" if unshared else None,
                one.note,
            )
            or "",
        )
        headline = self.measure.headline or self.measure.kind.endswith(_POOLED)
        return self.pairing.row(estimate, (difference.first, difference.second), None, headline)

    @cached_property
    def _cells(self) -> tuple[_TwoCells, ...]:
        """The cells (objects) that both subjects have."""
        pairs = cells_of_both(*(_split(table, self.measure) for table in self.pairing.tables))
        return tuple(_TwoCells(*pair, number) for number, pair in enumerate(pairs))


@dataclass(frozen=True)
class _TwoCells:
    """One cell in both subjects. number: its index, which seeds the shuffles."""

    first: BaseAndGroups
    second: BaseAndGroups
    number: int

    @property
    def condition(self) -> Mapping[str, str]:
        """The condition of the cell."""
        return self.first.condition

    @cached_property
    def places(self) -> list[Place]:
        """The base prompt and the groups for which both subjects have outputs."""
        other = self.second.prompts
        return [
            place for place, prompts in self.first.prompts.items() if prompts and other.get(place)
        ]

    @cached_property
    def names(self) -> list[str]:
        """The attributes that both subjects have."""
        return [name for name in self.first.attributes if name in self.second.attributes]

    @property
    def alone(self) -> set[str]:
        """The attributes that only one of the two subjects has."""
        return {*self.first.attributes} ^ {*self.second.attributes}

    def compared(self, places: Sequence[Place]) -> ComparedCell:
        """Codes the outputs of some prompts, with the same codes for both subjects."""
        runs = self.first.prompts, self.second.prompts
        coded = codes([run.get(place, ()) for run in runs for place in places], self.names)
        order = list(runs[0])
        shuffles = [
            Shuffles(
                draws=DRAWS,
                generator=np.random.default_rng([self.number, order.index(place) + 1])
                if place in order
                else np.random.default_rng(self.number),
            )
            for place in places
        ]
        supports = [
            max(one.support(name) for one in (self.first, self.second)) for name in self.names
        ]
        half = len(places)
        return ComparedCell(coded[:half], coded[half:], shuffles, _at_least(coded, supports))


def _at_least(
    coded: Sequence[np.ndarray[tuple[int, int], np.dtype[np.int64]]], supports: Sequence[int]
) -> list[int]:
    """Returns the number of values per attribute: its support, or the observed number if larger."""
    rows = np.concatenate(coded)
    distinct = [len(set(column[column >= 0].tolist())) for column in rows.T]
    return [max(pair) for pair in zip(supports, distinct, strict=True)]


def _split(table: CountTable, measure: MeasureSpec) -> Sequence[BaseAndGroups]:
    contrast = measure.contrast or {}
    by = contrast["cells"].split(SEVERAL) if "cells" in contrast else measure.by[0]
    outputs = table.labelled_outputs()
    return split_by_base(outputs, table.stratum, measure, by, table.protocol)
