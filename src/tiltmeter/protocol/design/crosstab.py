"""Counts of a protocol's items, as its `crosstab` declares them."""

from __future__ import annotations

from collections import Counter

from .. import Protocol
from .tables import SEVERAL


def crosstab(protocol: Protocol) -> list[list[str]]:
    """Counts items by the columns of the protocol's `crosstab`; returns a header and count rows."""
    if not protocol.crosstab:
        return []
    rows, column = list(protocol.crosstab["rows"]), str(protocol.crosstab["columns"])
    items = {
        cell[protocol.item]: cell for cell in protocol.cells if SEVERAL not in cell[protocol.item]
    }.values()
    titles = dict.fromkeys(cell[column] for cell in items)
    levels = [level for level in protocol.crosstab.get("levels", titles) if level in titles]
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for cell in items:
        counts.setdefault(tuple(cell[name] for name in rows), Counter())[cell[column]] += 1
    table = [[*rows, *levels, "all"]]
    table += [
        [*key, *(str(count[level]) for level in levels), str(count.total())]
        for key, count in counts.items()
    ]
    return table
