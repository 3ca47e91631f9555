"""Cues of gender: pronouns, given names, titles, kin, partners and words for a role."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..matched import Picker
from ..records import Cue, like
from . import pronouns
from .given_names import GivenName, any_of, genders_of, given_names, is_a_place, may_be_a_place
from .tables import MAN, OTHER, WOMAN, names, not_cues, words
from .tokens import WORD, inside

# Mr says nothing of a marriage, so its counterpart is Ms: unless both spouses are there.
_TITLES = {"mr": (MAN, "ms"), "ms": (WOMAN, "mr"), "mrs": (WOMAN, "mr"), "miss": (WOMAN, "mr")}
_TITLE = re.compile(r"\b(mr|mrs|ms|miss)\b(?=\.?\s+[^\W\d_])", re.IGNORECASE)
_CONTRACTION = re.compile(r"[’']")
_ANOTHERS = re.compile(r"\b(?:his|her) $", re.IGNORECASE)
_NAMED_SO = re.compile(
    r"\b(Father|Mother|Sister|Brother|Lady|Lord|Sir|King|Queen|Prince|Princess) ([A-Z][a-z]+)"
)

_PRONOUNS = frozenset(any_of("pronouns").split("|"))
_ANIMAL = re.compile(rf"\b(?:{any_of('animals')})\b", re.IGNORECASE)
_ROLE = re.compile(r"\b[a-z]{3,}(man|woman)\b")
_KIN_OF_A_KIND = re.compile(r"\b[a-z]+-([a-z]+)\b")  # "co-father": no word of the table
_NO_ROLES = frozenset(any_of("no_roles").split("|"))
_MOM = re.compile(r"mom\b|mom(?=s\b|my\b)")
_BRITISH = re.compile(
    r"\b(?:mum\w*|mates?|quid|whilst|lorry|colour\w*|favour\w*|neighbour\w*|flat-?mates?|"
    r"me (?:step-?|older |big |little )?(?:dad|mam|nan|mate|brother|sister|uncle|auntie))\b|£",
    re.IGNORECASE,
)
_PLURALS = frozenset(any_of("plurals").split("|"))
_DEFINITE = frozenset(any_of("definite").split("|"))
_CAPITALISED = re.compile(r"\b[A-Z][a-zà-ÿ]+\b(?! [A-Z])")
_AUXILIARIES = ("will", "may")  # which begin a question
_EITHER = re.compile(
    r"\b(?:her or him|him or her|hers or his|his or hers|she or he)\b", re.IGNORECASE
)


def find(text: str, spans: Sequence[tuple[int, int]], picker: Picker) -> tuple[list[Cue], str]:
    """Finds the cues of gender in a text. Returns a reason too if one is not sure."""
    spans = [*spans, *(match.span() for match in not_cues().finditer(text))]
    tokens = [match for match in WORD.finditer(text) if not inside(match.start(), spans)]
    lower = [match.group().lower() for match in tokens]
    genders = genders_of(lower)
    given = given_names(text, spans, genders)
    named = [(one.start, one.end) for one in given]
    cues = [_name_cue(one, picker) for one in given]
    genders |= {one.gender for one in given}
    cues += _titles(text, spans, lower)
    cues += _words(text, [*spans, *named], genders, lower)
    taken = [(cue.start, cue.end) for cue in cues]
    more, unsure = _pronouns(text, tokens, taken)
    cues += more
    return sorted(cues, key=lambda cue: cue.start), unsure or _doubt(text, cues)


def _cue(match: re.Match[str], gender: str, other: str, same: str = "") -> Cue:
    word = match.group()
    same = like(word, same) if same and same != word.lower() else word
    return Cue(match.start(), match.end(), gender, OTHER[gender], same, like(word, other))


def _name_cue(given: GivenName, picker: Picker) -> Cue:
    person = given.text.lower()
    named = picker.pick("gender", person).names
    own, other = ("women", "men") if given.gender == WOMAN else ("men", "women")
    same, exchanged = named["younger", own], named["younger", other]
    if given.text.islower():
        same, exchanged = same.lower(), exchanged.lower()
    elif given.text.isupper() and len(given.text) > 1:
        same, exchanged = same.upper(), exchanged.upper()
    return Cue(given.start, given.end, given.gender, OTHER[given.gender], same, exchanged, person)


def _titles(text: str, spans: Sequence[tuple[int, int]], lower: Sequence[str]) -> Iterator[Cue]:
    shouting = text.isupper()
    couple = "mr" in lower and "mrs" in lower
    for match in _TITLE.finditer(text):
        word = match.group()
        title = word.lower()
        if inside(match.start(), spans) or word == "miss" or (word == "MS" and not shouting):
            continue  # to miss somebody; a manuscript
        gender, other = _TITLES[title]
        other = "mrs" if couple and title == "mr" else other
        same = "ms" if title in ("mrs", "miss") and not couple else ""
        capital = word[:1].isupper() and not shouting
        yield Cue(
            match.start(),
            match.end(),
            gender,
            OTHER[gender],
            (same.capitalize() if capital else like(word, same)) if same else word,
            other.capitalize() if capital else like(word, other),
        )


@lru_cache
def _pattern() -> re.Pattern[str]:
    longest = sorted(words(), key=len, reverse=True)
    return re.compile(
        rf"(?<![\w])(?<!\w-)(?:{'|'.join(map(re.escape, longest))})(?![\w]|-\w)", re.IGNORECASE
    )


def _words(
    text: str, spans: Sequence[tuple[int, int]], genders: frozenset[str], lower: Sequence[str]
) -> Iterator[Cue]:
    table, british = words(), _BRITISH.search(text)
    for match in _pattern().finditer(text):
        if inside(match.start(), spans):
            continue
        word = match.group().lower()
        row = table[word]
        if row.when == "never" or (
            row.when and row.gender not in genders and row.other not in lower
        ):
            continue
        if row.when and _ANOTHERS.search(text[: match.start()]):
            continue  # "his landlord": the pronoun is another person's
        if row.when and _CONTRACTION.match(text[match.end() :]) and row.gender not in genders:
            continue
        other = row.other
        if word == "sir" and re.match(r" [A-Z][a-z]", text[match.end() :]):
            other = "lady"
        if (
            word == "lady"
            and match.group()[0].isupper()
            and re.match(r" [A-Z][a-z]", text[match.end() :])
        ):
            other = "sir"
        same = row.same
        if british:
            same, other = (_MOM.sub("mum", one) for one in (same, other))
        yield _cue(match, row.gender, other, same)


def _pronouns(
    text: str, tokens: Sequence[re.Match[str]], taken: Sequence[tuple[int, int]]
) -> tuple[list[Cue], str]:
    cues, unsure = [], ""
    for index, match in enumerate(tokens):
        word = match.group().lower()
        if word not in ("him", "his", "her", "hers") or inside(match.start(), taken):
            continue
        if word == "him":
            cues.append(_cue(match, MAN, "her"))
        elif word == "hers":
            cues.append(_cue(match, WOMAN, "his"))
        elif word == "his":
            alone = pronouns.his(text, tokens, index) == pronouns.OBJECT
            cues.append(_cue(match, MAN, "hers" if alone else "her"))
        else:
            kind = pronouns.her(text, tokens, index)
            cues.append(_cue(match, WOMAN, "his" if kind == pronouns.POSSESSIVE else "him"))
            if kind == pronouns.UNSURE:
                unsure = f"grammar not sure: “{text[match.start() : match.end() + 18].strip()}”"
    return cues, unsure


def _doubt(text: str, cues: Sequence[Cue]) -> str:
    """Names a reason if the words of a text do not agree."""
    if not cues:
        return ""
    starts = {cue.start for cue in cues}
    if (either := _EITHER.search(text)) and any(cue.same.lower() in _PRONOUNS for cue in cues):
        return f"perhaps two people: “{either.group()}”"
    if general := _people_in_general(text, cues):
        return f"the question is about gender: “{general}”"
    if word := _in_two_forms(text, cues):
        return f"perhaps the name of an account: “{word}”"
    if word := _word_left_as_it_is(text, cues):
        return f"a word for one gender that is not known: “{word}”"
    if word := _perhaps_a_name(text, cues):
        return f"perhaps a name: “{word}”"
    if (animal := _ANIMAL.search(text)) and not _tells_a_person(text, cues):
        return f"perhaps an animal or a thing: “{animal.group()}”"
    for hit in _NAMED_SO.finditer(text):
        if hit.start() in starts and hit[2].lower() not in names().gender:
            return f"a title that is part of a name: “{hit.group()}”"
    titled = [(cue, _titled_name(text, cue, cues)) for cue in cues if cue.same.lower() in _TITLES]
    for cue, name in titled:
        if name is not None and name.group != cue.group:
            return f"title and name disagree: “{text[cue.start : name.end]}”"
    return ""


def _people_in_general(text: str, cues: Sequence[Cue]) -> str:
    """Returns a plural that speaks of all women or men ("novels punish women who leave"): one that
    no article, number, possessive or adjective behind one of these makes definite. "" if none does.
    """
    for cue in cues:
        if cue.same.lower() not in _PLURALS:
            continue
        head = re.split(r"[.?!:;,\n]", text[: cue.start])[-1].lower().split()[-3:]
        if head and not any(word in _DEFINITE or word.isdigit() for word in head):
            return text[cue.start - len(head[-1]) - 1 : cue.end]
    return ""


def _in_two_forms(text: str, cues: Sequence[Cue]) -> str:
    """Returns a name that is written with and without a capital; "" if none is."""
    forms: dict[str, set[str]] = {}
    for cue in cues:
        if cue.person:
            forms.setdefault(cue.person, set()).add(text[cue.start : cue.start + 1])
    return next((name for name, initials in forms.items() if len(initials) > 1), "")


def _word_left_as_it_is(text: str, cues: Sequence[Cue]) -> str:
    """Returns a word such as “tollman” or “co-father” beside a cue of its gender, "" if there is
    none.
    """
    taken = [(cue.start, cue.end) for cue in cues]
    genders, table = {cue.group for cue in cues}, words()
    for hit in _KIN_OF_A_KIND.finditer(text):
        row = table.get(hit[1])
        if row and row.gender in genders and not row.when and not inside(hit.start(), taken):
            return hit.group()
    for hit in _ROLE.finditer(text):
        gender = WOMAN if hit[1] == "woman" else MAN
        if gender in genders and hit.group() not in _NO_ROLES and not inside(hit.start(), taken):
            return hit.group()
    return ""


def _perhaps_a_name(text: str, cues: Sequence[Cue]) -> str:
    """Returns a capitalised word that may be a name and was not read as one: beside a name any,
    else one of a cue's gender; "" if there is none.
    """
    table, genders = names(), {cue.group for cue in cues}
    named = {cue.group for cue in cues if cue.person}
    taken = [(cue.start, cue.end) for cue in cues]
    if not named:
        sought = genders
    else:
        sought = {WOMAN, MAN} - (named if len(named) == 1 else set())
    for hit in _CAPITALISED.finditer(text):
        low = hit.group().lower()
        starts = not re.search(r"[a-z,] $", text[: hit.start()])
        if (
            low in table.evidence
            and table.gender.get(low) in sought
            and not inside(hit.start(), taken)
            and not (starts and (named or low in _AUXILIARIES))
            and not is_a_place(text, hit)
            and not (named and may_be_a_place(low))
        ):
            return hit.group()
    return ""


def _tells_a_person(text: str, cues: Sequence[Cue]) -> bool:
    """True if a title, a word for a person or a name that is not an animal's is among the cues."""
    return any(
        not re.search(
            rf"{_ANIMAL.pattern},? (?:is )?(?:called |named )?{re.escape(cue.person)}", text, re.I
        )
        if cue.person
        else cue.same.lower() not in _PRONOUNS
        for cue in cues
    )


def _titled_name(text: str, title: Cue, cues: Sequence[Cue]) -> Cue | None:
    for cue in cues:
        if cue.person and re.fullmatch(r"\.?\s+", text[title.end : cue.start] or "-"):
            return cue
    return None
