"""Observed shifts converted into shares. Items vary more, the nearer their share is to one half."""

from __future__ import annotations

import numpy as np

SHARE_STEPS = 4_001  # shifts of a share that are tried


def shift_of_share(*, shift: float, shares: tuple[float, float]) -> float | None:
    """Computes the detectable difference of two shares, given ``shift`` from ``observed_shift``.

    ``shares``: of the tested side and of the other. Items vary more the nearer their share is to
    one half, as p(1-p), and a share raised from a low one varies more than the observed one. So the
    result is the smallest s with s/f(s) = ``shift``, f² = (b(1-b) + (b+s)(1-b-s)) over the same at
    the observed shares, b the other side's share (towards one half; downwards if b is above it).
    The test is invariant to scale, so no table is simulated again. Source: the beta-binomial model,
    Skellam (1948), JRSS B 10. By hand: shares .5 and .5, s = .3: f² = (.25 + .16)/.5 = .82, so s =
    .3 is the result for ``shift`` .331. None if no share is far enough away.
    Raises ``ValueError`` for a share outside 0 to 1.
    """
    tested, base = _shares(*shares)
    observed = tested * (1 - tested) + base * (1 - base)
    return _solve_scale(shift, base, base * (1 - base), observed)


def shift_from_value(*, shift: float, share: float, null: float) -> float | None:
    """Computes the detectable distance from ``null``, given ``shift`` from ``observed_shift``.

    As in ``shift_of_share``, but ``null`` does not vary: f² = (b+s)(1-b-s) over p(1-p), p the
    observed ``share`` and b the null value. By hand: .5 and .5, s = .3: f² = .16/.25 = .64, so s =
    .3 is the result for ``shift`` .375.
    """
    tested, base = _shares(share, null)
    return _solve_scale(shift, base, 0.0, tested * (1 - tested))


def _shares(*shares: float) -> tuple[float, ...]:
    if not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"shares: numbers from 0 to 1 expected, got {shares}")
    return shares


def _solve_scale(shift: float, base: float, fixed: float, observed: float) -> float | None:
    """Finds the least s over a base with s/f(s) = ``shift``, f² = (fixed+(b+s)(1-b-s))/observed."""
    if observed <= 0:
        return shift
    base = min(base, 1 - base)
    s = np.linspace(0.0, 1 - base, SHARE_STEPS)[1:-1]
    indices = np.flatnonzero(s / np.sqrt((fixed + (base + s) * (1 - base - s)) / observed) >= shift)
    return float(s[indices[0]]) if indices.size else None
