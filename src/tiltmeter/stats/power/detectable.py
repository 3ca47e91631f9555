"""The smallest shift that a test finds: one solver for a plan and for a report.

Tables are drawn at a shift, the row's own test is made of each at its level α/m, and the shift is
halved until the test rejects in 80 % of them. All tables follow from one seed, so that a design
has one answer. A formula with t at α/m overstates the power by up to a third at few items, since a
sign flip of few items has no small p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.stats import arguments, special
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.multiplicity import reach
from tiltmeter.stats.power.rejections import (
    ALL_PATTERNS,
    TABLES,
    TIE,
    RejectionShare,
    critical_value,
    far_enough,
    flip_rejects,
    flips_of_shifted,
    smallest_shift,
    tested_rejects,
)

MOST_ITEMS = 120  # items that are drawn; of more, differences go with 1/√items
MOST_OUTPUTS = 100_000  # outputs an item, beyond which no sampling error is left
QUANTILES = 400  # places at which the beta distribution of the items' shares is inverted
DRAW_BLOCK = 100_000  # draws that are summed at a time: so few that one core does it alone
NULLS_PER_LEVEL, MOST_NULLS = 20, 100_000  # tables without a tilt, for a critical value


@dataclass(frozen=True, slots=True)
class Design:
    """A design to be run: items with outputs in each of the conditions that are compared.

    outputs: an item and condition (samples × picks an answer); infinite where probabilities are
    read. conditions: 1 for a share against ``share``, 2 for a paired difference, more where one is
    tested against the mean of the others. icc: correlation of the outputs of one item and
    condition; correlation: of an item's own shares in two conditions.
    """

    share: float
    items: int
    outputs: float
    icc: float
    conditions: int = 1
    correlation: float = 0.0


@lru_cache(maxsize=1_024)
def planned_shift(
    *, design: Design, level: float = 0.05, power: float = 0.8, seed: int = 0
) -> float | None:
    """The smallest difference from ``design.share`` found with ``power`` at ``level`` (α/m).

    Items are beta-binomial with mean ``share`` (the tested condition: share + shift); the test is
    a sign flip over items, or of three and more conditions the drawing of the tested one
    (``conditions.tested_condition``). In shares; None where no share is far enough. Source: the
    model, Skellam (1948), JRSS B 10. By hand: ``share`` .5, one condition, infinite outputs and
    icc 0: every item shows the shift itself, so the smallest one there is.
    ``ValueError``: as for a level, a share or an icc outside of 0 to 1.
    """
    _check(design, level, power)
    if not _can_reject(design, level):
        return None
    stretch = math.sqrt(max(design.items / MOST_ITEMS, 1.0))
    fewer = replace(design, items=min(design.items, MOST_ITEMS))
    found = smallest_shift(_of_planned(fewer, level, seed), 1 - design.share, power)
    return None if found is None else found / stretch


def planned_power(*, design: Design, shift: float, level: float = 0.05, seed: int = 0) -> float:
    """The chance that ``shift`` is found at ``level`` (α/m), by the tables of ``planned_shift``."""
    _check(design, level, 0.5)
    if not _can_reject(design, level):
        return 0.0
    stretch = math.sqrt(max(design.items / MOST_ITEMS, 1.0))
    fewer = replace(design, items=min(design.items, MOST_ITEMS))
    return _of_planned(fewer, level, seed)(min(shift * stretch, 1 - design.share), TABLES)


def _can_reject(design: Design, level: float) -> bool:
    conditions = max(design.conditions, 2)
    return reach(items=design.items, tests=1, alpha=level, conditions=conditions).possible


def _of_planned(design: Design, level: float, seed: int) -> RejectionShare:
    """Computes the share of rejected tables of a design, by shift."""
    ranks = _ranks(design, np.random.default_rng([seed, 1]))

    def rejection_share(shift: float, tables: int) -> float:
        tested = _rates(design, design.share + shift, ranks[0, :tables], seed, 0)
        if design.conditions == 1:
            return float(flip_rejects(tested - design.share, level).mean())
        others = [
            _rates(design, design.share, ranks[k, :tables], seed, k)
            for k in range(1, design.conditions)
        ]
        if design.conditions == 2:
            return float(flip_rejects(tested - others[0], level).mean())
        return float(tested_rejects(np.stack([tested, *others], axis=2), level).mean())

    return rejection_share


def observed_shift(
    *, differences: ArrayLike, level: float = 0.05, power: float = 0.8, seed: int = 0
) -> float | None:
    """The smallest mean difference that these items would show with ``power`` at ``level`` (α/m).

    ``differences``, shape (C,): one a item, in any unit. They are centred and stretched by
    √(C/(C-3)), drawn anew with random signs, and the shift is added; the test is the sign flip.
    None for fewer items than ``level`` takes, or where all are alike. By hand: ±1 in equal parts,
    C = 40: (1.96 + .84)/√37 = .460. ``ValueError``: NaN, a level outside of 0 to 1.
    """
    d = arguments.vector("differences", differences)
    level, items = arguments.level("level", level), d.size
    power = arguments.level("power", power)
    if items < 2 or not reach(items=items, tests=1, alpha=level).possible:
        return None
    centred = (d - d.mean()) * _stretch(items, 3)
    spread = float(np.abs(centred).max())
    if spread <= TIE * max(1.0, float(np.abs(d).max())):
        return None
    of_shifted = _of_few if items <= ALL_PATTERNS else _of_many
    rejected = of_shifted(centred / spread, level, seed)
    found = smallest_shift(rejected, far_enough(rejected, power), power)
    return None if found is None else found * spread


def _stretch(items: int, lost: int) -> float:
    """Returns the factor for centred differences of so few items: √(C/(C-lost)).

    √(C/(C-1)) makes their spread right on average; but a spread that is too small by chance loses
    more power than one that is too large gains, and the more the smaller the level is. How many are
    ``lost`` is by simulation: the power of a report of 12 to 40 items is then near .8 on average
    (docs/statistics.md).
    """
    return math.sqrt(items / max(items - lost, 1))


def divergence_shift(
    *,
    shares: ArrayLike,
    outputs: int,
    groups: int = 2,
    level: float = 0.05,
    power: float = 0.8,
    seed: int = 0,
) -> tuple[float, float] | None:
    """The smallest tilt of one of ``groups`` groups that shuffling finds in one attribute.

    ``shares``, shape (K,): the distribution of all groups but one; ``outputs`` of each group. The
    last group has (1-λ)·shares + λ·e, e the rarest value. The statistic is the mean Jensen–Shannon
    divergence over the pairs of groups, its critical value that of groups drawn from the pooled
    distribution, as in a shuffle. Returned: λ, and the population's mean divergence in bits; None
    if no λ is found with ``power`` at ``level`` (α/m). By hand: two values, shares (1, 0), λ = 1:
    full separation, 1 bit. ``ValueError``: fewer than two shares, groups or one output.
    """
    base = arguments.counts("shares", shares)
    if base.size < 2 or base.sum() == 0 or outputs < 1 or groups < 2:
        raise ValueError("shares: two values with a positive sum, two groups, one output expected")
    level, power = arguments.level("level", level), arguments.level("power", power)
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
        apart = draw_divergences([*[base] * (groups - 1), tilted / tilted.sum()], tables, 1)
        return float((apart > critical + TIE).mean())

    tilt = smallest_shift(rejection_share, 1.0, power)
    if tilt is None:
        return None
    tilted = (1 - tilt) * base + tilt * rarest
    bits = _mean_divergence([base[None, :]] * (groups - 1) + [tilted[None, :]])
    return tilt, float(bits[0])


def _mean_divergence(shares: list[Floats]) -> Floats:
    """Mean JS divergence in bits over pairs of groups, each (tables, K)."""

    def plogp(p: Floats) -> Floats:
        sums: Floats = (p * np.log2(np.maximum(p, np.finfo(np.float64).tiny))).sum(axis=1)
        return sums

    entropies, pairs = [plogp(p) for p in shares], list(combinations(range(len(shares)), 2))
    total = np.zeros(len(shares[0]))
    for i, j in pairs:
        total += (entropies[i] + entropies[j]) / 2 - plogp((shares[i] + shares[j]) / 2)
    return total / len(pairs)


def observed_tested_shift(
    *, rates: ArrayLike, level: float = 0.05, power: float = 0.8, seed: int = 0
) -> float | None:
    """As ``observed_shift`` for a tested condition (column 0) against its controls, shape (C, K).

    Rates are centred inside each condition and stretched, items are drawn anew with their
    conditions in random order, and the shift is added to the tested one; the test is
    ``conditions.tested_condition``. Items without a rate in some condition are left out.
    """
    table = np.asarray(rates, dtype=np.float64)
    table = table[~np.isnan(table).any(axis=1)]
    items, conditions = table.shape
    level, power = arguments.level("level", level), arguments.level("power", power)
    can = reach(items=items, tests=1, alpha=level, conditions=conditions).possible
    if items < 2 or conditions < 2 or not can:
        return None
    centred = (table - table.mean(axis=0)) * _stretch(items, 2)
    spread = float(np.abs(centred).max())
    if spread <= TIE:
        return None
    generator = np.random.default_rng([seed, items, conditions])
    drawn = centred[generator.integers(0, items, (TABLES, items))] / spread
    drawn = generator.permuted(drawn, axis=2)
    tested = np.eye(conditions)[0]

    def rejection_share(shift: float, tables: int) -> float:
        return float(tested_rejects(drawn[:tables] + shift * tested, level).mean())

    found = smallest_shift(rejection_share, far_enough(rejection_share, power), power)
    return None if found is None else found * spread


def _of_few(centred: Floats, level: float, seed: int) -> RejectionShare:
    """Computes the share of rejected tables that are drawn from a few items, with a shift added to
    every item.
    """
    places, negative = _draw_places(centred.size, seed)
    drawn = np.where(negative, -centred[places], centred[places])
    return flips_of_shifted(drawn, level)


def _of_many(centred: Floats, level: float, seed: int) -> RejectionShare:
    """As ``_of_few``, by the moments of each table: sums over how often an item is in it."""
    items, signed, often = centred.size, *_count_draws(centred.size, seed)
    square = centred * centred
    one, three = _sum_over_draws(signed, np.stack([centred, square * centred], axis=1))
    two, four = _sum_over_draws(often, np.stack([square, square * square], axis=1))

    def rejection_share(shift: float, tables: int) -> float:
        a, b, c, d = (moment[:tables] for moment in (one, two, three, four))
        s = shift
        squares = b + 2 * s * a + items * s * s
        fourth = d + 4 * s * c + 6 * s * s * b + 4 * s**3 * a + items * s**4
        kurtosis = -2 * fourth / np.maximum(squares, TIE) ** 2
        critical = critical_value(level, kurtosis) * np.sqrt(squares)
        return float((np.abs(a + items * s) > critical).mean())

    return rejection_share


def _draw_places(items: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Draws the item at each place of each table, and if its sign is flipped."""
    generator = np.random.default_rng([seed, items])
    places = generator.integers(0, items, (TABLES, items))
    return places, generator.integers(0, 2, places.shape, dtype=np.int8).view(np.bool_)


