"""Stored labels → the counts that measures start from: a row for each stratum, levels of factors,
attribute and value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import polars as pl

from ... import registry
from ...protocol import Protocol
from ...protocol.design.cue_words import lineup_column
from ...store import Store
from ...store.queries import label_sets

PIECE = 10_000  # outputs whose labels are read and summed at a time
_KEY = ("annotator", "place", "attribute", "value")
_LISTS = ("annotator", "attribute", "value")
_SETS = {**dict.fromkeys(("output", *_LISTS), pl.String), "weight": pl.Float64}
_WHOSE = ("output", "annotator")
Columns: TypeAlias = dict[tuple[str, ...], dict[str, str]]


def count_labels(store: Store, protocol: Protocol, factors: Sequence[str] = ()) -> pl.DataFrame:
    """Labels summed by stratum, factors, attribute and value: one row each, with `weight` and the
    number of `outputs`.

    factors: those that are kept apart, () for all of the design. `outputs` counts an output once
    for each annotator (on its first label), so that its sum over a stratum is n. Rows are in the
    order of the trials' factors, as stored.
    """
    names = tuple(factors or dict.fromkeys((*protocol.factors, protocol.item)))
    names = tuple(dict.fromkeys((*names, *cue_columns(protocol))))
    state = store.state()
    cells, places = read_cells(store, names, protocol)
    sums = _sum_parts(list(_sums(store, places)))
    sums = sums.with_columns(subject=cells["subject"].gather(sums["place"])).sort("subject", *_KEY)
    found = pl.concat([sums.drop("subject", "place"), cells[sums["place"]]], how="horizontal")
    whose = found.drop_nulls("subject").group_by("subject", "mode", "annotator")
    label_sets.remember_labelled(store, whose.agg(pl.col("outputs").sum()).rows(), state)
    return found.select(
        "subject", "annotator", "mode", "attribute", "value", *names, "weight", "outputs"
    )


def _sums(store: Store, places: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Sums of weights, and of outputs, for one piece of the labels after another (an empty one
    where there are none).
    """
    rows, last = label_sets.by_output(store), ("", "")
    while True:
        piece = list(islice(rows, PIECE))
        sets = by_columns(_SETS, piece)
        sets = sets.join(take_near(places, sets["output"]), on="output", maintain_order="left")
        each = sets.with_columns(pl.col(_LISTS).str.json_decode(pl.List(pl.String))).explode(_LISTS)
        before = (
            pl.col(name).shift(fill_value=one) for name, one in zip(_WHOSE, last, strict=True)
        )
        is_first = pl.any_horizontal(
            pl.col(name) != one for name, one in zip(_WHOSE, before, strict=True)
        )
        yield _sum_parts([each.select(*_KEY, "weight", outputs=is_first.cast(pl.Int64))])
        if len(piece) < PIECE:
            return
        last = each.select(_WHOSE).row(-1)


def take_near(places: pl.DataFrame, outputs: pl.Series) -> pl.DataFrame:
    """The rows of `places`, which is in the order of its outputs, from the first of these outputs
    to the last: a join takes up the whole of what it looks in.
    """
    if outputs.is_empty():
        return places.clear()
    ends = pl.Series([outputs.min(), outputs.max()], dtype=pl.String)
    first, last = places["output"].search_sorted(ends)
    return places[first : last + 1]


