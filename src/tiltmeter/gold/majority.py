"""People as an instrument: the majority value, for attributes that no judge labels.

An output has the value that most people gave it; if only one person labelled it, that person's; in
a tie `unresolved`; an adjudication overrides all. The result is stored as a label of
`people/1@majority`. It is analysed like any other annotator's but not compared with gold, as it is
the gold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..protocol import MeasureSpec, Protocol, wording
from ..records import ADJUDICATED, CORRECTED, HUMAN, UNRESOLVED, Label
from ..stats.judges import agreement
from ..stats.means import pooled_mean
from ..stats.special import betainc
from ..store import Store
from ..store.queries import label_counts, labels
from . import attributes, most_given
from .people import unlabelled

PEOPLE = labels.MAJORITY  # the annotator
WEAK = 0.4  # Krippendorff's α below which a headline says that people do not agree
UNEVEN = 0.25  # labels per output by which two levels differ, from which ties are left out
FEW = 9  # outputs that several people saw, below which nothing is said of one of them
_LEVEL = 0.05
Answers = Mapping[str, str]  # of an output: person → value


def current(store: Store, protocol: Protocol) -> Iterator[Label]:
    """Yields the labels by majority that follow from people's labels."""
    for attribute in attributes_by_people(store, protocol) if labels.have_human(store) else ():
        for output, answers in _read_answers(store, attribute).by_output.items():
            yield Label(output, PEOPLE, attribute, majority(answers))


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
    values = _read_answers(store, attribute).by_output
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


def majority(answers: Answers) -> str:
    """Returns the value that most people gave an output, `unresolved` in a tie."""
    return most_given(answers) or UNRESOLVED


class _AttributeAnswers(NamedTuple):
    """People's labels of an attribute. shared: those outputs that several people labelled."""

    by_output: Mapping[str, Answers]
    names: Sequence[str]
    shared: Mapping[str, Answers]

    @property
    def alpha(self) -> float | None:
        """Krippendorff's α on the shared outputs; None if there are none."""
        values = sorted({value for answers in self.shared.values() for value in answers.values()})
        if len(values) < 2:
            return 1.0 if values else None
        codes = {value: number for number, value in enumerate(values)}
        table = [
            [codes[answers[name]] if name in answers else -1 for name in self.names]
            for answers in self.shared.values()
        ]
        rated = agreement.ratings(codes=np.array(table), classes=len(values))
        return agreement.krippendorff_alpha(rated=rated).value


def _read_answers(store: Store, attribute: str) -> _AttributeAnswers:
    by_output: dict[str, dict[str, str]] = {}
    for label in labels.of_people(store):
        if label.attribute == attribute:
            by_output.setdefault(label.output, {})[label.annotator] = label.value
    names = sorted({who for answers in by_output.values() for who in answers})
    shared = {output: answers for output, answers in by_output.items() if len(answers) > 1}
    return _AttributeAnswers(by_output, names, shared)


@dataclass(frozen=True, slots=True)
class LabellingPerson:
    """A person compared with others who labelled the same outputs.

    value, low, high: this person's share of the value `said` less that of the others' majority,
    with interval; share, without: the value's share by majority, with and without this person's
    labels."""

    name: str
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
        by_output, names, shared = answers = _read_answers(store, attribute)
        if answers.alpha is not None:
            lean = leaning(by_output, names, _counted_value(protocol, attribute))
            alone = dissenting(by_output, names)
            named = dict.fromkeys([*(one.name for one in lean), *(name for name, _, _ in alone)])
            yield AgreementOfPeople(attribute, answers.alpha, len(shared), list(named))


def people_and_alpha(store: Store, attribute: str) -> tuple[int, float | None]:
    """Returns the number of people who labelled an attribute, and Krippendorff's α on the outputs
    that several labelled, or None.
    """
    answers = _read_answers(store, attribute)
    return len({name.removesuffix(ADJUDICATED) for name in answers.names}), answers.alpha


def uneven_votes(store: Store, protocol: Protocol, spec: MeasureSpec) -> str:
    """Says who labelled more of one of the two levels that a measure compares, if that makes the
    labels per output differ: ties, which leave an output unresolved, depend on their number.
    """
    contrast = spec.contrast or {}
    if not {"level", "baseline"} <= {*contrast}:
        return ""
    factor, sides = contrast["factor"], (contrast["level"], contrast["baseline"])

    def counts(annotator: str) -> list[float]:
        cells = [*label_counts.condition_weights(store, annotator, spec.attribute)]
        return [sum(c.weight for c in cells if c.levels.get(factor) == side) for side in sides]

    names = [
        n for n in labellers(store, spec.attribute) if not n.endswith((ADJUDICATED, CORRECTED))
    ]
    votes, outputs = {name: counts(name) for name in names}, counts(PEOPLE)
    if not votes or not all(outputs):
        return ""
    each = [
        sum(side) / n for side, n in zip(zip(*votes.values(), strict=True), outputs, strict=True)
    ]
    if abs(each[0] - each[1]) < UNEVEN:
        return ""
    name, of_name = max(
        votes.items(), key=lambda one: abs(one[1][0] / outputs[0] - one[1][1] / outputs[1])
    )
    titles = [wording.title(protocol, factor, side) for side in sides]
    labelled = [f"{n:,.0f} of {of:,.0f}" for n, of in zip(of_name, outputs, strict=True)]
    return (
        f"{name.removeprefix(HUMAN)} labelled {labelled[0]} outputs for {titles[0]} and "
        f"{labelled[1]} for {titles[1]}, so these have {each[0]:.1f} and {each[1]:.1f} labels "
        "each. Ties depend on that, and nothing is claimed from answers that count neither way."
    )


