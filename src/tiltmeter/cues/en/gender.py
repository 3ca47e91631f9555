"""Finds cues of gender: pronouns, given names, titles, kin, partners and words for a role."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..matched import Picker
from ..records import Cue, like
from . import pronouns
from .given_names import PRONOUNS, GivenName, any_of, genders_of, given_names
from .tables import MAN, OTHER, PERSON, WOMAN, names, not_cues, words
from .tokens import WORD, inside, near
from .unread import SPEAKING, part_of_a_name, perhaps_a_name, unread_word

# Mr says nothing of a marriage, so its counterpart is Ms: unless both spouses are there.
_TITLES = {"mr": (MAN, "ms"), "ms": (WOMAN, "mr"), "mrs": (WOMAN, "mr"), "miss": (WOMAN, "mr")}
_TITLE = re.compile(r"\b(mr|mrs|ms|miss)\b(?=\.?\s+[^\W\d_])", re.IGNORECASE)
_CONTRACTION = re.compile(r"[’']")
_ANOTHERS = re.compile(r"\b(?:his|her) $", re.IGNORECASE)
_NAMED_SO = re.compile(
    r"\b(Father|Mother|Sister|Brother|Lady|Lord|Sir|King|Queen|Prince|Princess) ([A-Z][a-z]+)"
)

_ANIMAL = re.compile(rf"\b(?:{any_of('animals')})\b(?![- ]{PERSON}\b)", re.IGNORECASE)
_MOM = re.compile(r"mom\b|mom(?=s\b|my\b)")
_BRITISH = re.compile(
    rf"\b(?:{any_of('british')}|colour\w*|favour\w*|neighbour\w*|ring up|"
    r"me (?:step-?|older |big |little )?(?:dad|mam|nan|mate|brother|sister|uncle|auntie))\b|£",
    re.IGNORECASE,
)
_PIECES = ("king", "queen")
_GAME = re.compile(rf"\b(?:{any_of('games')})\b", re.IGNORECASE)
_HERS = re.compile(r"her[’']s\b(?! \w+ing\b)", re.IGNORECASE)  # for hers
_OLD = re.compile(r"\b(?:a|old|older|elderly|young) $", re.IGNORECASE)
_CALLED = re.compile(r"\b(?:called|named) $", re.IGNORECASE)
_TURN = re.compile(r"^[ >*]*[A-Z]\w+(?: \d)?: ", re.MULTILINE)
_ADDRESS = re.compile(r"\b(?:sir|madam|ma[’']?am)$", re.IGNORECASE)
# "(f, 20)", "(27F)" and "Pt f/29"
_SEX = re.compile(
    r"(?<=\()([fm])(?=(?:[,/]? ?\d\d)?\))|(?<=\(\d\d)([fm])(?=\))|(?<=\bpt )([fm])(?=[/ ]?\d\d\b)"
    r"|(?<=\b\d\d)([fm])(?= here\b)",
    re.IGNORECASE,
)
_SEXES = {"f": (WOMAN, "m"), "m": (MAN, "f")}
_PLURALS = frozenset(any_of("plurals").split("|"))
_DEFINITE = frozenset(any_of("definite").split("|"))
_ABOUT = ("of", "for", "by", "about", "among")  # "the patron of mothers"
_EITHER = re.compile(
    r"\b(?:her or him|him or her|hers or his|his or hers|she or he)\b", re.IGNORECASE
)


def find(text: str, spans: Sequence[tuple[int, int]], picker: Picker) -> tuple[list[Cue], str]:
    """Returns the cues of gender in a text, and a reason if they are uncertain, else ""."""
    phrases = not_cues().finditer(text)
    if len(_TURN.findall(text)) > 1:  # in a dialogue "Thank you, sir" speaks to one of its people
        phrases = (match for match in phrases if not _ADDRESS.search(match.group()))
    spans = [*spans, *(match.span() for match in phrases)]
    tokens = [match for match in WORD.finditer(text) if not inside(match.start(), spans)]
    lower = [match.group().lower() for match in tokens]
    genders = genders_of(lower)
    given = given_names(text, spans, genders)
    named = [(one.start, one.end) for one in given]
    cues = [_name_cue(one, picker) for one in given]
    genders |= {one.gender for one in given}
    cues += _titles(text, spans, lower)
    cues += _words(text, [*spans, *named], genders, lower)
    cues += [_cue(hit, *_SEXES[hit.group().lower()]) for hit in _SEX.finditer(text)]
    taken = [(cue.start, cue.end) for cue in cues]
    more, unsure = _pronouns(text, tokens, taken)
    cues += more
    return sorted(cues, key=lambda cue: cue.start), unsure or _doubt(text, spans, cues)


def _cue(match: re.Match[str], gender: str, other: str, same: str = "") -> Cue:
    word = match.group()
    same = like(word, same) if same and same != word.lower() else word
    return Cue(match.start(), match.end(), gender, OTHER[gender], same, like(word, other))


def _name_cue(given: GivenName, picker: Picker) -> Cue:
    person = given.text.lower()
    named = picker.pick("gender", person).names
    group, other = ("women", "men") if given.gender == WOMAN else ("men", "women")
    same, exchanged = named["younger", group], named["younger", other]
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
    table, british, game = words(), _BRITISH.search(text), _GAME.search(text)
    for match in _pattern().finditer(text):
        if inside(match.start(), spans):
            continue
        word = match.group().lower()
        row = table[word]
        if game and row.other in _PIECES:
            continue
        if row.when == "never" or (
            row.when and row.gender not in genders and row.other not in lower
        ):
            continue
        if row.when and _ANOTHERS.search(near(text, match.start())):
            continue  # "his landlord": the pronoun is another person's
        if row.when and _CONTRACTION.match(text[match.end() :]) and row.gender not in genders:
            continue
        other = row.other
        if re.match(r" [A-Z][a-z]", text[match.end() :]):  # before a name
            other = {"sir": "lady", "Sir": "lady", "Lady": "sir"}.get(match.group(), other)
        same = row.same
        if word == "lady" and _OLD.search(near(text, match.start())):
            same, other = word, "gentleman"
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
        elif word == "her" and (wrong := _HERS.match(text, match.start())):
            cues.append(_cue(wrong, WOMAN, "his", "hers"))
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


def _doubt(text: str, spans: Sequence[tuple[int, int]], cues: Sequence[Cue]) -> str:
    """Returns a reason if the gendered words of a text disagree or are unclear, else ""."""
    if not cues:
        return ""
    starts = {cue.start for cue in cues}
    if (either := _EITHER.search(text)) and any(cue.same.lower() in PRONOUNS for cue in cues):
        return f"perhaps two people: “{either.group()}”"
    if general := _people_in_general(text, cues):
        return f"the question is about gender: “{general}”"
    if word := _in_two_forms(text, cues):
        return f"perhaps the name of an account: “{word}”"
    if reason := unread_word(text, spans, cues):
        return reason
    if word := part_of_a_name(text, cues):
        return f"part of a name: “{word}”"
    if word := perhaps_a_name(text, spans, cues):
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
    """Returns a plural that means women or men in general ("novels punish women who leave"): no
    article, number or possessive (perhaps with an adjective after it) makes it definite. "" if
    there is none."""
    for cue in cues:
        if cue.same.lower() not in _PLURALS:
            continue
        head = re.split(r"[.?!:;,\n]", text[: cue.start])[-1].lower().split()[-3:]
        if head and head[-1] in SPEAKING:
            head = head[-1:]  # "My ex says mothers always win"
        remainder = head[max((n + 1 for n, word in enumerate(head) if word in _ABOUT), default=0) :]
        if head and head[-1] in _ABOUT and head[-2:-1] and head[-2] in _DEFINITE:
            remainder = head  # "a group of women"
        if not any(word in _DEFINITE or word.isdigit() for word in remainder):
            return text[cue.start - (len(head[-1]) + 1 if head else 0) : cue.end]
    return ""


def _in_two_forms(text: str, cues: Sequence[Cue]) -> str:
    """Returns a name that the text has both with and without a capital, or ""."""
    forms: dict[str, set[str]] = {}
    for cue in cues:
        if cue.person:
            forms.setdefault(cue.person, set()).add(text[cue.start : cue.start + 1])
    return next((name for name, initials in forms.items() if len(initials) > 1), "")


def _tells_a_person(text: str, cues: Sequence[Cue]) -> bool:
    """True if a cue is a title, a noun for a person, or a name that is not an animal's."""
    return any(
        not re.search(
            rf"{_ANIMAL.pattern},? (?:is )?(?:called |named )?{re.escape(cue.person)}", text, re.I
        )
        if cue.person
        else cue.same.lower() not in PRONOUNS and not _CALLED.search(text[: cue.start])
        for cue in cues
    )


def _titled_name(text: str, title: Cue, cues: Sequence[Cue]) -> Cue | None:
    for cue in cues:
        if cue.person and re.fullmatch(r"\.?\s+", text[title.end : cue.start] or "-"):
            return cue
    return None
