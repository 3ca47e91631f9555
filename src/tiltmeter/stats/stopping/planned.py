"""The calls and findings of a run that may stop early, simulated before the run.

Each claim is a Gaussian path, so that no table of items is simulated: its information at each look
follows from the variances of items and samples, its truth is given in standard errors of the full
run, and its p follows from bounds that spend α as the flips do. As with flips of few items, no p is
below the smallest possible. benchmarks/stopping.py has the exact algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.power.design import POWER
from tiltmeter.stats.quantiles import normal_quantile
from tiltmeter.stats.stopping import rules
from tiltmeter.stats.stopping.boundaries import bounds_of, information_of
from tiltmeter.stats.stopping.design import ROUNDING, StoppingDesign
from tiltmeter.stats.stopping.follow import follow_runs
from tiltmeter.stats.stopping.rules import LEAST_VARIANCE, Flags

RUNS = 2_000  # a mean share of calls is known to .005, a power to .011
SMALLEST_LEVEL, LEVELS = 1e-7, 36  # at which bounds are worked out; p between them is interpolated


@dataclass(frozen=True)
class ForecastClaim:
    """A claim of a family. ratio: s²/τ² of one round, infinite if outputs are independent;
    smallest_p: the smallest p of its flips at each look, 0 for very many flips; flipped: False for
    a test without flips; calls: equal for claims that the same calls answer; items: the number of
    items from which the information is estimated, 0 if it is known.
    """

    ratio: float
    smallest_p: tuple[float, ...]
    flipped: bool = True
    calls: str = ""
    items: int = 0


@dataclass(frozen=True)
class ForecastFamily:
    """Claims that are adjusted together. uses: (m, conditions), True if a claim uses it."""

    design: StoppingDesign
    claims: Sequence[ForecastClaim]
    uses: Flags


@dataclass(frozen=True)
class StoppingAverages:
    """The averages over runs with one truth: calls, as a share of the full run's, and the share of
    claims rejected with looks, by the full run, and by fixed runs with as many rounds as each look.
    """

    calls: float
    power: float
    full_power: float
    fixed_power: tuple[float, ...]


def forecast(
    families: Sequence[ForecastFamily], sizes: Floats, drifts: Sequence[float | Floats]
) -> StoppingAverages:
    """Simulates runs in which the truths of each family's claims lie ``drifts`` standard errors of
    the full run from the null: one drift for all claims of a family, or one per claim.

    sizes: calls per round by condition, over all families. By hand: one look, one claim, drift 1.96
    + .84: all calls, power .8.
    """
    rng = np.random.default_rng([29, 1])
    rounds = np.zeros((RUNS, sizes.size))
    rejected: list[Floats] = []
    for family, drift in zip(families, drifts, strict=True):
        design = family.design
        z = _paths(family, np.broadcast_to(drift, len(family.claims)), rng)
        q, p = _values(family, z)
        t = _estimated_information(family, rng)
        followed = follow_runs(design, p, q, t, _same_calls(family.claims))
        rounds_made = np.array(design.looks)[followed.last]
        for claim, uses in enumerate(family.uses):
            rounds[:, uses] = np.maximum(rounds[:, uses], rounds_made[:, claim, None])
        fixed = [rules.are_rejected(design, q[..., k]) for k in range(len(design.looks))]
        rejected.append(np.stack([followed.rejected, *fixed]).mean(axis=1))
    full = families[0].design.looks[-1]
    shares = np.concatenate(rejected, axis=1).mean(axis=1)
    return StoppingAverages(
        float((rounds @ sizes).mean() / (full * sizes.sum())),
        float(shares[0]),
        float(shares[-1]),
        tuple(shares[1:].tolist()),
    )


def drift_found(*, design: StoppingDesign) -> float:
    """Computes the truth, in standard errors of the full run, detected at α/m with 80 % power.

    By hand: m = 1: 1.96 + .84 = 2.80.
    """
    return normal_quantile(1 - design.alpha / design.claims / 2) + normal_quantile(POWER)


def first_look_that_rejects(design: StoppingDesign, claim: ForecastClaim) -> int | None:
    """Finds the first look, from 1, that can reject a claim by itself: smallest p ≤ α·(w_1 + … +
    w_k)/m. None if no look can.

    By hand: 60 claims, w_1 = .1, 14 items (2^-13 = .000122 > .05·.1/60 = .0000833): the second.
    """
    level = design.alpha / design.claims * (1 + ROUNDING)
    for look, (least, spent) in enumerate(zip(claim.smallest_p, design.spending, strict=True), 1):
        if least <= level * spent:
            return look
    return None


def twice_the_items(*, samples: float, ratio: float) -> float:
    """Computes the standard error with twice the items and half the samples per item, over the
    present one: √((τ² + 2s²/n)/(2(τ² + s²/n))).

    By hand: n = 16, s²/τ² = 4: √(1.5/2.5) = .7746. 1/√2 if only items vary, 1 if only samples do.
    """
    if math.isinf(ratio):
        return 1.0
    return math.sqrt((1 + 2 * ratio / samples) / (2 * (1 + ratio / samples)))


def _paths(family: ForecastFamily, drift: Floats, rng: np.random.Generator) -> Floats:
    """Simulates Z of each claim at each look, shape (runs, m, looks)."""
    design = family.design
    t = np.array([information_of(design, claim.ratio) for claim in family.claims])
    steps = np.sqrt(np.diff(t, axis=1, prepend=0.0))
    noise = rng.standard_normal((RUNS, *t.shape)) * steps
    z: Floats = noise.cumsum(axis=2) / np.sqrt(t) + drift[:, None] * np.sqrt(t)
    return z


def _estimated_information(family: ForecastFamily, rng: np.random.Generator) -> Floats:
    """Simulates each run's estimate of t, (runs, m, looks): 1 - (1-t)·V/V̂, V̂ from its items."""
    information = np.array([information_of(family.design, claim.ratio) for claim in family.claims])
    freedom = np.array([max(claim.items - 1, 1) for claim in family.claims])
    estimated = rng.chisquare(freedom, (RUNS, freedom.size)) / freedom
    estimated[:, [claim.items == 0 for claim in family.claims]] = 1.0
    t: Floats = np.maximum(1 - (1 - information) / estimated[..., None], LEAST_VARIANCE)
    return t


