"""The two ends of a comparison of runs: two subjects side by side in a stratum, and their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from ...protocol import MeasureSpec
from ...records import Estimate, Json
from ...store import Store
from ..claims.tested_word import test_word
from ..claims.verdicts import Verdict
from ..counts.count_table import CountTable
from ..words.verdict_words import Word

FACTOR = "run"  # what a comparison compares
RUN = "run of a comparison"  # the column of joined tables: a protocol may have a factor `run`
NONE = (Word.EQUIVALENT, Word.NO_DIFFERENCE, Word.ITEMS_DIFFER)  # no difference was found
Stratum = tuple[tuple[str, str], ...]  # (what, level): annotator, mode, language, …


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One row. estimate: second less first, with its interval and test; first, second: the two
    values.

    within_margin: whether the 90 % interval lies inside ±`margin`; None if there is none. claim:
    the verdict, where a headline claim rests on the row (`compared_verdicts`).
    """

    estimate: Estimate
    runs: tuple[str, str]
    first: float | None
    second: float | None
    within_margin: bool | None
    margin: float
    headline: bool
    claim: Verdict | None = None

    @property
    def verdict(self) -> Word | None:
        """The verdict of the claim, or of the row's own test, interval and margin if no claim rests
        on it. None for bounds, and for a row that gold corrects in another.
        """
        if self.claim is not None:
            return self.claim.word
        if self.estimate.p_adjusted is None:
            return None
        word = Word.EQUIVALENT if self.within_margin else test_word(self.estimate, 0.0)
        return Word.DIFFERENT if word == Word.TILT else word

    def as_dict(self) -> dict[str, Json]:
        """The row as a dict: the two runs, values and verdict, then the fields of the estimate."""
        compared = {
            "runs": list(self.runs),
            "first": self.first,
            "second": self.second,
            "verdict": self.verdict and self.verdict.value,
            "within_margin": self.within_margin,
            "margin": self.margin,
        }
        return {**compared, **self.estimate.as_dict()}


def leading(rows: Sequence[ComparisonRow]) -> ComparisonRow:
    """Returns the headline difference that the first sentence is of: one that was found before one
    that is open, that before none; of several the smallest p, then the largest.
    """

    def order(row: ComparisonRow) -> tuple[int, float, float]:
        assert row.claim is not None
        rank = 0 if row.claim.word == Word.DIFFERENT else 2 if row.claim.word in NONE else 1
        p = 1.0 if row.claim.p_adjusted is None else row.claim.p_adjusted
        return rank, p, -abs(row.estimate.value or 0.0)

    return min(rows, key=order)


@dataclass(frozen=True, slots=True)
class RunPart:
    """One subject of one run. tables: counted labels by stratum; gold: attributes with gold."""

    name: str
    subject: str
    store: Store
    frozen: Mapping[str, Any]
    tables: Mapping[Stratum, CountTable]
    gold: frozenset[str]


def held_of(row: Estimate | Verdict) -> dict[str, str]:
    """Returns the levels that a row compares inside each run, by factor."""
    return {name: level for name, level in (row.contrast or {}).items() if name != FACTOR}


def stratum_text(stratum: Stratum) -> str:
    """Returns the levels of a stratum joined by ` · `, without empty ones."""
    return " · ".join(level for _, level in stratum if level)


@dataclass(frozen=True)
class PairedTables:
    """One measure in one stratum of two parts: `before` and `after` are their tables."""

    first: RunPart
    second: RunPart
    stratum: Stratum
    before: CountTable
    after: CountTable
    measure: MeasureSpec
    margin: float

    @property
    def tables(self) -> tuple[CountTable, CountTable]:
        """Both tables, the first part's first."""
        return self.before, self.after

    @property
    def parts(self) -> tuple[RunPart, RunPart]:
        """Both parts, the first first."""
        return self.first, self.second

    @property
    def names(self) -> tuple[str, str]:
        """The names of both parts."""
        return self.first.name, self.second.name

    @property
    def gold(self) -> frozenset[str]:
        """The attributes of which either part has gold."""
        return self.first.gold | self.second.gold

    def join(self, tables: Sequence[CountTable]) -> CountTable:
        """Returns the rows of both tables as one table with the factor `run`."""
        rows = [
            table.rows.with_columns(pl.lit(name).alias(RUN))
            for name, table in zip(self.names, tables, strict=True)
        ]
        joined = pl.concat(rows, how="diagonal").with_columns(pl.col(pl.String).fill_null(""))
        return replace(self.before, rows=joined)

    def about(self, row: Estimate) -> Estimate:
        """Returns the row as one of these two runs: the second less the first."""
        where = dict(self.stratum)
        annotator = where.pop("annotator")
        held = {name: level for name, level in (row.contrast or {}).items() if name != RUN}
        first, second = self.names
        return replace(
            row,
            protocol=self.before.protocol.name,
            subject=self.second.subject,
            instrument=annotator,
            condition={**where, **row.condition},
            contrast={FACTOR: f"{second} − {first}", **held},
        )

    def row(
        self,
        estimate: Estimate,
        values: tuple[float | None, float | None],
        within_margin: bool | None,
        headline: bool | None = None,
    ) -> ComparisonRow:
        """Returns the row of an estimate. values: of the first part and of the second."""
        headline = self.measure.headline if headline is None else headline
        return ComparisonRow(
            self.about(estimate), self.names, *values, within_margin, self.margin, headline
        )
