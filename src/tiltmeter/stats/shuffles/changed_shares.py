"""Tests if a group's difference from other groups in the share of a value changes from one side to
the other: the largest change over all values, by shuffling whole rows between the sides inside each
prompt.

The two sides are the same prompts without and with something (a mitigation). The null hypothesis is
that the mitigation changes nothing. An effect on all prompts alike changes no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.shuffles.shuffling import Shuffles

METHOD = "largest change of a difference, rows permuted between the sides inside each prompt"
TIE = 1e-9  # how far apart two statistics count as the same


@dataclass(frozen=True, slots=True)
class ChangedPart:
    """The prompts of one object. first, second: per prompt, its codes on that side, shape (outputs,
    A), a missing value below 0; names: of attributes; values: of each attribute, by code;
    shuffles: one per prompt.
    """

    first: Sequence[Codes]
    second: Sequence[Codes]
    names: Sequence[str]
    values: Sequence[Sequence[str]]
    shuffles: Sequence[Shuffles]


@dataclass(frozen=True, slots=True)
class LargestChange:
    """The value whose difference changes most. group: the index of its prompt; shares: of the
    value, as (group, others) on the first and on the second side; tested: the number of tested
    changes."""

    attribute: str
    value: str
    group: int
    shares: tuple[tuple[float, float], tuple[float, float]]
    p: float
    tested: int
    outputs: int

    @property
    def gaps(self) -> tuple[float, float]:
        """The differences between group and others, on the first and on the second side."""
        (a, b), (c, d) = self.shares
        return a - b, c - d


def largest_change(*, parts: Sequence[ChangedPart], based: bool) -> LargestChange | None:
    """Returns the change of a difference that is largest in standard errors under shuffling, and p
    of that maximum. None if no two rows differ.

    based: True to compare every group with the first; else with all others (two groups once).
    Source: permutation within blocks and the maximum statistic, Westfall and Young (1993). By hand:
    one object, first side base (a, b) and group (a, a), second (a, b) and (b, b): the share of a is
    1 less .5, then 0 less .5: a change of −1. The base's rows have 6 arrangements and the group's
    6; 18 of these 36 have changes at least as large.
    """
    keys = list(dict.fromkeys(key for part in parts for key in _keys(part)))
    attributes = list(dict.fromkeys(name for name, _ in keys))
    if not keys:
        return None
    member = np.array(
        [[name == attribute for attribute in attributes] for name, _ in keys], dtype=np.float64
    )
    sides = [_side_counts(parts, keys, side) for side in (0, 1)]
    groups = range(len(parts[0].first))
    groups_tested = groups[1:] if based else groups[: 1 if len(groups) == 2 else None]
    best: tuple[float, int, int, Floats] | None = None
    highest = np.zeros(len(sides[0][0]))
    count = 0
    for group in groups_tested:
        others = [0] if based else [other for other in groups if other != group]
        shares = np.stack([_shares(side, [group], others, member) for side in sides])
        change = (shares[1, 0] - shares[1, 1]) - (shares[0, 0] - shares[0, 1])
        spread = change[1:].std(axis=0)
        size = np.abs(np.divide(change, spread, out=np.zeros_like(change), where=spread > TIE))
        count += int((spread > TIE).sum())
        highest = np.maximum(highest, size.max(axis=1))
        place = int(size[0].argmax())
        if best is None or size[0, place] > best[0]:
            best = (float(size[0, place]), group, place, shares[:, :, 0, place])
    if best is None or not count:
        return None
    _, group, place, shares_of_best = best
    reached = int((highest[1:] >= highest[0] - TIE).sum())
    rows = sum(len(codes) for part in parts for codes in (*part.first, *part.second))
    first, second = ((float(a), float(b)) for a, b in shares_of_best)
    p = (1 + reached) / len(highest)
    return LargestChange(*keys[place], group, (first, second), p, count, rows)


def _keys(part: ChangedPart) -> list[tuple[str, str]]:
    pairs = zip(part.names, part.values, strict=True)
    return [(name, value) for name, values in pairs for value in values]


def _side_counts(
    parts: Sequence[ChangedPart], keys: Sequence[tuple[str, str]], side: int
) -> list[Floats]:
    """Returns, per group, the counts of every value on one side, over all parts: observed, then in
    each shuffle, shape (1 + B, values).
    """
    draws = parts[0].shuffles[0].draws
    counts = [np.zeros((1 + draws, len(keys))) for _ in parts[0].first]
    for part in parts:
        columns = [keys.index(key) for key in _keys(part)]
        for group, (first, second) in enumerate(zip(part.first, part.second, strict=True)):
            marks = [_onehot(codes, part) for codes in (first, second)]
            flags = np.concatenate(marks) > 0
            blocks = part.shuffles[group].counts((len(first), len(second)), flags)
            dealt = np.concatenate([block[0] for block in blocks], axis=1).T.astype(np.float64)
            total = sum(mark.sum(axis=0) for mark in marks)
            shuffled = total - dealt if side else dealt
            counts[group][0, columns] += marks[side].sum(axis=0)
            counts[group][1:, columns] += shuffled
    return counts


def _onehot(codes: Codes, part: ChangedPart) -> Floats:
    return np.concatenate(
        [
            (codes[:, [place]] == np.arange(len(values))).astype(np.float64)
            for place, values in enumerate(part.values)
        ],
        axis=1,
    )


def _shares(
    side: Sequence[Floats], group: Sequence[int], others: Sequence[int], member: Floats
) -> Floats:
    """Computes the share of every value in the group and in the others, (2, 1 + B, values)."""
    shares = []
    for places in (group, others):
        counts = np.sum([side[place] for place in places], axis=0)
        labelled = counts @ member @ member.T
        shares.append(np.divide(counts, labelled, out=np.zeros_like(counts), where=labelled > 0))
    return np.stack(shares)
