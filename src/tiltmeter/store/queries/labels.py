"""The labels of outputs, current ones unless a function says otherwise; earlier ones are kept.

People are annotators `human:NAME`; all others are machines. Single votes of a panel are labels of
an attribute of their own, which ends in `_vote`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...records import ADJUDICATED, CORRECTED, HUMAN, VOTE
from .. import Store
from ..packing import id_number
from ..rows import levels

# people who labelled blind: a correction in sight of other labels is no gold
_BY_PEOPLE = f"annotator GLOB '{HUMAN}*' AND annotator NOT GLOB '*{CORRECTED}'"
MAJORITY = "people/1@majority"  # most people, where no judge labels (gold/majority.py)
BY_MACHINES = f"annotator NOT GLOB '{HUMAN}*'"
_IS_VOTE, _IS_NO_VOTE = (f"attribute {verb} '*{VOTE}'" for verb in ("GLOB", "NOT GLOB"))
_UNDECIDED = f"{_BY_PEOPLE} AND annotator NOT GLOB '*{ADJUDICATED}'"


class StoredLabel(NamedTuple):
    """An annotator's label. weight: 1, a probability, or for people 1/(sampling probability)."""

    output: str
    annotator: str
    attribute: str
    value: str
    weight: float


class OutputLabel(NamedTuple):
    """A label of a given output. position: its rank, or 0; judge: who cast the vote, if known."""

    annotator: str
    attribute: str
    position: int
    value: str
    weight: float
    date: str
    judge: str = ""


class RankedLabel(NamedTuple):
    """A StoredLabel with its position among the values of its attribute."""

    output: str
    annotator: str
    attribute: str
    value: str
    weight: float
    position: int


class MachineLabel(NamedTuple):
    """A machine's label of an output with labels by people. call: key of the last call, or ""."""

    output: str
    attribute: str
    annotator: str
    value: str
    subject: str
    mode: str
    levels: Mapping[str, str]
    call: str


class Vote(NamedTuple):
    """One judge's vote in a panel; position: the judge's position in the panel."""

    attribute: str
    annotator: str
    output: str
    position: int
    value: str


class Sort(NamedTuple):
    """A kind of label that the run has. ranked: position above 0; weighted: weight other than 1."""

    annotator: str
    attribute: str
    current: bool
    ranked: bool
    weighted: bool

    @property
    def is_gold(self) -> bool:
        """True if people gave the labels without seeing other labels."""
        return self.annotator.startswith(HUMAN) and not self.annotator.endswith(CORRECTED)


# one scan for all that asks whether there is any label such as
_SORTS = (
    "SELECT a.text, b.text, current, ranked, weighted FROM (SELECT DISTINCT annotator_0 AS a,"
    " attribute_0 AS b, current, position > 0 AS ranked, weight <> 1 AS weighted FROM labels)"
    " JOIN words a ON a.n = a JOIN words b ON b.n = b"
)


def sorts(store: Store) -> list[Sort]:
    """Returns the sorts of labels in the run; cached until it changes."""
    return [Sort(*row) for row in store.remembered_rows(_SORTS)]


def _current(store: Store, where: str, values: Sequence[str] = ()) -> Iterator[StoredLabel]:
    """Yields the current labels that an SQL condition selects; it may end in ORDER BY."""
    query = "SELECT output, annotator, attribute, value, weight FROM labels WHERE current AND "
    return map(StoredLabel._make, store.rows(f"{query}{where}", values))


# who said something, and of what


def exist(store: Store) -> bool:
    """True if there are labels, current or not."""
    return store.first("SELECT 1 FROM labels LIMIT 1") is not None


def keys_of(store: Store, annotator: str) -> list[tuple[str, str, str]]:
    """Lists (output, annotator, attribute) of all current labels of an annotator."""
    query = "SELECT DISTINCT output, annotator, attribute FROM labels WHERE current AND annotator=?"
    return list(store.rows(query, (annotator,)))


def annotators(store: Store) -> list[str]:
    """Lists everyone who ever labelled, people and machines, by name."""
    return sorted({sort.annotator for sort in sorts(store)})


def last_date(store: Store) -> str:
    """Returns the date of the latest label, ISO 8601; "" if there are no labels."""
    return str(store.first("SELECT max(date) FROM labels")[0] or "")


def machines(store: Store) -> set[str]:
    """Returns annotators that are not people, including those without current labels."""
    return {name for name in annotators(store) if not name.startswith(HUMAN)}


