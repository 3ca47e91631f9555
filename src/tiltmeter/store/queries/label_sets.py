"""Labels by output, for analysis: all labels of each output, or labels with their prompts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...records import HUMAN, VOTE, Label
from .. import Store
from ..columns import integer_columns
from ..database import State
from ..rows import levels
from . import labels, trials

# by sets of annotators, of which there are few: an output is looked up once for all of them
_LABELLED = f"""
SELECT t.subject, t.mode, l.annotators, count(*) FROM (
  SELECT n, json_group_array(annotator) AS annotators FROM labels
  WHERE current AND annotator NOT GLOB '{HUMAN}*' GROUP BY n) l
JOIN trials t ON t.n = l.n GROUP BY 1, 2, 3"""


class Labelled(NamedTuple):
    """An annotator's progress in a subject's mode: outputs that it labelled, and all outputs."""

    subject: str
    mode: str
    annotator: str
    labelled: int
    outputs: int


class FirstLabel(NamedTuple):
    """A labelled output with its prompt. id: the trial's; factors: JSON of {factor: level}."""

    id: str
    mode: str
    factors: str
    prompt: str
    text: str
    value: str


class OutputLabels(NamedTuple):
    """The labels of an output, texts as integers (`Store.words`). n: the trial's integer;
    annotators, attributes, values: JSON arrays with an entry per label; weight: one for all labels.
    """

    n: int
    annotators: str
    attributes: str
    values: str
    weight: float


def by_output(store: Store) -> Iterator[OutputLabels]:
    """Yields every current label of annotators whose weights are all 1, by output.

    SQLite groups the labels of an output, since a row costs more in Python than a label, and
    returns words as integers, since many labels share them.
    """
    names = labels.with_weights(store)
    rows = store.rows(
        "SELECT n, json_group_array(annotator_0), json_group_array(attribute_0),"
        " json_group_array(value_0), 1.0 FROM (SELECT n, annotator_0, attribute_0, value_0 FROM"
        f" labels WHERE current AND annotator_0 NOT IN ({_numbers(names)})"
        " ORDER BY n, annotator_0, attribute_0, value_0) GROUP BY n",
        names,
    )
    return map(OutputLabels._make, rows)


def weighted(store: Store) -> Iterator[OutputLabels]:
    """Yields every current label of annotators with other weights than 1, one row per label."""
    names = labels.with_weights(store)
    rows = store.rows(
        "SELECT n, json_array(annotator_0), json_array(attribute_0), json_array(value_0), weight"
        f" FROM labels WHERE current AND annotator_0 IN ({_numbers(names)})"
        " ORDER BY n, annotator, attribute, value, weight",
        names,
    )
    return map(OutputLabels._make, rows)


def _numbers(names: Sequence[str]) -> str:
    """Writes SQL for the integers of words."""
    return f"SELECT n FROM words WHERE text IN ({','.join('?' * len(names))})"


def labelled(store: Store) -> list[Labelled]:
    """Lists the progress of each annotator that is a machine, by subject and mode."""
    answered: Counter[tuple[str, str]] = Counter()
    for part in trials.parts(store):
        answered[part.subject, part.mode] += part.answered
    counts: Counter[tuple[str, str, str]] = Counter()
    for subject, mode, annotators, outputs in store.remembered_rows(_LABELLED):
        for annotator in set(json.loads(annotators)):
            counts[subject, mode, annotator] += outputs
    return [
        Labelled(*key, number, answered[key[:2]])
        for key, number in sorted(counts.items())
        if answered[key[:2]]
    ]


def remember_labelled(
    store: Store, counts: Iterable[tuple[str, str, str, int]], state: State
) -> None:
    """Caches the result of `labelled` once all labels were counted. counts: (subject, mode,
    annotator, outputs); state: of the run before they were counted.
    """
    rows = [
        (subject, mode, json.dumps([annotator]), outputs)
        for subject, mode, annotator, outputs in counts
        if not annotator.startswith(HUMAN)
    ]
    store.remember(_LABELLED, rows, state)


def iter_current(store: Store) -> Iterator[Label]:
    """Yields every current label, by output and annotator."""
    query = (
        f"SELECT {', '.join(Label._fields)} FROM labels WHERE current"
        " ORDER BY n, annotator, attribute, position, id"
    )
    for row in store.rows(query):
        yield Label(*row)


