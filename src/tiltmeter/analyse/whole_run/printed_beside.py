"""A paper's numbers next to ours, a check if they agree to the last digit, and our verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...protocol.source.printed import PrintedNumber
from ...records import Estimate, Json
from ...stats.results import ALPHA
from ..claims.verdicts import Verdict
from ..words.verdict_words import Word

PUBLISHED = "published"  # the variant that computes as the authors do


@dataclass(frozen=True, slots=True)
class PrintedBeside:
    """A printed number, our value by the authors' rules, our estimate, and its verdict."""

    printed: PrintedNumber
    as_published: float | None
    row: Estimate
    verdict: Verdict | None

    @property
    def equal(self) -> bool:
        """True if the value by the authors' rules rounds to the printed number."""
        return self.as_published is not None and self.printed.equals(self.as_published)

    @property
    def why(self) -> str:
        """The reason why our verdict on a printed claim is not a tilt; "" if it is a tilt."""
        if self.verdict is None or self.verdict.word == Word.TILT or self.verdict.value is None:
            return ""
        return self.printed.reason or _why(self.verdict)

    def as_dict(self) -> dict[str, Json]:
        """Returns plain JSON values; value, low and high in printed units (times `times`)."""
        as_published, value, low, high = map(
            self.printed.scaled, (self.as_published, self.row.value, self.row.low, self.row.high)
        )
        return {
            "measure": self.printed.measure,
            **self.printed.condition,
            "published": self.printed.value,
            "decimals": self.printed.decimals,
            "times": self.printed.times,
            "source": self.printed.source,
            "as_published": as_published,
            "value": value,
            "low": low,
            "high": high,
            "equal": self.equal,
            "word": None if self.verdict is None else self.verdict.word.value,
            "why": self.why,
        }


def beside(
    printed: Sequence[PrintedNumber],
    rows: Iterable[Estimate],
    published: Iterable[Estimate] | None = None,
    verdicts: Sequence[Verdict] = (),
) -> list[PrintedBeside]:
    """Returns the printed numbers that have a row, in the order of the print. Raises ValueError if
    a number fits several rows.

    rows: our estimates; published: rows computed as the authors do, by default our estimates.
    """
    by_measure = _by_measure(rows)
    theirs = by_measure if published is None else _by_measure(published)
    claims = {_key(verdict): verdict for verdict in verdicts}
    numbers = []
    for number in printed:
        row, as_published = _row(number, by_measure), _row(number, theirs)
        if row is not None and as_published is not None:
            numbers.append(PrintedBeside(number, as_published.value, row, claims.get(_key(row))))
    return numbers


def subjects_of(printed: Sequence[PrintedNumber]) -> set[str]:
    """Returns the models that have printed numbers."""
    return {number.condition.get("subject", "") for number in printed}


def sentence(numbers: Sequence[PrintedBeside]) -> str:
    """Writes how many printed numbers equal our values by the authors' rules, per tolerance."""
    counted: dict[float, list[bool]] = {}
    for number in numbers:
        counted.setdefault(number.printed.within, []).append(number.equal)
    return "; ".join(
        f"{f'within {within:g}' if within else 'to the digit'}: {sum(equal)} of {len(equal)}"
        for within, equal in counted.items()
    )


def survivors(numbers: Sequence[PrintedBeside]) -> str:
    """Says how many of the claims behind the printed numbers are tilts by our verdicts."""
    claims = [number.verdict for number in numbers if number.verdict is not None]
    tilts = sum(claim.word == Word.TILT for claim in claims)
    return f"{tilts} of {len(claims)} claims stand" if claims else ""


def _by_measure(rows: Iterable[Estimate]) -> dict[str, list[Estimate]]:
    by_measure: dict[str, list[Estimate]] = {}
    for row in rows:
        by_measure.setdefault(row.measure, []).append(row)
    return by_measure


def _row(number: PrintedNumber, rows: Mapping[str, Sequence[Estimate]]) -> Estimate | None:
    fitting = [row for row in rows.get(number.measure, ()) if _fits(number.condition, row)]
    if len(fitting) > 1:
        raise ValueError(f"{number.measure}, {dict(number.condition)}: several rows fit")
    return fitting[0] if fitting else None


def _fits(condition: Mapping[str, str], row: Estimate) -> bool:
    levels = {"subject": row.subject, **(row.contrast or {}), **row.condition}
    return all(levels.get(name) == level for name, level in condition.items())


def _key(row: Estimate | Verdict) -> tuple[object, ...]:
    where = tuple(row.condition.items()), tuple((row.contrast or {}).items())
    return (row.measure, row.subject, row.instrument, *where)


def _why(verdict: Verdict) -> str:
    if verdict.p is not None and verdict.p < ALPHA and verdict.family_size:
        return f"p = {verdict.p:.3f} alone, and {verdict.family_size} claims are made"
    return f"the interval over {verdict.clusters} items holds {verdict.reference:g}"
