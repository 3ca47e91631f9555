"""The formatting of numbers, shared by all reports.

A share has no leading zero, since it cannot exceed 1, and is 0 or 1 only if it is exactly that:
.9996 is "> .999", never 1.000. Halves round up, as in the tables of the papers. A number that could
not be measured is a dash, never 0.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import lru_cache

NOTHING = "—"
MINUS = "−"
BETWEEN = f" {MINUS} "  # the two ends of a contrast
LEADER, OPEN_LEADER = "▲", "△"  # the highest of a row whose columns differ, or are not told apart
RATIOS = ("odds", "ratio")  # units whose natural scale is logarithmic
# about 0 to 1; what comes fourth is noise
DIVERGENCES = ("share of 1 bit", "distance", "concentration")
_NEAR = 1e-9  # sums of rounded probabilities


@lru_cache(maxsize=10_000)  # a report writes each share in tables, figures and bars
def fixed_decimals(value: float, places: int, half_even: bool = False) -> str:
    """Formats with fixed decimals and a true minus; rounds halves away from zero, or to even."""
    rounded = _rounded(value, places, ROUND_HALF_EVEN if half_even else ROUND_HALF_UP)
    text = f"{abs(rounded):,f}"
    return MINUS + text if rounded < 0 else text


def _rounded(value: float, places: int, rounding: str = ROUND_HALF_UP) -> Decimal:
    return Decimal(repr(round(value, 12))).quantize(Decimal(1).scaleb(-places), rounding)


def share(value: float | None, places: int = 3) -> str:
    """Formats a number in [0, 1], such as .62."""
    if value is None:
        return NOTHING
    for end in (0.0, 1.0):
        if abs(value - end) < _NEAR:
            return f"{end:.0f}"
    least = 10.0**-places
    if value < least / 2:
        return f"< {fixed_decimals(least, places).removeprefix('0')}"
    if value >= 1 - least / 2:
        return f"> {fixed_decimals(1 - least, places).removeprefix('0')}"
    return fixed_decimals(value, places).removeprefix("0")


def percent(value: float) -> str:
    """Formats a share in per cent, such as 46 %; below 1 % and above 99 % with enough decimals to
    differ from 0 and 100: 0.4 %, 0.03 %, 99.96 %.
    """
    places, distance = 0, min(value, 1 - value)
    if _NEAR < distance < 0.01:
        places = max(1, -math.floor(math.log10(100 * distance)))
    return f"{fixed_decimals(100 * value, places)} %"


def points(value: float | None) -> str:
    """Formats the absolute difference of two shares: 5 points, 1 point, 0.4 points."""
    return named_points(point_places(value), value)


def named_points(places: int, value: float | None) -> str:
    """Formats a difference as points with the given decimals."""
    size = fixed_decimals(100 * abs(value or 0.0), places)
    return f"{size} point{'' if size == '1' else 's'}"


def point_places(*values: float | None) -> int:
    """Returns the decimals for points: 1 if any nonzero value is below one point, else 0."""
    is_small = any(v is not None and abs(v) > _NEAR and 100 * abs(v) < 0.995 for v in values)
    return int(is_small)


def places_to_subtract(level: float, baseline: float, value: float) -> int:
    """Returns the decimals with which two shares in per cent and their difference in points agree:
    61.5 % less 59.4 % is 2.1 points, not 62 % less 59 % 2 points. 0 for a value that is not their
    difference (one that gold corrects).
    """
    if abs(level - baseline - value) > 1e-6 or point_places(value):
        return 0
    first, second, size = (_rounded(100 * v, 0) for v in (level, baseline, abs(value)))
    return int(abs(first - second) != size)


def difference(value: float | None, places: int = 3) -> str:
    """Formats a number in [-1, 1] with its sign, such as +.12."""
    if value is None:
        return NOTHING
    if abs(value) < _NEAR:
        return "0"
    text = fixed_decimals(abs(value), places)
    return ("+" if value > 0 else MINUS) + (
        text.removeprefix("0") if text.startswith("0.") else text
    )


def odds(value: float | None, places: int = 2) -> str:
    """Formats a ratio in [0, inf), such as 1.63."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    if value < 0.01:
        return "< 0.01"
    return fixed_decimals(value, places if value < 100 else 0)


def plain(value: float | None) -> str:
    """Formats a number of any other unit, to three significant digits unless it is whole."""
    if value is None:
        return NOTHING
    if value == int(value) and abs(value) < 1e15:
        return fixed_decimals(value, 0)
    digits = 2 - math.floor(math.log10(abs(value)))
    return fixed_decimals(value, max(0, min(digits, 8)))


def quantity(
    value: float | None, unit: str, signed: bool = False, places: int | None = None
) -> str:
    """Formats a value in the unit of its measure; signed: True for a difference of two values."""
    if unit == "share":
        return (difference if signed else share)(value, 3 if places is None else places)
    if unit in RATIOS:
        return odds(value, 2 if places is None else places)
    if unit in DIVERGENCES and value is not None:
        return fixed_decimals(value, 3)
    return plain(value)


def interval(
    low: float | None,
    high: float | None,
    unit: str,
    signed: bool = False,
    places: int | None = None,
) -> str:
    """Formats [low, high]; a dash replaces a missing end, or the interval if both are missing."""
    if low is None and high is None:
        return NOTHING
    return f"[{quantity(low, unit, signed, places)}, {quantity(high, unit, signed, places)}]"


def chance(p: float | None) -> str:
    """Formats a p-value with three decimals; "< .001" below that."""
    if p is None:
        return NOTHING
    if p < 0.001:
        return "< .001"
    return "> .999" if 0.9995 <= p < 1 else share(p)


def equal_to(p: float | None) -> str:
    """Formats a p-value with its relation, to follow the letter p: `= .013`, `< .001`."""
    text = chance(p)
    return text if text[0] in "<>" else f"= {text}"


def sign(value: float) -> str:
    """Returns the sign of a number: "+", a true minus, or "" for 0."""
    return "" if value == 0 else "+" if value > 0 else MINUS


def count(value: float | None) -> str:
    """Formats a count; a sum of weights that is not whole gets one decimal."""
    if value is None:
        return NOTHING
    rounded = round(value)
    if abs(value - rounded) < 1e-6:
        return f"{rounded:,}".replace("-", MINUS)
    return fixed_decimals(value, 1)


def dollars(value: float) -> str:
    """Formats US dollars; below one dollar with four decimals, since single calls are cheap."""
    return f"${value:,.2f}" if value == 0 or value >= 1 else f"${value:,.4f}"
