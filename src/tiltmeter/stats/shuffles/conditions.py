"""Tests of items with several conditions each: if one condition differs from the rest, and if all
are alike.

Arrays hold one rate per item and condition, shape (C, K); an item without a rate in some condition
(NaN) is left out, as its conditions cannot be permuted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.stats import arguments
from tiltmeter.stats.arguments import Floats
from tiltmeter.stats.results import Test, count_of, join_notes
from tiltmeter.stats.shuffles.resampling import TIE, monte_carlo_p

ENUMERATED = 200_000  # assignments up to which all are taken: three conditions of 11 items
TABLE_ENTRIES = 256  # sums of a group of items that one drawn byte chooses from
BLOCK = 2_000_000  # permuted rates in flight at a time


def tested_condition(
    *, rates: ArrayLike, draws: int = 9_999, generator: np.random.Generator | None = None
) -> Test:
    """Tests if condition 0 differs from the mean of its controls (columns 1 to K-1).

    The tested condition of each item is reassigned at random. Statistic: the mean over items of t -
    mean of the controls, two-sided. Up to 200,000 assignments K^C are enumerated; beyond, ``draws``
    are sampled and p = (1+b)/(1+B). With one control this is the sign flip; with two, a sign flip
    of t - (b + c)/2 would reject 6.3 % of true nulls at .05, since that difference is skewed. Null
    value 0. Source: Fisher (1935), The Design of Experiments, §21; Pitman (1938), Biometrika 29. By
    hand: one item (1, 0, 0): S = 1, -.5 or -.5; 1 of 3 reaches the observed 1: p = 1/3; two such
    items: 1/9. No item, or no second condition: p None with a note. ``ValueError``: infinite rates,
    or too many assignments to enumerate and no generator.
    """
    table, left_out = _items_with_all(rates)
    if not len(table) or table.shape[1] < 2:
        return Test(None, None, "tested condition", note=join_notes("no items: no test", left_out))
    conditions = table.shape[1]
    # what the item adds to the sum where this condition is the tested one
    adds = (conditions * table - table.sum(axis=1, keepdims=True)) / (conditions - 1)
    value = float(adds[:, 0].mean())
    contributions = adds[np.abs(adds).max(axis=1) > TIE]
    least_p = (2.0 if conditions == 2 else 1.0) / float(conditions) ** len(contributions)
    threshold = abs(float(contributions[:, 0].sum())) - TIE * float(np.abs(contributions).sum())
    if conditions ** len(contributions) <= ENUMERATED:
        sums = _all_sums(contributions)
        p = float((np.abs(sums) >= threshold).mean())
        method, number, least_p = "tested condition, enumerated", sums.size, min(least_p, 1.0)
    else:
        if generator is None:
            raise ValueError("generator: needed, as there are too many assignments to enumerate")
        number = arguments.draw_count(draws)
        reached = int((np.abs(_drawn_sums(contributions, number, generator)) >= threshold).sum())
        p, least_p = monte_carlo_p(exceeding=reached, draws=number), 1 / (1 + number)
        method = "tested condition, sampled"
    return Test(value, p, method, smallest_p=least_p, draws=number, note=left_out)


def _all_sums(adds: Floats) -> Floats:
    """Returns the sum over items for every choice of one column in each, shape (K^C,)."""
    sums = np.zeros(1)
    for item in adds:
        sums = (sums[:, None] + item).ravel()
    return sums


def _drawn_sums(adds: Floats, draws: int, generator: np.random.Generator) -> Floats:
    """Returns the sum over items for random choices. One random number makes the choices of several
    items, by a table of their possible sums.
    """
    items, conditions = adds.shape
    group = max(1, int(math.log(TABLE_ENTRIES) / math.log(conditions) + 1e-9))
    sums = np.zeros(draws)
    for start in range(0, items, group):
        table = _all_sums(adds[start : start + group])
        sums += table.take(generator.integers(0, table.size, draws))
    return sums


def conditions_alike(
    *, rates: ArrayLike, draws: int = 9_999, generator: np.random.Generator | None = None
) -> Test:
    """Tests if all conditions are alike (omnibus test): rates permuted within items.

    Statistic: Σ_k (mean of condition k - mean of all)², in squared rates; one-sided (larger). Up to
    200,000 assignments are enumerated; the first item stays fixed, since a common permutation of
    conditions changes nothing. Null value 0. Source: Pitman (1938), Biometrika 29; Welch (1937).
    By hand: items (0, 1) and (0, 1): the second can be swapped: sums (0, 2) or (1, 1); 1 of 2
    reaches the observed: p = .5. No item, or one condition: p None with a note. Raises
    ``ValueError`` as ``tested_condition`` does.
    """
    table, left_out = _items_with_all(rates)
    items, conditions = table.shape
    if not items or conditions < 2:
        return Test(None, None, "conditions alike", note=join_notes("no items: no test", left_out))
    centred = table - table.mean(axis=1, keepdims=True)
    moving = centred[np.abs(centred).max(axis=1) > TIE]
    value = float(np.square(centred.mean(axis=0)).sum())
    threshold = value * items**2 - TIE * max(1.0, float(np.square(centred).sum()))
    orders = math.factorial(conditions) ** max(len(moving) - 1, 0)
    if orders <= ENUMERATED:
        p = float((np.square(_ordered_sums(moving)).sum(axis=1) >= threshold).mean())
        method = "conditions alike, enumerated"
        return Test(value, p, method, smallest_p=1 / orders, draws=orders, note=left_out)
    if generator is None:
        raise ValueError("generator: needed, as there are too many assignments to enumerate")
    number, reached = arguments.draw_count(draws), 0
    for sums in _permuted_sums(moving, number, generator):
        reached += int((np.square(sums).sum(axis=1) >= threshold).sum())
    p, method = monte_carlo_p(exceeding=reached, draws=number), "conditions alike, sampled"
    return Test(value, p, method, smallest_p=1 / (1 + number), draws=number, note=left_out)


def _ordered_sums(table: Floats) -> Floats:
    """Sums by condition for every order of the rates of all items but the first, (orders, K)."""
    sums = table[:1] if len(table) else np.zeros((1, table.shape[1]))
    orders = list(permutations(range(table.shape[1]))) if len(table) > 1 else []
    for item in table[1:]:
        sums = (sums[:, None] + item[orders]).reshape(-1, table.shape[1])
    return sums


def _permuted_sums(table: Floats, draws: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Yields sums by condition, with each item's rates permuted, in blocks of draws."""
    block = max(1, BLOCK // table.size)
    for start in range(0, draws, block):
        size = min(block, draws - start)
        yield generator.permuted(np.broadcast_to(table, (size, *table.shape)), axis=2).sum(axis=1)


def _items_with_all(rates: ArrayLike) -> tuple[Floats, str | None]:
    """Returns the items with a rate in every condition, and a note on the others."""
    table = np.asarray(rates, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"rates: items by conditions expected, got shape {table.shape}")
    if np.isinf(table).any():
        raise ValueError("rates: holds an infinite value")
    is_complete = ~np.isnan(table).any(axis=1)
    left_out = int((~is_complete).sum())
    note = f"{count_of(left_out, 'item')} without a rate in some condition left out"
    return table[is_complete], note if left_out else None
