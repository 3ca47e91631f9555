"""Finds given names in a text, with the gender that most people perceive in them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .tables import MAN, PERSON, WOMAN, Names, names, plain, words
from .tokens import inside, near

# whole tokens: “O'Brien”, “D’Angelo” and “Jean-Luc”, but “Al” of “Al's”
_NAME = re.compile(
    r"(?:[^\W\d_]{1,2}['’](?=[^\W\d_]{3}))?[^\W\d_]+(?:-(?:[^\W\d_]['’])?[^\W\d_]+)*"
)
_CONTEXT = tomllib.loads((Path(__file__).parent / "context.toml").read_text("utf-8"))
_LISTS = {name: frozenset(text.split()) for name, text in _CONTEXT.items()}


def _text_before(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(alternatives)})\s*$", re.IGNORECASE)


def any_of(name: str) -> str:
    """Returns a list of context words as alternatives in a pattern."""
    return "|".join(_CONTEXT[name].split())


PRONOUNS = frozenset(any_of("pronouns").split("|"))
PARTICLES = frozenset(any_of("particles").split("|"))
_PARTICLES = rf"(?:(?:{any_of('particles')})\.?\s)*"
_TITLE = _text_before(rf"\b(?:{any_of('titles')})\.?\s{_PARTICLES}")
# the rest of a full name: "Whitfield", "O'Brien", "van der Berg"
FURTHER = rf"(?:(?-i:{any_of('particles')}) )*(?:[A-Z]['’])?[A-Z][a-zà-ÿ]"
_TITLE_OF_GIVEN = _text_before(rf"\b(?:{any_of('titles_of_given_names')})\s")
_SIGNATURE = _text_before(rf"(?:{_CONTEXT['closings']}),?\s*\n")
_CLOSED = _text_before(
    rf"\b(?:{_CONTEXT['closings']}),\s"
)  # on the line of a name that ends the text
_INTRODUCED = _text_before(
    rf"(?:{_CONTEXT['introductions']})\s",
    rf"(?:{any_of('fields')})\"?\s*:\s*\"?",
    rf"\b(?:{any_of('kin')}),?\s",
)
ORGANISATION = re.compile(
    rf"(?:['’]s)? (?:{any_of('organisations')})\b| (?:{any_of('premises')})\b"
)
_OF_A_THING = _text_before(rf"(?<![\w-])(?:{any_of('things')})s?,? (?:is )?(?:called |named )?")
_SUBJECT_NAMED = re.compile(r"\b(\w+) (?:is|was) (?:called|named) $")  # "Our Tesla is called Ruby"
_A_PERSON = re.compile(rf"(?:{PERSON}|{any_of('kin')}|s?he|who|it|mine)$", re.IGNORECASE)
_TECHNICAL = re.compile(rf"\b(?:{any_of('technical')}|learning rates?)\b", re.IGNORECASE)
# "moved to Denver", "driving from Denver": behind a verb of moving these are of places
_TRAVELLED = re.compile(
    rf"\b(?:{any_of('moving')})\b(?: \w+){{0,3}}? (?:to|from|via|for|between|into) $", re.IGNORECASE
)
_ASKS = re.compile(r"(?:^|[.?!:\n“\"]) ?$")
_AND, _WITH = re.compile(r" and ([A-Z][a-zà-ÿ]+)"), re.compile(r"\b([A-Z][a-zà-ÿ]+) and $")
_INITIAL = re.compile(  # "K. Brandt", not "plan B. Anna"
    r"(?<!\w)(?<!plan |type )(?<!group |grade |class |level )(?<!option )(?<!vitamin )[A-HJ-Z]\. ?$"
)


class GivenName(NamedTuple):
    """A given name. start, end: offsets; text: without a genitive."""

    start: int
    end: int
    text: str
    gender: str


def given_names(
    text: str, spans: Sequence[tuple[int, int]], genders: frozenset[str]
) -> list[GivenName]:
    """Returns the given names of a text. genders: those of the text's pronouns and words;
    certain names add their genders, by which others become certain: “Helen will write, Ruth will”.
    """
    names_found = _scan(text, spans, genders)
    more = genders.union(given.gender for given in names_found)
    return _scan(text, spans, more) if more != genders else names_found


def _scan(text: str, spans: Sequence[tuple[int, int]], genders: frozenset[str]) -> list[GivenName]:
    table, hits = names(), []
    last_end, last_was_name = -1, False
    for match in _NAME.finditer(text):
        adjacent = text[last_end : match.start()] == " "
        surname = adjacent and last_was_name
        given = None
        if not inside(match.start(), spans) and not surname:
            given = _read(text, match, table, genders)
        # "Ana Maria Lopez": all after the first name is surname; a lower-case word ends the name
        goes_on = match.group()[:1].isupper() or match.group() in PARTICLES
        last_was_name = given is not None or (surname and goes_on)
        if given is not None and given.end != match.end():
            last_was_name = False
        last_end = match.end()
        if given:
            hits.append(given)
    return hits


def _read(
    text: str, match: re.Match[str], table: Names, genders: frozenset[str]
) -> GivenName | None:
    word = match.group()
    low = plain(word)
    if "-" in word and low not in table.gender:
        head = word.split("-")[0]
        tail = word[len(head) + 1 :]
        if not (tail[:1].isupper() and word[:1].isupper() and plain(head) in table.gender):
            return None
        if near(text, match.start()).lower().endswith("the "):
            return None  # "the Martin-Alexander file"
        gender = table.gender[plain(head)]
    else:
        gender = table.gender.get(low, "")
    if (
        not gender
        or word.lower() in words()
        or not _stands_as_name(text, match, table, gender, genders)
    ):
        return None
    return GivenName(match.start(), match.end(), word, gender)


def _stands_as_name(
    text: str, match: re.Match[str], table: Names, gender: str, genders: frozenset[str]
) -> bool:
    token, low = match.group(), plain(match.group())
    head = near(text, match.start())
    before = re.search(r"([^\W\d_]+)\s+$", head)
    word = before[1] if before else ""
    capital = token[0].isupper() and (not token.isupper() or text.isupper())
    if _TITLE.search(head) and not _TITLE_OF_GIVEN.search(head):
        # "Mr. Alan Whitfield" has a given name, "Mrs. Henderson" a surname
        return capital and bool(re.match(f" {FURTHER}", text[match.end() :]))
    named = _SUBJECT_NAMED.search(head)
    if follows_an_initial(text, match):
        return False
    if _OF_A_THING.search(head) or (named and not _A_PERSON.match(named[1])):
        return False
    if low in _LISTS["software"] and _TECHNICAL.search(text):
        following = re.match(r" (\w+)|['’]s ", text[match.end() :])
        return bool(following and (following[1] or "says") in _LISTS["human_verbs"])
    if low in table.evidence:
        return capital and _has_evidence(text, match, gender, genders, word)
    if not capital:
        return token.islower() and _lower_case_name(text, match, gender, genders, word)
    if _is_surname_after(text, match.start(), word, table):
        return False
    if word.lower() in _LISTS["before_places"] and low in _LISTS["places"]:
        return False
    return not ORGANISATION.match(text[match.end() :])


def _is_surname_after(text: str, start: int, word: str, table: Names) -> bool:
    """True if the preceding word is capitalised and no given name: then this one is a surname."""
    head, low = near(text, start), plain(word)
    return bool(
        word[:1].isupper()
        and head.endswith(" ")
        and _within_sentence(head, word)
        and low not in table.gender
        and low not in _LISTS["object_of"]
        and low not in words()
        and not _INTRODUCED.search(head)
    )


def _within_sentence(head: str, word: str) -> bool:
    """True if the preceding word is not the first of its sentence, so that its capital counts."""
    rest = head.rstrip()[: -len(word)].rstrip(" ")
    return bool(rest) and rest[-1] not in ".!?:\n\"“'(-"


def _lower_case_name(
    text: str, match: re.Match[str], gender: str, genders: frozenset[str], before: str
) -> bool:
    """True if a name in small letters means a person: “cassandra” may be software, “per” a word."""
    low, tail = match.group(), text[match.end() :]
    if len(low) < 3 or before.lower() in _LISTS["never_before_names"]:
        return False
    if len(low) > 3 and (gender in genders or re.match(r"['’]s\b|, (?:who|he|she)\b", tail)):
        return True
    head = near(text, match.start())
    following = re.match(r"\s+([^\W\d_]+(?:['’]t)?)", tail)
    does = following[1].replace("’", "'") if following else ""
    return bool(
        _INTRODUCED.search(head)
        or _SIGNATURE.search(head)
        or does in _LISTS["human_verbs"]
        or before.lower() in _LISTS["object_of"] & _LISTS["told"]
        or re.match(rf"\s+(?:from|in|at) (?:{any_of('departments')})\b", tail, re.IGNORECASE)
    )


def _has_evidence(
    text: str, match: re.Match[str], gender: str, genders: frozenset[str], before: str
) -> bool:
    """True if the context shows that a word with other meanings is a name here."""
    low, tail, table = plain(match.group()), text[match.end() :], names()
    head = near(text, match.start())
    if _SIGNATURE.search(head) or (_CLOSED.search(head) and not tail.strip(" .\n")):
        return True
    if _INTRODUCED.search(head) and not re.match(r"\s+\d|-\w", tail):
        return True
    if is_a_place(text, match) or low in _LISTS["brands"]:
        return False
    behind = re.match(r" ([A-Z][a-zà-ÿ]+)", tail)
    if low in _LISTS["asking"] and _ASKS.search(head) and behind and is_a_name(behind[1]):
        return False  # "Will Yusuf come?"
    place = low in _LISTS["places"]
    following = re.match(r"\s+([^\W\d_]+)", tail)
    verb = following[1].lower() if following else ""
    if re.match(r": [^\W\d]", tail) and re.search(r"(?:^|\n|[.?!:] )$", head):
        return not place  # who speaks: "Tom: I'll look."
    both = _AND.match(tail) or _WITH.search(head)
    if both and plain(both[1]) in table.gender.keys() - table.evidence:
        return not place  # "Jack and Emma"
    if gender not in genders:
        return verb in _LISTS["human_verbs"] and not place
    if re.match(rf"\s+(?:from|in|at) (?:{any_of('departments')})\b", tail, re.IGNORECASE):
        return True
    if re.match(r" \(\d{1,2}\)| from (?:the|our|my) ", tail):
        return True  # "Mia (6)"
    if low == verb == "will":
        return True  # "Will will be late"
    if verb in _LISTS["verbs"] or verb.endswith("ed") or re.match(r"['’]s\b", tail):
        return not (low == "may" or (low == "will" and verb == "never"))
    surname = bool(re.match(rf" {FURTHER}| [A-Z]\.", tail))
    return not place and (before.lower() in _LISTS["object_of"] or surname)


def follows_an_initial(text: str, match: re.Match[str]) -> bool:
    """True for a surname after an initial (“K. Brandt”), not for the “Paul” of “J. Paul Getty”."""
    further = re.match(r" [A-Z][a-zà-ÿ]", text[match.end() :])
    return not further and bool(_INITIAL.search(near(text, match.start())))


def is_a_name(word: str) -> bool:
    """True if a word is a given name, also if women and men alike have it."""
    return plain(word) in names().gender or plain(word) in names().both


def genders_of(tokens: Sequence[str]) -> frozenset[str]:
    """Returns the genders of the pronouns, titles and gendered words among `tokens`."""
    table = words()
    genders = set()
    for token in tokens:
        if token in ("her", "hers", "mrs", "ms"):
            genders.add(WOMAN)
        elif token in ("him", "his", "mr"):
            genders.add(MAN)
        elif token in table and not table[token].when:
            genders.add(table[token].gender)
    return frozenset(genders)


def may_be_a_place(low: str) -> bool:
    """True if a name is also a place or a month."""
    return low in _LISTS["places"]


def is_a_place(text: str, match: re.Match[str]) -> bool:
    """True if the context shows that a name means a place."""
    head = near(text, match.start())
    before = re.search(r"([^\W\d_]+)\s+$", head)
    if (before[1].lower() if before else "") in _LISTS["before_places"]:
        return True
    return match.group().lower() in _LISTS["places"] and bool(
        re.match(r",? [A-Z][a-z]+(?:[,.]|$)", text[match.end() :]) or _TRAVELLED.search(head)
    )
