"""Finds the cues of an attribute in an English prompt, or the reason to leave the prompt alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..matched import Picker
from ..records import PLACEHOLDER, Cue, apply, like
from . import gender, groups
from .given_names import PRONOUNS, may_be_a_place
from .leave_alone import known_person, matter, reason_beside_cues, reason_without_cues
from .protected import protected_spans
from .tables import names, plain
from .tokens import inside

_CAPITAL = re.compile(r"\b[A-Z][a-zà-ÿ]+\b")
_VOWEL = re.compile(
    r"(?:[aeio]|u(?!n[iv]|s|k|t)|heir|hour|honest|honou?r|8|11(?!\d)|18(?!\d))", re.IGNORECASE
)
_OF_A_PLACE = re.compile(r"\b(?:the|her|his|my|our) $", re.IGNORECASE)  # "her April shift"
_TWICE = re.compile(r"\b(\w+)\.?,?(?: ?/ ?| vs\.? | versus | or | and )\1\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)


class CueReading(NamedTuple):
    """The cues of a prompt. reason: why the prompt is left alone, or ""."""

    cues: tuple[Cue, ...]
    reason: str = ""


def read(text: str, attribute: str, picker: Picker) -> CueReading:
    """Returns the cues of an attribute in a text, or the reason not to edit the text."""
    spans = protected_spans(text)
    if attribute == "gender":
        cues, reason = gender.find(text, spans, picker)
    else:
        cues, reason = groups.find(text, spans, attribute, picker)
    person = known_person(text)
    if person and (cues or attribute in ("gender", "race")):
        return CueReading(tuple(cues), f"a known person: “{person}”")
    if named := matter(text, f"{attribute}!"):  # needs no other cue
        return CueReading(tuple(cues), named)
    because = matter(text, attribute)
    if not cues:
        return CueReading((), reason_without_cues(text, attribute, spans, because) or reason)
    return CueReading(tuple(cues), because or reason_beside_cues(text, spans, cues) or reason)


def masked(text: str, attributes: Sequence[str]) -> list[tuple[int, int, str]]:
    """Returns edits (start, end, new text) that replace each cue by a placeholder and keep its
    genitive; a cue that the other version omits is removed.
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
            if plain(match.group()) in known and not inside(match.start(), taken):
                edits.setdefault(match.start(), (*match.span(), PLACEHOLDER))
    return list(edits.values())


def edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Returns a text with the edits made and the articles before them corrected."""
    return apply(text, [*_articles(text, edits), *edits])


def _articles(text: str, edits: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Returns edits of “a” and “an” before replaced words whose first sound changes."""
    more = []
    for start, end, new in edits:
        article = _BEFORE.search(text, max(0, start - 9), start)
        new = new or text[end:].lstrip()
        if article is None or not new or not text[start:end]:
            continue
        vowel = bool(_VOWEL.match(new))
        if vowel != bool(_VOWEL.match(text[start:])):
            want = like(article[1], "an" if vowel else "a")
            more.append((article.start(1), article.end(1), want))
    return more


def left_over(text: str, cues: Sequence[Cue]) -> str:
    """Returns a reason if the other version still has a swapped name in any form ("Grace" only with
    a capital, as "grace" is a word; "Will" not as a question's first word), or if two words that
    were different became equal: “mr vs mr”. "" if neither.
    """
    nouns = {cue.other_text.lower() for cue in cues if not cue.person} - PRONOUNS
    if (twice := _TWICE.search(text)) and twice[1].lower() in nouns:
        return f"two words would become one: “{twice.group()}”"
    for name in {cue.person for cue in cues if cue.person}:
        for hit in re.finditer(rf"(?<![^\W\d_]){re.escape(name)}(?![^\W\d_])", text, re.IGNORECASE):
            if name in names().evidence and _is_word(text, hit):
                continue
            return f"the name is left over in another form: “{name.title()}”"
    return ""


def _is_word(text: str, hit: re.Match[str]) -> bool:
    """True if a word that may also be a name is not a name at this position."""
    if hit.group().islower():
        return True
    if may_be_a_place(plain(hit.group())) and _OF_A_PLACE.search(text[: hit.start()]):
        return True
    asks = re.search(r"(?:^|[.?!\n]) ?$", text[: hit.start()])
    return bool(hit.group() in ("Will", "May") and asks and not text[hit.end() :].startswith("'"))
