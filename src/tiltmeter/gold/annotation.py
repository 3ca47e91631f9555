"""The task of a person who labels outputs one by one: its outputs and values, and saving of
answers.

To save is to replace a state that was seen by a new one. If the stored state has changed meanwhile
(in a second window), nothing is written and the stored state is returned. To undo is to save the
former state. The run need not be locked: each save is one short transaction between others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from .. import gold, registry
from ..errors import UsageError
from ..instruments.outcomes import meanings
from ..instruments.people import People
from ..protocol import EVERY, Protocol
from ..records import (
    ADJUDICATED,
    BOTH,
    INVALID,
    NEITHER,
    OTHER_LANGUAGE,
    OUTCOMES,
    REFUSAL,
    Label,
)
from ..store import Store
from ..store.queries import labels, tables
from . import people, sheet
from .answers import (
    MOST_CHARACTERS,
    WORK,
    State,
    ValueChoice,
    check_state,
    read_notes,
    read_states,
    with_keys,
    wording,
    write_notes,
)
from .lists import AMBIGUOUS, ambiguous_is_a_skip, closed_values, values_of

SAMPLE_SIZE = 100  # outputs, where nobody says how many


# what can be said


def choices(
    store: Store, protocol: Protocol, attribute: str, of: Mapping[str, str] | None = None
) -> tuple[ValueChoice, ...]:
    """Returns the values that can be given to an attribute: values with a meaning first, then other
    listed values, then non-answers.

    Non-answers that cannot occur are left out: `both` and `neither` if values have meanings or a
    closed list, refusals for pictures, all if people label without a judge. A closed list is
    offered in full, even if a judge used only some values. of: an output's levels and subject, to
    offer the output's own list."""
    meant: dict[str, str] = {}
    outcomes = meanings("")
    for spec in protocol.instruments:
        if attribute in (spec.attribute, *spec.also):
            kind = registry.instrument_kind(spec.kind, spec.name)
            outcomes = {} if spec.kind == People.kind else meanings(kind.answers, spec.settings)
        if spec.attribute == attribute:
            meant |= {
                value: str(text)
                for name in ("words", "topics")
                if isinstance(spec.settings.get(name), Mapping)
                for value, text in spec.settings[name].items()
            }
    defined = protocol.annotation.get(attribute, {}).get("values", {})
    closed = closed_values(store, protocol, attribute, of)
    needless = {
        *((BOTH, NEITHER) if meant or closed else ()),
        *((INVALID,) if closed else ()),
        *((REFUSAL, OTHER_LANGUAGE) if protocol.modality == "image" else ()),
    }
    usual = {value: text for value, text in outcomes.items() if value not in needless}
    if any(attribute in spec.settings.get("colours", ()) for spec in protocol.instruments):
        defined = {**wording()["colours"], **defined}
    beside = wording()["closed"] if closed else {}
    listed = closed or tuple(
        value for value in values_of(store, protocol, attribute) if value not in OUTCOMES
    )
    values = dict.fromkeys((*meant, *listed, *beside, *usual))
    usual |= {value: text for value, text in beside.items() if value not in closed}
    return with_keys(
        [
            (value, defined.get(value) or meant.get(value) or usual.get(value, ""))
            for value in values
            if value.isprintable() and len(value) <= MOST_CHARACTERS["value"]
        ]
    )


def shared_sample(
    store: Store, protocol: Protocol, attribute: str, number: int | None, seed: int | None
) -> gold.GoldSample:
    """Returns the run's sample for an attribute, which all annotators share. If the run has none
    yet, draws one first.

    attribute: "" for the attribute of the latest sample, else of the headline measure; "*" for all.
    Raises UsageError if people have begun a sample other than the requested one, or if an output
    has several values of the attribute.
    """
    existing = gold.samples(store)
    attribute = attribute or (
        existing[-1]["attribute"] if existing else sheet.default_attribute(store, protocol)
    )
    if attribute in labels.attributes_with_several(store):
        raise UsageError(
            f"{attribute} can have several values per output; gold labels need exactly one. Name "
            "another with --attribute."
        )
    mine = [one for one in existing if one["attribute"] == attribute]
    if mine and _is_that(mine[-1], number, seed):
        return mine[-1]
    if mine and labels.have_human(store, "" if attribute == EVERY else attribute):
        raise UsageError(
            f"People have begun a sample of {len(mine[-1]['outputs'])} outputs for {attribute} "
            f"(seed {mine[-1]['seed']}); two samples together would not be random. Leave out "
            "--sample and --seed to go on with it."
        )
    number = number or _usual_size(store, protocol, attribute)
    drawn = sheet.draw(store, protocol, number, attribute, seed or 0)
    return next(
        sample for sample in reversed(gold.samples(store)) if sample["attribute"] == drawn.attribute
    )


