"""One claim over many cells: groups differ strongly in one cell, or weakly everywhere.

A cell is a value of an attribute, pooled over the parts (objects) that have it, and in each part
separately. T is the larger of V, the largest cell, and D, the mean divergence over parts and
attributes, both as -log p of a gamma distribution with the first three moments of all draws, so
that neither dominates by its scale; no single cell is tested before the claim is rejected. Rows are
shuffled inside each part, independently between parts (pooled_permutation.py). Source:
Westfall and Young (1993), Resampling-Based Multiple Testing, algorithm 2.8; moments as in Pearson's
type III. The simulations: benchmarks/many_cells.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.shuffles.permutation import shuffled_statistic
from tiltmeter.stats.shuffles.row_statistics import mean_divergence, mean_of, mean_over
from tiltmeter.stats.shuffles.shuffling import Cell, Shuffles, cell_of
from tiltmeter.stats.special import gammaincc, ndtr

Tallies = NDArray[Any]  # of whole numbers
LEAST_VARIANCE = 0.4  # of a count: below it a cell has too few outputs to show anything
TIE = 1e-9  # relative: rounding of sums of counts
MOST_LOG = 700.0  # -log of the smallest probability that a double holds
SYMMETRIC = 1e-6  # a skewness below which a gamma distribution is a normal one


@dataclass(frozen=True, slots=True)
class ObjectOutputs:
    """The outputs of one object. groups: codes of each group, shape (outputs, A), the base first if
    there is one; names: of the attributes; values: names of each attribute's values, by code.
    """

    groups: Sequence[Codes]
    names: Sequence[str]
    values: Sequence[Sequence[str]]
    shuffles: Shuffles


class CellKey(NamedTuple):
    """The key of a cell. part: None for all parts pooled; group: the index of the group."""

    attribute: str
    value: str
    part: int | None
    group: int


@dataclass(frozen=True, slots=True)
class ManyCells:
    """The result for a claim: p of T, the cells by falling size, and the data to test cells.

    divergence: the mean over parts and attributes, in bits; expected: its mean under shuffling.
    sizes: the signed standard score of each cell, above 0 if the value is more frequent in the
    group.
    """

    p: float | None
    draws: int
    divergence: float
    expected: float
    cells: tuple[CellKey, ...]
    sizes: tuple[float, ...]
    _parts: tuple[_Counted, ...]
    _largest: Floats
    _logs: Floats  # of the largest cell, as `minus_log_p`
    _top: Floats

    def critical(self, level: float) -> float:
        """Returns the least score of the largest cell for which V alone has p ≤ ``level``."""
        count = max(1, int(level * self._top.size))
        score = np.partition(self._top, -count)[-count]
        order = np.argsort(self._logs)
        return float(np.interp(score, self._logs[order], self._largest[order]))

    def named(self, level: float) -> list[tuple[CellKey, float]]:
        """Returns the cells that a step-down over the largest scores rejects at a level, largest
        first, each with its p adjusted over all cells of the claim.
        """
        if not self.cells or level <= 0:
            return []
        scores = dict(_scores(self._parts))
        maxima = np.zeros(self.draws)
        adjusted: list[tuple[CellKey, float]] = []
        for key, size in zip(reversed(self.cells), reversed(self.sizes), strict=True):
            np.maximum(maxima, np.abs(scores[key][1:]), out=maxima)
            reached = int((maxima >= abs(size) * (1 - TIE)).sum())
            adjusted.append((key, (1 + reached) / (1 + self.draws)))
        steps, p_so_far = [], 0.0
        for key, p in reversed(adjusted):
            p_so_far = max(p_so_far, p)
            if p_so_far >= level:
                break
            steps.append((key, p_so_far))
        return steps


def many_cells(*, parts: Sequence[ObjectOutputs], with_mean: bool = True) -> ManyCells:
    """Tests whether groups differ in any value of any attribute.

    Two groups are compared with each other; each of three or more with the rest. A shuffle moves
    whole rows. Left out: empty groups of a part, and parts with fewer than two nonempty groups.
    with_mean: False for V alone. p is None if there is no cell. By hand: one part, one attribute,
    base (a, a, a), group (b, b, b): the score of b is (3 - 1.5)/√.45 = 2.24 in 2 of 20 assignments,
    less in the others: p ≈ 1/10.
    """
    parts_counted = tuple(
        tally for place, part in enumerate(parts) for tally in [_count(place, part)] if tally
    )
    draws = parts[0].shuffles.draws if parts else 0
    maxima = np.zeros(draws + 1)
    observed: dict[CellKey, float] = {}
    for key, score in _scores(parts_counted):
        observed[key] = float(score[0])
        np.maximum(maxima, np.abs(score, out=score), out=maxima)
    ordered = sorted(observed, key=lambda key: (-round(abs(observed[key]), 9), -observed[key]))
    divergence = _mean_divergence(parts_counted)
    p, logs = None, minus_log_p(maxima)
    top = logs
    if observed:
        if with_mean and divergence.size:
            top = np.maximum(top, minus_log_p(divergence))
        p = float((top >= top[0] - TIE * max(1.0, abs(top[0]))).mean())
    return ManyCells(
        p,
        draws,
        float(divergence[0]) if divergence.size else np.nan,
        float(divergence[1:].mean()) if divergence.size else np.nan,
        tuple(ordered),
        tuple(observed[key] for key in ordered),
        parts_counted,
        maxima,
        logs,
        top,
    )


def minus_log_p(values: Floats) -> Floats:
    """Computes -log of the probability of a larger value, by a gamma distribution with the first
    three moments of the values; keeps the shape. Monotone; 0 for all if the values are equal.
    """
    mean, spread, skewness = gamma_moments(values)
    if spread <= TIE * max(1.0, float(np.abs(values).max())):
        return np.zeros_like(values)
    z = (values - mean) / spread
    if skewness < SYMMETRIC:  # a tail to the left says nothing of large values
        chance = ndtr(-z)
    else:
        shape = 4 / skewness**2
        chance = gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0.0))
    logs: Floats = -np.log(np.maximum(chance, np.exp(-MOST_LOG)))
    return logs


def gamma_moments(values: Floats) -> tuple[float, float, float]:
    """Computes mean, standard deviation and skewness; skewness is 0 if the values are equal."""
    mean = float(values.mean())
    centred = values - mean
    spread = float(np.sqrt(np.mean(centred**2)))
    return mean, spread, float(np.mean(centred**3)) / spread**3 if spread else 0.0


class PartTally(Protocol):
    """A part whose values are counted, by group and draw; implemented by `_Counted`."""

    @property
    def place(self) -> int: ...

    @property
    def groups(self) -> tuple[int, ...]: ...

    @property
    def pair(self) -> bool: ...

    @property
    def cell(self) -> Cell: ...

    @property
    def columns(self) -> tuple[tuple[str, str], ...]: ...

    def counts(self) -> Sequence[Tallies]: ...


@dataclass(frozen=True, slots=True)
class _Counted:
    """A part as counts. groups: the indices of groups with rows; cell: the rows of these groups;
    columns: the attribute and value of each column. pair: True if two groups are compared.
    """

    place: int
    groups: tuple[int, ...]
    pair: bool
    cell: Cell
    columns: tuple[tuple[str, str], ...]
    shuffles: Shuffles

    def counts(self) -> Sequence[Tallies]:
        """Counts each column of each group, observed and in every shuffle: shape (columns, 1 +
        draws) per group; for a pair, only of the second group.
        """
        observed = self.cell.counts()
        if self.cell.kinds is None:
            blocks = list(self.cell.shuffled(self.shuffles))
            dtype = np.min_scalar_type(-1 - sum(self.cell.sizes))  # a quarter of doubles
            tables = [
                np.concatenate([seen.T.astype(dtype), *drawn], axis=1, dtype=dtype)
                for seen, *drawn in zip(observed[:-1], *blocks, strict=True)
            ]
            tables.append(self.cell.totals.astype(dtype)[:, None] - sum(tables[1:], tables[0]))
        else:
            shuffled = list(self.cell.shuffle_counts(self.shuffles))
            tables = [
                np.concatenate([observed[g], *(table[g] for table in shuffled)]).T
                for g in range(len(observed))
            ]
        return tables[1:] if self.pair else tables


def _count(place: int, part: ObjectOutputs) -> _Counted | None:
    groups = tuple(g for g, rows in enumerate(part.groups) if len(rows))
    if len(groups) < 2:
        return None
    cell = cell_of([part.groups[g] for g in groups], None)
    pooled = np.concatenate([part.groups[g] for g in groups])
    columns = [
        (name, part.values[a][code])
        for a, name in enumerate(part.names)
        for code in np.flatnonzero(np.bincount(pooled[pooled[:, a] >= 0, a])).tolist()
    ]
    return _Counted(place, groups, len(part.groups) == 2, cell, tuple(columns), part.shuffles)


class _Sum:
    """A cell over several parts: the sum of deviations from expected counts, and its variance."""

    def __init__(self, size: int) -> None:
        self.off: Floats = np.zeros(size)
        self.variance: Floats | float = 0.0
        self.usual = 0.0


def largest_scores(parts: Sequence[PartTally], draws: int) -> Floats:
    """Returns V, the largest absolute score: observed, then per shuffle; 0 if there is no cell."""
    maxima = np.zeros(1 + draws)
    for _, score in _scores(parts):
        np.maximum(maxima, np.abs(score, out=score), out=maxima)
    return maxima


def _scores(parts: Sequence[PartTally]) -> Iterator[tuple[CellKey, Floats]]:
    """Yields the standard score of every cell, observed and in every shuffle, shape (1 + draws,).
    If several parts have a value, yields a cell per part besides the pooled one.
    """
    often: dict[tuple[str, str], int] = {}
    for part in parts:
        for column in part.columns:
            often[column] = often.get(column, 0) + 1
    sums: dict[CellKey, _Sum] = {}
    for part in parts:
        counts = part.counts()
        groups = part.groups[1:] if part.pair else part.groups
        for group, table in zip(groups, counts, strict=True):
            for column, (deviation, variance, usual) in zip(
                part.columns, _deviations(part, group, table), strict=True
            ):
                key = CellKey(*column, None, group)
                pooled = sums.get(key) or sums.setdefault(key, _Sum(deviation.size))
                pooled.off += deviation
                pooled.variance = pooled.variance + variance
                pooled.usual += usual
                if often[column] > 1 and usual >= LEAST_VARIANCE:
                    yield CellKey(*column, part.place, group), _standard(deviation, variance)
    for key, pooled in sums.items():
        if pooled.usual >= LEAST_VARIANCE:
            yield key, _standard(pooled.off, pooled.variance)


def _deviations(
    part: PartTally, group: int, counts: Tallies
) -> Iterator[tuple[Floats, Floats | float, float]]:
    """Yields, per column, a group's counts less their expectation; their hypergeometric variance
    given the group's rows that have the attribute; and the variance at the expected number of such
    rows.
    """
    cell, rows = part.cell, float(sum(part.cell.sizes))
    size, owners = float(cell.sizes[part.groups.index(group)]), cell.member.argmax(axis=1)
    # rows of the group that have a value, by attribute and draw; None if all have all
    measured = None if cell.complete else cell.member.T @ counts
    valid = np.full(len(owners), rows) if cell.complete else (cell.totals @ cell.member)[owners]
    odds = cell.totals * (valid - cell.totals) / (valid**2 * np.maximum(valid - 1, 1))
    usual = size * valid / rows
    columns = (owners, cell.totals / valid, valid, odds, usual * (valid - usual) * odds)
    for row, (owner, share, known, odd, variance) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        in_group = size if measured is None else measured[owner]
        yield counts[row] - in_group * share, in_group * (known - in_group) * odd, variance


def _standard(off: Floats, variance: Floats | float) -> Floats:
    """Divides deviations, in place, by their standard deviation."""
    off /= np.sqrt(np.maximum(variance, LEAST_VARIANCE / 4))
    return off


def _mean_divergence(counted: Sequence[_Counted]) -> Floats:
    """Averages divergences, observed and shuffled, over attributes, then parts; may be empty."""
    means = []
    for part in counted:
        observed = mean_divergence(part.cell, part.cell.counts())[0]
        is_measured = ~np.isnan(observed)
        if is_measured.any():
            means.append(np.append(observed[is_measured].mean(), _shuffled_mean(part, is_measured)))
    return mean_of(means) if means else np.zeros(0)


def _shuffled_mean(part: _Counted, is_measured: NDArray[np.bool_]) -> Floats:
    """Returns, per shuffle, the mean divergence over measured attributes; cached with the shuffles,
    which the scores of the part share.
    """

    def shuffle() -> Floats:
        _, shuffled = shuffled_statistic(part.cell, mean_divergence, part.shuffles)
        return mean_over(shuffled[:, is_measured])

    return part.shuffles.keep((mean_divergence, part.cell.key), shuffle)