def _sum_over_draws(counts: NDArray[np.int8], values: Floats) -> Floats:
    """Sums of values, shape (items, sums), over the draws of each table: shape (sums, tables)."""
    block = max(1, DRAW_BLOCK // counts.shape[1])
    parts = [counts[start : start + block] @ values for start in range(0, TABLES, block)]
    return np.concatenate(parts).T


@lru_cache(maxsize=4)
def _count_draws(items: int, seed: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Counts the draws of each item in each table, shape (tables, items): with its sign, and in
    all. Rows of as many items share them.
    """
    places, negative = _draw_places(items, seed)
    places += items * np.arange(TABLES)[:, None]
    often = np.bincount(places.ravel(), minlength=places.size)
    signed = often - 2 * np.bincount(places[negative], minlength=places.size)
    shape = places.shape
    return signed.astype(np.int8).reshape(shape), often.astype(np.int8).reshape(shape)


def _ranks(design: Design, generator: np.random.Generator) -> Floats:
    """Uniform ranks of the items' own shares, shape (conditions, tables, items).

    With probability ``correlation`` an item has one rank in all conditions.
    """
    shape = (TABLES, design.items)
    common, shared = generator.random(shape), generator.random(shape) < design.correlation
    own = generator.random((design.conditions, *shape))
    return np.where(shared, common, own)


def _rates(design: Design, mean: float, ranks: Floats, seed: int, condition: int) -> Floats:
    """Rates of the items at a mean share: the same ranks and random numbers at every mean.

    Without a correlation of the conditions a rank chooses the count itself, which is beta-binomial;
    else it chooses the item's own share, and the count is drawn.
    """
    outputs = max(1, round(min(design.outputs, MOST_OUTPUTS)))
    if math.isinf(design.outputs):
        return _shares_at_ranks(mean, design.icc, ranks)
    if design.correlation == 0:
        rates: Floats = np.searchsorted(_below(outputs, mean, design.icc), ranks) / outputs
        return rates
    share = _shares_at_ranks(mean, design.icc, ranks)
    return np.random.default_rng([seed, 2, condition]).binomial(outputs, share) / outputs


def _below(outputs: int, mean: float, icc: float) -> Floats:
    """P(count ≤ k) for k below ``outputs``, beta-binomial with this mean and correlation."""
    mean, counts = min(max(mean, TIE), 1 - TIE), np.arange(outputs + 1)
    if icc <= 0:
        logs = special.xlogy(counts, mean) + special.xlog1py(outputs - counts, -mean)
    else:
        size = 1 / min(icc, 1 - TIE) - 1
        a, b = mean * size, (1 - mean) * size
        logs = special.betaln(a + counts, b + outputs - counts)
    logs = logs - special.betaln(1 + counts, 1 + outputs - counts)
    mass = np.exp(logs - logs.max())
    below: Floats = (np.cumsum(mass) / mass.sum())[:-1]
    return below


def _shares_at_ranks(mean: float, icc: float, ranks: Floats) -> Floats:
    """The items' shares at these ranks: beta with this mean and correlation."""
    if icc <= 0 or not 0 < mean < 1:
        return np.full_like(ranks, min(max(mean, 0.0), 1.0))
    if icc >= 1:
        return (ranks >= 1 - mean).astype(np.float64)
    # denser towards both ends, where the beta distribution is steep
    places = (1 - np.cos(np.pi * np.arange(QUANTILES + 1) / QUANTILES)) / 2
    size = 1 / icc - 1
    shares = special.betaincinv(mean * size, (1 - mean) * size, places)
    found: Floats = np.interp(ranks, places, shares)
    return found


def _check(design: Design, level: float, power: float) -> None:
    arguments.level("level", level)
    arguments.level("power", power)
    for name, value in (("share", design.share), ("icc", design.icc)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name}: between 0 and 1 expected, got {value!r}")
    if not 0 <= design.correlation <= 1:
        raise ValueError(f"correlation: between 0 and 1 expected, got {design.correlation!r}")
    if design.items < 1 or design.conditions < 1 or not design.outputs >= 1:
        raise ValueError("items: at least one item, condition and output expected")
