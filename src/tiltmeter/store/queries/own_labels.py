"""The one label of each output that a page shows as its own: the lead annotator's."""

from __future__ import annotations

from collections.abc import Iterator

from ...records import VOTE
from .. import Store


def are_single(store: Store, attribute: str) -> bool:
    """True if annotators gave an attribute one value an output, and none is a probability."""
    query = (
        "SELECT 1 FROM labels WHERE current AND attribute IN (?1, ?2)"
        " AND (weight <> 1 OR (position > 0 AND attribute = ?1)) LIMIT 1"
    )
    return store.first(query, (attribute, attribute + VOTE)) is None


def lead_values(store: Store, attribute: str, lead: str) -> Iterator[tuple[str, str, bool]]:
    """(output, value, whether annotators or votes disagree) of an attribute whose labels
    `are_single`: what the lead annotator said, else the first in the order of their names.
    """
    query = (
        "SELECT output, value, disagree FROM ("
        " SELECT output, value, count(DISTINCT value) > 1 AS disagree,"
        "  min(CASE WHEN attribute = ?1 THEN (annotator <> ?2) || annotator END) AS rank"
        " FROM labels WHERE current AND attribute IN (?1, ?3) GROUP BY output)"
        " WHERE rank IS NOT NULL"
    )
    return store.rows(query, (attribute, lead, attribute + VOTE))
