"""Rows assigned to groups at random, as bits, 64 rows per word; and counts of values by group.

The number of a group's rows with a value is then a count of bits, 64 rows at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Numbers = NDArray[np.unsignedinteger]
Implied = Sequence[slice]  # columns in parts, of each of which every row has exactly one flag
WORD = 64  # rows
TOGETHER = 64_000  # words whose bits are counted at once: what stays in a processor's cache
IN_A_BYTE = 3  # words whose bits a byte can count, which is quicker than larger numbers
LEAST_BUFFER = 16  # entries: the smallest that numpy takes
LABELS = 1_000_000  # group numbers that are shuffled at a time


def deal_rows(sizes: tuple[int, ...], draws: int, generator: np.random.Generator) -> Words:
    """Assigns rows to groups at random, all assignments equally likely. Returns the rows of all
    groups but the last, shape (groups - 1, words, draws).

    Bit r % 64 of word r // 64 is row r. By hand: sizes (1, 1): word 1 in half of the draws, word 2
    in the other half.
    """
    labels = np.repeat(np.arange(len(sizes)), sizes)
    dealt = np.empty((len(sizes) - 1, math.ceil(labels.size / WORD), draws), dtype=np.uint64)
    piece = max(1, LABELS // max(1, labels.size))
    for start in range(0, draws, piece):
        copies = np.broadcast_to(labels, (min(piece, draws - start), labels.size))
        shuffled = generator.permuted(copies, axis=1)
        for group, words in enumerate(dealt):
            words[:, start : start + piece] = pack_rows((shuffled == group).T)
    return dealt


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
    columns_dealt, columns = groups * draws, packed.shape[1]
    most = count_bits(packed).sum(axis=0, dtype=np.int64).max(initial=0)
    numbers: Numbers = np.zeros((columns, columns_dealt), dtype=np.min_scalar_type(most))
    piece = max(1, TOGETHER // max(1, columns_dealt))  # columns
    # in one row: numpy takes short ones into a buffer, which costs more than to count
    rows = [dealt[:, word].reshape(columns_dealt) for word in range(words)]
    for start in range(0, columns, piece):
        part = numbers[start : start + piece]
        for first in range(0, words, IN_A_BYTE):
            bits: Numbers | int = 0
            for word in range(first, min(words, first + IN_A_BYTE)):
                held = packed[word, start : start + piece, None]
                bits = bits + count_bits(_shared_bits(held, rows[word]))
            part += bits
    return numbers.reshape(columns, groups, draws).transpose(1, 0, 2)


def with_last(counted: Numbers, implied: Implied, sizes: tuple[int, ...]) -> Numbers:
    """Adds the counts of the last column of each part, which follow from those of its others:
    ``counted`` has shape (groups - 1, columns without the last of each part, draws).
    """
    groups, _, draws = counted.shape
    numbers: Numbers = np.empty((groups, implied[-1].stop, draws), np.min_scalar_type(max(sizes)))
    sizes_dealt = np.array(sizes[:-1], dtype=numbers.dtype)[:, None]
    for place, part in enumerate(implied):
        others = numbers[:, part.start : part.stop - 1]
        others[:] = counted[:, part.start - place : part.stop - 1 - place]
        numbers[:, part.stop - 1] = sizes_dealt - others.sum(axis=1, dtype=numbers.dtype)
    return numbers


def _shared_bits(held: Words, rows: Words) -> Words:
    """Returns held & rows, without the buffer into which numpy copies rows of fewer than 4,096
    words, at three times the cost.
    """
    size = np.setbufsize(LEAST_BUFFER)
    try:
        return held & rows
    finally:
        np.setbufsize(size)


def _count_by_table(words: Numbers) -> NDArray[np.uint8]:
    """Counts the bits of each word, for numpy before version 2, which has no function for it."""
    table = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
    bytes_ = np.ascontiguousarray(words)[..., None].view(np.uint8)
    bits: NDArray[np.uint8] = table[bytes_].sum(axis=-1).astype(np.uint8)
    return bits


count_bits = getattr(np, "bitwise_count", _count_by_table)
