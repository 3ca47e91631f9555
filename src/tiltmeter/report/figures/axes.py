"""The axis of a measure: its scale, both ends and ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...analyse.words import numerals, reading
from ...protocol import MeasureSpec, Protocol
from ...records import Estimate
from ..page_model.figures import Axis, Ticks

Scale = tuple[str, tuple[float, float], Ticks]  # scale, domain, ticks
DIFFERENCES = (0.25, 1.0)  # ends of the scales of differences of shares
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


def axis(
    spec: MeasureSpec,
    estimates: Sequence[Estimate],
    protocol: Protocol | None = None,
    whole: bool = True,
) -> Axis:
    """Returns an axis that covers all values, interval ends, the null value and the band. Shares
    begin at 0 (and end at 1 if `whole`); differences of shares have one of two fixed scales.
    protocol: gives the titles of the levels that name the axis's two sides.
    """
    values = [
        v
        for e in estimates
        for v in (e.value, e.low, e.high, e.null_low, e.null_high)
        if v is not None
    ]
    band = (float(spec.band["low"]), float(spec.band["high"])) if spec.band else None
    values += [v for v in (spec.null, *(band or ())) if v is not None]
    scale, domain, ticks = _scale(spec, values, whole)
    return Axis(
        scale=scale,
        domain=domain,
        ticks=ticks,
        null=reading.null_of(spec),
        ends=reading.directions(spec, protocol),
        band=band,
        band_text=band_words(spec),
    )


def band_words(spec: MeasureSpec) -> str:
    """Writes a measure's band in words: `four-fifths band, 0.8 to 1.25`."""
    return "{text}, {low:g} to {high:g}".format(**spec.band) if spec.band else ""


def _scale(spec: MeasureSpec, seen: Sequence[float], whole: bool) -> Scale:
    if spec.unit in numerals.RATIOS:
        return _log([v for v in seen if v > 0] or [1.0])
    if spec.unit == "share" and not spec.signed and not whole:
        return linear([0.0, min(1.0, max([0.05, *seen]))], signed=False, unit="share")
    if spec.unit == "share" and not spec.signed:
        return (
            "linear",
            (0.0, 1.0),
            tuple((v, numerals.share(v, 2)) for v in (0.0, 0.25, 0.5, 0.75, 1.0)),
        )
    if spec.unit == "share":
        end = next(end for end in DIFFERENCES if end == 1 or max(map(abs, seen or [0.0])) <= end)
        return "linear", (-end, end), tuple(_tick(end * n / 2) for n in range(-2, 3))
    return linear(seen or [0.0], signed=spec.signed, unit=spec.unit)


def _tick(value: float) -> tuple[float, str]:
    """Returns a tick on a scale of differences: its value, and its text with enough decimals."""
    places = 3 if round(1000 * abs(value)) % 10 else 2
    return value, numerals.difference(value, places)


def linear(seen: Sequence[float], signed: bool, unit: str) -> Scale:
    """Returns a linear scale with round ticks; if signed, one that is symmetric about 0."""
    low, high = min(seen), max(seen)
    if signed:
        high = max(abs(low), abs(high))
        low = -high
    # less is rounding: an axis of one point has no places
    span = high - low if high - low > 1e-6 else 1.0
    power = 10.0 ** math.floor(math.log10(span))
    step = next(s * power * 10 for s in _STEPS if s * power * 10 * 5 >= span)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        first, last = first - 1, last + 1
    places = [round(n * step, 9) for n in range(first, last + 1)]
    return (
        "linear",
        (places[0], places[-1]),
        tuple((v, numerals.quantity(v, unit, signed, 2)) for v in places),
    )


def _log(seen: Sequence[float]) -> Scale:
    """Returns a scale with ticks at powers of 2, or of 10 if the range is wide."""
    base = 2 if max(seen) / min(seen) < 300 else 10
    first = math.floor(math.log(min(seen), base) + 1e-9)
    last = math.ceil(math.log(max(seen), base) - 1e-9)
    if first == last:
        first, last = first - 1, last + 1
    step = max(1, (last - first) // 7)
    ticks = tuple((float(base) ** n, _power(base, n)) for n in range(first, last + 1, step))
    return "log", (float(base) ** first, float(base) ** last), ticks


def _power(base: int, exponent: int) -> str:
    return f"{base**exponent:,}" if exponent >= 0 else f"1/{base**-exponent:,}"
