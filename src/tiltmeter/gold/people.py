"""The people who annotate: their names, labels, disagreements and progress."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from .. import gold, registry
from ..errors import UsageError
from ..protocol import EVERY, Protocol
from ..records import ADJUDICATED, CORRECTED, HUMAN
from ..store import Store
from ..store.queries import artefacts, labels
from .answers import MOST_CHARACTERS, WORK, State, read_notes, read_states

AMONG = "gold_among"  # kind of the artefacts with the people among whom a sample is divided
SHOWN_TO_ALL = 0.2  # of a sample that is divided


class PersonProgress(NamedTuple):
    """A person's progress. of: number of outputs to label; skipped: {reason: number}."""

    annotator: str
    attribute: str
    of: int
    labelled: int
    skipped: Mapping[str, int]
    notes: int


def annotator_named(store: Store, protocol: Protocol, name: str) -> str:
    """Returns the annotator `human:NAME`. Raises UsageError for a missing or a machine's name."""
    plain = unicodedata.normalize("NFC", name).strip().removeprefix(HUMAN)
    why = ""
    if store.clean(plain) != plain:
        plain, why = store.clean(plain), "holds a key of the environment"
    elif not plain:
        why = "is empty"
    elif "/" in plain or "\\" in plain:
        why = "has a slash, which tells an instrument from its version"
    elif not plain.isprintable():
        why = "has characters that cannot be seen"
    elif len(plain) > MOST_CHARACTERS["annotator"]:
        why = f"is longer than {MOST_CHARACTERS['annotator']} characters"
    elif plain.endswith(ADJUDICATED):
        why = "ends as decisions do; those are made with --adjudicate"
    elif plain.endswith(CORRECTED):
        why = "ends as corrections do; those are made in the explorer"
    elif (
        plain in gold.machines(store)
        or plain in {spec.name for spec in protocol.instruments}
        or registry.is_model(plain)
    ):
        why = "is a model or an instrument; gold is what people say"
    if why:
        raise UsageError(
            f"The annotator's name '{plain if plain.isprintable() else ascii(plain)}' {why}. "
            "Type for instance: --annotator ann"
        )
    return HUMAN + plain


def divide(store: Store, attribute: str, annotator: str, among: Sequence[str]) -> list[str]:
    """Stores the people among whom the sample of an attribute is divided, and returns them; [] if
    everybody labels all of it. Raises UsageError if it is divided otherwise already, or if the
    annotator is not among the people."""
    names: list[str] = json.loads(store.artefact(AMONG, attribute) or "[]")
    if among and sorted(set(among)) != names:
        if names or labels.have_human(store, "" if attribute == EVERY else attribute):
            how = f"is divided among {_names(names)}" if names else "is shown whole to everybody"
            raise UsageError(
                f"People have begun: the sample of {attribute} {how}. Leave --among out."
            )
        names = sorted(set(among))
    if names and annotator not in names:
        raise UsageError(
            f"{_names([annotator])} is not among {_names(names)}, who share the sample of "
            f"{attribute}. Type one of these names."
        )
    if among:
        store.keep(AMONG, attribute, json.dumps(names))
    return names


def _names(annotators: Iterable[str]) -> str:
    return ", ".join(annotator.removeprefix(HUMAN) for annotator in annotators)


def part_of(outputs: Iterable[str], annotator: str, among: Sequence[str]) -> set[str]:
    """Returns one person's part of a sample: a fifth that everybody labels, to measure agreement,
    and this person's share of the other outputs; the whole sample if it is not divided.
    """
    order = sorted(outputs)
    if annotator not in among:
        return set(order)
    Random("divided").shuffle(order)
    shared = round(SHOWN_TO_ALL * len(order))
    return {*order[:shared], *order[shared + among.index(annotator) :: len(among)]}


