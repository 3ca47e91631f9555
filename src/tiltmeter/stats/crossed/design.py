"""The crossed design: the side, the cue word, the item and the number of answers of each prompt.

A *cue word* (a name) stands for a level of a factor; an *item* (a job, a scenario) is the subject
of the prompts. Both are samples from populations of names and of items.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Codes, Floats

NEGLIGIBLE = 0.02  # part of the cue words' variance below which items already carry it


@dataclass(frozen=True)
class PromptSums:
    """A function that sums by group. order: indices sorted by group; starts: each group's first."""

    order: Codes
    starts: Codes

    def __call__(self, values: Floats) -> Floats:
        """Sums values of shape (…, prompts) by group, to shape (…, groups)."""
        ordered = values[..., self.order]
        sums: Floats = np.add.reduceat(ordered, self.starts, axis=-1)
        return sums


@dataclass(frozen=True)
class Crossed:
    """The prompts of one or two sides. All arrays have one entry per prompt, shape (P,).

    side: 0 for all (a share), or 1 for the level and 0 for its baseline. word: indices from 0 to K
    - 1; the two sides have different words, unless words come in *matched* sets: then a set has one
    word per side and counts as one word. item: indices from 0 to C - 1. n: the number of answers,
    above 0."""

    side: Codes
    word: Codes
    item: Codes
    n: Floats
    matched: bool = False

    @classmethod
    def of(
        cls,
        *,
        side: Sequence[int],
        word: Sequence[Hashable],
        item: Sequence[Hashable],
        n: Sequence[float],
        matched: bool = False,
    ) -> Crossed:
        """Builds the design; words and items become indices. Leave out prompts without answers
        first. Raises ``ValueError`` for a prompt without answers, or a repeated (side, word, item).
        """
        sizes = arguments.counts("n", n)
        if (sizes <= 0).any():
            raise ValueError("n: every prompt needs at least one answer")
        sides = np.asarray(side, dtype=np.int64)
        words = _codes(list(zip(side, word, strict=True)) if not matched else list(word))
        design = cls(sides, words, _codes(list(item)), sizes, matched)
        keys = (sides * design.words + words) * design.items + design.item
        if np.unique(keys).size < keys.size:
            raise ValueError("item: two prompts have the same side, word and item")
        return design

    @cached_property
    def sides(self) -> int:
        """The number of sides: one (a share) or two (a difference)."""
        return int(self.side.max()) + 1

    @cached_property
    def items(self) -> int:
        """The number of items over all sides (C)."""
        return int(self.item.max()) + 1

    @cached_property
    def words(self) -> int:
        """The number of cue words over all sides (K); a matched set counts once."""
        return int(self.word.max()) + 1

    @cached_property
    def sign(self) -> Floats:
        """A sign per prompt, shape (P,): +1 for the level, -1 for its baseline."""
        signs: Floats = np.where(self.sides == 1, 1.0, 2.0 * self.side - 1.0)
        return signs

    @cached_property
    def by_side(self) -> PromptSums:
        """A function that sums over the prompts of each side."""
        return _sums(self.side)

    @cached_property
    def by_item(self) -> PromptSums:
        """A function that sums over the prompts of each item."""
        return _sums(self.item)

    @cached_property
    def by_word(self) -> PromptSums:
        """A function that sums over the prompts of each cue word."""
        return _sums(self.word)

    @cached_property
    def item_sides(self) -> tuple[Codes, PromptSums, Codes]:
        """The index of each prompt's (item, side) pair; a sum by pair; the item of each pair."""
        pairs, first, codes = np.unique(
            self.item * self.sides + self.side, return_index=True, return_inverse=True
        )
        del pairs
        return codes, _sums(codes), self.item[first]

    @cached_property
    def word_side(self) -> Codes:
        """The side of each cue word, shape (K,); 0 for all if words are matched."""
        sides = np.zeros(self.words, dtype=np.int64)
        if not self.matched:
            sides[self.word] = self.side
        return sides

    @cached_property
    def words_by_side(self) -> Codes:
        """The number of cue words by side; one entry if words are matched."""
        return np.bincount(self.word_side)

    @cached_property
    def weight(self) -> Floats:
        """The share n/N of each prompt in its side's answers, shape (P,)."""
        weights: Floats = self.n / self.by_side(self.n)[self.side]
        return weights

    @cached_property
    def indicators(self) -> Floats:
        """One row per cue word of a side: 1 in the word's prompts, 0 elsewhere, shape (words, P). A
        side's only word is fixed, not sampled, and has no row.
        """
        keys, codes = np.unique(self.word * self.sides + self.side, return_inverse=True)
        is_alone = np.bincount(keys % self.sides) == 1
        rows = np.flatnonzero(~is_alone[keys % self.sides])
        tables: Floats = (codes == rows[:, None]).astype(np.float64)
        return tables

    @cached_property
    def squared_weights(self) -> float:
        """S = Σ(N_k/N_g)²: the estimate's variance per unit of variance between words."""
        return float(((self.indicators @ self.weight) ** 2).sum())


def _codes(labels: Sequence[Hashable]) -> Codes:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)


def _sums(codes: Codes) -> PromptSums:
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    return PromptSums(order, np.concatenate([[0], np.cumsum(sizes)[:-1]]))
