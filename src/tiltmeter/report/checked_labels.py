"""A judge's labels of all attributes against people, as tables: in all, by attribute, by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analyse import numerals
from ..gold.label_check import CheckedGroup
from ..stats.results import Interval
from . import audits
from .model import Column, Table

COLUMNS = (
    Column("group", brief=True),
    Column("labels", "number", True),
    Column("agreed", "number", True),
    Column("wrong", "number", True),
    Column("ambiguous", "number", True),
    Column("share wrong", "number", True),
)


def tables(found: Sequence[CheckedGroup]) -> Iterator[Table]:
    """A table for each annotator, a row for each group."""
    for place, annotator in enumerate(dict.fromkeys(one.annotator for one in found)):
        yield Table(
            audits.slug("checked", place),
            f"{annotator}: all attributes against people",
            "labels as they were drawn; ambiguous: people could not tell either · 95 % intervals "
            "over outputs",
            COLUMNS,
            tuple(_row(one) for one in found if one.annotator == annotator),
        )


def _row(one: CheckedGroup) -> tuple[str, ...]:
    about = f"{one.factor}: {one.level}" if one.factor else "all"
    counts = (one.labels, one.agreed, one.wrong, one.ambiguous)
    return (about, *(numerals.count(float(n)) for n in counts), _share(one.wrong_share))


def _share(found: Interval) -> str:
    ends = numerals.interval(found.low, found.high, "share") if found.low is not None else ""
    return f"{numerals.share(found.value)} {ends}".strip()
