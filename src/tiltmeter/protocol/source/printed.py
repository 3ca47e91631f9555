"""The numbers that the authors of an audit printed: `expected.csv` beside its protocol.

measure,subject,category,published,times,source
bias,UnifiedQA-11B (ARC),Age,48.9,100,Figure 3

measure: its name here; published: the number as printed, compared to its last decimal. times: the
factor from our scale to the printed one, 1 if omitted; scale: "exp" if ours is the logarithm of the
printed number. within: the allowed distance, if our reading of answers differs from the authors';
source: the table or figure. reason: why the verdict may differ from the authors'. Every other
column is a part of the condition (subject, a factor, a counted value); an empty cell sets no
condition.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...errors import ProtocolError
from ...row_files import BadTable, numbered_rows
from ...system import intake

NAME = "expected.csv"
_OWN = ("measure", "published", "times", "scale", "source", "reason", "within")
EXP = "exp"
_HALF = 0.5 + 1e-9  # of the last decimal: what rounding leaves open


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """One printed number of a paper. condition: identifies the row of our estimates."""

    measure: str
    condition: Mapping[str, str]
    text: str
    value: float
    times: float = 1.0
    scale: str = ""
    source: str = ""
    reason: str = ""
    within: float = 0.0

    @property
    def decimals(self) -> int:
        """The number of digits after the decimal point."""
        return len(self.text.partition(".")[2])

    def equals(self, value: float) -> bool:
        """True if a value of ours rounds to the printed number or is at most `within` away from it.

        Worked: .489396 × 100 is 48.9396, which is printed as 48.9.
        """
        off = abs((self.scaled(value) or 0.0) - self.value)
        return off <= max(_HALF / 10.0**self.decimals, self.within)

    def scaled(self, value: float | None) -> float | None:
        """Converts a value of ours to the printed scale."""
        if value is None:
            return None
        return math.exp(value) if self.scale == EXP else value * self.times


def read_printed(folder: Path) -> tuple[PrintedNumber, ...]:
    """Reads `expected.csv` in a folder, if it exists. Raises ProtocolError with the faulty line."""
    path = folder / NAME
    try:
        text = intake.read_text(path)
    except FileNotFoundError:
        return ()
    try:
        return tuple(_numbers(text))
    except (BadTable, ValueError, KeyError) as error:
        raise ProtocolError(
            f"{path}: {error}. The columns 'measure' and 'published' are needed."
        ) from None


def _numbers(text: str) -> Iterator[PrintedNumber]:
    for line, row in numbered_rows(text, needs=("measure", "published")):
        condition = {name: level for name, level in row.items() if name not in _OWN and level}
        try:
            value, times = float(row["published"].replace("−", "-")), float(row.get("times") or 1)
            within = float(row.get("within") or 0)
        except ValueError:
            raise BadTable(f"line {line}: {row['published']!r} is not a number") from None
        yield PrintedNumber(
            row["measure"],
            condition,
            row["published"],
            value,
            times,
            row.get("scale", ""),
            row.get("source", ""),
            row.get("reason", ""),
            within,
        )
