"""What becomes of each claim at a look: rejected, not pursued, asked on.

The family's rule is applied to the current p of *all* its claims, stopped ones with their last p. A
p only falls, so what is rejected stays rejected; Holm so used is the procedure of Maurer & Bretz
(2013), Stat. Biopharm. Res. 5, whose familywise error holds whatever stops. Futility binds nothing:
a claim that is not pursued costs power, never error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import special  # type: ignore[import-untyped, unused-ignore]

from tiltmeter.stats import multiplicity
from tiltmeter.stats.stopping.blocks import OutputBlocks
from tiltmeter.stats.stopping.design import ROUNDING, StoppingDesign
from tiltmeter.stats.stopping.paths import ItemPaths
from tiltmeter.stats.stopping.sequential import (
    bonferroni_over_looks,
    plain_p,
    scores_of,
    sequential_p,
)

State = Literal["rejected", "not pursued", "on", "not rejected"]
DISCOUNT = 0.7  # of the level, in predictions: rejection at the end costs what the looks spent
LEAST_VARIANCE = 0.1  # of D's variance, what is left at the end at least


@dataclass(frozen=True, slots=True)
class PlainTests:
    """A claim whose test has no flips: its plain p at each look so far."""

    p: Sequence[float]

    @property
    def looks(self) -> int:
        """How many looks there are so far."""
        return len(self.p)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the family. data: its looks up to now, None where it was not asked on (it keeps
    what it had). calls: claims of one name are answered by the same calls and end together; ""
    ends by itself.
    """

    key: str
    data: ItemPaths | OutputBlocks | PlainTests | None
    calls: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """A claim after a look. look: the last at which it was tested, from 1. q: its plain p there. p:
    valid at any stop, a running minimum. level: what its rank lets it be tested at. information:
    t = V_K/V_k. chance: the predictive probability of a rejection by the last look, None where
    nothing is predicted. state: "on" is asked on; "not rejected" came to the last look.
    """

    key: str
    look: int
    q: float
    p: float
    level: float
    information: float
    chance: float | None
    state: State


