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

    null: the value that is no tilt; `ends` say what it means to lie left and right of it; `band` is
    shaded and named.
    """

    domain: tuple[float, float]
    ticks: Ticks
    scale: str = "linear"
    null: float | None = None
    ends: tuple[str, str] = ("", "")
    band: tuple[float, float] | None = None
    band_text: str = ""

    def places(self, first: float, last: float) -> Places:
        """Returns a value's place between two; beyond the axis it is the nearer end."""
        forward: Places = math.log if self.scale == "log" else float
        low, high = map(forward, self.domain)

        def place(value: float) -> float:
            inside = min(max(value, self.domain[0]), self.domain[1])
            return round(first + (forward(inside) - low) / ((high - low) or 1) * (last - first), 2)

        return place


@dataclass(frozen=True, slots=True)
class Point:
    """One number of a figure. None if it could not be measured, or has no interval."""

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
    """A line of a plot; `group` is the heading under which it stands."""

    group: str
    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The common fields of figures; the class is the kind, and `figures.draw` turns it into SVG.

    text:  the same in words, for those who do not see it.
    note:  the key: what the shapes, lines and symbols mean.
    table: id of the table that has its numbers.
    """

    id: str
    title: str
    text: str
    note: str = ""
    table: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot(Figure):
    """Points on an axis: a forest plot, or a dumbbell plot where the points of a row are `joined`,
    with a panel for each heading of its rows if it has `panels`.
    """

    series: tuple[str, ...]
    rows: tuple[FigureRow, ...]
    axis: Axis
    joined: bool = False
    panels: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """Shares that sum to 1, in the figure's order. queries: of each part's outputs, or ()."""

    group: str
    label: str
    shares: tuple[float, ...]
    n: str
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacked(Figure):
    """A bar a condition; the parts from place `answers` on are no answers. colours: the place of
    each part's colour, the same for a value in every figure; () for the order of the parts.
    """

    parts: tuple[str, ...]
    colours: tuple[int, ...] = ()
    answers: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Dot:
    """The value of one item. query: of its outputs."""

    name: str
    value: float
    query: str = ""


@dataclass(frozen=True, slots=True)
class Strip:
    """A dot per item. number: mean and interval in text; series: its colour's place."""

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
    """A number of a heat map. level: 0 … 8, or -4 … 4 about null; symbol: ▲, ▼ or ""."""

    level: int
    text: str
    n: str
    symbol: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat(Figure):
    """Rows × columns × value or None. `scale` has (level, label) for ends and null value."""

    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell | None, ...]], ...]
    diverging: bool
    scale: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Figure):
    """bins: (first, last, how many), side by side."""

    bins: tuple[tuple[int, int, int], ...]
