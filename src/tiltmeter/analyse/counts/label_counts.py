"""Stored labels → counts: one row per stratum, levels of factors, attribute and value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

import polars as pl

from ... import registry
from ...protocol import Protocol
from ...protocol.design.cue_words import lineup_column
from ...store import Store
from ...store.database import State
from ...store.queries import label_sets, trials
from .stored_labels import MOST_KEPT, NAMES, PIECE, by_columns, stored_labels

_KEY = ("annotator", "place", "attribute", "value")
_WHOSE = ("n", "annotator")
RUNS_KEPT = 4  # whose outputs' designs stay in memory
# Of this process, by a run's file, what of it is read and what of its trials: its state then.
_KEPT: dict[object, tuple[State, tuple[pl.DataFrame, pl.DataFrame]]] = {}
Columns: TypeAlias = dict[tuple[str, ...], dict[str, str]]


def count_labels(store: Store, protocol: Protocol, factors: Sequence[str] = ()) -> pl.DataFrame:
    """Sums labels by stratum, factors, attribute and value. Each sum is a row with the labels'
    `weight` and the number of `outputs`.

    factors: the factors to keep separate, () for all. `outputs` counts an output once per annotator
    (on its first label), so that its sum over a stratum is n. Rows are in the order of the trials'
    factors, as stored.
    """
    names = tuple(factors or dict.fromkeys((*protocol.factors, protocol.item)))
    names = tuple(dict.fromkeys((*names, *cue_columns(protocol))))
    state = store.state()
    cells, places = read_cells(store, names, protocol)
    labels = stored_labels(store)
    sums = _sum_parts(list(_sums(labels.pieces, places)))
    sums = sums.with_columns(labels.texts.gather(sums[name]).alias(name) for name in NAMES)
    sums = sums.with_columns(subject=cells["subject"].gather(sums["place"])).sort("subject", *_KEY)
    counted = pl.concat([sums.drop("subject", "place"), cells[sums["place"]]], how="horizontal")
    whose = counted.drop_nulls("subject").group_by("subject", "mode", "annotator")
    label_sets.remember_labelled(store, whose.agg(pl.col("outputs").sum()).rows(), state)
    return counted.select(
        "subject", "annotator", "mode", "attribute", "value", *names, "weight", "outputs"
    )


def _sums(pieces: Iterable[pl.DataFrame], places: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yields sums of weights and of outputs by indices of words, for each piece of the labels."""
    last: tuple[int | None, int | None] = (None, None)
    for piece in pieces:
        labels = piece.join(take_near(places, piece["n"]), on="n", maintain_order="left")
        before = (
            pl.col(name).shift(fill_value=one) for name, one in zip(_WHOSE, last, strict=True)
        )
        is_first = pl.any_horizontal(
            pl.col(name).ne_missing(one) for name, one in zip(_WHOSE, before, strict=True)
        )
        yield _sum_parts([labels.select(*_KEY, "weight", outputs=is_first.cast(pl.Int64))])
        last = labels.select(_WHOSE).row(-1) if len(labels) else last


def take_near(places: pl.DataFrame, outputs: pl.Series) -> pl.DataFrame:
    """Returns the rows of `places`, sorted by output, that lie between the smallest and the largest
    of these outputs, as a join with all of `places` would be slow. outputs: their integers.
    """
    if outputs.is_empty():
        return places.clear()
    ends = pl.Series([outputs.min(), outputs.max()], dtype=pl.Int64)
    first, last = places["n"].search_sorted(ends)
    return places[first : last + 1]


