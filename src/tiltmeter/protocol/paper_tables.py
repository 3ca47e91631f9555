"""Layouts of estimates as tables of rows × columns: declared by a variant, or by users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .source.filled import filled
from .source.keys import PaperCellKeys, PaperTableKeys

SHOWN = ("value", "stars", "interval", "p", "n")  # parts of a cell that a user may ask for
Levels = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Stars:
    """Stars for the test of another `measure`, from its estimate in the same row at the levels
    `where`; none unless that value is above 0. at: levels of the cells that may carry the stars;
    if the measure expects a value, only its cell gets them. most: the largest number of stars.
    """

    measure: str
    where: Levels = field(default_factory=dict)
    at: Levels = field(default_factory=dict)
    most: int = 3


@dataclass(frozen=True, slots=True)
class CellLayout:
    """A printed column, or one per level of the axes in `each`.

    head:  the lines of its head; {axis} is the printed name of the column's level.
    where: {axis: levels} to keep; less: levels whose value in the same row is subtracted.
    show:  parts of a cell: those of SHOWN, `se` (binomial, of a share), `baseline` (the other side
           of a contrast) and `level` (the levels of `axis` that the row has).
    after: a text behind the number, such as a per cent sign.
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

    title:    the name of the table ("Figure 5"), "" for the text of its measures.
    measures: the measures whose estimates it shows, in this order; the first is its default.
    rows, columns: factors, or model, instrument, mode, language, measure, or keys of a contrast.
    show:     parts of a cell, of SHOWN; () for the value with its interval.
    where:    {factor: levels} to keep.
    percent:  True to write shares in per cent, with one decimal unless `decimals` is set.
    decimals: of values and ends of intervals; None for the unit's own.
    leader:   True to mark the highest of each row; a measure of the kind `leader` tests if the
              row's columns differ; column_leader: True to mark the highest of each column.
    ranked:   True for rows from the highest to the lowest sum of values; top: the number of rows to
              keep, 0 for all.
    cells:    the columns one by one instead of `measures` and `columns`, as a paper prints them.
    names:    {axis: {level: printed name}}, in the printed order; "" names the axis.
    split:    {axis: {level: title}}: one table per level.
    continues: True if the rows continue the table before; without `rows` the title is the row.
    count:    the noun of the note that counts the rows ("case").
    leading_zero: 0.86 for .86; half_even: .625 is .62, as numpy rounds; signed: True for a plus
              before numbers above 0, None for the measure's own.
    mark_below: cells with p below this number are marked; 0 for none.
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
    """Reads the tables that a variant declares."""
    return tuple(
        filled(TableLayout, keys, cells=tuple(map(_cell, keys.get("cells", ()))))
        for keys in declared
    )


def _cell(keys: PaperCellKeys) -> CellLayout:
    stars = keys.get("stars")
    return filled(CellLayout, keys, stars=filled(Stars, stars) if stars else None)
