"""The permutation kernel: whole rows (outputs with all their attributes) change groups together.

shuffling.py defines a cell and its shuffles.

A divergence has no interval, as the percentile bootstrap covers 0 % if there is no difference
(docs/explanation/statistics.md). Instead there are the plug-in, its mean E₀ and 95 % band
under shuffling, the chance-adjusted value and p.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.results import join_notes
from tiltmeter.stats.shuffles.divergence import chance_adjusted
from tiltmeter.stats.shuffles.resampling import monte_carlo_p
from tiltmeter.stats.shuffles.row_statistics import (
    SUMS,
    TIE,
    Statistic,
    mean_concentration,
    mean_distance,
    mean_divergence,
    mean_over,
    value_divergence,
)
from tiltmeter.stats.shuffles.shuffling import (
    Cell,
    Shuffles,
    cell_of,
    coded_groups,
)

BAND = (0.025, 0.975)


@dataclass(frozen=True, slots=True)
class Permuted:
    """A statistic with its distribution under shuffling.

    ``value`` is the plug-in, the mean over attributes (and pairs); ``expected`` is E₀, its mean
    under shuffling, [``low``, ``high``] the central 95 % under shuffling (the null band),
    ``adjusted`` = (value - E₀)/(1 - E₀) for divergences, ``p`` = (1+b)/(1+B), ``smallest_p`` the
    smallest p possible with B and the sizes. ``sizes`` are the rows of each group. ``attributes``
    holds one such result per attribute. ``None`` means "not measured"; ``note`` says why.
    """

    value: float | None
    expected: float | None
    low: float | None
    high: float | None
    adjusted: float | None
    p: float | None
    smallest_p: float | None
    draws: int
    sizes: tuple[int, ...]
    method: str
    note: str | None = None
    attributes: tuple[Permuted, ...] = ()


def base_against_group(*, base: ArrayLike, group: ArrayLike, shuffles: Shuffles) -> Permuted:
    """Tests the divergence of a cued group from the base, shuffling base ∪ group (SODA's BDS).

    Arrays: codes, shapes (n_base, A) and (n_group, A). Unit: bits, mean over attributes. Range of
    ``value`` [0, 1]; null value of ``adjusted`` 0, 1 at full separation; ``p`` is one-sided
    (larger).
    Source: PROTOCOLS section 3; Lin (1991); Phipson & Smyth (2010). By hand: base (0, 0), group (1,
    1): JS 1; of 6 assignments 2 separate (JS 1) and 4 mix (JS 0), so E₀ = 1/3, adjusted 1, p ≈ 1/3.
    An empty side: None with a note; an attribute missing on a whole side is left out of the mean,
    with a note. ``ValueError``: codes that are no integers or below -1, unequal attributes.
    """
    method = "JS divergence, rows permuted"
    return _permute([base, group], mean_divergence, method, shuffles, two_sided=False)


def pairs_within(
    *, groups: Sequence[ArrayLike], shuffles: Shuffles, root: bool = False
) -> Permuted:
    """Tests the mean divergence over pairs of a dimension's groups, by shuffling (SODA's CDS).

    Groups: codes, each (n_g, A), without the base. Unit, range, null value, errors and source are
    those of ``base_against_group``, which gives the same result for two groups. Empty groups are
    left out, with a note. ``root``: True for the mean of √(JS·ln 2) instead, the distance as SODA
    published it (ceiling .8326; ``adjusted`` has no meaning then).
    """
    statistic, name = (mean_distance, "distance") if root else (mean_divergence, "divergence")
    return _permute(
        list(groups), statistic, f"JS {name} over pairs, rows permuted", shuffles, two_sided=False
    )


def each_value(*, groups: Sequence[ArrayLike], shuffles: Shuffles) -> Permuted:
    """Tests the share of each value of one attribute: mean divergence over the pairs of groups,
    shuffled.

    Groups: codes, each (n_g, 1) or (n_g,). ``attributes`` of the result has a row per value that
    occurs, by code; each row equals ``pairs_within`` for the codes "this value" and "another", with
    one set of shuffles for all values. Unit, range, null value, errors and source: as for
    ``pairs_within``. By hand: (0, 1) and (0, 2): value 0 has share .5 in both, JS 0; 1 and 2 have
    shares of .5 and 0, H(.25) - (H(.5) + H(0))/2 = .8113 - .5 = .3113.
    """
    method = "JS divergence over pairs, rows permuted"
    return _permute(list(groups), value_divergence, method, shuffles, two_sided=False)


def concentration_difference(
    *, base: ArrayLike, group: ArrayLike, shuffles: Shuffles, values: Sequence[int] | None = None
) -> Permuted:
    """Tests VAC(group) - VAC(base), shuffling base ∪ group; two-sided about the shuffles' mean.

    VAC = 1 - H/log2 K with Miller–Madow's entropy, mean over attributes; ``values`` holds K per
    attribute (the declared support), else the number of values in base ∪ group. Range about [-1,
    1]; null value 0; above 0 the group is more concentrated. ``adjusted`` is None: there is no
    ceiling. Source: PROTOCOLS section 3; Miller (1955). By hand: base (0, 1), group (0, 0), K = 2:
    H = 1 + .3607 and 0, so VAC = -.3607 and 1: 1.3607. ``ValueError`` as ``base_against_group``; K
    below the number of values that occur.
    """
    method = "VAC difference (Miller-Madow), rows permuted"
    return _permute(
        [base, group], mean_concentration, method, shuffles, two_sided=True, values=values
    )


def _permute(
    groups: list[ArrayLike],
    statistic: Statistic,
    method: str,
    shuffles: Shuffles,
    *,
    two_sided: bool,
    values: Sequence[int] | None = None,
) -> Permuted:
    coded = coded_groups(groups)
    sizes = tuple(len(rows) for rows in coded)
    filled = [rows for rows in coded if len(rows)]
    note = f"{len(coded) - len(filled)} empty groups left out" if len(filled) < len(coded) else None
    if len(filled) < 2 or (len(coded) == 2 and note):
        return not_measured(method, shuffles.draws, sizes, "an empty group: nothing to compare")
    cell = cell_of(filled, values)
    observed, shuffled = shuffled_statistic(cell, statistic, shuffles)
    smallest_p = max(1 / (1 + shuffles.draws), smallest_share(cell.sizes))
    measured = ~np.isnan(observed)
    if not measured.all():
        note = join_notes(
            note,
            f"{int((~measured).sum())} attributes not measured on every side: left out of the mean",
        )
    if measured.any():
        mean = shuffles.keep((statistic, cell.key), lambda: mean_over(shuffled[:, measured]))
        observed = np.append(observed, observed[measured].mean())
        shuffled = np.vstack([shuffled.T, mean]).T  # each column in one piece
    rows = summaries(observed, shuffled, method, sizes, smallest_p, two_sided)
    if not measured.any():
        return not_measured(
            method, shuffles.draws, sizes, "no attribute is measured on both sides", tuple(rows)
        )
    return replace(rows[-1], note=note, attributes=tuple(rows[:-1]))


def shuffled_statistic(
    cell: Cell, statistic: Statistic, shuffles: Shuffles
) -> tuple[Floats, Floats]:
    """Returns (the observed statistic per attribute, (A,); the statistic per shuffle, (B, A))."""
    observed = statistic(cell, cell.counts())[0]
    pair = len(cell.sizes) == 2
    if statistic in SUMS and pair and cell.complete and cell.kinds is None:
        table, finish = SUMS[statistic]
        return observed, finish(cell, cell.sum_values(table(cell), shuffles))

    def shuffle() -> Floats:
        return np.concatenate([statistic(cell, counts) for counts in cell.shuffle_counts(shuffles)])

    # pairs are many and quick: of them only means are kept
    return observed, (shuffle() if pair else shuffles.keep((statistic, cell.key, "each"), shuffle))


def summaries(
    observed: Floats,
    shuffled: Floats,
    method: str,
    sizes: tuple[int, ...],
    smallest: float,
    two_sided: bool,
) -> list[Permuted]:
    """Summarises each column of ``shuffled``; ignores NaN, from shuffles that empty a side."""
    draws = len(shuffled)
    rows = np.ascontiguousarray(shuffled.T)  # what lies together is ordered and counted faster
    is_void = np.isnan(rows)
    has_void = bool(is_void.any())
    defined = draws - is_void.sum(axis=1) if has_void else np.full(observed.size, draws)
    is_measured = (defined > 0) & ~np.isnan(observed)
    low, high = np.full((2, observed.size), np.nan)
    finite = rows if is_measured.all() else rows[is_measured]
    low[is_measured], high[is_measured] = (
        np.nanquantile(finite, BAND, axis=1) if is_void[is_measured].any() else band_of(finite)
    )
    total = (np.where(np.isnan(shuffled), 0.0, shuffled) if has_void else shuffled).sum(axis=0)
    with np.errstate(invalid="ignore"):
        expected, centre = total / np.maximum(defined, 1), (total + observed) / (defined + 1)
        below = (
            np.abs(rows - centre[:, None]) < np.abs(observed - centre)[:, None] - TIE
            if two_sided
            else rows < observed[:, None] - TIE
        )
    reached = draws - below.sum(axis=1)
    results = []
    for i in range(observed.size):
        if not is_measured[i]:
            results.append(not_measured(method, draws, sizes, "not measured on every side"))
            continue
        value, mean = float(observed[i]), float(expected[i])
        adjusted = math.nan if two_sided else chance_adjusted(divergence=value, expected=mean)
        p = monte_carlo_p(exceeding=int(reached[i]), draws=draws)
        limits = (float(low[i]), float(high[i]))
        above = None if math.isnan(adjusted) else adjusted
        results.append(Permuted(value, mean, *limits, above, p, smallest, draws, sizes, method))
    return results


def band_of(rows: Floats) -> Floats:
    """Computes the quantiles ``BAND`` of rows without NaN, with exactly numpy's results."""
    last = rows.shape[1] - 1
    positions = last * np.array(BAND)
    below = np.floor(positions).astype(np.intp)
    above = np.minimum(below + 1, last)
    ordered = np.sort(rows, axis=1)  # numpy sorts four times as fast as it partitions
    low, high, part = ordered[:, below].T, ordered[:, above].T, (positions - below)[:, None]
    gap = high - low
    band: Floats = np.where(part < 0.5, low + gap * part, high - gap * (1 - part))
    return band


def smallest_share(sizes: tuple[int, ...]) -> float:
    """Returns the share of arrangements that are the observed one, or swap groups of equal size."""
    swaps = math.prod(math.factorial(number) for number in Counter(sizes).values())
    logs = math.lgamma(sum(sizes) + 1) - sum(math.lgamma(size + 1) for size in sizes)
    return swaps * math.exp(-logs) if logs < 50 else 0.0


def not_measured(
    method: str,
    draws: int,
    sizes: tuple[int, ...],
    note: str,
    attributes: tuple[Permuted, ...] = (),
) -> Permuted:
    """Returns the result of a cell that could not be measured, with the reason."""
    return Permuted(
        None, None, None, None, None, None, None, draws, sizes, method, note, attributes
    )