def decide(
    design: StoppingDesign,
    claims: Sequence[Claim],
    look: int,
    earlier: Mapping[str, Decision] | None = None,
) -> list[Decision]:
    """The decisions of look ``look`` (from 1), in the order of ``claims``: all m of the family.

    earlier: the decisions of the look before. ``ValueError``: another number of claims than the
    design's, a look without data of a claim that was asked on.
    """
    earlier = earlier or {}
    if len(claims) != design.claims or len({claim.key for claim in claims}) != len(claims):
        raise ValueError(f"claims: {design.claims} of different keys expected, got {len(claims)}")
    tested = [_test(design, claim, look, earlier.get(claim.key)) for claim in claims]
    rejected = are_rejected(design, [one.p for one in tested])
    levels = _levels(design, tested, sum(rejected))
    chances = [
        _chance(design, claim, one, level, look)
        for claim, one, level in zip(claims, tested, levels, strict=True)
    ]
    states = _states(design, claims, tested, rejected, chances, look)
    return [
        Decision(one.key, one.look, one.q, one.p, level, one.information, chance, state)
        for one, level, chance, state in zip(tested, levels, chances, states, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Tested:
    """A claim's q, p and information, and what it was before; fresh: tested at this very look."""

    key: str
    look: int
    q: float
    p: float
    information: float
    before: Decision | None
    fresh: bool


def _test(design: StoppingDesign, claim: Claim, look: int, before: Decision | None) -> _Tested:
    data = claim.data
    if data and data.looks > look:
        raise ValueError(f"{claim.key}: data of {data.looks} looks at look {look}")
    if data is None or data.looks < look:
        if before is None or before.state == "on":
            raise ValueError(f"{claim.key}: no data of look {look}, though it was asked on")
        kept = before.look, before.q, before.p, before.information
        return _Tested(claim.key, *kept, before, False)
    if isinstance(data, PlainTests):
        q, p = data.p[-1], bonferroni_over_looks(data.p, design)
    else:
        scores = scores_of(data, design)
        q, p = plain_p(scores), sequential_p(scores, design)
    least = min(p, before.p) if before else p
    return _Tested(claim.key, look, q, least, information(design, data, look), before, True)


def are_rejected(design: StoppingDesign, p: Sequence[float]) -> list[bool]:
    """Which claims the family's rule rejects, from the current p of all of them."""
    adjusted = multiplicity.adjust(p=p, method=design.method).p
    limit = design.alpha * (1 + ROUNDING)
    return [one is not None and one <= limit for one in adjusted]


def _levels(design: StoppingDesign, tested: Sequence[_Tested], rejected: int) -> list[float]:
    """The level of each claim by the rank of its p: α/(m-r+1) of Holm, α·max(r, R+1)/m of
    Benjamini and Hochberg. Equal p are ranked by q.
    """
    order = sorted(range(len(tested)), key=lambda i: (tested[i].p, tested[i].q))
    levels = [0.0] * len(tested)
    for rank, place in enumerate(order, 1):
        levels[place] = level_of_rank(design, rank, rejected)
    return levels


def level_of_rank(design: StoppingDesign, rank: int, rejected: int) -> float:
    """The level of the claim with the rank-th smallest p, where so many are rejected."""
    m = design.claims
    if design.method == "holm":
        return design.alpha / (m - rank + 1)
    return design.alpha * min(max(rank, rejected + 1), m) / m


def information(
    design: StoppingDesign, data: ItemPaths | OutputBlocks | PlainTests, look: int
) -> float:
    """t = V_K/V_k, what this look knows of what the last would: V_k is the variance over items of D
    and V_K what is left of it when the sampling variance has fallen to that of n_K outputs.
    Independent outputs: n_k/n_K.

    By hand: V_k = .1, sampling variance .06 at 4 of 16: V_K = .1 - .06·(1 - 4/16) = .055, t = .55.
    """
    part = design.looks[look - 1] / design.looks[-1]
    if not isinstance(data, ItemPaths):
        return part
    differences, noise = data.differences, data.sampling_variance
    variance = float(differences.var(ddof=1)) if differences.size > 1 else 0.0
    if noise is None or variance <= ROUNDING:
        return part
    return max(1 - noise * (1 - part) / variance, LEAST_VARIANCE)


def predictive_probability(*, q: float, level: float, information: float) -> float:
    """The chance that the last look rejects at ``level``, if the truth is near what is seen.

    Formula: z = Φ⁻¹(1-q/2), c = Φ⁻¹(1-.7·level/2), Φ((z/√t-c)/√(1/t-1)) + Φ((-z/√t-c)/√(1/t-1)).
    Source: Lachin (2005), Stat. Med. 24; flat prior. By hand: q = 1, t = .5, level .05: c = 2.108,
    2Φ(-2.108) = .0350.
    """
    z = float(special.ndtri(1 - min(max(q, 1e-300), 1.0) / 2)) if q > 1e-15 else 8.0
    c = float(special.ndtri(1 - DISCOUNT * level / 2))
    t = min(max(information, ROUNDING), 1 - ROUNDING)
    spread = math.sqrt(1 / t - 1)
    above, below = (special.ndtr((side * z / math.sqrt(t) - c) / spread) for side in (1, -1))
    return float(above + below)


def _chance(
    design: StoppingDesign, claim: Claim, tested: _Tested, level: float, look: int
) -> float | None:
    """None at the last look, of one round, and of what was not tested now."""
    if look == len(design.looks) or design.looks[look - 1] == 1:
        return None
    if not tested.fresh:
        return tested.before.chance if tested.before else None
    return predictive_probability(q=tested.q, level=level, information=tested.information)


def _states(
    design: StoppingDesign,
    claims: Sequence[Claim],
    tested: Sequence[_Tested],
    rejected: Sequence[bool],
    chances: Sequence[float | None],
    look: int,
) -> list[State]:
    last = look == len(design.looks)
    bound = 0.0 if last else design.futility[look - 1]
    states: list[State] = []
    for one, is_rejected, chance in zip(tested, rejected, chances, strict=True):
        if is_rejected:
            states.append("rejected")
        elif not one.fresh and one.before:
            states.append(one.before.state)
        elif last:
            states.append("not rejected")
        else:
            was_given_up = one.before is not None and one.before.state == "not pursued"
            futile = was_given_up or (chance is not None and chance < bound)
            states.append("not pursued" if futile else "on")
    on = {claim.calls for claim, state in zip(claims, states, strict=True) if state == "on"}
    return [
        "on" if claim.calls and claim.calls in on and state == "not pursued" else state
        for claim, state in zip(claims, states, strict=True)
    ]
