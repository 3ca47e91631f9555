"""Claims about whole outputs (divergences) up to a look: outputs change groups inside blocks.

Outputs of one round come from one set of conditions, so under the null hypothesis the outputs of a
block of rounds (n_{k-1}, n_k] are exchangeable. Every block is permuted separately, and a look uses
the sums over its blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.shuffles.many_cells import MOST_LOG, largest_scores, minus_log_p
from tiltmeter.stats.shuffles.pooled_permutation import SCORES, Score
from tiltmeter.stats.shuffles.row_statistics import Statistic, mean_divergence, mean_of, mean_over
from tiltmeter.stats.shuffles.shuffling import IN_FLIGHT, Cell, Shuffles, cell_of, coded_groups
from tiltmeter.stats.stopping.design import StoppingDesign
from tiltmeter.stats.stopping.paths import TICKS, Ticks

MOST_BITS = 1.01  # a divergence is at most 1, but for rounding
MOST_T = 1.01 * MOST_LOG  # the largest statistic of a claim of many cells


@dataclass(frozen=True, slots=True)
class OutputBlocks:
    """The outputs of a claim up to a look. blocks: one per look so far, each with the coded rows of
    every group in that block of rounds, shape (outputs, attributes), -1 if an attribute was not
    measured; equal codes in all blocks. score: "pairs" (two groups: base against group) or "base".
    """

    blocks: Sequence[Sequence[Codes]]
    score: Score = "pairs"

    @property
    def looks(self) -> int:
        """The number of looks so far."""
        return len(self.blocks)


@dataclass(frozen=True, slots=True)
class CellPart:
    """The outputs of one object in a claim over many cells. blocks: as in `OutputBlocks`; names: of
    the attributes; values: names of each attribute's values, by code.
    """

    blocks: Sequence[Sequence[Codes]]
    names: Sequence[str]
    values: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class CellBlocks:
    """A claim over many cells up to a look: outputs change groups inside a block of one object."""

    parts: Sequence[CellPart]

    @property
    def looks(self) -> int:
        """The number of looks so far."""
        return len(self.parts[0].blocks)


def cell_scores(data: CellBlocks, design: StoppingDesign) -> Ticks:
    """Returns T of every permutation at every look, in ticks: shape (looks, permutations);
    permutation 0 is the observed one. T = max(V, D) at look k, over all outputs so far
    (`many_cells`), each as -log p by the moments over the permutations of that look; 0 if nothing
    can be compared."""
    scores = np.zeros((data.looks, design.draws))
    tallies = [list(_tallies(place, part, design)) for place, part in enumerate(data.parts)]
    for look in range(data.looks):
        present = [tally for looks in tallies if (tally := looks[look]) is not None]
        if not present:
            continue
        maxima = largest_scores(present, design.draws - 1)
        means = [_statistics(mean_divergence, tally.cell, tally.sums) for tally in present]
        top = minus_log_p(mean_of(means))
        scores[look] = np.maximum(minus_log_p(maxima), np.nan_to_num(top))
    return np.rint(scores * (TICKS / MOST_T)).astype(np.int32)


@dataclass(frozen=True, slots=True)
class _Tally:
    """A part at a look. sums: counts so far in all groups but the last, (draws, values)."""

    place: int
    groups: tuple[int, ...]
    cell: Cell
    columns: tuple[tuple[str, str], ...]
    sums: list[Floats]

    @property
    def pair(self) -> bool:
        """True if two groups are compared with each other."""
        return len(self.groups) == 2

    def counts(self) -> list[Floats]:
        """Counts each column by group, (columns, draws); for a pair, in the second group only."""
        last = self.cell.totals - sum(self.sums[1:], start=self.sums[0])
        counts = [group.T for group in (*self.sums, last)]
        return counts[1:] if self.pair else counts


def _tallies(place: int, part: CellPart, design: StoppingDesign) -> Iterator[_Tally | None]:
    """Yields the tally of a part at each look; None while a group has no outputs, or no value."""
    cell, blocks = _whole_cell(part.blocks)
    owners = cell.member.argmax(axis=1)
    names = [
        (part.names[owner], value)
        for owner, value in zip(owners.tolist(), _column_values(part), strict=True)
    ]
    groups = len(blocks[0])
    sums = [np.zeros((design.draws, cell.onehot.shape[1])) for _ in range(groups - 1)]
    sizes, end = [0] * groups, 0
    for look, block in enumerate(blocks):
        rows = cell.onehot[end : end + sum(map(len, block))]
        end += len(rows)
        sizes = [n + len(group) for n, group in zip(sizes, block, strict=True)]
        if len(rows):
            _add_counts(sums, rows, block, _shuffles(design.seed, design.draws - 1, look, place))
        onehot = cell.onehot[:end]
        values = np.flatnonzero(onehot.any(axis=0))
        if not all(sizes) or not values.size:
            yield None
            continue
        member = cell.member[values]
        reduced = replace(cell, onehot=onehot[:, values], member=member, sizes=tuple(sizes))
        columns = tuple(names[column] for column in values.tolist())
        yield _Tally(
            place, tuple(range(groups)), reduced, columns, [group[:, values] for group in sums]
        )


def _column_values(part: CellPart) -> Iterator[str]:
    """Yields the value of each column of a cell: by attribute, in the order of their codes."""
    rows = np.concatenate([group for block in part.blocks for group in block if len(group)])
    for place, values in enumerate(part.values):
        yield from (values[code] for code in np.unique(rows[rows[:, place] >= 0, place]))


def block_scores(data: OutputBlocks, design: StoppingDesign) -> Ticks:
    """Returns the divergence of every permutation at every look, in ticks: shape (looks,
    permutations); permutation 0 is the observed one. 0 if no attribute is measured on both sides.
    """
    statistic, _ = SCORES[data.score]
    full_cell, blocks = _whole_cell(data.blocks)
    values, groups = full_cell.onehot.shape[1], len(blocks[0])
    sums = [np.zeros((design.draws, values)) for _ in range(groups - 1)]
    scores = np.zeros((len(blocks), design.draws))
    sizes, end = [0] * groups, 0
    for look, block in enumerate(blocks):
        rows = full_cell.onehot[end : end + sum(map(len, block))]
        end += len(rows)
        sizes = [n + len(group) for n, group in zip(sizes, block, strict=True)]
        if len(rows):
            _add_counts(sums, rows, block, _shuffles(design.seed, design.draws - 1, look))
        cell = replace(full_cell, onehot=full_cell.onehot[:end], sizes=tuple(sizes))
        scores[look] = _statistics(statistic, cell, sums)
    scores = np.nan_to_num(scores).clip(0.0, 1.0)
    return np.rint(scores * (TICKS / MOST_BITS)).astype(np.int32)


def _statistics(statistic: Statistic, cell: Cell, sums: list[Floats]) -> Floats:
    """Computes the statistic's mean over attributes per permutation. sums: as in `_Tally`."""
    totals = cell.onehot.sum(axis=0, dtype=np.float64)
    piece = max(1, IN_FLIGHT // max(totals.size, 1))
    means = []
    for start in range(0, len(sums[0]), piece):
        part = [group[start : start + piece] for group in sums]
        last = totals - sum(part[1:], start=part[0])
        means.append(mean_over(statistic(cell, [*part, last])))
    return np.concatenate(means)


def _whole_cell(given: Sequence[Sequence[Codes]]) -> tuple[Cell, list[list[Codes]]]:
    """Returns a cell of all rows, in order of block and then group, and the checked blocks."""
    blocks = [coded_groups(list(block)) for block in given]
    rows = [group for block in blocks for group in block if len(group)]
    # rows are moved whole: kinds of alike rows would be drawn for all blocks together
    return replace(cell_of([np.concatenate(rows)], None), kinds=None), blocks


def _add_counts(
    sums: list[Floats], rows: NDArray[np.float32], block: Sequence[Codes], shuffles: Shuffles
) -> None:
    """Adds a block's counts in all groups but the last, observed and in permutations, to `sums`."""
    sizes = tuple(len(group) for group in block)
    ends = np.cumsum(sizes)
    for group, total in enumerate(sums):
        total[0] += rows[ends[group] - sizes[group] : ends[group]].sum(axis=0)
    start = 1
    for added in shuffles.counts(sizes, rows > 0):
        end = start + added.shape[-1]
        for counts, total in zip(added, sums, strict=True):
            total[start:end] += counts.T
        start = end


@lru_cache(maxsize=16)
def _shuffles(seed: int, draws: int, block: int, part: int = 0) -> Shuffles:
    numbers = [seed, 1, block, part] if part else [seed, 1, block]
    return Shuffles(draws=draws, generator=np.random.default_rng(numbers))
