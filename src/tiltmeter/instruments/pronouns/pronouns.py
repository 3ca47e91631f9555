"""Which third-person pronouns a text uses for its primary person: masculine, feminine, neutral,
mixed, none or neo.

    >>> someone = person("name", "Emery")
    >>> identify("I got them something for Emery. They will love it.", someone).label
    'neutral'
    >>> identify("Emery met Tom, who lost his hat.", someone).label
    'none'

Only pronouns count (with contractions, dialect forms, emphasis marks, inside and outside
quotations); nouns have a lexicon of their own. A pair for both ("he or she", "s/he") leaves the
gender open and counts as neutral. Whose a pronoun is, person.py and attribution.py say by rules;
the same text gets the same reading on every machine. No model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ..wording import texts
from . import attribution
from .attribution import Entity, Mention
from .passage import POSSESSIVE, Remembered, Token, data, people, plain, tokens, verb_like, words
from .person import PLURAL, Person, everybody, person

__all__ = ["CLASSES", "Found", "Person", "Reading", "identify", "mentions", "person"]
VERSION = "1"
MASCULINE, FEMININE, NEUTRAL, MIXED, NONE, NEO = CLASSES = (
    "masculine",
    "feminine",
    "neutral",
    "mixed",
    "none",
    "neo",
)
_GENDER = {MASCULINE: "m", FEMININE: "f", NEUTRAL: PLURAL, NEO: "x"}
_PAIR = r"(?:{0})\s*(?:/|\bor\b)\s*(?:{1})|(?:{1})\s*(?:/|\bor\b)\s*(?:{0})"
_DOUBLE = re.compile(
    r"\b(?:" + _PAIR.format("he|him|his|himself", "she|hers|her|herself") + r"|s/he)\b|\(s\)he\b",
    re.IGNORECASE,
)
_LETTERS = re.compile("[a-z]+")
_INDEFINITE = frozenset(
    [
        "everyone",
        "everybody",
        "anyone",
        "anybody",
        "nobody",
        "someone",
        "somebody",
        "both",
        "others",
    ]
)


class Found(NamedTuple):
    """One pronoun. form: as written; whose: "primary", "other" or "plural" (several people or
    things); reference: the word that names whom it means, "" where nothing in the text does."""

    form: str
    begin: int
    value: str
    whose: str
    quoted: bool
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says of its person. pairs: (reference, pronoun); plural: how many "they" mean
    several.
    """

    label: str
    pairs: tuple[tuple[str, str], ...]
    mentions: tuple[Found, ...]

    @property
    def plural(self) -> int:
        return sum(found.whose == "plural" for found in self.mentions)


@cache
def forms() -> Mapping[str, str]:
    """Form → class, contractions without an apostrophe included."""
    table: dict[str, str] = {}
    for value, cases in data()["forms"].items():
        for written in cases.values():
            table.update(dict.fromkeys(written, value))
    table.update({form: table[full] for form, full in data()["contracted"]["bare"].items()})
    return table


@cache
def _bare() -> frozenset[str]:
    """The letters of all forms: a text with none of them need not be read."""
    return frozenset(form.strip("'") for form in forms())


def _has_form(chunk: str) -> bool:
    return not _bare().isdisjoint(_LETTERS.findall(chunk.lower()))


_with_form = Remembered(_has_form)


@cache
def _primary() -> Mapping[str, float]:
    primary = texts("attribution").section("primary")
    return {name: primary.number(name) for name in primary.table}


@cache
def _reflexive() -> frozenset[str]:
    return frozenset(form for cases in data()["forms"].values() for form in cases["reflexive"])


def identify(text: str, who: Person) -> Reading:
    """The class of the pronouns that a text has for a person, with the pairs (reference ==
    pronoun).
    """
    found = tuple(mentions(text, who))
    mine = [one for one in found if one.whose == "primary"]
    values = list(dict.fromkeys(one.value for one in mine))
    label = NONE if not values else values[0] if len(values) == 1 else MIXED
    pairs = tuple(dict.fromkeys((who.noun, one.form.lower()) for one in mine)) or (
        (who.noun, NONE),
    )
    return Reading(label, pairs, found)


def mentions(text: str, who: Person) -> list[Found]:
    """Every third-person pronoun of a text in its order, with whose it is."""
    flat = plain(text)
    if not any(map(_with_form.__getitem__, flat.split(" "))):
        return []
    found = tokens(flat)
    table = forms()
    marks = [at for at, token in enumerate(found) if token.word in table]
    values = [table[found[at].word] for at in marks]
    doubles = (
        _doubles(flat)
        if "/" in flat or "(" in flat or (MASCULINE in values and FEMININE in values)
        else []
    )
    places: dict[int, str] = {}
    for at, value in zip(marks, values, strict=True):
        begin = found[at].begin
        if (value != NEO or _is_neo(found, at)) and not (
            doubles and any(low <= begin < high for low, high in doubles)
        ):
            places[at] = value
    for low, _ in doubles:
        at = next(i for i, token in enumerate(found) if token.begin + len(token.raw) > low)
        places[at] = NEUTRAL
    if not places:
        return []
    spans = _quotations(found) if '"' in flat else []
    places = dict(sorted(places.items()))
    whose, meant = _attribute(found, places, who, spans, {low for low, _ in doubles})
    made = []
    for at, value in places.items():
        token = found[at]
        form = _double_form(flat, token, doubles) if doubles else token.raw
        quoted = bool(spans) and any(low < at < high for low, high in spans)
        made.append(Found(form, token.begin, value, whose[at], quoted, meant[at]))
    return made


