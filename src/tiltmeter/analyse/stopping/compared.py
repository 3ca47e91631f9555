"""Runs that stopped early, compared with others: what a comparison has to pay for it.

When a run stops follows from its labels, so a test of what two runs have when they stopped rejects
more often than it says. With q its p, q/w_k is valid whichever look k was the last (a union bound
over looks), and q/(w_j·w_k) where both runs stopped early.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from ...records import Estimate
from ...store import Store
from ...store.queries import looks as stored
from .estimates import stretch_interval
from .plan import read_plan


def looks_price(store: Store, subject: str) -> tuple[float, float]:
    """1/w of the cheapest look at which something of a subject was asked last, and g; (1, 1) of a
    run that asks all.
    """
    plan = read_plan(store)
    if plan is None:
        return 1.0, 1.0
    ends = {look for whose, _, _, look in stored.last_looks(store) if whose == subject and look}
    least = min((plan.weights[look - 1] for look in ends), default=1.0)
    return 1 / least, max(family.widening for family in plan.families)


def paying(row: Estimate, prices: tuple[tuple[float, float], ...]) -> Estimate:
    """The row of a comparison with p and interval that pay for the looks of its runs."""
    times, wider = prod(price for price, _ in prices), prod(g for _, g in prices)
    if times == 1 and wider == 1:
        return row
    if row.p is not None:
        detect = row.detect
        row = replace(
            row,
            p=min(1.0, row.p * times),
            test=f"{row.test}, over looks",
            detect=None if detect is None else lambda level: detect(level / times),
        )
    if row.value is not None and row.confidence and row.low is not None and row.high is not None:
        low, high = stretch_interval(row, wider)
        row = replace(row, low=low, high=high)
    return row
