"""Pairs of answers to one prompt that differ only in the cue: an example, and counts of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

from ...protocol import Protocol
from ...store import Store
from ...store.queries import labels
from ...store.queries.outputs import CardOutput


class WantedPair(NamedTuple):
    """The kind of pair that fits a claim: a counted label at the level `more` and not at `less`;
    or, if `both` has the labels' names, a counted label at both levels.
    """

    attribute: str
    values: tuple[str, ...]
    annotator: str
    more: str
    less: str
    both: str = ""


class Pairs(NamedTuple):
    """An example pair. chosen: {level: its outputs}; words: number of similar pairs, as text."""

    chosen: Mapping[str, list[CardOutput]]
    words: str


def pairs_that_differ(
    store: Store, protocol: Protocol, cards: Sequence[CardOutput], cue: str, wanted: WantedPair
) -> Pairs:
    """Pairs first answers that share all levels but the cue's, ignoring factors that change with
    the cue (a name, within a group's names). The example is from the item whose mean difference is
    closest to the median item's; ties go to the first id (a hash). If no pair differs as wanted,
    the example is from the pairs with the commonest outcome.
    """
    counted = _counted_outputs(store, wanted)
    aside = _changes_with(cards, cue, (wanted.more, wanted.less)) - {protocol.item}
    sides: dict[tuple[tuple[str, str], ...], dict[str, list[CardOutput]]] = {}
    for card in cards:
        level = card.levels.get(cue, "")
        if level in (wanted.more, wanted.less) and card.id in counted:
            place = tuple(sorted((n, v) for n, v in card.levels.items() if n not in aside))
            sides.setdefault(place, {}).setdefault(level, []).append(card)
    outcomes: dict[tuple[bool, bool], list[dict[str, CardOutput]]] = {}
    for answers in sides.values():
        for more, less in zip(
            answers.get(wanted.more, ()), answers.get(wanted.less, ()), strict=False
        ):
            pair = {wanted.more: more, wanted.less: less}
            outcomes.setdefault((counted[more.id], counted[less.id]), []).append(pair)
    total = sum(map(len, outcomes.values()))
    if not total:
        return Pairs({}, "")
    if wanted.both:
        alike = outcomes.get((True, True), [])
        kept = alike or max(outcomes.values(), key=len)
        pair = min(kept, key=lambda answers: answers[wanted.more].id)
        chosen = {level: [pair[level]] for level in (wanted.less, wanted.more)}
        return Pairs(chosen, f"{len(alike)} of {total} prompts give {wanted.both} in both")
    so, reverse = (len(outcomes.get(hit, ())) for hit in ((True, False), (False, True)))
    kept = outcomes.get((True, False)) or max(outcomes.values(), key=len)
    away = _from_median(outcomes, protocol.item, wanted)
    pair = min(kept, key=lambda answers: (away(answers), answers[wanted.more].id))
    chosen = {level: [pair[level]] for level in (wanted.less, wanted.more)}
    differ = "differs" if so == 1 else "differ"
    return Pairs(chosen, f"{so} of {total} pairs {differ} so, {reverse} the other way")


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
