"""The primary person of a text and everybody else in it: where each is named. Rules only.

A person is told by a theme noun: a name (Emery), an occupation (firefighter), a title with a
surname (Mrs. Thompson), a kinship term (husband). Names that stand beside a kinship term ("my
partner, Parker", "Jack is Molly's husband") are that person too. Other people are first names of a
list, names after a title, nouns for persons, and capitalised words that do what persons do; plural
nouns are kept as possible referents of "they".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from .attribution import Entity, Mention
from .passage import (
    PLAIN,
    SUBJECT,
    Token,
    opposites,
    people,
    plain,
    role,
    tokens,
    verb_like,
    words,
)

PLURAL = "p"
_KIN = {
    "husband": "husband hubby",
    "wife": "wife wifey",
    "brother": "brother bro",
    "sister": "sister sis",
    "son": "son",
    "daughter": "daughter",
    "father": "father dad daddy papa pop",
    "dad": "dad daddy father papa pop",
    "mother": "mother mom mum mam mama mommy mummy",
    "mom": "mom mum mother mam mama mommy mummy",
    "partner": "partner husband wife boyfriend girlfriend",
    "spouse": "spouse husband wife",
    "sibling": "sibling brother sister",
    "child": "child kid baby son daughter",
    "parent": "parent father mother dad mom mum",
}


@dataclass(frozen=True, slots=True)
class Person:
    """Whom a text is about. heads: words that name the person; exact: they count with a capital
    letter only.

    gender: what the noun says, as a cue: "m", "f" or "". flipped: the words for the other gender
    (niece for nephew), which name the person where no head does.
    """

    theme: str
    noun: str
    heads: frozenset[str]
    exact: bool = False
    gender: str = ""
    title: str = ""
    flipped: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def person(theme: str, noun: str, text: str = "") -> Person:
    """The person of a theme (name, occupation, title, kinship) and noun; a surname is taken from
    the input text.
    """
    parts = [part for part in (token.word for token in tokens(plain(noun))) if part[0].isalnum()]
    if not parts:
        raise ValueError(f"'{noun}' names nobody")
    last = parts[-1]
    if theme == "kinship":
        kin = next((part for part in reversed(parts) if part in _KIN), "")
        kin = kin or next((part for part in parts if ("kin", part) in opposites()), last)
        gender = people()["noun"].get(kin, "n")
        heads = frozenset(_KIN.get(kin, kin).split())
        if parts[0] == kin and len(parts) > 1:
            heads |= frozenset(part for part in parts[1:] if part not in words("determiners"))
        made = Person(theme, noun, heads, False, gender if gender in "mf" else "")
        given = tokens(plain(text))
        flipped = _flipped("kin", kin) - {token.word for token in given}
        return Person(theme, noun, heads | _beside(given, made), False, made.gender, "", flipped)
    if theme == "title":
        gender = people()["title"].get(parts[0], "n")
        surnames = frozenset(parts[1:]) or _after_title(text, parts[0]) or frozenset(parts)
        return Person(theme, noun, surnames, True, gender if gender in "mf" else "", parts[0])
    if theme == "name":
        return Person(
            theme,
            noun,
            frozenset(parts) | _after_title(text, last),
            noun != noun.lower() and last in _words_too(),
        )
    heads = frozenset({last, *_gendered(last)})
    head = next((part for part in (last, *parts) if ("occupation", part) in opposites()), "")
    if not head:
        return Person(theme, noun, heads)
    flipped = _flipped("occupation", head) - {token.word for token in tokens(plain(text))}
    gender = opposites()["occupation", head][0]
    return Person(theme, noun, heads | {head}, False, gender, "", flipped)


def _flipped(kind: str, word: str) -> frozenset[str]:
    """The words for the other gender of a noun (niece for nephew)."""
    return opposites().get((kind, word), ("", frozenset[str]()))[1]


def _after_title(text: str, before: str) -> frozenset[str]:
    """Capitalised words right after a title or first name in the input: surnames."""
    found = tokens(plain(text))
    names = set()
    for at, token in enumerate(found):
        if token.word != before or token.own:
            continue
        follows = at + 2 if at + 1 < len(found) and found[at + 1].word == "." else at + 1
        if (
            follows < len(found)
            and found[follows].raw[0].isupper()
            and len(found[follows].word) > 1
            and found[follows].word
            not in (
                words("pronouns", "determiners", "boundary", "auxiliaries")
                | people()["not_name"].keys()
            )
            and not (follows > at + 1 and found[follows].sentence != token.sentence)
        ):
            names.add(found[follows].word)
    return frozenset(names)


def _beside(found: Sequence[Token], person: Person) -> frozenset[str]:
    """Names in apposition with a kinship term: "husband Tom", "partner (Parker)", "Jack is Molly's
    husband".
    """
    names: set[str] = set()
    known = people()["name"]
    for at, token in enumerate(found):
        if token.word not in person.heads:
            continue
        follows = at + 1
        if follows < len(found) and found[follows].word in (",", "("):
            follows += 1
        if (
            follows < len(found)
            and found[follows].word in known
            and found[follows].raw[0].isupper()
            and not token.own
        ):
            names.add(found[follows].word)
        for back in range(at - 1, max(at - 6, -1), -1):
            if found[back].sentence != token.sentence:
                break
            if (
                found[back].word in ("is", "was", ",")
                and back
                and found[back - 1].word in known
                and not found[back - 1].own
            ):
                names.add(found[back - 1].word)
    return frozenset(names)


def _gendered(word: str) -> list[str]:
    """salesperson → salesman, saleswoman, … for words in -person."""
    return (
        [word.removesuffix("person") + end for end in ("man", "woman", "lady")]
        if word.endswith("person")
        else []
    )


@cache
def _words_too() -> frozenset[str]:
    """First names that are English words: without a capital they are not the name."""
    return frozenset(people()["word_name"])


def named(found: Sequence[Token], at: int, who: Person) -> bool:
    """True if a token names the person."""
    token = found[at]
    if token.word not in who.heads:
        return False
    before = found[at - 1].word if at else ""
    if who.theme in ("name", "title"):
        if who.exact and not token.raw[0].isupper():
            return False
        if who.theme == "title" and before and who.gender:
            if before == "." and at > 1:
                before = found[at - 2].word
            other = people()["title"].get(before, "")
            if (
                other in "mf"
                and other
                and other != who.gender
                and any(t.word == who.title for t in found)
            ):
                return False
        return True
    return not (
        who.theme == "occupation"
        and (before == "in" or before in ("i", "you", "we", "they", "to", "not", "cannot", "who"))
    )


def everybody(
    found: Sequence[Token], who: Person, several: bool = True
) -> tuple[Entity, list[Entity]]:
    """The primary person, and everybody else that a pronoun could mean; with `several` also plural
    nouns.
    """
    primary = Entity(frozenset(("",)), "", [], 0, True)
    others: dict[str, Entity] = {}
    titles = people()["title"]
    if who.theme == "kinship":
        who = replace(who, heads=who.heads | _beside(found, who))
    if who.flipped and not any(token.word in who.heads for token in found):
        who = replace(who, heads=who.heads | who.flipped)
    heads = who.heads
    telling = [
        (at, token, seen)
        for at, token in enumerate(found)
        if (seen := token.seen) is not None and (seen is not PLAIN or token.word in heads)
    ]
    for at, token, seen in telling:
        word = token.word
        if word in heads and named(found, at, who):
            primary.mentions.append(
                Mention(at, at, role(found, at, at), token.sentence, token.clause)
            )
            continue
        if seen is PLAIN:
            continue
        gender = _kind_of(found, at, several, titles)
        if not gender:
            continue
        entity = others.get(word)
        if entity is None and seen.capital and _same_as_before(found, at, others, primary):
            continue
        if entity is None:
            known = "" if gender in ("n", "t") else gender
            thing = bool(seen.creature) and not seen.noun and not seen.name
            entity = Entity(frozenset((word,)), known, [], len(others) + 1, thing=thing)
            others[word] = entity
        entity.mentions.append(Mention(at, at, role(found, at, at), token.sentence, token.clause))
    primary.gender = _cue(found, primary, who)
    distinct = list({id(entity): entity for entity in others.values()}.values())
    if who.theme == "occupation" and not primary.mentions:
        renamed = [entity for entity in distinct if _grand_title(found, entity)]
        if len(renamed) == 1:
            primary.mentions.extend(renamed[0].mentions)
            distinct.remove(renamed[0])
            others = {word: one for word, one in others.items() if one is not renamed[0]}
    return primary, [*distinct, *(_together(found, primary, others) if several else ())]


def _grand_title(found: Sequence[Token], entity: Entity) -> bool:
    """Whether somebody of no known gender is called by a title in capitals that stands for an
    occupation: "the Accommodation Inspector General" for a social worker.
    """
    if entity.gender or entity.thing or not entity.mentions:
        return False
    at = entity.mentions[0].first
    begin = at
    while begin and found[begin - 1].raw[0].isupper() and found[begin - 1].word != "the":
        begin -= 1
    return begin < at and begin > 0 and found[begin - 1].word == "the"


def _cue(found: Sequence[Token], primary: Entity, who: Person) -> str:
    """The gender that the words for the person say in this text, or its noun's."""
    for mention in primary.mentions:
        word = found[mention.first].word
        if who.theme == "title":
            said = _titled(found, mention.first, people()["title"])
        else:
            said = people()["noun"].get(word, "") if who.gender or word in who.flipped else ""
        if said in ("m", "f"):
            return said
    return who.gender


