"""The labels of one attribute as arrays: each output's own label, its surprise, disagreement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...store import Store
from ...store.packing import id_number
from ...store.queries import label_sets, labels
from ...store.queries.labels import RankedLabel

Integers = NDArray[Any]
Places = Callable[[Integers], Integers]


class LabelRow(NamedTuple):
    """One label. own: True if it is its output's own label; split: True if annotators disagree."""

    value: str
    weight: float
    own: bool
    split: bool


class _Part(NamedTuple):
    """The labels of a run as arrays. places: each output's row; values: the texts of the codes."""

    places: Integers
    values: Sequence[str]
    codes: Integers
    weights: Integers
    own: Integers
    split: Integers


class LabelColumns:
    """Arrays with one entry per label, sorted by output. values: the distinct values, sorted."""

    def __init__(self, size: int, parts: Sequence[_Part]) -> None:
        """Joins the labels of several runs. size: the number of outputs."""
        self.values = sorted({value for part in parts for value in part.values})
        order = {value: code for code, value in enumerate(self.values)}
        codes = [
            np.array([order[v] for v in p.values], np.int32)[p.codes] for p in parts if p.values
        ]
        self._size = size
        self.places = _join(np.int64, [part.places for part in parts])
        self._codes = _join(np.int32, codes)
        self._weights = _join(np.float64, [part.weights for part in parts])
        self._own = _join(np.bool_, [part.own for part in parts])
        self._split = _join(np.bool_, [part.split for part in parts])
        self._bits = np.zeros(len(self.places))
        self._ranks = np.zeros(len(self.places), np.int32)  # by surprise, the highest first

    @classmethod
    def none(cls, size: int) -> LabelColumns:
        """Makes the columns of an attribute without any label."""
        return cls(size, ())

    def columns(self) -> Iterator[Integers]:
        """Yields all arrays, for measuring their memory."""
        yield from (self.places, self._codes, self._weights, self._own, self._split)
        yield from (self._bits, self._ranks)

    def set_surprises(self, conditions: Integers, number: int) -> None:
        """Fills in each label's surprise: −log2 of its share of the condition's weight, in bits."""
        width = len(self.values)
        at = conditions * width + self._codes
        sums = np.bincount(at, self._weights, number * width).reshape(number, width)
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = np.abs(np.log2(sums / sums.sum(axis=1, keepdims=True))).ravel()
        self._bits = bits[at]
        self._ranks = np.unique(-bits, return_inverse=True)[1].astype(np.int32)[at]

    # outputs

    def with_value(self, value: str | None) -> Integers:
        """Returns a mask of outputs with this own label; for None, of outputs without a label."""
        if value is None:
            return ~self._mask_of(np.ones(len(self.places), np.bool_))
        code = self.values.index(value) if value in self.values else -1
        return self._mask_of(self._own & (self._codes == code))

    def split_outputs(self) -> Integers:
        """Returns a mask of outputs on which annotators disagree."""
        return self._mask_of(self._split)

    def _mask_of(self, rows: Integers) -> Integers:
        marked = np.zeros(self._size, np.bool_)
        marked[self.places[rows]] = True
        return marked

    def of_output(self, place: int) -> tuple[tuple[str, ...], float | None, bool]:
        """Returns (own values, the greatest surprise, True if annotators disagree) of an output."""
        begin, end = np.searchsorted(self.places, (place, place + 1))
        rows = [row for row in range(begin, end) if self._own[row]]
        values = tuple(self.values[self._codes[row]] for row in rows)
        bits = max((float(self._bits[row]) for row in rows), default=None)
        return values, bits, any(bool(self._split[row]) for row in rows)

    def ranks(self, sort: str) -> Integers:
        """Ranks outputs by surprise (highest first) or by label; unlabelled outputs come last."""
        rows = np.flatnonzero(self._own)
        places = self.places[rows]
        is_one_row_per_place = bool((np.diff(places) > 0).all())
        if sort == "surprise":
            ranks = self._ranks[rows]
            rank_of = np.full(self._size, ranks.max(initial=0) + 1)
            if is_one_row_per_place:
                rank_of[places] = ranks
            else:
                np.minimum.at(rank_of, places, ranks)
            return rank_of
        rank_of = np.full(self._size, len(self.values))
        if is_one_row_per_place:
            rank_of[places] = self._codes[rows]
            return rank_of
        joined = {
            place: "\n".join(self.values[self._codes[row]] for _, row in same)
            for place, same in groupby(zip(places.tolist(), rows, strict=True), lambda one: one[0])
        }
        order = {text: rank for rank, text in enumerate(sorted({*joined.values()}))}
        rank_of[:] = len(order)
        rank_of[[*joined]] = [order[text] for text in joined.values()]
        return rank_of

    # counts

    def value_weights(self) -> dict[str, float]:
        """Sums the weights of each value."""
        sums = np.bincount(self._codes, self._weights, len(self.values))
        return dict(zip(self.values, sums.tolist(), strict=True))

    def _own_rows(self, mask: Integers | None) -> Integers:
        return np.flatnonzero(self._own if mask is None else self._own & mask[self.places])

    def own_values(self, mask: Integers | None) -> dict[str, int]:
        """Counts, per value, the selected outputs with that own label."""
        rows = self._own_rows(mask)
        width = max(1, len(self.values))
        pairs = np.unique(self.places[rows] * width + self._codes[rows])
        counts = np.bincount(pairs % width, minlength=width)
        return {value: int(n) for value, n in zip(self.values, counts, strict=False) if n}

    def without_own(self, mask: Integers | None) -> int:
        """Counts the selected outputs without an own label."""
        labelled = self._mask_of(self._own)
        return int((~labelled if mask is None else mask & ~labelled).sum())

    def own_marks(self, mask: Integers | None) -> tuple[Integers, Integers, Integers]:
        """Returns three arrays over the selected own labels: row, surprise, 1 if split (else 0)."""
        rows = self._own_rows(mask)
        return self.places[rows], self._bits[rows], self._split[rows].astype(np.float64)

    def sums_by_cell(self, cells: Integers, number: int, mask: Integers | None) -> Integers:
        """Sums selected weights by cell and value, unlabelled outputs last. cells: per output."""
        width = len(self.values) + 1
        rows = slice(None) if mask is None else np.flatnonzero(mask[self.places])
        at = cells[self.places[rows]] * width + self._codes[rows]
        sums = np.bincount(at, self._weights[rows], number * width).reshape(number, width)
        bare = self.with_value(None) if mask is None else self.with_value(None) & mask
        sums[:, -1] += np.bincount(cells[bare], minlength=number)
        return sums


