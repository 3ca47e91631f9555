"""Finds everybody in a text whom a pronoun could mean: the mentions of the primary person, and
other people. Rules only.

Other people are first names of a list, names after a title, nouns for persons, and capitalised
words where persons usually stand; plural nouns are kept as possible referents of "they".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .attribution import Entity, Mention
from .descriptions import bearer, is_definite
from .passage import PLAIN, WordToken, people, role, verb_like, words
from .person import Person, beside, is_named
from .plurals import PLURAL, is_plural, together

_ALIKE = 6  # letters that a name keeps when its ending changes


def everybody(
    found: Sequence[WordToken], who: Person, several: bool = True
) -> tuple[Entity, list[Entity]]:
    """Finds the primary person and all others whom a pronoun could mean; with `several` also plural
    nouns.
    """
    primary = Entity(frozenset(("",)), "", [], 0, True)
    others: dict[str, Entity] = {}
    titles = people()["title"]
    who = _as_called(found, who)
    heads = who.heads | who.roles
    described: set[str] = set()  # nouns that said what the primary person is
    telling = [
        (at, token, seen)
        for at, token in enumerate(found)
        if (seen := token.seen) is not None and (seen is not PLAIN or token.word in heads)
    ]
    for at, token, seen in telling:
        word = token.word
        if word in who.roles and not _is_role(found, at, who):
            continue
        if word in heads and (word in who.roles or is_named(found, at, who)):
            primary.mentions.append(_mention(found, at))
            continue
        if seen is PLAIN:
            continue
        gender = _kind_of(found, at, several, titles)
        if not gender:
            continue
        entity = others.get(word)
        if entity is None and not seen.capital and gender != PLURAL:
            if word in described and is_definite(found, at):
                primary.mentions.append(_mention(found, at))
                continue
            place = bearer(found, at)
            if place is not None:
                if found[place].word in heads and is_named(found, place, who):
                    described.add(word)
                elif gender in ("m", "f"):
                    _tell_gender(others.values(), place, gender)
                continue
        if entity is None and seen.capital and _same_as_before(found, at, others, primary):
            continue
        if entity is None:
            known = "" if gender in ("n", "t") else gender
            thing = bool(seen.creature) and not seen.noun and not seen.name
            entity = Entity(frozenset((word,)), known, [], len(others) + 1, thing=thing)
            others[word] = entity
        entity.mentions.append(_mention(found, at))
    primary.gender = _cue_gender(found, primary, who)
    distinct = list({id(entity): entity for entity in others.values()}.values())
    if who.theme == "occupation" and not primary.mentions:
        renamed = [entity for entity in distinct if _grand_title(found, entity)]
        if len(renamed) == 1:
            primary.mentions.extend(renamed[0].mentions)
            distinct.remove(renamed[0])
            others = {word: other for word, other in others.items() if other is not renamed[0]}
    return primary, [*distinct, *(together(found, primary, others) if several else ())]


def _tell_gender(others: Iterable[Entity], place: int, gender: str) -> None:
    """Sets the gender of the entity mentioned at an index ("my editor is a nervous man")."""
    for entity in others:
        if not entity.gender and any(mention.last == place for mention in entity.mentions):
            entity.gender = gender


def _mention(found: Sequence[WordToken], at: int) -> Mention:
    return Mention(at, at, role(found, at, at), found[at].sentence, found[at].clause)


def _as_called(found: Sequence[WordToken], who: Person) -> Person:
    """Adds to the person's heads the words by which this text names the person."""
    if who.theme == "kinship":
        who = replace(who, heads=who.heads | beside(found, who))
    if who.flipped and not any(token.word in who.heads and _matches(token, who) for token in found):
        who = replace(who, heads=who.heads | who.flipped)
    if who.theme == "title" and not any(token.word in who.heads for token in found):
        who = replace(who, heads=who.heads | _bent(found, who))
    return who


def _matches(token: WordToken, who: Person) -> bool:
    """True if a word fits the gender of the person's noun; False for a surname."""
    return people()["noun"].get(token.word, who.gender if token.seen is None else "") == who.gender


