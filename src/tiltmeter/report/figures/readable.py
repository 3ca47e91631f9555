"""Adapts a first screen's figure for lay readers: axis fitted to the data, per cent or points."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...analyse.words import numerals
from ..page_model.figures import Axis, Dots, Figure, FigureRow, Plot, Point

BEYOND = 0.05  # of the range that is drawn at each end
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)  # between two ticks
MOST_TICKS = 6
_SHARE = re.compile(r"[+−]?(?:\.\d+|1\.0*|[01])(?=$|[\s,*\]])")


def in_per_cent(figure: Figure, matters: float) -> Figure:
    """Fits a figure's axis to the data and to `matters` around the null value, and shows shares in
    per cent; leaves other figures unchanged. matters: the share below which a difference is slight.
    """
    if isinstance(figure, Plot) and figure.axis.scale == "linear" and _are_shares(figure.axis):
        is_signed = figure.axis.domain[0] < 0
        rows = tuple(
            replace(row, points=tuple(_point(one, signed=is_signed) for one in row.points))
            for row in figure.rows
        )
        axis = axis_over([*_drawn_values(figure.rows)], figure.axis, matters, signed=is_signed)
        return replace(figure, rows=rows, axis=axis)
    if isinstance(figure, Dots):
        values = [dot.value for strip in figure.strips for dot in strip.dots]
        axis = axis_over(values, figure.axis, matters, signed=False)
        strips = tuple(replace(one, number=_per_cent(one.number)) for one in figure.strips)
        return replace(figure, strips=strips, axis=axis)
    return figure


def _are_shares(axis: Axis) -> bool:
    return axis.domain[1] <= 1 and axis.domain[0] >= -1 and not axis.band


def _drawn_values(rows: tuple[FigureRow, ...]) -> Iterator[float]:
    for row in rows:
        for one in row.points:
            yield from (
                v for v in (one.value, one.low, one.high, *(one.null or ())) if v is not None
            )


def axis_over(seen: Sequence[float], whole: Axis, matters: float = 0.0, *, signed: bool) -> Axis:
    """Returns an axis fitted to the values, within the possible range, with round ticks."""
    null = whole.null
    near = [] if null is None else [null - matters, null + matters]
    low, high = min([*seen, *near], default=0.0), max([*seen, *near], default=1.0)
    room = BEYOND * ((high - low) or 1.0)
    least = -1.0 if signed else 0.0
    low, high = max(least, low - room), min(1.0, high + room)
    step = next((s for s in STEPS if (high - low) / s <= MOST_TICKS), 0.5)
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ticks = tuple(
        (round(n * step, 9), share_tick(round(n * step, 9), signed=signed)) for n in places
    )
    return replace(whole, domain=(low, high), ticks=ticks)


def share_tick(value: float, *, signed: bool) -> str:
    """Formats a share as `50 %`; if signed (a difference), as `+10`."""
    number = numerals.fixed_decimals(100 * abs(value), 0)
    if not signed:
        return f"{number} %"
    return f"{numerals.sign(value)}{number}"


def _point(one: Point, *, signed: bool) -> Point:
    return replace(
        one,
        text=_per_cent(one.text, signed=signed),
        interval=_per_cent(one.interval, signed=signed),
    )


def _per_cent(text: str, *, signed: bool = False) -> str:
    """Rewrites `.62 [.55, .69]` as `62 % [55, 69]`; if signed, `+.13` as `+13`."""

    def shown(found: re.Match[str]) -> str:
        digits = found[0].replace(numerals.MINUS, "-")
        number = numerals.fixed_decimals(100 * abs(float(digits)), 0)
        sign = found[0][0] if found[0][0] in f"+{numerals.MINUS}" and number != "0" else ""
        return f"{sign}{number}"

    written = _SHARE.sub(shown, text)
    value, gap, rest = written.partition(" [")
    is_plain = value.isdecimal() and not signed
    return f"{value} %{gap}{rest}" if is_plain else written
