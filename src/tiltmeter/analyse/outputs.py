"""Outputs with all their attributes together, which a divergence over attributes is measured on.

Sums of labels (`groups.py`) have forgotten which labels were one output's; to shuffle outputs whole
they must be known. They are held against each other inside one object: the
outputs of its base prompt and of each group.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..instruments.images import taxonomy
from ..protocol import FEW_OUTPUTS, MeasureSpec, Protocol
from ..stats.permutation import Permuted
from ..stats.results import join_notes
from ..stats.shuffling import Shuffles
from ..store import Store

Stratum = tuple[str, str, str]  # subject, annotator, mode
Place = tuple[str, str]  # dimension, group
Values = Mapping[str, str]  # attribute → value of one output
Codes = NDArray[np.int64]
MISSING = frozenset(taxonomy.RESERVED)
DRAWS, PUBLISHED_DRAWS = 9_999, 1_000  # shuffles; the paper's permutation tests have 1,000


class LabelledOutput(NamedTuple):
    """One output with all its labels: the levels of its factors, and {attribute: value}."""

    factors: Mapping[str, str]
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class LabelledOutputs:
    """All outputs of a run by stratum, and the factors that were asked.

    asked:     the factors of each trial that is measured, with or without labels.
    lists:     the closed lists of each annotator.
    chosen_on: by annotator, {subject: the outputs on which its attributes were chosen}.
    """

    outputs: Mapping[Stratum, Sequence[LabelledOutput]] = field(default_factory=dict)
    asked: Sequence[Mapping[str, str]] = ()
    lists: Mapping[str, Sequence[taxonomy.Attribute]] = field(default_factory=dict)
    chosen_on: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def pool_subjects(self, stratum: Stratum) -> list[LabelledOutput]:
        """The outputs of all subjects that the same annotator labelled."""
        return [
            one for key, found in self.outputs.items() if key[1:] == stratum[1:] for one in found
        ]

    def subjects(self, stratum: Stratum) -> list[str]:
        """The subjects that have outputs with the annotator and mode of this stratum."""
        return [key[0] for key in self.outputs if key[1:] == stratum[1:]]


def read_labelled_outputs(store: Store, protocol: Protocol) -> LabelledOutputs:
    """Reads all labels of a run. An output with several values of one attribute has the last of
    them.
    """
    trials = {
        trial: (subject, mode, json.loads(factors))
        for trial, subject, mode, factors in store.iter_trials()
    }
    found: dict[Stratum, dict[str, LabelledOutput]] = {}
    for output, annotator, attribute, value, _ in store.iter_labels():
        subject, mode, factors = trials[output]
        outputs = found.setdefault((subject, annotator, mode), {})
        one = outputs.setdefault(output, LabelledOutput(factors, {}))
        one.values[attribute] = value
    aside = {name for name, mode in protocol.modes.items() if mode.for_discovery}
    asked = {
        tuple(factors.items()): factors for _, mode, factors in trials.values() if mode not in aside
    }
    lists = {annotator: _lists(store, protocol, annotator) for _, annotator, _ in found}
    chosen_on = {
        annotator: json.loads(_artefact(store, taxonomy.LEARNT_FROM, annotator) or "{}")
        for annotator in lists
    }
    return LabelledOutputs(
        {key: list(outputs.values()) for key, outputs in found.items()},
        list(asked.values()),
        lists,
        chosen_on,
    )


def _artefact(store: Store, kind: str, annotator: str) -> str:
    """What is kept for an annotator, else for its instrument."""
    return (
        store.artefact(kind, annotator) or store.artefact(kind, annotator.partition("/")[0]) or ""
    )


def _lists(store: Store, protocol: Protocol, annotator: str) -> list[taxonomy.Attribute]:
    """The closed lists that an annotator had, of its settings and of its taxonomy; none where
    nobody declared any.
    """
    name = annotator.partition("/")[0]
    spec = next((spec for spec in protocol.instruments if spec.name == name), None)
    if spec is None:
        return []
    fixed = spec.settings.get("lists", {})
    found = [taxonomy.Attribute(key, "", tuple(values), {}) for key, values in fixed.items()]
    text = _artefact(store, "taxonomy", annotator)
    parts, keys = tuple(spec.settings.get("found", ())), tuple(spec.settings.get("sets", ()))
    return found + (
        taxonomy.parse(text, "the run's taxonomy", keys=keys, parts=parts, fixed=()) if text else []
    )


@dataclass(frozen=True, slots=True)
class BaseAndGroups:
    """The outputs of one object (or of the whole): those of the base prompt, and of each group.

    groups:     in the order of the design, without the base; empty where none has a label.
    attributes: those of any of these outputs, in the order of the closed lists.
    lists:      {attribute: its closed list}.
    background: the attributes that are of the background and not of the product.
    """

    condition: Mapping[str, str]
    base: Sequence[Values]
    groups: Mapping[Place, Sequence[Values]]
    attributes: Sequence[str]
    lists: Mapping[str, tuple[str, ...]]
    background: frozenset[str]

    def every(self) -> list[Values]:
        """The values of all outputs: those of the base first, then those of each group."""
        return [*self.base, *(one for outputs in self.groups.values() for one in outputs)]

    def dimensions(self) -> dict[str, dict[str, Sequence[Values]]]:
        """{dimension: {group: the values of its outputs}}, in the order of the design."""
        found: dict[str, dict[str, Sequence[Values]]] = {}
        for (dimension, group), outputs in self.groups.items():
            found.setdefault(dimension, {})[group] = outputs
        return found

    def support(self, attribute: str) -> int:
        """The length of the closed list, or how many values occur where there is none or it lacks
        one that occurs.
        """
        seen = {one[attribute] for one in self.every() if has_value(one, attribute)}
        return max(len(seen), len(seen | set(self.lists.get(attribute, ()))))


def has_value(one: Values, attribute: str) -> bool:
    """True if an output has a value of an attribute, not one of the words for none."""
    return one.get(attribute, "invalid") not in MISSING


def split_by_base(
    found: LabelledOutputs,
    stratum: Stratum,
    outputs: Sequence[LabelledOutput],
    measure: MeasureSpec,
    by: Sequence[str],
    protocol: Protocol,
) -> Iterator[BaseAndGroups]:
    """One for each level of `by`, in the order of the design. The contrast of the measure names
    base, group and dimension.

    Of `by` the group and the dimension are left to the score, which says in each row what it is
    about.
    """
    contrast = measure.contrast or {}
    factor, base, within = contrast["factor"], contrast["baseline"], contrast["within"]
    by = [name for name in by if name not in (factor, within)]
    order = {name: protocol.levels.get(name, {}) for name in (*by, within, factor)}

    def rank(factors: Mapping[str, str], names: Sequence[str]) -> list[tuple[int, str]]:
        return [(order[name].get(factors[name], len(order[name])), factors[name]) for name in names]

    places = {
        (one[within], one[factor]): None
        for one in sorted(found.asked, key=lambda one: rank(one, (within, factor)))
    }
    split: dict[tuple[str, ...], list[LabelledOutput]] = {}
    for one in sorted(outputs, key=lambda one: rank(one.factors, by)):
        split.setdefault(tuple(one.factors[name] for name in by), []).append(one)
    for key, part in split.items():
        groups: dict[Place, list[Values]] = {place: [] for place in places if place[1] != base}
        plain: list[Values] = []
        for one in part:
            place = (one.factors[within], one.factors[factor])
            (plain if place[1] == base else groups[place]).append(one.values)
        condition = dict(zip(by, key, strict=True))
        belongs = [
            one
            for one in found.lists.get(stratum[1], ())
            if one.belongs({"subject": stratum[0], **condition})
        ]
        seen = dict.fromkeys(name for one in part for name in one.values)
        named = [*(one.name for one in belongs if one.name in seen), *sorted(seen)]
        attributes = [name for name in dict.fromkeys(named) if name not in measure.without]
        background = {one.name for one in belongs if one.part == "background"}
        background |= {name for name in attributes if name.startswith("background")}
        yield BaseAndGroups(
            condition,
            plain,
            groups,
            attributes,
            {one.name: one.values for one in belongs},
            frozenset(background),
        )


def codes(groups: Sequence[Sequence[Values]], attributes: Sequence[str]) -> list[Codes]:
    """Each group's outputs as rows of integer codes, shape (outputs, attributes); -1 has no
    value.
    """
    numbers: dict[str, dict[str, int]] = {name: {} for name in attributes}
    for group in groups:
        for one in group:
            for name in attributes:
                if has_value(one, name):
                    numbers[name].setdefault(one[name], len(numbers[name]))
    return [
        np.array(
            [
                [
                    numbers[name].get(one.get(name, ""), -1) if has_value(one, name) else -1
                    for name in attributes
                ]
                for one in group
            ],
            dtype=np.int64,
        ).reshape(len(group), len(attributes))
        for group in groups
    ]


def counts(groups: Sequence[Sequence[Values]], attribute: str) -> list[list[int]]:
    """How often each value occurs in each group, over the values that occur in any."""
    seen = sorted(
        {one[attribute] for group in groups for one in group if has_value(one, attribute)}
    )
    return [
        [sum(one.get(attribute) == value for one in group) for value in seen] for group in groups
    ]


def value_counts(outputs: Sequence[Values], attribute: str) -> dict[str, float]:
    """{value: how many outputs have it} with the words for no value, the commonest first."""
    found: dict[str, float] = {}
    for one in outputs:
        value = one.get(attribute, "invalid")
        found[value] = found.get(value, 0.0) + 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def count_with_value(sides: Sequence[Sequence[Values]], name: str) -> float:
    """How many outputs have a value of an attribute."""
    return float(sum(has_value(one, name) for side in sides for one in side))


def notes(
    found: Permuted, sides: Sequence[Sequence[Values]], names: Sequence[str], attribute: str = ""
) -> str:
    """Why something is missing or not to be leaned on: empty and small groups, outputs without a
    value.
    """
    empty = [name for name, side in zip(names, sides, strict=True) if not side]
    small = [
        f"{name} ({len(side)})"
        for name, side in zip(names, sides, strict=True)
        if 0 < len(side) < FEW_OUTPUTS
    ]
    total = sum(map(len, sides))
    lost = total - int(count_with_value(sides, attribute)) if attribute else 0
    return (
        join_notes(
            f"no outputs of {', '.join(empty)}" if empty else None,
            f"small: {', '.join(small)}" if small else None,
            f"{lost} of {total} outputs without a value are left out" if lost else None,
            found.note if not empty else None,
        )
        or ""
    )


@lru_cache(maxsize=8)
def shuffles_of(measure: str, draws: int) -> Shuffles:
    """The same for all cells of a measure: a cell's result depends on its sizes and on no other
    cell.
    """
    return Shuffles(draws=draws, generator=np.random.default_rng(list(measure.encode())))
