"""Whose each pronoun of a text is, for its primary person: every reading of the text as a whole is
scored, and the best one says whose each pronoun is.

A person mostly has pronouns of one class. So a text is read once for each class that could be the
primary person's (and for none, and for several), each time from left to right with attribution.py's
scores; a reading in which pronouns go to those who suit them scores more than one that has to leave
them to nobody.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from ..wording import texts
from .attribution import Entity, Mention
from .candidates import (
    GENDER,
    NEO,
    NEUTRAL,
    UNLIKELY,
    Pronoun,
    can_be_other,
    can_be_primary,
    chance_of_nobody,
    chance_of_other,
    chance_of_primary,
    primary_weights,
    pronoun_of,
    speaker,
)
from .passage import Token
from .person import PLURAL, Person, everybody

_FIRST = frozenset(("i", "me", "my", "mine", "myself", "i'm"))


class Marked(NamedTuple):
    """A text's tokens, its pronouns (place → class), quotations, where "he or she" begins."""

    found: Sequence[Token]
    places: Mapping[int, str]
    spans: Sequence[tuple[int, int]]
    doubles: frozenset[int]


class Cast(NamedTuple):
    """The people of a text before any pronoun is theirs, and its pronouns; absent: nobody but a
    quoted speaker names the primary person.
    """

    primary: Entity
    others: Sequence[Entity]
    pronouns: Sequence[Pronoun]
    absent: bool


class Given(NamedTuple):
    """whose, meant: for each place; seen: what is seen of the whole reading, by name; lead: class →
    by how much the primary person leads for the pronoun that suits them best.
    """

    whose: dict[int, str]
    meant: dict[int, str]
    seen: Mapping[str, float]
    lead: Mapping[str, float]


def attribute(
    marked: Marked, who: Person, known: frozenset[str]
) -> tuple[dict[int, str], dict[int, str]]:
    """For each pronoun whose it is and the word for them. known: classes of pronouns that somebody
    else in the story has.
    """
    cast = cast_of(marked, who)
    classes = frozenset(marked.places.values())
    if len(classes) == 1 and cast.primary.mentions:
        if _alone(marked, cast, known):
            whose = dict.fromkeys(marked.places, "primary")
            return whose, dict.fromkeys(marked.places, next(iter(cast.primary.name)))
        best = _reading(marked, cast, known, classes)
        sure = not cast.others or min(best.lead.values()) > primary_weights()["sure"]
        if sure and set(best.whose.values()) == {"primary"}:
            return best.whose, best.meant
    best = max(readings(marked, cast, known), key=worth)
    return best.whose, best.meant


def _alone(marked: Marked, cast: Cast, known: frozenset[str]) -> bool:
    """Whether pronouns of one class can mean the primary person alone, who is named before them:
    then nothing need be weighed.
    """
    first = cast.pronouns[0]
    return not (
        first.value in known
        or cast.primary.mentions[0].first > first.at
        or any(
            can_be_other(marked.found, pronoun, entity)
            for entity in cast.others
            for pronoun in cast.pronouns
        )
    ) and all(can_be_primary(marked.found, pronoun, cast.primary) for pronoun in cast.pronouns)


def cast_of(marked: Marked, who: Person) -> Cast:
    """Who is in a text, and its pronouns with who speaks where they stand."""
    primary, others = everybody(marked.found, who, NEUTRAL in marked.places.values())
    absent = all(_inside(mention.first, marked.spans) for mention in primary.mentions)
    speakers = [(span, speaker(marked.found, span)) for span in marked.spans]
    pronouns = []
    for at, value in marked.places.items():
        speaking = next((who for (low, high), who in speakers if low < at < high), range(0))
        double = marked.found[at].begin in marked.doubles
        pronouns.append(pronoun_of(marked.found, at, value, double, speaking, absent))
    return Cast(primary, others, pronouns, absent)


def readings(marked: Marked, cast: Cast, known: frozenset[str]) -> list[Given]:
    """The text read in each way: any pronoun for the primary person, those of one class, none."""
    classes = list(dict.fromkeys(marked.places.values()))
    ways = [frozenset(classes), *(frozenset((one,)) for one in classes if len(classes) > 1)]
    made: dict[frozenset[str], Given] = {}
    for only in (*ways, frozenset[str]()):
        reading = _reading(marked, cast, known, only)
        if only and not _mine(marked, reading):
            reading = _reading(marked, cast, known, only, primary_weights()["insist"])
            reading = reading._replace(seen={**reading.seen, "insisted": 1.0})
        made.setdefault(_mine(marked, reading), reading)
    return [_weighed(mine, reading, made) for mine, reading in made.items()]


def _mine(marked: Marked, reading: Given) -> frozenset[str]:
    """The classes of the pronouns that a reading has for the primary person."""
    return frozenset(marked.places[at] for at, one in reading.whose.items() if one == "primary")


def _weighed(mine: frozenset[str], reading: Given, made: Mapping[frozenset[str], Given]) -> Given:
    """A reading with what its classes have for them: how far the person leads for the best of
    their pronouns in the reading where all are free, and how far for what it leaves to others.
    """
    lead = next(iter(made.values())).lead
    seen = dict(reading.seen)
    for name, classes in (("kept", mine), ("left", frozenset(lead) - mine)):
        values = [max(-4.0, min(4.0, lead[one])) for one in classes if one in lead]
        if values:
            seen[f"{name}_most"] = max(values)
            seen[f"{name}_least"] = min(values)
    return reading._replace(seen=seen)


