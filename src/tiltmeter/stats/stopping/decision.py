"""The decision about each claim at a look: rejected, not pursued, or on (more outputs follow).

The family's rule is applied to the current p of *all* its claims; stopped claims keep their last p.
A p never rises, so a rejected claim stays rejected; Holm used in this way is the procedure of
Maurer & Bretz (2013), Stat. Biopharm. Res. 5, whose familywise error holds whatever stops. Futility
is not binding: not pursuing a claim costs power, but never raises the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tiltmeter.stats.stopping import rules
from tiltmeter.stats.stopping.blocks import CellBlocks, OutputBlocks
from tiltmeter.stats.stopping.design import ROUNDING, StoppingDesign
from tiltmeter.stats.stopping.paths import ItemPaths
from tiltmeter.stats.stopping.sequential import (
    bonferroni_over_looks,
    plain_p,
    scores_of,
    sequential_p,
)

State = Literal["rejected", "not pursued", "on", "not rejected"]


@dataclass(frozen=True, slots=True)
class PlainTests:
    """A claim whose test has no flips. p: its plain p at each look so far; left: V_K/V_k at the
    last look, None for independent outputs.
    """

    p: Sequence[float]
    left: float | None = None

    @property
    def looks(self) -> int:
        """The number of looks so far."""
        return len(self.p)


@dataclass(frozen=True, slots=True)
class StoppingClaim:
    """A claim of the family. data: its data up to this look; None if its prompts are no longer
    asked (then its earlier result stands). calls: claims with equal `calls` are answered by the
    same calls and end together; a claim with "" ends alone.
    """

    key: str
    data: ItemPaths | OutputBlocks | CellBlocks | PlainTests | None
    calls: str = ""


@dataclass(frozen=True, slots=True)
class StoppingDecision:
    """A claim after a look. look: the last look that tested it, from 1. q: its plain p at that
    look. p: valid at any stop, a running minimum. level: the level that its rank allows.
    information: t = V_K/V_k. chance: the predictive probability of a rejection by the last look,
    None if nothing is predicted. state: "on" if the claim goes on; "not rejected" if no look
    rejected it."""

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
    claims: Sequence[StoppingClaim],
    look: int,
    earlier: Mapping[str, StoppingDecision] | None = None,
) -> list[StoppingDecision]:
    """Decides all m claims of the family at look ``look`` (from 1), in the order of ``claims``.

    earlier: the decisions at the look before. Raises ``ValueError`` if the number of claims is not
    the design's, or a claim that goes on has no data of this look.
    """
    earlier = earlier or {}
    if len(claims) != design.claims or len({claim.key for claim in claims}) != len(claims):
        raise ValueError(f"claims: {design.claims} with different keys expected, got {len(claims)}")
    results = [_test(design, claim, look, earlier.get(claim.key)) for claim in claims]
    p, q, t = np.array([(test.p, test.q, test.information) for test in results]).T
    is_rejected = rules.are_rejected(design, p)
    levels = rules.levels_of(design, p, q, is_rejected)
    chances = rules.predictive_probability(q=q, level=levels, information=t)
    predicted = [
        _chance(design, test, float(chance), look)
        for test, chance in zip(results, chances, strict=True)
    ]
    states = _states(design, claims, results, is_rejected.tolist(), predicted, look)
    return [
        StoppingDecision(
            test.key, test.look, test.q, test.p, float(level), test.information, chance, state
        )
        for test, level, chance, state in zip(results, levels, predicted, states, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Tested:
    """A claim's q, p and information. before: its last decision; fresh: True if newly tested."""

    key: str
    look: int
    q: float
    p: float
    information: float
    before: StoppingDecision | None
    fresh: bool


def _test(
    design: StoppingDesign, claim: StoppingClaim, look: int, before: StoppingDecision | None
) -> _Tested:
    data = claim.data
    if data and data.looks > look:
        raise ValueError(f"{claim.key}: its data have {data.looks} looks, but this is look {look}")
    if data is None or data.looks < look:
        if before is None or before.state == "on":
            raise ValueError(f"{claim.key}: undecided, so its data must reach look {look}")
        earlier = before.look, before.q, before.p, before.information
        return _Tested(claim.key, *earlier, before, False)
    if isinstance(data, PlainTests):
        q, p = data.p[-1], bonferroni_over_looks(data.p, design)
    else:
        scores = scores_of(data, design)
        q, p = plain_p(scores), sequential_p(scores, design)[-1]
    least = min(p, before.p) if before else p
    return _Tested(claim.key, look, q, least, information(design, data, look), before, True)


def information(
    design: StoppingDesign, data: ItemPaths | OutputBlocks | CellBlocks | PlainTests, look: int
) -> float:
    """Computes t = V_K/V_k, the information at this look as a fraction of that at the last. V_k is
    the variance over items of D; V_K is what V_k becomes with the sampling variance of n_K outputs.
    Independent outputs: n_k/n_K.

    By hand: V_k = .1, sampling variance .06 at 4 of 16: V_K = .1 - .06·(1 - 4/16) = .055, t = .55.
    """
    part = design.looks[look - 1] / design.looks[-1]
    if isinstance(data, PlainTests) and data.left is not None:
        return max(data.left, rules.LEAST_VARIANCE)
    if not isinstance(data, ItemPaths):
        return part
    differences, noise = data.differences, data.sampling_variance
    variance = float(differences.var(ddof=1)) if differences.size > 1 else 0.0
    if noise is None or variance <= ROUNDING:
        return part
    return max(1 - noise * (1 - part) / variance, rules.LEAST_VARIANCE)


def _chance(design: StoppingDesign, tested: _Tested, chance: float, look: int) -> float | None:
    """Returns the predictive probability of a claim: None at the last look and after a single
    round; the earlier probability if the claim was not tested at this look.
    """
    if look == len(design.looks) or design.looks[look - 1] == 1:
        return None
    if not tested.fresh:
        return tested.before.chance if tested.before else None
    return chance


def _states(
    design: StoppingDesign,
    claims: Sequence[StoppingClaim],
    tested: Sequence[_Tested],
    rejected: Sequence[bool],
    chances: Sequence[float | None],
    look: int,
) -> list[State]:
    is_last = look == len(design.looks)
    bound = 0.0 if is_last else design.futility[look - 1]
    states: list[State] = []
    for test, is_rejected, chance in zip(tested, rejected, chances, strict=True):
        if is_rejected:
            states.append("rejected")
        elif not test.fresh and test.before:
            states.append(test.before.state)
        elif is_last:
            states.append("not rejected")
        else:
            was_given_up = test.before is not None and test.before.state == "not pursued"
            is_futile = was_given_up or (chance is not None and chance < bound)
            states.append("not pursued" if is_futile else "on")
    open_calls = {claim.calls for claim, state in zip(claims, states, strict=True) if state == "on"}
    return [
        "on" if claim.calls and claim.calls in open_calls and state == "not pursued" else state
        for claim, state in zip(claims, states, strict=True)
    ]