def _doubles(text: str) -> list[tuple[int, int]]:
    """Where "he or she", "s/he" and their like stand."""
    return (
        [match.span() for match in _DOUBLE.finditer(text)]
        if "/" in text or " or " in text or "(s)" in text.lower()
        else []
    )


def _double_form(text: str, token: Token, doubles: Sequence[tuple[int, int]]) -> str:
    """The whole of "he or she" where it begins at a token; else the token as written."""
    for low, high in doubles:
        if token.begin <= low < token.begin + len(token.raw):
            return text[low:high]
    return token.raw


def _is_neo(found: Sequence[Token], at: int) -> bool:
    """True if a form that is also another word is a neopronoun here."""
    rules = data()["neo"]
    partners = rules["doubtful"].get(found[at].word)
    if partners is None:
        return True
    if any(token.word in partners for token in found) or found[at].raw.lower() != found[at].word:
        return True
    return found[at].word != "em" and at + 1 < len(found) and found[at + 1].word in rules["verbs"]


def _quotations(found: Sequence[Token]) -> list[tuple[int, int]]:
    """(opening, closing) places of double quotation marks."""
    marks = [at for at, token in enumerate(found) if token.word == '"']
    return list(zip(marks[::2], marks[1::2], strict=False))


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


def _attribute(
    found: Sequence[Token],
    places: Mapping[int, str],
    who: Person,
    spans: Sequence[tuple[int, int]],
    doubles: set[int],
) -> tuple[dict[int, str], dict[int, str]]:
    """For each pronoun whose it is and the word for them, left to right; each answer is a mention
    for those that follow."""
    primary, others = everybody(found, who, NEUTRAL in places.values())
    had: dict[str, int] = {}
    whose: dict[int, str] = {}
    meant: dict[int, str] = {}
    speakers = [(span, _speaker(found, span)) for span in spans] if spans else []
    for at, value in places.items():
        mine = POSSESSIVE if found[at].word in _reflexive() else attribution.pronoun_role(found, at)
        gender = _GENDER[value]
        if found[at].begin in doubles or found[at].word in ("themself", "theirself", "themsel"):
            gender = "x"
        speaking = (
            next((said for (low, high), said in speakers if low < at < high), range(0))
            if speakers
            else range(0)
        )
        owned = mine == POSSESSIVE and _owns(found, at, primary)
        several = gender == PLURAL and _several(found, at)
        rivals = [
            entity for entity in others if _possible(found, at, mine, gender, entity, speaking)
        ]
        best, chosen = float("-inf"), None
        if not (owned or several or _speaks(primary, speaking)):
            chosen = primary
            best = (
                _of_primary(found, at, mine, gender, primary, others, who, had) if rivals else 0.0
            )
        for entity in rivals:
            total = _of_other(found, at, mine, gender, entity, [primary, *others])
            if total > best:
                best, chosen = total, entity
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
    return whose, meant


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
        seen = max(seen, table["implicit"])
    total = table["prior"] + seen
    known = {_GENDER[value] for value in had}
    if gender in (known or {who.gender}):
        total += table["match"]
    if (
        who.gender and gender in ("m", "f") and gender != who.gender and who.gender not in known
    ) or (known and gender not in known and "x" not in (gender, *known)):
        total += table["clash"]
    return total


def _possible(
    found: Sequence[Token], at: int, mine: int, gender: str, entity: Entity, speaking: range
) -> bool:
    """True if another person, or a plural noun, can be meant at all: gender, place, not the
    speaker, not the owned.
    """
    here = found[at].sentence
    if entity.gender == PLURAL:
        near = 0 if entity.name & _INDEFINITE else 1
        return gender == PLURAL and any(
            mention.first < at and here - mention.sentence <= near for mention in entity.mentions
        )
    if gender == PLURAL:
        if entity.gender or not any(mention.first < at for mention in entity.mentions):
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
    return attribution.score(found, at, mine, entity, everyone)[0] + extra


def _speaks(entity: Entity, speaking: range) -> bool:
    return bool(speaking) and any(
        mention.first in speaking and not mention.chained for mention in entity.mentions
    )


def _owns(found: Sequence[Token], at: int, entity: Entity) -> bool:
    """True if a possessive stands inside the entity's own noun phrase ("her husband", "his partner,
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
    """True if "they" is said to be several: "they both", "all of them"."""
    after = {token.word for token in found[at + 1 : at + 3]}
    before = [token.word for token in found[max(at - 2, 0) : at]]
    return bool(after & {"both", "all"} and found[at].word in ("they", "them")) or (
        before[-1:] == ["of"]
        and before[:1] != []
        and before[0]
        in ("both", "all", "some", "each", "one", "two", "none", "many", "most", "several", "half")
    )