def current_annotators(store: Store) -> set[str]:
    """Returns the annotators with current labels."""
    return {row[0] for row in store.rows("SELECT DISTINCT annotator FROM labels WHERE current")}


def judges_by_annotator(store: Store) -> dict[str, list[str]]:
    """Returns {annotator: models behind its labels, in the order of their first turns}."""
    query = (
        "SELECT l.annotator, c.model FROM label_calls l JOIN calls c ON c.n = l.c"
        " GROUP BY 1, 2 ORDER BY 1, min(l.turn)"
    )
    judges: dict[str, list[str]] = {}
    for annotator, model in store.rows(query):
        judges.setdefault(annotator, []).append(model)
    return judges


def iter_calls(store: Store) -> Iterator[tuple[str, str, str]]:
    """Yields (output, annotator, call) for every call that labels were read from."""
    yield from store.rows("SELECT output, annotator, call FROM label_calls")


def is_single(store: Store, attribute: str) -> bool:
    """False if an annotator gave an output several values of an attribute, or probabilities."""
    return not any(
        sort.weighted or (sort.ranked and sort.attribute == attribute)
        for sort in labels.sorts(store)
        if sort.current and sort.attribute in (attribute, attribute + VOTE)
    )


def is_of_one(store: Store, attribute: str) -> bool:
    """True if exactly one annotator labelled an attribute, and without votes."""
    names = (attribute, attribute + VOTE)
    pairs = {sort[:2] for sort in labels.sorts(store) if sort.current and sort.attribute in names}
    return [name for _, name in pairs] == [attribute]


def iter_values_alone(store: Store, attribute: str) -> Iterator[Sequence[str]]:
    """Yields an attribute's labels, by output, as columns of integers: trial, value."""
    source = f"FROM labels WHERE current AND attribute_0 IN ({_numbers([attribute])})"
    columns = ("n", "value_0")
    return integer_columns(store, columns, f"{source} AND n BETWEEN ? AND ?", (attribute,))


def iter_values(store: Store, attribute: str) -> Iterator[Sequence[str]]:
    """Yields an attribute's labels and the votes for it, by output, as columns of integers: trial,
    annotator, 1 for a vote, value.
    """
    vote_sql = "attribute_0 <> (SELECT n FROM words WHERE text = ?)"
    source = f"FROM labels WHERE current AND attribute_0 IN ({_numbers(('',) * 2)})"
    columns, names = ("n", "annotator_0", vote_sql, "value_0"), (attribute, attribute + VOTE)
    return integer_columns(store, columns, f"{source} AND n BETWEEN ? AND ?", (attribute, *names))


def labelled_too_early(store: Store) -> list[str]:
    """Lists the outputs that a machine labelled before their calls were answered."""
    query = (
        "SELECT DISTINCT l.output FROM labels l JOIN outputs o ON o.n = l.n"
        " JOIN calls c ON c.n = o.c"
        f" WHERE l.current AND l.date < c.date AND l.annotator NOT GLOB '{HUMAN}*'"
    )
    return [row[0] for row in store.rows(query)]


def with_prompts(
    store: Store, subject: str, annotator: str, attribute: str
) -> Iterator[tuple[Mapping[str, str], str, str, float]]:
    """Yields (factors, prompt, value, weight) of each current label of a subject's answers."""
    query = (
        "SELECT t.factors, t.prompt, l.value, l.weight FROM labels l JOIN trials t"
        " ON t.n = l.n WHERE l.current AND t.subject = ? AND l.annotator = ?"
        " AND l.attribute = ?"
    )
    for factors, prompt, value, weight in store.rows(query, (subject, annotator, attribute)):
        yield levels(factors), str(prompt), str(value), float(weight)


def first_labels(
    store: Store, subject: str, annotator: str, attribute: str
) -> Iterator[FirstLabel]:
    """Yields a subject's labelled outputs that have text, the first sample of each prompt first."""
    query = (
        "SELECT t.id, t.mode, t.factors, t.prompt, substr(o.text, 1, 2000), l.value"
        " FROM labels l JOIN trials t ON t.n = l.n JOIN outputs o ON t.n = o.n"
        " WHERE l.current AND l.position = 0 AND l.weight = 1 AND l.annotator = ?"
        " AND l.attribute = ? AND t.subject = ? AND o.blob = '' AND o.text != ''"
        " ORDER BY t.sample, t.n"
    )
    yield from (FirstLabel(*row) for row in store.rows(query, (annotator, attribute, subject)))