def sentences(store: Store, protocol: Protocol) -> Iterator[str]:
    """Yields sentences on the agreement of people who label without a judge, and on each person."""
    for attribute in attributes_by_people(store, protocol):
        by_output, names, shared = answers = _read_answers(store, attribute)
        yield from unlabelled(store, attribute)
        if len(names) < 2:
            yield (
                f"One person labelled {attribute}, and nobody checked it. Ask a second: tiltmeter "
                "annotate RUN --annotator NAME"
            )
            continue
        alpha = answers.alpha
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
        for one in leaning(by_output, names, _counted_value(protocol, attribute)):
            name, more = one.name.removeprefix(HUMAN), "more" if one.value > 0 else "less"
            leaning_names.add(one.name)
            yield (
                f"{name} says {one.said} {100 * abs(one.value):.0f} points {more} often than most "
                f"others on the same {one.shared:,} outputs [{100 * one.low:.0f}, "
                f"{100 * one.high:.0f}]; without {name} its share would be {one.without:.2f}, not "
                f"{one.share:.2f}."
            )
        for name, alone, fewest in dissenting(by_output, names):
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


def leaning(
    said: Mapping[str, Answers], names: Sequence[str], value: str
) -> Iterator[LabellingPerson]:
    """Yields the people who give a value more or less often than the others, the most deviant
    first. Each such person is left out before the next is sought, as their labels would make others
    look biased. With two people, it cannot be known which of them leans.
    """
    left = list(names)
    while len(left) > 2:
        kept = {output: _of(answers, left) for output, answers in said.items()}
        rows = [person for person in people(kept, left, value) if person.leans]
        if not rows:
            return
        farthest = max(rows, key=lambda one: abs(one.value) / (one.high - one.low))
        yield farthest
        left.remove(farthest.name)


def people(
    said: Mapping[str, Answers], names: Sequence[str], value: str
) -> Iterator[LabellingPerson]:
    """Yields a comparison of each person with the majority of the others."""
    share = _share(said.values(), value)
    for name in names:
        gaps = [
            float(answers[name] == value) - float(other == value)
            for answers in said.values()
            if name in answers and (other := _others_value(answers, name)) != UNRESOLVED
        ]
        if len(gaps) < FEW:
            continue
        mean = pooled_mean(
            sums=np.array(gaps), n=np.ones(len(gaps)), confidence=1 - _LEVEL / len(names)
        )
        if mean.value is None or mean.low is None or mean.high is None:
            continue
        without = _share([_of(answers, {*names} - {name}) for answers in said.values()], value)
        yield LabellingPerson(
            name, value, mean.value, mean.low, mean.high, len(gaps), share, without
        )


def dissenting(said: Mapping[str, Answers], names: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yields (person, number of outputs on which this person contradicts all others, who agree; the
    fewest such outputs of anybody) if the numbers differ significantly. Null: each of the two is
    equally likely to dissent; exact binomial, adjusted for all pairs. By hand: 8 and 0 times, among
    3 people: p = 1/256·6 = .023."""
    alone = Counter(dict.fromkeys(names, 0))
    for answers in said.values():
        if len(answers) < len(names) or len(names) <= 2:
            continue
        (_, most), *rest = Counter(answers.values()).most_common()
        if most == len(names) - 1:
            alone[next(who for who, value in answers.items() if value == rest[0][0])] += 1
    fewest = min(alone.values(), default=0)
    for name, number in alone.most_common():
        p = float(betainc(number, fewest + 1, 0.5)) if number > fewest else 1.0
        if p * len(names) * (len(names) - 1) < _LEVEL:
            yield name, number, fewest


def _of(answers: Answers, people: Collection[str]) -> Answers:
    return {who: value for who, value in answers.items() if who in people}


def _others_value(answers: Answers, name: str) -> str:
    """Returns the others' majority value for an output; `unresolved` in a tie or without others."""
    others = _of(answers, {*answers} - {name})
    return majority(others) if others else UNRESOLVED


def _share(said: Iterable[Answers], value: str) -> float:
    """Returns a value's share among the outputs that have a majority value."""
    decided = [most for answers in said if answers and (most := majority(answers)) != UNRESOLVED]
    return float(np.mean([most == value for most in decided])) if decided else 0.0
