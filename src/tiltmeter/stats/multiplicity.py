"""Adjustment of many p-values within a family that the caller defines.

Entries that were not tested (None or NaN) stay None: the family is the tested entries.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.results import count_of

Method = Literal["holm", "benjamini-hochberg"]
DRAWS_PER_LEVEL = 50  # random draws for each 1/level, so that p near the level is steady
LEAST_DRAWS = 9_999


@dataclass(frozen=True, slots=True)
class Family:
    """Tests adjusted together: adjusted p in the given order (None if untested), number, method."""

    p: tuple[float | None, ...]
    tests: int
    method: Method


def adjust(*, p: Iterable[float | None], method: Method) -> Family:
    """Adjusts p by ``holm`` (headline claims) or ``benjamini_hochberg`` (all other claims)."""
    adjusted = (holm if method == "holm" else benjamini_hochberg)(p=p)
    return Family(tuple(adjusted), sum(value is not None for value in adjusted), method)


def draws_needed(*, tests: int, alpha: float = 0.05) -> int:
    """Returns the draws per test in a family of m: 50·m/α, at least 9,999 (m = 1000: 1,000,000)."""
    level = _level(tests, alpha)
    return max(LEAST_DRAWS, math.ceil(DRAWS_PER_LEVEL / level - 1e-6))


@dataclass(frozen=True, slots=True)
class Reach:
    """The reach of a test on few items: its smallest p, the level α/m, the items needed."""

    items: int
    tests: int
    smallest_p: float
    level: float
    items_needed: int

    @property
    def possible(self) -> bool:
        """True if the test can reject at α/m."""
        return self.smallest_p <= self.level * (1 + 1e-9)

    @property
    def note(self) -> str | None:
        """Says how many items the test needs; None if it can reject."""
        if self.possible:
            return None
        return (
            f"{count_of(self.items, 'item')} cannot show any difference in a family of "
            f"{self.tests}: {self.items_needed} are needed"
        )


def reach(*, items: int, tests: int, alpha: float = 0.05, conditions: int = 2) -> Reach:
    """Computes if C items with random conditions can show any difference in a family of m tests.

    Two conditions (a sign flip): smallest p 2/2^C; ⌈1 + log₂(m/α)⌉ items needed. K conditions, one
    of them tested: 1/K^C and ⌈log_K(m/α)⌉. By hand: 11 items for a family of 36 at .05 and 12 for
    one of 96 (two conditions). Raises ``ValueError`` for tests < 1 or conditions < 2.
    """
    level = _level(tests, alpha)
    if conditions < 2:
        raise ValueError(f"conditions: at least 2 expected, got {conditions!r}")
    tails = 2.0 if conditions == 2 else 1.0
    smallest_p = min(tails * float(conditions) ** -items, 1.0)  # 0 of thousands of items
    items_needed = math.ceil(math.log(tails / level) / math.log(conditions) - 1e-9)
    return Reach(items, tests, smallest_p, level, items_needed)


def _level(tests: int, alpha: float) -> float:
    if tests < 1:
        raise ValueError(f"tests: at least 1 expected, got {tests!r}")
    return arguments.level("alpha", alpha) / tests


def benjamini_hochberg(*, p: Iterable[float | None]) -> list[float | None]:
    """Adjusts p-values to control the false discovery rate; keeps the given order.

    Formula: sorted p_(i)·m/i, made monotone from the largest down, at most 1. Range [0, 1]. Valid
    for independent or positively dependent tests. Source: Benjamini & Hochberg (1995), JRSS B 57.
    By hand: (.01, .04, .03, .005) → (.02, .04, .04, .02). ``ValueError``: a p outside [0, 1].
    """
    raw = list(p)
    tested, values = _tested_values(raw)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * values.size / np.arange(1, values.size + 1)
    return _put_back(raw, tested, order, np.minimum.accumulate(scaled[::-1])[::-1])


def holm(*, p: Iterable[float | None]) -> list[float | None]:
    """Adjusts p-values to control the chance of any false rejection; keeps the given order.

    Formula: sorted p_(i)·(m-i+1), made monotone from the smallest up, at most 1. Range [0, 1].
    Valid under any dependence. Source: Holm (1979), Scand. J. Stat. 6.
    By hand: (.01, .04, .03, .005) → (.03, .06, .06, .02). ``ValueError``: a p outside [0, 1].
    """
    raw = list(p)
    tested, values = _tested_values(raw)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(values.size, 0, -1)
    return _put_back(raw, tested, order, np.maximum.accumulate(scaled))


def nested(*, p: Iterable[tuple[Hashable, float | None]]) -> Family:
    """Adjusts claims of several cells by Holm. p: (claim, p of one of its cells) pairs.

    A claim of one cell has the cell's p; a claim of several cells has the smallest p, adjusted by
    Holm inside the claim. Holm over the m claims decides which are rejected. If a claim has several
    cells, the p of each is adjusted inside the claim and multiplied by m: the level that Holm frees
    by rejections is not used, as every claim would spend it again. ``tests`` is the total number of
    cells.
    By hand: a (.01, .02, .5), b (.04): inside a (.03, .04, .5); Holm over (.03, .04) gives b .06;
    a's cells × 2: (.06, .08, 1). Source: Holm (1979); Westfall and Young (1993), section 2."""
    pairs = list(p)
    claims: dict[Hashable, list[int]] = {}
    for place, (claim, value) in enumerate(pairs):
        if value is not None and not math.isnan(value):
            claims.setdefault(claim, []).append(place)
    within = {claim: holm(p=[pairs[i][1] for i in places]) for claim, places in claims.items()}
    adjusted_claims = holm(p=[min(p for p in cells if p is not None) for cells in within.values()])
    adjusted: list[float | None] = [None] * len(pairs)
    for (claim, places), outer in zip(claims.items(), adjusted_claims, strict=True):
        for place, cell in zip(places, within[claim], strict=True):
            is_alone = len(places) == 1
            adjusted[place] = outer if is_alone or cell is None else min(1.0, cell * len(claims))
    return Family(tuple(adjusted), sum(map(len, claims.values())), "holm")


def _tested_values(p: list[float | None]) -> tuple[list[int], Floats]:
    tested = [i for i, value in enumerate(p) if value is not None and not math.isnan(value)]
    values = np.array([p[i] for i in tested], dtype=np.float64)
    if values.size and (values.min() < 0 or values.max() > 1):
        raise ValueError("p: numbers from 0 to 1 expected")
    return tested, values


def _put_back(
    p: list[float | None], tested: list[int], order: np.ndarray, scaled: Floats
) -> list[float | None]:
    adjusted: list[float | None] = [None] * len(p)
    for place, value in zip(order, np.minimum(scaled, 1.0), strict=True):
        adjusted[tested[int(place)]] = float(value)
    return adjusted