def annotator_attributes(store: Store) -> list[tuple[str, str]]:
    """Lists (annotator, attribute) of all current labels, sorted."""
    return sorted({sort[:2] for sort in sorts(store) if sort.current})


def people_attributes(store: Store) -> set[tuple[str, str]]:
    """Returns (annotator, attribute) of people's current labels."""
    return {sort[:2] for sort in sorts(store) if sort.current and sort.is_gold}


def by_annotator(store: Store, annotator: str) -> Iterator[StoredLabel]:
    """Yields the current labels of one annotator."""
    return _current(store, "annotator = ?", (annotator,))


def attributes(store: Store, *, superseded: bool = False) -> list[str]:
    """Lists the attributes of labels, by name. superseded: also of labels that are not current."""
    return sorted({sort.attribute for sort in sorts(store) if sort.current or superseded})


def with_weights(store: Store) -> list[str]:
    """Lists annotators that gave some labels a weight other than 1, by name."""
    return sorted({sort.annotator for sort in sorts(store) if sort.current and sort.weighted})


def attributes_with_several(store: Store) -> set[str]:
    """Returns the attributes that can have several values per output; votes are left out."""
    sorts_ranked = [sort for sort in sorts(store) if sort.current and sort.ranked]
    return {sort.attribute for sort in sorts_ranked if not sort.attribute.endswith(VOTE)}


# labels of machines


def machine_values(store: Store, attribute: str) -> list[str]:
    """Lists the values that machines gave an attribute, by name."""
    query = (
        "SELECT DISTINCT value FROM labels"
        f" WHERE current AND attribute=? AND {BY_MACHINES} ORDER BY 1"
    )
    return [row[0] for row in store.rows(query, (attribute,))]


