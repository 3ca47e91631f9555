"""The correction for comparing a run that stopped early with another run.

The time at which a run stops depends on its labels, so a test on these labels rejects more often
than its level. If q is its p, q/w_k is valid whichever look k was the last (a union bound over
looks), and q/(w_j·w_k) if both runs stopped early, or some prompts ended at look j and others at
look k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from ...records import Estimate
from ...stats.shuffles.resampling import OVER_LOOKS
from ...store import Store
from ...store.queries import looks as stored
from .estimates import stretch_interval
from .plan import read_plan


def looks_price(store: Store, subject: str, place: Mapping[str, str]) -> tuple[float, float]:
    """Returns (factor of p, factor g of intervals); (1, 1) if the run does not stop early. The
    factor of p is 1/w of the look at which a subject's prompts were last asked, or a product over
    groups of prompts if these ended at different looks.

    place: the levels of the prompts, such as mode and language.
    """
    plan = read_plan(store)
    if plan is None:
        return 1.0, 1.0
    ends: dict[frozenset[str], int] = {}
    for model, mode, levels, look in stored.last_looks(store):
        place_of_prompt = {**levels, "mode": mode}
        is_there = all(place_of_prompt.get(name, level) == level for name, level in place.items())
        if model == subject and look and is_there:
            counting = (claim for claim in plan.claims if claim.counts(model, mode, levels))
            calls = frozenset(claim.calls for claim in counting)
            ends[calls] = max(look, ends.get(calls, look))
    price = prod(1 / plan.weights[look - 1] for look in ends.values())
    return price, max(family.widening for family in plan.families)


def paying(row: Estimate, prices: tuple[tuple[float, float], ...]) -> Estimate:
    """Corrects p and interval of a compared row for the looks. prices: `looks_price` by run."""
    times, factor = prod(price for price, _ in prices), prod(g for _, g in prices)
    if times == 1 and factor == 1:
        return row
    if row.p is not None:
        detect = row.detect
        row = replace(
            row,
            p=min(1.0, row.p * times),
            test=f"{row.test}{OVER_LOOKS}",
            detect=None if detect is None else lambda level: detect(level / times),
        )
    if row.value is not None and row.confidence and row.low is not None and row.high is not None:
        low, high = stretch_interval(row, factor)
        row = replace(row, low=low, high=high)
    return row
