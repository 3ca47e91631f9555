"""The outputs and labels that a query names, read from a run by the same steps as its estimates.

Sums of labels (`counting.py`) have forgotten whose they were; here each keeps its output. An output
that several items share (`pooling.py`) is counted once for each of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .. import registry
from ..protocol import Protocol, Variant
from ..protocol.tables import SEVERAL
from ..store import Store
from ..store.queries import labels
from ..store.queries.labels import StoredLabel
from . import pooling
from .counting import PIECE, by_columns, read_cells, with_derived
from .numbers import number
from .queries import OutputQuery
from .strata import factor_names, kept_rows

Key = tuple[str, str, str]  # annotator, attribute, variant
Mask = NDArray[np.bool_]


class LabelRows:
    """Labels with their outputs, a row each. Rows that differ in their output and weight alone are
    of one kind, and queries pick kinds: of a design of hundreds of prompts there are thousands of
    rows, which are picked a thousand times for one report.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        self._columns: dict[str, tuple[dict[str, int], NDArray[np.uint32]]] = {}

    @cached_property
    def _kinds(self) -> tuple[pl.DataFrame, NDArray[np.uint32]]:
        """What differs between kinds, as text; and the kind of each row."""
        names = [name for name in self.frame.columns if name not in ("output", "weight", "outputs")]
        columns = self.frame.select(pl.col(names).cast(pl.String).fill_null(""))
        varied = [name for name in names if columns[name].n_unique() > 1] or names[:1]
        kinds = columns.unique(varied, maintain_order=True)
        numbered = kinds.select(varied).with_row_index("kind")
        found = columns.select(varied).join(numbered, on=varied, how="left", maintain_order="left")
        return kinds, found["kind"].to_numpy().astype(np.uint32)

    def _is_in(self, name: str, values: Collection[str]) -> Mask:
        """True for the kinds whose column has one of the values."""
        if name not in self._columns:
            column = self._kinds[0][name]
            places = {value: place for place, value in enumerate(column.unique())}
            codes = column.replace_strict(
                list(places), list(places.values()), return_dtype=pl.UInt32
            )
            self._columns[name] = places, codes.to_numpy().astype(np.uint32)
        places, numbers = self._columns[name]
        wanted = np.zeros(len(places), dtype=np.bool_)
        wanted[[places[value] for value in values if value in places]] = True
        found: Mask = wanted[numbers]
        return found

    def _kinds_of(self, query: OutputQuery) -> Mask:
        """True for the kinds that a query counts."""
        kept = ~self._is_in("value", query.without)
        for name, levels in query.levels.items():
            kept &= self._is_in(name, levels)
        if query.subjects:
            kept &= self._is_in("subject", query.subjects)
        if query.attribute:
            kept &= self._is_in("attribute", (query.attribute,))
        else:
            kept &= ~self._is_in("attribute", query.without)
        if query.among:
            kept &= self._is_in("value", query.among)
        if query.counts == "numbers":
            known = self._kinds[0]["value"].unique()
            kept &= self._is_in("value", [one for one in known if number(one) is not None])
        return kept

    def mask(self, query: OutputQuery) -> Mask:
        """True for the rows that a query counts."""
        found: Mask = self._kinds_of(query)[self._kinds[1]]
        return found

    def select(self, query: OutputQuery) -> pl.DataFrame:
        """The rows that a query counts."""
        return self.frame.filter(pl.Series(self.mask(query)))

    @cached_property
    def texts(self) -> list[tuple[str, str, float]]:
        """Output, value and weight of each row."""
        return self.frame.select("output", "value", "weight").rows()

    @cached_property
    def _output_numbers(self) -> NDArray[np.uint32]:
        return self.frame["output"].rank("dense").to_numpy().astype(np.uint32)

    @cached_property
    def _sizes(self) -> NDArray[np.int64] | None:
        """How many outputs each kind has, where every row is of another output."""
        if self.frame["output"].n_unique() < self.frame.height:
            return None
        return np.bincount(self._kinds[1], minlength=self._kinds[0].height)

    def count_outputs(self, query: OutputQuery) -> int:
        """How many outputs the rows have that a query counts."""
        if self._sizes is not None:
            return int(self._sizes[self._kinds_of(query)].sum())
        mask = self.mask(query)
        seen = np.zeros(len(mask) + 1, dtype=np.bool_)
        seen[self._output_numbers[mask]] = True
        return int(seen.sum())