def _bent(found: Sequence[WordToken], who: Person) -> frozenset[str]:
    """Returns variants of the person's name after a title (Brother Philomenus for Sister
    Philomena).
    """
    begins = {head[:_ALIKE] for head in who.heads if len(head) > _ALIKE}
    return frozenset(
        token.word
        for at, token in enumerate(found)
        if token.word[:_ALIKE] in begins and at and found[at - 1].word in people()["title"]
    )


def _is_role(found: Sequence[WordToken], at: int, who: Person) -> bool:
    """True if a title such as "judge" means the person Judge Marchetti: not after "a" or similar
    words, and not before another capitalised name.
    """
    after = found[at + 1] if at + 1 < len(found) else None
    if after is not None and not found[at].own and after.raw[0].isupper() and after.seen:
        return False
    before = found[at - 1].word if at else ""
    return before not in ("a", "an", "another", "every", "each", "any", "no")


def _grand_title(found: Sequence[WordToken], entity: Entity) -> bool:
    """True if an entity of unknown gender is named by a title in capitals after "the": "the
    Accommodation Inspector General" for a social worker.
    """
    if entity.gender or entity.thing or not entity.mentions:
        return False
    at = entity.mentions[0].first
    begin = at
    while begin and found[begin - 1].raw[0].isupper() and found[begin - 1].word != "the":
        begin -= 1
    return begin < at and begin > 0 and found[begin - 1].word == "the"


def _cue_gender(found: Sequence[WordToken], primary: Entity, who: Person) -> str:
    """Returns the gender of the words by which this text names the person, or else of the noun."""
    for mention in primary.mentions:
        word = found[mention.first].word
        if who.theme == "title":
            gender = _title_before(found, mention.first, people()["title"])
        else:
            gender = people()["noun"].get(word, "") if who.gender or word in who.flipped else ""
        if gender in ("m", "f"):
            return gender
    return who.gender


def _kind_of(found: Sequence[WordToken], at: int, several: bool, titles: Mapping[str, str]) -> str:
    """Returns the kind that a word names: "m", "f", "n" (a person), PLURAL, "t" (animal or thing),
    or "" for nobody.
    """
    seen = found[at].seen
    assert seen is not None
    if seen.name and not _is_month(found, at):
        return seen.name
    thing = found[at].word in words("with_capital") and not found[at].raw[0].isupper()
    if seen.noun and not thing and not _is_description(found, at):
        return seen.noun
    if several and (seen.plural or (seen.in_s and is_plural(found, at))):
        return PLURAL
    if seen.capital and (_may_be_person(found, at, titles) or _is_address(found, at)):
        return _title_before(found, at, titles) or "n"
    if seen.creature and not seen.capital and _has_determiner(found, at):
        return seen.creature if seen.creature in "mf" else "t"
    if seen.agent and not seen.capital and _has_determiner(found, at):
        return "n"
    return ""


def _has_determiner(found: Sequence[WordToken], at: int) -> bool:
    """True if a determiner stands at most three words before a noun."""
    for back in range(at - 1, max(at - 4, -1), -1):
        word = found[back].word
        if word in words("determiners") or found[back].own:
            after = found[at + 1].seen if at + 1 < len(found) else None
            return after is None or after is PLAIN or verb_like(found[at + 1]) or after.capital
        if not word[0].isalpha() or word in words("prepositions", "boundary", "auxiliaries"):
            return False
    return False


def _same_as_before(
    found: Sequence[WordToken], at: int, others: dict[str, Entity], primary: Entity
) -> bool:
    """True if a capitalised word continues the preceding name or noun ("the porter, Mr. Halvorsen",
    "Aarne Lehto") and so names the same person.
    """
    before = at - 1
    if before >= 0 and found[before].word == "." and before and found[before - 1].raw[0].isupper():
        before -= 1
    if before >= 0 and found[before].word in people()["title"] and found[before].raw[0].isupper():
        before -= 1
    comma = before >= 0 and found[before].word == ","
    before -= comma
    if before < 0 or found[before].own or found[before].sentence != found[at].sentence:
        return False
    if comma and found[before].raw[0].isupper():
        return False
    for entity in others.values():
        last = entity.mentions[-1] if entity.mentions else None
        if last and last.last == before and not entity.thing and entity.gender != PLURAL:
            seen = found[at].seen
            gender = _title_before(found, at, people()["title"]) or (seen.name if seen else "")
            if gender in ("m", "f") and entity.gender in ("m", "f") and gender != entity.gender:
                return False
            if gender in ("m", "f"):
                entity.gender = gender
            last.last = at
            others[found[at].word] = entity
            return True
    return False


