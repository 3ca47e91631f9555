"""People as an instrument: the majority value, for attributes that no judge labels.

An output has the value that most people gave it; if only one person labelled it, that person's; in
a tie `unresolved`; an adjudication overrides all. The result is stored as a label of
`people/1@majority`. It is analysed like any other annotator's but not compared with gold, as it is
the gold.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..protocol import Protocol
from ..records import ADJUDICATED, HUMAN, UNRESOLVED, Label
from ..stats.judges import agreement
from ..stats.means import pooled_mean
from ..stats.special import betainc
from ..store import Store
from ..store.queries import labels
from . import attributes
from .people import unlabelled

PEOPLE = labels.MAJORITY  # the annotator
WEAK = 0.4  # Krippendorff's α below which a headline says that people do not agree
FEW = 9  # outputs that several people saw, below which nothing is said of one of them
_LEVEL = 0.05


def current(store: Store, protocol: Protocol) -> Iterator[Label]:
    """Yields the labels by majority that follow from people's labels."""
    for attribute in attributes_by_people(store, protocol) if labels.have_human(store) else ():
        for output, value_by_person in _values_by_person(store, attribute).items():
            yield Label(output, PEOPLE, attribute, majority(value_by_person))


def changes(store: Store, protocol: Protocol) -> list[Label]:
    """Returns the labels by majority that differ from the stored labels."""
    stored = {(one.output, one.attribute): one.value for one in labels.by_annotator(store, PEOPLE)}
    by_majority = current(store, protocol)
    return [one for one in by_majority if stored.get((one.output, one.attribute)) != one.value]


def outdated(store: Store, protocol: Protocol) -> list[tuple[str, str, str]]:
    """Returns the keys of labels by majority whose attributes machines have labelled since, or
    whose people took their labels back.
    """
    if PEOPLE not in labels.annotators(store):
        return []
    places = {(one.output, one.attribute) for one in current(store, protocol)}
    stored = labels.by_annotator(store, PEOPLE)
    return [
        (one.output, PEOPLE, one.attribute)
        for one in stored
        if (one.output, one.attribute) not in places
    ]


def refresh(folder: Path, protocol: Protocol) -> None:
    """Stores the current labels by majority, if they have changed."""
    with Store(folder) as store:
        new, gone = changes(store, protocol), outdated(store, protocol)
    if new or gone:
        with Store(folder, writing=True) as store:
            store.withdraw(gone)
            store.supersede(new)


def leave_out(store: Store, protocol: Protocol, attribute: str, people: Collection[str]) -> None:
    """Withdraws people's labels of an attribute in a copy of a run; recomputes the majority."""
    values = _values_by_person(store, attribute)
    keys = [(out, who, attribute) for out, each in values.items() for who in {*each} & {*people}]
    alone = [(out, PEOPLE, attribute) for out, each in values.items() if {*each} <= {*people}]
    store.withdraw([*keys, *alone])
    store.supersede(changes(store, protocol))


def labellers(store: Store, attribute: str) -> list[str]:
    """Lists the annotators who labelled an attribute, decisions (`… (adjudicated)`) included."""
    return sorted(
        name for name, labelled in labels.people_attributes(store) if labelled == attribute
    )


def attributes_by_people(store: Store, protocol: Protocol) -> list[str]:
    """Returns the attributes that people labelled and machines did not."""
    by_machines = {
        name
        for annotator, name in labels.annotator_attributes(store)
        if not annotator.startswith(HUMAN) and annotator != PEOPLE
    }
    by_people = {name for _, name in labels.people_attributes(store)}
    return [name for name in attributes(protocol) if name in by_people - by_machines]


def majority(said: Mapping[str, str]) -> str:
    """Returns the value that most people gave, `unresolved` in a tie. said: {person: value}."""
    decided = [value for who, value in said.items() if who.endswith(ADJUDICATED)]
    (value, most), *others = Counter(decided or said.values()).most_common(2)
    return value if not others or others[0][1] < most else UNRESOLVED