def _values(family: ForecastFamily, z: Floats) -> tuple[Floats, Floats]:
    """Computes q and p of every claim at every look, both in the shape of ``z``."""
    design = family.design
    smallest_p = np.array([claim.smallest_p for claim in family.claims])
    q = np.maximum(rules.two_sided(z), smallest_p)
    p = np.minimum(q / np.array(design.weights), 1.0)
    for ratio in {claim.ratio for claim in family.claims if claim.flipped}:
        of_ratio = [
            i for i, claim in enumerate(family.claims) if claim.flipped and claim.ratio == ratio
        ]
        least = smallest_p[of_ratio] / np.array(design.spending)
        p[:, of_ratio] = np.maximum(_levels_reached(design, ratio, np.abs(z[:, of_ratio])), least)
    return q, np.minimum(np.minimum.accumulate(p, axis=2), 1.0)


def _levels_reached(design: StoppingDesign, ratio: float, z: Floats) -> Floats:
    """Returns the smallest level whose bound each |Z| reaches, interpolated in the logarithm."""
    t = information_of(design, ratio)
    levels = np.geomspace(SMALLEST_LEVEL, 1.0, LEVELS)
    bounds = np.array([bounds_of(float(level), design.weights, t) for level in levels])
    reached = np.empty(z.shape)
    for k in range(len(t)):
        reached[..., k] = np.interp(z[..., k], bounds[::-1, k], np.log(levels[::-1]))
    levels_reached: Floats = np.exp(reached)
    return levels_reached


def _same_calls(claims: Sequence[ForecastClaim]) -> Flags:
    names = np.array([claim.calls or f"\n{place}" for place, claim in enumerate(claims)])
    is_same: Flags = names[:, None] == names
    return is_same
