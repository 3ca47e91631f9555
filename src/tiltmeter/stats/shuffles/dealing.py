"""Rows assigned to groups at random, as bits, 64 rows per word; and counts of values by group.

The number of a group's rows with a value is then a count of bits, 64 rows at a time.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Numbers = NDArray[np.unsignedinteger]
WORD = 64  # rows
TOGETHER = 64_000  # words whose bits are counted at once: what stays in a processor's cache
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
    dtype = np.min_scalar_type(words * WORD)
    numbers: Numbers = np.zeros((columns, columns_dealt), dtype=dtype)
    piece = max(1, TOGETHER // max(1, columns_dealt))  # columns
    for word in range(words):
        # in one row: numpy takes short ones into a buffer, which costs more than to count
        rows = dealt[:, word].reshape(columns_dealt)
        for start in range(0, columns, piece):
            words_of_piece = packed[word, start : start + piece, None]
            if words_of_piece.any():
                numbers[start : start + piece] += count_bits(_shared_bits(words_of_piece, rows))
    return numbers.reshape(columns, groups, draws).transpose(1, 0, 2)


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
