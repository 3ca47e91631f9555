"""The smallest shift that a test detects: one solver for a plan and for a report.

Tables are simulated with a shift, the row's own test at its level α/m is applied to each, and the
shift is bisected until the test rejects 80 % of them. All tables follow from one seed, so that a
design has one answer. A formula with t at α/m overstates the power by up to a third for few items,
since a sign flip of few items cannot reach a small p.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.multiplicity import reach
from tiltmeter.stats.power.design import Design, stretch
from tiltmeter.stats.power.rejections import (
    ALL_PATTERNS,
    TABLES,
    TIE,
    RejectionShare,
    far_enough,
    flip_rejects,
    smallest_shift,
    tested_rejects,
)
from tiltmeter.stats.power.tested_shift import ranks_of, rates_of, reject_few, reject_many

MOST_ITEMS = 120  # items that are drawn; of more, differences go with 1/√items
NULLS_PER_LEVEL, MOST_NULLS = 20, 100_000  # tables without a tilt, for a critical value


@lru_cache(maxsize=1_024)
def planned_shift(*, design: Design, level: float = 0.05, seed: int = 0) -> float | None:
    """Returns the smallest difference from ``design.share`` with 80 % power at ``level`` (α/m).

    Items are beta-binomial with mean ``share`` (the tested condition: share + shift); the test is a
    sign flip over items, or for three or more conditions the random assignment of the tested one
    (``conditions.tested_condition``). In shares; None if even the largest shift is not detected.
    Source: the model, Skellam (1948), JRSS B 10. By hand: ``share`` .5, one condition, infinite
    outputs and icc 0: every item shows the shift exactly, so any shift above 0 is detected.
    Raises ``ValueError`` for a level, a share or an icc outside 0 to 1.
    """
    _check(design, level)
    if not _can_reject(design, level):
        return None
    stretch = math.sqrt(max(design.items / MOST_ITEMS, 1.0))
    fewer = replace(design, items=min(design.items, MOST_ITEMS))
    shift = smallest_shift(_rejected_share(fewer, level, seed), 1 - design.share)
    return None if shift is None else shift / stretch


def planned_power(*, design: Design, shift: float, level: float = 0.05, seed: int = 0) -> float:
    """Computes the power for ``shift`` at ``level`` (α/m), from the tables of ``planned_shift``."""
    _check(design, level)
    if not _can_reject(design, level):
        return 0.0
    stretch = math.sqrt(max(design.items / MOST_ITEMS, 1.0))
    fewer = replace(design, items=min(design.items, MOST_ITEMS))
    return _rejected_share(fewer, level, seed)(min(shift * stretch, 1 - design.share), TABLES)


def _can_reject(design: Design, level: float) -> bool:
    conditions = max(design.conditions, 2)
    return reach(items=design.items, tests=1, alpha=level, conditions=conditions).possible


def _rejected_share(design: Design, level: float, seed: int) -> RejectionShare:
    """Returns a function: (shift, number of tables) → share of the tables that are rejected."""
    ranks = ranks_of(design, np.random.default_rng([seed, 1]))

    @cache
    def controls(tables: int) -> list[Floats]:
        return [
            rates_of(design, design.share, ranks[k, :tables], seed, k)
            for k in range(1, design.conditions)
        ]

    def rejection_share(shift: float, tables: int) -> float:
        tested = rates_of(design, design.share + shift, ranks[0, :tables], seed, 0)
        if design.conditions == 1:
            return float(flip_rejects(tested - design.share, level).mean())
        others = controls(tables)
        if design.conditions == 2:
            return float(flip_rejects(tested - others[0], level).mean())
        return float(tested_rejects(np.stack([tested, *others], axis=2), level).mean())

    return rejection_share


def observed_shift(*, differences: ArrayLike, level: float = 0.05, seed: int = 0) -> float | None:
    """Returns the smallest mean difference detected in these items with 80 % power at ``level``.

    ``differences``, shape (C,): one per item, in any unit; ``level``: α/m. Differences are centred,
    stretched by √(C/(C-3)), resampled with random signs, and the shift is added; the test is the
    sign flip. None if ``level`` needs more items, or all differences are equal. By hand: ±1 in
    equal numbers, C = 40: (1.96 + .84)/√37 = .460. ``ValueError``: NaN, a level outside 0 to 1.
    """
    d = arguments.vector("differences", differences)
    return _observed(d.tobytes(), arguments.level("level", level), seed)


@lru_cache(maxsize=2_048)
def _observed(differences: bytes, level: float, seed: int) -> float | None:
    """Computes ``observed_shift``; cached, as a report needs it several times for equal rows."""
    d = np.frombuffer(differences)
    items = d.size
    if items < 2 or not reach(items=items, tests=1, alpha=level).possible:
        return None
    centred = (d - d.mean()) * stretch(items, 3)
    spread = float(np.abs(centred).max())
    if spread <= TIE * max(1.0, float(np.abs(d).max())):
        return None
    of_shifted = reject_few if items <= ALL_PATTERNS else reject_many
    rejected = of_shifted(centred / spread, level, seed)
    shift = smallest_shift(rejected, far_enough(rejected))
    return None if shift is None else shift * spread


def divergence_shift(
    *,
    shares: ArrayLike,
    outputs: int,
    groups: int = 2,
    level: float = 0.05,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Returns the smallest tilt of one of ``groups`` groups that shuffling detects in an attribute.

    ``shares``, shape (K,): the distribution of all groups but one; ``outputs`` per group. The last
    group has (1-λ)·shares + λ·e, e the rarest value. The statistic is the mean Jensen–Shannon
    divergence over the pairs of groups; its critical value is that of groups sampled from the
    pooled distribution, as in a shuffle. Returns (λ, the population's mean divergence in bits);
    None if no λ is detected with 80 % power at ``level`` (α/m). By hand: two values, shares (1, 0),
    λ = 1: full separation, 1 bit. ``ValueError``: fewer than two shares or groups, or no output.
    """
    base = arguments.counts("shares", shares)
    if base.size < 2 or base.sum() == 0:
        raise ValueError("shares: at least two numbers with a sum above 0 expected")
    if outputs < 1 or groups < 2:
        raise ValueError("outputs, groups: at least 1 output and 2 groups expected")
    level = arguments.level("level", level)
    base = base / base.sum()
    rarest = np.eye(base.size)[int(np.argmin(base))]
    nulls = min(max(TABLES, math.ceil(NULLS_PER_LEVEL / level)), MOST_NULLS)

    def draw_divergences(distributions: list[Floats], tables: int, stream: int) -> Floats:
        generator = np.random.default_rng([seed, 3, stream])
        counts = [generator.multinomial(outputs, p, size=tables) for p in distributions]
        return _mean_divergence([count / outputs for count in counts])

    def rejection_share(tilt: float, tables: int) -> float:
        tilted = (1 - tilt) * base + tilt * rarest
        pooled = base + (tilted - base) / groups
        pooled = pooled / pooled.sum()
        critical = np.quantile(draw_divergences([pooled] * groups, nulls, 0), 1 - level)
        divergences = draw_divergences([*[base] * (groups - 1), tilted / tilted.sum()], tables, 1)
        return float((divergences > critical + TIE).mean())

    tilt = smallest_shift(rejection_share, 1.0)
    if tilt is None:
        return None
    tilted = (1 - tilt) * base + tilt * rarest
    bits = _mean_divergence([base[None, :]] * (groups - 1) + [tilted[None, :]])
    return tilt, float(bits[0])


def _mean_divergence(shares: list[Floats]) -> Floats:
    """Computes the mean JS divergence in bits over pairs of groups, each of shape (tables, K)."""

    def plogp(p: Floats) -> Floats:
        sums: Floats = (p * np.log2(np.maximum(p, np.finfo(np.float64).tiny))).sum(axis=1)
        return sums

    entropies, pairs = [plogp(p) for p in shares], list(combinations(range(len(shares)), 2))
    total = np.zeros(len(shares[0]))
    for i, j in pairs:
        total += (entropies[i] + entropies[j]) / 2 - plogp((shares[i] + shares[j]) / 2)
    return total / len(pairs)


def _check(design: Design, level: float) -> None:
    arguments.level("level", level)
    for name, value in (("share", design.share), ("icc", design.icc)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name}: between 0 and 1 expected, got {value!r}")
    if not 0 <= design.correlation <= 1:
        raise ValueError(f"correlation: between 0 and 1 expected, got {design.correlation!r}")
    if design.items < 1 or design.conditions < 1 or not design.outputs >= 1:
        raise ValueError("items, conditions and outputs: at least 1 of each expected")
