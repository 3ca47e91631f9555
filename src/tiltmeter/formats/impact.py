"""Selection rates and impact ratios as a table in the columns of New York City's rules for
automated employment decision tools (6 RCNY 5-301 and 5-302), with intervals beside them.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO

from ..analyse.whole_run.selection_rates import CategoryRate
from ..gold.sheet import guard_formula
from ..stats.results import Interval

COLUMNS = (
    "model",
    "instrument",
    "mode",
    "language",
    "table",
    "category",
    "number",
    "unknown decisions",
    "rate",
    "rate low",
    "rate high",
    "impact ratio",
    "ratio low",
    "ratio high",
    "share of all",
    "below 2 %",
    "note",
)
_PLACES = 4


def impact_csv(rows: Sequence[CategoryRate]) -> str:
    """Writes the table as CSV, one line per category."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        stratum = row.stratum
        named = (
            stratum["subject"],
            stratum["annotator"].partition("@")[0],
            stratum["mode"],
            stratum.get("language", ""),
            row.table,
            row.category,
        )
        writer.writerow(
            [
                *map(guard_formula, named),
                f"{row.number:g}",
                "" if row.unknown is None else f"{row.unknown:g}",
                *_interval(row.rate),
                *_interval(row.ratio),
                _number(row.share_of_all),
                "yes" if row.small else "no",
                row.ratio.note or row.rate.note or "",
            ]
        )
    return text.getvalue()


def _interval(found: Interval) -> tuple[str, str, str]:
    return _number(found.value), _number(found.low), _number(found.high)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.{_PLACES}f}"
