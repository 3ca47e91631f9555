"""Scores for the referents of a pronoun: sums of weights over the mentions of each entity. Rules
only; no model, no network.

Pronouns are resolved from left to right. Each is assigned to the entity whose best mention has the
highest score, and then counts as a further mention of that entity, which forms chains of pronouns.
A score is a sum of weights (data/attribution.toml) over features that need no parser: the distance
in sentences, the number of other people between, the roles of both (parallelism: a subject after a
subject), whether the same clause forbids the reference ("Ann saw her"), and whether the entity is
the text's first or most-named person.

whose.py scores pronouns for the primary person of a text; benchmarks/gap_pairs.py for two candidate
names, as in GAP, on whose pairs the weights were fitted.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from ..wording import DATA
from .passage import (
    OBJECT,
    POSSESSIVE,
    PREPOSITION,
    SUBJECT,
    WordToken,
    is_possessive,
    words,
)

ROLES = ("subject", "object", "preposition", "genitive", "possessive", "other")
_APART = tuple(f"sentences_{number}" for number in range(4))
_AHEAD = tuple(f"ahead_{role}" for role in ROLES)
_PAIRED = {
    kind: tuple(tuple(f"{kind}_{mine}_{theirs}" for theirs in ROLES) for mine in ROLES)
    for kind in ("near", "far", "clause")
}


@dataclass(slots=True)
class Mention:
    """A mention of an entity by the tokens first to last. chained: it is a pronoun that was
    assigned to the entity.
    """

    first: int
    last: int
    role: int
    sentence: int
    clause: int
    chained: bool = False


@dataclass(slots=True)
class Entity:
    """A person, animal or thing. gender: "m", "f", PLURAL, or "" if unknown; primary: the person
    that the text is about; thing: an animal or a thing.
    """

    name: frozenset[str]
    gender: str = ""
    mentions: list[Mention] = field(default_factory=list)
    order: int = 0
    primary: bool = False
    thing: bool = False

    def again(self) -> Entity:
        """Copies the entity; the copy has its own list of mentions."""
        return Entity(
            self.name, self.gender, list(self.mentions), self.order, self.primary, self.thing
        )


@cache
def weights() -> Mapping[str, float]:
    """Returns {name: weight} of table [weights] in data/attribution.toml."""
    table = tomllib.loads((DATA / "attribution.toml").read_text("utf-8"))
    return {name: float(value) for name, value in table["weights"].items()}


def pronoun_role(found: Sequence[WordToken], at: int) -> int:
    """Returns the grammatical role of a pronoun, judging by its form and the words next to it."""
    word = found[at].word
    if word in ("he", "she", "they"):
        return SUBJECT
    if word in ("his", "their", "hers", "theirs"):
        return POSSESSIVE
    if word in ("her", "hir") and is_possessive(found, at):
        return POSSESSIVE
    return PREPOSITION if at and found[at - 1].word in words("prepositions") else OBJECT


_Place = tuple[int, int, int, bool, bool]


def _place(token: WordToken, at: int, mine: int, mention: Mention) -> _Place:
    """Describes a mention relative to a pronoun: sentences between (negative if the mention
    follows), role of each, True if they share a clause, True if the mention is itself a pronoun.
    """
    apart = token.sentence - mention.sentence
    if mention.first > at:
        return (-1 if apart == 0 else -2), mine, mention.role, False, mention.chained
    return (
        apart if apart < 3 else 3,
        mine,
        mention.role,
        apart == 0 and mention.clause == token.clause,
        mention.chained,
    )


def _place_weights(
    apart: int, mine: int, theirs: int, clause: bool, chained: bool
) -> Iterator[str]:
    """Yields the names of the weights that apply to a position described by _place()."""
    if apart < 0:
        yield "ahead_same" if apart == -1 else "ahead"
        if apart == -1:
            yield _AHEAD[theirs]
    else:
        yield _APART[apart]
        yield _PAIRED["near" if apart == 0 else "far"][mine][theirs]
        if clause:
            yield _PAIRED["clause"][mine][theirs]
    if chained:
        yield "chained"


@lru_cache(maxsize=4096)
def score_of_place(place: _Place) -> float:
    return sum(weights().get(name, 0.0) for name in _place_weights(*place))


@cache
def score_of_distance(distance: int) -> float:
    return weights().get("distance", 0.0) * math.log1p(distance)


def _setting(found: Sequence[WordToken], mention: Mention, at: int, mine: int) -> Iterator[str]:
    """Yields the names of the weights for a name's context: in brackets, first in its sentence, in
    "her sister Ann", before "and" or "who".
    """
    before = found[mention.first - 1].word if mention.first else ""
    if before == "(" or (
        before in ("by", "as")
        and mention.first > 1
        and found[mention.first - 2].word in ("(", "played")
    ):
        yield "bracketed"
    if mention.first == 0 or found[mention.first - 1].sentence < mention.sentence:
        yield "begins_here" if mention.sentence == found[at].sentence else "begins"
    if (
        mine == POSSESSIVE
        and 0 < mention.first - at < 5
        and all(t.word[0].isalnum() for t in found[at : mention.first])
    ):
        yield "inside"
    after = found[mention.last + 1].word if mention.last + 1 < len(found) else ""
    if (
        mention.first < at
        and mention.sentence == found[at].sentence
        and _relative(found, mention.last + 1, at)
    ):
        yield "relative"
    if after in ("and", "who", ",", "("):
        yield f"before_{after}"


def _relative(found: Sequence[WordToken], after: int, at: int) -> bool:
    """True if a pronoun is in a relative clause of a name: "Cara, who had lost her keys"."""
    start = after + 1 if after < len(found) and found[after].word == "," else after
    return (
        start < at
        and found[start].word == "who"
        and not any(
            token.word in ",;" or token.word in words("conjunctions") for token in found[start:at]
        )
    )


def score(
    found: Sequence[WordToken], at: int, mine: int, entity: Entity, people: Sequence[Entity]
) -> tuple[float, Mention | None]:
    """Returns an entity's best score for a pronoun, and the mention that gives this score."""
    table = weights()
    best, which, each = -math.inf, None, table.get("between", 0.0)
    nearest = (
        entity.mentions
        if len(entity.mentions) < 5
        else sorted(entity.mentions, key=lambda mention: abs(mention.first - at))[:4]
    )
    for mention in nearest:
        low, high = (mention.first, at) if mention.first < at else (at, mention.first)
        total = score_of_place(_place(found[at], at, mine, mention)) + score_of_distance(high - low)
        if high - low > 1:
            total += each * _between(people, entity, low, high)
        if not mention.chained:
            for name in _setting(found, mention, at, mine):
                total += table.get(name, 0.0)
        if total > best:
            best, which = total, mention
    before = 0
    for mention in entity.mentions:
        before += mention.first < at and not mention.chained
    first = table.get("first", 0.0) if entity.order == 0 else 0.0
    return best + score_of_names(before) + first, which


@cache
def score_of_names(before: int) -> float:
    return weights().get("named", 0.0) * math.log1p(before)


def _between(people: Sequence[Entity], entity: Entity, low: int, high: int) -> int:
    """Counts the other people mentioned between two token indices, up to four."""
    count = 0
    for person in people:
        if person is not entity:
            for mention in person.mentions:
                if low < mention.first < high:
                    count += 1
                    if count == 4:
                        return count
                    break
    return count