def _values_by_person(store: Store, attribute: str) -> dict[str, dict[str, str]]:
    """Returns {output: {person: value}} of an attribute."""
    by_output: dict[str, dict[str, str]] = defaultdict(dict)
    for label in labels.of_people(store):
        if label.attribute == attribute:
            by_output[label.output][label.annotator] = label.value
    return by_output


@dataclass(frozen=True, slots=True)
class LabellingPerson:
    """A person compared with others who labelled the same outputs.

    value, low, high: this person's share of the value `said` less that of the others' majority,
    with interval; share, without: the value's share by majority, with and without this person's
    labels."""

    name: str
    attribute: str
    said: str
    value: float
    low: float
    high: float
    shared: int
    share: float
    without: float

    @property
    def leans(self) -> bool:
        """True if the difference is significant at .05, adjusted over the attribute's people."""
        return not self.low <= 0 <= self.high


class AgreementOfPeople(NamedTuple):
    """The agreement of people who label an attribute without a judge. alpha: Krippendorff's, on
    outputs with several labels; named: people who lean to a value, or dissent more often.
    """

    attribute: str
    alpha: float
    shared: int
    named: list[str]


def agreements(store: Store, protocol: Protocol) -> Iterator[AgreementOfPeople]:
    """Yields the agreement on each attribute that only people label, if several people did."""
    for attribute in attributes_by_people(store, protocol):
        answers = _values_by_person(store, attribute)
        names = sorted({who for each in answers.values() for who in each})
        shared = {output: each for output, each in answers.items() if len(each) > 1}
        alpha = _alpha(shared, names)
        if alpha is not None:
            lean = [
                one.name for one in leaning(answers, names, _counted_value(protocol, attribute), "")
            ]
            named = dict.fromkeys([*lean, *(name for name, _, _ in dissenting(answers, names))])
            yield AgreementOfPeople(attribute, alpha, len(shared), list(named))


def people_and_alpha(store: Store, attribute: str) -> tuple[int, float | None]:
    """Returns the number of people who labelled an attribute, and Krippendorff's α on the outputs
    that several labelled, or None.
    """
    labels_of = _values_by_person(store, attribute)
    names = sorted({who for each in labels_of.values() for who in each})
    shared = {output: each for output, each in labels_of.items() if len(each) > 1}
    return len({name.removesuffix(ADJUDICATED) for name in names}), _alpha(shared, names)


def sentences(store: Store, protocol: Protocol) -> Iterator[str]:
    """Yields sentences on the agreement of people who label without a judge, and on each person."""
    for attribute in attributes_by_people(store, protocol):
        labels_of = _values_by_person(store, attribute)
        names = sorted({who for each in labels_of.values() for who in each})
        shared = {output: each for output, each in labels_of.items() if len(each) > 1}
        yield from unlabelled(store, attribute)
        if len(names) < 2:
            yield (
                f"One person labelled {attribute}, and nobody checked it. Ask a second: tiltmeter "
                "annotate RUN --annotator NAME"
            )
            continue
        alpha = _alpha(shared, names)
        if alpha is not None:
            weak = (
                ". That is too little: people see different things, and the numbers say little"
                if alpha < WEAK
                else ""
            )
            yield (
                f"{len(names)} people labelled {attribute}; on the {len(shared):,} outputs that "
                f"several labelled, Krippendorff's α is {alpha:.2f}{weak}."
            )
        leaning_names = set()
        for one in leaning(labels_of, names, _counted_value(protocol, attribute), attribute):
            name, more = one.name.removeprefix(HUMAN), "more" if one.value > 0 else "less"
            leaning_names.add(one.name)
            yield (
                f"{name} says {one.said} {100 * abs(one.value):.0f} points {more} often than most "
                f"others on the same {one.shared:,} outputs [{100 * one.low:.0f}, "
                f"{100 * one.high:.0f}]; without {name} its share would be {one.without:.2f}, not "
                f"{one.share:.2f}."
            )
        for name, alone, fewest in dissenting(labels_of, names):
            if name not in leaning_names:
                yield (
                    f"{name.removeprefix(HUMAN)} alone says otherwise than all others in "
                    f"{alone:,} outputs, another in {fewest:,}: to one side and the other. Read "
                    "some of them together."
                )