def _sum_parts(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return (
        pl.concat(parts).group_by(_KEY, maintain_order=True).agg(pl.col("weight", "outputs").sum())
    )


def cue_columns(protocol: Protocol) -> tuple[str, ...]:
    """Returns the columns of cue words, cue-word sets and line-ups, which are never summed over."""
    words = [name for cue in protocol.cues.values() for name in cue.columns]
    return tuple(dict.fromkeys((*words, *filter(None, [lineup_column(protocol)]))))


def read_cells(
    store: Store, names: Sequence[str], protocol: Protocol | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Returns two frames: the distinct (subject, mode, *levels of the factors); and per output, the
    integer of its trial (`n`) with the index of its row in the first frame (`place`).

    protocol: needed if some names are columns of its tables but not factors, such as cue words.
    These are looked up by the prompt; "" for a prompt that is not of this design.
    """
    columns, by_text = ({}, False) if protocol is None else _columns_by_place(protocol, names)
    order = [] if protocol is None else _factors(protocol)
    outputs, different = _designs(store, ("subject", "mode", "factors", "prompt")[: 3 + by_text])
    places: dict[tuple[str, ...], int] = {}
    numbered = []
    for number, subject, mode, factors, *prompt in different.iter_rows():
        levels = json.loads(factors)
        if columns:
            levels |= columns.get((*(levels.get(name, "") for name in order), *prompt), {})
        cell = (subject, mode, *(levels.get(name, "") for name in names))
        numbered.append((number, places.setdefault(cell, len(places))))
    of_design = by_columns({"design": pl.Int64, "place": pl.Int64}, numbered)
    cells = pl.DataFrame(
        list(places), dict.fromkeys(("subject", "mode", *names), pl.String), orient="row"
    )
    placed = outputs.join(of_design, on="design", maintain_order="left")
    return cells, placed.select("n", "place")


def _columns_by_place(protocol: Protocol, names: Sequence[str]) -> tuple[Columns, bool]:
    """Returns ({key of a prompt: its values of the names that are not factors}, has_text). Keys are
    a prompt's levels; they end with its text (has_text) if prompts with equal levels differ.
    """
    factors = _factors(protocol)
    columns = [name for name in names if name not in factors]
    if not columns:
        return {}, False
    by_levels: dict[tuple[str, ...], list[str]] = {}
    for cell in protocol.cells:
        values = [cell.get(name, "") for name in columns]
        if by_levels.setdefault(tuple([cell[name] for name in factors]), values) != values:
            break
    else:
        return {
            place: dict(zip(columns, values, strict=True)) for place, values in by_levels.items()
        }, False
    return {
        (*(cell[name] for name in factors), protocol.prompt_text(cell)): {
            name: cell.get(name, "") for name in columns
        }
        for cell in protocol.cells
    }, True


def _factors(protocol: Protocol) -> list[str]:
    return sorted({*protocol.factors, protocol.item})


def _designs(store: Store, asked: tuple[str, ...]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Returns two frames: the outputs, each with the number of its `design`; and the designs with
    their texts, sorted by these. Cached until the run changes, if its outputs are few.
    """
    key, state = (store.path, store.part, asked), store.state()
    cached = _KEPT.get(key)
    if cached and cached[0] == state:
        return cached[1]
    designs: dict[tuple[int, ...], int] = {}
    outputs = pl.concat(_numbered(trials.iter_designs(store, asked), designs))
    texts = trials.design_texts(store, asked, list(designs))
    different = by_columns(dict.fromkeys(asked, pl.String), texts).with_row_index("design")
    result = outputs, different.sort(asked)
    if outputs.height <= MOST_KEPT:
        _KEPT.pop(key if key in _KEPT or len(_KEPT) < RUNS_KEPT else next(iter(_KEPT)), None)
        _KEPT[key] = state, result
    return result


def _numbered(
    rows: Iterator[tuple[int, ...]], designs: dict[tuple[int, ...], int]
) -> Iterator[pl.DataFrame]:
    """Yields (output, number of its design), in pieces. A design is a (subject, mode, factors); its
    number saves the memory of repeated texts.

    designs: the numbers so far, to which new ones are added.
    """
    schema = {"n": pl.Int64, "design": pl.Int64}
    while True:
        piece = list(islice(rows, PIECE))
        yield by_columns(
            schema, [(row[0], designs.setdefault(row[1:], len(designs))) for row in piece]
        )
        if len(piece) < PIECE:
            return


def with_derived(
    rows: pl.DataFrame, protocol: Protocol, wanted: Sequence[str] = ()
) -> pl.DataFrame:
    """Adds attributes derived from others (such as a word's class) as rows with 0 `outputs`, since
    the source's rows count these already. wanted: the attributes to keep, () for all.
    """
    language = pl.col("language") if "language" in rows.columns else pl.lit("").alias("language")
    added = []
    kinds = [
        (registry.instrument_kind(spec.kind, spec.name), spec) for spec in protocol.instruments
    ]
    for derived in (one for kind, spec in kinds for one in kind.derived(spec)):
        if wanted and derived.attribute not in wanted:
            continue
        derived_rows = rows.filter(pl.col("attribute") == derived.source)
        pairs = derived_rows.select(language, "value").unique()
        values = pl.DataFrame(
            [
                (level, value, list(derived.values(level, value)))
                for level, value in pairs.iter_rows()
            ],
            {"level": pl.String, "value": pl.String, "values": pl.List(pl.String)},
            orient="row",
        )
        derived_rows = derived_rows.with_columns(level=language).join(
            values, on=["level", "value"], how="left", maintain_order="left"
        )
        derived_rows = derived_rows.explode("values").with_columns(
            value="values", attribute=pl.lit(derived.attribute), outputs=pl.lit(0, pl.Int64)
        )
        added.append(derived_rows.select(rows.columns))
    if wanted:
        rows = rows.filter(pl.col("attribute").is_in(list(wanted)))
    return pl.concat([rows, *added]) if added else rows
