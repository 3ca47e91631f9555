"""The one label of each output that a page shows as its own: the lead annotator's."""

from __future__ import annotations

from ...records import VOTE
from .. import Store

# three queries that walk an index or the table once each, for one that needs both row by row
_SEVERAL = (
    "SELECT EXISTS (SELECT 1 FROM labels NOT INDEXED WHERE current AND attribute IN (?1, ?2)"
    " AND (weight <> 1 OR (position > 0 AND attribute = ?1)))"
)
_DISAGREED = (
    "SELECT output FROM labels WHERE current AND attribute IN (?, ?)"
    " GROUP BY output HAVING min(value) <> max(value)"
)
_LEAD = (
    "SELECT output, value, min((annotator <> ?2) || annotator) FROM labels"
    " WHERE current AND attribute = ?1 GROUP BY output"
)


def lead_values(store: Store, attribute: str, lead: str) -> list[tuple[str, str, bool]] | None:
    """(output, value, whether annotators or votes disagree): what the lead annotator said, else the
    first in the order of their names. None where an annotator gave an output several values or
    probabilities.
    """
    values = (attribute, attribute + VOTE)
    if store.first(_SEVERAL, values)[0]:
        return None
    disagreed = {row[0] for row in store.rows(_DISAGREED, values)}
    rows = store.rows(_LEAD, (attribute, lead))
    return [(output, value, output in disagreed) for output, value, _ in rows]
