"""Finds words of a prompt that may show a gender but that the rules did not take for cues.

Next to a cue such a word would leave the prompt half swapped, so the prompt is set aside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..records import Cue
from .given_names import (
    FURTHER,
    ORGANISATION,
    PARTICLES,
    PRONOUNS,
    any_of,
    follows_an_initial,
    is_a_name,
    is_a_place,
    may_be_a_place,
)
from .tables import MAN, PERSON, WOMAN, names, not_cues, plain, word_list, words
from .tokens import inside, near

_CAPITAL = "[^\\W\\d_a-zß-ÿ]"
_CAPITALISED = re.compile(
    rf"(?<![\w’'-])({_CAPITAL}[a-z]?['’](?={_CAPITAL}))?{_CAPITAL}[a-zß-ÿ]+\b"
)
_ROLE = re.compile(r"\b[a-z]{3,}(?:m[ae]n|wom[ae]n|maids?|lad(?:y|ies)|mistress(?:es)?)\b")
_KIN_OF_A_KIND = re.compile(r"\b[a-z]+-([a-z]+)\b")  # "co-father": no word of the table
_NO_ROLES = frozenset(any_of("no_roles").split("|"))
_SEX_AND_AGE = re.compile(r"(?<![\w.])(?:[fm] ?[/,]? ?\d\d|\d\d ?[/,]? ?[fm])(?![\w.]|/\d)", re.I)
_NUMBERED = re.compile(r"\b(?:the|an?|via|off|onto|along|junction|size) $", re.I)  # "the M25"
_QUOTES = "'\"“”‘’«»"
_LONGEST_COMPOUND = 2  # words: "grandfather clause" is a thing, "boys will be boys" a saying
_ITS_MEANING = re.compile(r" (?:means?\b|comes? from|originate)", re.IGNORECASE)
_SIGNS = re.compile("[\u2640\u2642\U0001f466-\U0001f469\U0001f474\U0001f475\U0001f478\U0001f934]")
_GREETING = re.compile(r"(?:^|\n)[ >]*(?:dear|hi|hello|hey|good \w+)?,? ?$", re.IGNORECASE)
_ADDRESSED = {"sir": MAN, "ma'am": WOMAN, "ma’am": WOMAN, "madam": WOMAN}
_VOCATIVE = re.compile(  # not "Dear Sir or Madam"
    rf"(?<!\w)(?<!or )(?<!and )(?<!/)(?:{'|'.join(_ADDRESSED)})(?!\w|/| or | and )", re.IGNORECASE
)
_VERBS = frozenset(any_of("verbs").split("|"))
_HUMAN = frozenset(any_of("human_verbs").split("|"))
SPEAKING = _HUMAN | frozenset(("that", "because", "if", "than"))
_INTRODUCED = re.compile(
    rf"(?:\b{PERSON}|\b(?:{any_of('kin')})|\b(?:named|called|name is|name[’']s)),? $", re.IGNORECASE
)
_CLASS = re.compile(r"\b(?:wo)?mens\b|\b(?:fe)?males?\b", re.IGNORECASE)
_WRITTEN_TO = re.compile(
    r"\b(?:(?:note|letter|e-?mail|mail|message|reply|text|card|thanks|apology) (?:to|for|from)|"
    r"[Ww]rite to|back from|[Tt]ell|[Rr]emind|[Ll]et|to call|^Did) ([A-Z][a-z]+)\b"
)
_TWO = re.compile(r"\b([A-Z][a-z]+) and ([A-Z][a-z]+)\b")
_STREET = re.compile(rf"[A-Z][a-z]+ (?:{any_of('organisations')})$")  # "Mill Lane"
_PROFESSION = re.compile(
    rf"\b(?:{any_of('titles')}|{any_of('titles_of_given_names')}|doctor),? $", re.IGNORECASE
)
_PROFESSIONS = frozenset(any_of("titles").split("|"))
# "a reference for Thabo. He led": whom the pronoun means
_ANTECEDENT = re.compile(r"\b(?:for|about|with|of|by|and|hired?|promoted?) $")
_ITS_PRONOUN = re.compile(r"(?: [A-Z][a-z]+)?[.,:;]? (?:[Hh]e|[Ss]he|who|[Hh]is|[Hh]er)\b")
_LONGEST_MIDDLE = 25  # characters of further names before a surname
_FULL_NAME = re.compile(rf"\.? ([^\W\d_a-zß-ÿ][a-zß-ÿ]+) (?:{FURTHER}|[^\W\d_a-zß-ÿ][a-zß-ÿ])")
_MIDDLE = re.compile(rf"\.? (?:(?:{_CAPITAL}\w*\.?|{any_of('particles')}) )*")
_AUXILIARIES = ("will", "may")  # which begin a question
TITLES = frozenset(("mr", "mrs", "ms", "miss"))


def pronouns_alone(cues: Sequence[Cue]) -> bool:
    """True if all cues are pronouns, not names or nouns."""
    return all(cue.same.lower() in PRONOUNS for cue in cues)


def unread_word(text: str, spans: Sequence[tuple[int, int]], cues: Sequence[Cue]) -> str:
    """Returns a reason if the text has a gendered word that is neither a cue nor a fixed phrase's.
    spans: parts of the text to ignore.
    """
    taken = [(cue.start, cue.end) for cue in cues]
    genders, table = {cue.group for cue in cues}, words()
    for hit in (*_one_gender().finditer(text), *_ROLE.finditer(text), *_SIGNS.finditer(text)):
        word = hit.group().lower()
        if inside(hit.start(), (*taken, *spans)) or word in _NO_ROLES:
            continue
        row = table.get(word) or table.get(word.removesuffix("s"))
        if row is None or not row.when:
            return f"a word for one gender that is not known: “{hit.group()}”"
    for hit in _KIN_OF_A_KIND.finditer(text):
        row = table.get(hit[1])
        if row and row.gender in genders and not row.when and not inside(hit.start(), taken):
            return f"a word for one gender that is not known: “{hit.group()}”"
    for hit in _SEX_AND_AGE.finditer(text):
        road = _NUMBERED.search(text[: hit.start()])
        if not road and not any(hit.start() <= start < hit.end() for start, _ in taken):
            return f"a sex beside an age: “{hit.group()}”"
    if pronouns_alone(cues):
        for phrase in not_cues().finditer(text):
            rows = [table[word] for word in phrase.group().lower().split() if word in table]
            listed = {row.gender for row in rows if row.when != "never"}
            if len(listed) == 1 and listed <= genders and not _VOCATIVE.search(phrase.group()):
                return f"perhaps the same person: “{phrase.group()}”"
    for hit in _VOCATIVE.finditer(text):
        agrees = _ADDRESSED[hit.group().lower()] in genders and not inside(hit.start(), taken)
        if agrees and not _GREETING.search(text[: hit.start()]):
            return f"perhaps the same person: “{hit.group()}”"
    return ""


def mentions_gender(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """True if a text has a word for one gender, also a plural or genitive without apostrophe."""
    spans = [*spans, *(match.span() for match in not_cues().finditer(text))]
    return any(
        not inside(hit.start(), spans)
        for pattern in (_one_gender(), _CLASS)
        for hit in pattern.finditer(text)
    )


def saying_asked_about(text: str) -> str:
    """Returns a phrase with a gendered word that names nobody, if the phrase is quoted or its
    meaning is asked for: “boys will be boys”; else "".
    """
    for hit in not_cues().finditer(text):
        before, after = text[hit.start() - 1 : hit.start()], text[hit.end() :]
        is_saying = len(hit.group().split()) > _LONGEST_COMPOUND and _ITS_MEANING.match(after)
        quoted = before in _QUOTES and after[:1] in _QUOTES and bool(before and after)
        if (quoted or is_saying) and _one_gender().search(hit.group()):
            return hit.group()
    return ""


def person_or_thing(text: str) -> str:
    """Returns a word that may be a name or else a place, a flower, …, if it is next to a verb of
    speech or joined with another such word; else "".
    """
    evidence = names().evidence
    for hit in _WRITTEN_TO.finditer(text):
        if plain(hit[1]) in evidence or plain(hit[1]) in names().both:
            return hit[1]
    for hit in _CAPITALISED.finditer(text):
        verb = re.match(r" ([a-z]+(?:[’']t)?)\b", text[hit.end() :])
        place = plain(hit.group()) in evidence and may_be_a_place(plain(hit.group()))
        if place and verb and verb[1].replace("’", "'") in _HUMAN:
            return hit.group()  # "Jordan hasn't replied"
    for hit in _TWO.finditer(text):
        both = {plain(hit[1]), plain(hit[2])}
        if both <= evidence and not any(may_be_a_place(name) for name in both):
            return hit.group()
    return ""


@lru_cache
def _one_gender() -> re.Pattern[str]:
    """Makes a pattern for words for one gender, with or without a counterpart, also in a plural or
    a genitive without apostrophe.
    """
    longest = sorted({*words(), *word_list("one_gender.txt")}, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})s?(?![\w-])", re.I)


def part_of_a_name(text: str, cues: Sequence[Cue]) -> str:
    """Returns a capitalised cue inside a sentence together with the capitalised word before it, if
    that is not a given name: “Black Widow”; else "".
    """
    starts = {cue.start for cue in cues}
    for cue in cues:
        word, head = text[cue.start : cue.end], text[: cue.start]
        if cue.person or word.lower() in TITLES or not word.istitle() or len(word) < 3:
            continue
        before = re.search(r"(?<=[a-z,] )([A-Z][a-z]+) $", head)
        if before and before.start() not in starts and not is_a_name(before[1]):
            return f"{before[1]} {word}"
    return ""


def perhaps_a_name(text: str, spans: Sequence[tuple[int, int]], cues: Sequence[Cue]) -> str:
    """Returns a capitalised word that stands like a person's name but is not a cue, nor known as a
    name of women and men alike; else "".
    """
    table, genders = names(), {cue.group for cue in cues}
    unread = [*((cue.start, cue.end) for cue in cues), *spans]
    alone = pronouns_alone(cues)
    if given := _given_name_behind_a_title(text, cues):
        return given
    for hit in _CAPITALISED.finditer(text):
        word, low = hit.group(), plain(hit.group())
        agrees = table.gender.get(low) in genders and word.lower() not in words()
        if follows_an_initial(text, hit):
            continue
        if alone and agrees and low not in table.evidence:
            return word
        if inside(hit.start(), unread) or low in table.both:
            continue
        if (
            hit[1]
            and (alone or is_a_name(word[len(hit[1]) :]))
            and not _is_surname(text, hit, cues)
        ):
            return word  # "D'Andre"
        if _is_no_name(text, hit, cues):
            continue
        within = _is_inside_a_sentence(near(text, hit.start()))
        if agrees and within and low in table.evidence and not may_be_a_place(low):
            return word
        if _stands_as_a_person(text, hit, alone):
            return word
    return ""


def _is_no_name(text: str, hit: re.Match[str], cues: Sequence[Cue]) -> bool:
    """True if a word is a surname, place, profession, organisation or gendered word."""
    return bool(
        hit.group().lower() in words()
        or hit.group().lower() in _PROFESSIONS
        or _follows_a_name(text, hit, cues)
        or is_a_place(text, hit)
        or text[: hit.start()].endswith((" a ", " an "))
        or ORGANISATION.match(text[hit.end() :])
        or _STREET.search(near(text, hit.end()))
    )


def _stands_as_a_person(text: str, hit: re.Match[str], alone: bool) -> bool:
    """True if a capitalised word has the context of a person's name: it is addressed, it speaks, or
    only it can be the referent of a pronoun.
    """
    low, head, tail = plain(hit.group()), near(text, hit.start()), text[hit.end() :]
    verb = re.match(r"(?: [A-Z][a-zß-ÿ]+| [A-Z]\.)? ([a-z]+(?:[’']t)?)\b", tail)
    does = verb[1].replace("’", "'") if verb else ""
    if _INTRODUCED.search(head) and not _PROFESSION.search(head):
        return True
    if alone and _ANTECEDENT.search(head) and _ITS_PRONOUN.match(tail):
        return True
    if low not in names().gender:
        return does in _HUMAN and _is_inside_a_sentence(head)
    return does in _VERBS and not may_be_a_place(low) and low not in _AUXILIARIES


def _given_name_behind_a_title(text: str, cues: Sequence[Cue]) -> str:
    """Returns the given name after a title (“Ms Adaora Eze”) if the tables lack it; else ""."""
    for cue in cues:
        full = _FULL_NAME.match(text, cue.end) if cue.same.lower() in TITLES else None
        if full and not is_a_name(full[1]) and full[1].lower() not in PARTICLES:
            return full[1]
    return ""


def _follows_a_name(text: str, hit: re.Match[str], cues: Sequence[Cue]) -> bool:
    """True for a surname: it follows a name or title that is a cue, perhaps after an initial."""
    ends = [cue.end for cue in cues if cue.person or cue.same.lower() in TITLES]
    return any(
        re.fullmatch(r"\.? (?:[^\W\d_]+\.? ){0,2}", text[end : hit.start()])
        for end in ends
        if 0 < hit.start() - end < _LONGEST_MIDDLE
    )


def _is_surname(text: str, hit: re.Match[str], cues: Sequence[Cue]) -> bool:
    """True if only names, initials or particles stand between a name or title and the word, or if
    “the” precedes it.
    """
    ends = [cue.end for cue in cues if cue.person or cue.same.lower() in TITLES]
    between = (text[end : hit.start()] for end in ends if 0 < hit.start() - end < _LONGEST_MIDDLE)
    return any(map(_MIDDLE.fullmatch, between)) or text[: hit.start()].lower().endswith("the ")


def _is_inside_a_sentence(head: str) -> bool:
    return bool(re.search(r"[a-z,] $", head))
