"""The one label of each output that a page shows as its own: the lead annotator's."""

from __future__ import annotations

from ...records import VOTE
from .. import Store


def lead_values(store: Store, attribute: str, lead: str) -> list[tuple[str, str, bool]] | None:
    """(output, value, whether annotators or votes disagree): what the lead annotator said, else the
    first in the order of their names. None where an annotator gave an output several values or
    probabilities.
    """
    query = (
        "SELECT output, value, disagree, several FROM ("
        " SELECT output, value, count(DISTINCT value) > 1 AS disagree,"
        "  sum(weight <> 1 OR (position > 0 AND attribute = ?1)) AS several,"
        "  min(CASE WHEN attribute = ?1 THEN (annotator <> ?2) || annotator END) AS rank"
        " FROM labels WHERE current AND attribute IN (?1, ?3) GROUP BY output)"
        " WHERE rank IS NOT NULL"
    )
    rows = list(store.rows(query, (attribute, lead, attribute + VOTE)))
    return None if any(row[3] for row in rows) else [row[:3] for row in rows]