@dataclass
class Counted:
    """What the queries of one run select. Labels are read once for an annotator and attribute."""

    store: Store
    protocol: Protocol
    _rows: dict[Key, LabelRows] = field(default_factory=dict)
    _some: dict[Key, LabelRows] = field(default_factory=dict)
    _all: dict[str, pl.DataFrame] = field(default_factory=dict)

    def labels(self, query: OutputQuery) -> pl.DataFrame:
        """The labels that the denominator counts: a row for each, with its output, subject,
        factors, attribute, value and weight.
        """
        return self._with_column(self._read_rows(query).select(query), query)

    def outputs(self, query: OutputQuery) -> list[str]:
        """The ids of the outputs that were counted, in their order."""
        return self.labels(query)["output"].unique().sort().to_list()

    def hits(self, query: OutputQuery) -> list[str]:
        """The ids of the outputs of which a label counts as a hit."""
        found = self.labels(query).filter(pl.col("value").is_in(list(query.values)))
        return found["output"].unique().sort().to_list()

    def shown(self, query: OutputQuery, some: Collection[str]) -> tuple[int, list[tuple[str, str]]]:
        """How many outputs were counted, and of some outputs (output, its labels) of those that
        were.
        """
        rows = self._read_rows(query)
        total = len(self.outputs(query)) if query.having else rows.count_outputs(query)
        found: dict[str, list[str]] = {}
        part = self._read_some(query, some)
        if query.having:
            kept = LabelRows(self._with_column(part.select(query), query)).texts
        else:  # a filter of polars each would cost more than all else of a report
            kept = [part.texts[place] for place in np.flatnonzero(part.mask(query))]
        for output, value, weight in kept:
            share = "" if weight == 1 else f" {weight:.2f}"
            found.setdefault(output, []).append(f"{value}{share}")
        return total, [(output, " · ".join(values)) for output, values in found.items()]

    def n(self, query: OutputQuery) -> float:
        """What the estimate's n must be: the sum of weights, or the number of what is counted."""
        rows = self.labels(query)
        factors = dict.fromkeys((*self.protocol.factors, self.protocol.item))
        if query.counts in ("labels", "numbers"):
            return float(rows["weight"].sum())
        if query.counts == "outputs":
            return float(rows.select("output", *factors).n_unique())
        if query.counts == "prompts":
            chosen = self.protocol.variants[query.variant]
            names = factor_names(self.protocol, chosen)
            return float(rows.select("subject", *names).n_unique())
        cases = rows.group_by("subject", *factors, "attribute").agg(pl.col("output").n_unique())
        return float(cases.filter(pl.col("output") > 1).height)

    def _with_column(self, rows: pl.DataFrame, query: OutputQuery) -> pl.DataFrame:
        """The rows of items that have a value in the column of the tables that a query names."""
        if not query.having:
            return rows
        names = [n for n in query.levels if n in self.protocol.factors]
        items = {
            cell[self.protocol.item]
            for cell in self.protocol.cells
            if cell[query.having].strip()
            and all({cell[n], *cell[n].split(SEVERAL)} & {*query.levels[n]} for n in names)
        }
        return rows.filter(pl.col(self.protocol.item).is_in(list(items)))

    def _read_some(self, query: OutputQuery, some: Collection[str]) -> LabelRows:
        """The labels that some outputs have, by output, the likeliest first."""
        key = (query.annotator, query.attribute, query.variant)
        if key not in self._some:
            rows = self._read_rows(query).frame.filter(pl.col("output").is_in(list(some)))
            self._some[key] = LabelRows(
                rows.sort("output", "weight", descending=[False, True], maintain_order=True)
            )
        return self._some[key]

    def _read_rows(self, query: OutputQuery) -> LabelRows:
        key = (query.annotator, query.attribute, query.variant)
        if key not in self._rows:
            self._rows[key] = LabelRows(self._read(*key))
        return self._rows[key]

    def _stored(self, annotator: str, attributes: Sequence[str]) -> pl.DataFrame:
        """What an annotator said of some attributes, or of all; picked from all where those were
        read already.
        """
        if annotator in self._all:
            every = self._all[annotator]
            wanted = pl.col("attribute").is_in(list(attributes))
            return every.filter(wanted) if attributes else every
        frame = pl.concat(_pieces(labels.of_annotator(self.store, annotator, attributes)))
        if not attributes:
            self._all[annotator] = frame
        return frame

    @cached_property
    def _cells(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        return read_cells(
            self.store, tuple(dict.fromkeys((*self.protocol.factors, self.protocol.item)))
        )

    def _read(self, annotator: str, attribute: str, variant: str) -> pl.DataFrame:
        chosen = self.protocol.variants[variant]
        wanted = _sources(self.protocol, chosen, attribute) if attribute else ()
        cells, places = self._cells
        frame = self._stored(annotator, wanted).with_columns(outputs=pl.lit(1, pl.Int64))
        frame = frame.join(places, on="output", maintain_order="left")
        if "language" in cells.columns:
            frame = frame.with_columns(language=cells["language"].gather(frame["place"]))
        used = (attribute, chosen.reads.get(attribute, attribute)) if attribute else ()
        frame = with_derived(frame, self.protocol, used)
        own = frame.drop("place", "language", strict=False)
        frame = pl.concat([own, cells[frame["place"]]], how="horizontal")
        frame = pooling.read_as(kept_rows(frame, chosen.where), chosen.reads)
        return pooling.keep_apart(pooling.spread_shared(frame, self.protocol), self.protocol)[0]


def _pieces(rows: Iterator[StoredLabel]) -> Iterator[pl.DataFrame]:
    """Labels as frames, so that few of them at a time are objects of Python; at least one."""
    schema = {**dict.fromkeys(StoredLabel._fields, pl.String), "weight": pl.Float64}
    piece = list(islice(rows, PIECE))
    yield by_columns(schema, piece)
    while len(piece) == PIECE:
        piece = list(islice(rows, PIECE))
        yield by_columns(schema, piece)


def _sources(protocol: Protocol, variant: Variant, attribute: str) -> Sequence[str]:
    """The stored attributes that an attribute is counted from."""
    found = [attribute, variant.reads.get(attribute, attribute)]
    for spec in protocol.instruments:
        for derived in registry.instrument_kind(spec.kind, spec.name).derived(spec):
            found += [derived.source] if derived.attribute in found else []
    return tuple(dict.fromkeys(found))
