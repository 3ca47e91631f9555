"""Agreement between people and each annotator, among people, among annotators, and among the votes
of a panel: Gwet's AC1 and Krippendorff's α over all, Cohen's κ and raw agreement per pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..protocol import Protocol
from ..stats.judges import agreement, confusion
from ..stats.results import Interval
from ..store import Store
from ..store.queries import labels
from ..store.rows import levels
from . import GoldPair, review
from .lists import TAXONOMY


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient of agreement. who: the annotators compared; raters: their number."""

    who: str
    attribute: str
    coefficient: str
    raters: int
    found: Interval


def agreements(
    store: Store, protocol: Protocol, cards: Mapping[tuple[str, str], Sequence[GoldPair]]
) -> Iterator[Agreement]:
    """Yields the agreement of people with each annotator, then among people, annotators and the
    votes of panels. cards: {(annotator, attribute): pairs of gold and the annotator's label}.
    """
    items = {
        trial: levels(factors).get(protocol.item, trial)
        for trial, _, _, factors in store.iter_trials()
    }
    for (annotator, attribute), rows in cards.items():
        table = {row.output: {"people": row.truth, annotator: row.said} for row in rows}
        weights = {row.output: row.weight for row in rows}
        yield from _coefficients(f"{annotator} and people", attribute, table, items, weights)
    for who in ("people", "annotators"):
        for attribute, table in _tables(labels.comparable(store, people=who == "people")).items():
            yield from _coefficients(who, attribute, table, items)
    for attribute, table in _votes(store).items():
        yield from _coefficients("votes of the panel", attribute, table, items)


def reviewer_agreements(
    store: Store, known: Mapping[str, review.TaxonomyValue]
) -> Iterator[Agreement]:
    """Yields the agreement of people who reviewed the same taxonomy, clustered by attribute."""
    table: dict[str, dict[str, str]] = {}
    for annotator, marks in review.marks(store).items():
        for item, mark in marks.items():
            if mark.value and item in known:
                table.setdefault(item, {})[annotator] = mark.value
    yield from _coefficients(
        "people", TAXONOMY, table, {item: one.whole for item, one in known.items()}
    )


def _tables(comparable: Iterable[labels.StoredLabel]) -> dict[str, dict[str, dict[str, str]]]:
    """Returns {attribute: {output: {annotator: value}}}; drops attributes never labelled twice."""
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for label in comparable:
        outputs = tables.setdefault(label.attribute, {})
        outputs.setdefault(label.output, {})[label.annotator] = label.value
    return {
        attribute: table
        for attribute, table in tables.items()
        if any(len(values) > 1 for values in table.values())
    }


def _votes(store: Store) -> dict[str, dict[str, dict[str, str]]]:
    """Returns {"attribute of panel": {output: {"judge N": vote}}}."""
    votes: dict[str, dict[str, dict[str, str]]] = {}
    for vote in labels.votes(store):
        outputs = votes.setdefault(f"{vote.attribute} of {vote.annotator}", {})
        outputs.setdefault(vote.output, {})[f"judge {vote.position + 1}"] = vote.value
    return votes


def _coefficients(
    who: str,
    attribute: str,
    table: Mapping[str, Mapping[str, str]],
    items: Mapping[str, str],
    weights: Mapping[str, float] | None = None,
) -> Iterator[Agreement]:
    """Yields Gwet's AC1 and Krippendorff's α over all; Cohen's κ and raw agreement of each pair."""
    names = list(dict.fromkeys(name for row in table.values() for name in row))
    values = sorted({value for row in table.values() for value in row.values()})
    places = {value: code for code, value in enumerate(values)}
    outputs = [output for output, row in table.items() if len(row) > 1]
    if not outputs or len(names) < 2:
        return
    codes = np.array(
        [[places[table[o][name]] if name in table[o] else -1 for name in names] for o in outputs]
    )
    clusters = np.unique([items.get(output, output) for output in outputs], return_inverse=True)[1]
    rated = agreement.ratings(
        codes=codes,
        classes=max(2, len(values)),
        clusters=clusters,
        weights=None if weights is None else [weights[output] for output in outputs],
    )
    yield Agreement(who, attribute, "Gwet's AC1", len(names), agreement.gwet_ac1(rated=rated))
    yield Agreement(
        who, attribute, "Krippendorff's α", len(names), agreement.krippendorff_alpha(rated=rated)
    )
    for two in agreement.pairwise_agreement(rated=rated):
        of = "" if len(names) == 2 else f" of {names[two.first]} and {names[two.second]}"
        shared = (codes[:, two.first] >= 0) & (codes[:, two.second] >= 0)
        both = confusion.confusion(
            truth=codes[shared, two.first],
            said=codes[shared, two.second],
            classes=max(2, len(values)),
            clusters=clusters[shared],
            weights=rated.weights[shared],
        )
        yield Agreement(who, attribute, f"Cohen's κ{of}", 2, agreement.cohen_kappa(gold=both))
        yield Agreement(who, attribute, f"agreement{of}", 2, two.agreement)
