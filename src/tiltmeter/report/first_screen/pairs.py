"""Pairs of answers to one prompt that differ only in the cue: an example, and counts of pairs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from statistics import fmean, median
from typing import NamedTuple

from ...analyse.words import numerals
from ...protocol import Protocol
from ...store import Store
from ...store.queries import label_counts, labels, outputs
from ...store.queries.outputs import CardOutput

NEAREST = 36  # pairs whose rows of the design are compared
Place = tuple[tuple[str, str], ...]  # the levels that both sides of a pair share


class WantedPair(NamedTuple):
    """The kind of pair that fits a claim: a counted label at the level `more` and not at `less`;
    or, if `both` has the labels' names, a counted label at both levels. among: the labels that the
    number is of; () for all.
    """

    attribute: str
    values: tuple[str, ...]
    annotator: str
    more: str
    less: str
    both: str = ""
    among: tuple[str, ...] = ()


class Pairs(NamedTuple):
    """An example pair. chosen: {level: its outputs}; words: the share of similar pairs, as text."""

    chosen: Mapping[str, list[CardOutput]]
    words: str


def pairs_that_differ(
    store: Store, protocol: Protocol, cards: Sequence[CardOutput], cue: str, wanted: WantedPair
) -> Pairs:
    """Pairs first answers that share all levels but the cue's, ignoring factors that change with
    the cue (a name, within a group's names). The example is from the item whose mean difference is
    closest to the median item's, and of the rows of the design that differ least; ties go to the
    first id (a hash). If no pair differs as wanted, the example is from the commonest outcome.
    """
    counted = _counted_outputs(store, wanted)
    aside = _changes_with(cards, cue, (wanted.more, wanted.less)) - {protocol.item}
    sides: dict[Place, dict[str, list[CardOutput]]] = {}
    for card in cards:
        level = card.levels.get(cue, "")
        if level in (wanted.more, wanted.less) and card.id in counted:
            sides.setdefault(_place(card.levels, aside), {}).setdefault(level, []).append(card)
    outcomes: dict[tuple[bool, bool], list[dict[str, CardOutput]]] = {}
    for answers in sides.values():
        for more, less in product(answers.get(wanted.more, ()), answers.get(wanted.less, ())):
            pair = {wanted.more: more, wanted.less: less}
            outcomes.setdefault((counted[more.id], counted[less.id]), []).append(pair)
    if not outcomes:
        return Pairs({}, "")
    kept = outcomes.get((True, bool(wanted.both))) or max(outcomes.values(), key=len)
    away = _from_median(outcomes, protocol.item, wanted)
    near = sorted(kept, key=lambda pair: (not wanted.both and away(pair), pair[wanted.more].id))
    rows = _rows(store, protocol, near[:NEAREST])

    def apart(pair: Mapping[str, CardOutput]) -> int:
        """Counts the other columns in which the pair's rows of the design differ."""
        more, less = rows[pair[wanted.more].id], rows[pair[wanted.less].id]
        return sum(more[name] != less.get(name) for name in more if name not in aside)

    pair = min(near[:NEAREST], key=apart)
    chosen = {level: [pair[level]] for level in (wanted.less, wanted.more)}
    return Pairs(chosen, _words(_sums(store, cards[0].subject, sides, cue, wanted, aside), wanted))


def _place(levels: Mapping[str, str], aside: Collection[str]) -> Place:
    return tuple(sorted((name, level) for name, level in levels.items() if name not in aside))


def _rows(
    store: Store, protocol: Protocol, pairs: Sequence[Mapping[str, CardOutput]]
) -> dict[str, dict[str, str]]:
    """Returns {output: the row of the design that asked for it}; {} for a row that has changed."""
    cards = {card.id: card for pair in pairs for card in pair.values()}
    wanted = {tuple(card.levels.items()) for card in cards.values()}
    names = next(iter(cards.values())).levels
    cells: dict[Place, list[dict[str, str]]] = {}
    for cell in protocol.cells:
        place = tuple((name, cell.get(name, "")) for name in names)
        if place in wanted:
            cells.setdefault(place, []).append(cell)
    rows: dict[str, dict[str, str]] = {}
    for key, card in cards.items():
        asked = outputs.one(store, key)
        alike = cells.get(tuple(card.levels.items()), ())
        prompt = asked[0].prompt if asked else ""
        rows[key] = next((cell for cell in alike if protocol.prompt_text(cell) == prompt), {})
    return rows


class _Sums(NamedTuple):
    """Numbers of pairs, each answer at one level with each at the other: all; those that differ as
    the claim says; those the other way; those that count at both levels."""

    all: float
    so: float
    reverse: float
    alike: float


def _sums(
    store: Store,
    subject: str,
    places: Collection[Place],
    cue: str,
    wanted: WantedPair,
    aside: Collection[str],
) -> _Sums:
    """Counts the pairs of all answers at some places, from the sums of weights of each cell."""
    ends = wanted.more, wanted.less
    counts: dict[Place, dict[str, list[float]]] = {}  # per level: counted, not counted
    for row in label_counts.condition_weights(store, wanted.annotator, wanted.attribute):
        level, place = row.levels.get(cue, ""), _place(row.levels, aside)
        if row.subject != subject or place not in places or level not in ends:
            continue
        if not wanted.among or row.value in wanted.among:
            sides = counts.setdefault(place, {level: [0.0, 0.0] for level in ends})
            sides[level][row.value not in wanted.values] += row.weight
    total = so = reverse = alike = 0.0
    for (yes, no), (base_yes, base_no) in (sides.values() for sides in counts.values()):
        total += (yes + no) * (base_yes + base_no)
        so, reverse, alike = so + yes * base_no, reverse + no * base_yes, alike + yes * base_yes
    return _Sums(total, so, reverse, alike)


def _words(sums: _Sums, wanted: WantedPair) -> str:
    """Writes the shares of pairs; "" if they contradict the claim, as a number that gold corrects
    may.
    """
    if not sums.all or (sums.so <= sums.reverse and not wanted.both):
        return ""
    so, reverse, alike = (numerals.percent(part / sums.all) for part in sums[1:])
    pairs = f"all {numerals.count(sums.all)} pairs of answers"
    if wanted.both:
        return f"{alike} of {pairs} give {wanted.both} in both"
    return f"{so} of {pairs} differ so, {reverse} the other way"


def _changes_with(cards: Sequence[CardOutput], cue: str, ends: tuple[str, str]) -> frozenset[str]:
    """Returns the factors that share no level between the two levels of the cue (`ends`)."""
    levels: dict[str, tuple[set[str], set[str]]] = {}
    for card in cards:
        if card.levels.get(cue, "") in ends:
            side = ends.index(card.levels[cue])
            for name, level in card.levels.items():
                levels.setdefault(name, (set(), set()))[side].add(level)
    return frozenset(name for name, (more, less) in levels.items() if not more & less)


def _from_median(
    outcomes: Mapping[tuple[bool, bool], Sequence[Mapping[str, CardOutput]]],
    item: str,
    wanted: WantedPair,
) -> Callable[[Mapping[str, CardOutput]], float]:
    """Returns a function: pair → its item's mean difference, as distance from the median item's."""
    differences_of: dict[str, list[int]] = {}
    for (more, less), pairs in outcomes.items():
        for pair in pairs:
            item_of = pair[wanted.more].levels.get(item, "")
            differences_of.setdefault(item_of, []).append(more - less)
    means = {name: fmean(differences) for name, differences in differences_of.items()}
    middle = median(means.values())
    return lambda pair: abs(means[pair[wanted.more].levels.get(item, "")] - middle)


def _counted_outputs(store: Store, wanted: WantedPair) -> dict[str, bool]:
    """Returns {output: True if the claim's annotator gave it a counted label}."""
    return {
        label.output: label.value in wanted.values
        for label in labels.of_attribute(store, wanted.attribute)
        if label.annotator == wanted.annotator and label.attribute == wanted.attribute
    }
