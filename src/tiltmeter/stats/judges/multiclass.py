"""Shares of several classes at once, corrected by inverting the judge's confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments, rates
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.judges.confusion import Confusion
from tiltmeter.stats.judges.correction import (
    LEAST_YOUDEN,
    ROUNDING,
    Basis,
    Linear,
    few_gold,
    is_weighted,
    linear_result,
    matches,
    ratio_of_sums,
)
from tiltmeter.stats.results import Interval, join_notes

METHOD = "inverse confusion matrix, linearised over items, t"


@dataclass(frozen=True, slots=True)
class CorrectedShares:
    """The corrected shares of all classes in one condition, in order; ``reason`` and ``clipped`` as
    in ``correction.Corrected``.

    ``resolution`` is the least fraction of a true difference that the judge preserves: for two
    classes Se + Sp - 1; 0 if two mixtures of classes give the same answers.
    """

    corrected: tuple[Interval, ...]
    uncorrected: tuple[Interval, ...]
    clipped: bool = False
    resolution: float | None = None
    reason: str | None = None


def corrected_shares(*, said: ArrayLike, gold: Confusion | None) -> CorrectedShares:
    """Solves Mᵀπ = q for the true shares π, M[j, k] = P(called k | truly j) from gold, q as the
    judge reports.

    ``said``, shape (C, K): outputs of each item called each class; ``gold`` has the same items and
    K × K cells. An answer that is no class is an outcome of its own: give it a class in both, or
    leave it out of both. If a share comes out negative, π is the point of the simplex nearest to
    the solution (Euclidean), and ``clipped`` is set. Intervals: t over the items' joint influences
    M⁻ᵀ(dq - dMᵀπ), per class, clipped to [0, 1]; a row of M without error has Jeffreys' variance.
    Range [0, 1], sum 1. No value but a ``reason``: no gold, a class without gold, resolution < .2;
    resolution is the least 2/‖M⁻ᵀ(u_j - u_k)‖₁ over pairs of classes, u their unit vectors.
    Source: Barron (1977), Biometrics 33; Buonaccorsi (2010), Measurement Error, ch. 3; projection:
    Duchi et al. (2008), ICML. By hand, K = 2: q = (.8, .2), Se .9, Sp .95: π_1 = .15/.85 = .1765.
    ``ValueError``: negative, NaN, shapes that do not match.
    """
    table: Floats = np.asarray(said, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"said: a table of items × classes expected, got shape {table.shape}")
    arguments.counts("said", np.ravel(table))
    n, k = table.sum(axis=1), table.shape[1]
    uncorrected = tuple(rates.clustered_share(successes=table[:, j], n=n) for j in range(k))
    reason = _refusal(n, gold, k)
    if reason or gold is None:
        return _uncorrected_shares(uncorrected, reason)
    matrix = gold.weighted.sum(axis=0)
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    least = resolution(matrix)
    if least < LEAST_YOUDEN - ROUNDING:
        reason_text = (
            f"resolution {least:.2f}, under {LEAST_YOUDEN:g}: the judge confuses classes too often"
        )
        return _uncorrected_shares(uncorrected, reason_text, least)
    errors = _linearise(table, n, gold, np.linalg.inv(matrix.T))
    solved = np.array([error.value for error in errors])
    shares = on_simplex(solved)
    items = min(int((n > 0).sum()), int((gold.labels.sum((1, 2)) > 0).sum()))
    caution, weighted = few_gold(tuple(gold.labels.sum(axis=(0, 2)))), is_weighted(gold)
    rows, is_clipped = [], bool(np.abs(shares - solved).max() > 1e-12)
    for share, error, old in zip(shares, errors, uncorrected, strict=True):
        row = linear_result(
            Basis(old, METHOD, (0.0, 1.0), items, least, caution, weighted), error
        ).corrected
        rows.append(_moved_to(row, float(share), error.value if is_clipped else None))
    return CorrectedShares(tuple(rows), uncorrected, is_clipped, least)


def _moved_to(row: Interval, share: float, solved: float | None) -> Interval:
    """Sets a row's value to its projected share. solved: the share before; None if none changed."""
    if row.low is not None and row.high is not None:
        row = replace(row, low=min(row.low, share), high=max(row.high, share))
    if solved is not None and 0 <= solved <= 1:
        note = f"moved from {solved:.3f}: another class came out negative"
        row = replace(row, note=join_notes(note, row.note))
    return replace(row, value=share)


def _linearise(table: Floats, n: Floats, gold: Confusion, inverse: Floats) -> list[Linear]:
    """Solves for the shares; returns, per class, the share with the influence of each item."""
    k = table.shape[1]
    q = [ratio_of_sums(table[:, j], n, float((n > 0).sum())) for j in range(k)]
    values = inverse @ np.array([reported.value for reported in q])
    noise = np.stack([reported.influence for reported in q], axis=1)
    floor = inverse**2 @ np.array([reported.floor for reported in q])
    for j in range(k):
        truly = gold.weighted[:, j].sum(axis=1)
        row = gold.weighted[:, j] / truly.sum()
        share = row.sum(axis=0)
        noise = noise - values[j] * (row - share * (truly / truly.sum())[:, None])
        if share[j] == 1.0:
            trials = float(gold.labels[:, j].sum())
            missed = ratio_of_sums(gold.weighted[:, j, j], truly, trials).floor
            # an error not yet seen could go to any other class: the worst of them
            floor = floor + values[j] ** 2 * missed * ((inverse - inverse[:, [j]]) ** 2).max(axis=1)
    influence = noise @ inverse.T
    return [Linear(float(values[j]), influence[:, j], float(floor[j])) for j in range(k)]


def resolution(matrix: Floats) -> float:
    """Computes the least fraction of a true difference that a judge's matrix preserves."""
    if np.linalg.matrix_rank(matrix) < len(matrix):
        return 0.0
    inverse = np.linalg.inv(matrix.T)
    return float(
        min(
            2 / np.abs(inverse[:, i] - inverse[:, j]).sum()
            for i in range(len(matrix))
            for j in range(i)
        )
    )


def on_simplex(point: Floats) -> Floats:
    """Returns the nearest point without negative coordinates and with sum 1 (Duchi et al. 2008)."""
    sorted_point = np.sort(point)[::-1]
    excess = (np.cumsum(sorted_point) - 1) / np.arange(1, point.size + 1)
    positive = int(np.count_nonzero(sorted_point > excess))
    shares: Floats = np.maximum(point - excess[positive - 1], 0.0)
    return shares


def _refusal(n: Floats, gold: Confusion | None, k: int) -> str | None:
    if n.sum() == 0:
        return "no outcomes"
    if gold is None or gold.labels.sum() == 0:
        return "no gold"
    matches(gold, n)
    if gold.weighted.shape[1:] != (k, k):
        raise ValueError(f"gold: {k} × {k} classes expected, got {gold.weighted.shape[1:]}")
    missing = [str(j) for j in range(k) if gold.labels[:, j].sum() == 0]
    return f"no gold of class {', '.join(missing)}" if missing else None


def _uncorrected_shares(
    plain: tuple[Interval, ...], reason: str | None, resolved: float | None = None
) -> CorrectedShares:
    blank = tuple(
        Interval(None, None, None, "not corrected", row.confidence, n=row.n, note=reason)
        for row in plain
    )
    return CorrectedShares(blank, plain, resolution=resolved, reason=reason)