def _usual_size(store: Store, protocol: Protocol, attribute: str) -> int:
    """Returns the default sample size: all outputs if only people label, else SAMPLE_SIZE."""
    kinds = {spec.kind for spec in protocol.instruments if spec.attribute == attribute}
    return max(SAMPLE_SIZE, tables.size(store, "outputs")) if kinds == {"people"} else SAMPLE_SIZE


def _is_that(one: gold.GoldSample, number: int | None, seed: int | None) -> bool:
    size = len(one["outputs"])
    return (number is None or number == size or number > size == one["of"]) and (
        seed is None or seed == one["seed"]
    )


# tasks


@dataclass(frozen=True)
class Task:
    """Outputs for one person to label, in this person's own order. voices: other people's labels,
    if this person decides between them.

    weights: {output: 1/(the probability that it was sampled)}. skips: values that are stored as
    reasons to skip.
    """

    store: Store
    annotator: str
    attribute: str
    choices: tuple[ValueChoice, ...]
    weights: Mapping[str, float]
    voices: Mapping[str, Sequence[State]] = field(default_factory=dict)
    skips: frozenset[str] = frozenset()

    @property
    def items(self) -> list[str]:
        """The outputs, in the order in which this person sees them."""
        order = sorted(self.weights)
        Random(f"{self.annotator}/{self.attribute}").shuffle(order)
        return order

    def states(self) -> dict[str, State]:
        """Returns {item: this person's answers so far}, without unanswered items."""
        return read_states(self.store, self.annotator, self.attribute)

    def save(self, item: str, seen: State, now: State) -> State:
        """Stores `now` if the stored state still equals `seen`; returns the state stored
        afterwards.

        Raises RunBusy if another process keeps the run locked; UsageError if `now` is not a valid
        answer."""
        if item not in self.weights:
            raise UsageError(f"There is no item '{item[:80]}' here.")
        check_state(now, self.choices)
        if now.value in self.skips:
            now = now._replace(value="", skipped=now.value)
        with self.store.transaction():
            stored = self._state(item)
            if stored != seen or stored == now:
                return stored
            if stored.value != now.value:
                self._label(item, now.value)
            if stored[1:] != now[1:]:
                write_notes(
                    self.store,
                    WORK,
                    f"{self.annotator}/{self.attribute}",
                    item,
                    now._replace(value=""),
                )
        return now

    def _state(self, item: str) -> State:
        note = read_notes(self.store, WORK, f"{self.annotator}/{self.attribute}").get(item, State())
        value = labels.value(self.store, item, self.annotator, self.attribute)
        return note._replace(value=value, skipped="") if value else note

    def _label(self, item: str, value: str) -> None:
        if value:
            self.store.supersede(
                [Label(item, self.annotator, self.attribute, value, 0, self.weights[item])]
            )
        else:
            self.store.withdraw([(item, self.annotator, self.attribute)])


def open_task(store: Store, protocol: Protocol, annotator: str, drawn: gold.GoldSample) -> Task:
    """Makes a person's task from a sample."""
    weights = {output: weight for output, (weight, _) in drawn["outputs"].items()}
    attribute = drawn["attribute"]
    values = choices(store, protocol, attribute)
    return Task(
        store, annotator, attribute, values, weights, skips=_skips(store, protocol, attribute)
    )


def _skips(store: Store, protocol: Protocol, attribute: str) -> frozenset[str]:
    return frozenset({AMBIGUOUS} if ambiguous_is_a_skip(store, protocol, attribute) else ())


def open_adjudication(store: Store, protocol: Protocol, annotator: str, attribute: str) -> Task:
    """Makes a task of the items on which people disagree, with their labels in an order that hides
    the authors. Raises UsageError if people agree on all items.

    attribute: "" for the first attribute on which people disagree.
    """
    split = people.disagreements(store)
    which = attribute or next(iter(split), "")
    voices = split.get(which, {})
    if not voices:
        on = f" on {attribute}" if attribute else ""
        raise UsageError(
            f"There is no output that two people labelled differently{on}. To see who labelled "
            f"what: tiltmeter annotate {store.folder} --progress"
        )
    weights = gold.drawn_weights(store)
    return Task(
        store,
        annotator + ADJUDICATED,
        which,
        choices(store, protocol, which),
        {output: weights.get(output, 1.0) for output in voices},
        {output: _shuffle(output, answers) for output, answers in voices.items()},
        _skips(store, protocol, which),
    )


def _shuffle(output: str, said: Mapping[str, State]) -> tuple[State, ...]:
    names = sorted(said)
    Random(output).shuffle(names)
    return tuple(said[name] for name in names)
