"""Outputs with all their attributes together, for divergences over several attributes.

Sums of labels (`count_table.py`) do not say which labels belong to one output, but shuffling whole
outputs needs this. Outputs are compared inside one object: those of its base prompt and those of
each group.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl

from ...instruments.images import taxonomy
from ...protocol import FEW_OUTPUTS, MeasureSpec, Protocol
from ...stats.results import join_notes
from ...stats.shuffles.permutation import Permuted
from ...stats.shuffles.shuffling import KeptDraws, Shuffles
from ...store import Store
from ...store.queries.trials import iter_numbered
from .stored_labels import stored_labels
from .value_counts import OutputGroup, Values, count_with_value, values_seen

Stratum = tuple[str, str, str]  # subject, annotator, mode
Place = tuple[str, str]  # dimension, group
BASE: Place = ("base", "base")  # of the base prompt
DRAWN_BYTES = 128_000_000  # of shuffles that strata share, and of what came of them
DRAWS, PUBLISHED_DRAWS = 9_999, 1_000  # shuffles; the paper's permutation tests have 1,000


class LabelledOutput(NamedTuple):
    """One output with all its labels: the levels of its factors, and {attribute: value}."""

    factors: Mapping[str, str]
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class LabelledOutputs:
    """All outputs of a run by stratum, and the factors of the trials.

    asked:     the factors of each measured trial, with or without labels.
    lists:     the closed lists of each annotator.
    chosen_on: by annotator, {subject: the outputs on which its attributes were chosen}.
    groups:    a cache of `split_by_base`, for all measures that split outputs alike.
    drawn:     shuffles that strata and measures share.
    """

    outputs: Mapping[Stratum, Sequence[LabelledOutput]] = field(default_factory=dict)
    asked: Sequence[Mapping[str, str]] = ()
    lists: Mapping[str, Sequence[taxonomy.Attribute]] = field(default_factory=dict)
    chosen_on: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    groups: dict[object, list[BaseAndGroups]] = field(default_factory=dict, repr=False)
    drawn: KeptDraws = field(
        default_factory=lambda: KeptDraws(DRAWN_BYTES, DRAWN_BYTES), repr=False
    )

    def pool_subjects(self, stratum: Stratum) -> list[LabelledOutput]:
        """Returns the outputs of all subjects with the annotator and mode of this stratum."""
        return [
            one
            for key, outputs in self.outputs.items()
            if key[1:] == stratum[1:]
            for one in outputs
        ]

    def subjects(self, stratum: Stratum) -> list[str]:
        """Returns the subjects that have outputs with the annotator and mode of this stratum."""
        return [key[0] for key in self.outputs if key[1:] == stratum[1:]]


def read_labelled_outputs(store: Store, protocol: Protocol) -> LabelledOutputs:
    """Reads all labels of a run; keeps the greatest if an output has several of an attribute."""
    parse = cache(json.loads)  # of what many trials and outputs have alike
    trials = {
        number: (subject, mode, parse(factors))
        for number, subject, mode, factors in iter_numbered(store)
    }
    outputs_of: dict[Stratum, dict[int, LabelledOutput]] = {}
    labels = stored_labels(store)
    texts = labels.texts.to_list()
    for piece in labels.pieces:
        attributes, values = (
            [texts[index] for index in piece[name].to_list()] for name in ("attribute", "value")
        )
        sets = piece.with_row_index("row").group_by("n", "annotator", maintain_order=True)
        first = sets.agg(pl.col("row").first(), pl.len())
        for number, annotator, row, length in first.iter_rows():
            subject, mode, factors = trials[number]
            outputs = outputs_of.setdefault((subject, texts[annotator], mode), {})
            if number not in outputs:
                outputs[number] = LabelledOutput(factors, {})
            rows = slice(row, row + length)  # sorted by value
            outputs[number].values.update(zip(attributes[rows], values[rows], strict=True))
    aside = {name for name, mode in protocol.modes.items() if mode.for_discovery}
    asked = {
        tuple(factors.items()): factors for _, mode, factors in trials.values() if mode not in aside
    }
    lists = {annotator: _lists(store, protocol, annotator) for _, annotator, _ in outputs_of}
    chosen_on = {
        annotator: json.loads(_artefact(store, taxonomy.LEARNT_FROM, annotator) or "{}")
        for annotator in lists
    }
    return LabelledOutputs(
        {key: list(outputs.values()) for key, outputs in outputs_of.items()},
        list(asked.values()),
        lists,
        chosen_on,
    )


def _artefact(store: Store, kind: str, annotator: str) -> str:
    """Reads an annotator's artefact of a kind, or else that of the annotator's instrument."""
    return (
        store.artefact(kind, annotator) or store.artefact(kind, annotator.partition("/")[0]) or ""
    )


def _lists(store: Store, protocol: Protocol, annotator: str) -> list[taxonomy.Attribute]:
    """Returns an annotator's closed lists: from its settings, then from the run's taxonomy."""
    name = annotator.partition("/")[0]
    spec = next((spec for spec in protocol.instruments if spec.name == name), None)
    if spec is None:
        return []
    fixed = spec.settings.get("lists", {})
    attributes = [taxonomy.Attribute(key, "", tuple(values), {}) for key, values in fixed.items()]
    text = _artefact(store, "taxonomy", annotator)
    parts, keys = tuple(spec.settings.get("found", ())), tuple(spec.settings.get("sets", ()))
    return attributes + (
        taxonomy.parse(text, "the run's taxonomy", keys=keys, parts=parts, fixed=()) if text else []
    )


@dataclass(frozen=True, slots=True)
class BaseAndGroups:
    """The outputs of one object (or of all): those of the base prompt, and those of each group.

    groups:     in the order of the design, without the base; empty if no output has a label.
    attributes: those of any of these outputs, in the order of the closed lists.
    lists:      {attribute: its closed list}.
    background: the attributes of a picture's background (all others describe the product).
    subject:    the model that gave the outputs; "" if they are of all models.
    drawn:      shuffles that strata and measures share.
    supports:   a cache of `support`.
    """

    condition: Mapping[str, str]
    base: OutputGroup
    groups: Mapping[Place, OutputGroup]
    attributes: Sequence[str]
    lists: Mapping[str, tuple[str, ...]]
    background: frozenset[str]
    subject: str = ""
    drawn: KeptDraws = field(default_factory=KeptDraws, repr=False)
    supports: dict[str, int] = field(default_factory=dict, repr=False)

    def shuffles(self, draws: int) -> Shuffles:
        """Returns shuffles seeded by subject and object: the same for all measures of one cell, so
        that a result depends on no other cell, and independent between cells.
        """
        name = "\0".join((self.subject, *self.condition.values()))
        generator = np.random.default_rng(list(name.encode()))
        return Shuffles(draws=draws, generator=generator, kept=self.drawn)

    @property
    def size(self) -> int:
        """The number of outputs."""
        return len(self.base) + sum(map(len, self.groups.values()))

    @property
    def prompts(self) -> dict[Place, OutputGroup]:
        """The outputs by (dimension, group), the base prompt's first."""
        return {BASE: self.base, **self.groups}

    def about(self, place: Place) -> dict[str, str]:
        """Returns the condition of a row about one prompt: the cell's plus dimension and group."""
        return {**self.condition, "dimension": place[0], "group": place[1]}

    def dimensions(self) -> dict[str, dict[str, OutputGroup]]:
        """Returns {dimension: {group: the values of its outputs}}, in the order of the design."""
        by_dimension: dict[str, dict[str, OutputGroup]] = {}
        for (dimension, group), outputs in self.groups.items():
            by_dimension.setdefault(dimension, {})[group] = outputs
        return by_dimension

    def support(self, attribute: str) -> int:
        """Counts the attribute's values: those on its closed list and others in these outputs."""
        if attribute not in self.supports:
            values = values_seen([self.base, *self.groups.values()], attribute)
            self.supports[attribute] = len(values | set(self.lists.get(attribute, ())))
        return self.supports[attribute]


