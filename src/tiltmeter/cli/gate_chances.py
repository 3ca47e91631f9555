"""A plan's part about a gate: how likely claims without a tilt are to pass, and the size they
need.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..stats.power.equivalence import SURE, clusters_to_pass, pass_chance
from ..stats.quantiles import t_quantile

if TYPE_CHECKING:
    from ..api import Plan
    from ..protocol import Protocol

_ALPHA, _POWER = 0.05, 0.8  # of what a plan calls detectable


def lines(plan: Plan, protocol: Protocol, margin: str) -> Iterator[str]:
    """Yields a line for each headline share, and one for all of them together."""
    from ..analyse.claims.gate import parse_sizes, size_of

    sizes = parse_sizes(margin)
    headline = {spec.name for spec in protocol.measures if spec.headline}
    chances, most = [], 0
    for row in plan.design:
        if row.measure not in headline or row.unit != "share":
            continue
        if row.detectable is None or row.clusters is None or row.clusters < 2:
            continue
        try:
            size = size_of(sizes, row.measure, row.unit, "--margin 5")
        except UsageError:
            continue
        df = row.clusters - 1.0
        level = 1 - _ALPHA / max(1, row.tests) / 2
        se = row.detectable / (t_quantile(level, df) + t_quantile(_POWER, df))
        chances.append(pass_chance(se=se, clusters=row.clusters, margin=size))
        needed = clusters_to_pass(se=se, clusters=row.clusters, margin=size)
        most = max(most, needed)
        yield (
            f"gate: without a tilt, {row.measure} passes a margin of {100 * size:g} points in "
            f"{100 * chances[-1]:.0f} % of runs; {needed:,} items would pass in "
            f"{100 * SURE:.0f} % (now {row.clusters:,})"
        )
    if len(chances) > 1:
        yield (
            f"gate: all {len(chances)} of them pass in about {100 * math.prod(chances):.0f} % if "
            "they are independent. Shares near one half are assumed; rarer ones need fewer items"
        )
    elif chances:
        yield "gate: a share near one half is assumed; rarer ones need fewer items"
