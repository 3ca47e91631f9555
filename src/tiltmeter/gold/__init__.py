"""Labels by people (gold), for comparison with those of judges. intake.py imports files of them.

Gold is stored as labels of annotators `human:NAME`. A person's later answer replaces an earlier
one; both are kept. The `weight` of such a label is 1/(the probability that its output was sampled),
as the sheet says. If people disagree, somebody's decision is a label of `human:NAME (adjudicated)`
and replaces theirs.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypedDict

from ..errors import UsageError
from ..protocol import EVERY, Protocol, few_items
from ..records import ADJUDICATED, VOTE
from ..store import Store
from ..store.queries import artefacts, calls, labels, looks

SAMPLE = "gold_sample"  # kind of the artefacts that hold what was drawn
GOLD = "gold"  # kind of the artefacts that say what was imported
MOST_LEVELS = 12  # of a factor that makes conditions; more are items, not conditions
ANNOTATED_SHARE = 0.9  # of a sample that must be annotated for it to count as random


def refuse_stopped(store: Store) -> None:
    """Raises UsageError if a run stops early: later gold would change the labels of past looks."""
    if looks.plan(store):
        raise UsageError(
            f"{store.folder} stops early, so it cannot have gold: gold changes labels after a "
            "look. Run without --stop, or label by a panel."
        )


class GoldPair(NamedTuple):
    """A gold label (truth) and an annotator's label (said) of one output and attribute.

    call: the key of the last call on which the annotator's label rests, "" if unknown.
    """

    output: str
    subject: str
    mode: str
    factors: Mapping[str, str]
    attribute: str
    annotator: str
    truth: str
    weight: float
    said: str
    call: str

    def item(self, factor: str) -> str:
        """Returns the output's item. factor: that of the items; without it an output is its own."""
        return self.factors.get(factor, self.output)


class GoldSample(TypedDict):
    """Outputs that were sampled for annotation, as the run stores them. by: the factors by which
    the sample was stratified; number: the size of the sample; of: the number of outputs that could
    be sampled; outputs: {output: (weight, reason for sampling it)}.
    """

    attribute: str
    by: list[str]
    seed: int
    number: int
    of: int
    date: str
    rule: str
    outputs: dict[str, tuple[float, str]]


# what gold may say


def attributes(protocol: Protocol) -> tuple[str, ...]:
    """Returns the attributes that a protocol's instruments label, in the instruments' order."""
    return tuple(
        dict.fromkeys(
            name for spec in protocol.instruments for name in (spec.attribute, *spec.also)
        )
    )


def known_attributes(store: Store, protocol: Protocol) -> tuple[str, ...]:
    """Returns the protocol's attributes, then other attributes of the run's labels (a judge's)."""
    names = labels.attributes(store, superseded=True)
    return tuple(
        dict.fromkeys((*attributes(protocol), *(name for name in names if not name.endswith(VOTE))))
    )


def machines(store: Store) -> set[str]:
    """Returns the annotators of a run that are not people, and all models that were called."""
    return {*labels.machines(store), *calls.models(store)}


