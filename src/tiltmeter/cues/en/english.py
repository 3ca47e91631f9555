"""Reads an English prompt: the cues of an attribute in it, or the reason to leave it alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..matched import Picker
from ..records import PLACEHOLDER, Cue, apply, like
from . import gender, groups
from .given_names import ORGANISATION
from .protected import protected_spans
from .tables import known_people, matters, names
from .tokens import inside

_FACT = re.compile(
    r"\b(?:who (?:was|is|were|wrote|said|won|directed|invented|founded)|tell me about|"
    r"(?:what|when|why|how|where) did|biograph\w*|fan ?fic\w*|(?:in )?(?:what|which) year|"
    r"how many (?:albums|books|films|movies|goals|points|games|oscars|grammys|medals|titles)|"
    r"(?:rookie|world cup|championship|grand slam|wimbledon|grammy|oscar|nobel)\w*|"
    r"co-?stars?|starr(?:ed|ing)|net worth|how (?:old|tall|rich) is|cast of|season \d|"
    r"(?:taller|older|younger|richer) than|(?:married|related) to|quotes? (?:by|from)|"
    r"(?:in|from) the (?:book|novel|film|movie|series|show|play))\b",
    re.IGNORECASE,
)
_WORKS = (
    r"songs?|albums?|novels?|films?|movies?|paintings?|poems?|plays?|concerts?|hits?|"
    r"discograph\w*|tours?|speech(?:es)?|symphon\w*|podcasts?|sonnets?"
)
# A person whose works are spoken of: "a song by", "songs like", "her latest album".
_WORK = (
    rf"\b(?:{_WORKS}) (?:by|like|from) (?:\w+ )?NAME\b|"
    rf"\bNAME(?: [^\W\d_]+)?[’']s (?:(?:new|latest|first|last|best|early|greatest) )?(?:{_WORKS})\b"
)
_FULL_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]+ [A-Z][a-zà-ÿ]+\b")
_CAPITAL = re.compile(r"\b[A-Z][a-zà-ÿ]+\b")
_VOWEL = re.compile(
    r"(?:[aeio]|u(?!n[iv]|s|k|t)|heir|hour|honest|honou?r|8|11(?!\d)|18(?!\d))", re.IGNORECASE
)
_BEFORE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)


class CueReading(NamedTuple):
    """The cues of a prompt, and why they are left alone ("" if they are not)."""

    cues: tuple[Cue, ...]
    reason: str = ""


def read(text: str, attribute: str, picker: Picker) -> CueReading:
    """Reads the cues of an attribute."""
    spans = protected_spans(text)
    if attribute == "gender":
        cues, reason = gender.find(text, spans, picker)
    else:
        cues, reason = groups.find(text, spans, attribute, picker)
    person = _known_person(text, cues)
    if person and (cues or attribute in ("gender", "race")):
        return CueReading(tuple(cues), f"a known person: “{person}”")
    because = _matter(text, attribute)
    if not cues:
        return CueReading((), because if because and groups.mentions(text, attribute) else reason)
    reason = because or _fact_about(text, cues) or _in_code(text, spans, cues) or reason
    return CueReading(tuple(cues), reason)


def masked(text: str, attributes: Sequence[str]) -> list[tuple[int, int, str]]:
    """Returns edits that put a placeholder in place of each cue, with its genitive kept; a word of
    groups that the other version leaves out is left out.
    """
    edits: dict[int, tuple[int, int, str]] = {}
    picker = Picker("", 0)
    for attribute in attributes:
        if attribute == "gender":
            cues, _ = gender.find(text, [], picker)
        else:
            cues, _ = groups.find(text, [], attribute, picker)
        for cue in cues:
            new = PLACEHOLDER if cue.other_text else ""
            edits.setdefault(cue.start, (cue.start, cue.end, new))
    if {"gender", "race"} & set(attributes):
        known, taken = names().gender, [(start, end) for start, end, _ in edits.values()]
        for match in _CAPITAL.finditer(text):
            if match.group().lower() in known and not inside(match.start(), taken):
                edits.setdefault(match.start(), (*match.span(), PLACEHOLDER))
    return list(edits.values())


def edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Returns a text with edits made, and the articles before them mended."""
    return apply(text, [*_articles(text, edits), *edits])


def _articles(text: str, edits: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Returns edits of “a” and “an” before words that begin otherwise than those they replace."""
    more = []
    for start, end, new in edits:
        article = _BEFORE.search(text[:start])
        new = new or text[end:].lstrip()
        if article is None or not new or not text[start:end]:
            continue
        vowel = bool(_VOWEL.match(new))
        if vowel != bool(_VOWEL.match(text[start:])):
            want = like(article[1], "an" if vowel else "a")
            more.append((article.start(1), article.end(1), want))
    return more


def _known_person(text: str, cues: Sequence[Cue]) -> str:
    """Returns a known person as written; "" if there is none. One word is a name if it has a
    capital or was read as a given name: "cher" and "drake" are words too.
    """
    given = {cue.person for cue in cues if cue.person}
    for match in known_people().finditer(text):
        name = match.group()
        if ORGANISATION.match(text[match.end() :]):
            continue  # "Queen Elizabeth Hall"
        if " " in name or name[:1].isupper() or name.lower() in given:
            return name
    return ""


def _matter(text: str, attribute: str) -> str:
    """Names the subject, and the words, by which a cue of this attribute matters."""
    for reason, pattern in matters(attribute):
        if hit := pattern.search(text):
            return f"{reason}: “{hit.group().strip()}”"
    return ""


def _fact_about(text: str, cues: Sequence[Cue]) -> str:
    """Names a person with a full name of whom a fact is asked."""
    people = {cue.person.split("-")[0] for cue in cues if cue.person}
    for full in _FULL_NAME.finditer(text):
        if full.group().split()[0].lower() in people and _FACT.search(text):
            return f"perhaps a known person: “{full.group()}”"
    for person in people:
        if work := re.search(_WORK.replace("NAME", re.escape(person)), text, re.IGNORECASE):
            return f"perhaps a known person: “{work.group()}”"
    return ""


def _in_code(text: str, spans: Sequence[tuple[int, int]], cues: Sequence[Cue]) -> str:
    """Names a name that stands in code or an address too, which is never edited."""
    for person in {cue.person for cue in cues if cue.person}:
        for start, end in spans:
            parts = re.split(r"[^a-zà-ÿ]+", text[start:end].lower())
            if person in parts:
                return f"the name stands in code or an address: “{text[start:end][:40]}”"
    return ""


def left_over(text: str, cues: Sequence[Cue]) -> str:
    """Names a reason if a name that was swapped is still in the other version, in any form: "Grace"
    with a capital, as "grace" is a word, and "Will" before a sentence's subject too.
    """
    for name in {cue.person for cue in cues if cue.person}:
        for hit in re.finditer(rf"(?<![^\W\d_]){re.escape(name)}(?![^\W\d_])", text, re.IGNORECASE):
            if name in names().evidence and _is_word(text, hit):
                continue
            return f"the name is left over in another form: “{name.title()}”"
    return ""


def _is_word(text: str, hit: re.Match[str]) -> bool:
    """True if a word that may be a name too is none in this place."""
    if hit.group().islower():
        return True
    asks = re.search(r"(?:^|[.?!\n]) ?$", text[: hit.start()])
    return bool(hit.group() in ("Will", "May") and asks and not text[hit.end() :].startswith("'"))
