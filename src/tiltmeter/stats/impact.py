"""Impact ratios: the rate of each group divided by the highest rate of any group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments, association
from tiltmeter.stats.association import Side
from tiltmeter.stats.results import CONFIDENCE, Interval, join_notes

METHOD = "log ratio to every group, highest unknown, t"


def impact_ratios(*, successes: Sequence[ArrayLike], n: Sequence[ArrayLike]) -> list[Interval]:
    """Computes r_g = p_g / max_u p_u of each group, with an interval that allows for the highest
    group being picked from the data.

    `successes` and `n` hold one array of shape (C,) per group, the clusters in the same order.
    The true ratio is r_g = min(1, min_u p_g/p_u), so
    - the lower limit is the least of the lower limits of p_g/p_u over all other groups u: one of
      these ratios is the true one, so none of them needs an adjustment;
    - the upper limit is that of the ratio to the group with the highest observed rate, at 1 − α/2K,
      where K is the number of groups that could be the highest (itself, and those whose ratio to it
      has 1 in the interval): if one group leads clearly, K is 1.
    Both are at most 1. The highest group has the value 1; its lower limit says by how much another
    could lead. Pairwise intervals are those of ``association.ratio``, paired by cluster.
    Range [0, 1]; null value 1; below 0.8 is the four-fifths rule of the EEOC's Uniform Guidelines
    (29 CFR 1607.4 D), and the ratio is that of New York City's Local Law 144 (6 RCNY 5-301).
    Source: intersection of one-sided intervals, Hsu (1984), Ann. Statist. 12, multiple comparisons
    with the best; coverage is simulated in ``tests/stats/test_impact.py``.
    By hand: rates .2, .16 and .1 give 1, .8 and .5. No success anywhere: None. One cluster: values
    and no interval. Raises ``ValueError`` as ``association.ratio``, and for fewer than two groups.
    """
    if len(successes) < 2 or len(successes) != len(n):
        raise ValueError("successes and n: one array per group expected, and at least two groups")
    sides = [
        arguments.shares("successes", x, "n", size) for x, size in zip(successes, n, strict=True)
    ]
    rates = [float(x.sum() / size.sum()) if size.sum() > 0 else np.nan for x, size in sides]
    if not np.nansum(rates) > 0:
        return [_blank(side, "no success in any group") for side in sides]
    highest = int(np.nanargmax(rates))
    could_lead = 1 + sum(
        _limits(sides[u], sides[highest])[1] >= 1 for u in range(len(sides)) if u != highest
    )
    rows = []
    for place, side in enumerate(sides):
        if np.isnan(rates[place]):
            rows.append(_blank(side, "no outcomes"))
            continue
        others = [other for u, other in enumerate(sides) if u != place and other[1].sum() > 0]
        low = min((_limits(side, other)[0] for other in others), default=np.nan)
        high = (
            1.0
            if place == highest
            else _limits(side, sides[highest], 1 - (1 - CONFIDENCE) / could_lead)[1]
        )
        rows.append(_row(side, sides[highest], (low, high), rates[place] / rates[highest]))
    return rows


def _limits(side: Side, other: Side, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Returns the limits of one pairwise ratio; NaN if the ratio has no interval."""
    pair = _ratio(side, other, confidence)
    return (
        np.nan if pair.low is None else pair.low,
        np.nan if pair.high is None else pair.high,
    )


def _ratio(side: Side, other: Side, confidence: float = CONFIDENCE) -> Interval:
    return association.ratio(
        successes_a=side[0], n_a=side[1], successes_b=other[0], n_b=other[1], confidence=confidence
    )


def _row(side: Side, top: Side, limits: tuple[float, float], value: float) -> Interval:
    pair = _ratio(side, top)
    low, high = (None if np.isnan(limit) else min(1.0, limit) for limit in limits)
    note = pair.note if side is not top else None
    cautions = tuple(code for code in pair.cautions if code in association.ZEROS and note)
    if low is None or high is None:
        note, low, high, se = join_notes(note, "no interval"), None, None, None
    else:
        high, se = max(high, value), pair.se
    row = _blank(side, note)
    return replace(row, value=value, low=low, high=high, se=se, cautions=cautions)


def _blank(side: Side, note: str | None) -> Interval:
    return Interval(
        None,
        None,
        None,
        METHOD,
        n=float(side[1].sum()),
        clusters=int((side[1] > 0).sum()),
        note=note,
    )
