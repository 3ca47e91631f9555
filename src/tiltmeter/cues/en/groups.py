"""Finds cues of the other attributes: adjectives before a person, names that cue race, and ages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from ..matched import Picker
from ..records import Cue, like
from .given_names import given_names
from .tables import GROUPS, PERSON, names
from .tokens import WORD, inside

_DATA = GROUPS
_ALONE: Mapping[str, str] = GROUPS["alone"]
_SUBJECT = rf"(?:{_DATA['subjects']}|{PERSON},? (?:is|are|who is))"
# a word or two between an adjective and its noun: "a Black first-year student"
_BETWEEN = rf"(?:,? (?!(?:{_DATA['apart']})\b)[\w-]+)?"


# other words of race → the group; what is not here, and is no other race, is Black
_RACES = {
    "asian": "Asian",
    "hispanic": "Hispanic",
    "latino": "Hispanic",
    "latina": "Hispanic",
    "latinx": "Hispanic",
    "latine": "Hispanic",
    "arab": "Arab",
    "middle eastern": "Arab",
}


def _race(word: str) -> tuple[str, str, str]:
    low = word.lower()
    if low in ("white", "caucasian"):
        return "white", "Black", "Black"
    return _RACES.get(low.replace("-", " ").removesuffix(" american"), "Black"), "white", "white"


def _age(word: str) -> tuple[str, str, str]:
    if word.lower() == "young":
        return "younger", "older", like(word, "elderly")
    return "older", "younger", like(word, "young")


def _religion(word: str) -> tuple[str, str, str]:
    name = word.capitalize()
    if name in ("Christian", "Catholic", "Mormon"):
        return "Christian", "Muslim", "Muslim"
    return name, "Christian", "Christian"


def _orientation(word: str) -> tuple[str, str, str]:
    if word.lower() in ("straight", "heterosexual"):
        return "straight", "gay", like(word, "gay")
    return "gay", "straight", like(word, "straight")


def _disability(word: str) -> tuple[str, str, str]:
    return "named", "left out", ""


# a word → (its group, the other group, the word of that one)
_GROUPS: Mapping[str, Callable[[str], tuple[str, str, str]]] = {
    "race": _race,
    "age": _age,
    "religion": _religion,
    "disability": _disability,
    "orientation": _orientation,
}
_AGE = re.compile(
    r"\b([6-9]\d)(?=[- ]years?[- ]old\b|[- ]?(?:yo|y/o)\b)"
    rf"|\b(?:{_DATA['aged']}|{PERSON} is) ([6-9]\d)(?=[\s.,;!?)]|$)(?! ?(?:{_DATA['units']}))"
    rf"|\b(?:{PERSON}|[A-Z][a-z]+)(?:, ?| \()([6-9]\d)(?=[,)])",
    re.IGNORECASE,
)
_THING = re.compile(rf"\b(?:{_DATA['things']})\b[^.?!]{{0,20}}$", re.IGNORECASE)
_OTHER_AGE = "27"
_PERSONS = {"wheelchair user": "person", "wheelchair users": "people"}
_CONDITION = re.compile(
    rf"\b({'|'.join(_PERSONS)})\b|(?<= )(?:{_DATA['conditions']})\b", re.IGNORECASE
)
_COLOURS = ("black", "white")
_COMMON = ("straight", "young", "older")  # words that mostly speak of something else
_OTHER_RACES = re.compile(
    rf"(?<![\w-])(?:{_DATA['other_races']})(?={_BETWEEN}{_BETWEEN} {PERSON}\b)"
    rf"|\b{_SUBJECT} (?:an? |also |the only )?(?:{_DATA['other_races']})(?![\w-])",
    re.IGNORECASE,
)


@lru_cache
def _patterns(attribute: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = _DATA[attribute]
    beside = re.compile(rf"(?<![\w-])({words})(?={_BETWEEN}{_BETWEEN} {PERSON}\b)", re.IGNORECASE)
    statement = re.compile(
        rf"\b{_SUBJECT} (?:an? |also |very |the only )?({words})(?![\w-])"
        r"(?! (?:and white|as|up|on|to|from|out|forward)\b)",
        re.IGNORECASE,
    )
    return beside, statement


def mentions(text: str, attribute: str) -> bool:
    """True if a text has a word for a group of the attribute, even if not next to a person."""
    if attribute == "race":
        words = "|".join(word for word in _DATA["race"].split("|") if word not in _COLOURS)
        return bool(spoken_of(text) or re.search(rf"\b(?:{words})\b", text, re.IGNORECASE))
    plain = [word for word in _DATA[attribute].split("|") if word not in _COMMON]
    if re.search(rf"(?<![\w-])(?:{'|'.join(plain)})(?![\w-])", text, re.IGNORECASE):
        return True
    aged = r"\b(?:i['’]m|i am|is|aged?) [6-9]\d\b(?! (?:a good|out))"
    return attribute == "age" and bool(re.search(aged, text, re.IGNORECASE))


def spoken_of(text: str) -> str:
    """Returns words that can only mean a race, even if not next to a person; or ""."""
    hit = _spoken_of().search(text)
    return hit.group() if hit else ""


@lru_cache
def _spoken_of() -> re.Pattern[str]:
    races, others = _DATA["race"], _DATA["other_races"]
    return re.compile(
        r"\b(?i:(?:(?:african|mexican|native)[- ]american|asian(?:[- ]american)?|latin[oax]"
        rf"|hispanic)s?(?! (?:{_DATA['of_regions']})\b))\b|\b(?i:{others}|caucasians?)\b"
        rf"|\b(?:[Bb]lack|[Ww]hite) (?:\w+ )?(?i:{PERSON}|americans?|britons?)\b"
        rf"|\b(?i:{races})[- ](?i:owned|led|founded)\b"
        rf"|\b(?i:black|white|asian) (?i:{_DATA['concepts']})\b"
        r"|\b(?i:capitali[sz]\w*)\b[^.?!\n]{0,30}\b(?:Black|White)\b|\b(?i:while|being) [Bb]lack\b"
    )


def find(
    text: str, spans: Sequence[tuple[int, int]], attribute: str, picker: Picker
) -> tuple[list[Cue], str]:
    """Returns the cues of an attribute in a text, and a reason if they are uncertain, else ""."""
    cues = {cue.start: cue for cue in _adjectives(text, spans, attribute)}
    if attribute == "disability":
        cues |= {cue.start: cue for cue in _conditions(text)}
    if attribute == "race":
        cues |= {cue.start: cue for cue in _names(text, spans, picker)}
    if attribute == "age":
        cues |= {cue.start: cue for cue in _ages(text, spans)}
    ordered = [cues[start] for start in sorted(cues)]
    if attribute == "disability" and not ordered and _patterns(attribute)[1].search(text):
        return [], "the word cannot be left out"
    if attribute == "race" and (hit := _OTHER_RACES.search(text)):
        return ordered, f"a word of race that has no single counterpart: “{hit.group()}”"
    if hit := _about_group(attribute).search(text):
        return ordered, f"the question is about a group: “{hit.group().strip()}”"
    groups = {(cue.group, cue.other) for cue in ordered}
    mirror = attribute == "race" and groups == {("Black", "white"), ("white", "Black")}
    if len(groups) > 1 and not mirror:
        return ordered, "people of several groups"
    return ordered, ""


def _adjectives(text: str, spans: Sequence[tuple[int, int]], attribute: str) -> Iterator[Cue]:
    beside, statement = _patterns(attribute)
    group_of = _GROUPS[attribute]
    for pattern in (beside, statement):
        for match in pattern.finditer(text):
            start, end = match.span(1)
            if inside(start, spans) or _is_name(text, match[1], end, attribute):
                continue
            group, other, new = group_of(match[1])
            if not new and text[end : end + 1] == " ":
                noun = rf" (?:[\w-]+ )?{PERSON}\b"
                if pattern is statement and not re.match(noun, text[end:], re.IGNORECASE):
                    continue  # "I am deaf": without the word there is no sentence
                end += 1
            elif not new:
                continue
            yield Cue(start, end, group, other, text[start:end], new)


@lru_cache
def _about_group(attribute: str) -> re.Pattern[str]:
    """Makes a pattern for words that mean a whole group rather than a person."""
    words, plurals = _DATA[attribute], _DATA["plurals"]
    return re.compile(
        rf"(?:^|[.?!\n] ?|\b(?:{_DATA['asked_of_groups']}) )"
        r"(?:(?:(?:many|most|all|some|a lot|lots)(?: of)?|other) )?(?:(?:my|our|the) )?"
        rf"(?:{words}) (?:\w+ )?(?:{plurals})\b"
        rf"|(?<!\w)(?:{_DATA['bare']}) (?:{words}) (?:\w+ )?(?:{plurals})\b"
        rf"|\b(?:{_DATA['asked_of_one']}) (?:do |does |can )?an? (?:{words}) (?:{PERSON})\b"
        rf"|\b(?:{_ALONE[attribute]})\b(?! (?:[\w-]+ )?{PERSON}\b)",
        re.IGNORECASE | re.MULTILINE,
    )


def _conditions(text: str) -> Iterator[Cue]:
    """Yields disabilities named after a person, as cues that the other version leaves out."""
    for match in _CONDITION.finditer(text):
        new = like(match[1], _PERSONS[match[1].lower()]) if match[1] else ""
        start = match.start() if new else match.start() - 1
        yield Cue(start, match.end(), "named", "left out", text[start : match.end()], new)


def _is_name(text: str, word: str, end: int, attribute: str) -> bool:
    """True if a word is part of a name: Christian Dior, Mr Black."""
    if attribute == "orientation" and word == "Gay" and text[: end - 3].rstrip(" ")[-1:].isalnum():
        return True  # a surname
    return bool(
        attribute in ("religion", "race")
        and word[:1].isupper()
        and re.match(r" [A-Z][a-z]+", text[end:])
        and not re.match(rf" (?:{PERSON})\b", text[end:])
        and word.lower() in ("christian", "white")
    )


def _names(text: str, spans: Sequence[tuple[int, int]], picker: Picker) -> Iterator[Cue]:
    lower = frozenset(match.group().lower() for match in WORD.finditer(text))
    if not lower & names().black:
        return
    for given in given_names(text, spans, frozenset(("woman", "man"))):
        person = given.text.lower()
        if person not in names().black:
            continue
        named = picker.pick("race", person).names
        side = "women" if given.gender == "woman" else "men"
        same, other = named["Black", side], named["White", side]
        if given.text.islower():
            same, other = same.lower(), other.lower()
        yield Cue(given.start, given.end, "Black", "white", same, other, person)


def _ages(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Cue]:
    for match in _AGE.finditer(text):
        place = match.lastindex or 1
        start, end = match.span(place)
        if not inside(start, spans) and not _THING.search(text[:start]):
            yield Cue(start, end, "older", "younger", match[place], _OTHER_AGE)
