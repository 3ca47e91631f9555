"""Two models' scores of the same prompts: their difference, tested by shuffling whole rows between
the models inside each prompt.

The null hypothesis is equal distributions in each prompt; the statistic is the difference of
scores. Rows never leave their prompt, so differences of prompts (objects, cues) are no evidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.shuffles.permutation import Permuted, not_measured, smallest_share, summaries
from tiltmeter.stats.shuffles.pooled_permutation import SCORES, Score
from tiltmeter.stats.shuffles.row_statistics import Statistic, mean_of, mean_over
from tiltmeter.stats.shuffles.shuffling import Cell, Shuffles, cell_of, coded_groups

METHOD = "{}, second less first, rows permuted between models inside each prompt"


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """The prompts of one cell (an object): per prompt, the coded rows of two models, shape
    (outputs, A), with equal codes in both; shuffles: one per prompt; values: K per attribute.
    """

    first: Sequence[ArrayLike]
    second: Sequence[ArrayLike]
    shuffles: Sequence[Shuffles]
    values: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class ComparedScores:
    """Both models' scores, their difference with null band and p, and the number of cells."""

    first: float | None
    second: float | None
    difference: Permuted
    cells: int


def score_difference(*, cells: Sequence[ComparedCell], score: Score) -> ComparedScores:
    """Computes a score of the second model less that of the first, mean over cells and attributes;
    two-sided about the mean of the shuffles.

    score: one of ``pooled_score``'s. Unit: that of the score. Null value 0. Attributes that one
    model lacks in a cell are left out of both; cells with an empty prompt are left out.
    Source: permutation within blocks, Good (2005). By hand: one cell, first model base (0, 0) and
    group (1, 1), second base (0, 0) and group (0, 0), "pairs": scores 1 and 0. The base's rows are
    all alike; the group's four fall in 6 ways, of which one gives the scores (1, 0), one (0, 1),
    and four the same score to both.
    """
    statistic, name = SCORES[score]
    method = METHOD.format(name)
    scores = [_cell_scores(cell, statistic) for cell in cells if _is_full(cell)]
    measured = [cell for cell in scores if cell is not None]
    draws = cells[0].shuffles[0].draws if cells and cells[0].shuffles else 0
    if not measured:
        no_result = not_measured(method, draws, (), "no cell has every prompt in both models")
        return ComparedScores(None, None, no_result, 0)
    first, second = (float(np.mean([cell.seen[side] for cell in measured])) for side in (0, 1))
    shuffled = mean_of([cell.drawn for cell in measured])
    sizes = tuple(sum(cell.sizes[side] for cell in measured) for side in (0, 1))
    smallest_p = max(1 / (1 + len(shuffled)), math.prod(cell.smallest for cell in measured))
    (row,) = summaries(
        np.array([second - first]), shuffled[:, None], method, sizes, smallest_p, two_sided=True
    )
    return ComparedScores(first, second, row, len(measured))


@dataclass(frozen=True, slots=True)
class _CellScores:
    """One cell's scores. seen: by model; drawn: second model's less first's, per shuffle, (B,)."""

    seen: tuple[float, float]
    drawn: Floats
    sizes: tuple[int, int]
    smallest: float


def _is_full(cell: ComparedCell) -> bool:
    return all(len(np.asarray(rows)) for rows in (*cell.first, *cell.second))


def _cell_scores(cell: ComparedCell, statistic: Statistic) -> _CellScores | None:
    coded = coded_groups([*cell.first, *cell.second])
    half = len(cell.first)
    # the counts of a group are not what the others leave, so nothing is looked up
    cell_of_both = replace(cell_of(coded, cell.values), complete=False)
    pairs = [(coded[place], coded[half + place]) for place in range(half)]
    places = _places(coded)
    observed = [cell_of_both.onehot[rows].sum(axis=0, dtype=np.float64)[None, :] for rows in places]
    scores = [statistic(cell_of_both, list(part))[0] for part in (observed[:half], observed[half:])]
    is_measured = ~np.isnan(scores[0]) & ~np.isnan(scores[1])
    if not is_measured.any():
        return None
    counts = _shuffled_counts(cell_of_both, places, half, cell.shuffles)
    shuffled = [mean_over(statistic(cell_of_both, list(part))[:, is_measured]) for part in counts]
    sizes = (sum(len(a) for a, _ in pairs), sum(len(b) for _, b in pairs))
    smallest_p = math.prod(smallest_share((len(a), len(b))) for a, b in pairs)
    first, second = (float(score[is_measured].mean()) for score in scores)
    return _CellScores((first, second), shuffled[1] - shuffled[0], sizes, smallest_p)


def _places(coded: Sequence[Codes]) -> list[slice]:
    """Returns the slice of each group's rows among the cell's rows."""
    ends = np.cumsum([len(rows) for rows in coded])
    return [slice(int(end) - len(rows), int(end)) for rows, end in zip(coded, ends, strict=True)]


def _shuffled_counts(
    cell: Cell, places: Sequence[slice], half: int, shuffles: Sequence[Shuffles]
) -> tuple[list[Floats], list[Floats]]:
    """Returns (first model's, second model's) counts of values per prompt, (shuffles, values)."""
    first, second = [], []
    for place in range(half):
        a, b = places[place], places[half + place]
        rows = np.concatenate([cell.onehot[a], cell.onehot[b]])
        sizes = (a.stop - a.start, b.stop - b.start)
        blocks = [block[0] for block in shuffles[place].counts(sizes, rows > 0)]
        first.append(np.concatenate(blocks, axis=1).T.astype(np.float64))
        second.append(rows.sum(axis=0, dtype=np.float64) - first[-1])
    return first, second
