"""Kinds of measures of whole outputs, each made from a score of one object's base and groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ...instruments.images import taxonomy
from ...protocol import MeasureSpec, Variant
from ...records import Estimate
from ...stats.results import join_notes
from ..counts.count_table import CountTable
from ..counts.whole_outputs import BaseAndGroups, split_by_base
from ..words.reading import CODE
from . import attribute_divergence
from . import concentration as concentrations

Score = Callable[[BaseAndGroups, MeasureSpec, Variant], Iterator[Estimate]]
Compute = Callable[[CountTable, MeasureSpec, Sequence[str]], Iterator[Estimate]]


def kind_of(score: Score, pooled_by_code: bool = False) -> Compute:
    """Returns a kind of measure, which computes a score per group of outputs in a table's variant.

    pooled_by_code: True if the authors' released code pools the outputs of all subjects.
    """

    def compute(table: CountTable, measure: MeasureSpec, by: Sequence[str]) -> Iterator[Estimate]:
        is_pooled = pooled_by_code and table.variant.name == CODE
        note = note_of(table, is_pooled)
        outputs, stratum = table.labelled_outputs(), table.stratum
        groups = () if is_pooled else by
        for cell in split_by_base(outputs, stratum, measure, groups, table.protocol, is_pooled):
            for estimate in score(cell, measure, table.variant):
                text = join_notes(estimate.note, note(estimate)) or ""
                yield estimate if text == estimate.note else replace(estimate, note=text)

    return compute


def note_of(table: CountTable, pooled: bool = False) -> Callable[[Estimate], str | None]:
    """Returns a function that writes a row's note: on pooled subjects, and on an optimistic p."""
    outputs, stratum = table.labelled_outputs(), table.stratum
    subjects = outputs.subjects(stratum) if pooled else []
    is_optimistic = outputs.chosen_on.get(stratum[1], {}).get(stratum[0]) == taxonomy.MEASURED

    def note(estimate: Estimate) -> str | None:
        return join_notes(
            f"{len(subjects)} subjects together" if len(subjects) > 1 else None,
            "attributes were chosen on the measured outputs: p is optimistic"
            if is_optimistic and estimate.p
            else None,
        )

    return note


from_base = kind_of(attribute_divergence.from_base)
between_groups = kind_of(attribute_divergence.between_groups, pooled_by_code=True)
concentration = kind_of(concentrations.concentration)
dominant = kind_of(concentrations.dominant)
shift = kind_of(concentrations.shift)