def _counted_value(protocol: Protocol, attribute: str) -> str:
    ordered = sorted(protocol.measures, key=lambda spec: not spec.headline)
    values = (value for spec in ordered if spec.attribute == attribute for value in spec.values)
    return next(values, "")


def _alpha(shared: Mapping[str, Mapping[str, str]], names: Sequence[str]) -> float | None:
    if not shared:
        return None
    values = sorted({value for each in shared.values() for value in each.values()})
    codes = {value: number for number, value in enumerate(values)}
    table = [[codes.get(each.get(name, ""), -1) for name in names] for each in shared.values()]
    if len(values) < 2:
        return 1.0
    rated = agreement.ratings(codes=np.array(table), classes=len(values))
    return agreement.krippendorff_alpha(rated=rated).value


def leaning(
    said: Mapping[str, Mapping[str, str]], names: Sequence[str], value: str, attribute: str
) -> Iterator[LabellingPerson]:
    """Yields the people who give a value more or less often than the others, the most deviant
    first. Each such person is left out before the next is sought, as their labels would make others
    look biased. With two people, it cannot be known which of them leans.
    """
    left = list(names)
    while len(left) > 2:
        kept = {
            output: {who: v for who, v in each.items() if who in left}
            for output, each in said.items()
        }
        rows = [person for person in people(kept, left, value, attribute) if person.leans]
        if not rows:
            return
        farthest = max(rows, key=lambda one: abs(one.value) / (one.high - one.low))
        yield farthest
        left.remove(farthest.name)


def people(
    said: Mapping[str, Mapping[str, str]], names: Sequence[str], value: str, attribute: str
) -> Iterator[LabellingPerson]:
    """Yields a comparison of each person with the majority of the others."""
    share = _share(said, value)
    for name in names:
        gaps = [
            float(each[name] == value) - float(other == value)
            for each in said.values()
            if name in each and (other := _others_value(each, name)) != UNRESOLVED
        ]
        if len(gaps) < FEW:
            continue
        mean = pooled_mean(
            sums=np.array(gaps), n=np.ones(len(gaps)), confidence=1 - _LEVEL / len(names)
        )
        if mean.value is None or mean.low is None or mean.high is None:
            continue
        others = {
            output: {who: v for who, v in each.items() if who != name}
            for output, each in said.items()
        }
        without = _share({key: each for key, each in others.items() if each}, value)
        yield LabellingPerson(
            name, attribute, value, mean.value, mean.low, mean.high, len(gaps), share, without
        )


def dissenting(
    said: Mapping[str, Mapping[str, str]], names: Sequence[str]
) -> Iterator[tuple[str, int, int]]:
    """Yields (person, number of outputs on which this person contradicts all others, who agree; the
    fewest such outputs of anybody) if the numbers differ significantly. Null: each of the two is
    equally likely to dissent; exact binomial, adjusted for all pairs. By hand: 8 and 0 times, among
    3 people: p = 1/256·6 = .023."""
    alone = Counter(dict.fromkeys(names, 0))
    for each in said.values():
        if len(each) < len(names) or len(names) <= 2:
            continue
        (_, most), *rest = Counter(each.values()).most_common()
        if most == len(names) - 1:
            alone[next(who for who, value in each.items() if value == rest[0][0])] += 1
    fewest = min(alone.values(), default=0)
    for name, number in alone.most_common():
        p = float(betainc(number, fewest + 1, 0.5)) if number > fewest else 1.0
        if p * len(names) * (len(names) - 1) < _LEVEL:
            yield name, number, fewest


def _others_value(said: Mapping[str, str], name: str) -> str:
    """Returns the others' majority value for an output; `unresolved` in a tie or without others."""
    others = {who: value for who, value in said.items() if who != name}
    return majority(others) if others else UNRESOLVED


def _share(said: Mapping[str, Mapping[str, str]], value: str) -> float:
    """Returns a value's share among the outputs that have a majority value."""
    decided = [one for each in said.values() if (one := majority(each)) != UNRESOLVED]
    return float(np.mean([one == value for one in decided])) if decided else 0.0