def _join(kind: Any, columns: Sequence[Integers]) -> Integers:
    return np.concatenate([np.zeros(0, kind), *columns]).astype(kind, copy=False)


# reading


def read_part(store: Store, attribute: str, lead: str, places: Places) -> _Part:
    """Reads the labels of an attribute from a run. lead: the annotator whose labels are the
    outputs' own (if absent, the first one by name); places: maps trial numbers to rows of the
    table.
    """
    if label_sets.is_single(store, attribute):
        return _read_single(store, attribute, lead, places)
    ranked = labels.of_attribute(store, attribute)
    rows = [
        (id_number(output), row)
        for output, same in groupby(ranked, key=lambda row: row.output)
        for row in lead_labels(attribute, lead, list(same))
    ]
    at = places(np.array([number for number, _ in rows], np.int64))
    placed = [(place, row) for place, (_, row) in zip(at.tolist(), rows, strict=True) if place >= 0]
    values = sorted({row.value for _, row in placed})
    order = {value: code for code, value in enumerate(values)}
    columns = [(place, order[row.value], *row[1:]) for place, row in placed]
    place, code, weight, own, split = zip(*columns, strict=True) if columns else ((),) * 5
    return _Part(
        np.array(place, np.int64),
        values,
        np.array(code, np.int32),
        np.array(weight, np.float64),
        np.array(own, np.bool_),
        np.array(split, np.bool_),
    )


