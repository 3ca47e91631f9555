"""A score of one table of outputs (base and groups) as a kind of measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ..instruments.images import taxonomy
from ..protocol import MeasureSpec, Variant
from ..records import Estimate
from ..stats.results import joined
from .groups import Table
from .outputs import Cell, cells
from .published import CODE

Score = Callable[[Cell, MeasureSpec, Variant], Iterator[Estimate]]
Compute = Callable[[Table, MeasureSpec, Sequence[str]], Iterator[Estimate]]


def score_of_cells(pooled_by_code: bool = False) -> Callable[[Score], Compute]:
    """Makes a kind of measure of a score: it is computed for each cell, in the table's variant.

    pooled_by_code: True if the authors' released code takes the outputs of all subjects together.
    """

    def decorate(score: Score) -> Compute:
        def compute(table: Table, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
            pooled = pooled_by_code and table.variant.name == CODE
            note = _note(table, pooled)
            found, stratum = table.wholes(), table.stratum
            outputs = found.pooled(stratum) if pooled else found.outputs.get(stratum, ())
            groups = () if pooled else by
            for cell in cells(found, stratum, outputs, measure, groups, table.protocol):
                for estimate in score(cell, measure, table.variant):
                    text = joined(estimate.note, note(estimate)) or ""
                    yield replace(estimate, note=text, family=_family(estimate))

        compute.__doc__ = score.__doc__
        return compute

    return decorate


def _note(table: Table, pooled: bool) -> Callable[[Estimate], str | None]:
    """What is to be said of each row: which subjects are together, and on what attributes were
    chosen.
    """
    found, stratum = table.wholes(), table.stratum
    several = found.subjects(stratum) if pooled else []
    optimistic = found.learnt.get(stratum[1], {}).get(stratum[0]) == taxonomy.MEASURED

    def note(estimate: Estimate) -> str | None:
        return joined(
            f"{len(several)} subjects together" if len(several) > 1 else None,
            "attributes were chosen on the measured outputs: p is optimistic"
            if optimistic and estimate.p
            else None,
        )

    return note


def _family(estimate: Estimate) -> str:
    """Overall rows are one table, rows by attribute another."""
    return (
        f"{estimate.measure} {'by attribute' if 'attribute' in estimate.condition else 'overall'}"
    )
