"""The distance between two runs' labels, tested by shuffling outputs inside each level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...records import Estimate
from ...stats.arguments import Codes
from ...stats.shuffles import chance
from ...stats.shuffles.pooled_permutation import PooledCell, pooled_score
from ...stats.shuffles.shuffling import Shuffles
from ..counts.whole_outputs import DRAWS
from ..measures.divergences import UNIT, adjusted_row, codes_of, exact
from ..measures.estimate_rows import row_of
from .paired_runs import ComparisonRow, PairedTables

SEED = 20  # of the shuffles, with the place of the level


def distances(pairing: PairedTables) -> Iterator[ComparisonRow]:
    """Yields the distance over all levels that both runs have, then one distance per level."""
    if not all(table.drawn for table in pairing.tables):
        return
    measure = pairing.measure
    factor = (measure.contrast or {})["factor"]
    among = pairing.before.answers(measure)
    first, second = (codes_of(table, measure, among) for table in pairing.tables)
    strata = {level: (first[level], second[level]) for level in first if level in second}
    parts = [({factor: level}, [pair]) for level, pair in strata.items()]
    if len(parts) > 1:
        parts.insert(0, ({}, [*strata.values()]))
    for condition, pairs in parts:
        blank = row_of(measure, condition, unit=UNIT)
        yield pairing.row(_distance(blank, pairs, len(among)), (None, None), None)


def _distance(blank: Estimate, strata: Sequence[Sequence[Codes]], values: int) -> Estimate:
    expected = [
        chance.expected_divergence(
            groups=[np.bincount(codes[:, 0], minlength=values) for codes in pair]
        )
        for pair in strata
    ]
    cells = [
        PooledCell(
            pair, ("",), Shuffles(draws=DRAWS, generator=np.random.default_rng([SEED, place]))
        )
        for place, pair in enumerate(strata)
    ]
    score = pooled_score(cells=cells, score="pairs", by_name=False).whole
    return adjusted_row(blank, exact(score, float(np.mean(expected))))
