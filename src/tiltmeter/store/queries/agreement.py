"""Agreement of two annotators on the outputs that one of them labelled without asking a model."""

from __future__ import annotations

import json

from ...records import OUTCOMES
from .. import Store

_READ = """
SELECT DISTINCT l.output, l.n FROM labels l JOIN outputs o ON o.n = l.n
WHERE l.current AND l.annotator = ?1 AND l.value NOT IN (SELECT value FROM json_each(?3))
  AND (SELECT count(*) FROM label_calls c WHERE c.n = l.n
    AND c.annotator = ?1) = 0
ORDER BY l.n LIMIT ?2
"""
_ALIKE = """
SELECT coalesce(sum(a.value = b.value), 0), count(*)
FROM labels a JOIN labels b ON a.n = b.n AND b.current
WHERE a.current AND a.annotator = ?1 AND a.attribute = ?3 AND b.annotator = ?2 AND b.attribute = ?4
"""


def read_outputs(store: Store, annotator: str, most: int) -> list[str]:
    """Lists the first `most` outputs, sorted by id, that an annotator labelled without a model."""
    return [row[0] for row in store.rows(_READ, (annotator, most, json.dumps(OUTCOMES)))]


def alike(
    store: Store, annotator: str, other: str, attribute: str, other_attribute: str
) -> tuple[int, int]:
    """Returns (number of outputs with equal labels, number of outputs that both labelled)."""
    row = store.first(_ALIKE, (annotator, other, attribute, other_attribute))
    return int(row[0]), int(row[1])
