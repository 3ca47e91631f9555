"""A description of the number that a visitor came from: the outputs that its query counts."""

from __future__ import annotations

from ...analyse.claims.output_query import MODE, OutputQuery
from ..selection.index import Index
from ..selection.parts import SUBJECT, Banner
from ..selection.view import View


def banner(index: Index, view: View, outputs: int) -> Banner | None:
    """Builds the banner above a query's outputs; None without a query. outputs: their number."""
    if not view.query:
        return None
    query = OutputQuery.parse(view.query)
    models = " and ".join(index.title(SUBJECT, subject) for subject in query.subjects)
    facts = [("model", models or "all")]
    for name, wanted in query.levels.items():
        existing = [level for level in wanted if level in index.levels(name)]
        if name != MODE:
            facts.append((name, " or ".join(index.title(name, one) for one in existing or wanted)))
    facts.append((query.attribute or "all attributes", " or ".join(query.values) or "every value"))
    if query.among:
        facts.append(("among", ", ".join(query.among)))
    facts.append(("labelled by", query.annotator))
    return Banner(view.number, outputs, tuple(facts), view.address(query="", number=""))
