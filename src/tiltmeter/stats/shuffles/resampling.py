"""Tests that the design makes valid: signs of paired differences flipped, outcomes shuffled inside
items, labels shuffled over two groups.

All randomness comes from an explicit ``numpy.random.Generator``, so that the run's seed fixes it.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments, association
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.results import Test, count_of
from tiltmeter.stats.shuffles import hypergeometric

ENUMERATED = 16  # clusters up to which all 2^C sign patterns are taken (PROTOCOLS, last section)
ENUMERATED_SPLITS = 20_000  # splits up to which the two-sample test takes all
BLOCK = 4_000_000  # entries of a block of random numbers: 32 MB
TIE = 1e-9  # of Σ|d|: sums that differ by less are ties
# items below which a t test rejected 7.3 % of its true nulls (docs/explanation/statistics.md)
FEW_FOR_T = 12
SIGN_FLIP, SIGN_FLIP_ENUMERATED = "sign flip", "sign flip, enumerated"
SIGN_FLIP_SAMPLED = "sign flip, sampled"
OVER_LOOKS = ", over looks"  # ends the name of a test of a run that stops early
SIGN_FLIPS = frozenset(
    test + end
    for test in (SIGN_FLIP, SIGN_FLIP_ENUMERATED, SIGN_FLIP_SAMPLED)
    for end in ("", OVER_LOOKS)
)
CANNOT_REACH = "this test cannot reach p < .05"  # ends a part of a note
SHUFFLE = "outcomes shuffled inside items, studentised"
FEW_OUTPUTS_A_SIDE = 4  # median outputs per item, below which unequal sides break the sign flip


def monte_carlo_p(*, exceeding: int, draws: int) -> float:
    """Computes p = (1+b)/(1+B): the observed arrangement is counted too, so p is never 0.

    Range [1/(1+B), 1]. Source: Phipson & Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9.
    By hand: b = 49, B = 999 → .05.
    """
    if not 0 <= exceeding <= draws:
        raise ValueError(f"exceeding: between 0 and draws = {draws} expected, got {exceeding}")
    return (1 + exceeding) / (1 + draws)


def sign_flip(
    *, differences: ArrayLike, draws: int = 9999, generator: np.random.Generator | None = None
) -> Test:
    """Tests if paired differences are symmetric about 0: signs flipped, two-sided, statistic d̄.

    Differences: shape (C,), one per cluster. If at most 16 are not 0, all sign patterns are
    enumerated and p = #{|S*| ≥ |S|}/2^C; beyond, ``draws`` patterns from ``generator`` and p =
    (1+b)/(1+B). A difference of 0 has no sign to flip and does not change p. ``smallest_p`` is
    2/2^C over the nonzero differences, so fewer than 6 cannot reach .05: ``note`` says so. Source:
    Fisher (1935), The Design of Experiments, §21; Ernst (2004), Stat. Sci. 19. By hand: (1, 2, 3):
    S = 6, reached by +++ and ---: p = 2/8 = .25. At most one difference: p None with a note. All 0:
    p = 1. ``ValueError``: NaN; no generator for C > 16.
    """
    d = arguments.vector("differences", differences)
    draws = arguments.draw_count(draws)
    if d.size < 2:
        reason = "no differences: no test" if d.size == 0 else "one cluster: no test"
        return Test(float(d[0]) if d.size else None, None, SIGN_FLIP, note=reason)
    mean = float(d.mean())
    nonzero = d[d != 0]
    if nonzero.size == 0:
        return Test(
            0.0, 1.0, SIGN_FLIP_ENUMERATED, smallest_p=1.0, draws=1, note="all differences are 0"
        )
    if nonzero.size <= ENUMERATED:
        smallest_p = 2.0 ** (1 - nonzero.size)
        note = (
            f"only {count_of(nonzero.size, 'item')} differ{'s' if nonzero.size == 1 else ''}, so "
            f"{CANNOT_REACH}"
            if nonzero.size < 6
            else None
        )
        p = _enumerated_sign_p(nonzero)
        return Test(
            mean, p, SIGN_FLIP_ENUMERATED, smallest_p=smallest_p, draws=2**nonzero.size, note=note
        )
    if generator is None:
        raise ValueError("generator: needed for more than 16 clusters")
    p = monte_carlo_p(exceeding=_sampled_sign_flips(nonzero, draws, generator), draws=draws)
    return Test(mean, p, SIGN_FLIP_SAMPLED, smallest_p=1 / (1 + draws), draws=draws)


def _enumerated_sign_p(d: Floats) -> float:
    """Computes p over all sign patterns; the first sign stays fixed, since |sum| is symmetric."""
    sums = d[:1]
    for value in d[1:]:
        sums = np.concatenate([sums + value, sums - value])
    return float((np.abs(sums) >= abs(float(d.sum())) - TIE * float(np.abs(d).sum())).mean())


def _sampled_sign_flips(d: Floats, draws: int, generator: np.random.Generator) -> int:
    """Counts the random sign patterns, of ``draws``, whose sum reaches the observed one.

    A random byte gives the signs of eight differences; a table of 256 has the sum for each byte.
    """
    observed, width = abs(float(d.sum())) - TIE * float(np.abs(d).sum()), -(-d.size // 8)
    padded = np.zeros(width * 8)
    padded[: d.size] = d
    signs = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    tables = padded.reshape(width, 8) @ signs.T
    block, reached = max(1, BLOCK // width), 0
    for start in range(0, draws, block):
        size = min(block, draws - start)
        bits = np.frombuffer(generator.bytes(size * width), dtype=np.uint8).reshape(width, size)
        sums = np.zeros(size)
        for table, eight in zip(tables, bits, strict=True):
            sums += table.take(eight)
        reached += int((np.abs(sums) >= observed).sum())
    return reached


def paired_test(*, differences: ArrayLike) -> Test:
    """Tests paired differences by Student's t, or below 12 items by the enumerated sign flip.

    By hand: (1, 2, 3): p = .25, not t's .0742. Details: ``association.paired_t`` and ``sign_flip``.
    """
    d = arguments.vector("differences", differences)
    is_few = d.size < FEW_FOR_T
    return sign_flip(differences=d) if is_few else association.paired_t(differences=d)


def sides_are_unequal(*, n_a: ArrayLike, n_b: ArrayLike) -> bool:
    """True if the sides have different numbers of outputs and the median item has fewer than 4 on
    one side. A sign flip of such differences rejects up to 16 % of true nulls at .05; use
    ``studentised_shuffle`` instead.
    """
    a, b = arguments.counts("n_a", n_a), arguments.counts("n_b", n_b)
    arguments.same_shape("n_a", a, "n_b", b)
    has_both = (a > 0) & (b > 0)
    if not has_both.any() or (a == b)[has_both].all():
        return False
    return bool(min(np.median(a[has_both]), np.median(b[has_both])) < FEW_OUTPUTS_A_SIDE)


def parts_of_difference(xa: Floats, na: Floats, xb: Floats, nb: Floats) -> Floats:
    """Returns each item's contribution to the difference of two pooled shares (mean weight 1), for
    items with outputs on either side; their sum is C·(Σxa/Σna − Σxb/Σnb).

    A contribution counts hits beyond the share p of both sides together, so that flipping its sign
    keeps the null hypothesis whatever the item's numbers of outputs. Source: Hemerik, Goeman &
    Finos (2020), JRSS B 82. If all items have equal numbers, it is the difference of two shares.
    """
    is_kept = (na + nb) > 0
    xa, na, xb, nb = xa[is_kept], na[is_kept], xb[is_kept], nb[is_kept]
    total_a, total_b = na.sum(), nb.sum()
    share = (xa.sum() + xb.sum()) / (total_a + total_b)
    parts: Floats = xa / total_a - xb / total_b - share * (na / total_a - nb / total_b)
    return parts * parts.size


def studentised_shuffle(
    *,
    hits_a: ArrayLike,
    n_a: ArrayLike,
    hits_b: ArrayLike,
    n_b: ArrayLike,
    generator: np.random.Generator,
    draws: int = 9_999,
) -> Test:
    """Tests if two sides of the same items differ: outcomes are reassigned inside each item.

    Arrays: whole counts by item, shape (C,). With d an item's contribution to the difference of the
    pooled shares (``parts_of_difference``) the statistic is T = Σd/√Σd², two-sided, so that it has
    the sign and the weights of that difference; in each draw x_a of an item is hypergeometric given
    its outcomes on both sides, and p = (1+b)/(1+B). For sides of unequal size, whose d are skewed
    so that signs cannot be flipped (``sides_are_unequal``): levels of .025 to .065 in 48 designs
    (600 tables each), against up to .16 for the sign flip and .21 for Σd alone. Null value 0.
    Source: Fisher (1935), §21, inside items; studentised after Janssen (1997), Stat. Probab. Lett.
    36. By hand: two items with 1 of 1 against 0 of 1: d = (1, 1), T = √2; of 4 reassignments 1 has
    T = √2 and 1 has -√2: p near .5. p is 1 if no outcome can change sides, None if no item has both
    sides. ``ValueError``: counts that are not whole, successes > n, shapes that differ.
    """
    xa, na = arguments.shares("hits_a", hits_a, "n_a", n_a)
    xb, nb = arguments.shares("hits_b", hits_b, "n_b", n_b)
    arguments.same_shape("n_a", na, "n_b", nb)
    if any((counts != np.rint(counts)).any() for counts in (xa, na, xb, nb)):
        raise ValueError("hits_a: whole numbers of outputs expected")
    draws = arguments.draw_count(draws)
    if not ((na > 0) & (nb > 0)).any():
        return Test(None, None, SHUFFLE, note="no item with outputs on both sides: no test")
    d = parts_of_difference(xa, na, xb, nb)
    is_kept = (na + nb) > 0
    xa, na, xb, nb = xa[is_kept], na[is_kept], xb[is_kept], nb[is_kept]
    per_hit = d.size * (1 / na.sum() + 1 / nb.sum())  # of a hit that changes sides
    sums, squares = np.zeros((2, draws))
    for part, hits_a_seen, hits, a, b in zip(d, xa, xa + xb, na, nb, strict=True):
        kinds = np.array([hits, a + b - hits], dtype=np.int64)
        dealt = hypergeometric.draw_counts(kinds, int(a), draws, generator)[:, 0]
        shuffled = part + per_hit * (dealt - hits_a_seen)
        sums, squares = sums + shuffled, squares + shuffled * shuffled
    observed = abs(float(_studentise(d.sum(), np.square(d).sum())))
    reached = int((np.abs(_studentise(sums, squares)) >= observed - TIE).sum())
    p = monte_carlo_p(exceeding=reached, draws=draws)
    return Test(float(d.mean()), p, SHUFFLE, smallest_p=1 / (1 + draws), draws=draws)


def _studentise(sums: ArrayLike, squares: ArrayLike) -> Floats:
    """Computes Σd/√Σd², 0 if all d are 0."""
    sums, squares = np.asarray(sums), np.asarray(squares)
    ratios: Floats = np.where(squares > TIE, sums / np.sqrt(np.maximum(squares, TIE)), 0.0)
    return ratios


def permuted_means(
    *,
    first: ArrayLike,
    second: ArrayLike,
    draws: int = 9999,
    generator: np.random.Generator | None = None,
) -> Test:
    """Tests if two independent groups of cluster values differ in mean: labels shuffled, two-sided.

    Arrays: one value per cluster, shapes (C1,) and (C2,). Statistic: mean(first) - mean(second). Up
    to 20,000 splits are enumerated and p is exact; beyond, p = (1+b)/(1+B). Ties count as reached.
    Null value 0. Source: Pitman (1937), Suppl. J. R. Stat. Soc. 4; Phipson & Smyth (2010).
    By hand: (1, 2) and (3, 4): 6 splits, |difference| 2 reached by 2 of them: p = 1/3.
    An empty group, or one value in each: p None with a note. ``ValueError``: NaN; no generator if
    the splits are too many.
    """
    a, b = arguments.vector("first", first), arguments.vector("second", second)
    draws = arguments.draw_count(draws)
    if a.size == 0 or b.size == 0 or a.size + b.size < 3:
        return Test(
            None, None, "permutation of means", note="an empty group or one value each: no test"
        )
    values, splits = np.concatenate([a, b]), math.comb(a.size + b.size, a.size)
    value = float(a.mean() - b.mean())
    # mean(first) - mean(second) is linear in the sum of the first group, so that sum is the
    # statistic.
    centre, observed = values.mean() * a.size, float(a.sum())
    threshold = abs(observed - centre) - TIE * float(np.abs(values).sum())
    if splits <= ENUMERATED_SPLITS:
        chosen = np.array(list(combinations(range(values.size), a.size)), dtype=np.intp)
        p = float((np.abs(values[chosen].sum(axis=1) - centre) >= threshold).mean())
        smallest_p = (2.0 if a.size == b.size else 1.0) / splits
        warning = f"only {splits} ways to split so few, so {CANNOT_REACH}"
        note, method = warning if smallest_p > 0.05 else None, "permutation of means, enumerated"
        return Test(value, p, method, smallest_p=smallest_p, draws=splits, note=note)
    if generator is None:
        raise ValueError("generator: needed, as there are too many splits to enumerate")
    block, reached = max(1, BLOCK // values.size), 0
    for start in range(0, draws, block):
        tiled = np.tile(values, (min(block, draws - start), 1))
        sums = generator.permuted(tiled, axis=1)[:, : a.size].sum(axis=1)
        reached += int((np.abs(sums - centre) >= threshold).sum())
    p = monte_carlo_p(exceeding=reached, draws=draws)
    return Test(value, p, "permutation of means, sampled", smallest_p=1 / (1 + draws), draws=draws)
