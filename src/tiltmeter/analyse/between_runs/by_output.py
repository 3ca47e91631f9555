"""Two runs compared output by output, where a measure's groups are levels of the design and no
sample of items: shares of each group, and how far the distributions of two runs lie apart.

Outputs are shuffled between the runs, inside each group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...records import Estimate
from ...stats import independent
from ...stats.arguments import Codes
from ...stats.shuffles import chance
from ...stats.shuffles.pooled_permutation import PooledCell, pooled_score
from ...stats.shuffles.shuffling import Shuffles
from ..counts.count_table import Group, Table
from ..counts.whole_outputs import DRAWS
from ..measures.divergences import UNIT, adjusted_row, codes_of, exact
from ..measures.estimate_rows import finite
from .paired_runs import ComparisonRow, Pairing

WIDE, NARROW = 0.95, 0.90  # confidence of the interval, and of that which is held to the margin


@dataclass(frozen=True, slots=True)
class OutputPair:
    """Two parts compared by outputs, in one grouping."""

    pairing: Pairing
    by: Sequence[str]

    def shares(self) -> Iterator[ComparisonRow]:
        """A row for each group and value, second run less first, where each group is one item."""
        if not all(table.drawn for table in self.pairing.tables):
            return
        sides = [
            {tuple(group.condition.items()): group for group in groups}
            for groups in map(self._groups, self.pairing.tables)
        ]
        for key in (key for key in sides[0] if key in sides[1]):
            first, second = sides[0][key], sides[1][key]
            if first.fixed and second.fixed:
                yield self._share(dict(key), first, second)

    def _groups(self, table: Table) -> Iterator[Group]:
        for more, groups in table.count_groups(self.pairing.measure, self.by):
            for group in groups:
                yield replace(group, condition={**group.condition, **more})

    def _share(self, condition: Mapping[str, str], first: Group, second: Group) -> ComparisonRow:
        xb, nb, xa, na = (
            round(float(one.sum())) for one in (second.hits, second.among, first.hits, first.among)
        )
        sides = {"successes_a": xb, "n_a": nb, "successes_b": xa, "n_b": na}
        wide, narrow = (
            independent.difference(**sides, confidence=confidence) for confidence in (WIDE, NARROW)
        )
        test = independent.shuffled_difference(**sides)
        estimate = replace(
            self.pairing.blank(condition, "share", self.by),
            value=wide.value,
            low=wide.low,
            high=wide.high,
            confidence=wide.confidence if wide.low is not None else None,
            interval_method=wide.method,
            test=test.method,
            p=test.p,
            n=float(na + nb),
            note=wide.note or "",
        )
        margin = self.pairing.margin
        within = None
        if narrow.low is not None and narrow.high is not None:
            within = -margin < narrow.low and narrow.high < margin
        values = (xa / na if na else None, xb / nb if nb else None)
        return self._row(estimate, values, within)

    def divergences(self) -> Iterator[ComparisonRow]:
        """How far the two runs lie apart at each level of the measure's factor, and over all
        levels, the outputs shuffled inside each.
        """
        if not all(table.drawn for table in self.pairing.tables):
            return
        measure = self.pairing.measure
        factor = (measure.contrast or {})["factor"]
        among = self.pairing.before.answers(measure)
        sides = [codes_of(table, measure, among) for table in self.pairing.tables]
        both = [level for level in sides[0] if level in sides[1]]
        strata = [[sides[0][level], sides[1][level]] for level in both]
        if len(both) > 1:
            yield self._divergence({}, strata, len(among))
        for level, pair in zip(both, strata, strict=True):
            yield self._divergence({factor: level}, [pair], len(among))

    def _divergence(
        self, condition: Mapping[str, str], strata: Sequence[Sequence[Codes]], values: int
    ) -> ComparisonRow:
        expected = [
            chance.expected_divergence(
                groups=[np.bincount(codes[:, 0], minlength=values) for codes in pair]
            )
            for pair in strata
        ]
        cells = [
            PooledCell(pair, (self.pairing.measure.attribute,), own)
            for pair, own in zip(strata, _shuffles(len(strata)), strict=True)
        ]
        found = exact(pooled_score(cells=cells, score="pairs").whole, float(np.mean(expected)))
        blank = self.pairing.blank(condition, UNIT, self.by)
        return self._row(adjusted_row(blank, found), (None, None), None)

    def _row(
        self, estimate: Estimate, values: tuple[float | None, float | None], within: bool | None
    ) -> ComparisonRow:
        return self.pairing.row(replace(estimate, p=finite(estimate.p)), values, within)


def _shuffles(number: int) -> list[Shuffles]:
    """Independent shuffles for each stratum, the same in every analysis."""
    return [
        Shuffles(draws=DRAWS, generator=np.random.default_rng([20, stratum]))
        for stratum in range(number)
    ]
