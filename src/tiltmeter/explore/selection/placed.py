"""The outputs that a table is filled with, that are asked for, and that it hands back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

CellKey: TypeAlias = tuple[str, str]  # level of the rows, level of the columns
Integers: TypeAlias = NDArray[Any]
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Selection:
    """Some of the outputs. levels: of factors, mode, subject, outcome; labels: (attribute, value)
    that the output's own label has, value None for outputs without one; outcome: beside a level of
    the outcome; split: an attribute on which annotators disagree; searches: what each of these
    found.
    """

    levels: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[tuple[str, str | None]] = ()
    outcome: str = ""
    split: str = ""
    searches: Sequence[str] = ()


class RunOutputs(NamedTuple):
    """The outputs of one run. numbers: integers of trials, in their order; cells: places in a
    list of (subject, mode, outcome, condition, *levels), the condition being what shares of labels
    are worked out within.
    """

    run: int
    numbers: Integers
    samples: Integers
    places: Integers
    cells: Sequence[tuple[str, ...]]


class PlacedOutput(NamedTuple):
    """An output in its cell, with the values that are its own and the greatest surprise of them."""

    cell: CellKey
    run: int
    number: int
    outcome: str
    sample: int
    values: tuple[str, ...]
    surprise: float | None
    split: bool
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GridWindow:
    """The shown part of a grid. first, last: places in a cell, from 1."""

    rows: Sequence[str]
    columns: Sequence[str]
    first: int
    last: int


class Coded(NamedTuple):
    """A column of cells. levels: in order; codes: of each cell, among them."""

    levels: list[str]
    codes: Integers


class SelectedCounts(NamedTuple):
    """A selection. mask: its outputs, None for all; outputs: how many each cell has."""

    mask: Mask | None
    outputs: Integers
