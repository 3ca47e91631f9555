"""Layouts of estimates as tables of rows × columns: a paper's own tables, which a variant
declares, and those that a user asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .source.filled import filled
from .source.keys import PaperCellKeys, PaperTableKeys

SHOWN = ("value", "stars", "interval", "p", "n")  # parts of a cell that a user may ask for
Levels = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Stars:
    """Stars of another measure's test: of its estimate of the same row and at the levels `where`,
    if its value is above 0. `at`: levels of the cells that carry them, of which the one with the
    value that the measure expects does. most: as many at the most.
    """

    measure: str
    where: Levels = field(default_factory=dict)
    at: Levels = field(default_factory=dict)
    most: int = 3


@dataclass(frozen=True, slots=True)
class CellLayout:
    """A printed column, or one for each level of the axes in `each`.

    head:  its head, a line each; {axis} is the printed name of the column's level.
    where: {axis: levels} that are kept; less: levels whose value in the same row is taken off.
    show:  parts of a cell: those of SHOWN, `se` (binomial, of a share), `baseline` (the other side
           of a contrast) and `level` (the levels of `axis` that the row has).
    after: stands behind the number, as a per cent sign.
    """

    head: tuple[str, ...]
    measure: str
    each: tuple[str, ...] = ()
    where: Levels = field(default_factory=dict)
    less: Levels = field(default_factory=dict)
    show: tuple[str, ...] = ()
    axis: str = ""
    stars: Stars | None = None
    percent: bool = False
    decimals: int | None = None
    signed: bool = False
    after: str = ""


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
              row's columns can be told apart; column_leader: the highest of each column.
    ranked:   rows from the highest to the lowest sum of their values; top: the first so many, or 0.
    cells:    the columns one by one in place of `measures` and `columns`, as a paper prints them.
    names:    {axis: {level: printed name}}, in the printed order; "" names the axis.
    split:    {axis: {level: title}}: a table for each level.
    continues: the rows stand under those of the table before; without `rows` the title is the row.
    count:    the word by which a note counts the rows ("cases").
    leading_zero: 0.86 for .86; half_even: .625 is .62, as numpy rounds; signed: True for a plus
              before what is above 0, None as the measure has it.
    mark_below: cells whose p is below it carry a mark, 0 for none.
    """

    measures: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    title: str = ""
    show: tuple[str, ...] = ()
    where: Levels = field(default_factory=dict)
    percent: bool = False
    decimals: int | None = None
    leader: bool = False
    column_leader: bool = False
    ranked: bool = False
    top: int = 0
    cells: tuple[CellLayout, ...] = ()
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    split: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    continues: bool = False
    count: str = ""
    leading_zero: bool = False
    half_even: bool = False
    signed: bool | None = None
    mark_below: float = 0.0


def layouts_of(declared: Sequence[PaperTableKeys]) -> tuple[TableLayout, ...]:
    """The tables that a variant declares."""
    return tuple(
        filled(TableLayout, keys, cells=tuple(map(_cell, keys.get("cells", ()))))
        for keys in declared
    )


def _cell(keys: PaperCellKeys) -> CellLayout:
    stars = keys.get("stars")
    return filled(CellLayout, keys, stars=filled(Stars, stars) if stars else None)
