"""Cells of coded rows and their shuffles, for the statistics of permutation.py.

A cell is one comparison, given as rows of integer codes: shape (outputs, attributes), -1 if the
attribute was not measured. Codes are arbitrary names: only equality matters. To shuffle is to
choose the rows of each group (dealing.py); counting a group's rows with each value is then counting
bits. ``Shuffles`` deals once for all cells of the same sizes; work goes in blocks, so memory does
not grow with the draws.

The rows are put into ORDERS random orders, and a deal of positions is one draw in each order. Any
two draws are independent, even if they share a deal or an order: the part that they do not share
makes all assignments equally likely in the second draw, whatever the first is. So means, shares and
their Monte-Carlo errors are as with a deal for each draw.

Identical rows need not be told apart. If many are identical, only the number of each kind in each
group is drawn, which is multivariate hypergeometric. The distribution is the same, and the time
does not grow with the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.shuffles import dealing, hypergeometric
from tiltmeter.stats.shuffles.dealing import WORD, Implied, Numbers, Words
from tiltmeter.stats.shuffles.hypergeometric import Counts

ORDERS = 16  # of the rows, in each of which a deal is a draw
BLOCK = 25_000_000  # bytes that are dealt at a time where they are not kept
# Counts in flight at a time: an array of so many doubles comes from memory that the process has; a
# larger one is fetched from the system anew each time, which costs more than all that is computed.
IN_FLIGHT = 16_000
TABLES = 16_000  # drawn counts of a group in flight at a time
CACHE_BYTES = 64_000_000  # of dealt rows and their counts, kept for the next caller
# rows for each kind of row and group but the last: from here on a drawn count is cheaper than
# shuffled rows
ALIKE = 20
TINY = np.finfo(np.float64).tiny


Flags = NDArray[np.bool_]
Kept = TypeVar("Kept", Words, Numbers, Floats)


class KeptArrays:
    """A cache of the latest arrays, limited in bytes. A key must hold all inputs to its array."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._bytes = 0
        self._kept: dict[object, Words | Numbers | Floats] = {}

    def get(self, key: object, compute: Callable[[], Kept]) -> Kept:
        """Returns the cached array of a key; computes it if it is missing."""
        array = self._kept.pop(key, None)
        if array is None:
            array = compute()
            self._bytes += array.nbytes
            while self._kept and self._bytes > self.most_bytes:
                self._bytes -= self._kept.pop(next(iter(self._kept))).nbytes
        self._kept[key] = array
        return cast(Kept, array)


class KeptDraws:
    """The draws for cells with equal shuffles, and the results from them. The two caches are
    separate, so that draws, which are larger and needed again sooner, do not evict results.
    """

    def __init__(self, draw_bytes: int = CACHE_BYTES, result_bytes: int = 0) -> None:
        self.draws, self.results = KeptArrays(draw_bytes), KeptArrays(result_bytes)


