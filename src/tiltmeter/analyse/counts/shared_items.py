"""Items that share a control, and levels that are kept separate, before measures are computed.

A cell of the design whose item column holds several items (`de:wache|fr:garde`) is one prompt that
serves all of them as a control. Its labels count for each of these items, and the items are one
cluster in every comparison with it.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ...protocol import Protocol
from ...protocol.design.tables import SEVERAL

# a column: the items that were asked together, "" where an item was asked by itself
SHARED = "shared"


def spread_shared(frame: pl.DataFrame, protocol: Protocol) -> pl.DataFrame:
    """Copies the labels of a shared cell to each item that shares it and has prompts of its own."""
    is_shared = pl.col(protocol.item).str.contains(SEVERAL, literal=True)
    rows, unshared = frame.filter(is_shared), frame.filter(~is_shared)
    if rows.is_empty():
        return frame
    item = protocol.item
    rows = rows.with_columns(pl.col(item).alias(SHARED), pl.col(item).str.split(SEVERAL)).explode(
        item
    )
    asked = unshared.select("subject", item).unique()
    rows = rows.join(asked, on=["subject", item], how="semi", maintain_order="left")
    names = [name for name in protocol.factors if name in frame.columns and name != item]
    for name, levels in _only_levels(protocol, names).items():
        shared = pl.DataFrame(
            list(levels.items()), {item: pl.String, "own": pl.String}, orient="row"
        )
        joined = rows.join(shared, on=item, how="left", maintain_order="left")
        rows = joined.with_columns(pl.coalesce("own", name).alias(name)).drop("own")
    return pl.concat(
        [unshared.with_columns(pl.lit("").alias(SHARED)), rows.select(*frame.columns, SHARED)]
    )


def _only_levels(protocol: Protocol, names: list[str]) -> dict[str, dict[str, str]]:
    """Returns {factor: {item: its level}} for items that have one level in all their own cells."""
    levels_of: dict[str, dict[str, set[str]]] = {name: {} for name in names}
    for cell in protocol.cells:
        if SEVERAL not in cell[protocol.item]:
            for name in names:
                levels_of[name].setdefault(cell[protocol.item], set()).add(cell[name])
    return {
        name: {item: next(iter(levels)) for item, levels in items.items() if len(levels) == 1}
        for name, items in levels_of.items()
    }


def keep_apart(frame: pl.DataFrame, protocol: Protocol) -> tuple[pl.DataFrame, list[str]]:
    """Splits the frame by the factors in `apart` with several levels; returns (frame, factors)."""
    kept_apart = []
    for name in protocol.apart:
        levels = frame.filter(~pl.col(name).str.contains(SEVERAL, literal=True))[name].n_unique()
        if levels > 1:
            kept_apart.append(name)
            frame = frame.with_columns(pl.col(name).str.split(SEVERAL)).explode(name)
    return frame, kept_apart


def read_as(frame: pl.DataFrame, reads: Mapping[str, str]) -> pl.DataFrame:
    """Replaces labels of an attribute by those of its source (one per output), if these exist."""
    for name, source in reads.items():
        labels = frame.filter(pl.col("attribute") == source)
        if not labels.is_empty():
            labels = labels.with_columns(
                attribute=pl.lit(name), outputs=pl.col("weight").round().cast(pl.Int64)
            )
            frame = pl.concat(
                [
                    frame.filter(~pl.col("attribute").is_in([name, source])),
                    labels.select(frame.columns),
                ]
            )
    return frame
