"""Two subjects in one stratum, one from each run, and the rows that compare them."""

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
    """A row of a comparison. estimate: second minus first, with interval and test; first, second:
    the two values.

    within_margin: True if the 90 % interval lies inside ±`margin`; None without interval. claim:
    the verdict, if a headline claim rests on the row (`compared_verdicts`).
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
        """The word of the claim's verdict. Without a claim, it follows from the row's test,
        interval and margin; None for bounds, and for a row that a corrected row replaces.
        """
        if self.claim is not None:
            return self.claim.word
        if self.estimate.p_adjusted is None:
            return None
        word = Word.EQUIVALENT if self.within_margin else test_word(self.estimate, 0.0)
        return Word.DIFFERENT if word == Word.TILT else word

    def as_dict(self) -> dict[str, Json]:
        """Returns both runs, values and verdict, then the fields of the estimate."""
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
    """Returns the headline difference for the first sentence: by verdict (different, then
    unsettled, then no difference found), then by the smallest p, then by the largest value.
    """

    def order(row: ComparisonRow) -> tuple[int, float, float]:
        assert row.claim is not None
        rank = 0 if row.claim.word == Word.DIFFERENT else 2 if row.claim.word in NONE else 1
        p = 1.0 if row.claim.p_adjusted is None else row.claim.p_adjusted
        return rank, p, -abs(row.estimate.value or 0.0)

    return min(rows, key=order)


@dataclass(frozen=True, slots=True)
class RunPart:
    """A subject of a run. tables: counts of its labels by stratum; gold: attributes with gold."""

    name: str
    subject: str
    store: Store
    frozen: Mapping[str, Any]
    tables: Mapping[Stratum, CountTable]
    gold: frozenset[str]


def held_of(row: Estimate | Verdict) -> dict[str, str]:
    """Returns the row's contrast as {factor: level}, leaving out the factor that means the run."""
    return {name: level for name, level in (row.contrast or {}).items() if name != FACTOR}


def stratum_text(stratum: Stratum) -> str:
    """Joins the non-empty levels of a stratum by ` · `."""
    return " · ".join(level for _, level in stratum if level)


@dataclass(frozen=True)
class PairedTables:
    """A measure in one stratum of two runs. before, after: its tables in `first` and `second`."""

    first: RunPart
    second: RunPart
    stratum: Stratum
    before: CountTable
    after: CountTable
    measure: MeasureSpec
    margin: float

    @property
    def tables(self) -> tuple[CountTable, CountTable]:
        """Both tables: the first part's, then the second's."""
        return self.before, self.after

    @property
    def parts(self) -> tuple[RunPart, RunPart]:
        """Both parts (`RunPart`), in order."""
        return self.first, self.second

    @property
    def names(self) -> tuple[str, str]:
        """The names of both parts."""
        return self.first.name, self.second.name

    @property
    def gold(self) -> frozenset[str]:
        """The attributes for which either part has gold."""
        return self.first.gold | self.second.gold

    def join(self, tables: Sequence[CountTable]) -> CountTable:
        """Concatenates two tables, with the run's name in the column RUN."""
        rows = [
            table.rows.with_columns(pl.lit(name).alias(RUN))
            for name, table in zip(self.names, tables, strict=True)
        ]
        joined = pl.concat(rows, how="diagonal").with_columns(pl.col(pl.String).fill_null(""))
        return replace(self.before, rows=joined)

    def about(self, row: Estimate) -> Estimate:
        """Returns the row with this stratum and with the contrast second run − first."""
        where = dict(self.stratum)
        annotator = where.pop("annotator")
        levels = {name: level for name, level in (row.contrast or {}).items() if name != RUN}
        first, second = self.names
        return replace(
            row,
            protocol=self.before.protocol.name,
            subject=self.second.subject,
            instrument=annotator,
            condition={**where, **row.condition},
            contrast={FACTOR: f"{second} − {first}", **levels},
        )

    def row(
        self,
        estimate: Estimate,
        values: tuple[float | None, float | None],
        within_margin: bool | None,
        headline: bool | None = None,
    ) -> ComparisonRow:
        """Makes the ComparisonRow of an estimate. values: the numbers of the first, second part."""
        headline = self.measure.headline if headline is None else headline
        return ComparisonRow(
            self.about(estimate), self.names, *values, within_margin, self.margin, headline
        )