def conditions(protocol: Protocol, there: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """Returns the factors that the protocol's measures compare or group by, compared factors first.

    there: the levels of each output. A factor with more than MOST_LEVELS levels in it is left out.
    The item itself can be such a factor if a design has only a few items.
    """
    kept_by_variants = {name for variant in protocol.variants.values() for name in variant.only}
    measures = [measure for measure in protocol.measures if measure.name not in kept_by_variants]
    compared = [(measure.contrast or {}).get("factor", "") for measure in measures]
    grouped = [factor for measure in measures for by in measure.by for factor in by]
    levels: dict[str, set[str]] = defaultdict(set)
    for one in there:
        for name, level in one.items():
            levels[name].add(level)
    return tuple(
        name
        for name in dict.fromkeys((*compared, *grouped))
        if name in protocol.factors
        and name != "language"
        and (name != protocol.item or few_items(protocol))
        and len(levels[name]) <= MOST_LEVELS
    )


# samples, which sheet.py draws


def samples(store: Store) -> list[GoldSample]:
    """Returns all samples for annotation, earliest first."""
    return [json.loads(one.content) for one in artefacts.by_date(store, SAMPLE)]


def drawn_weights(store: Store) -> dict[str, float]:
    """Returns {output: weight} over all samples; a later sample replaces earlier weights."""
    return {
        output: weight
        for sample in samples(store)
        for output, (weight, _) in sample["outputs"].items()
    }


def is_random(store: Store, attribute: str) -> bool:
    """True if an attribute's gold is a random sample with known weights: all from one sample for
    this attribute, nearly all of which people annotated (they do not skip at random).
    """
    gold = labels.outputs_of_people(store, attribute)
    drawn = [
        set(sample["outputs"]) for sample in samples(store) if sample["attribute"] == attribute
    ]
    outputs = [set(sample["outputs"]) for sample in samples(store) if sample["attribute"] == EVERY]
    if outputs:  # of such a sample the outputs that have the attribute
        labelled = {output for output, _, _ in labels.of_machines(store, (attribute,))}
        drawn += [picked & labelled for picked in outputs]
    return bool(gold) and any(
        gold <= picked and len(gold) >= ANNOTATED_SHARE * len(picked) for picked in drawn
    )


# gold beside judges


def annotators(store: Store) -> set[str]:
    """Returns the names of people who labelled; an adjudication counts as its author's."""
    return {name.removesuffix(ADJUDICATED) for name, _ in labels.people_attributes(store)}


def voices(store: Store) -> dict[str, dict[str, frozenset[str]]]:
    """Returns {attribute: {name: people}}, groups whose labels are to be used alone: each person if
    two labelled the attribute; all but one, called "without NAME", if more did. Leaves out
    attributes that only one person labelled."""
    people: dict[str, set[str]] = defaultdict(set)
    for annotator, attribute in labels.people_attributes(store):
        people[attribute].add(annotator.removesuffix(ADJUDICATED))
    voices_of = {}
    for attribute, everybody in people.items():
        names = sorted(everybody)
        if len(names) == 2:
            voices_of[attribute] = {name: frozenset({name}) for name in names}
        elif len(names) > 2:
            rest = {f"without {name}": frozenset(everybody - {name}) for name in names}
            voices_of[attribute] = rest
    return voices_of


def truths(
    store: Store, people: Collection[str] | None = None
) -> dict[tuple[str, str], tuple[str, float]]:
    """Returns {(output, attribute): (value, weight)}: the adjudicated value, else the value that
    most people gave; no entry in a tie. people: the people whose labels count besides
    adjudications, None for all.
    """
    answers: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    weights: dict[tuple[str, str], float] = {}
    for label in labels.of_people(store):
        if people is None or label.annotator.endswith(ADJUDICATED) or label.annotator in people:
            key = label.output, label.attribute
            answers[key][label.annotator] = label.value
            weights.setdefault(key, label.weight)
    values = {key: most_given(value_by_person) for key, value_by_person in answers.items()}
    return {key: (value, weights[key]) for key, value in values.items() if value is not None}


def most_given(value_by_person: Mapping[str, str]) -> str | None:
    """Returns the adjudicated value of an output, else the value that most people gave; None in a
    tie.
    """
    decided = [value for who, value in value_by_person.items() if who.endswith(ADJUDICATED)]
    (value, most), *others = Counter(decided or value_by_person.values()).most_common(2)
    return value if not others or others[0][1] < most else None


def by_judge(known: Iterable[GoldPair]) -> dict[tuple[str, str], list[GoldPair]]:
    """Groups pairs as {(annotator, attribute): its pairs}, sorted by attribute."""
    groups: dict[tuple[str, str], list[GoldPair]] = defaultdict(list)
    for pair in known:
        groups[pair.annotator, pair.attribute].append(pair)
    return {key: groups[key] for key in sorted(groups, key=lambda key: key[::-1])}


def pairs(store: Store, people: Collection[str] | None = None) -> list[GoldPair]:
    """Pairs gold values with machines' labels of the same output and attribute, of weight 1."""
    beside_people = list(labels.machines_beside_people(store))
    known = truths(store, people) if beside_people else {}
    return [
        GoldPair(
            label.output,
            label.subject,
            label.mode,
            label.levels,
            label.attribute,
            label.annotator,
            *known[label.output, label.attribute],
            label.value,
            label.call,
        )
        for label in beside_people
        if (label.output, label.attribute) in known
    ]
