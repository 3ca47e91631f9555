"""The family's rule and futility, for one run or many at once: arrays of shape (…, m)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stats import special
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.stopping.design import ROUNDING, StoppingDesign

Flags = NDArray[np.bool_]
DISCOUNT = 0.7  # of the level, in predictions: rejection at the end costs what the looks spent
LEAST_VARIANCE = 0.1  # of D's variance, what is left at the end at least
FARTHEST = 8.0  # standard errors, beyond which a plain p is not told from 0


def are_rejected(design: StoppingDesign, p: Floats) -> Flags:
    """Returns True for each claim that the rule rejects, given the current p of all m claims.

    Holm: the r-th smallest p ≤ α/(m-r+1), and all smaller p too; Benjamini–Hochberg: some p of that
    rank or a later one ≤ α·r/m. By hand: m = 3, p = (.02, .001, .001): both reject all; p = (.04,
    .03, .02): Holm none, Benjamini–Hochberg all.
    """
    order = np.argsort(p, axis=-1, kind="stable")
    is_passed = np.take_along_axis(p, order, -1) <= _levels_by_rank(design) * (1 + ROUNDING)
    if design.method == "holm":
        is_passed = np.logical_and.accumulate(is_passed, axis=-1)
    else:
        is_passed = np.logical_or.accumulate(is_passed[..., ::-1], axis=-1)[..., ::-1]
    is_rejected = np.empty_like(is_passed)
    np.put_along_axis(is_rejected, order, is_passed, -1)
    return is_rejected


def levels_of(design: StoppingDesign, p: Floats, q: Floats, rejected: Flags) -> Floats:
    """Returns the level of each claim by the rank r of its p (q breaks ties): α/(m-r+1) for Holm,
    α·max(r, R+1)/m for Benjamini–Hochberg, with R the number rejected.
    """
    order = np.lexsort((q, p), axis=-1)
    by_rank = np.broadcast_to(_levels_by_rank(design), p.shape)
    if design.method == "benjamini-hochberg":
        rank = np.minimum(rejected.sum(axis=-1, keepdims=True) + 1, design.claims)
        by_rank = np.maximum(by_rank, design.alpha * rank / design.claims)
    levels = np.empty(p.shape)
    np.put_along_axis(levels, order, by_rank, -1)
    return levels


def _levels_by_rank(design: StoppingDesign) -> Floats:
    ranks = np.arange(1, design.claims + 1)
    if design.method == "holm":
        return design.alpha / (design.claims - ranks + 1)
    return design.alpha * ranks / design.claims


def predictive_probability(*, q: Floats, level: Floats, information: Floats) -> Floats:
    """Computes the probability that the last look rejects at ``level``, given the result so far.

    Formula: z = Φ⁻¹(1-q/2), c = Φ⁻¹(1-.7·level/2), Φ((z/√t-c)/√(1/t-1)) + Φ((-z/√t-c)/√(1/t-1)).
    Source: Lachin (2005), Stat. Med. 24, with a flat prior. By hand: q = 1, t = .5, level .05: c =
    2.1084, 2Φ(-2.1084) = .0350.
    """
    with np.errstate(divide="ignore"):
        z = np.minimum(-special.ndtri(q / 2), FARTHEST)
    c = -special.ndtri(DISCOUNT * level / 2)
    t = np.clip(information, ROUNDING, 1 - ROUNDING)
    spread = np.sqrt(1 / t - 1)
    above, below = (special.ndtr((side * z / np.sqrt(t) - c) / spread) for side in (1, -1))
    chance: Floats = above + below
    return chance


def two_sided(z: Floats) -> Floats:
    """Computes P(|Z| ≥ z) of a standard normal Z."""
    p: Floats = 2 * special.ndtr(-np.abs(z))
    return p