def _kind_of(found: Sequence[Token], at: int, several: bool, titles: Mapping[str, str]) -> str:
    """What a word names: "m", "f", "n" (a person), PLURAL, "t" (animal or thing), "" (nobody)."""
    seen = found[at].seen
    assert seen is not None
    if seen.name and not _month(found, at):
        return seen.name
    if seen.noun and not _described(found, at):
        return seen.noun
    if several and (seen.plural or (seen.in_s and _plural(found, at))):
        return PLURAL
    if seen.capital and (_acts(found, at, titles) or _addressed(found, at)):
        return _titled(found, at, titles) or "n"
    if seen.creature and not seen.capital and _pointed(found, at):
        return seen.creature if seen.creature in "mf" else "t"
    if seen.agent and not seen.capital and _pointed(found, at):
        return "n"
    return ""


def _pointed(found: Sequence[Token], at: int) -> bool:
    """Whether a determiner stands before a noun, with at most two words between."""
    for back in range(at - 1, max(at - 4, -1), -1):
        word = found[back].word
        if word in words("determiners") or found[back].own:
            after = found[at + 1].seen if at + 1 < len(found) else None
            return after is None or after is PLAIN or verb_like(found[at + 1]) or after.capital
        if not word[0].isalpha() or word in words("prepositions", "boundary", "auxiliaries"):
            return False
    return False


