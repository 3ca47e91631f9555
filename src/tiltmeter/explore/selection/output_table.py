"""Outputs of one or more runs as arrays of integers in memory, for counting and paging.

An output is stored as its run, trial number, sample and cell: subject, mode, outcome and levels of
the factors; there are few cells. A selection is counted per cell, once; single outputs are touched
only to pick those that a page shows. Own values, surprise and disagreement are arrays (labels.py),
filled once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from .labels import LabelColumns
from .placed import CellKey, Coded, GridWindow, PlacedOutput, RunOutputs, SelectedCounts, Selection

Integers: TypeAlias = NDArray[Any]
Mask: TypeAlias = NDArray[np.bool_]
Number = TypeVar("Number", int, float)
_PLAIN = ("subject", "mode", "outcome")
_MOST_KEPT = 24  # selections whose counts are kept


class OutputTable:
    """A table of outputs for counting and paging. factors: the factors of the outputs' design."""

    def __init__(self, factors: Sequence[str]) -> None:
        self._factors = tuple(factors)
        self.close()

    def close(self) -> None:
        """Empties the table."""
        self.fill(())

    def fill(self, runs: Iterable[RunOutputs]) -> None:
        """Replaces the content by the outputs of these runs."""
        cells: dict[tuple[str, ...], int] = {}
        parts, places, end = list(runs), [], 0
        self._begins: dict[int, tuple[int, Integers]] = {}
        for one in parts:
            codes = [cells.setdefault(tuple(cell), len(cells)) for cell in one.cells]
            places.append(np.asarray(codes, np.int32)[one.places])
            self._begins[one.run] = end, one.numbers
            end += len(one.numbers)
        self._cell = np.concatenate([np.zeros(0, np.int32), *places])
        self._samples = np.concatenate([np.zeros(0, np.int32), *(part.samples for part in parts)])
        self._cells = list(cells)
        self._coded: dict[str, Coded] = {}
        self._labels: dict[str, LabelColumns] = {}
        self._hits: dict[str, Mask] = {}
        self._counts: dict[str, SelectedCounts] = {}
        self._orders: dict[tuple[str, str], Integers] = {}

    def __len__(self) -> int:
        return len(self._cell)

    def bytes_used(self) -> int:
        """Returns the memory of the arrays in bytes."""
        fixed = [self._cell, self._samples, *(numbers for _, numbers in self._begins.values())]
        masks = [count.mask for count in self._counts.values() if count.mask is not None]
        labels = [column for label in self._labels.values() for column in label.columns()]
        columns = (*fixed, *masks, *labels, *self._hits.values(), *self._orders.values())
        return sum(column.nbytes for column in columns)

    def places(self, run: int, numbers: Integers) -> Integers:
        """Returns the row in this table of each trial number of a run; -1 for an unknown number."""
        begin, known = self._begins[run]
        if not len(known):
            return np.full(len(numbers), -1)
        at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        return np.where(known[at] == numbers, at + begin, -1)

    def _run_of(self, place: int) -> tuple[int, int]:
        """Returns (run, trial number) of a row."""
        for run, (begin, numbers) in self._begins.items():
            if begin <= place < begin + len(numbers):
                return run, int(numbers[place - begin])
        raise IndexError(place)

    # labels and searches

    def add_labels(self, attribute: str, labels: LabelColumns) -> None:
        """Adds the labels of an attribute; computes the surprise of each within its condition."""
        condition = self._code("condition", [cell[3] for cell in self._cells])
        labels.set_surprises(condition.codes[self._cell[labels.places]], len(condition.levels))
        self._labels[attribute] = labels
        self._counts.clear()

    def was_searched(self, text: str) -> bool:
        """True if a search has been run, even if it had no hits."""
        return text in self._hits

    def forget_searches(self, most: int) -> None:
        """Forgets the hits of all searches once there are more than `most`."""
        if len(self._hits) > most:
            self._hits.clear()
            self._counts.clear()

    def add_hits(self, text: str, hits: Iterable[tuple[int, Sequence[int]]]) -> None:
        """Stores the hits of a search. hits: (run, trial numbers)."""
        mask = np.zeros(len(self._cell), np.bool_)
        for run, numbers in hits:
            rows = self.places(run, np.asarray(numbers, np.int64))
            mask[rows[rows >= 0]] = True
        self._hits[text] = mask

    # cells

    def column(self, name: str) -> Coded:
        """Returns the coded levels of a factor, mode, subject or outcome. UsageError if unknown."""
        if name in _PLAIN:
            return self._code(name, [cell[_PLAIN.index(name)] for cell in self._cells])
        if name in self._factors:
            index = 4 + self._factors.index(name)
            return self._code(f"f.{name}", [cell[index] for cell in self._cells])
        raise UsageError(
            f"There is no factor '{name}'. The factors: "
            f"{', '.join((*self._factors, 'subject', 'mode'))}."
        )

    def _code(self, name: str, levels: list[str]) -> Coded:
        if name not in self._coded:
            different = sorted(set(levels))
            codes = {level: code for code, level in enumerate(different)}
            self._coded[name] = Coded(
                different, np.array([codes[level] for level in levels], np.int64)
            )
        return self._coded[name]

    def _pairs(self, row: str, column: str) -> tuple[Coded, Coded, Integers]:
        """Returns (row factor as codes, column factor as codes, each cell's code of its pair)."""
        first, second = self.column(row), self.column(column)
        return first, second, first.codes * len(second.levels) + second.codes

    # selections

    def _select(self, selection: Selection) -> SelectedCounts:
        key = repr(selection)
        if key not in self._counts:
            if len(self._counts) >= _MOST_KEPT:
                self._counts.clear()
            mask = self._mask(selection)
            cells = self._cell if mask is None else self._cell[mask]
            self._counts[key] = SelectedCounts(mask, np.bincount(cells, minlength=len(self._cells)))
        return self._counts[key]

    def _mask(self, selection: Selection) -> Mask | None:
        """Returns a mask of the selected outputs; None if all are selected."""
        cells = np.ones(len(self._cells), np.bool_)
        wanted = [*selection.levels.items()]
        wanted += [("outcome", selection.outcome)] if selection.outcome else []
        for name, level in wanted:
            levels, codes = self.column(name)
            cells &= codes == (levels.index(level) if level in levels else -1)
        masks = [] if cells.all() else [cells[self._cell]]
        masks += [
            self._columns_of(attribute).with_value(value) for attribute, value in selection.labels
        ]
        masks += [self._columns_of(selection.split).split_outputs()] if selection.split else []
        masks += [self._hits[text] for text in selection.searches]
        return np.logical_and.reduce(masks) if masks else None

    def _columns_of(self, attribute: str) -> LabelColumns:
        if attribute not in self._labels:
            self._labels[attribute] = LabelColumns.none(len(self._cell))
        return self._labels[attribute]

    # counting

    def level_counts(self, name: str) -> dict[str, int]:
        """Counts outputs per level of a factor, mode, subject or outcome; most frequent first."""
        return _most_first(self.selected_levels(name, Selection()))

    def value_weights(self, attribute: str) -> dict[str, float]:
        """Sums the weights of each value of an attribute's labels; largest first."""
        return _most_first(self._columns_of(attribute).value_weights())

    def distinct(self, name: str, other: str) -> tuple[int, int]:
        """Counts the levels of a factor, and the distinct pairs with levels of another factor."""
        first, _, pairs = self._pairs(name, other)
        return len(first.levels), len(np.unique(pairs))

    def selected_levels(self, name: str, selection: Selection) -> dict[str, int]:
        """Counts selected outputs per level."""
        levels, codes = self.column(name)
        counts = np.bincount(codes, self._select(selection).outputs, len(levels))
        return {level: int(n) for level, n in zip(levels, counts, strict=True) if n}

    def selected_values(
        self, attribute: str, unlabelled: str, selection: Selection
    ) -> dict[str, int]:
        """Counts selected outputs per own label, most first. unlabelled: key for all others."""
        mask = self._select(selection).mask
        counts = self._columns_of(attribute).own_values(mask)
        without = self._columns_of(attribute).without_own(mask)
        if without:
            counts[unlabelled] = counts.get(unlabelled, 0) + without
        return _most_first(counts)

    def cell_sizes(self, row: str, column: str, selection: Selection) -> dict[CellKey, int]:
        """Counts selected outputs per cell. row, column: names of factors."""
        first, second, pairs = self._pairs(row, column)
        counts = np.bincount(pairs, self._select(selection).outputs)
        width = len(second.levels)
        return {
            (first.levels[at // width], second.levels[at % width]): int(counts[at])
            for at in np.flatnonzero(counts).tolist()
        }

    def cell_values(
        self,
        row: str,
        column: str,
        rows: Sequence[str] | None,
        labels: Selection,
        by: tuple[str, str],
    ) -> dict[CellKey, dict[str, float]]:
        """Sums the weights of selected labels per cell and value. rows: None for all; by: the
        attribute, and the value that stands for unlabelled outputs.
        """
        attribute, unlabelled = by
        first, second, pairs = self._pairs(row, column)
        coded, width = self._columns_of(attribute), len(second.levels)
        sums = coded.sums_by_cell(self._cell, len(self._cells), self._select(labels).mask)
        by_pair = np.zeros((len(first.levels) * width, sums.shape[1]))
        np.add.at(by_pair, pairs, sums)
        values = [*coded.values, unlabelled]
        wanted = None if rows is None else set(rows)
        counts: dict[CellKey, dict[str, float]] = {}
        for at, place in np.argwhere(by_pair > 0).tolist():
            key = first.levels[at // width], second.levels[at % width]
            if wanted is None or key[0] in wanted:
                counts.setdefault(key, {})[values[place]] = float(by_pair[at, place])
        return counts

    def level_marks(
        self, name: str, attribute: str, selection: Selection
    ) -> dict[str, tuple[float, float]]:
        """Returns {level: (mean surprise in bits, share with disagreement)} of labelled outputs."""
        levels, codes = self.column(name)
        places, bits, split = self._columns_of(attribute).own_marks(self._select(selection).mask)
        at = codes[self._cell[places]]
        n, bits, split = (np.bincount(at, weights, len(levels)) for weights in (None, bits, split))
        return {
            level: (bits[code] / n[code], split[code] / n[code])
            for code, level in enumerate(levels)
            if n[code]
        }

    def pairs_of(
        self, run: int, number: int, factor: str, tied: Sequence[str]
    ) -> list[tuple[str, int]]:
        """Returns (level, trial number) of the outputs that differ from this one only in `factor`
        and the factors tied to it: equal subject, mode, sample and other levels. Sorted by level.
        """
        (place,) = self.places(run, np.array([number]))
        begin, numbers = self._begins[run]
        own_cell = self._cell[place]
        names = [name for name in self._factors if name not in (factor, *tied)]
        same = np.ones(len(self._cells), np.bool_)
        for name in ("subject", "mode", *names):
            codes = self.column(name).codes
            same &= codes == codes[own_cell]
        levels, codes = self.column(factor)
        same &= codes != codes[own_cell]
        of_run = slice(begin, begin + len(numbers))
        is_match = same[self._cell[of_run]] & (self._samples[of_run] == self._samples[place])
        near_places = np.flatnonzero(is_match)
        cells = self._cell[of_run][near_places]
        return sorted(
            (levels[codes[cell]], int(numbers[at]))
            for cell, at in zip(cells, near_places, strict=True)
        )

    # reading

    def iter_outputs(self, attribute: str) -> Iterator[PlacedOutput]:
        """Yields every output with its own values of an attribute, sorted by run and id."""
        yield from (self._placed(("", ""), place, attribute) for place in range(len(self._cell)))

    def iter_placed(
        self,
        axes: tuple[str, str],
        window: GridWindow,
        selection: Selection,
        attribute: str,
        sort: str,
    ) -> Iterator[PlacedOutput]:
        """Yields a window's outputs by cell. axes: factors of (rows, columns); sort: of SORTS."""
        first, second, pairs = self._pairs(*axes)
        shown_rows = [first.levels.index(r) for r in window.rows if r in first.levels]
        rows = np.isin(first.codes, shown_rows)
        columns = [second.levels.index(k) for k in window.columns if k in second.levels]
        shown = (rows & np.isin(second.codes, columns))[self._cell]
        mask = self._select(selection).mask
        order = self._order(attribute, sort)
        order = order[(shown if mask is None else shown & mask)[order]]
        at = pairs[self._cell[order]]
        small = at.astype(np.uint16) if len(at) and at.max() < 1 << 16 else at
        by_cell = np.argsort(small, kind="stable")  # by counting, where the integers are short
        begins = np.flatnonzero(np.diff(at[by_cell], prepend=-1))
        for begin, end in pairwise([*begins, len(by_cell)]):
            code = int(at[by_cell[begin]])
            at_row, at_column = divmod(code, len(second.levels))
            cell = first.levels[at_row], second.levels[at_column]
            picked = order[by_cell[begin:end][window.first - 1 : window.last]]
            yield from (self._placed(cell, int(place), attribute) for place in picked)

    def _order(self, attribute: str, sort: str) -> Integers:
        """Returns the rows of all outputs in the order of a sort key; cached."""
        key = attribute, sort
        if key not in self._orders:
            order, keys = np.arange(len(self._cell)), [self._samples]
            if sort != "sample":
                keys.append(self._columns_of(attribute).ranks(sort))
                if len(self._begins) > 1:  # ties stand in the order of ids, of whichever run
                    numbers = [numbers for _, numbers in self._begins.values()]
                    order = np.argsort(np.concatenate(numbers), kind="stable")
            for column in keys:
                order = order[np.argsort(_short(column)[order], kind="stable")]
            self._orders[key] = order
        return self._orders[key]

    def _placed(self, cell: CellKey, place: int, attribute: str) -> PlacedOutput:
        run, number = self._run_of(place)
        facts = self._cells[self._cell[place]]
        values, surprise, split = self._columns_of(attribute).of_output(place)
        sample = int(self._samples[place])
        return PlacedOutput(cell, run, number, facts[2], sample, values, surprise, split, facts[4:])


def _short(column: Integers) -> Integers:
    """Converts integers to two bytes each if they fit, as numpy sorts these faster."""
    is_short = len(column) and column.min() >= 0 and column.max() < 1 << 16
    return column.astype(np.uint16) if is_short else column


def _most_first(counts: Mapping[str, Number]) -> dict[str, Number]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