def disagreements(store: Store) -> dict[str, dict[str, dict[str, State]]]:
    """Returns {attribute: {output: {person: label}}} of outputs on which two people differ."""
    labels_of: dict[str, dict[str, dict[str, State]]] = defaultdict(lambda: defaultdict(dict))
    for label in labels.undecided_by_people(store):
        labels_of[label.attribute][label.output][label.annotator] = State(label.value)
    for attribute, outputs in labels_of.items():
        for annotator in {name for names in outputs.values() for name in names}:
            for output, state in read_notes(store, WORK, f"{annotator}/{attribute}").items():
                if annotator in outputs.get(output, {}):
                    outputs[output][annotator] = outputs[output][annotator]._replace(
                        note=state.note
                    )
    split_by: dict[str, dict[str, dict[str, State]]] = {}
    for attribute, outputs in labels_of.items():
        split = {
            output: names
            for output, names in outputs.items()
            if len({name.value for name in names.values()}) > 1
        }
        split_by |= {attribute: split} if split else {}
    return split_by


def progress(store: Store) -> Iterator[PersonProgress]:
    """Yields each person's progress per attribute, in the sample or the adjudication."""
    split = disagreements(store)
    samples = {sample["attribute"]: set(sample["outputs"]) for sample in gold.samples(store)}
    for annotator, attribute in people(store):
        states = read_states(store, annotator, attribute)
        items = (
            split.get(attribute, {})
            if annotator.endswith(ADJUDICATED)
            else samples.get(attribute) or _whole_outputs(store, samples, attribute)
        )
        among = json.loads(store.artefact(AMONG, attribute) or "[]")
        mine = [states.get(item, State()) for item in part_of(items or states, annotator, among)]
        yield progress_of(annotator, attribute, mine)


def progress_of(annotator: str, attribute: str, mine: Sequence[State]) -> PersonProgress:
    """Counts the answers of one person. mine: the states of all items, also without an answer."""
    skipped = dict(Counter(state.skipped for state in mine if state.skipped).most_common())
    labelled = sum(bool(state.value) for state in mine)
    notes = sum(bool(state.note) for state in mine)
    return PersonProgress(annotator, attribute, len(mine), labelled, skipped, notes)


def _whole_outputs(store: Store, drawn: Mapping[str, set[str]], attribute: str) -> set[str]:
    """Returns an attribute's outputs from its own sample, or from the sample of all attributes."""
    labelled = {output for output, _, _ in labels.of_machines(store, (attribute,))}
    return drawn.get(EVERY, set()) & labelled


def people(store: Store) -> list[tuple[str, str]]:
    """Lists (annotator, attribute) of everybody who labelled, skipped or noted anything."""
    everybody = labels.people_attributes(store) | set(_noting(store))
    return sorted(everybody, key=lambda one: (one[1], one[0]))


def _noting(store: Store) -> list[tuple[str, str]]:
    """Lists (annotator, attribute) of people with stored skips, notes or marks."""
    names = (one.name.partition("/") for one in artefacts.by_name(store, WORK))
    return [(annotator, attribute) for annotator, _, attribute in names]


def skips(store: Store) -> dict[str, Counter[str]]:
    """Returns {attribute: {reason: number of outputs that people skipped}}."""
    counters: dict[str, Counter[str]] = defaultdict(Counter)
    for annotator, attribute in _noting(store):
        states = read_states(store, annotator, attribute).values()
        counters[attribute].update(state.skipped for state in states if state.skipped)
    return {attribute: counts for attribute, counts in counters.items() if counts}


def unlabelled(store: Store, attribute: str) -> Iterator[str]:
    """Yields a sentence per person who left a tenth or more of the outputs of a sheet blank, or
    skipped them on the page.
    """
    left: dict[str, set[str]] = defaultdict(set)
    for sheet in artefacts.by_date(store, gold.GOLD):
        for place, names in json.loads(sheet.content).get("blank", {}).items():
            left[place] |= set(names)
    for annotator, name in labels.people_attributes(store):
        place = f"{annotator}/{name}"
        skipped = {key for key, state in read_notes(store, WORK, place).items() if state.skipped}
        labelled = set(labels.values(store, annotator, name))
        missing = (left[place] | skipped) - labelled
        whole = len(missing) + len(labelled)
        if name == attribute and missing and len(missing) >= (1 - gold.ANNOTATED_SHARE) * whole:
            yield (
                f"{annotator.removeprefix(HUMAN)} gave no value to {len(missing):,} of {whole:,} "
                f"outputs ({100 * len(missing) / whole:.0f} %). People do not skip at random, so "
                "what is labelled may differ from what is not."
            )