def split_by_base(
    found: LabelledOutputs,
    stratum: Stratum,
    measure: MeasureSpec,
    by: Sequence[str],
    protocol: Protocol,
    pooled: bool = False,
) -> Sequence[BaseAndGroups]:
    """Splits the outputs that the measure's `where` keeps, per combination of levels in `by`, in
    the order of the design. The measure's contrast names base, group and dimension. pooled: uses
    the outputs of all subjects.

    Group and dimension are ignored in `by`, as rows of scores have their own columns for them.
    """
    contrast = measure.contrast or {}
    names = (contrast["within"], contrast["factor"])
    by = tuple(name for name in by if name not in names)
    where = tuple((name, tuple(levels)) for name, levels in measure.where.items())
    key = (stratum, pooled, by, *names, contrast["baseline"], measure.without, where)
    if key not in found.groups:
        found.groups[key] = list(_split(found, stratum, measure, by, protocol, pooled))
    return found.groups[key]


def _split(
    found: LabelledOutputs,
    stratum: Stratum,
    measure: MeasureSpec,
    by: Sequence[str],
    protocol: Protocol,
    pooled: bool,
) -> Iterator[BaseAndGroups]:
    contrast = measure.contrast or {}
    factor, base, within = contrast["factor"], contrast["baseline"], contrast["within"]
    outputs = found.pool_subjects(stratum) if pooled else found.outputs.get(stratum, ())
    outputs = [one for one in outputs if _is_kept(one.factors, measure)]

    def rank(levels: Sequence[str], names: Sequence[str]) -> list[tuple[int, str]]:
        orders = [protocol.levels.get(name, {}) for name in names]
        return [
            (order.get(one, len(order)), one) for order, one in zip(orders, levels, strict=True)
        ]

    rows = (one for one in found.asked if _is_kept(one, measure))
    asked = {(one[within], one[factor]): None for one in rows}
    places = sorted(asked, key=lambda one: rank(one, (within, factor)))
    outputs_by_levels: dict[tuple[str, ...], list[LabelledOutput]] = {}
    for one in outputs:
        outputs_by_levels.setdefault(tuple(one.factors[name] for name in by), []).append(one)
    for key in sorted(outputs_by_levels, key=lambda levels: rank(levels, by)):
        groups: dict[Place, list[Values]] = {place: [] for place in places if place[1] != base}
        plain: list[Values] = []
        for one in outputs_by_levels[key]:
            place = (one.factors[within], one.factors[factor])
            (plain if place[1] == base else groups[place]).append(one.values)
        condition = dict(zip(by, key, strict=True))
        of = {"subject": stratum[0], **condition}
        belongs = [one for one in found.lists.get(stratum[1], ()) if one.belongs(of)]
        occurring = dict.fromkeys(name for one in outputs_by_levels[key] for name in one.values)
        ordered = [*(one.name for one in belongs if one.name in occurring), *sorted(occurring)]
        attributes = [name for name in dict.fromkeys(ordered) if name not in measure.without]
        background = {one.name for one in belongs if one.part == "background"}
        background |= {name for name in attributes if name.startswith("background")}
        yield BaseAndGroups(
            condition,
            OutputGroup(plain),
            {place: OutputGroup(values) for place, values in groups.items()},
            attributes,
            {one.name: one.values for one in belongs},
            frozenset(background),
            "" if pooled else stratum[0],
            found.drawn,
        )


