"""Reviews, by people, of a taxonomy that a model made: each value of each attribute is appropriate,
inappropriate or ambiguous.

The SODA paper has its attributes checked in this way (818 of 820 appropriate). A person's marks are
an artefact of the run: {item: {value, skipped, note}}; they are not labels of outputs, and correct
no number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from ..errors import UsageError
from ..instruments.images.taxonomy import Attribute
from ..protocol import Protocol
from ..records import content_id
from ..stats.results import Interval
from ..store import Store
from ..store.queries import artefacts
from .answers import State, ValueChoice, check_state, read_notes, with_keys, wording, write_notes
from .lists import TAXONOMY, taxonomies
from .people import PersonProgress, progress_of

REVIEW = "taxonomy_review"  # kind of the artefacts, named after the annotator


@dataclass(frozen=True, slots=True)
class TaxonomyValue:
    """A value of an attribute, to be reviewed. attribute.of: {subject, object} of its outputs."""

    attribute: Attribute
    value: str

    @property
    def id(self) -> str:
        """The value's id, unique among all taxonomies of a run."""
        attribute = self.attribute
        return content_id(dict(attribute.of), attribute.name, attribute.part, self.value)

    @property
    def whole(self) -> str:
        """The id of the value's attribute: values of one attribute form a cluster."""
        return content_id(dict(self.attribute.of), self.attribute.name, self.attribute.part)


@dataclass(frozen=True, slots=True)
class MarkShare:
    """The number and share of values to which a person gave a mark, clustered by attribute."""

    annotator: str
    mark: str
    number: int
    share: Interval


@dataclass(frozen=True)
class Review:
    """The values of a run's taxonomies for one person to mark, in this person's own order."""

    store: Store
    annotator: str
    choices: tuple[ValueChoice, ...]
    values: Mapping[str, TaxonomyValue]
    attribute: str = "taxonomy"
    # none: everybody marks alone
    voices: Mapping[str, Sequence[State]] = field(default_factory=dict)

    @property
    def items(self) -> list[str]:
        """The values, grouped by attribute so that they are judged in context; groups shuffled."""
        order = list(self.values)
        groups: dict[str, list[str]] = {}
        for item in order:
            groups.setdefault(self.values[item].whole, []).append(item)
        shuffled = list(groups.values())
        Random(self.annotator).shuffle(shuffled)
        return [item for group in shuffled for item in group]

    def states(self) -> dict[str, State]:
        """Returns {item: this person's mark}."""
        return read_notes(self.store, REVIEW, self.annotator)

    def save(self, item: str, seen: State, now: State) -> State:
        """Stores `now` if the stored state equals `seen`; returns the state stored afterwards."""
        if item not in self.values:
            raise UsageError(f"There is no item '{item[:80]}' here.")
        check_state(now, self.choices)
        with self.store.transaction():
            stored = self.states().get(item, State())
            if stored != seen or stored == now:
                return stored
            write_notes(self.store, REVIEW, self.annotator, item, now)
        return now


def open_review(store: Store, protocol: Protocol, annotator: str) -> Review:
    """Makes a person's review. Raises UsageError if the run has no taxonomy, or an empty one."""
    values = taxonomy_values(store, protocol)
    if not values:
        raise UsageError(
            f"{store.folder} has no taxonomy to review. To have one found while pictures are "
            f"labelled type: tiltmeter label {store.folder} --judge MODEL"
        )
    return Review(store, annotator, with_keys(list(wording()["review"].items())), values)


def taxonomy_values(store: Store, protocol: Protocol) -> dict[str, TaxonomyValue]:
    """Returns {id: value} over all taxonomies of a run."""
    values: dict[str, TaxonomyValue] = {}
    for attribute in taxonomies(store, protocol):
        for value in attribute.values:
            value_of = TaxonomyValue(attribute, value)
            values[value_of.id] = value_of
    return values


def marks(store: Store) -> dict[str, dict[str, State]]:
    """Returns {person: {item: mark}}."""
    return {
        name: {item: State(**state) for item, state in json.loads(content).items()}
        for name, content in artefacts.by_name(store, REVIEW)
    }


def progress(store: Store, protocol: Protocol) -> Iterator[PersonProgress]:
    """Yields the progress of each person who has begun a review."""
    by_person = marks(store)
    values = taxonomy_values(store, protocol) if by_person else {}
    for annotator, marks_of in by_person.items():
        mine = [marks_of.get(item, State()) for item in values]
        yield progress_of(annotator, TAXONOMY, mine)


def shares(store: Store, known: Mapping[str, TaxonomyValue]) -> Iterator[MarkShare]:
    """Yields the share of each mark per person, clustered by attribute."""
    # loads scipy, which the page on which they mark has no use for
    from ..stats.rates import share_of

    for annotator, states in marks(store).items():
        marks_by_attribute = [
            (known[item].whole, mark.value)
            for item, mark in states.items()
            if mark.value and item in known
        ]
        for mark in wording()["review"] if marks_by_attribute else ():
            hits = [(whole, value == mark) for whole, value in marks_by_attribute]
            yield MarkShare(annotator, mark, sum(is_hit for _, is_hit in hits), share_of(hits))
