"""Agreement beyond chance between annotators: Cohen's κ, Gwet's AC1, Krippendorff's α, pairs.

Each coefficient is 1 - D_o/D_e: the observed disagreement over the disagreement expected by chance;
the three differ in their definition of chance. Intervals: the jackknife over items (clusters).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments, rates, wilson
from tiltmeter.stats.arguments import Codes, Floats
from tiltmeter.stats.judges.confusion import Confusion
from tiltmeter.stats.quantiles import t_quantile
from tiltmeter.stats.results import UPPER, Interval, with_cautions

METHOD = "jackknife over items, score limits, t"


@dataclass(frozen=True, slots=True)
class Ratings:
    """Codes of values by unit and annotator, shape (U, R); -1 if the annotator gave no value."""

    codes: Codes
    classes: int
    clusters: Codes  # (U,): the item of each output, 0 … C-1
    weights: Floats  # (U,): mean 1


def ratings(
    *,
    codes: ArrayLike,
    classes: int,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Ratings:
    """Checks ratings; by default, each output is an item of its own, and all weights are equal.

    ``codes`` (U, R) of 0 … classes-1, -1 for missing; ``clusters`` (U,) codes; ``weights`` (U,),
    larger than 0. ``ValueError`` names the argument.
    """
    table = arguments.rows("codes", codes)
    if table.size and table.max() >= classes:
        raise ValueError(f"codes: codes below {classes} expected, got {table.max()}")
    units = len(table)
    where = (
        np.arange(units)
        if clusters is None
        else np.unique(np.asarray(clusters), return_inverse=True)[1]
    )
    weight = np.ones(units) if weights is None else arguments.counts("weights", weights)
    for name, array in (("clusters", where), ("weights", weight)):
        arguments.same_shape(name, array, "outputs", table[:, 0] if table.size else np.zeros(units))
    if units and weight.min() <= 0:
        raise ValueError(f"weights: numbers above 0 expected, got {weight.min():g}")
    return Ratings(
        table, classes, where.astype(np.int64), weight / weight.mean() if units else weight
    )


def cohen_kappa(*, gold: Confusion) -> Interval:
    """Computes κ = (p_o - p_e)/(1 - p_e), p_e = Σ_k p_k.·p_.k, of two annotators (gold in rows,
    judge in columns).

    Range [-1, 1]; 0 is chance by each annotator's own margins; κ is low if one class is rare, even
    for a good judge (then also read AC1). Source: Cohen (1960), Educ. Psychol. Meas. 20; jackknife:
    Kraemer (1980), Biometrics 36. By hand: [[20, 5], [10, 15]]: p_o .7, p_e .5 → .4.
    """
    c, k, answers = gold.weighted.shape
    square = np.zeros((c, answers, answers))
    square[:, :k] = gold.weighted
    filled = square[square.sum((1, 2)) > 0]

    def parts(table: Floats) -> tuple[Floats, Floats]:
        total = table.sum((-2, -1))
        observed = np.einsum("...kk->...", table) / total
        return 1 - observed, 1 - np.einsum(
            "...k,...k->...", table.sum(-1), table.sum(-2)
        ) / total**2

    return _jackknife(
        filled.reshape(len(filled), -1),
        lambda s: parts(s.reshape(*s.shape[:-1], answers, answers)),
    )


def gwet_ac1(*, rated: Ratings) -> Interval:
    """Computes AC1 = (p_a - p_e)/(1 - p_e), p_e = Σ_k π_k(1-π_k)/(K-1), for two or more annotators.

    p_a: the share of agreeing pairs, averaged over outputs with at least two ratings; π_k: the
    share of ratings that are k, averaged over rated outputs. Range [-1, 1]; 0 is chance; stable if
    a class is rare. Source: Gwet (2008), Br. J. Math. Stat. Psychol. 61. By hand: two annotators,
    both-yes 118, both-no 0, 5 and 2 split: p_a = .944, π = .972, p_e = 2·.972·.028 = .0544 → .9408.
    """
    votes = _votes(rated)
    r = votes.sum(1)
    has_pairs = r >= 2
    agreeing = np.divide(
        (votes * (votes - 1)).sum(1), r * (r - 1), out=np.zeros(len(r)), where=has_pairs
    )
    shares = np.divide(votes, r[:, None], out=np.zeros_like(votes), where=r[:, None] > 0)
    w = rated.weights
    sums = _by_cluster(
        rated, np.column_stack([w * agreeing, w * has_pairs, w * (r > 0), shares * w[:, None]])
    )

    def parts(s: Floats) -> tuple[Floats, Floats]:
        called = s[..., 3:] / s[..., 2:3]
        return 1 - s[..., 0] / s[..., 1], 1 - (called * (1 - called)).sum(-1) / (rated.classes - 1)

    return _jackknife(sums, parts)


def krippendorff_alpha(*, rated: Ratings) -> Interval:
    """Computes nominal α = 1 - (n-1)·Σ_{c≠k} o_ck / Σ_{c≠k} n_c·n_k, for two or more annotators,
    with missing values.

    o_ck: coincidences; an output with r ≥ 2 ratings adds its r(r-1) ordered pairs with weight
    1/(r-1). Range (-1, 1]; 0 is chance by the pooled margins. Source: Krippendorff (2011),
    Computing Krippendorff's Alpha-Reliability; resampled by output as Zapf et al. (2016), BMC Med.
    Res. Methodol. 16.
    By hand: outputs (a,a) (a,b) (b,b): n_a = n_b = 3, o_ab + o_ba = 2: 1 - 5·2/18 = .4444.
    """
    votes = _votes(rated)
    r = votes.sum(1)
    votes, r = votes * (r >= 2)[:, None], np.where(r >= 2, r, 0)
    split = np.divide(
        (votes * (r[:, None] - votes)).sum(1), r - 1, out=np.zeros(len(r)), where=r >= 2
    )
    w = rated.weights
    sums = _by_cluster(rated, np.column_stack([w * split, votes * w[:, None]]))

    def parts(s: Floats) -> tuple[Floats, Floats]:
        margin = s[..., 1:]
        n = margin.sum(-1)
        return s[..., 0] / n, (n * n - (margin * margin).sum(-1)) / (n * (n - 1))

    return _jackknife(sums, parts)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """The agreement of two annotators (columns of the ratings) on the units that both rated."""

    first: int
    second: int
    agreement: Interval


def pairwise_agreement(*, rated: Ratings) -> tuple[PairAgreement, ...]:
    """Computes the raw agreement of every pair of a panel, by ``rates.clustered_share``.

    Range [0, 1]. By hand: (0,0), (0,1), (1,1) of three items: 2/3. None without common outputs.
    """
    pairs, codes, items = [], rated.codes, _items(rated)
    for i in range(codes.shape[1]):
        for j in range(i + 1, codes.shape[1]):
            has_both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
            is_same = has_both & (codes[:, i] == codes[:, j])
            x, n = (
                np.bincount(rated.clusters, rated.weights * flag, minlength=items)
                for flag in (is_same, has_both)
            )
            share = rates.clustered_share(successes=np.minimum(x, n), n=n)
            pairs.append(PairAgreement(i, j, share))
    return tuple(pairs)


def _items(rated: Ratings) -> int:
    return int(rated.clusters.max()) + 1 if rated.clusters.size else 0


def _votes(rated: Ratings) -> Floats:
    """Counts annotators by unit and class, shape (U, K)."""
    return np.stack([(rated.codes == k).sum(1) for k in range(rated.classes)], axis=1).astype(float)


def _by_cluster(rated: Ratings, rows: Floats) -> Floats:
    """Sums the rows by item; leaves out items whose sums are all 0."""
    sums = np.zeros((_items(rated), rows.shape[1]))
    np.add.at(sums, rated.clusters, rows)
    return sums[sums.any(axis=1)]


def _jackknife(sums: Floats, parts: Callable[[Floats], tuple[Floats, Floats]]) -> Interval:
    """Computes 1 - D_o/D_e of the summed rows, and its interval by leaving out one item at a time.

    v = (C-1)/C·Σ(θ_(i) - mean)². Limits: all θ₀ with |θ - θ₀| ≤ t(df)·√(v·(1-θ₀)/(1-θ)), since the
    variance of a disagreement grows with the disagreement (as in a count's score interval), so the
    upper limit stays below 1; df as ``rates.cluster_variance``. If all agree, D_o is at most
    Wilson's upper limit for 0 of C items.
    """
    c = len(sums)
    blank = Interval(None, None, None, METHOD, clusters=c)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed, chance = (float(part) for part in parts(sums.sum(axis=0)))
        if not (math.isfinite(observed) and math.isfinite(chance)):
            return replace(blank, note="nothing was rated twice")
        if chance <= 0:
            return replace(
                blank, note="only one class was used: agreement beyond chance is not defined"
            )
        value = 1 - observed / chance
        if c < 2:
            return replace(blank, value=value, note="one cluster: no interval")
        omitted, expected = parts(sums.sum(axis=0) - sums)
        values = np.where(expected > 1e-12, 1 - omitted / expected, np.nan)
    caution = rates.few_clusters(c)
    if not np.isfinite(values).all():
        row_without = replace(blank, value=value, note="a class hangs on one item: no interval")
        return with_cautions(row_without, caution)
    if observed <= 0:
        upper = wilson.wilson_limits(0.0, float(c), t_quantile(UPPER, c - 1.0))[1]
        low, note = max(1 - upper / chance, -1.0), "all agree: limit from the number of clusters"
        row = replace(blank, value=1.0, low=low, high=1.0, se=0.0, note=note)
        return with_cautions(row, caution)
    variance, df = rates.cluster_variance((values - values.mean()) * (c - 1) / c)
    distance, t = 1 - value, t_quantile(UPPER, df)
    q = t * t * variance / distance
    half = math.sqrt(q * distance + q * q / 4)
    low, high = max(1 - distance - q / 2 - half, -1.0), 1 - distance - q / 2 + half
    row = replace(blank, value=value, low=low, high=high, se=math.sqrt(variance), df=df)
    return with_cautions(row, caution)
