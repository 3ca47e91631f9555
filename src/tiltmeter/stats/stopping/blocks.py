"""Claims about whole outputs (divergences) by a look: outputs change groups inside a block of
rounds.

Outputs of one round come under one set of conditions, so what is exchangeable under the null are
the outputs of a block of rounds (n_{k-1}, n_k]. A permutation permutes every block by itself, and
the looks see what its blocks sum to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.shuffles.dealing import pack_rows
from tiltmeter.stats.shuffles.permutation import Statistic, mean_over
from tiltmeter.stats.shuffles.pooled_permutation import SCORES, Score
from tiltmeter.stats.shuffles.shuffling import IN_FLIGHT, Cell, Shuffles, cell_of, coded_groups
from tiltmeter.stats.stopping.design import StoppingDesign
from tiltmeter.stats.stopping.paths import TICKS, Ticks

MOST_BITS = 1.01  # a divergence is at most 1, but for rounding


@dataclass(frozen=True, slots=True)
class OutputBlocks:
    """The outputs of a claim by a look. blocks: one a look so far, each holding the coded rows of
    every group in that block of rounds, shape (outputs, attributes), -1 where an attribute was not
    measured; the same codes in all. score: "pairs" (of two groups: base against group) or "base".
    """

    blocks: Sequence[Sequence[Codes]]
    score: Score = "pairs"

    @property
    def looks(self) -> int:
        """The number of looks so far."""
        return len(self.blocks)


def block_scores(data: OutputBlocks, design: StoppingDesign) -> Ticks:
    """The divergence of every permutation at every look, in ticks: shape (looks, permutations),
    no. 0 the observed. 0 where nothing is measured on both sides.
    """
    statistic, _ = SCORES[data.score]
    whole, blocks = _whole_cell(data)
    values, groups = whole.onehot.shape[1], len(blocks[0])
    sums = [np.zeros((design.draws, values)) for _ in range(groups - 1)]
    scores = np.zeros((len(blocks), design.draws))
    sizes, end = [0] * groups, 0
    for look, block in enumerate(blocks):
        rows = whole.onehot[end : end + sum(map(len, block))]
        end += len(rows)
        sizes = [n + len(group) for n, group in zip(sizes, block, strict=True)]
        if len(rows):
            _add_counts(sums, rows, block, _shuffles(design.seed, design.draws - 1, look))
        cell = replace(whole, onehot=whole.onehot[:end], sizes=tuple(sizes))
        scores[look] = _statistics(statistic, cell, sums)
    scores = np.nan_to_num(scores).clip(0.0, 1.0)
    return np.rint(scores * (TICKS / MOST_BITS)).astype(np.int32)


def _statistics(statistic: Statistic, cell: Cell, sums: list[Floats]) -> Floats:
    """The mean over attributes in every permutation. sums: counts of all groups but the last."""
    totals = cell.onehot.sum(axis=0, dtype=np.float64)
    piece = max(1, IN_FLIGHT // max(totals.size, 1))
    found = []
    for start in range(0, len(sums[0]), piece):
        part = [one[start : start + piece] for one in sums]
        last = totals - sum(part[1:], start=part[0])
        found.append(mean_over(statistic(cell, [*part, last])))
    return np.concatenate(found)


def _whole_cell(data: OutputBlocks) -> tuple[Cell, list[list[Codes]]]:
    """All rows, block by block and in it group by group, with the values that occur in any."""
    blocks = [coded_groups(list(block)) for block in data.blocks]
    rows = [group for block in blocks for group in block if len(group)]
    # rows are moved whole: kinds of alike rows would be drawn for all blocks together
    return replace(cell_of([np.concatenate(rows)], None), kinds=None), blocks


def _add_counts(
    sums: list[Floats], rows: NDArray[np.float32], block: Sequence[Codes], shuffles: Shuffles
) -> None:
    """Adds the counts of a block, of every value in every group but the last: first as they are,
    then in every permutation.
    """
    sizes = tuple(len(group) for group in block)
    ends = np.cumsum(sizes)
    packed = pack_rows(rows > 0)
    for group, total in enumerate(sums):
        total[0] += rows[ends[group] - sizes[group] : ends[group]].sum(axis=0)
    start = 1
    for counted in shuffles.counts(sizes, packed):
        end = start + counted.shape[-1]
        for counts, total in zip(counted, sums, strict=True):
            total[start:end] += counts.T
        start = end


@lru_cache(maxsize=16)
def _shuffles(seed: int, draws: int, block: int) -> Shuffles:
    return Shuffles(draws=draws, generator=np.random.default_rng([seed, 1, block]))