def worth(reading: Given) -> float:
    """How likely a reading is, by what is seen of it (in data/attribution.toml): log-odds."""
    table = _weights()
    return sum(table.get(name, 0.0) * amount for name, amount in reading.seen.items())


@cache
def _weights() -> Mapping[str, float]:
    readings = texts("attribution").section("readings")
    return {name: readings.number(name) for name in readings.table}


def _inside(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(low < at < high for low, high in spans)


@dataclass(slots=True)
class _Chain:
    """How far the reading of a text has come: who has which pronouns.

    said: the genders that words tell, by the identity of an entity; had: class → how many are the
    primary person's; lead: class → by how much that person leads at best; before: gender → whose
    the last such pronoun was.
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
    seen: Counter[str] = field(default_factory=Counter)
    score: float = 0.0


def _reading(
    marked: Marked, cast: Cast, known: frozenset[str], only: frozenset[str], insist: float = 0.0
) -> Given:
    """The text read with pronouns of these classes alone for the primary person; insist: what is
    added for them.
    """
    others = [entity.again() for entity in cast.others]
    said = {id(entity): entity.gender for entity in others}
    primary = cast.primary.again()
    chain = _Chain(primary, others, [primary, *others], said)
    for pronoun in cast.pronouns:
        best = _best(marked.found, pronoun, chain, known, insist if pronoun.value in only else None)
        _give(marked.found, pronoun, chain, best, known)
    return Given(chain.whose, chain.meant, _whole(chain, cast, marked), chain.lead)


def _best(
    found: Sequence[Token],
    pronoun: Pronoun,
    chain: _Chain,
    known: frozenset[str],
    insist: float | None,
) -> Entity | None:
    """Whom a pronoun suits best, None for nobody named; insist is None where it cannot be the
    primary person's.
    """
    goes_on, gender = primary_weights()["goes_on"], pronoun.gender
    last = chain.before.get(gender)
    nobody = chance_of_nobody(pronoun, known)
    best = nobody + (goes_on if gender in chain.before and last is None else 0.0)
    own, chosen = UNLIKELY, None
    if insist is not None and can_be_primary(found, pronoun, chain.primary):
        own = insist + chance_of_primary(found, pronoun, chain.everyone, chain.had)
        own += goes_on if last is chain.primary else 0.0
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
    chain.lead[pronoun.value] = max(chain.lead.get(pronoun.value, UNLIKELY), own - rest)
    chain.score += best
    return chosen


def _give(
    found: Sequence[Token],
    pronoun: Pronoun,
    chain: _Chain,
    chosen: Entity | None,
    known: frozenset[str],
) -> None:
    """Notes whose a pronoun is; from here on it is a mention of them."""
    at, value, gender = pronoun.at, pronoun.value, pronoun.gender
    chain.seen[_seen(value, gender, chosen, known, chain.said)] += 1
    if gender in chain.before and chosen is not chain.before[gender]:
        chain.seen["changes"] += 1
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


def _seen(
    value: str,
    gender: str,
    chosen: Entity | None,
    known: frozenset[str],
    said: Mapping[int, str],
) -> str:
    """What one pronoun is in a reading: "nobody_he", "named_he", …"""
    kind = "they" if gender == PLURAL else "neo" if value == NEO else "he"
    if chosen is None:
        return f"nobody_{kind}{'_known' if value in known else ''}"
    if chosen.primary:
        return f"mine_{kind}{'_known' if value in known else ''}"
    if chosen.thing:
        return f"thing_{kind}"
    if said.get(id(chosen)) in ("m", "f", PLURAL):
        return f"named_{kind}"
    return f"unknown_{kind}"


def _whole(chain: _Chain, cast: Cast, marked: Marked) -> dict[str, float]:
    """What is seen of a reading as a whole, by name."""
    amounts: dict[str, float] = {}
    for name, number in chain.seen.items():
        amounts[name] = min(float(number), 8.0)
        amounts[f"log_{name}"] = math.log1p(number)
    total, had = len(marked.places), chain.had
    amounts["score"] = chain.score / math.sqrt(total)
    amounts["score_each"] = chain.score / total
    if not had:
        amounts["none"] = 1.0
        amounts["none_absent"] = float(cast.absent)
        first_person = sum(token.word in _FIRST for token in marked.found) > 1
        amounts["none_first_person"] = float(first_person)
        amounts["none_first_absent"] = float(first_person and cast.absent)
        amounts["none_of_many"] = math.log1p(total)
        return amounts
    if len(had) > 1:
        most = max(had.values())
        amounts["several"] = 1.0
        amounts["stray"] = math.log1p(sum(had.values()) - most)
        amounts["stray_share"] = 1 - most / sum(had.values())
        amounts["several_they"] = float(NEUTRAL in had)
    for value in had:
        if cast.primary.gender and GENDER[value] in ("m", "f"):
            amounts["agrees" if GENDER[value] == cast.primary.gender else "against"] = 1.0
        amounts[f"is_{'they' if value == NEUTRAL else 'neo' if value == NEO else 'he'}"] = 1.0
    amounts["named"] = math.log1p(len(chain.primary.mentions))
    return amounts
