"""Tests if items differ in their share by more than chance.

The total number of hits over all items is fixed, so the mean over items is no evidence in this
test, and a rejection says nothing about the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments, special
from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.results import Test
from tiltmeter.stats.shuffles.resampling import TIE, monte_carlo_p

METHOD, OF_MANY = "exact Breslow–Day, sampled", "Breslow–Day, chi-squared"
FIRST_DRAWS = 999  # where a tenth of these reach what was found, no more are drawn
LEAST = 1e-16  # of the largest of a distribution: what is below is left out
BLOCK = 2_000_000  # entries of a block of draws × counts: 16 MB
MOST = 20_000_000  # entries of all draws beyond the first, half a second
WIDE = 300  # counts that an item can have, from which its law is normal and need not be drawn
VARIED = 5.0  # variance of an item's count, from which it is taken for normal
TOO_FEW = "fewer than two items with two outputs a side: no test"
STEPS, CLOSE = 60, 1e-9  # of the search for the common odds


@dataclass(frozen=True, slots=True)
class _Law:
    """The distribution of an item's hits given its margins. chances[0] is that of `first` hits."""

    first: int
    chances: Floats
    mean: float
    variance: float


def shares_alike(
    *, hits: ArrayLike, n: ArrayLike, generator: np.random.Generator, draws: int = 9_999
) -> Test:
    """Tests if the share is the same in every item.

    hits, n: whole counts by item, shape (C,). Given the total of hits, the items' hits are
    multivariate hypergeometric, whatever the common share. Statistic: Σ(x − e)²/v, e and v the mean
    and variance of x, which is Pearson's χ²; p = (1+b)/(1+B) from draws of that law, of which the
    first 999 are enough if p is large; by χ² for items with hundreds of outputs. If outcomes inside
    an item vary less than draws with one probability (different prompts), p is larger.
    Source: Zelen (1971), Biometrika 58; Breslow & Day (1980), ch. 4; sampling backwards through the
    sums: Agresti, Mehta & Patel (1990), JASA 85. By hand: two items with 2 of 2 and 0 of 2: given 2
    hits, (2, 0) or (0, 2) in 2 of 6 arrangements: p near 1/3.
    Items with fewer than 2 outputs are left out. p is None if fewer than two items remain, 1 if the
    margins allow one arrangement only. ``ValueError``: counts that are not whole, successes > n,
    shapes that differ.
    """
    x, size = arguments.shares("hits", hits, "n", n)
    is_kept = size > 1
    counts, sizes = _whole("hits", x[is_kept]), _whole("n", size[is_kept])
    logs = _log_factorials(int(sizes.max(initial=0)))
    supports = [np.arange(outputs + 1) for outputs in sizes]
    weights = [-(logs[hits] + logs[hits[::-1]]) for hits in supports]
    return _test(counts, supports, weights, generator, arguments.draw_count(draws))


def _whole(name: str, values: Floats) -> Codes:
    if (values != np.rint(values)).any():
        raise ValueError(f"{name}: whole numbers of outputs expected")
    return values.astype(np.int64)


def _log_factorials(most: int) -> Floats:
    logs: Floats = special.gammaln(np.arange(most + 1) + 1.0)
    return logs


