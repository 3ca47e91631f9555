"""Labels by output: all that annotators said of one together, for analysis."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...records import HUMAN, VOTE, Label
from .. import Store
from ..database import State
from . import labels, trials

# by sets of annotators, of which there are few: an output is looked up once for all of them
_LABELLED = f"""
SELECT t.subject, t.mode, l.annotators, count(*) FROM (
  SELECT n, json_group_array(annotator) AS annotators FROM labels
  WHERE current AND annotator NOT GLOB '{HUMAN}*' GROUP BY n) l
JOIN trials t ON t.n = l.n GROUP BY 1, 2, 3"""

# three queries that walk an index or the table once each, for one that needs both row by row
_SEVERAL = (
    "SELECT EXISTS (SELECT 1 FROM labels WHERE current AND attribute IN (?1, ?2)"
    " AND (weight <> 1 OR (position > 0 AND attribute = ?1)))"
)
_DISAGREED = (
    "SELECT output FROM labels WHERE current AND attribute IN (?, ?)"
    " GROUP BY n HAVING min(value) <> max(value)"
)
_LEAD = (
    "SELECT output, value, min((annotator <> ?2) || annotator) FROM labels"
    " WHERE current AND attribute = ?1 GROUP BY n"
)


class Labelled(NamedTuple):
    """How many outputs of a subject in one mode an annotator labelled, of how many there are."""

    subject: str
    mode: str
    annotator: str
    labelled: int
    outputs: int


class OutputLabels(NamedTuple):
    """The labels of an output, by the integers of its trial and of their words (Store.words).

    annotators, attributes, values: JSON arrays of one length, in this order; weight: of each.
    """

    n: int
    annotators: str
    attributes: str
    values: str
    weight: float


def by_output(store: Store) -> Iterator[OutputLabels]:
    """Every current label of annotators whose weights are all 1, by output.

    SQLite puts the labels of an output together, since a row costs more in Python than a label
    does, and leaves words out, which are the same of many.
    """
    single = labels.with_weights(store)
    rows = store.rows(
        "SELECT n, json_group_array(annotator_0), json_group_array(attribute_0),"
        " json_group_array(value_0), 1.0 FROM (SELECT n, annotator_0, attribute_0, value_0 FROM"
        f" labels WHERE current AND annotator_0 NOT IN ({_numbers(single)})"
        " ORDER BY n, annotator_0, attribute_0, value_0) GROUP BY n",
        single,
    )
    return map(OutputLabels._make, rows)


def weighted(store: Store) -> Iterator[OutputLabels]:
    """Every current label of annotators with weights of their own, a row a label."""
    single = labels.with_weights(store)
    rows = store.rows(
        "SELECT n, json_array(annotator_0), json_array(attribute_0), json_array(value_0), weight"
        f" FROM labels WHERE current AND annotator_0 IN ({_numbers(single)})"
        " ORDER BY n, annotator, attribute, value, weight",
        single,
    )
    return map(OutputLabels._make, rows)


def _numbers(names: Sequence[str]) -> str:
    """The integers of words, as SQL."""
    return f"SELECT n FROM words WHERE text IN ({','.join('?' * len(names))})"


def labelled(store: Store) -> list[Labelled]:
    """How far each annotator that is a machine is, by subject and mode."""
    answered: Counter[tuple[str, str]] = Counter()
    for part in trials.parts(store):
        answered[part.subject, part.mode] += part.answered
    done: Counter[tuple[str, str, str]] = Counter()
    for subject, mode, annotators, outputs in store.remembered_rows(_LABELLED):
        for annotator in set(json.loads(annotators)):
            done[subject, mode, annotator] += outputs
    return [
        Labelled(*key, number, answered[key[:2]])
        for key, number in sorted(done.items())
        if answered[key[:2]]
    ]


def remember_labelled(
    store: Store, counts: Iterable[tuple[str, str, str, int]], state: State
) -> None:
    """Spares `labelled` its query once all labels were counted. counts: (subject, mode, annotator,
    outputs); state: of the run before they were.
    """
    rows = [
        (subject, mode, json.dumps([annotator]), outputs)
        for subject, mode, annotator, outputs in counts
        if not annotator.startswith(HUMAN)
    ]
    store.remember(_LABELLED, rows, state)


def iter_current(store: Store) -> Iterator[Label]:
    """Every label that counts, by output and annotator."""
    query = (
        f"SELECT {', '.join(Label._fields)} FROM labels WHERE current"
        " ORDER BY n, annotator, attribute, position, id"
    )
    for row in store.rows(query):
        yield Label(*row)


def current_annotators(store: Store) -> set[str]:
    """Everybody and everything whose labels count."""
    return {row[0] for row in store.rows("SELECT DISTINCT annotator FROM labels WHERE current")}


def judges_by_annotator(store: Store) -> dict[str, list[str]]:
    """The models whose replies an annotator's labels rest on, in the order of their first turn."""
    query = (
        "SELECT l.annotator, c.model FROM label_calls l JOIN calls c ON c.n = l.c"
        " GROUP BY 1, 2 ORDER BY 1, min(l.turn)"
    )
    judges: dict[str, list[str]] = {}
    for annotator, model in store.rows(query):
        judges.setdefault(annotator, []).append(model)
    return judges


def iter_calls(store: Store) -> Iterator[tuple[str, str, str]]:
    """(output, annotator, call) of every reply that labels are said to rest on."""
    yield from store.rows("SELECT output, annotator, call FROM label_calls")


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


def labelled_too_early(store: Store) -> list[str]:
    """The outputs that a machine labelled before their calls were answered."""
    query = (
        "SELECT DISTINCT l.output FROM labels l JOIN outputs o ON o.n = l.n"
        " JOIN calls c ON c.n = o.c"
        f" WHERE l.current AND l.date < c.date AND l.annotator NOT GLOB '{HUMAN}*'"
    )
    return [row[0] for row in store.rows(query)]
