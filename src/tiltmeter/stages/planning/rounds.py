"""Balanced rounds: the prompts that each round asks, so that a run that stops after any look holds
every template, order and name equally often, in both arms alike.

A *condition* is an item in one arm of a comparison (a word in one language of the prompt). Factors
that otherwise vary between its prompts (template, order of the options, name and age) are not under
question: their levels take turns. A *round* is one output of every condition; both arms of an item
get the same of these levels in a round, and items begin with different ones. One sample of all
prompts makes as many rounds as a condition has prompts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ...protocol import MeasureSpec, Protocol
from ...protocol.design.tables import Row
from ...protocol.stopping import stopping_measures
from .plan import Choices, cells, samples, shuffle_key

Levels = tuple[str, ...]
Index = tuple[int, ...]
Ranks = Mapping[str, Mapping[str, int]]  # factor → level → its place in the design
STRATUM = ("language",)  # beside the protocol's `apart`


@dataclass(frozen=True)
class Rounds:
    """A plan's rounds. in_sample: rounds per sample of every prompt; total: rounds of the whole
    plan; names: the factors that form the keys of `places`; places: {levels: a prompt's round
    inside a sample, from 0}; turns: per round inside a sample, the count of each level in each arm.
    """

    in_sample: int
    total: int
    names: Sequence[str]
    places: Mapping[Levels, int]
    turns: Sequence[Counter[tuple[str, ...]]]

    def number(self, factors: Mapping[str, str], sample: int) -> int:
        """Returns the round of a trial, counted from 1."""
        position = self.places[_levels(factors, self.names)]
        return sample * self.in_sample + position + 1

    def is_balanced(self, look: int) -> bool:
        """True if rounds 1 to `look` hold each level in the same proportion as the plan."""
        rest = look % self.in_sample
        counts = sum(self.turns[:rest], Counter[tuple[str, ...]]())
        totals = sum(self.turns, Counter[tuple[str, ...]]())
        return all(counts[key] * self.in_sample == n * rest for key, n in totals.items())

    def wanted_looks(self, shares: Iterable[float]) -> list[int]:
        """Converts shares of all rounds to the numbers of rounds after which a run would look."""
        return [max(1, math.ceil(share * self.total - 1e-9)) for share in shares]

    def looks(self, shares: Iterable[float]) -> list[int]:
        """Returns the wanted looks, each moved to the next balanced round. By hand: 9 rounds of 3
        names × 3 ages and shares ⅛, ¼, ½, 1 give rounds 2, 3, 5, 9, moved to 3, 3, 6, 9.
        """
        wanted = self.wanted_looks(shares)
        for index, look in enumerate(wanted):
            while not self.is_balanced(look):
                look += 1
            wanted[index] = look
        return wanted


def rounds_of(protocol: Protocol, choices: Choices) -> Rounds:
    """Assigns the prompts of a plan to rounds, for the first measured mode."""
    names = tuple(dict.fromkeys((*protocol.factors, protocol.item, *_word_columns(protocol))))
    keys = _condition_factors(protocol)
    conditions: dict[Levels, list[Row]] = {}
    for cell in cells(protocol, choices):
        conditions.setdefault(_levels(cell, keys), []).append(cell)
    in_sample = math.gcd(*map(len, conditions.values()))
    turn_of = _item_turns(protocol, choices.seed, conditions.values())
    turning = dict.fromkeys((*protocol.factors, *_word_columns(protocol)))
    ranks = {name: _ranks(protocol, name) for name in turning}
    places: dict[Levels, int] = {}
    for items in conditions.values():
        step = len(items) // in_sample
        ordered = _in_turns(items, ranks, turn_of[_item_key(protocol, items[0])])
        for index, cell in enumerate(ordered):
            places[_levels(cell, names)] = index // step
    turns = _count_turns(protocol, conditions.values(), names, places, in_sample)
    return Rounds(in_sample, in_sample * _samples(protocol, choices), names, places, turns)


def _word_columns(protocol: Protocol) -> tuple[str, ...]:
    """Returns the columns of cue words, or of their sets; their values take turns like levels."""
    return tuple(dict.fromkeys(cue.sets or cue.column for cue in protocol.cues.values()))


def _ranks(protocol: Protocol, name: str) -> dict[str, int]:
    levels = dict.fromkeys(cell.get(name, "") for cell in protocol.cells)
    return {level: n for n, level in enumerate(levels)}


def _levels(cell: Mapping[str, str], names: Sequence[str]) -> Levels:
    """Returns the cell's levels of these factors and columns; "" for a missing column."""
    return tuple([cell.get(name, "") for name in names])


def _samples(protocol: Protocol, choices: Choices) -> int:
    names = choices.modes or protocol.default_modes
    modes = [protocol.modes[name] for name in names if not protocol.modes[name].for_discovery]
    return max(samples(choices, mode) for mode in modes)


