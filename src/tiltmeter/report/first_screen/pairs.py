"""Pairs of answers to one prompt in which the cue alone differs: how many differ as the first
sentence says, and one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...protocol import Protocol
from ...store import Store
from ...store.queries import labels
from ...store.queries.outputs import CardOutput


class Wanted(NamedTuple):
    """What a pair shows that fits: at the level `more` a label that counts, at `less` none; or at
    both levels, if `both` names what counts.
    """

    attribute: str
    values: tuple[str, ...]
    annotator: str
    more: str
    less: str
    both: str = ""


class Pairs(NamedTuple):
    """chosen: the outputs of the pair by level, {} if there is none; words: how many differ so."""

    chosen: Mapping[str, list[CardOutput]]
    words: str


def pairs_that_differ(
    store: Store, protocol: Protocol, cards: Sequence[CardOutput], cue: str, wanted: Wanted
) -> Pairs:
    """Pairs of first answers that have all levels but the cue's in common. The pair is the first by
    id, which is a hash; if none differs as wanted, the first with the commonest outcome.
    """
    counted = _counted(store, wanted)
    sides: dict[tuple[tuple[str, str], ...], dict[str, CardOutput]] = {}
    for card in cards:
        level = card.levels.get(cue, "")
        if level in (wanted.more, wanted.less) and card.id in counted:
            place = tuple(sorted((n, v) for n, v in card.levels.items() if n != cue))
            sides.setdefault(place, {}).setdefault(level, card)
    outcomes: dict[tuple[bool, bool], list[dict[str, CardOutput]]] = {}
    for pair in sides.values():
        if len(pair) == 2:
            hit = counted[pair[wanted.more].id], counted[pair[wanted.less].id]
            outcomes.setdefault(hit, []).append(pair)
    total = sum(map(len, outcomes.values()))
    if not total:
        return Pairs({}, "")
    if wanted.both:
        alike = outcomes.get((True, True), [])
        kept = alike or max(outcomes.values(), key=len)
        pair = min(kept, key=lambda own: own[wanted.more].id)
        chosen = {level: [pair[level]] for level in (wanted.less, wanted.more)}
        return Pairs(chosen, f"{len(alike)} of {total} prompts give {wanted.both} in both")
    so, reverse = (len(outcomes.get(hit, ())) for hit in ((True, False), (False, True)))
    kept = outcomes.get((True, False)) or max(outcomes.values(), key=len)
    pair = min(kept, key=lambda own: own[wanted.more].id)
    chosen = {level: [pair[level]] for level in (wanted.less, wanted.more)}
    differ = "differs" if so == 1 else "differ"
    return Pairs(chosen, f"{so} of {total} pairs {differ} so, {reverse} the other way")


def _counted(store: Store, wanted: Wanted) -> dict[str, bool]:
    """Output → whether its label counts, by the annotator of the claim."""
    return {
        label.output: label.value in wanted.values
        for label in labels.of_attribute(store, wanted.attribute)
        if label.annotator == wanted.annotator and label.attribute == wanted.attribute
    }
