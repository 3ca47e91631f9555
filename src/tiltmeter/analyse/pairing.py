"""What a comparison of two runs begins with and ends in: two subjects side by side in one stratum,
and the rows made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..protocol import MeasureSpec
from ..records import Estimate
from ..store import Store
from .groups import Table

Stratum = tuple[tuple[str, str], ...]  # (what, level): annotator, mode, language, …


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One row. estimate: second less first, with its interval and test; first, second: the two
    values.

    verdict: different | equivalent | inconclusive against `margin`, or None where nothing could be
    tested.
    """

    estimate: Estimate
    runs: tuple[str, str]
    first: float | None
    second: float | None
    verdict: str | None
    margin: float
    headline: bool

    def as_dict(self) -> dict[str, Any]:
        """The row as a dict: the two runs, values and verdict, then the fields of the estimate."""
        own = {
            "runs": list(self.runs),
            "first": self.first,
            "second": self.second,
            "verdict": self.verdict,
            "margin": self.margin,
        }
        return {**own, **self.estimate.as_dict()}


@dataclass(frozen=True, slots=True)
class Part:
    """One subject of one run. tables: its counted labels by (annotator, mode, language, …); gold:
    attributes people labelled.
    """

    name: str
    subject: str
    store: Store
    frozen: Mapping[str, Any]
    tables: Mapping[Stratum, Table]
    gold: frozenset[str]


def stratum_text(stratum: Stratum) -> str:
    """The levels of a stratum joined by ` · `, without empty ones."""
    return " · ".join(level for _, level in stratum if level)


@dataclass(frozen=True)
class Pairing:
    """One measure in one stratum of two parts: `before` and `after` are their tables."""

    first: Part
    second: Part
    stratum: Stratum
    before: Table
    after: Table
    measure: MeasureSpec
    margin: float

    @property
    def tables(self) -> tuple[Table, Table]:
        """Both tables, the first part's first."""
        return self.before, self.after

    def blank(
        self, condition: Mapping[str, str], unit: str, by: Sequence[str] | None = None
    ) -> Estimate:
        """The estimate of the second part less the first, without a value. by: the grouping, where
        it names the family.
        """
        where = dict(self.stratum)
        annotator = where.pop("annotator")
        family = (
            None
            if by is None
            else f"{self.measure.name} by {', '.join(by) or 'whole'} | {self.second.name} | "
            f"{stratum_text(self.stratum)}"
        )
        return Estimate(
            self.before.protocol.name,
            self.second.subject,
            annotator,
            self.measure.name,
            {**where, **condition},
            {"run": f"{self.second.name} − {self.first.name}"},
            None,
            unit,
            family=family,
        )

    def row(
        self,
        estimate: Estimate,
        values: tuple[float | None, float | None],
        verdict: str | None,
        headline: bool | None = None,
    ) -> ComparisonRow:
        """The row of an estimate. values: of the first part and of the second."""
        names = (self.first.name, self.second.name)
        headline = self.measure.headline if headline is None else headline
        return ComparisonRow(estimate, names, *values, verdict, self.margin, headline)
