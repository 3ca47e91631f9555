"""Types of the table of outputs: its input, its selections and its results."""

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
    """A selection of outputs. levels: of factors, mode, subject, outcome; labels: (attribute,
    value) as the output's own label, with None for unlabelled outputs; outcome: a further filter by
    outcome; split: an attribute on which annotators must disagree; searches: texts or queries that
    outputs must be hits of.
    """

    levels: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[tuple[str, str | None]] = ()
    outcome: str = ""
    split: str = ""
    searches: Sequence[str] = ()


class RunOutputs(NamedTuple):
    """The outputs of a run. numbers: trial numbers, ascending; places: each output's index in
    `cells`; cells: (subject, mode, outcome, condition, *levels), the condition being the group
    within which shares of labels are computed.
    """

    run: int
    numbers: Integers
    samples: Integers
    places: Integers
    cells: Sequence[tuple[str, ...]]


class PlacedOutput(NamedTuple):
    """An output in its cell. values: its own labels; surprise: the largest among these labels."""

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
    """The shown part of a grid. first, last: range of samples in each cell, from 1."""

    rows: Sequence[str]
    columns: Sequence[str]
    first: int
    last: int


class Coded(NamedTuple):
    """A factor's levels as codes. levels: sorted; codes: each cell's index in levels."""

    levels: list[str]
    codes: Integers


class SelectedCounts(NamedTuple):
    """The size of a selection. mask: marks its outputs, None for all; outputs: number per cell."""

    mask: Mask | None
    outputs: Integers
