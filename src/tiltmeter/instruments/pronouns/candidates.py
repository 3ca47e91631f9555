"""The possible referents of a pronoun and their scores: nobody named, the primary person, another
person.

A score is in log-odds, from weights in data/attribution.toml ([primary]); whose.py resolves the
pronouns of a whole text with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ..wording import texts
from . import attribution
from .attribution import Entity
from .passage import OBJECT, POSSESSIVE, SUBJECT, WordToken, data, people, verb_like, words
from .plurals import PLURAL

MASCULINE, FEMININE, NEUTRAL, NEO = "masculine", "feminine", "neutral", "neo"
GENDER = {MASCULINE: "m", FEMININE: "f", NEUTRAL: PLURAL, NEO: "x"}
UNLIKELY = -9.0  # the score of somebody whom a pronoun cannot mean
_INDEFINITE = frozenset(
    ("everyone", "everybody", "anyone", "anybody", "nobody", "someone", "somebody", "both")
)
_SUBORDINATORS = frozenset(
    ("when", "while", "as", "after", "before", "although", "though", "because", "if", "since")
) | {"once", "until", "whenever", "unless"}
_SINGULAR = frozenset(("themself", "theirself", "themsel"))


class Pronoun(NamedTuple):
    """A pronoun. gender: "m", "f", PLURAL or "x" for any; role: one of passage.SUBJECT … OTHER;
    speaking: the tokens that name the speaker of its quotation; absent: True if the primary person
    is named only inside quotations; told: the input's evidence that the words around the pronoun
    belong to the primary person (+) or to others (−); nearest: the possible referent named last
    (see `nearest`).
    """

    at: int
    value: str
    gender: str
    role: int
    speaking: range
    absent: bool
    told: float = 0.0
    nearest: str = ""


@cache
def primary_weights() -> Mapping[str, float]:
    """Returns {name: weight in log-odds} of table [primary] in data/attribution.toml."""
    primary = texts("attribution").section("primary")
    return {name: primary.number(name) for name in primary.table}


@cache
def _reflexive() -> frozenset[str]:
    return frozenset(form for cases in data()["forms"].values() for form in cases["reflexive"])


def pronoun_of(
    found: Sequence[WordToken], at: int, value: str, double: bool, speaking: range, absent: bool
) -> Pronoun:
    """Makes the Pronoun at a token index. double: the pronoun is a pair such as "he or she"."""
    word = found[at].word
    role = POSSESSIVE if word in _reflexive() else attribution.pronoun_role(found, at)
    gender = "x" if double or word in _SINGULAR else GENDER[value]
    return Pronoun(at, value, gender, role, speaking, absent)


def chance_of_nobody(pronoun: Pronoun, known: frozenset[str]) -> float:
    """Scores, in log-odds, that a pronoun refers to nobody named in the text."""
    table = primary_weights()
    extra = table["known"] if pronoun.value in known else 0.0
    if pronoun.value == NEUTRAL:
        extra += table["things"]
    return table["unnamed"] + extra + (table["absent"] if pronoun.absent else 0.0)


def can_be_primary(found: Sequence[WordToken], pronoun: Pronoun, primary: Entity) -> bool:
    """True if grammar and quotation allow a pronoun to mean the primary person."""
    return not (
        (pronoun.role == POSSESSIVE and _owns(found, pronoun.at, primary))
        or (pronoun.gender == PLURAL and _is_plural(found, pronoun.at))
        or _speaks(primary, pronoun.speaking)
    )


def chance_of_primary(
    found: Sequence[WordToken],
    pronoun: Pronoun,
    everyone: Sequence[Entity],
    had: Mapping[str, int],
) -> float:
    """Scores a pronoun for the primary person, the first of `everyone`. had: {class: number of
    pronouns assigned to that person so far}.
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
    total = table["prior"] + seen + _bonus(found, pronoun, primary) + table["told"] * pronoun.told
    total += _penalty(found, pronoun, primary)
    if nearest_is_other(pronoun) and not any(mention.first < at for mention in primary.mentions):
        total += table["early"]
    genders = {GENDER[value] for value in had}
    cue = primary.gender
    if gender in (genders or {cue}):
        total += table["match"]
    if (cue and gender in ("m", "f") and gender != cue and cue not in genders) or (
        genders and gender not in genders and "x" not in (gender, *genders)
    ):
        total += table["clash"]
    return total


def can_ever_be(entity: Entity, gender: str) -> bool:
    """True if an entity other than the primary person fits a pronoun's gender."""
    if gender == PLURAL:
        return entity.gender == PLURAL or not (entity.gender or entity.thing)
    return entity.gender != PLURAL and (gender == "x" or entity.gender in ("", gender))


