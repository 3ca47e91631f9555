"""Labels against people, as tables: all attributes of a judge, in all and by group; a panel by how
far its judges agreed, and each of its judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...analyse.words import numerals
from ...gold.consensus import PanelAccuracy
from ...gold.label_check import CheckedGroup
from ...stats.results import Interval
from ..page_model import audits
from ..page_model.page import Column, Table

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


def panels(found: Sequence[PanelAccuracy]) -> Iterator[Table]:
    """A table for each panel and attribute: rows by how many judges agree, then one a judge."""
    columns = (
        Column("who", brief=True),
        Column("labels", "number", True),
        Column("right", "number", True),
        Column("accuracy", "number", True),
    )
    of = dict.fromkeys((one.annotator, one.attribute) for one in found)
    for place, (annotator, attribute) in enumerate(of):
        yield Table(
            audits.slug("panel", place),
            f"{annotator}: {attribute} against people, by how far the judges agree",
            "the panel's label where so many judges said one word, then each judge's own votes · "
            "95 % intervals over items",
            columns,
            tuple(
                (
                    one.who,
                    numerals.count(float(one.labels)),
                    numerals.count(float(one.right)),
                    _share(one.accuracy),
                )
                for one in found
                if (one.annotator, one.attribute) == (annotator, attribute)
            ),
        )


def _row(one: CheckedGroup) -> tuple[str, ...]:
    about = f"{one.factor}: {one.level}" if one.factor else "all"
    counts = (one.labels, one.agreed, one.wrong, one.ambiguous)
    return (about, *(numerals.count(float(n)) for n in counts), _share(one.wrong_share))


def _share(found: Interval) -> str:
    ends = numerals.interval(found.low, found.high, "share") if found.low is not None else ""
    return f"{numerals.share(found.value)} {ends}".strip()
