"""Printed numbers beside ours: which agree to the digit, and what our verdict says of each claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...protocol.source.printed import PrintedNumber
from ...records import Estimate, Json
from ...stats.results import ALPHA
from ..claims.verdicts import Verdict
from ..words.verdict_words import Word


@dataclass(frozen=True, slots=True)
class Beside:
    """One printed number, the row of ours that is the same number, and its verdict if it is a
    claim.
    """

    printed: PrintedNumber
    row: Estimate
    verdict: Verdict | None

    @property
    def equal(self) -> bool:
        """True if ours rounds to what is printed."""
        return self.row.value is not None and self.printed.equals(self.row.value)

    @property
    def why(self) -> str:
        """Says why a claim that the print makes is not a tilt here; "" if it is one."""
        if self.verdict is None or self.verdict.word == Word.TILT or self.verdict.value is None:
            return ""
        return self.printed.reason or _why(self.verdict)

    def as_dict(self) -> dict[str, Json]:
        """Plain values for JSON; value, low and high as printed, that is times `times`."""
        scaled = [None if x is None else x * self.printed.times for x in self._numbers()]
        value, low, high = scaled
        return {
            "measure": self.printed.measure,
            **self.printed.condition,
            "published": self.printed.value,
            "decimals": self.printed.decimals,
            "times": self.printed.times,
            "source": self.printed.source,
            "value": value,
            "low": low,
            "high": high,
            "equal": self.equal,
            "word": None if self.verdict is None else self.verdict.word.value,
            "why": self.why,
        }

    def _numbers(self) -> tuple[float | None, float | None, float | None]:
        return self.row.value, self.row.low, self.row.high


def beside(
    printed: Sequence[PrintedNumber], rows: Iterable[Estimate], verdicts: Sequence[Verdict] = ()
) -> list[Beside]:
    """Returns the printed numbers that a run has, in the order of the print. ValueError if one fits
    several rows.
    """
    by_measure: dict[str, list[Estimate]] = {}
    for row in rows if printed else ():
        by_measure.setdefault(row.measure, []).append(row)
    claims = {_key(verdict): verdict for verdict in verdicts}
    numbers = []
    for number in printed:
        fitting = [
            row for row in by_measure.get(number.measure, ()) if _fits(number.condition, row)
        ]
        if len(fitting) > 1:
            raise ValueError(f"{number.measure}, {dict(number.condition)}: several rows fit")
        numbers += [Beside(number, row, claims.get(_key(row))) for row in fitting]
    return numbers


def sentence(numbers: Sequence[Beside]) -> str:
    """Says how many of the printed numbers come out."""
    return f"to the digit: {sum(number.equal for number in numbers)} of {len(numbers)}"


def survivors(numbers: Sequence[Beside]) -> str:
    """Says how many of the claims behind the printed numbers are tilts here."""
    claims = [number.verdict for number in numbers if number.verdict is not None]
    tilts = sum(claim.word == Word.TILT for claim in claims)
    return f"{tilts} of {len(claims)} claims stand" if claims else ""


def _fits(condition: Mapping[str, str], row: Estimate) -> bool:
    known = {"subject": row.subject, **(row.contrast or {}), **row.condition}
    return all(known.get(name) == level for name, level in condition.items())


def _key(row: Estimate | Verdict) -> tuple[object, ...]:
    where = tuple(row.condition.items()), tuple((row.contrast or {}).items())
    return (row.measure, row.subject, row.instrument, *where)


def _why(verdict: Verdict) -> str:
    if verdict.p is not None and verdict.p < ALPHA and verdict.family_size:
        return f"p = {verdict.p:.3f} alone, and {verdict.family_size} claims are made"
    return f"the interval over {verdict.clusters} clusters holds {verdict.reference:g}"
