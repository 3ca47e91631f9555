"""Estimates of a run that stopped: the factor for wider intervals, the estimate without the bias
from stopping, and the confidence of intervals while the run goes on.

All come from one table of simulated Gaussian paths. Stagewise ordering is not used: under Holm with
flips its intervals cover .87, the worst claim .39 (docs/how-to/stopping.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.quantiles import normal_quantile
from tiltmeter.stats.stopping import rules
from tiltmeter.stats.stopping.boundaries import DEFAULT_RATIO, bounds_of, information_of
from tiltmeter.stats.stopping.design import StoppingDesign

PATHS = 40_000
DRIFTS = np.arange(0.0, 10.01, 0.25)  # truths, in standard errors of the full run
WORTH_SAYING = 0.1  # standard errors by which a corrected estimate has to differ


@dataclass(frozen=True)
class StoppingTable:
    """The effect of stopping on an estimate, by truth (``DRIFTS``) and by level, α and α/m. bias:
    mean estimate less truth, in standard errors of the full run, shape (levels, drifts). quantile:
    the 95 % quantile of |estimate - truth|, in standard errors of the estimate.
    """

    levels: tuple[float, ...]
    bias: Floats
    quantile: Floats


def widening(design: StoppingDesign, ratio: float = DEFAULT_RATIO) -> float:
    """Computes g, the factor for an interval's half-length after stopping that gives 95 % coverage
    for every truth: the largest 95 % quantile of |estimate - truth|/SE, over 1.96.

    ratio: s²/τ², the variance of one sample over that of items; infinite if outputs are
    independent. Range: at least 1. By hand: a single look, without early stops: 1, apart from
    Monte-Carlo error, which cannot make it smaller.
    """
    table = stopping_table(design, ratio)
    return max(1.0, float(table.quantile.max()) / normal_quantile(0.975))


def corrected_estimate(
    *,
    design: StoppingDesign,
    value: float,
    se: float,
    look: int,
    level: float,
    null: float = 0.0,
    ratio: float = DEFAULT_RATIO,
) -> float | None:
    """Finds the truth at which the mean estimate is ``value``; None if that truth is less than .1
    se away from ``value``.

    value, se: the estimate and its standard error when the claim stopped, at this look (from 1);
    level: the level of its test. Solves θ + bias(θ) = value. Source: Whitehead (1986), Biometrika
    73. ``ValueError``: a negative or infinite standard error."""
    se = arguments.number("se", se)
    table, t = stopping_table(design, ratio), information_of(design, ratio)[look - 1]
    final_se = se * t**0.5
    if not final_se:
        return None
    nearest = int(np.argmin(np.abs(np.log(np.array(table.levels) / level))))
    means = DRIFTS + table.bias[nearest]
    away = (value - null) / final_se
    if abs(away) >= means[-1]:
        return None
    truth = float(np.interp(abs(away), np.maximum.accumulate(means), DRIFTS))
    corrected = null + float(np.copysign(truth, away)) * final_se
    return corrected if abs(corrected - value) > WORTH_SAYING * se else None


def repeated_confidence(design: StoppingDesign, look: int) -> float:
    """Returns the confidence of the interval that is shown at this look (from 1) while a run goes
    on: 1 - α·w_k. All looks together then cover 1 - α, whichever look the run stops at. Source:
    Jennison & Turnbull (1989), JRSS B 51. By hand: α .05, w_1 = .1: .995.
    """
    return 1 - design.alpha * design.weights[look - 1]


@lru_cache(maxsize=32)
def stopping_table(design: StoppingDesign, ratio: float = DEFAULT_RATIO) -> StoppingTable:
    """Simulates a design's table with a fixed seed: 40,000 paths, each with every truth."""
    t = np.array(information_of(design, ratio))
    steps = np.diff(t, prepend=0.0)
    normals = np.random.default_rng(29).standard_normal((len(t), PATHS))
    noise = np.cumsum(np.sqrt(steps)[:, None] * normals, axis=0)  # √t·Z without drift
    levels = tuple(dict.fromkeys((design.alpha, design.alpha / design.claims)))
    bias, quantile = np.empty((2, len(levels), DRIFTS.size))
    for row, level in enumerate(levels):
        upper = np.array(bounds_of(level, design.weights, tuple(t.tolist())))
        bounds = _futility_bounds(design, level, t)
        for column, drift in enumerate(DRIFTS):
            score = noise + drift * t[:, None]
            z = np.abs(score) / np.sqrt(t)[:, None]
            stops = (z >= upper[:, None]) | (z < bounds[:, None])
            stops[-1] = True
            last = stops.argmax(axis=0)
            error = score[last, np.arange(PATHS)] / t[last] - drift
            bias[row, column] = error.mean()
            quantile[row, column] = np.quantile(np.abs(error) * np.sqrt(t[last]), 0.95)
    return StoppingTable(levels, bias, quantile)


def _futility_bounds(design: StoppingDesign, level: float, t: Floats) -> Floats:
    r"""Computes, per look, the \|Z\| below which a claim is not pursued; 0 at the last look."""
    z = np.linspace(0.0, rules.FARTHEST, 4_001)
    q = rules.two_sided(z)
    bounds = np.zeros(t.size)
    for k, least in enumerate(design.futility):
        if design.looks[k] > 1:
            chances = rules.predictive_probability(
                q=q, level=np.full(1, level), information=t[k : k + 1]
            )
            bounds[k] = z[np.searchsorted(chances, least)]
    return bounds
