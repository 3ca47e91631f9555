"""The data of figures: frozen rows of text and numbers, which `figures.draw` turns into SVG."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Pairs = tuple[tuple[str, str], ...]
Ticks = tuple[tuple[float, str], ...]
Places = Callable[[float], float]  # the place of a value in px


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A scale (linear | log) between two values, with its ticks.

    null: the value that means no tilt; ends: the meanings of values left and right of null; band: a
    range to shade, named by band_text.
    """

    domain: tuple[float, float]
    ticks: Ticks
    scale: str = "linear"
    null: float | None = None
    ends: tuple[str, str] = ("", "")
    band: tuple[float, float] | None = None
    band_text: str = ""

    def places(self, first: float, last: float) -> Places:
        """Returns a function: value → position between `first` and `last`, clipped to them."""
        forward: Places = math.log if self.scale == "log" else float
        low, high = map(forward, self.domain)

        def place(value: float) -> float:
            inside = min(max(value, self.domain[0]), self.domain[1])
            return round(first + (forward(inside) - low) / ((high - low) or 1) * (last - first), 2)

        return place


@dataclass(frozen=True, slots=True)
class Point:
    """One number in a figure. value: None if not measured; low, high: None without an interval."""

    series: int
    value: float | None
    low: float | None
    high: float | None
    text: str
    interval: str
    null: tuple[float, float] | None = None  # where 95 % of values lie if nothing differs
    query: str = ""  # of the outputs that were counted


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A row of a plot. group: the heading above it."""

    group: str
    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The common fields of figures; the class is the kind, and `figures.draw` turns it into SVG.

    text: a description in words for people who cannot see the figure. note: the key, which explains
    shapes, lines and symbols. table: id of the table with the figure's numbers.
    """

    id: str
    title: str
    text: str
    note: str = ""
    table: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot(Figure):
    """Points on an axis: a forest plot; a dumbbell plot if the points of a row are `joined`; with
    `panels`, a panel per heading of the rows.
    """

    series: tuple[str, ...]
    rows: tuple[FigureRow, ...]
    axis: Axis
    joined: bool = False
    panels: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of shares that sum to 1, in the figure's order. queries: one per share, or ()."""

    group: str
    label: str
    shares: tuple[float, ...]
    n: str
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacked(Figure):
    """A bar per condition. parts: non-answers begin at index `answers`; colours: the index of each
    part's colour, the same for a value in every figure; () for the order of the parts.
    """

    parts: tuple[str, ...]
    colours: tuple[int, ...] = ()
    answers: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Dot:
    """The value of one item. query: selects the item's outputs."""

    name: str
    value: float
    query: str = ""


@dataclass(frozen=True, slots=True)
class Strip:
    """A dot per item. number: mean and interval as text; series: the index of its colour."""

    label: str
    mean: float | None
    number: str
    series: int
    dots: tuple[Dot, ...]
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots(Figure):
    """Strips of dots on one axis."""

    strips: tuple[Strip, ...]
    axis: Axis


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell of a heat map. level: its colour, 0 … 8, or -4 … 4 around null; symbol: ▲, ▼ or ""."""

    level: int
    text: str
    n: str
    symbol: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat(Figure):
    """Rows × columns × value or None. scale: (colour level, label) of ends and null value."""

    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell | None, ...]], ...]
    diverging: bool
    scale: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Figure):
    """A histogram. bins: (first value, last value, count), adjacent."""

    bins: tuple[tuple[int, int, int], ...]
