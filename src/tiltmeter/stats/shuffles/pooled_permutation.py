"""Permutation tests of a mean over cells (objects), with rows shuffled inside each cell.

A cell's rows never leave it, so differences between cells are no evidence. The shuffles of cells
are independent: with common shuffles, cells with equal arrangements would move together, and the
test would have less power.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.results import join_notes
from tiltmeter.stats.shuffles.permutation import (
    Permuted,
    not_measured,
    shuffled_statistic,
    smallest_share,
    summaries,
)
from tiltmeter.stats.shuffles.row_statistics import (
    Statistic,
    base_divergence,
    concentration_level,
    mean_concentration,
    mean_distance,
    mean_divergence,
    mean_of,
    mean_over,
)
from tiltmeter.stats.shuffles.shuffling import Shuffles, cell_of, coded_groups

Score = Literal["pairs", "base", "distance", "concentration", "level"]
SCORES: dict[Score, tuple[Statistic, str]] = {
    "pairs": (mean_divergence, "JS divergence over pairs"),
    "base": (base_divergence, "JS divergence from the base"),
    "distance": (mean_distance, "JS distance over pairs"),
    "concentration": (mean_concentration, "VAC difference (Miller-Madow)"),
    "level": (concentration_level, "VAC (Miller-Madow)"),
}


@dataclass(frozen=True, slots=True)
class PooledCell:
    """One cell. groups: the coded rows of each group, shape (outputs, A), the base first if the
    cell has one; names: of the A attributes; shuffles: of this cell alone; values: K of each
    attribute, for concentrations.
    """

    groups: Sequence[ArrayLike]
    names: Sequence[str]
    shuffles: Shuffles
    values: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class Pooled:
    """The mean over cells of each cell's mean over attributes (whole), and, if requested, the mean
    of each attribute over the cells that have it (by_name), with the numbers of cells.
    """

    whole: Permuted
    cells: int
    by_name: dict[str, tuple[Permuted, int]]


def pooled_score(*, cells: Sequence[PooledCell], score: Score, by_name: bool = True) -> Pooled:
    """Computes the mean of a score over cells, with E₀, null band and p by shuffling inside cells.

    score: "pairs", JS divergence in bits over all pairs of groups (two groups: SODA's BDS; more:
    CDS); "base", over the pairs of the first group with each other group; "distance", √(JS·ln 2)
    over all pairs; "concentration", VAC of the groups less that of the first, two-sided; "level",
    VAC of all groups, which shuffling inside a cell cannot test (compared_permutation.py). Cells
    have equal weights. Cells with an empty group are left out, with a note. Source: permutation
    within blocks, Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses. By hand:
    two cells, each base (0, 0) and group (1, 1): in each 2 of 6 assignments have JS 1, so the mean
    is 1 in 4 of 36 shuffles, p ≈ 1/9 and E₀ = 1/3. ``ValueError``: draws that differ between cells.
    """
    statistic, name = SCORES[score]
    method = f"{name}, mean over cells, rows permuted inside each"
    if len({cell.shuffles.draws for cell in cells}) > 1:
        raise ValueError("shuffles: the same number of draws expected in every cell")
    full_cells = [cell for cell in cells if all(len(np.asarray(group)) for group in cell.groups)]
    scored = [_shuffle(cell, statistic, by_name) for cell in full_cells]
    scored = [scores for scores in scored if scores[0].size]
    sizes = tuple(
        sum(len(np.asarray(cell.groups[place])) for cell in full_cells)
        for place in range(min((len(cell.groups) for cell in full_cells), default=0))
    )
    if not scored:
        draws = cells[0].shuffles.draws if cells else 0
        return Pooled(not_measured(method, draws, sizes, "no cell has every group"), 0, {})
    names = dict.fromkeys(name for _, _, measured in scored for name in measured) if by_name else {}
    columns = [
        _mean_of_cells([(float(seen.mean()), mean_over(nulls)) for seen, nulls, _ in scored])
    ]
    for name in names:
        of_name = [
            (float(seen[known.index(name)]), nulls[:, known.index(name)])
            for seen, nulls, known in scored
            if name in known
        ]
        columns.append(_mean_of_cells(of_name))
    observed = np.array([value for value, _ in columns])
    shuffled = np.stack([nulls for _, nulls in columns]).T  # each column in one piece
    smallest_p = max(1 / (1 + len(shuffled)), _smallest(full_cells))
    rows = summaries(observed, shuffled, method, sizes, smallest_p, score == "concentration")
    left_out = len(cells) - len(scored)
    note = f"{left_out} of {len(cells)} cells are left out: a group is empty" if left_out else None
    counts = [sum(name in known for _, _, known in scored) for name in names]
    return Pooled(
        replace(rows[0], note=join_notes(rows[0].note, note)),
        len(scored),
        dict(zip(names, zip(rows[1:], counts, strict=True), strict=True)),
    )


def _shuffle(
    cell: PooledCell, statistic: Statistic, by_name: bool
) -> tuple[Floats, Floats, list[str]]:
    """Returns (the observed statistic per measured attribute; the statistic in every shuffle, or
    its cached mean over attributes; the attributes' names).
    """
    coded = cell_of(coded_groups(list(cell.groups)), cell.values)
    if statistic is base_divergence and len(coded.sizes) == 2:
        statistic = mean_divergence  # there is one pair
    observed = statistic(coded, coded.counts())[0]
    is_measured = ~np.isnan(observed)
    names = [name for name, is_known in zip(cell.names, is_measured, strict=True) if is_known]

    def shuffle() -> Floats:
        _, shuffled = shuffled_statistic(coded, statistic, cell.shuffles)
        return shuffled[:, is_measured]

    if by_name or not names:
        return observed[is_measured], shuffle(), names
    mean = cell.shuffles.keep((statistic, coded.key), lambda: mean_over(shuffle()))
    return observed[is_measured], mean[:, None], names


def _mean_of_cells(parts: Sequence[tuple[float, Floats]]) -> tuple[float, Floats]:
    """Averages over cells, observed and shuffled; in each shuffle, skips cells without a value."""
    observed = float(np.mean([value for value, _ in parts]))
    return observed, mean_of([shuffled for _, shuffled in parts])


def _smallest(cells: Sequence[PooledCell]) -> float:
    """Returns the share of arrangements that are equivalent to the observed one, over all cells."""
    shares = [smallest_share(tuple(len(np.asarray(g)) for g in cell.groups)) for cell in cells]
    return float(np.prod(shares))
