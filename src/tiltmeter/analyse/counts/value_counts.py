"""Outputs of one group with the values of their attributes, and how often each value occurs.

All measures of whole outputs need the same counts of the same groups, so a group counts its values
once: it stores its rows as integer codes and answers every query from those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, overload

import numpy as np

from ...instruments.images import taxonomy
from ...stats.arguments import Codes

Values = Mapping[str, str]  # attribute → value of one output
MISSING = frozenset(taxonomy.RESERVED)
NONE = "invalid"  # the value of an attribute that an output lacks


class AttributeColumn(NamedTuple):
    """One attribute of a group. values: in order of first occurrence; places: the index of each
    output's value in `values`; numbers: how many outputs have each value; known: {value: that
    number}, without the reserved words for a missing value.
    """

    places: Codes
    values: Sequence[str]
    numbers: Sequence[int]
    known: Mapping[str, int]


class OutputGroup(Sequence[Values]):
    """An immutable sequence of the values of some outputs."""

    def __init__(self, outputs: Iterable[Values] = ()) -> None:
        self._outputs = tuple(outputs)
        self._columns: dict[str, AttributeColumn] = {}

    def __len__(self) -> int:
        return len(self._outputs)

    @overload
    def __getitem__(self, place: int) -> Values: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Values]: ...

    def __getitem__(self, place: int | slice) -> Values | Sequence[Values]:
        return self._outputs[place]

    def __iter__(self) -> Iterator[Values]:
        return iter(self._outputs)

    def column(self, attribute: str) -> AttributeColumn:
        """Returns one attribute's values over all outputs; reads the outputs only once."""
        cached = self._columns.get(attribute)
        if cached is None:
            cached = self._columns[attribute] = self._read(attribute)
        return cached

    def _read(self, attribute: str) -> AttributeColumn:
        labels = [output.get(attribute, NONE) for output in self._outputs]
        values = list(dict.fromkeys(labels))
        place = {value: number for number, value in enumerate(values)}
        places = np.array([place[value] for value in labels], dtype=np.int64)
        numbers: list[int] = np.bincount(places, minlength=len(values)).tolist()
        pairs = zip(values, numbers, strict=True)
        code_of = {value: number for value, number in pairs if value not in MISSING}
        return AttributeColumn(places, values, numbers, code_of)


def group_of(outputs: Sequence[Values]) -> OutputGroup:
    """Returns the outputs as a group that counts its values once."""
    return outputs if isinstance(outputs, OutputGroup) else OutputGroup(outputs)


def codes(groups: Sequence[Sequence[Values]], attributes: Sequence[str]) -> list[Codes]:
    """Codes the values of each group as integers, shape (outputs, attributes); -1 if missing."""
    return codes_with_values(groups, attributes)[0]


def codes_with_values(
    groups: Sequence[Sequence[Values]], attributes: Sequence[str]
) -> tuple[list[Codes], list[list[str]]]:
    """Returns the arrays of `codes`, and per attribute its values in the order of their codes."""
    numbers: dict[str, dict[str, int]] = {name: {} for name in attributes}
    coded = []
    for group in map(group_of, groups):
        rows = np.empty((len(group), len(attributes)), dtype=np.int64)
        for place, name in enumerate(attributes):
            code_of, column = numbers[name], group.column(name)
            codes_of_column = [
                -1 if value in MISSING else code_of.setdefault(value, len(code_of))
                for value in column.values
            ]
            rows[:, place] = np.array(codes_of_column, dtype=np.int64)[column.places]
        coded.append(rows)
    return coded, [list(numbers[name]) for name in attributes]


def counts(groups: Sequence[Sequence[Values]], attribute: str) -> list[list[int]]:
    """Counts each value in each group; every group's list covers the values of all groups."""
    columns = [group_of(group).column(attribute).known for group in groups]
    values = sorted({value for one in columns for value in one})
    return [[one.get(value, 0) for value in values] for one in columns]


def value_counts(outputs: Sequence[Values], attribute: str) -> dict[str, float]:
    """Returns {value: how many outputs have it}, commonest first, reserved words included."""
    column = group_of(outputs).column(attribute)
    pairs = zip(column.values, map(float, column.numbers), strict=True)
    return dict(sorted(pairs, key=lambda item: (-item[1], item[0])))


def count_with_value(sides: Sequence[Sequence[Values]], name: str) -> float:
    """Counts the outputs, over all sides, that have a value of an attribute."""
    return float(sum(sum(group_of(side).column(name).known.values()) for side in sides))


def values_seen(sides: Sequence[Sequence[Values]], name: str) -> set[str]:
    """Returns the values of an attribute that occur in any of the groups."""
    return {value for side in sides for value in group_of(side).column(name).known}