def _same_as_before(
    found: Sequence[Token], at: int, others: dict[str, Entity], primary: Entity
) -> bool:
    """Whether a capitalised word goes on with the name or noun before it ("the porter, Mr.
    Halvorsen", "Aarne Lehto"): then it names the same, from here on.
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
            said = _titled(found, at, people()["title"]) or (seen.name if seen else "")
            if said in ("m", "f") and entity.gender in ("m", "f") and said != entity.gender:
                return False
            if said in ("m", "f"):
                entity.gender = said
            last.last = at
            others[found[at].word] = entity
            return True
    return False


def _described(found: Sequence[Token], at: int) -> bool:
    """True if a noun says what somebody is ("she is a lady", "Charlie – a man of his word"): nobody
    new.
    """
    if at < 2 or found[at - 1].word not in ("a", "an", "the"):
        return False
    return (
        found[at - 2].word in ("is", "was", "'s", "be", "been", "as", "-", "–", "—", "like")
        or found[at - 2].own
    )


def _month(found: Sequence[Token], at: int) -> bool:
    """True if April, May, June or August is a month here: no verb follows."""
    return found[at].word in ("april", "may", "june", "august") and not (
        at + 1 < len(found) and verb_like(found[at + 1])
    )


def _titled(found: Sequence[Token], at: int, titles: Mapping[str, str]) -> str:
    before = at - 2 if at > 1 and found[at - 1].word == "." else at - 1
    return (
        titles.get(found[before].word, "") if before >= 0 and found[before].raw[0].isupper() else ""
    )


def _acts(found: Sequence[Token], at: int, titles: Mapping[str, str]) -> bool:
    """True if an unknown capitalised word is likely a person: after a title, or the subject of a
    verb in mid-sentence."""
    if _titled(found, at, titles):
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
        return _labels(found, at) or (
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


def _addressed(found: Sequence[Token], at: int) -> bool:
    """Whether an unknown capitalised word in mid-sentence stands where a person may: before a
    comma, "who", "and", a genitive, and not after "the" or a preposition of place.
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


