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
from tiltmeter.stats.permutation import mean_over
from tiltmeter.stats.pooled_permutation import SCORES, Score
from tiltmeter.stats.shuffling import Cell, Shuffles, cell_of, coded_groups, count_rows
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
        """How many looks there are so far."""
        return len(self.blocks)


def block_scores(data: OutputBlocks, design: StoppingDesign) -> Ticks:
    """The divergence of every permutation at every look, in ticks: shape (looks, permutations),
    no. 0 the observed. 0 where nothing is measured on both sides.
    """
    statistic, _ = SCORES[data.score]
    whole, blocks = _whole_cell(data)
    sums: list[Floats] = []
    made, sizes, end = [], [0] * len(data.blocks[0]), 0
    for place, block in enumerate(blocks):
        rows = whole.onehot[end : end + sum(map(len, block))]
        end += len(rows)
        sizes = [n + len(group) for n, group in zip(sizes, block, strict=True)]
        counts = _block_counts(rows, block, _shuffles(design.seed, design.draws - 1, place))
        sums = [a + b for a, b in zip(sums, counts, strict=True)] if sums else counts
        cell = replace(whole, onehot=whole.onehot[:end], sizes=tuple(sizes))
        made.append(mean_over(statistic(cell, sums)))
    scores = np.nan_to_num(np.stack(made)).clip(0.0, 1.0)
    return np.rint(scores * (TICKS / MOST_BITS)).astype(np.int32)


def _whole_cell(data: OutputBlocks) -> tuple[Cell, list[list[Codes]]]:
    """All rows, block by block and in it group by group, with the values that occur in any."""
    blocks = [coded_groups(list(block)) for block in data.blocks]
    rows = [group for block in blocks for group in block if len(group)]
    # rows are moved whole: kinds of alike rows would be drawn for all blocks together
    return replace(cell_of([np.concatenate(rows)], None), kinds=None), blocks


def _block_counts(
    rows: NDArray[np.float32], block: Sequence[Codes], shuffles: Shuffles
) -> list[Floats]:
    """Counts of every value in every group of a block, as they are and in every permutation:
    (permutations, values) each.
    """
    sizes = tuple(len(group) for group in block)
    ends = np.cumsum(sizes)
    counts = []
    labels = [*shuffles.blocks(sizes, max(*rows.shape, 1))] if len(rows) else []
    for group, end in enumerate(ends):
        seen = rows[end - sizes[group] : end].sum(axis=0, dtype=np.float64)[None, :]
        drawn = [count_rows(one, group, rows) for one in labels]
        if not len(rows):
            drawn = [np.zeros((shuffles.draws, rows.shape[1]))]
        counts.append(np.concatenate([seen, *drawn]))
    return counts


@lru_cache(maxsize=16)
def _shuffles(seed: int, draws: int, block: int) -> Shuffles:
    return Shuffles(draws=draws, generator=np.random.default_rng([seed, 1, block]))