def _is_kept(factors: Mapping[str, str], measure: MeasureSpec) -> bool:
    return all(factors.get(name) in levels for name, levels in measure.where.items())


def notes(
    found: Permuted, sides: Sequence[Sequence[Values]], names: Sequence[str], attribute: str = ""
) -> str:
    """Explains why a number is missing or weak: empty or small groups, outputs without a value."""
    empty_sides = [name for name, side in zip(names, sides, strict=True) if not side]
    small_sides = [
        f"{name} ({len(side)})"
        for name, side in zip(names, sides, strict=True)
        if 0 < len(side) < FEW_OUTPUTS
    ]
    total = sum(map(len, sides))
    unmeasured = total - int(count_with_value(sides, attribute)) if attribute else 0
    return (
        join_notes(
            f"no outputs of {', '.join(empty_sides)}" if empty_sides else None,
            f"small: {', '.join(small_sides)}" if small_sides else None,
            f"{unmeasured} of {total} outputs without a value are left out" if unmeasured else None,
            found.note if not empty_sides else None,
        )
        or ""
    )


@lru_cache(maxsize=8)
def shuffles_of(measure: str, draws: int) -> Shuffles:
    """Returns the shuffles that all cells of a measure share, seeded by the measure's name."""
    return Shuffles(draws=draws, generator=np.random.default_rng(list(measure.encode())))
