"""Cells of coded rows and their shuffles, for the statistics of permutation.py.

A cell is one comparison, given as rows of integer codes: shape (outputs, attributes), -1 where the
attribute was not measured. Codes are local names: only equality counts. To shuffle is to choose
which rows form a group, so the counts of all shuffles and all attributes come from one matrix
product of a 0/1 mask (shuffles × rows) with the one-hot rows (rows × values). ``Shuffles`` draws
the masks once for all cells of the same sizes; work goes in blocks, so memory does not grow with
the draws.

Rows that are alike need not be told apart: where many are, what is drawn is how many of each kind
go to each group, which is multivariate hypergeometric. The distribution is the same, and the time
does not grow with the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.stats import arguments, hypergeometric
from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.hypergeometric import Counts

BLOCK = 400_000  # mask entries, or counts, that are drawn at a time where masks are not kept
# Counts in flight at a time: an array of so many doubles comes from memory that the process has; a
# larger one is fetched from the system anew each time, which costs more than all that is computed.
IN_FLIGHT = 16_000
# Rows of a product that a library of linear algebra takes at a time, or a multiple of it: pieces of
# so many have the same last digits as the whole.
ROWS_TOGETHER = 48
MASK = 32_000  # entries of a mask in flight at a time, of half the bytes of a double
TABLES = 16_000  # drawn counts of a group in flight at a time: as ``BLOCK``
ONE_THREAD = 2**18  # multiplications up to which OpenBLAS takes one thread (interface/gemm.c)
CACHE_BYTES = 64_000_000  # of group labels, kept for the next cell of the same sizes
# rows for each kind of row and group but the last: from here on a drawn count is cheaper than
# shuffled rows
ALIKE = 20
TINY = np.finfo(np.float64).tiny

Labels = NDArray[np.uint8]


class DrawnLabels:
    """Group labels that were drawn, for cells that are shuffled alike: the latest, up to a number
    of bytes.
    """

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self.most_bytes = most_bytes
        self._kept: dict[tuple[int, ...], Labels] = {}

    def get(self, key: tuple[int, ...], draw: Callable[[], Labels]) -> Labels:
        """The labels of a key; drawn where they are not kept."""
        found = self._kept.pop(key, None)
        if found is None:
            found = draw()
            left = self.most_bytes - found.nbytes
            while self._kept and sum(one.nbytes for one in self._kept.values()) > left:
                del self._kept[next(iter(self._kept))]
        self._kept[key] = found
        return found


class Shuffles:
    """The shuffles of a run: the same ones for every cell of the same sizes.

    They follow from one number that ``generator`` gives here, and from the sizes of the cell, so a
    cell's result does not depend on which cells came before it. Cells of one size share their
    shuffles: each p is as valid as with its own, and their Monte-Carlo errors go together.
    drawn: where labels are kept; given by who makes shuffles of the same seed more than once.
    """

    def __init__(
        self, *, draws: int, generator: np.random.Generator, drawn: DrawnLabels | None = None
    ) -> None:
        self.draws = arguments.draw_count(draws)
        self._seed = int(generator.integers(2**63))
        self._drawn = drawn or DrawnLabels()
        self._counted: tuple[object, list[list[Counts]]] = (None, [])

    def blocks(self, sizes: tuple[int, ...], width: int) -> Iterator[Labels]:
        """Group labels, shape (a block of draws, rows); at most ``BLOCK`` entries of ``width`` a
        block.
        """
        block = max(1, BLOCK // max(width, 1))
        every: Labels | None = None
        if self.draws * sum(sizes) <= CACHE_BYTES:
            key = (self._seed, self.draws, *sizes)
            every = self._drawn.get(key, lambda: self._draw_labels(sizes, self.draws, 0))
        for start in range(0, self.draws, block):
            number = min(block, self.draws - start)
            yield (
                self._draw_labels(sizes, number, start)
                if every is None
                else every[start : start + number]
            )

    def tables(self, alike: Counts, sizes: tuple[int, ...]) -> Iterator[list[Counts]]:
        """How many rows of each kind go to each group: one (a block of draws, kinds) array a group,
        both margins fixed.

        ``alike``: how many rows there are of each kind, shape (kinds,). Group by group, and in it
        kind by kind, a count is hypergeometric given those before.
        """
        key = (sizes, tuple(alike.tolist()))
        if key != self._counted[0]:
            self._counted = key, list(self._tables(alike, sizes))
        yield from self._counted[1]

    def _tables(self, alike: Counts, sizes: tuple[int, ...]) -> Iterator[list[Counts]]:
        generator = np.random.default_rng([self._seed, *sizes, *alike.tolist()])
        first, block = (
            hypergeometric.draw_counts(alike, sizes[0], self.draws, generator),
            max(1, TABLES // alike.size),
        )
        for start in range(0, self.draws, block):
            found, rows = [first[start : start + block]], sum(sizes) - sizes[0]
            left = alike - found[0]  # rows of each kind that have no group yet
            for size in sizes[1:-1]:
                found.append(hypergeometric.draw_from_left(left, rows, size, generator))
                left, rows = left - found[-1], rows - size
            yield [*found, left]

    def _draw_labels(self, sizes: tuple[int, ...], draws: int, start: int) -> Labels:
        generator = np.random.default_rng([self._seed, start, *sizes])
        return generator.permuted(np.tile(group_labels(sizes), (draws, 1)), axis=1)


def count_rows(labels: Labels, group: int, onehot: NDArray[np.float32]) -> Floats:
    """How many rows of a group have each value in each draw: (labels == group) @ onehot, (draws ×
    rows) @ (rows × values).

    It is multiplied in pieces. A library of linear algebra shares a large product out among
    threads, which wait for one another and take up to a hundred times the CPU of a small one; and
    the mask of a piece comes from memory that the process has. Sums of 0 and 1 are exact whatever
    their order.
    """
    rows, values = onehot.shape
    draws = max(1, MASK // max(rows, 1))
    if rows * values <= ONE_THREAD // 4:
        draws = min(draws, ONE_THREAD // max(rows * values, 1))
    found = np.empty((len(labels), values))
    for start in range(0, len(labels), draws):
        mask = (labels[start : start + draws] == group).astype(np.float32)
        found[start : start + draws] = mask @ onehot
    return found


@dataclass(frozen=True)
class Cell:
    """One-hot rows of all groups, and which columns belong to which attribute."""

    onehot: NDArray[np.float32]  # rows × values
    member: Floats  # values × attributes, 0/1
    sizes: tuple[int, ...]
    supports: Floats  # values an attribute
    complete: bool
    # one-hot kinds of rows and how many there are of each, where many are alike
    kinds: tuple[Floats, Counts] | None

    def shuffle_counts(self, shuffles: Shuffles) -> Iterator[list[Floats]]:
        """Counts of every value in every group, a block of shuffles at a time."""
        if self.kinds is None:
            values = max(1, self.onehot.shape[1])
            piece = max(1, IN_FLIGHT // values // ROWS_TOGETHER) * ROWS_TOGETHER
            for labels in shuffles.blocks(self.sizes, max(self.onehot.shape)):
                for at in range(0, len(labels), piece):
                    yield self.counts(labels[at : at + piece])
            return
        onehot, alike = self.kinds
        for table in shuffles.tables(alike, self.sizes):
            yield [count @ onehot for count in table]

    def counts(self, labels: Labels) -> list[Floats]:
        """Counts of every value in every group: one (draws × values) array a group."""
        found: list[Floats] = []
        for group in range(len(self.sizes) - 1):
            found.append(count_rows(labels, group, self.onehot))
        found.append(self._totals - sum(found[1:], start=found[0]))
        return found

    def outcomes(self, counts: Floats, group: int) -> Floats:
        """How many rows of a group are measured, per draw and attribute."""
        if self.complete:
            return np.full((1, self.member.shape[1]), float(self.sizes[group]))
        return counts @ self.member

    def shares(self, counts: Floats, outcomes: Floats) -> Floats:
        """The shares of the values inside their attribute; 0 where nothing is measured."""
        return counts / (np.maximum(outcomes, 1.0) @ self.member.T)

    def pair_bits(self, counts: Floats) -> Floats:
        """What each value adds to the JS divergence of two complete groups, from its count in the
        first.

        What the first has not, the second has: so it is looked up, and no logarithm is left to each
        shuffle.
        """
        places = counts.astype(np.intp)
        places += np.arange(counts.shape[1]) * len(self._pair_table[0])
        found: Floats = self._pair_table.take(places)
        return found

    @cached_property
    def _totals(self) -> Floats:
        """How many rows have each value."""
        found: Floats = self.onehot.sum(axis=0, dtype=np.float64)
        return found

    @cached_property
    def _pair_table(self) -> Floats:
        """Shape (values, 1 + the most rows that have one of them)."""
        totals = self._totals[:, None]
        first = np.minimum(np.arange(totals.max() + 1), totals)
        n, m = self.sizes
        p, q = first / n, (totals - first) / m
        found: Floats = (plogp(p) + plogp(q)) / 2 - plogp(
            totals / (n + m) if n == m else (p + q) / 2
        )
        return found

    def plogp(self, counts: Floats, outcomes: Floats, group: int) -> Floats:
        """p·log2 p of these shares."""
        return (
            looked_up(plogp, counts, self.sizes[group])
            if self.complete
            else plogp(self.shares(counts, outcomes))
        )


def looked_up(function: Callable[[Floats], Floats], counts: Floats, n: int) -> Floats:
    """A function of counts out of n as shares: there are n + 1 of them, and logarithms are what a
    shuffle costs.
    """
    found: Floats = function(np.arange(n + 1) / max(n, 1)).take(counts.astype(np.intp))
    return found


def plogp(p: Floats) -> Floats:
    """p·log2 p, 0 at p = 0."""
    product: Floats = np.log2(np.maximum(p, TINY))
    product *= p
    return product


def plogp_of_both(p: Floats) -> Floats:
    """p·log2 p of "this value" and of "another"."""
    return plogp(p) + plogp(1 - p)


def coded_groups(groups: list[ArrayLike]) -> list[Codes]:
    """Checked rows of codes, of one width where there are any."""
    if not groups:
        raise ValueError("groups: at least one expected")
    coded = [arguments.rows(f"group {i}", group) for i, group in enumerate(groups)]
    width = next((rows.shape[1] for rows in coded if len(rows)), coded[0].shape[1])
    for i, rows in enumerate(coded):
        if len(rows) and rows.shape[1] != width:
            raise ValueError(f"group {i}: {rows.shape[1]} attributes where {width} are expected")
    return coded


def cell_of(groups: list[Codes], values: Sequence[int] | None) -> Cell:
    """The cell of groups of rows. values: how many values each attribute could have; those that are
    seen, otherwise.
    """
    pooled = np.concatenate(groups)
    attributes = pooled.shape[1]
    if values is not None and len(values) != attributes:
        raise ValueError(f"values: {len(values)} supports where {attributes} attributes are given")
    width = int(pooled.max(initial=-1)) + 1
    named = pooled + np.arange(attributes) * width  # a code, and whose it is
    owners, seen = np.divmod(np.unique(named[pooled >= 0]), max(width, 1))
    found = np.bincount(owners, minlength=attributes)
    supports = np.array(found if values is None else values, dtype=np.float64)
    for a in np.flatnonzero(supports < found):
        raise ValueError(
            f"values: {values} has fewer than the {found[a]} values seen of attribute {a}"
        )
    member = np.eye(attributes)[owners]
    onehot = (pooled[:, owners] == seen).astype(np.float32)
    sizes = tuple(len(g) for g in groups)
    return Cell(
        onehot,
        member,
        sizes,
        supports,
        bool((pooled >= 0).all()),
        _kinds(onehot, attributes, len(groups)),
    )


def _kinds(
    onehot: NDArray[np.float32], attributes: int, groups: int
) -> tuple[Floats, Counts] | None:
    """The values of one attribute, and none of them, as kinds of rows; None where rows are better
    moved whole.
    """
    rows, values = onehot.shape
    if attributes > 1 or rows < ALIKE * (groups - 1) * values:
        return None
    alike = onehot.sum(axis=0, dtype=np.int64)
    alike = np.append(alike, rows - alike.sum())
    return np.eye(values + 1, values)[alike > 0], alike[alike > 0]


def group_labels(sizes: tuple[int, ...]) -> Labels:
    """The group of each row, as the groups are given: shape (rows,)."""
    if len(sizes) > 255:
        raise ValueError("groups: at most 255 expected")
    return np.repeat(np.arange(len(sizes), dtype=np.uint8), sizes)
