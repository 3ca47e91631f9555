"""Counts of labelled outputs and sums of weights, made by SQLite from current labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...records import ANSWER, INVALID, UNRESOLVED, UNSURE
from .. import Store
from ..rows import levels
from ..views import number_of


class ConditionWeight(NamedTuple):
    """The sum of a value's weights over the outputs of a subject in one cell of the design."""

    subject: str
    levels: Mapping[str, str]
    value: str
    weight: float


def value_weights(store: Store, annotator: str, attribute: str) -> dict[str, float]:
    """Returns value → sum of an annotator's weights for it, the commonest first."""
    query = (
        f"SELECT value, sum(weight) FROM labels WHERE annotator_0 = {number_of('?')}"
        f" AND attribute_0 = {number_of('?')} AND current GROUP BY value_0 ORDER BY 2 DESC, 1"
    )
    return dict(store.rows(query, (annotator, attribute)))


def answers(store: Store, annotator: str) -> int:
    """Counts the outputs that are answers and have a label by an annotator."""
    query = (
        "SELECT count(DISTINCT l.n) FROM labels l JOIN outputs o ON o.n = l.n"
        " WHERE l.current AND l.annotator = ? AND o.outcome = ?"
    )
    return int(store.first(query, (annotator, ANSWER))[0])


def asked_in_vain(store: Store, annotator: str) -> int:
    """Counts the outputs about which an annotator asked a model without getting a label."""
    query = (
        "SELECT count(DISTINCT n) FROM labels WHERE current AND annotator = ?1"
        " AND value IN (?2, ?3, ?4)"
        " AND n IN (SELECT n FROM label_calls WHERE annotator = ?1)"
    )
    return int(store.first(query, (annotator, UNSURE, INVALID, UNRESOLVED))[0])


def number_of_values(store: Store, annotator: str, attribute: str) -> int:
    """Counts the different values that an annotator gave an attribute."""
    query = (
        f"SELECT count(DISTINCT value_0) FROM labels WHERE annotator_0 = {number_of('?')}"
        f" AND attribute_0 = {number_of('?')} AND current"
    )
    return int(store.first(query, (annotator, attribute))[0])


def condition_weights(store: Store, annotator: str, attribute: str) -> Iterator[ConditionWeight]:
    """Yields sums of weights by subject, cell of the design and value, in that order."""
    query = (
        "SELECT t.subject, t.factors, l.value, sum(l.weight)"
        " FROM labels l JOIN trials t ON t.n = l.n"
        " WHERE l.current AND l.annotator = ? AND l.attribute = ?"
        " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    for subject, factors, value, weight in store.rows(query, (annotator, attribute)):
        yield ConditionWeight(subject, levels(factors), value, weight)
