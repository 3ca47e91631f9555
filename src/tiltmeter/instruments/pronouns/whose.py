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
from functools import cache
from typing import NamedTuple

from ..wording import texts
from . import attribution
from .attribution import Entity, Mention
from .passage import POSSESSIVE, SUBJECT, Token, data, people, verb_like, words
from .person import PLURAL, Person, everybody

MASCULINE, FEMININE, NEUTRAL, NEO = "masculine", "feminine", "neutral", "neo"
GENDER = {MASCULINE: "m", FEMININE: "f", NEUTRAL: PLURAL, NEO: "x"}
_INDEFINITE = frozenset(
    ("everyone", "everybody", "anyone", "anybody", "nobody", "someone", "somebody", "both")
)


class Marked(NamedTuple):
    """A text's tokens, its pronouns (place → class), quotations, where "he or she" begins, and
    whether somebody speaks of themself.
    """

    found: Sequence[Token]
    places: Mapping[int, str]
    spans: Sequence[tuple[int, int]]
    doubles: frozenset[int]
    first_person: bool


class Cast(NamedTuple):
    """The people of a text, before any pronoun is theirs."""

    primary: Entity
    others: Sequence[Entity]
    speakers: Sequence[tuple[tuple[int, int], range]]


class Given(NamedTuple):
    """whose, meant: for each place; seen: what is seen of the whole reading, by name; lead: class →
    by how much the primary person leads for the pronoun that suits them best.
    """

    whose: dict[int, str]
    meant: dict[int, str]
    seen: Mapping[str, float]
    lead: Mapping[str, float]


@cache
def _primary() -> Mapping[str, float]:
    primary = texts("attribution").section("primary")
    return {name: primary.number(name) for name in primary.table}


@cache
def _reflexive() -> frozenset[str]:
    return frozenset(form for cases in data()["forms"].values() for form in cases["reflexive"])


def attribute(
    marked: Marked, who: Person, known: frozenset[str]
) -> tuple[dict[int, str], dict[int, str]]:
    """For each pronoun whose it is and the word for them. known: classes of pronouns that somebody
    else in the story has.
    """
    cast = cast_of(marked, who)
    classes = frozenset(marked.places.values())
    if len(classes) == 1 and cast.primary.mentions:
        best = _reading(marked, who, known, classes, cast)
        sure = not cast.others or min(best.lead.values()) > _primary()["sure"]
        if sure and set(best.whose.values()) == {"primary"}:
            return best.whose, best.meant
    best = max(readings(marked, who, known, cast), key=worth)
    return best.whose, best.meant


def cast_of(marked: Marked, who: Person) -> Cast:
    """Who is in a text, and who speaks its quotations."""
    speakers = [(span, _speaker(marked.found, span)) for span in marked.spans]
    return Cast(*everybody(marked.found, who, NEUTRAL in marked.places.values()), speakers)


def readings(marked: Marked, who: Person, known: frozenset[str], cast: Cast) -> list[Given]:
    """The text read in each way: any pronoun for the primary person, those of one class, none."""
    classes = list(dict.fromkeys(marked.places.values()))
    ways = [frozenset(classes), *(frozenset((one,)) for one in classes if len(classes) > 1)]
    made: dict[frozenset[str], Given] = {}
    for only in (*ways, frozenset[str]()):
        reading = _reading(marked, who, known, only, cast)
        if only and not _mine(marked, reading):
            reading = _reading(marked, who, known, only, cast, _primary()["insist"])
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


def _reading(
    marked: Marked,
    who: Person,
    known: frozenset[str],
    only: frozenset[str],
    cast: Cast,
    insist: float = 0.0,
) -> Given:
    """The text read with pronouns of these classes alone for the primary person; insist: what is
    added for them.
    """
    found, table = marked.found, _primary()
    primary, others = cast.primary.again(), [entity.again() for entity in cast.others]
    seen: Counter[str] = Counter()
    said = {id(entity): entity.gender for entity in others}
    had: dict[str, int] = {}
    lead: dict[str, float] = {}
    whose: dict[int, str] = {}
    meant: dict[int, str] = {}
    score = 0.0
    before: dict[str, Entity | None] = {}  # gender → whose the last such pronoun was
    absent = all(_inside(mention.first, marked.spans) for mention in primary.mentions)
    cue = primary.gender
    speakers = cast.speakers
    for at, value in marked.places.items():
        mine = POSSESSIVE if found[at].word in _reflexive() else attribution.pronoun_role(found, at)
        gender = GENDER[value]
        if found[at].begin in marked.doubles or found[at].word in (
            "themself",
            "theirself",
            "themsel",
        ):
            gender = "x"
        speaking = next((said_ for (low, high), said_ in speakers if low < at < high), range(0))
        last = before.get(gender)
        rivals = [
            entity for entity in others if _possible(found, at, mine, gender, entity, speaking)
        ]
        best, own = _nobody(value, known, absent), -9.0
        chosen: Entity | None = None
        if gender in before and last is None:
            best += table["goes_on"]
        if (
            value in only
            and not (mine == POSSESSIVE and _owns(found, at, primary))
            and not (gender == PLURAL and _several(found, at))
            and not _speaks(primary, speaking)
        ):
            total = _of_primary(found, at, mine, gender, primary, others, who, had)
            total += table["goes_on"] if last is primary else 0.0
            total += _tells(found, at, mine, primary) + insist
            own = total
            if total > best:
                best, chosen = total, primary
        rest = _nobody(value, known, absent)
        for entity in rivals:
            total = _of_other(found, at, mine, gender, entity, [primary, *others])
            total += table["goes_on"] if last is entity else 0.0
            total += _tells(found, at, mine, entity)
            rest = max(rest, total)
            if total > best:
                best, chosen = total, entity
        lead[value] = max(lead.get(value, -9.0), own - rest)
        score += best
        seen[_seen(value, gender, chosen, known, said)] += 1
        if before and chosen is not last and gender in before:
            seen["changes"] += 1
        before[gender] = chosen
        meant[at] = next(iter(chosen.name)) if chosen else ""
        if chosen is None:
            whose[at] = "plural" if gender == PLURAL else "other"
            continue
        whose[at] = (
            "primary" if chosen.primary else "plural" if chosen.gender == PLURAL else "other"
        )
        chosen.mentions.append(Mention(at, at, mine, found[at].sentence, found[at].clause, True))
        if chosen.primary:
            had[value] = had.get(value, 0) + 1
        elif not chosen.gender and gender in ("m", "f"):
            chosen.gender = gender
    _whole(seen, had, score, absent, cue, len(primary.mentions), marked)
    return Given(whose, meant, seen, lead)


