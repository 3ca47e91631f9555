"""Layouts of estimates as tables of rows × columns: a paper's own tables, which a variant
declares, and those that a user asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .source.filled import filled
from .source.keys import PaperTableKeys

SHOWN = ("value", "stars", "interval", "p", "n")  # what a cell can say of an estimate


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table of rows × columns over the estimates of some measures.

    title:    what the table is called ("Figure 5"), "" for the text of its measures.
    measures: whose estimates stand in it, in this order; the first is its default.
    rows, columns: factors, or model, instrument, mode, language, measure, or what a contrast names.
    show:     parts of a cell, of SHOWN; () for the value with its interval.
    where:    {factor: levels} that are kept.
    percent:  shares are written in per cent, with one decimal where `decimals` does not say.
    decimals: of values and ends of intervals; None as the unit has it.
    leader:   the highest of each row is marked, and a measure of the kind `leader` says whether the
              row's columns can be told apart.
    ranked:   rows from the highest to the lowest sum of their values.
    """

    measures: tuple[str, ...]
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    title: str = ""
    show: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    percent: bool = False
    decimals: int | None = None
    leader: bool = False
    ranked: bool = False


def layouts_of(declared: Sequence[PaperTableKeys]) -> tuple[TableLayout, ...]:
    """The tables that a variant declares."""
    return tuple(filled(TableLayout, keys) for keys in declared)