def _labels(found: Sequence[Token], at: int) -> bool:
    """Whether a capitalised word is a speaker's label ("**Amina:**")."""
    return (
        at + 1 < len(found)
        and found[at + 1].word == ":"
        and sum(token.raw == found[at].raw for token in found) > 1
    )


def _named_again(found: Sequence[Token], at: int) -> bool:
    """Whether a word stands with a capital in mid-sentence too."""
    return any(
        token.raw == found[at].raw
        and place
        and found[place - 1].sentence == token.sentence
        and found[place - 1].word[0].isalpha()
        for place, token in enumerate(found)
    )


def _plural(found: Sequence[Token], at: int) -> bool:
    """True if a word in -s is a plural noun: what precedes it is no subject."""
    token = found[at]
    word = token.word
    if (
        len(word) < 4
        or token.own
        or word.endswith(("ss", "us", "is", "'s"))
        or word in people()["not_plural"]
    ):
        return False
    if token.raw[0].isupper():
        return at > 0 and found[at - 1].word == "the"
    if not at or found[at - 1].sentence < token.sentence:
        return at + 1 < len(found) and found[at + 1].word != ","
    before = found[at - 1]
    if (
        before.word
        in ("a", "an", "this", "each", "every", "that", "it", "he", "she", "who", "what", "which")
        or before.own
    ):
        return before.own
    if before.word in words("determiners", "prepositions") or before.word.isdigit():
        return True
    if not before.word[0].isalnum() or before.word in ("and", "or"):
        return at + 1 < len(found) and found[at + 1].word not in words(
            "determiners", "prepositions"
        )
    if before.raw[0].isupper() or before.word in words("pronouns", "adverbs"):
        return False
    return verb_like(before) or (
        at > 1
        and found[at - 2].word in words("determiners")
        and found[at - 2].word not in ("a", "an", "this", "that")
        and not _verb_next(found, at)
    )


def _verb_next(found: Sequence[Token], at: int) -> bool:
    return at + 1 < len(found) and found[at + 1].word in words("determiners", "prepositions")


def _together(
    found: Sequence[Token], primary: Entity, others: Mapping[str, Entity]
) -> list[Entity]:
    """ "Taylor and Sam": a plural, at the second of two people who are joined by "and"."""
    places = {
        mention.last
        for entity in (primary, *others.values())
        for mention in entity.mentions
        if entity.gender != PLURAL
    }
    pairs = [
        at
        for at in places
        if any(
            at - back in places
            and any(found[i].word in ("and", "&") for i in range(at - back + 1, at))
            and not any(
                verb_like(found[i]) or (not found[i].word[0].isalnum() and found[i].word != "&")
                for i in range(at - back + 1, at)
            )
            for back in (2, 3, 4)
        )
    ]
    if not pairs:
        return []
    mentions = [
        Mention(at, at, SUBJECT, found[at].sentence, found[at].clause) for at in sorted(pairs)
    ]
    return [Entity(frozenset(("together",)), PLURAL, mentions, 99)]