def _condition_factors(protocol: Protocol) -> list[str]:
    """Lists the factors that make up a condition: the item, and the factors that a headline or
    stopping claim compares, groups by or keeps apart.
    """
    factors = dict.fromkeys((protocol.item, *protocol.apart))
    for spec in _leading_measures(protocol):
        contrast = spec.contrast or {}
        compared = (contrast.get(key, "") for key in ("factor", "within"))
        factors |= dict.fromkeys((*compared, *spec.by[0], *spec.where, *spec.expected))
    factors |= dict.fromkeys(STRATUM)
    return [name for name in (*protocol.factors, protocol.item) if name in factors]


def _leading_measures(protocol: Protocol) -> list[MeasureSpec]:
    stopping = stopping_measures(protocol)
    return [spec for spec in protocol.measures if spec.headline or spec in stopping]


def _item_key(protocol: Protocol, cell: Row) -> Levels:
    return (*(cell.get(name, "") for name in (*STRATUM, *protocol.apart)), cell[protocol.item])


def _item_turns(
    protocol: Protocol, seed: int, conditions: Iterable[Sequence[Row]]
) -> dict[Levels, int]:
    """Returns each item's first turn: its rank within its stratum, shuffled by the seed."""
    strata: dict[Levels, set[str]] = {}
    for condition in conditions:
        *stratum, item = _item_key(protocol, condition[0])
        strata.setdefault(tuple(stratum), set()).add(item)
    return {
        (*stratum, item): rank
        for stratum, items in strata.items()
        for rank, item in enumerate(sorted(items, key=lambda one: shuffle_key(seed, one)))
    }


def _in_turns(cells: Sequence[Row], ranks: Ranks, turn: int) -> list[Row]:
    """Orders the prompts of one condition by round.

    If they are all combinations of some levels, each level of each factor comes equally often as
    soon as the numbers allow; the first combination shifts from turn to turn.
    """
    levels_of = {name: {cell.get(name, "") for cell in cells} for name in ranks}
    position = {
        name: sorted(levels, key=ranks[name].__getitem__)
        for name, levels in levels_of.items()
        if len(levels) > 1
    }
    sizes = tuple(len(levels) for levels in position.values())
    by_index = {
        tuple(levels.index(cell.get(name, "")) for name, levels in position.items()): cell
        for cell in cells
    }
    if math.prod(sizes) == len(cells) == len(by_index):
        begin, rest = [], turn
        for size in sizes:
            begin.append(rest % size)
            rest //= size
        return [
            by_index[tuple((i + b) % size for i, b, size in zip(index, begin, sizes, strict=True))]
            for index in cross_levels(sizes)
        ]
    ordered = [cell for _, cell in sorted(by_index.items())]
    ordered = ordered if len(ordered) == len(cells) else list(cells)
    start = turn % len(ordered)
    return [*ordered[start:], *ordered[:start]]


@cache
def cross_levels(sizes: tuple[int, ...]) -> tuple[Index, ...]:
    """Returns every combination of level indices, in an order in which all factors change at each
    step. By hand: (2, 2) gives (0, 0), (1, 1), (0, 1), (1, 0).
    """
    indices: tuple[Index, ...] = ((),)
    for size in sizes:
        length, lcm = len(indices), math.lcm(len(indices), size)
        indices = tuple(
            (*indices[step % length], (step + step // lcm) % size) for step in range(length * size)
        )
    return indices


def _count_turns(
    protocol: Protocol,
    conditions: Iterable[Sequence[Row]],
    names: Sequence[str],
    places: Mapping[Levels, int],
    in_sample: int,
) -> list[Counter[tuple[str, ...]]]:
    """Counts the levels that take turns, per round inside a sample, arm and stratum; skips a level
    that only one item has.
    """
    arms = _arm_factors(protocol)
    turns = [Counter[tuple[str, ...]]() for _ in range(in_sample)]
    items: dict[tuple[str, str], set[str]] = {}
    counts = []
    for condition in conditions:
        turning = [name for name in names if name != protocol.item]
        varying = [name for name in turning if len({cell.get(name, "") for cell in condition}) > 1]
        for cell in condition:
            arm, round_index = _levels(cell, arms), places[_levels(cell, names)]
            for name in varying:
                level = cell.get(name, "")
                items.setdefault((name, level), set()).add(cell[protocol.item])
                counts.append((round_index, name, level, arm))
    for round_index, name, level, arm in counts:
        if len(items[name, level]) > 1:
            turns[round_index][(name, level, *arm)] += 1
    return turns


def _arm_factors(protocol: Protocol) -> list[str]:
    """Lists the factors that distinguish the arms of one item, and the strata."""
    factors = [
        (spec.contrast or {}).get(key, "")
        for spec in _leading_measures(protocol)
        for key in ("factor", "within")
    ]
    return [name for name in dict.fromkeys((*STRATUM, *protocol.apart, *factors)) if name]