def _sum_parts(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return (
        pl.concat(parts).group_by(_KEY, maintain_order=True).agg(pl.col("weight", "outputs").sum())
    )


def cue_columns(protocol: Protocol) -> tuple[str, ...]:
    """The columns of cue words, of their sets, and of line-ups, which are kept apart in counts."""
    words = [name for cue in protocol.cues.values() for name in cue.columns]
    return tuple(dict.fromkeys((*words, *filter(None, [lineup_column(protocol)]))))


def read_cells(
    store: Store, names: Sequence[str], protocol: Protocol | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The different (subject, mode, *levels of the factors) in their order, and each output's
    `place` among them, by output.

    protocol: if some names are columns of its tables that are no factors, such as cue words. These
    are looked up by the prompt; "" for a prompt that is not of its design.
    """
    known, by_text = ({}, False) if protocol is None else _columns_by_place(protocol, names)
    order = [] if protocol is None else _factors(protocol)
    designs: dict[tuple[str, ...], int] = {}
    rows = store.iter_prompts() if by_text else store.iter_trials()
    outputs = pl.concat(_numbered(rows, designs))
    asked = ("subject", "mode", "factors", "prompt")[: 4 if by_text else 3]
    different = by_columns(dict.fromkeys(asked, pl.String), list(designs)).with_row_index("design")
    places: dict[tuple[str, ...], int] = {}
    found = []
    for number, subject, mode, factors, *prompt in different.sort(asked).iter_rows():
        levels = json.loads(factors)
        if known:
            levels |= known.get((*(levels.get(name, "") for name in order), *prompt), {})
        cell = (subject, mode, *(levels.get(name, "") for name in names))
        found.append((number, places.setdefault(cell, len(places))))
    of_design = by_columns({"design": pl.Int64, "place": pl.Int64}, found)
    cells = pl.DataFrame(
        list(places), dict.fromkeys(("subject", "mode", *names), pl.String), orient="row"
    )
    placed = outputs.join(of_design, on="design", maintain_order="left")
    return cells, placed.select("output", "place")


def _columns_by_place(protocol: Protocol, names: Sequence[str]) -> tuple[Columns, bool]:
    """The columns that are no factors, by the levels of a prompt, and by its text too if the levels
    do not tell; True if they do not. {} if all names are factors.
    """
    factors = _factors(protocol)
    columns = [name for name in names if name not in factors]
    if not columns:
        return {}, False
    by_levels: dict[tuple[str, ...], list[str]] = {}
    for cell in protocol.cells:
        own = [cell.get(name, "") for name in columns]
        if by_levels.setdefault(tuple([cell[name] for name in factors]), own) != own:
            break
    else:
        return {
            place: dict(zip(columns, own, strict=True)) for place, own in by_levels.items()
        }, False
    return {
        (*(cell[name] for name in factors), protocol.prompt_text(cell)): {
            name: cell.get(name, "") for name in columns
        }
        for cell in protocol.cells
    }, True


def _factors(protocol: Protocol) -> list[str]:
    return sorted({*protocol.factors, protocol.item})


def _numbered(
    rows: Iterator[tuple[str, ...]], designs: dict[tuple[str, ...], int]
) -> Iterator[pl.DataFrame]:
    """The outputs with the number of their (subject, mode, factors), piece by piece; at least one.
    What they have in common is not held a million times.

    designs: the numbers, in which those that are met are put down.
    """
    schema = {"output": pl.String, "design": pl.Int64}
    while True:
        piece = list(islice(rows, PIECE))
        yield by_columns(
            schema, [(row[0], designs.setdefault(row[1:], len(designs))) for row in piece]
        )
        if len(piece) < PIECE:
            return


def by_columns(schema: Mapping[str, Any], rows: Sequence[Sequence[Any]]) -> pl.DataFrame:
    """Rows as a frame; by columns, which polars takes up far quicker than row by row."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pl.DataFrame(dict(zip(schema, columns, strict=True)), schema)


def with_derived(
    rows: pl.DataFrame, protocol: Protocol, wanted: Sequence[str] = ()
) -> pl.DataFrame:
    """With the attributes that follow from others (a word's class): more rows, whose `outputs` are
    counted already. wanted: the attributes that are kept, () for all.
    """
    language = pl.col("language") if "language" in rows.columns else pl.lit("").alias("language")
    added = []
    kinds = [
        (registry.instrument_kind(spec.kind, spec.name), spec) for spec in protocol.instruments
    ]
    for derived in (one for kind, spec in kinds for one in kind.derived(spec)):
        if wanted and derived.attribute not in wanted:
            continue
        found = rows.filter(pl.col("attribute") == derived.source)
        known = found.select(language, "value").unique()
        values = pl.DataFrame(
            [
                (level, value, list(derived.values(level, value)))
                for level, value in known.iter_rows()
            ],
            {"level": pl.String, "value": pl.String, "values": pl.List(pl.String)},
            orient="row",
        )
        found = found.with_columns(level=language).join(
            values, on=["level", "value"], how="left", maintain_order="left"
        )
        found = found.explode("values").with_columns(
            value="values", attribute=pl.lit(derived.attribute), outputs=pl.lit(0, pl.Int64)
        )
        added.append(found.select(rows.columns))
    if wanted:
        rows = rows.filter(pl.col("attribute").is_in(list(wanted)))
    return pl.concat([rows, *added]) if added else rows
