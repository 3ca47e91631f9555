"""Classes that share one total: a gain of one is a loss of others. The claim that differs most is
set aside, and the others are retested among the remaining answers; those without a difference there
are consequences of the first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...protocol import EVERY, MeasureSpec
from ...records import CellClaim, Estimate, NamedCell
from ...stats.results import ALPHA
from ..counts.count_table import CountTable
from ..measures import shares

Compute = Callable[[CountTable, MeasureSpec, Sequence[str]], Iterator[Estimate]]
LEAST = 3  # classes: of two, the other is the same claim


def ratio(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
    """Yields the ratios of `measures.shares`; headline claims about each class of one total also
    get the classes that follow from the largest.
    """
    yield from with_rest(table, measure, by, shares.ratio)


def with_rest(
    table: CountTable, measure: MeasureSpec, by: Sequence[str], compute: Compute
) -> Iterator[Estimate]:
    """Yields the rows of a measure; headline claims about each class also get the classes that
    follow from the largest (see the module). compute: computes the measure.
    """
    rows = compute(table, measure, by)
    is_lead = measure.headline and tuple(by) == measure.by[0] and measure.per == "labels"
    if not (is_lead and EVERY in measure.values and len(measure.among) >= LEAST):
        yield from rows
        return
    groups: dict[tuple[object, ...], list[Estimate]] = {}
    for row in rows:
        about = tuple(x for x in row.condition.items() if x[0] != measure.attribute)
        groups.setdefault((about, tuple((row.contrast or {}).items())), []).append(row)
    counts = _counts(table, measure, by)
    for class_rows in groups.values():
        classes = _Classes(table, measure, by, compute, class_rows, counts)
        for row in class_rows:
            yield replace(row, name_cells=classes.of(row))


@dataclass(frozen=True)
class _Classes:
    """The claims of one group, one per class."""

    table: CountTable
    measure: MeasureSpec
    by: Sequence[str]
    compute: Compute
    rows: Sequence[Estimate]
    counts: Mapping[tuple[object, ...], tuple[float, float, float, float]]

    @cached_property
    def leader(self) -> Estimate | None:
        """The tested row whose two shares differ most in standard errors; None if too few rows."""
        tested = [row for row in self.rows if row.p is not None and self._cell(row)]
        return max(tested, key=self._distance) if len(tested) >= LEAST else None

    def _distance(self, row: Estimate) -> float:
        cell = self._cell(row)
        if cell is None:
            return 0.0
        n, base_n = cell["n"], cell["base_n"]
        share = (cell["share"] * n + cell["base_share"] * base_n) / (n + base_n)
        spread = math.sqrt(share * (1 - share) * (1 / n + 1 / base_n))
        return abs(cell["share"] - cell["base_share"]) / spread if spread else 0.0

    @cached_property
    def rest(self) -> dict[str, float]:
        """{other class: p of its test among the answers outside the leading class}."""
        name = self.measure.attribute
        first = self.leader.condition[name] if self.leader else ""
        among = tuple(value for value in self.measure.among if value != first)
        restricted = replace(
            self.measure, name=f"{self.measure.name}, the rest", among=among, headline=False
        )
        return {
            row.condition[name]: row.p
            for row in self.compute(self.table, restricted, self.by)
            if row.p is not None and self._is_of_group(row)
        }

    def _is_of_group(self, row: Estimate) -> bool:
        """True if a row has the condition (apart from the class) and contrast of these rows."""
        name, first = self.measure.attribute, self.rows[0]
        about = {k: v for k, v in first.condition.items() if k != name}
        return row.condition.items() >= about.items() and row.contrast == first.contrast

    def of(self, row: Estimate) -> Callable[[float, bool], CellClaim] | None:
        """Returns a function that lists the classes that follow from a claim, or their cause."""
        cell, leader = self._cell(row), self.leader
        if cell is None or row.p is None or leader is None:
            return None
        name, p = self.measure.attribute, row.p

        def name_cells(level: float, rejected: bool) -> CellClaim:
            named_cell: NamedCell = {**cell, "p_adjusted": min(1.0, p * round(ALPHA / level))}
            tilted = {row.condition[name] for row in self.rows if (row.p or 1.0) < level}
            unchanged = [value for value, rest in self.rest.items() if rest >= level]
            first = leader.condition[name]
            follows = [value for value in unchanged if value in tilted] if first in tilted else []
            is_leader = named_cell["value"] == first
            return CellClaim(
                named=[named_cell] if rejected else [],
                largest=named_cell,
                follows=follows if is_leader else [],
                follows_from=first if named_cell["value"] in follows else None,
                tested=len(self.rows),
                level=level,
                detectable_all=None,
                detectable_one=None,
            )

        return name_cells

    def _cell(self, row: Estimate) -> NamedCell | None:
        """Returns the class with its shares at level and baseline; None if a side has none."""
        value = row.condition[self.measure.attribute]
        counts = self.counts.get((*row.condition.items(), *(row.contrast or {}).items()))
        if counts is None:
            return None
        contrast = self.measure.contrast or {}
        hits, n, base_hits, base_n = counts
        return NamedCell(
            attribute=self.measure.attribute,
            value=value,
            object=None,
            group=contrast["level"],
            base=contrast["baseline"],
            share=hits / n,
            n=n,
            base_share=base_hits / base_n,
            base_n=base_n,
            p_adjusted=1.0,
        )


def _counts(
    table: CountTable, measure: MeasureSpec, by: Sequence[str]
) -> dict[tuple[object, ...], tuple[float, float, float, float]]:
    """Returns {row: (hits, labels, baseline hits, baseline labels)} if both sides have labels."""
    counts: dict[tuple[object, ...], tuple[float, float, float, float]] = {}
    for added, pair in table.pairs(measure, by):
        (hits, base_hits), (n, base_n) = (
            [float(side.sum()) for side in sides] for sides in (pair.hits, pair.among)
        )
        if n and base_n:
            key = (*pair.condition.items(), *added.items(), *pair.contrast.items())
            counts[key] = (hits, n, base_hits, base_n)
    return counts
