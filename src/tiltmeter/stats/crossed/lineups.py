"""Rankings of candidates whose names stand for groups: tests if a group is ranked first too often.

A line-up is one set of candidates with one name per group, ranked one or more times. If each name
occurs in one line-up only, the test permutes groups inside each line-up. If names recur, both
line-ups and names are samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.crossed.design import Crossed
from tiltmeter.stats.crossed.populations import Inference, infer
from tiltmeter.stats.crossed.variances import Components, components
from tiltmeter.stats.results import Test

DEALT = "groups dealt inside line-ups (exact)"
RECURRING = "line-ups and names as samples, variance averaged over groups, t"


@dataclass(frozen=True, slots=True)
class GroupShare:
    """One group's share of first ranks less an even share. pooled: the test, with the variance
    averaged over groups; own: the interval, with the group's own variance. names_sd: the standard
    deviation between names, beyond the variation of line-ups.
    """

    value: float
    pooled: Inference
    own: Inference
    names: int
    names_sd: float
    lineups: int


def dealt(firsts: ArrayLike, group: int) -> Test:
    """Tests if a group is ranked first as often as the others, for line-ups with any names.

    firsts: how often the name of each group was ranked first in each line-up, whole numbers of
    shape (line-ups, groups). If groups make no difference, each name of a line-up could be of any
    group: the group's count is one entry of each row, picked with equal chances, and all rankings
    of a line-up stay together. The distribution of the sum is computed exactly; p is two-sided by
    the distance from the expected sum. By hand: line-ups (2, 0) and (1, 1), group 0: the sum is 3
    or 1, each with probability 1/2, and both 1 away from the expected 2: p = 1.
    p is None without a ranking. Raises ``ValueError`` for counts that are not whole.
    """
    counts = np.atleast_2d(np.asarray(firsts, dtype=np.float64))
    if (counts < 0).any() or (counts != np.rint(counts)).any():
        raise ValueError("firsts: counts of rankings expected (whole numbers, at least 0)")
    counts = counts[counts.sum(axis=1) > 0]
    if not counts.size:
        return Test(None, None, DEALT, note="no rankings: no test")
    law = np.ones(1)
    for row in counts.astype(np.int64):
        law = np.convolve(law, np.bincount(row) / row.size)
    observed, expected = float(counts[:, group].sum()), float(counts.mean(axis=1).sum())
    distance = np.abs(np.arange(law.size) - expected)
    p = float(law[distance >= abs(observed - expected) - 1e-9].sum())
    reached = law[law > 0]
    return Test(observed - expected, min(1.0, p), DEALT, smallest_p=float(reached.min()))


def recurring(
    *,
    lineup: Sequence[str],
    names: Sequence[Sequence[str]],
    n: ArrayLike,
    firsts: ArrayLike,
) -> list[GroupShare]:
    """Tests each group's share of first ranks against an even share, with names as a sample.

    lineup: each row's line-up; names: of its groups, shape (rows, groups); n: its rankings; firsts:
    how often each name was ranked first, shape (rows, groups). A group has a variance V_i over
    line-ups and V_w - V_c over its names (`variances.components`, without the items' shift: a
    line-up has one name per group). V = V_i + G/(G-1)·(V_w - V_c); the test averages V over the G
    groups, which are equal under the null hypothesis; the interval uses the group's own V.
    """
    sizes, counts = arguments.counts("n", n), np.asarray(firsts, dtype=np.float64)
    groups = counts.shape[1]
    each = [
        _components(lineup, [row[g] for row in names], sizes, counts[:, g]) for g in range(groups)
    ]
    larger = groups / (groups - 1)
    variances = [_variance(parts, larger) for _, parts in each]
    variance = float(np.mean([v for v, _ in variances]))
    spread = float(np.sum([s for _, s in variances])) / groups**2
    shares = []
    for (design, parts), (v, s) in zip(each, variances, strict=True):
        value = float(parts.value[0]) - 1 / groups
        shares.append(
            GroupShare(
                value,
                infer(variance, variance**2 / spread if spread else 1.0, value, 0.0),
                infer(v, v**2 / s if s else 1.0, value, 0.0),
                design.words,
                _names_sd(design, parts),
                design.items,
            )
        )
    return shares


def _components(
    lineup: Sequence[str], names: Sequence[str], n: Floats, firsts: Floats
) -> tuple[Crossed, Components]:
    """Returns one group's (design, variance components); adds up rows of one line-up and name."""
    sums: dict[tuple[str, str], list[float]] = {}
    for key, size, count in zip(zip(lineup, names, strict=True), n, firsts, strict=True):
        cell = sums.setdefault(key, [0.0, 0.0])
        cell[0] += size
        cell[1] += count
    positive = {key: cell for key, cell in sums.items() if cell[0] > 0}
    design = Crossed.of(
        side=[0] * len(positive),
        word=[name for _, name in positive],
        item=[line for line, _ in positive],
        n=[size for size, _ in positive.values()],
    )
    shares = np.array([[count / size for size, count in positive.values()]])
    return design, components(design, shares, item_shifts=False)


def _names_sd(design: Crossed, parts: Components) -> float:
    between = max(0.0, float(parts.words[0, 0] - parts.cells[0, 0]))
    return float(np.sqrt(between / design.squared_weights)) if design.squared_weights else 0.0


def _variance(parts: Components, larger: float) -> tuple[float, float]:
    """Returns (a group's V, the sum of component²/df, which gives the degrees of freedom of V)."""
    items, words = float(parts.items[0]), float(parts.words[0, 0])
    between = max(0.0, words - float(parts.cells[0, 0]))
    degrees = float(parts.words_df[0, 0])
    of_words = (larger * words) ** 2 / max(degrees, 1.0)
    return items + larger * between, items**2 / max(parts.items_df, 1.0) + of_words