def _test(
    counts: Codes,
    supports: Sequence[Codes],
    weights: Sequence[Floats],
    generator: np.random.Generator,
    draws: int,
) -> Test:
    """Tests the counts of items. supports: the counts that each item can have; weights: for each
    such count, the logarithm of the number of arrangements that give it.
    """
    if counts.size < 2:
        return Test(None, None, METHOD, note=TOO_FEW)
    indices = [n for n, support in enumerate(supports) if support.size > 1]
    total = int(counts[indices].sum())
    ends = [sum(int(supports[n][end]) for n in indices) for end in (0, -1)]
    if total in ends:
        return Test(0.0, 1.0, METHOD, smallest_p=1.0, draws=1)
    laws = _common_laws([supports[n] for n in indices], [weights[n] for n in indices], total)
    if laws is None:
        return Test(None, None, METHOD, note="the common odds ratio was not found: no test")
    variances = np.array([law.variance for law in laws])
    parts = (counts[indices] - np.array([law.mean for law in laws])) ** 2 / variances
    if max(law.chances.size for law in laws) > WIDE:
        return _chi_squared(parts[variances >= VARIED])
    observed, reached, draws_made = float(parts.sum()), 0, 0
    room = max(FIRST_DRAWS, MOST // sum(law.chances.size for law in laws))
    for number in (min(FIRST_DRAWS, draws), min(draws, room) - FIRST_DRAWS):
        if number > 0 and reached * 10 <= draws_made:
            statistics = _draw_statistics(laws, total, number, generator)
            reached += int((statistics >= observed * (1 - TIE)).sum())
            draws_made += number
    p = monte_carlo_p(exceeding=reached, draws=draws_made)
    return Test(observed, p, METHOD, smallest_p=1 / (1 + draws_made), draws=draws_made)


def _chi_squared(parts: Floats) -> Test:
    """Tests Σ parts by its limit, χ² with (items - 1) degrees of freedom (Wilson & Hilferty 1931,
    PNAS 17), for numbers of outputs at which sampling has no advantage.
    """
    df = parts.size - 1
    if df < 1:
        return Test(None, None, OF_MANY, note=TOO_FEW)
    statistic, spread = float(parts.sum()), 2 / (9 * df)
    z = ((statistic / df) ** (1 / 3) - (1 - spread)) / spread**0.5
    return Test(statistic, float(special.ndtr(-z)), OF_MANY, df=float(df))


def _common_laws(
    supports: Sequence[Codes], weights: Sequence[Floats], total: int
) -> list[_Law] | None:
    """Returns each item's law at the common odds for which the expected total equals ``total``;
    found by Newton's method; None if it does not converge.
    """
    starts = np.cumsum([0, *(support.size for support in supports[:-1])])
    x, logs = np.concatenate(supports).astype(np.float64), np.concatenate(weights)
    sizes = [support.size for support in supports]
    log_odds = 0.0
    for _ in range(STEPS):
        tilted = logs + log_odds * x
        chances = np.exp(tilted - np.repeat(np.maximum.reduceat(tilted, starts), sizes))
        chances /= np.repeat(np.add.reduceat(chances, starts), sizes)
        means = np.add.reduceat(chances * x, starts)
        variances = np.add.reduceat(chances * (x - np.repeat(means, sizes)) ** 2, starts)
        shortfall = total - float(means.sum())
        if abs(shortfall) < CLOSE * x.size:
            return [
                _law(support, chance, mean, variance)
                for support, chance, mean, variance in zip(
                    supports, np.split(chances, starts[1:]), means, variances, strict=True
                )
            ]
        log_odds += min(1.0, max(-1.0, shortfall / max(float(variances.sum()), 1e-300)))
    return None


def _law(support: Codes, chances: Floats, mean: float, variance: float) -> _Law:
    first, chances = _trim(int(support[0]), chances)
    return _Law(first, chances, float(mean), float(variance))


def _trim(first: int, chances: Floats) -> tuple[int, Floats]:
    """Cuts off both ends whose probabilities are negligible (LEAST of the largest)."""
    indices = np.flatnonzero(chances > LEAST * chances.max())
    return first + int(indices[0]), chances[indices[0] : indices[-1] + 1]


def _draw_statistics(
    laws: Sequence[_Law], total: int, draws: int, generator: np.random.Generator
) -> Floats:
    """Returns the statistic per draw of the items' counts given their sum, shape (draws,): samples
    the last item's count given the sum, then the one before given the remainder, and so on.
    """
    sums = [_trim(laws[0].first, laws[0].chances)]
    for law in laws[1:]:
        sums.append(_trim(sums[-1][0] + law.first, np.convolve(sums[-1][1], law.chances)))
    widest = max(law.chances.size for law in laws)
    size = max(1, BLOCK // widest)
    blocks = [min(size, draws - start) for start in range(0, draws, size)]
    return np.concatenate([_draw_block(laws, sums, total, number, generator) for number in blocks])


def _draw_block(
    laws: Sequence[_Law],
    sums: Sequence[tuple[int, Floats]],
    total: int,
    draws: int,
    generator: np.random.Generator,
) -> Floats:
    remaining, statistics = np.full(draws, total), np.zeros(draws)
    for law, (first, chances) in zip(reversed(laws[1:]), reversed(sums[:-1]), strict=True):
        # how far the rest of the sum lies in the law of the items before, for each count
        places = (remaining - law.first - first)[:, None] - np.arange(law.chances.size)
        inside = (places >= 0) & (places < chances.size)
        joint = np.where(inside, chances.take(places, mode="clip"), 0.0) * law.chances
        joint = joint.cumsum(axis=1)
        indices = (joint <= (generator.random(draws) * joint[:, -1])[:, None]).sum(axis=1)
        counts = law.first + indices
        statistics += (counts - law.mean) ** 2 / law.variance
        remaining = remaining - counts
    return statistics + (remaining - laws[0].mean) ** 2 / laws[0].variance
