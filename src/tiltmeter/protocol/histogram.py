"""The lengths of a design's texts, in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean, median, stdev

from ..errors import UnknownName
from . import Protocol

BIN_WORDS = 10  # width of a bin


@dataclass(frozen=True, slots=True)
class WordCounts:
    """The lengths of a column's texts. counts: words per item; bins: (first, last, texts in it)."""

    counts: tuple[int, ...]
    bins: tuple[tuple[int, int, int], ...]

    @property
    def summary(self) -> str:
        """The mean, standard deviation, median and range in words, as text."""
        spread = stdev(self.counts) if len(self.counts) > 1 else 0.0
        return (
            f"mean {fmean(self.counts):.1f}, standard deviation {spread:.1f}, median "
            f"{median(self.counts):g}, {min(self.counts)} to {max(self.counts)}"
        )


def word_counts(protocol: Protocol, column: str) -> WordCounts:
    """Counts the words in a column, once per item. Raises UnknownName for an unknown column."""
    if column not in protocol.cells[0]:
        raise UnknownName("column", column, protocol.cells[0])
    texts = {cell[protocol.item]: cell[column] for cell in protocol.cells}
    counts = tuple(len(text.split()) for text in texts.values())
    by_bin = Counter(count // BIN_WORDS for count in counts)
    bins = tuple(
        (BIN_WORDS * bin_number, BIN_WORDS * (bin_number + 1) - 1, by_bin[bin_number])
        for bin_number in range(min(by_bin), max(by_bin) + 1)
    )
    return WordCounts(counts, bins)
