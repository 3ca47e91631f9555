"""Many simulated runs, followed together from look to look by the p of their claims.

Applies the rule of ``decision`` to arrays, for ``planned`` and benchmarks/stopping.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.stopping import rules
from tiltmeter.stats.stopping.design import StoppingDesign
from tiltmeter.stats.stopping.rules import Flags


@dataclass(frozen=True, slots=True)
class Followed:
    """The outcome of each claim in each run, shape (runs, m). last: its last look, from 0."""

    rejected: Flags
    last: NDArray[np.intp]


def follow_runs(
    design: StoppingDesign, p: Floats, q: Floats, information: Floats, same_calls: Flags
) -> Followed:
    """Follows runs to their end. p, q, information: shape (runs, m, looks), as if no claim ended
    before the last look.

    same_calls: shape (m, m), True for claims that are answered by the same calls and end together;
    a claim that ends alone is True only with itself.
    """
    last_look = len(design.looks) - 1
    is_on = np.ones(p.shape[:2], dtype=bool)
    last = np.zeros(p.shape[:2], dtype=np.intp)
    p_now, plain_p, t = p[..., 0], q[..., 0], information[..., 0]
    is_rejected = rules.are_rejected(design, p_now)
    for k in range(last_look + 1):
        last[is_on] = k
        p_now, plain_p = np.where(is_on, p[..., k], p_now), np.where(is_on, q[..., k], plain_p)
        t = np.where(is_on, information[..., k], t)
        is_rejected = rules.are_rejected(design, p_now)
        stops = is_rejected.copy()
        if k < last_look and design.looks[k] > 1:
            levels = rules.levels_of(design, p_now, plain_p, is_rejected)
            chances = rules.predictive_probability(q=plain_p, level=levels, information=t)
            stops |= chances < design.futility[k]
        is_on &= (is_on & ~stops) @ same_calls
    return Followed(is_rejected, last)


def rounds_asked(
    design: StoppingDesign, followed: Followed, uses: Flags, *, sizes: Floats
) -> Floats:
    """Computes the calls of each run as a share of the full run's: a condition is asked until the
    last of its claims is decided.

    uses: (m, conditions), True if a claim uses a condition; sizes: calls per round, by condition.
    """
    looks = np.array(design.looks)[followed.last]
    rounds = np.max(np.where(uses, looks[:, :, None], 0), axis=1)
    shares: Floats = rounds @ sizes / (design.looks[-1] * sizes.sum())
    return shares