def _is_description(found: Sequence[WordToken], at: int) -> bool:
    """True if a noun only describes a person already known ("she is a lady", "Charlie – a man of
    his word").
    """
    if at < 2 or found[at - 1].word not in ("a", "an", "the"):
        return False
    return (
        found[at - 2].word in ("is", "was", "'s", "be", "been", "as", "-", "–", "—", "like")
        or found[at - 2].own
    )


def _is_month(found: Sequence[WordToken], at: int) -> bool:
    """True if April, May, June or August means the month: no verb follows it."""
    return found[at].word in ("april", "may", "june", "august") and not (
        at + 1 < len(found) and verb_like(found[at + 1])
    )


def _title_before(found: Sequence[WordToken], at: int, titles: Mapping[str, str]) -> str:
    before = at - 2 if at > 1 and found[at - 1].word == "." else at - 1
    return (
        titles.get(found[before].word, "") if before >= 0 and found[before].raw[0].isupper() else ""
    )


def _may_be_person(found: Sequence[WordToken], at: int, titles: Mapping[str, str]) -> bool:
    """True if an unknown capitalised word is likely a person: after a title, or the subject of a
    verb in mid-sentence."""
    if _title_before(found, at, titles):
        return True
    token = found[at]
    starts = (
        at == 0
        or found[at - 1].sentence < token.sentence
        or (not found[at - 1].word[0].isalnum() and found[at - 1].word != ",")
    )
    if token.word in people()["not_name"] or len(token.word) < 2 or token.raw.isupper():
        return False
    if at and found[at - 1].word in words("speech") and not token.own:
        return True
    if starts:
        return _is_label(found, at) or (
            at + 1 < len(found)
            and verb_like(found[at + 1])
            and (found[at + 1].word in words("speech") or _named_again(found, at))
        )
    if (
        found[at - 1].word == "the"
        or found[at - 1].word in words("places")
        or found[at - 1].raw[0].isupper()
    ):
        return False
    return at + 1 < len(found) and (
        verb_like(found[at + 1]) or found[at + 1].word in words("speech")
    )


def _is_address(found: Sequence[WordToken], at: int) -> bool:
    """True if an unknown capitalised word inside a sentence is likely a person: a comma, "who",
    "and" or a genitive follows, and neither "the" nor a preposition of place precedes.
    """
    token, before = found[at], found[at - 1] if at else None
    if (
        before is None
        or before.sentence < token.sentence
        or not before.word[0].isalpha()
        or before.raw[0].isupper()
        or before.word
        in ("the", "a", "an", "in", "at", "near", "on", "of", "this", "last", "every")
        or token.word in people()["not_name"]
        or len(token.word) < 3
        or token.raw.isupper()
    ):
        return False
    after = found[at + 1].word if at + 1 < len(found) else "."
    return token.own or after in (",", "who", "and", ".", "?", "!", "is", "was", "has", "had")


def _is_label(found: Sequence[WordToken], at: int) -> bool:
    """True if a capitalised word before a colon recurs, as a speaker's label ("**Amina:**")."""
    return (
        at + 1 < len(found)
        and found[at + 1].word == ":"
        and sum(token.raw == found[at].raw for token in found) > 1
    )


def _named_again(found: Sequence[WordToken], at: int) -> bool:
    """True if the capitalised word also occurs inside a sentence of the text."""
    return any(
        token.raw == found[at].raw
        and place
        and found[place - 1].sentence == token.sentence
        and found[place - 1].word[0].isalpha()
        for place, token in enumerate(found)
    )
