"""The outputs and labels that a query names, read from a run by the same steps as its estimates.

Sums of labels (`counting.py`) have forgotten whose they were; here each keeps its output. An output
that several items share (`pooling.py`) is counted once for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from .. import registry
from ..protocol import Protocol, Variant
from ..protocol.tables import SEVERAL
from ..store import Store
from ..store.queries import labels
from . import factor_names, kept_rows, pooling
from .counting import read_cells, with_derived
from .numbers import number
from .queries import OutputQuery


@dataclass
class Counted:
    """What the queries of one run select. Labels are read once for an annotator and attribute."""

    store: Store
    protocol: Protocol
    _frames: dict[tuple[str, str, str], pl.DataFrame] = field(default_factory=dict)

    def labels(self, query: OutputQuery) -> pl.DataFrame:
        """The labels that the denominator counts: a row for each, with its output, subject,
        factors, attribute, value and weight.
        """
        rows = self._frame(query)
        for name, levels in query.levels.items():
            rows = rows.filter(pl.col(name).is_in(list(levels)))
        if query.subjects:
            rows = rows.filter(pl.col("subject").is_in(list(query.subjects)))
        if query.attribute:
            rows = rows.filter(pl.col("attribute") == query.attribute)
        else:
            rows = rows.filter(~pl.col("attribute").is_in(list(query.without)))
        if query.among:
            rows = rows.filter(pl.col("value").is_in(list(query.among)))
        rows = rows.filter(~pl.col("value").is_in(list(query.without)))
        if query.counts == "numbers":
            known = [one for one in rows["value"].unique() if number(one) is not None]
            rows = rows.filter(pl.col("value").is_in(known))
        return self._with_column(rows, query) if query.having else rows

    def outputs(self, query: OutputQuery) -> list[str]:
        """The ids of the outputs that were counted, in their order."""
        return self.labels(query)["output"].unique().sort().to_list()

    def hits(self, query: OutputQuery) -> list[str]:
        """The ids of the outputs of which a label counts as a hit."""
        found = self.labels(query).filter(pl.col("value").is_in(list(query.values)))
        return found["output"].unique().sort().to_list()

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
        cases = rows.group_by(*factors, "attribute").agg(pl.col("output").n_unique())
        return float(cases.filter(pl.col("output") > 1).height)

    def _with_column(self, rows: pl.DataFrame, query: OutputQuery) -> pl.DataFrame:
        """The rows of items that have a value in a column of the tables."""
        names = [n for n in query.levels if n in self.protocol.factors]
        items = {
            cell[self.protocol.item]
            for cell in self.protocol.cells
            if cell[query.having].strip()
            and all({cell[n], *cell[n].split(SEVERAL)} & {*query.levels[n]} for n in names)
        }
        return rows.filter(pl.col(self.protocol.item).is_in(list(items)))

    def _frame(self, query: OutputQuery) -> pl.DataFrame:
        key = (query.annotator, query.attribute, query.variant)
        if key not in self._frames:
            self._frames[key] = self._read(*key)
        return self._frames[key]

    def _read(self, annotator: str, attribute: str, variant: str) -> pl.DataFrame:
        chosen = self.protocol.variants[variant]
        wanted = _sources(self.protocol, chosen, attribute) if attribute else ()
        names = tuple(dict.fromkeys((*self.protocol.factors, self.protocol.item)))
        cells, places = read_cells(self.store, names)
        rows = [
            (one.output, one.attribute, one.value, one.weight)
            for one in labels.of_annotator(self.store, annotator, wanted)
        ]
        schema = {"output": pl.String, "attribute": pl.String, "value": pl.String}
        frame = pl.DataFrame(rows, {**schema, "weight": pl.Float64}, orient="row")
        frame = frame.join(places, on="output", maintain_order="left")
        frame = pl.concat([frame.drop("place"), cells[frame["place"]]], how="horizontal")
        frame = frame.with_columns(annotator=pl.lit(annotator), outputs=pl.lit(1, pl.Int64))
        frame = kept_rows(frame, chosen.where)
        frame = pooling.read_as(with_derived(frame, self.protocol), chosen.reads)
        return pooling.kept_apart(pooling.spread(frame, self.protocol), self.protocol)[0]


def _sources(protocol: Protocol, variant: Variant, attribute: str) -> Sequence[str]:
    """The stored attributes that an attribute is counted from."""
    found = [attribute, variant.reads.get(attribute, attribute)]
    for spec in protocol.instruments:
        for derived in registry.instrument_kind(spec.kind, spec.name).derived(spec):
            found += [derived.source] if derived.attribute in found else []
    return tuple(dict.fromkeys(found))
