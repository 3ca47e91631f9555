"""Finds the referent of every pronoun of a text: scores several ways to resolve all of them
together (readings); the best reading decides.

The pronouns of one person usually belong to one class. So a text is resolved once per class that
could be the primary person's (also with no class, and with all), each time from left to right by
attribution.py's scores. A reading scores higher if its pronouns have fitting referents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .attribution import Entity, Mention
from .candidates import (
    UNLIKELY,
    Pronoun,
    can_be_other,
    can_be_primary,
    chance_of_nobody,
    chance_of_other,
    chance_of_primary,
    primary_weights,
)
from .cast import Cast, Marked, cast_of, with_signs
from .passage import WordToken
from .person import Person
from .plurals import PLURAL
from .told import Told
from .worth import Step, signs, signs_of_none, worth


class Attribution(NamedTuple):
    """The referents of pronouns. whose: {index: referent}; meant: {index: referent's word};
    chances: {set of the primary person's pronoun classes: probability of its readings}, summing to
    1."""

    whose: Mapping[int, str]
    meant: Mapping[int, str]
    chances: Mapping[frozenset[str], float]


class Given(NamedTuple):
    """A reading of a text. whose, meant: see Attribution; seen: {name: value of a feature}; lead:
    {class: the largest margin by which the primary person wins a pronoun}.
    """

    whose: dict[int, str]
    meant: dict[int, str]
    seen: Mapping[str, float]
    lead: Mapping[str, float]


def attribute(marked: Marked, who: Person, told: Told) -> Attribution:
    """Finds the referent of each pronoun, and the probability of each reading. told: the facts that
    the text's input gives about its people.
    """
    known = told.known
    cast = cast_of(marked, who)
    classes = frozenset(marked.places.values())
    primary = cast.primary.mentions
    if len(classes) == 1 and primary and primary[0].first < cast.pronouns[0].at:
        if _only_primary(marked, cast, known):
            whose = dict.fromkeys(marked.places, "primary")
            meant = dict.fromkeys(marked.places, next(iter(cast.primary.name)))
            return Attribution(whose, meant, {classes: 1.0})
        best = _chain_reading(_chain(marked, cast, known, classes))
        if not cast.others and set(best.whose.values()) == {"primary"}:
            return Attribution(best.whose, best.meant, {classes: 1.0})
    ways = readings(marked, with_signs(marked, cast, told), known)
    best = max(ways, key=lambda way: worth(way.seen))
    return Attribution(best.whose, best.meant, _chances(marked, ways))


def _chances(marked: Marked, ways: Sequence[Given]) -> Mapping[frozenset[str], float]:
    """Returns {primary person's classes: probability} of all readings: a softmax of log-odds."""
    values = [worth(way.seen) for way in ways]
    each = [math.exp(value - max(values)) for value in values]
    return {_classes_of(marked, way): one / sum(each) for way, one in zip(ways, each, strict=True)}


def _only_primary(marked: Marked, cast: Cast, known: frozenset[str]) -> bool:
    """True if the pronouns of a text can only mean the primary person, who is named earlier; then
    no scores are needed.
    """
    first = cast.pronouns[0]
    return not (
        first.value in known
        or any(
            can_be_other(marked.found, pronoun, entity)
            for entity in cast.others
            for pronoun in cast.pronouns
        )
    ) and all(can_be_primary(marked.found, pronoun, cast.primary) for pronoun in cast.pronouns)


def readings(marked: Marked, cast: Cast, known: frozenset[str]) -> list[Given]:
    """Lists the readings in which the primary person may have all pronouns, one class, or none."""
    classes = list(dict.fromkeys(marked.places.values()))
    ways = [frozenset(classes), *(frozenset((class_,)) for class_ in classes if len(classes) > 1)]
    by_places: dict[frozenset[str], Given] = {}
    for only in (*ways, frozenset[str]()):
        reading = _reading(marked, cast, known, only)
        if only and not _classes_of(marked, reading):
            reading = _reading(marked, cast, known, only, primary_weights()["insist"])
            reading = reading._replace(seen={**reading.seen, "insisted": 1.0})
        by_places.setdefault(_classes_of(marked, reading), reading)
    return [_add_leads(mine, reading, by_places) for mine, reading in by_places.items()]


def _classes_of(marked: Marked, reading: Given) -> frozenset[str]:
    """Returns the classes of the pronouns that a reading gives to the primary person."""
    return frozenset(marked.places[at] for at, one in reading.whose.items() if one == "primary")


def _add_leads(mine: frozenset[str], reading: Given, made: Mapping[frozenset[str], Given]) -> Given:
    """Adds to a reading's features the largest and smallest lead of the primary person, taken from
    the first reading: over the classes assigned to the person (`mine`), and over the others.
    """
    lead = next(iter(made.values())).lead
    seen = dict(reading.seen)
    for name, classes in (("kept", mine), ("left", frozenset(lead) - mine)):
        values = [max(-4.0, min(4.0, lead[class_])) for class_ in classes if class_ in lead]
        if values:
            seen[f"{name}_most"] = max(values)
            seen[f"{name}_least"] = min(values)
    return reading._replace(seen=seen)


@dataclass(slots=True)
class _Chain:
    """A reading in progress: the pronouns assigned to each person so far.

    said: {id of an entity: gender that words state}; had: {class: number of the primary person's
    pronouns}; lead: {class: that person's largest margin}; before: {gender: referent of the last
    pronoun of it}; margin: that person's margin for the current pronoun.
    """

    primary: Entity
    others: Sequence[Entity]
    everyone: Sequence[Entity]
    said: Mapping[int, str]
    had: dict[str, int] = field(default_factory=dict)
    lead: dict[str, float] = field(default_factory=dict)
    whose: dict[int, str] = field(default_factory=dict)
    meant: dict[int, str] = field(default_factory=dict)
    before: dict[str, Entity | None] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    margin: float = UNLIKELY
    score: float = 0.0


def _chain(
    marked: Marked, cast: Cast, known: frozenset[str], only: frozenset[str], insist: float = 0.0
) -> _Chain:
    """Resolves the text; only pronouns of the classes `only` can be the primary person's. insist:
    is added to that person's scores.
    """
    others = [entity.again() for entity in cast.others]
    genders = {id(entity): entity.gender for entity in others}
    primary = cast.primary.again()
    chain = _Chain(primary, others, [primary, *others], genders)
    for pronoun in cast.pronouns:
        best = _best(marked.found, pronoun, chain, known, insist if pronoun.value in only else None)
        _assign(marked.found, pronoun, chain, best)
    return chain


def _chain_reading(chain: _Chain) -> Given:
    return Given(chain.whose, chain.meant, {}, chain.lead)


def _reading(
    marked: Marked, cast: Cast, known: frozenset[str], only: frozenset[str], insist: float = 0.0
) -> Given:
    """Resolves the text as `_chain` does, and adds the features of the whole reading."""
    chain = _chain(marked, cast, known, only, insist)
    seen = signs(chain.steps, chain.said, known, cast.primary.gender)
    seen["score"] = chain.score / math.sqrt(len(chain.steps))
    seen["score_each"] = chain.score / len(chain.steps)
    if chain.had:
        seen["named"] = math.log1p(len(chain.primary.mentions))
    else:
        seen |= signs_of_none(marked.found, cast.absent, len(chain.steps))
    return _chain_reading(chain)._replace(seen=seen)


def _best(
    found: Sequence[WordToken],
    pronoun: Pronoun,
    chain: _Chain,
    known: frozenset[str],
    insist: float | None,
) -> Entity | None:
    """Returns the entity with the best score for a pronoun, None for nobody named. insist: is added
    to the primary person's score; None if the pronoun cannot mean that person.
    """
    goes_on, gender = primary_weights()["goes_on"], pronoun.gender
    last = chain.before.get(gender)
    nobody = chance_of_nobody(pronoun, known)
    best = nobody + (goes_on if gender in chain.before and last is None else 0.0)
    own, free, chosen = UNLIKELY, UNLIKELY, None
    if can_be_primary(found, pronoun, chain.primary):
        free = chance_of_primary(found, pronoun, chain.everyone, chain.had)
        free += goes_on if last is chain.primary else 0.0
        if insist is not None:
            own = insist + free
            if own > best:
                best, chosen = own, chain.primary
    rest, everyone = nobody, chain.everyone
    for entity in chain.others:
        if not can_be_other(found, pronoun, entity):
            continue
        total = chance_of_other(found, pronoun, entity, everyone)
        total += goes_on if last is entity else 0.0
        rest = max(rest, total)
        if total > best:
            best, chosen = total, entity
    chain.margin = free - rest
    chain.lead[pronoun.value] = max(chain.lead.get(pronoun.value, UNLIKELY), own - rest)
    chain.score += best
    return chosen


def _assign(
    found: Sequence[WordToken],
    pronoun: Pronoun,
    chain: _Chain,
    chosen: Entity | None,
) -> None:
    """Assigns a pronoun to an entity and counts it as a mention of that entity."""
    at, value, gender = pronoun.at, pronoun.value, pronoun.gender
    changes = gender in chain.before and chosen is not chain.before[gender]
    chain.steps.append(Step(pronoun, chosen, chain.margin, changes))
    chain.before[gender] = chosen
    chain.meant[at] = next(iter(chosen.name)) if chosen else ""
    if chosen is None:
        chain.whose[at] = "plural" if gender == PLURAL else "other"
        return
    chain.whose[at] = (
        "primary" if chosen.primary else "plural" if chosen.gender == PLURAL else "other"
    )
    token = found[at]
    chosen.mentions.append(Mention(at, at, pronoun.role, token.sentence, token.clause, True))
    if chosen.primary:
        chain.had[value] = chain.had.get(value, 0) + 1
    elif not chosen.gender and gender in ("m", "f"):
        chosen.gender = gender
