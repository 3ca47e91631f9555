"""The search page of an explorer written to files, which needs no server: a script in the page
searches the words of all outputs, and lists the outputs behind each number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...analyse.claims.output_query import query_of
from ...analyse.estimates import estimates
from ...analyse.whole_run.outputs_behind import Counted
from ...records import ANSWER, Json
from ...report.page_model.sanitize import all_visible
from ..selection.index import Index
from ..selection.parts import NONE
from .cells import read_shown

SHORT_CHARACTERS = 300  # of a text, of which the words are found


def findings(index: Index, attribute: str, files: Mapping[str, str]) -> str:
    """Returns JSON that is safe inside a page: {"outputs": [[key, file, picture, text, label], …],
    "sets": [[indices]], "queries": {query: index of its set}}. files: {RUN-OUTPUT: its page}.
    """
    index.load_labels(attribute)
    rows: list[list[str]] = []
    placed = list(index.table.iter_outputs(attribute))
    stored = read_shown(index, placed, SHORT_CHARACTERS)
    for one in placed:
        output = stored[one.run][one.number]
        key = f"{one.run}-{output.id}"
        if key in files:
            picture = output.blob if one.outcome == ANSWER else ""
            text = "" if picture else output.text
            label = " · ".join(one.values) or NONE
            rows.append([key, files[key], picture, text, label])
    index_of = {row[0]: place for place, row in enumerate(rows)}
    sets, queries = _sets(index, index_of)
    data: dict[str, Json] = {
        "outputs": all_visible(tuple(map(tuple, rows))),
        "sets": sets,
        "queries": queries,
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _sets(index: Index, places: Mapping[str, int]) -> tuple[list[list[int]], dict[str, int]]:
    """Returns (distinct sets of outputs behind estimates, {query: index of its set})."""
    sets: dict[tuple[int, ...], int] = {}
    queries: dict[str, int] = {}
    for source in index.sources.values():
        counted = Counted(source.store, source.protocol)
        for row in estimates(source.store, source.protocol):
            query = query_of(source.protocol, row)
            keys = (f"{source.number}-{output}" for output in counted.outputs(query))
            members = tuple(places[key] for key in keys if key in places)
            queries[query.text()] = sets.setdefault(members, len(sets))
    return [list(one) for one in sets], queries
