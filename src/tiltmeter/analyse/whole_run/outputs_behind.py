"""The outputs and labels that a query names, read from a run by the same steps as its estimates.

Sums of labels (`counts/label_counts.py`) do not keep the outputs of labels; here each label keeps
its output. An output shared by several items (`counts/shared_items.py`) counts once per item.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ... import registry
from ...protocol import Protocol, Variant
from ...protocol.design.tables import SEVERAL
from ...store import Store
from ...store.packing import id_number
from ...store.queries import outputs
from ..claims.output_query import OutputQuery
from ..counts import shared_items
from ..counts.label_counts import read_cells, with_derived
from ..counts.stored_labels import stored_labels
from ..measures.numeric_labels import number
from .measure_run import factor_names, kept_rows

Key = tuple[str, str, str]  # annotator, attribute, variant
Criteria = tuple[str, tuple[str, ...], tuple[str, ...], bool]  # what a query asks of a label
Mask = NDArray[np.bool_]
_LABELS = {
    "n": pl.Int64,
    "attribute": pl.String,
    "value": pl.String,
    "weight": pl.Float64,
    "cell": pl.Int64,
    "number": pl.UInt32,
}


class AlikeLabels(NamedTuple):
    """Labels that meet the same criteria. mask: True for their rows; labels, outputs: their numbers
    in each place of `LabelRows` (an output with several places counts in one).
    """

    mask: Mask
    labels: NDArray[np.int64]
    outputs: NDArray[np.int64]


class LabelRows:
    """Labels with their outputs, one row each, with a place: subject, mode and levels of the
    factors. The many queries of one report have few different criteria, each used in a few places:
    so labels are selected once per set of criteria, and the counts per place are added up.

    frame: output (`n`, the integer of its id), its number, attribute, value, weight, and the cell
    of the design; cells: the places of each `cell`; a cell that several items share has several.
    """

    def __init__(self, frame: pl.DataFrame, cells: pl.DataFrame) -> None:
        numbered = cells.select("cell").with_row_index("place")
        self.frame = frame.join(numbered, on="cell", maintain_order="left")
        self._cells = cells
        self._is_apart = cells["cell"].is_unique().all()  # no output lies in several places
        self._columns: dict[str, dict[str, NDArray[np.intp]]] = {}
        self._alike: dict[Criteria, AlikeLabels] = {}

    @cached_property
    def _at(self) -> NDArray[np.uint32]:
        """The index of each row's place."""
        return self.frame["place"].to_numpy().astype(np.uint32)

    def is_in(self, name: str, values: Collection[str]) -> Mask:
        """Returns, per place, True if its value in this column is among the values."""
        if name not in self._columns:
            places: dict[str, list[int]] = {}
            for place, value in enumerate(self._cells[name].fill_null("")):
                places.setdefault(value, []).append(place)
            self._columns[name] = {value: np.array(numbers) for value, numbers in places.items()}
        codes, flags = self._columns[name], np.zeros(self._cells.height, dtype=np.bool_)
        for value in values:
            if value in codes:
                flags[codes[value]] = True
        return flags

    def places(self, query: OutputQuery) -> Mask:
        """Returns, per condition in `_cells`, True if a query counts its labels."""
        flags = np.ones(self._cells.height, dtype=np.bool_)
        for name, levels in query.levels.items():
            flags &= self.is_in(name, levels)
        return flags & self.is_in("subject", query.subjects) if query.subjects else flags

    def alike(self, query: OutputQuery) -> AlikeLabels:
        """Returns the labels, in any place, that meet a query's criteria; computes them once."""
        key = criteria(query)
        if key not in self._alike:
            mask = self.frame.select(self._counts(query)).to_series().to_numpy()
            is_counted = np.zeros(len(self._place_of), dtype=np.bool_)
            is_counted[self._numbers[mask]] = True
            labels, outputs = (
                np.bincount(places, minlength=self._cells.height)
                for places in (self._at[mask], self._place_of[is_counted])
            )
            self._alike[key] = AlikeLabels(mask, labels, outputs)
        return self._alike[key]

    def _counts(self, query: OutputQuery) -> pl.Expr:
        """Returns a polars condition for labels that meet a query's criteria, apart from places."""
        value, attribute = (pl.col(name).fill_null("") for name in ("value", "attribute"))
        condition = ~value.is_in(query.without)
        if query.attribute:
            condition &= attribute == query.attribute
        else:
            condition &= ~attribute.is_in(query.without)
        if query.among:
            condition &= value.is_in(query.among)
        if query.counts == "numbers":
            values = self.frame["value"].drop_nulls().unique()
            condition &= value.is_in([one for one in values if number(one) is not None])
        return condition

    def lie_in(self, places: Mask, rows: NDArray[np.intp] | slice = slice(None)) -> Mask:
        """Returns, per row, True if the row lies in one of the places."""
        flags: Mask = places[self._at[rows]]
        return flags

    def select(self, query: OutputQuery, places: Mask) -> pl.DataFrame:
        """Returns the rows in these places that a query counts, with the places' columns."""
        selected = self.frame.filter(pl.Series(self.alike(query).mask & self.lie_in(places)))
        where = self._cells[selected["place"]].drop("cell")
        return pl.concat([selected.drop("place", "cell", "number"), where], how="horizontal")

    def count_outputs(self, query: OutputQuery, places: Mask) -> int:
        """Counts the outputs in these places that have a label that a query counts."""
        matching = self.alike(query)
        if self._is_apart:
            return int(matching.outputs[places].sum())
        mask = matching.mask & self.lie_in(places)
        return len(np.unique(self._numbers[mask]))

    @cached_property
    def _place_of(self) -> NDArray[np.uint32]:
        """The place of each output, by its number; one of them if it has several."""
        places = np.zeros(self._numbers.max(initial=0) + 1, dtype=np.uint32)
        places[self._numbers] = self._at
        return places

    @cached_property
    def _numbers(self) -> NDArray[np.uint32]:
        return self.frame["number"].to_numpy().astype(np.uint32)

    def sort_some(self, some: Mapping[int, str]) -> NDArray[np.intp]:
        """Returns the indices of some outputs' rows, sorted by id, likeliest label first."""
        rows = self.frame.with_row_index("row").filter(pl.col("n").is_in(list(some)))
        rows = rows.with_columns(id=pl.col("n").replace_strict(some, return_dtype=pl.String))
        ordered = rows.sort("id", "weight", descending=[False, True], maintain_order=True)
        return ordered["row"].to_numpy().astype(np.intp)