def of_machines(store: Store, attributes: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yields (output, attribute, value) of machines' labels of some attributes."""
    marks = ",".join("?" * len(attributes))
    return store.rows(
        "SELECT output, attribute, value FROM labels"
        f" WHERE current AND attribute IN ({marks}) AND {BY_MACHINES}",
        attributes,
    )


def machines_beside_people(store: Store) -> Iterator[MachineLabel]:
    """Yields machines' labels, one value each, of outputs that people labelled too."""
    query = f"""
SELECT l.output, l.attribute, l.annotator, l.value, t.subject, t.mode, t.factors, coalesce((
  SELECT call FROM label_calls c WHERE c.n = l.n AND c.annotator = l.annotator
  ORDER BY turn DESC LIMIT 1), '')
FROM labels l JOIN trials t ON t.n = l.n
WHERE l.current AND l.weight = 1 AND l.{BY_MACHINES} AND l.annotator <> '{MAJORITY}'
  AND l.n IN (SELECT n FROM labels WHERE current AND {_BY_PEOPLE})
ORDER BY l.annotator, l.attribute, l.n"""
    for *about, factors, call in store.rows(query):
        yield MachineLabel._make((*about, levels(factors), call))


def have_votes(store: Store) -> bool:
    """True if there are votes of a panel."""
    return any(sort.attribute.endswith(VOTE) for sort in sorts(store))


def panels_of_one(store: Store) -> list[str]:
    """Lists annotators whose votes all come from one judge, by name."""
    votes = [s for s in sorts(store) if s.current and s.attribute.endswith(VOTE)]
    return sorted({s.annotator for s in votes} - {s.annotator for s in votes if s.ranked})


def votes(store: Store) -> Iterator[Vote]:
    """Yields the votes of every panel, by attribute, annotator, output and judge."""
    query = (
        "SELECT attribute, annotator, output, position, value FROM labels"
        f" WHERE current AND {_IS_VOTE} ORDER BY 1, 2, n, 4"
    )
    return map(Vote._make, store.rows(query))


# labels of people


def have_human(store: Store, attribute: str = "") -> bool:
    """True if people labelled any attribute, or the given one."""
    return any(attribute in ("", name) for _, name in people_attributes(store))


def of_people(store: Store) -> Iterator[StoredLabel]:
    """Yields people's labels, in the order in which they were stored."""
    return _current(store, f"{_BY_PEOPLE} ORDER BY id") if have_human(store) else iter(())


def dated_of_people(store: Store) -> Iterator[tuple[StoredLabel, str]]:
    """Yields people's labels with their dates."""
    query = (
        "SELECT output, annotator, attribute, value, weight, date FROM labels"
        f" WHERE current AND {_BY_PEOPLE} ORDER BY id"
    )
    for *label, date in store.rows(query):
        yield StoredLabel._make(label), date


def places_of_people(store: Store) -> set[tuple[str, ...]]:
    """Returns (output, annotator, attribute) of all labels by people, past ones included."""
    query = f"SELECT output, annotator, attribute FROM labels WHERE {_BY_PEOPLE}"
    return set(store.rows(query))


def latest_dates(store: Store, by_majority: bool) -> dict[tuple[str, str], str]:
    """Returns {(output, attribute): date of its latest label}, by majority or by all others."""
    query = (
        "SELECT output, attribute, max(date) FROM labels"
        f" WHERE current AND annotator {'=' if by_majority else '<>'} ? GROUP BY 1, 2"
    )
    return {(output, attribute): date for output, attribute, date in store.rows(query, (MAJORITY,))}


def outputs_of_people(store: Store, attribute: str) -> set[str]:
    """Returns the outputs for which people labelled an attribute."""
    query = f"SELECT DISTINCT output FROM labels WHERE current AND attribute=? AND {_BY_PEOPLE}"
    return {row[0] for row in store.rows(query, (attribute,))}


def counts_of_people(store: Store, attribute: str) -> dict[str, int]:
    """Returns value → number of outputs to which people gave it, the commonest first."""
    query = (
        "SELECT value, count(DISTINCT n) FROM labels"
        f" WHERE current AND attribute=? AND {_BY_PEOPLE} GROUP BY 1 ORDER BY 2 DESC"
    )
    return dict(store.rows(query, (attribute,)))


def undecided_by_people(store: Store) -> Iterator[StoredLabel]:
    """Yields people's labels without adjudications, by attribute, output and annotator."""
    return _current(store, f"{_UNDECIDED} ORDER BY attribute, n, annotator")


# labels to be compared


def comparable(store: Store, *, people: bool) -> Iterator[StoredLabel]:
    """Yields labels that can be compared with one another, of people or of machines, by attribute,
    output and annotator: of stored outputs, one value each; no votes, no adjudications.
    """
    who = _UNDECIDED if people else f"{BY_MACHINES} AND annotator <> '{MAJORITY}'"
    condition = f"""weight > 0 AND {who} AND {_IS_NO_VOTE}
  AND attribute NOT IN (SELECT attribute FROM labels WHERE current AND position > 0)
  AND n IN (SELECT n FROM outputs) ORDER BY attribute, n, annotator"""
    return _current(store, condition)


def value(store: Store, output: str, annotator: str, attribute: str) -> str:
    """Returns the value that an annotator gave an attribute of an output; "" for none."""
    row = store.first(
        "SELECT value FROM labels WHERE current AND n = ? AND annotator=? AND attribute=?",
        (id_number(output), annotator, attribute),
    )
    return str(row[0]) if row else ""


def values(store: Store, annotator: str, attribute: str) -> dict[str, str]:
    """Returns {output: the value that an annotator gave an attribute}."""
    query = "SELECT output, value FROM labels WHERE current AND annotator=? AND attribute=?"
    return dict(store.rows(query, (annotator, attribute)))


def of_output(store: Store, output: str) -> list[OutputLabel]:
    """Lists the labels of one output, by annotator, attribute and position."""
    query = (
        "SELECT annotator, attribute, position, value, weight, date FROM labels"
        " WHERE n = ? AND current ORDER BY annotator, attribute, position, id"
    )
    return [OutputLabel(*row) for row in store.rows(query, (id_number(output),))]


def of_attribute(store: Store, attribute: str) -> Iterator[RankedLabel]:
    """Yields an attribute's labels and votes by output, annotator, attribute and position."""
    query = (
        "SELECT output, annotator, attribute, value, weight, position FROM labels"
        " WHERE current AND attribute IN (?, ?)"
        " ORDER BY n, annotator, attribute, position, id"
    )
    return map(RankedLabel._make, store.rows(query, (attribute, attribute + VOTE)))


def ranked_values(store: Store) -> set[tuple[str, str, str, int, str]]:
    """Returns (output, annotator, attribute, position, value) of all current labels."""
    query = "SELECT output, annotator, attribute, position, value FROM labels WHERE current"
    return set(store.rows(query))