def _inside(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(low < at < high for low, high in spans)


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


def _whole(
    seen: Counter[str],
    had: Mapping[str, int],
    score: float,
    absent: bool,
    cue: str,
    named: int,
    marked: Marked,
) -> None:
    """What is seen of a reading as a whole."""
    amounts: dict[str, float] = dict(seen)
    total = len(marked.places)
    first = marked.first_person
    for name in list(amounts):
        amounts[f"log_{name}"] = math.log1p(amounts[name])
        amounts[name] = min(amounts[name], 8.0)
    amounts["score"] = score / math.sqrt(total)
    amounts["score_each"] = score / total
    if not had:
        amounts["none"] = 1.0
        amounts["none_absent"] = float(absent)
        amounts["none_first_person"] = float(first)
        amounts["none_first_absent"] = float(first and absent)
        amounts["none_of_many"] = math.log1p(total)
    if len(had) > 1:
        most = max(had.values())
        amounts["several"] = 1.0
        amounts["stray"] = math.log1p(sum(had.values()) - most)
        amounts["stray_share"] = 1 - most / sum(had.values())
        amounts["several_they"] = float(NEUTRAL in had)
    for value in had:
        if cue and GENDER[value] in ("m", "f"):
            amounts["agrees" if GENDER[value] == cue else "against"] = 1.0
        amounts[f"is_{'they' if value == NEUTRAL else 'neo' if value == NEO else 'he'}"] = 1.0
    if had:
        amounts["named"] = math.log1p(named)
    seen.clear()
    seen.update(amounts)


def _nobody(value: str, known: frozenset[str], absent: bool) -> float:
    """What a pronoun scores that is given to nobody who is named. absent: nor is the person."""
    table = _primary()
    extra = table["known"] if value in known else 0.0
    if value == NEUTRAL:
        extra += table["things"]
    return table["unnamed"] + extra + (table["absent"] if absent else 0.0)


def _tells(found: Sequence[Token], at: int, mine: int, entity: Entity) -> float:
    """A bonus for somebody who tells what stands around a pronoun: a subject in the same sentence,
    beside a verb of speech ("Harold said that he").
    """
    if mine != SUBJECT:
        return 0.0
    for mention in entity.mentions[-3:]:
        if mention.sentence == found[at].sentence and mention.first < at:
            near = found[mention.last + 1 : mention.last + 3]
            if any(token.word in words("speech") for token in near):
                return _primary()["tells"]
    return 0.0


def _speaker(found: Sequence[Token], span: tuple[int, int]) -> range:
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


def _of_primary(
    found: Sequence[Token],
    at: int,
    mine: int,
    gender: str,
    primary: Entity,
    others: Sequence[Entity],
    who: Person,
    had: Mapping[str, int],
) -> float:
    table = _primary()
    seen = (
        attribution.score(found, at, mine, primary, [primary, *others])[0]
        if primary.mentions
        else table["implicit"]
    )
    if not any(mention.first < at for mention in primary.mentions):
        seen = max(seen, table["later" if primary.mentions else "implicit"])
    total = table["prior"] + seen
    known = {GENDER[value] for value in had}
    cue = primary.gender
    if gender in (known or {cue}):
        total += table["match"]
    if (cue and gender in ("m", "f") and gender != cue and cue not in known) or (
        known and gender not in known and "x" not in (gender, *known)
    ):
        total += table["clash"]
    return total


def _possible(
    found: Sequence[Token], at: int, mine: int, gender: str, entity: Entity, speaking: range
) -> bool:
    """Whether another person, or a plural noun, can be meant at all: gender, place, not the
    speaker, not the owned.
    """
    here = found[at].sentence
    if entity.gender == PLURAL:
        near = 0 if entity.name & _INDEFINITE else 1
        return gender == PLURAL and any(
            mention.first < at and here - mention.sentence <= near for mention in entity.mentions
        )
    if gender == PLURAL:
        if (
            entity.gender
            or entity.thing
            or not any(mention.first < at for mention in entity.mentions)
        ):
            return False
    elif gender != "x" and entity.gender not in ("", gender):
        return False
    if not any(mention.first < at or mention.sentence == here for mention in entity.mentions):
        return False
    return not _speaks(entity, speaking) and not (mine == POSSESSIVE and _owns(found, at, entity))


def _of_other(
    found: Sequence[Token],
    at: int,
    mine: int,
    gender: str,
    entity: Entity,
    everyone: Sequence[Entity],
) -> float:
    table = _primary()
    if gender == PLURAL:
        extra = table["plural"] if entity.gender == PLURAL else table["stranger"]
    else:
        extra = table["unknown"] if not entity.gender or gender == "x" else table["match"]
        extra += table["thing"] if entity.thing else 0.0
    return attribution.score(found, at, mine, entity, everyone)[0] + extra


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
