"""Labels against people, as tables: all attributes of a judge, in all and by group; a panel by how
far its judges agreed, and each of its judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...analyse.words import numerals
from ...gold.consensus import PanelAccuracy
from ...gold.label_check import CheckedGroup
from ...stats.results import Interval
from ..page_model import audits
from ..page_model.table import Field, Table, number, table_of, words

FIELDS: tuple[Field[CheckedGroup], ...] = (
    words("group", lambda one: f"{one.factor}: {one.level}" if one.factor else "all"),
    number("labels", lambda one: numerals.count(one.labels)),
    number("agreed", lambda one: numerals.count(one.agreed)),
    number("wrong", lambda one: numerals.count(one.wrong)),
    number("ambiguous", lambda one: numerals.count(one.ambiguous)),
    number("share wrong", lambda one: rate_text(one.wrong_share, numerals.share)),
)
OF_PANELS: tuple[Field[PanelAccuracy], ...] = (
    words("who", lambda one: one.who),
    number("labels", lambda one: numerals.count(one.labels)),
    number("right", lambda one: numerals.count(one.right)),
    number("accuracy", lambda one: rate_text(one.accuracy, numerals.share)),
)


def tables(found: Sequence[CheckedGroup]) -> Iterator[Table]:
    """A table for each annotator, a row for each group."""
    for place, annotator in enumerate(dict.fromkeys(one.annotator for one in found)):
        yield table_of(
            audits.slug("checked", place),
            f"{annotator}: all attributes against people",
            "labels as they were drawn; ambiguous: people could not tell either · 95 % intervals "
            "over outputs",
            (one for one in found if one.annotator == annotator),
            FIELDS,
        )


def panels(found: Sequence[PanelAccuracy]) -> Iterator[Table]:
    """A table for each panel and attribute: rows by how many judges agree, then one a judge."""
    of = dict.fromkeys((one.annotator, one.attribute) for one in found)
    for place, (annotator, attribute) in enumerate(of):
        yield table_of(
            audits.slug("panel", place),
            f"{annotator}: {attribute} against people, by how far the judges agree",
            "the panel's label where so many judges said one word, then each judge's own votes · "
            "95 % intervals over items",
            (one for one in found if (one.annotator, one.attribute) == (annotator, attribute)),
            OF_PANELS,
        )


def _two_places(value: float) -> str:
    return numerals.share(value, 2)


def rate_text(found: Interval, write: Callable[[float], str] = _two_places) -> str:
    """`.91 [.85, .95]`; a dash if there is nothing to divide by. write: how each number is
    written.
    """
    if found.value is None:
        return numerals.NOTHING
    if found.low is None or found.high is None:
        return write(found.value)
    return f"{write(found.value)} [{write(found.low)}, {write(found.high)}]"