def nearest(found: Sequence[WordToken], pronoun: Pronoun, everyone: Sequence[Entity]) -> str:
    """Returns which candidate is named last before a pronoun: "primary_here" or "other_here" if in
    the pronoun's sentence, "…_before" if in an earlier one, "" if no candidate is named.
    """
    best, which = -1, ""
    for entity in everyone:
        if not (entity.primary or can_ever_be(entity, pronoun.gender)):
            continue
        for mention in entity.mentions:
            if best < mention.last < pronoun.at and not mention.chained:
                same = mention.sentence == found[pronoun.at].sentence
                best = mention.last
                which = f"{'primary' if entity.primary else 'other'}_{'here' if same else 'before'}"
    return which


def can_be_other(found: Sequence[WordToken], pronoun: Pronoun, entity: Entity) -> bool:
    """True if a pronoun can refer to this other person or plural noun: gender and position fit, and
    the entity is neither the speaker nor owned by the pronoun.
    """
    at, gender = pronoun.at, pronoun.gender
    number = found[at].sentence
    if not can_ever_be(entity, gender):
        return False
    if entity.gender == PLURAL:
        near = 0 if entity.name & _INDEFINITE else 1
        return any(
            mention.first < at and number - mention.sentence <= near for mention in entity.mentions
        )
    for mention in entity.mentions:
        if mention.first < at or (gender != PLURAL and mention.sentence == number):
            break
    else:
        return False
    return not _speaks(entity, pronoun.speaking) and not (
        pronoun.role == POSSESSIVE and _owns(found, at, entity)
    )


def chance_of_other(
    found: Sequence[WordToken], pronoun: Pronoun, entity: Entity, everyone: Sequence[Entity]
) -> float:
    """Scores a pronoun for an entity other than the primary person."""
    table, gender = primary_weights(), pronoun.gender
    if gender == PLURAL:
        extra = table["plural"] if entity.gender == PLURAL else table["stranger"]
    else:
        extra = table["unknown"] if not entity.gender or gender == "x" else table["match"]
        extra += table["thing"] if entity.thing else 0.0
    seen = attribution.score(found, pronoun.at, pronoun.role, entity, everyone)[0]
    return seen + extra + _bonus(found, pronoun, entity) + _penalty(found, pronoun, entity)


def nearest_is_other(pronoun: Pronoun) -> bool:
    """True if the candidate named last before a pronoun is not the primary person."""
    return pronoun.nearest.startswith("other")


def _penalty(found: Sequence[WordToken], pronoun: Pronoun, entity: Entity) -> float:
    """Returns the penalty for a reference that grammar makes unlikely: to the subject of the
    pronoun's own clause ("Ann saw her"), or to a person named later in the sentence ("he says that
    Tom"), unless the pronoun's clause is subordinate ("when she came, Ann").
    """
    role, at = pronoun.role, pronoun.at
    if role != SUBJECT and role != OBJECT:
        return 0.0
    sentence, clause = found[at].sentence, found[at].clause
    for mention in reversed(entity.mentions):
        if mention.sentence < sentence:
            break
        if mention.sentence > sentence:
            continue
        if mention.first > at:
            if not mention.chained and not _is_subordinate(found, at):
                return primary_weights()["named_after"]
        elif role == OBJECT and mention.role == SUBJECT and mention.clause == clause:
            return primary_weights()["bound"]
    return 0.0


def _is_subordinate(found: Sequence[WordToken], at: int) -> bool:
    """True if a token's clause has "when", "as" or the like before it."""
    clause = found[at].clause
    while at >= 0 and found[at].clause == clause:
        if found[at].word in _SUBORDINATORS:
            return True
        at -= 1
    return False


def _bonus(found: Sequence[WordToken], pronoun: Pronoun, entity: Entity) -> float:
    """Returns a bonus if an entity is the speaker of the pronoun's sentence: a subject before the
    pronoun, next to a verb of speech ("Harold said that he").
    """
    if pronoun.role != SUBJECT:
        return 0.0
    at = pronoun.at
    for mention in entity.mentions[-3:]:
        if mention.sentence == found[at].sentence and mention.first < at:
            following = found[mention.last + 1 : mention.last + 3]
            if any(token.word in words("speech") for token in following):
                return primary_weights()["tells"]
    return 0.0


def _speaks(entity: Entity, speaking: range) -> bool:
    return bool(speaking) and any(
        mention.first in speaking and not mention.chained for mention in entity.mentions
    )


def _owns(found: Sequence[WordToken], at: int, entity: Entity) -> bool:
    """True if a possessive is part of the entity's own noun phrase ("her husband", "his partner,
    Emma"), and so means somebody else.
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


def _is_plural(found: Sequence[WordToken], at: int) -> bool:
    """True if "they" is explicitly plural: "they both", "all of them"."""
    after = {token.word for token in found[at + 1 : at + 3]}
    before = [token.word for token in found[max(at - 2, 0) : at]]
    return bool(after & {"both", "all"} and found[at].word in ("they", "them")) or (
        before[-1:] == ["of"]
        and before[:1] != []
        and before[0]
        in ("both", "all", "some", "each", "one", "two", "none", "many", "most", "several", "half")
    )