def criteria(query: OutputQuery) -> Criteria:
    """Returns a query's criteria for labels, apart from its places."""
    return query.attribute, query.among, query.without, query.counts == "numbers"


class Shown(NamedTuple):
    """The outputs that a query counted. total: their number; here: (output, its labels) for the
    requested outputs; labels: a key that is equal for queries that counted the same labels.
    """

    total: int
    here: tuple[tuple[str, str], ...]
    labels: object


class SomeLabels(NamedTuple):
    """Labels of some outputs. rows: their indices in the frame; texts: (output, label) per row."""

    rows: NDArray[np.intp]
    texts: list[tuple[str, str]]


@dataclass
class Counted:
    """The outputs behind the queries of a run, whose labels are read once for all queries."""

    store: Store
    protocol: Protocol
    _rows: dict[Key, LabelRows] = field(default_factory=dict)
    _some: dict[tuple[Key, Criteria], SomeLabels] = field(default_factory=dict)
    _shown: dict[object, Shown] = field(default_factory=dict)

    def labels(self, query: OutputQuery) -> pl.DataFrame:
        """Returns the denominator's labels: n, subject, factors, attribute, value, weight."""
        return self._read_rows(query).select(query, self._places(query))

    def numbers(self, query: OutputQuery) -> list[int]:
        """Returns the sorted integers of the ids of the outputs that a query counts."""
        return self.labels(query)["n"].unique().sort().to_list()

    def outputs(self, query: OutputQuery) -> list[str]:
        """Returns the sorted ids of the outputs that a query counts."""
        return sorted(map(self._ids.__getitem__, self.numbers(query)))

    @cached_property
    def _ids(self) -> dict[int, str]:
        return {id_number(one): one for one in outputs.ids(self.store)}

    def shown(self, query: OutputQuery, some: Collection[str]) -> Shown:
        """Returns the number of counted outputs, and labels of those among `some`. Cached."""
        rows, places = self._read_rows(query), self._places(query)
        asked, alike = criteria(query), rows.alike(query)
        plain = rows.alike(OutputQuery(query.annotator, query.attribute))
        has_every = bool(alike.labels[places].sum() == plain.labels[places].sum())
        key = (_key(query), places.tobytes(), None if has_every else asked)
        if key not in self._shown:
            part = self._read_some(query, some)
            rows_kept = np.flatnonzero(rows.lie_in(places, part.rows))
            texts_of: dict[str, list[str]] = {}
            for place in rows_kept:
                output, text = part.texts[place]
                texts_of.setdefault(output, []).append(text)
            shown_here = tuple((output, " · ".join(texts)) for output, texts in texts_of.items())
            self._shown[key] = Shown(rows.count_outputs(query, places), shown_here, key)
        return self._shown[key]

    def n(self, query: OutputQuery) -> float:
        """Computes n of an estimate: a sum of weights, or a number of outputs, prompts or cases."""
        rows = self.labels(query)
        factors = dict.fromkeys((*self.protocol.factors, self.protocol.item))
        if query.counts in ("labels", "numbers"):
            return float(rows["weight"].sum())
        if query.counts == "outputs":
            return float(rows.select("n", *factors).n_unique())
        if query.counts == "prompts":
            chosen = self.protocol.variants[query.variant]
            names = factor_names(self.protocol, chosen)
            return float(rows.select("subject", *names).n_unique())
        cases = rows.group_by("subject", *factors, "attribute").agg(pl.col("n").n_unique())
        return float(cases.filter(pl.col("n") > 1).height)

    def _places(self, query: OutputQuery) -> Mask:
        """Marks places that a query counts; with `having`, items need a value in that column."""
        rows = self._read_rows(query)
        if not query.having:
            return rows.places(query)
        names = [n for n in query.levels if n in self.protocol.factors]
        items = {
            cell[self.protocol.item]
            for cell in self.protocol.cells
            if cell[query.having].strip()
            and all({cell[n], *cell[n].split(SEVERAL)} & {*query.levels[n]} for n in names)
        }
        return rows.places(query) & rows.is_in(self.protocol.item, items)

    def _read_some(self, query: OutputQuery, some: Collection[str]) -> SomeLabels:
        """Returns the labels of some outputs that meet a query's criteria, sorted by output."""
        key = (_key(query), criteria(query))
        if key not in self._some:
            labels, ids = self._read_rows(query), {id_number(one): one for one in some}
            sorted_rows = labels.sort_some(ids)
            rows = sorted_rows[labels.alike(query).mask[sorted_rows]]
            chosen = labels.frame.select("n", "value", "weight")
            # given an array, polars would import numpy.ma, which takes as long as all this
            rows_read = chosen[rows.tolist()].rows() if len(rows) else []
            texts = [
                (ids[n], f"{value}" if weight == 1 else f"{value} {weight:.2f}")
                for n, value, weight in rows_read
            ]
            self._some[key] = SomeLabels(rows, texts)
        return self._some[key]

    def _read_rows(self, query: OutputQuery) -> LabelRows:
        key = _key(query)
        if key not in self._rows:
            self._rows[key] = self._read(*key)
        return self._rows[key]

    @cached_property
    def _all(self) -> dict[str, pl.DataFrame]:
        """The labels of each annotator: n, number, cell, attribute, value, weight."""
        labels, places = stored_labels(self.store), self._cells[1].rename({"place": "cell"})
        return {
            annotator: rows.join(places, on="n", how="left", maintain_order="left").with_columns(
                pl.col("n").rle_id().alias("number"),
                *(labels.texts.gather(rows[name]).alias(name) for name in ("attribute", "value")),
            )
            for annotator, rows in labels.by_annotator().items()
        }

    def _of_annotator(self, annotator: str) -> pl.DataFrame:
        return self._all[annotator] if annotator in self._all else pl.DataFrame(schema=_LABELS)

    @cached_property
    def _cells(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        return read_cells(
            self.store, tuple(dict.fromkeys((*self.protocol.factors, self.protocol.item)))
        )

    def _read(self, annotator: str, attribute: str, variant: str) -> LabelRows:
        chosen = self.protocol.variants[variant]
        sources = _sources(self.protocol, chosen, attribute) if attribute else ()
        cells, _ = self._cells
        frame = self._of_annotator(annotator).with_columns(outputs=pl.lit(1, pl.Int64))
        if attribute:
            frame = frame.filter(pl.col("attribute").is_in(list(sources)))
        if "language" in cells.columns:
            frame = frame.with_columns(language=cells["language"].gather(frame["cell"]))
        attributes = (attribute, chosen.reads.get(attribute, attribute)) if attribute else ()
        frame = with_derived(frame, self.protocol, attributes).drop("language", strict=False)
        labelled = cells.with_row_index("cell").filter(
            pl.col("cell").is_in(frame["cell"].implode())
        )
        selected = kept_rows(labelled, chosen.where)
        if selected.height < labelled.height:
            frame = frame.filter(pl.col("cell").is_in(selected["cell"].implode()))
        spread = shared_items.spread_shared(selected, self.protocol)
        spread_rows = shared_items.keep_apart(spread, self.protocol)[0]
        return LabelRows(shared_items.read_as(frame, chosen.reads), spread_rows)


def _key(query: OutputQuery) -> Key:
    return query.annotator, query.attribute, query.variant


def _sources(protocol: Protocol, variant: Variant, attribute: str) -> Sequence[str]:
    """Returns the stored attributes that an attribute can be derived from, itself included."""
    attributes = [attribute, variant.reads.get(attribute, attribute)]
    for spec in protocol.instruments:
        for derived in registry.instrument_kind(spec.kind, spec.name).derived(spec):
            attributes += [derived.source] if derived.attribute in attributes else []
    return tuple(dict.fromkeys(attributes))