def _read_single(store: Store, attribute: str, lead: str, places: Places) -> _Part:
    """Reads an attribute of which no annotator gives an output more than one value."""
    if label_sets.is_of_one(store, attribute):
        numbers, codes = integers(label_sets.iter_values_alone(store, attribute), 2)
        annotators = voted = np.zeros(len(numbers), np.int64)
    else:
        every = label_sets.iter_values(store, attribute)
        numbers, annotators, voted, codes = integers(every, 4)
    begins = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
    is_split = np.zeros(len(begins), np.bool_)
    if len(begins) < len(numbers):
        least, most = (one.reduceat(codes, begins) for one in (np.minimum, np.maximum))
        is_split = least != most
    words = store.words()
    different = np.flatnonzero(np.bincount(annotators))
    names = sorted(different.tolist(), key=lambda n: (words.get(n) != lead, str(words.get(n))))
    ranks = np.zeros(max(names, default=0) + 1, np.int64)
    ranks[names] = range(len(names))
    group = np.repeat(np.arange(len(begins)), np.diff([*begins, len(numbers)]))
    unvoted = np.flatnonzero(voted == 0)
    if len(unvoted) > len(begins):
        unvoted = unvoted[np.lexsort((ranks[annotators[unvoted]], group[unvoted]))]
    unvoted = unvoted[np.flatnonzero(np.diff(group[unvoted], prepend=-1))]
    at = places(numbers[unvoted])
    unvoted, at = unvoted[at >= 0], at[at >= 0]
    values, places_of_values = coded(codes[unvoted])
    return _Part(
        at,
        [str(words[one]) for one in values.tolist()],
        places_of_values,
        np.ones(len(unvoted)),
        np.ones(len(unvoted), np.bool_),
        is_split[group[unvoted]],
    )


def integers(pieces: Iterable[Sequence[str]], columns: int) -> Integers:
    """Parses texts of integers into an array (columns, rows), sorted by the first column."""
    parts = [[np.fromstring(text, np.int64, sep=",") for text in piece] for piece in pieces]
    table = np.concatenate([np.zeros((columns, 0), np.int64), *map(np.stack, parts)], axis=1)
    ordered: Integers = table[:, np.argsort(table[0], kind="stable")]  # as it mostly is already
    return ordered


def coded(column: Integers) -> tuple[Integers, Integers]:
    """Returns (distinct values of small integers, each entry's index among these values)."""
    values = np.flatnonzero(np.bincount(column))
    places = np.zeros(int(column.max(initial=0)) + 1, np.int32)
    places[values] = range(len(values))
    return values, places[column]


def lead_labels(attribute: str, lead: str, rows: Sequence[RankedLabel]) -> list[LabelRow]:
    """Returns the labels of one output by its lead annotator.

    rows: all labels of the attribute and the votes for it. `split` is True if two annotators, or
    two votes of a panel, give different values; probabilities count as their most probable value.
    """
    voices: dict[tuple[str, str, int], list[tuple[str, float]]] = {}
    for row in rows:
        is_lead = row.attribute == attribute
        key = (row.annotator, "", 0) if is_lead else (row.annotator, row.attribute, row.position)
        voices.setdefault(key, []).append((row.value, row.weight))
    is_split = len({frozenset(_most_probable(values)) for values in voices.values()}) > 1
    mine = voices.get((lead, "", 0)) or next(
        (values for key, values in voices.items() if not key[1]), []
    )
    own_values = _most_probable(mine)
    return [LabelRow(value, weight, value in own_values, is_split) for value, weight in mine]


def _most_probable(values: Sequence[tuple[str, float]]) -> set[str]:
    """Returns the values with weight 1; if there are none, the most probable value."""
    certain = {value for value, weight in values if weight == 1}
    return certain or {max(values, key=lambda one: one[1])[0]} if values else set()
