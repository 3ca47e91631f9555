"""A comparison of runs as a notebook shows it: the headline measures, with their cautions."""

from __future__ import annotations

from collections.abc import Sequence

from ...display.document import Block, Document
from ..words import numerals
from .paired_runs import ComparisonRow

HEADER = ("measure", "group", "runs", "first", "second", "difference", "p adj.", "verdict")


def page(
    rows: Sequence[ComparisonRow], warnings: Sequence[str], left_out: Sequence[str]
) -> Document:
    """Builds the table of headline rows (all rows if none is headline), second run minus first."""
    headlines = [row for row in rows if row.headline and row.estimate.value is not None]
    margin = f"a margin of {rows[0].margin:g}" if rows else "a margin"
    about = f"Second less first, 95 % intervals over items; equivalent is held against {margin}."
    sentences = dict.fromkeys(row.claim.sentence for row in rows if row.claim)
    return Document(
        "Runs against one another",
        [
            Block(lines=[about, *sentences]),
            Block(heading="To know", lines=warnings),
            Block(heading="Not compared", lines=left_out),
            Block(heading="Headline measures", table=[HEADER, *map(_cells, headlines or rows)]),
        ],
    )


def _cells(row: ComparisonRow) -> tuple[str, ...]:
    e = row.estimate
    interval = "" if e.low is None or e.high is None else f" [{e.low:.3f}, {e.high:.3f}]"
    return (
        e.measure,
        ", ".join(filter(None, e.condition.values())),
        " – ".join(row.runs),
        _number(row.first),
        _number(row.second),
        f"{_number(e.value)}{interval}",
        numerals.chance(e.p_adjusted),
        row.verdict or "",
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
