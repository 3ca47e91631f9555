"""Items whose share or gap differs from all others': exact tests, adjusted over items by Holm."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.multiplicity import holm
from tiltmeter.stats.results import ALPHA
from tiltmeter.stats.special import gammaln

LEAST, MOST = 3, 3  # items that there must be, and that are named
TIE = 1e-7  # of probabilities: arrangements that are as likely count


class ExceptionalItem(NamedTuple):
    """An exceptional item. place: its index; others_share: the pooled share of all other items."""

    place: int
    others_share: float
    p_adjusted: float


def exceptional_shares(*, hits: ArrayLike, n: ArrayLike) -> list[ExceptionalItem]:
    """Finds items whose share differs from the others' pooled share: at most three, least p first.

    Exact binomial test, two-sided by the probabilities of counts no likelier than the observed one,
    against the others' share with half a hit and half a miss more; Holm over items. With two items
    neither is the exception. By hand: 0 of 6 against 15 of 30: 2/64 = .031, for one of six items:
    adjusted .19, so the item is not listed. Raises ``ValueError`` if hits exceed answers.
    """
    x, size = arguments.shares("hits", hits, "n", n)
    others = _pooled(x, size)

    def chance(place: int) -> float:
        answers = size.sum() - size[place]
        share = (others[place] * answers + 0.5) / (answers + 1)
        k = np.arange(round(size[place]) + 1)
        odds = k * np.log(share) + (k.size - 1 - k) * np.log1p(-share)
        return _two_sided(_log_choose(k.size - 1, k) + odds, round(x[place]))

    return _exceptional(chance, size, others)


def exceptional_gaps(
    *, hits: ArrayLike, n: ArrayLike, base_hits: ArrayLike, base_n: ArrayLike
) -> list[ExceptionalItem]:
    """Finds items whose gap between level and baseline differs from that of the others: Fisher's
    exact test per item against the others' odds ratio (each count plus one half); Holm over items.
    """
    x, size = arguments.shares("hits", hits, "n", n)
    y, base = arguments.shares("base_hits", base_hits, "base_n", base_n)
    others = _pooled(x, size)
    a, b, c, d = (count.sum() - count + 0.5 for count in (x, size - x, y, base - y))
    log_odds = np.log(a * d / (b * c))

    def chance(place: int) -> float:
        level, baseline, total = (round(count[place]) for count in (size, base, x + y))
        first = max(0, total - baseline)
        k = np.arange(first, min(level, total) + 1)
        logs = _log_choose(level, k) + _log_choose(baseline, total - k) + k * log_odds[place]
        return _two_sided(logs, round(x[place]) - first)

    return _exceptional(chance, np.minimum(size, base), others)


def _pooled(hits: Floats, n: Floats) -> Floats:
    shares: Floats = (hits.sum() - hits) / np.maximum(n.sum() - n, 1)
    return shares


def _exceptional(
    chance: Callable[[int], float], n: Floats, others: Floats
) -> list[ExceptionalItem]:
    indices = [place for place in range(n.size) if n[place] > 0]
    if len(indices) < LEAST:
        return []
    adjusted = holm(p=[chance(place) for place in indices])
    exceptions = [
        ExceptionalItem(place, float(others[place]), p)
        for place, p in zip(indices, adjusted, strict=True)
        if p is not None and p < ALPHA
    ]
    return sorted(exceptions, key=lambda item: item.p_adjusted)[:MOST]


def _two_sided(logs: Floats, seen: int) -> float:
    weights = np.exp(logs - logs.max())
    chances = weights / weights.sum()
    return float(min(1.0, chances[chances <= chances[seen] * (1 + TIE)].sum()))


def _log_choose(n: int, k: NDArray[np.int64]) -> Floats:
    logs: Floats = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return logs