class Shuffles:
    """The shuffles of a run: the same shuffles for every cell of the same sizes.

    They follow from one number that ``generator`` gives here, and from the sizes of the cell, so a
    cell's result does not depend on which cells came before it. Cells of one size share their
    shuffles: each p is as valid as with separate shuffles, but Monte-Carlo errors are correlated.
    kept: the cache of draws, for callers that make shuffles of the same seed more than once.
    """

    def __init__(
        self, *, draws: int, generator: np.random.Generator, kept: KeptDraws | None = None
    ) -> None:
        self.draws = arguments.draw_count(draws)
        self._seed = int(generator.integers(2**63))
        self._kept = kept or KeptDraws()
        self._counted: tuple[object, list[list[Counts]]] = (None, [])

    def counts(
        self, sizes: tuple[int, ...], flags: Flags, implied: Implied = ()
    ) -> Iterator[Numbers]:
        """Yields, per block of draws, the number of rows of each group (but the last) with each
        column's flag, shape (groups - 1, columns, draws). flags: of all rows, shape (rows,
        columns); implied: all columns, in parts of which each row has exactly one flag.
        """
        draws_left, deals, block = self.draws, -(-self.draws // ORDERS), self._block(sizes)
        for start in range(0, deals, block):
            count = partial(self._count, sizes, flags, implied, start, min(block, deals - start))
            if block < deals:
                counted = count()
            else:
                key = (self._seed, deals, sizes, flags.shape, np.packbits(flags).tobytes())
                counted = self._kept.draws.get(key, count)
            yield counted[..., :draws_left]
            draws_left -= counted.shape[-1]

    def keep(self, key: object, compute: Callable[[], Floats]) -> Floats:
        """Returns a result over all these shuffles; caches it. key: the result's other inputs."""
        return self._kept.results.get((self._seed, self.draws, key), compute)

    def _block(self, sizes: tuple[int, ...]) -> int:
        """Returns the number of deals per block: all deals if these fit into the cache."""
        deals, deal_bytes = -(-self.draws // ORDERS), 8 * (len(sizes) - 1) * -(-sum(sizes) // WORD)
        return deals if deals * deal_bytes <= CACHE_BYTES else max(1, BLOCK // deal_bytes)

    def _count(
        self, sizes: tuple[int, ...], flags: Flags, implied: Implied, start: int, deals: int
    ) -> Numbers:
        """Counts flags in a block of deals, in each order of the rows: (groups - 1, columns, ORDERS
        times deals).
        """
        generator = np.random.default_rng([self._seed, start, *sizes])
        places = np.broadcast_to(np.arange(len(flags)), (ORDERS, len(flags)))
        orders = generator.permuted(places, axis=1)
        deal = partial(dealing.deal_rows, sizes, deals, generator)
        dealt = self._kept.draws.get((self._seed, start, deals, sizes), deal)
        last = [columns.stop - 1 for columns in implied]
        in_orders = np.delete(flags.T, last, axis=0)[:, orders]
        counted = dealing.count_dealt(dealt, dealing.pack_rows(in_orders.reshape(-1, len(flags)).T))
        counted = counted.reshape(len(dealt), -1, ORDERS * deals)
        return dealing.with_last(counted, implied, sizes) if implied else counted

    def tables(self, alike: Counts, sizes: tuple[int, ...]) -> Iterator[list[Counts]]:
        """Yields the number of rows of each kind in each group: per group one array (block of
        draws, kinds), with both margins fixed.

        ``alike``: the number of rows of each kind, shape (kinds,). Group by group, and inside a
        group kind by kind, a count is hypergeometric given the earlier counts.
        """
        key = (sizes, tuple(alike.tolist()))
        if key != self._counted[0]:
            self._counted = key, list(self._tables(alike, sizes))
        yield from self._counted[1]

    def _tables(self, alike: Counts, sizes: tuple[int, ...]) -> Iterator[list[Counts]]:
        generator = np.random.default_rng([self._seed, *sizes, *alike.tolist()])
        first = hypergeometric.draw_counts(alike, sizes[0], self.draws, generator)
        block = max(1, TABLES // alike.size)
        for start in range(0, self.draws, block):
            groups, rows = [first[start : start + block]], sum(sizes) - sizes[0]
            rows_left = alike - groups[0]  # rows of each kind that have no group yet
            for size in sizes[1:-1]:
                groups.append(hypergeometric.draw_from_left(rows_left, rows, size, generator))
                rows_left, rows = rows_left - groups[-1], rows - size
            yield [*groups, rows_left]


@dataclass(frozen=True)
class Cell:
    """The one-hot rows of all groups, and the attribute that each column belongs to."""

    onehot: NDArray[np.float32]  # rows × values
    member: Floats  # values × attributes, 0/1
    sizes: tuple[int, ...]
    supports: Floats  # values per attribute
    complete: bool
    # one-hot kinds of rows and how many there are of each, where many are alike
    kinds: tuple[Floats, Counts] | None

    def shuffled(self, shuffles: Shuffles) -> Iterator[Numbers]:
        """Yields, per block of draws, the counts of every value in every group but the last, shape
        (groups - 1, values, draws).
        """
        ends = np.cumsum(self.member.sum(axis=0, dtype=np.intp)).tolist()
        parts = [slice(start, end) for start, end in pairwise((0, *ends))]
        return shuffles.counts(self.sizes, self.flags, parts if self.complete else ())

    def shuffle_counts(self, shuffles: Shuffles) -> Iterator[list[Floats]]:
        """Yields the counts of every value in every group, for one block of shuffles at a time."""
        if self.kinds is None:
            piece = max(1, IN_FLIGHT // max(1, self.onehot.shape[1]))
            for block in self.shuffled(shuffles):
                for start in range(0, block.shape[-1], piece):
                    yield self._with_last([counts[:, start : start + piece].T for counts in block])
            return
        onehot, kinds = self.kinds
        for table in shuffles.tables(kinds, self.sizes):
            yield [count @ onehot for count in table]

    def counts(self) -> list[Floats]:
        """Returns the observed counts of every value in every group, shape (1, values) each."""
        ends = np.cumsum(self.sizes)[:-1]
        first = np.split(self.onehot, ends)[:-1]
        return self._with_last([rows.sum(axis=0, dtype=np.float64)[None] for rows in first])

    def _with_last(self, counts: Sequence[NDArray[np.generic]]) -> list[Floats]:
        """Returns these groups' counts as doubles, followed by the counts of the last group."""
        groups = [np.asarray(group, dtype=np.float64) for group in counts]
        return [*groups, self.totals - sum(groups[1:], start=groups[0])]

    def outcomes(self, counts: Floats, group: int) -> Floats:
        """Counts the rows of a group that have a value, per draw and attribute."""
        if self.complete:
            return np.full((1, self.member.shape[1]), float(self.sizes[group]))
        return counts @ self.member

    def shares(self, counts: Floats, outcomes: Floats) -> Floats:
        """Returns the shares of values within their attribute; 0 if an attribute has no values."""
        return counts / (np.maximum(outcomes, 1.0) @ self.member.T)

    def sum_values(self, table: Floats, shuffles: Shuffles) -> Floats:
        """Sums a statistic of two groups without missing values over the values of each attribute,
        in every shuffle, shape (draws, attributes). table: the term of each value by its count in
        the first group, shape (values, 1 + the largest number of rows with one value).

        A value's count in the second group follows from that in the first, so every term is looked
        up, and no shuffle has to compute a logarithm.
        """
        owners = self.member.argmax(axis=1).tolist()
        by_attribute = np.zeros((self.member.shape[1], shuffles.draws))
        start = 0
        for (block,) in self.shuffled(shuffles):
            end = start + block.shape[-1]
            sums = list(by_attribute[:, start:end])
            for owner, row, counts in zip(owners, table, block, strict=True):
                sums[owner] += row.take(counts)
            start = end
        return by_attribute.T

    def first_counts(self) -> tuple[Floats, Floats]:
        """Returns, for two groups, each count that a value can have in the first, and the count it
        then has in the second: shape (values, 1 + the largest number of rows with one value).
        """
        totals = self.totals[:, None]
        first: Floats = np.minimum(np.arange(totals.max() + 1), totals)
        return first, totals - first

    @cached_property
    def key(self) -> tuple[object, ...]:
        """A cache key of the cell: its sizes, rows, attributes and supports."""
        parts = (np.packbits(self.flags), self.member, self.supports)
        return (self.sizes, *(part.tobytes() for part in parts))

    @cached_property
    def flags(self) -> Flags:
        """The one-hot rows as truth values."""
        return self.onehot > 0

    @cached_property
    def totals(self) -> Floats:
        """The number of rows with each value."""
        by_value: Floats = self.onehot.sum(axis=0, dtype=np.float64)
        return by_value

    def plogp(self, counts: Floats, outcomes: Floats, group: int) -> Floats:
        """Computes p·log2 p of a group's shares."""
        if self.complete:
            return looked_up(plogp, counts, self.sizes[group])
        return plogp(self.shares(counts, outcomes))


def looked_up(function: Callable[[Floats], Floats], counts: Floats, n: int) -> Floats:
    """Applies a function of shares to counts/n, by a table of its values, to save logarithms."""
    values: Floats = function(np.arange(n + 1) / max(n, 1)).take(counts.astype(np.intp))
    return values


def plogp(p: Floats) -> Floats:
    """Computes p·log2 p, 0 at p = 0."""
    product: Floats = np.log2(np.maximum(p, TINY))
    product *= p
    return product


def plogp_of_both(p: Floats) -> Floats:
    """Computes p·log2 p for "this value" plus the same for "another value"."""
    return plogp(p) + plogp(1 - p)


def coded_groups(groups: list[ArrayLike]) -> list[Codes]:
    """Checks rows of codes: raises ValueError unless all nonempty ones have the same width."""
    if not groups:
        raise ValueError("groups: at least one group expected, got none")
    coded = [arguments.rows(f"group {i}", group) for i, group in enumerate(groups)]
    width = next((rows.shape[1] for rows in coded if len(rows)), coded[0].shape[1])
    for i, rows in enumerate(coded):
        if len(rows) and rows.shape[1] != width:
            raise ValueError(f"group {i}: {width} attributes expected, got {rows.shape[1]}")
    return coded


def cell_of(groups: list[Codes], values: Sequence[int] | None) -> Cell:
    """Makes a cell from groups of rows. values: the number of possible values per attribute; by
    default the number of values that occur.
    """
    pooled = np.concatenate(groups)
    attributes = pooled.shape[1]
    if values is not None and len(values) != attributes:
        raise ValueError(f"values: {attributes} numbers, one per attribute, expected, got {values}")
    width = int(pooled.max(initial=-1)) + 1
    keys = pooled + np.arange(attributes) * width  # a code, and whose it is
    ordered = np.sort(keys[pooled >= 0])  # so few are sorted faster than `unique` finds them
    owners, codes = np.divmod(ordered[np.diff(ordered, prepend=-1) > 0], max(width, 1))
    seen_values = np.bincount(owners, minlength=attributes)
    supports = np.array(seen_values if values is None else values, dtype=np.float64)
    for a in np.flatnonzero(supports < seen_values):
        raise ValueError(
            f"values: attribute {a} has {seen_values[a]} distinct values in the data, but "
            f"values[{a}] is {supports[a]:g}"
        )
    member = np.eye(attributes)[owners]
    onehot = (pooled[:, owners] == codes).astype(np.float32)
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
    """Groups identical rows by value (missing is a kind). None if shuffling rows is cheaper."""
    rows, values = onehot.shape
    if attributes > 1 or rows < ALIKE * (groups - 1) * values:
        return None
    sizes = onehot.sum(axis=0, dtype=np.int64)
    sizes = np.append(sizes, rows - sizes.sum())
    return np.eye(values + 1, values)[sizes > 0], sizes[sizes > 0]
