"""Who a pronoun can mean, and how likely each: nobody named, the primary person, somebody else.

A score is in log-odds, of weights in data/attribution.toml ([primary]); whose.py reads a whole text
with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ..wording import texts
from . import attribution
from .attribution import Entity
from .passage import POSSESSIVE, SUBJECT, Token, data, people, verb_like, words
from .person import PLURAL

MASCULINE, FEMININE, NEUTRAL, NEO = "masculine", "feminine", "neutral", "neo"
GENDER = {MASCULINE: "m", FEMININE: "f", NEUTRAL: PLURAL, NEO: "x"}
UNLIKELY = -9.0  # the score of somebody whom a pronoun cannot mean
_INDEFINITE = frozenset(
    ("everyone", "everybody", "anyone", "anybody", "nobody", "someone", "somebody", "both")
)
_SINGULAR = frozenset(("themself", "theirself", "themsel"))


class Pronoun(NamedTuple):
    """One pronoun. gender: "m", "f", PLURAL or "x" for any; role: one of passage.SUBJECT … OTHER;
    speaking: the tokens that name the speaker of its quotation; absent: no word outside
    quotations names the primary person.
    """

    at: int
    value: str
    gender: str
    role: int
    speaking: range
    absent: bool


@cache
def primary_weights() -> Mapping[str, float]:
    """{name: weight in log-odds} of [primary] in data/attribution.toml."""
    primary = texts("attribution").section("primary")
    return {name: primary.number(name) for name in primary.table}


@cache
def _reflexive() -> frozenset[str]:
    return frozenset(form for cases in data()["forms"].values() for form in cases["reflexive"])


def pronoun_of(
    found: Sequence[Token], at: int, value: str, double: bool, speaking: range, absent: bool
) -> Pronoun:
    """The pronoun at a place; double: it is "he or she"."""
    word = found[at].word
    role = POSSESSIVE if word in _reflexive() else attribution.pronoun_role(found, at)
    gender = "x" if double or word in _SINGULAR else GENDER[value]
    return Pronoun(at, value, gender, role, speaking, absent)


def chance_of_nobody(pronoun: Pronoun, known: frozenset[str]) -> float:
    """What a pronoun scores that is given to nobody who is named."""
    table = primary_weights()
    extra = table["known"] if pronoun.value in known else 0.0
    if pronoun.value == NEUTRAL:
        extra += table["things"]
    return table["unnamed"] + extra + (table["absent"] if pronoun.absent else 0.0)


def can_be_primary(found: Sequence[Token], pronoun: Pronoun, primary: Entity) -> bool:
    """Whether a pronoun can mean the primary person at all."""
    return not (
        (pronoun.role == POSSESSIVE and _owns(found, pronoun.at, primary))
        or (pronoun.gender == PLURAL and _several(found, pronoun.at))
        or _speaks(primary, pronoun.speaking)
    )


def chance_of_primary(
    found: Sequence[Token],
    pronoun: Pronoun,
    everyone: Sequence[Entity],
    had: Mapping[str, int],
) -> float:
    """What a pronoun scores for the primary person, the first of everyone, who so far has had
    pronouns of some classes.
    """
    primary = everyone[0]
    table, at, gender = primary_weights(), pronoun.at, pronoun.gender
    seen = (
        attribution.score(found, at, pronoun.role, primary, everyone)[0]
        if primary.mentions
        else table["implicit"]
    )
    if not any(mention.first < at for mention in primary.mentions):
        seen = max(seen, table["later" if primary.mentions else "implicit"])
    total = table["prior"] + seen + _tells(found, pronoun, primary)
    known = {GENDER[value] for value in had}
    cue = primary.gender
    if gender in (known or {cue}):
        total += table["match"]
    if (cue and gender in ("m", "f") and gender != cue and cue not in known) or (
        known and gender not in known and "x" not in (gender, *known)
    ):
        total += table["clash"]
    return total


def can_ever_be(entity: Entity, gender: str) -> bool:
    """Whether a pronoun of a gender could mean somebody else, wherever both stand."""
    if gender == PLURAL:
        return entity.gender == PLURAL or not (entity.gender or entity.thing)
    return entity.gender != PLURAL and (gender == "x" or entity.gender in ("", gender))


def can_be_other(found: Sequence[Token], pronoun: Pronoun, entity: Entity) -> bool:
    """Whether another person, or a plural noun, can be meant at all: gender, place, not the
    speaker, not the owned.
    """
    at, gender = pronoun.at, pronoun.gender
    here = found[at].sentence
    if not can_ever_be(entity, gender):
        return False
    if entity.gender == PLURAL:
        near = 0 if entity.name & _INDEFINITE else 1
        return any(
            mention.first < at and here - mention.sentence <= near for mention in entity.mentions
        )
    for mention in entity.mentions:
        if mention.first < at or (gender != PLURAL and mention.sentence == here):
            break
    else:
        return False
    return not _speaks(entity, pronoun.speaking) and not (
        pronoun.role == POSSESSIVE and _owns(found, at, entity)
    )


def chance_of_other(
    found: Sequence[Token], pronoun: Pronoun, entity: Entity, everyone: Sequence[Entity]
) -> float:
    """What a pronoun scores for somebody else."""
    table, gender = primary_weights(), pronoun.gender
    if gender == PLURAL:
        extra = table["plural"] if entity.gender == PLURAL else table["stranger"]
    else:
        extra = table["unknown"] if not entity.gender or gender == "x" else table["match"]
        extra += table["thing"] if entity.thing else 0.0
    seen = attribution.score(found, pronoun.at, pronoun.role, entity, everyone)[0]
    return seen + extra + _tells(found, pronoun, entity)


def _tells(found: Sequence[Token], pronoun: Pronoun, entity: Entity) -> float:
    """A bonus for somebody who tells what stands around a pronoun: a subject in the same sentence,
    beside a verb of speech ("Harold said that he").
    """
    if pronoun.role != SUBJECT:
        return 0.0
    at = pronoun.at
    for mention in entity.mentions[-3:]:
        if mention.sentence == found[at].sentence and mention.first < at:
            near = found[mention.last + 1 : mention.last + 3]
            if any(token.word in words("speech") for token in near):
                return primary_weights()["tells"]
    return 0.0


def speaker(found: Sequence[Token], span: tuple[int, int]) -> range:
    """Tokens in which the speaker of a quotation stands: beside a verb of saying, after the
    quotation or before it.
    """
    low, high = span
    speech = words("speech")
    said = next(
        (at for at in range(high + 1, min(high + 6, len(found))) if found[at].word in speech), None
    )
    if said is not None and all(found[at].word not in ".\n" for at in range(high + 1, said)):
        return (
            range(high + 1, said)
            if said > high + 1
            else range(said + 1, _until(found, said + 1, 1))
        )
    for at in range(low - 1, max(low - 10, -1), -1):
        if found[at].word in ".?!\n":
            break
        if found[at].word in speech:
            return range(_until(found, at - 1, -1) + 1, at)
    return range(0)


def _until(found: Sequence[Token], at: int, step: int) -> int:
    """The first place from `at` on, at most four away, where a clause ends or a preposition
    stands.
    """
    for _ in range(4):
        if (
            not 0 <= at < len(found)
            or not found[at].word[0].isalnum()
            or found[at].word in words("prepositions")
        ):
            break
        at += step
    return at


def _speaks(entity: Entity, speaking: range) -> bool:
    return bool(speaking) and any(
        mention.first in speaking and not mention.chained for mention in entity.mentions
    )


def _owns(found: Sequence[Token], at: int, entity: Entity) -> bool:
    """Whether a possessive stands inside the entity's own noun phrase ("her husband", "his partner,
    Emma").
    """
    for mention in entity.mentions:
        if mention.chained or not 0 < mention.first - at < 5:
            continue
        inside = found[at + 1 : mention.first]
        if all(token.word[0].isalpha() or token.word == "," for token in inside) and not any(
            verb_like(token) or token.word in words("prepositions", "boundary")
            for token in inside
            if token.word != ","
        ):
            commas = [token for token in inside if token.word == ","]
            if not commas or (
                inside[-1].word == "," and inside[-2:-1] and inside[-2].word in people()["noun"]
            ):
                return True
    return False


def _several(found: Sequence[Token], at: int) -> bool:
    """Whether "they" is said to be several: "they both", "all of them"."""
    after = {token.word for token in found[at + 1 : at + 3]}
    before = [token.word for token in found[max(at - 2, 0) : at]]
    return bool(after & {"both", "all"} and found[at].word in ("they", "them")) or (
        before[-1:] == ["of"]
        and before[:1] != []
        and before[0]
        in ("both", "all", "some", "each", "one", "two", "none", "many", "most", "several", "half")
    )
