"""Rows assigned to groups at random, many draws at once, as bits; and counts of values by group.

A draw is a set of bits, 64 rows per word. Groups are split in two, and each half again. To split, a
coin is tossed for each row, 64 in a random word. If about as many rows as needed come up heads,
randomly picked rows change sides until the number is right; else all coins are tossed again. All
rows are treated alike, so every set of that size is equally likely, whatever the coin's
probability. A shuffle of labels has the same distribution but takes ten times as long: a number and
a swap per row.

The number of a group's rows with a value is then a count of bits, 64 rows at a time.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Numbers = NDArray[np.unsignedinteger]
WORD = 64  # rows
# parts of a standard deviation: how far a coin's mean may be off, and how far the number of rows
# that come up
COIN_OFF, TOSS_OFF = 4, 2
TOGETHER = 64_000  # words whose bits are counted at once: what stays in a processor's cache


def deal_rows(sizes: tuple[int, ...], draws: int, generator: np.random.Generator) -> Words:
    """Assigns rows to groups, with all assignments equally likely; returns all groups but the last,
    as bits, shape (groups - 1, words, draws).

    Bit r % 64 of word r // 64 is row r. By hand: sizes (1, 1): the first group's word is 1 in half
    of the draws, and 2 in the other half.
    """
    every = pack_rows(np.ones((sum(sizes), 1), dtype=bool))
    dealt = np.empty((len(sizes), len(every), draws), dtype=np.uint64)
    dealt[0] = every
    _part(dealt, sizes, sum(sizes), generator)
    return dealt[:-1]


def _part(dealt: Words, sizes: tuple[int, ...], rows: int, generator: np.random.Generator) -> None:
    """Divides the first group's rows among groups of `sizes`. rows: the number of bits in use."""
    half = len(sizes) // 2
    if not half:
        return
    dealt[half] = dealt[0]
    _choose(dealt[0], sum(sizes[:half]), sum(sizes), rows, generator)
    dealt[half] ^= dealt[0]
    _part(dealt[:half], sizes[:half], rows, generator)
    _part(dealt[half:], sizes[half:], rows, generator)


def _choose(group: Words, size: int, many: int, rows: int, generator: np.random.Generator) -> None:
    """Keeps ``size`` random rows of the ``many`` in a group, shape (words, draws); in place."""
    if size in (0, many):
        group *= np.uint64(size > 0)
        return
    spread = math.sqrt(size * (many - size) / many)
    digits = math.ceil(math.log2(COIN_OFF * many / 2 / spread))
    chance = round(size / many * 2**digits)
    before, excess = group.copy(), np.empty(group.shape[1], dtype=np.int64)
    open_ = np.arange(group.shape[1])
    while open_.size:
        whole = open_.size == group.shape[1]
        tossed = before if whole else before[:, open_]
        tossed = tossed & _toss_coins(chance, digits, tossed.shape, generator)
        over = count_bits(tossed).sum(axis=0, dtype=np.int32) - size
        near = np.abs(over) <= max(1.0, spread / TOSS_OFF)
        group[:, open_[near]], excess[open_[near]] = tossed[:, near], over[near]
        open_ = open_[~near]
    _change_sides(group, before, excess, rows, generator)


def pack_rows(flags: NDArray[np.bool_]) -> Words:
    """Packs flags of rows into words, from shape (rows, columns) to (words, columns)."""
    rows, columns = flags.shape
    padded = np.zeros((columns, math.ceil(rows / WORD) * WORD), dtype=bool)
    padded[:, :rows] = flags.T  # numpy packs what lies together ten times as fast
    packed = np.packbits(padded, axis=1, bitorder="little").view("<u8").T
    words: Words = np.ascontiguousarray(packed, dtype=np.uint64)
    return words


def count_dealt(dealt: Words, packed: Words) -> Numbers:
    """Counts, per column of ``packed``, shape (words, columns), the flagged rows in each group and
    draw, shape (groups - 1, columns, draws).
    """
    groups, words, draws = dealt.shape
    together, columns = groups * draws, packed.shape[1]
    fits = np.min_scalar_type(words * WORD)
    numbers: Numbers = np.zeros((columns, together), dtype=fits)
    piece = max(1, TOGETHER // max(1, together))  # columns
    for word in range(words):
        # in one row: numpy takes short ones into a buffer, which costs more than to count
        rows = dealt[:, word].reshape(together)
        for start in range(0, columns, piece):
            held = packed[word, start : start + piece, None]
            if held.any():
                numbers[start : start + piece] += count_bits(held & rows)
    return numbers.reshape(columns, groups, draws).transpose(1, 0, 2)


def _count_by_table(words: Numbers) -> NDArray[np.uint8]:
    """Counts the bits of each word, for numpy before version 2, which has no function for it."""
    table = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
    bytes_ = np.ascontiguousarray(words)[..., None].view(np.uint8)
    bits: NDArray[np.uint8] = table[bytes_].sum(axis=-1).astype(np.uint8)
    return bits


count_bits = getattr(np, "bitwise_count", _count_by_table)


def _toss_coins(
    chance: int, digits: int, shape: tuple[int, ...], generator: np.random.Generator
) -> Words:
    """Returns random words, each bit 1 with probability ``chance`` / 2**digits, from one random
    word per binary digit, beginning with the last digit that is 1.
    """
    skipped = (chance & -chance).bit_length() - 1
    words = generator.integers(2**64, size=shape, dtype=np.uint64)
    for digit in range(skipped + 1, digits):
        random = generator.integers(2**64, size=shape, dtype=np.uint64)
        combine = np.bitwise_or if chance >> digit & 1 else np.bitwise_and
        combine(words, random, out=words)
    return words


def _change_sides(
    group: Words,
    before: Words,
    excess: NDArray[np.int64],
    rows: int,
    generator: np.random.Generator,
) -> None:
    """Moves random rows between a group and the rest of ``before`` until no group is too large."""
    words, draws = group.shape
    short = before * (excess < 0)  # whose rest is in excess, not the group
    group ^= short
    sides = group.reshape(-1)  # a view: it lies in one piece
    row_numbers = np.arange(words * WORD)
    starts, bits = row_numbers // WORD * draws, np.uint64(1) << (row_numbers % WORD).astype("u8")
    wrong = np.flatnonzero(excess)
    left = np.abs(excess[wrong])
    while wrong.size:
        row = generator.integers(rows, size=wrong.size, dtype=np.uint32)
        place, bit = starts.take(row) + wrong, bits.take(row)
        fits = np.flatnonzero(sides.take(place) & bit)
        sides[place[fits]] ^= bit[fits]
        left[fits] -= 1
        kept = np.flatnonzero(left)
        wrong, left = wrong[kept], left[kept]
    group ^= short
