"""The third-person pronouns that a text uses for its primary person: masculine, feminine, neutral,
mixed, none or neo.

    >>> someone = person("name", "Emery")
    >>> identify("I got them something for Emery. They will love it.", someone).label
    'neutral'
    >>> identify("Emery met Tom, who lost his hat.", someone).label
    'none'

Only pronouns count (with contractions, dialect forms, emphasis marks, inside and outside
quotations); nouns have a lexicon of their own. A pair for both ("he or she", "s/he") leaves the
gender open and counts as neutral. The rules of person.py and attribution.py find the referents; the
same text gives the same result on every machine. No model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ...languages.remembered import Remembered
from .cast import Marked
from .passage import WordToken, data, plain, tokens
from .person import Person, person
from .told import NOTHING, Told
from .whose import attribute

__all__ = ["CLASSES", "Found", "Person", "Reading", "identify", "mentions", "person"]
VERSION = "7"
MASCULINE, FEMININE, NEUTRAL, MIXED, NONE, NEO = CLASSES = (
    "masculine",
    "feminine",
    "neutral",
    "mixed",
    "none",
    "neo",
)
_PAIR = r"(?:{0})\s*(?:/|\bor\b)\s*(?:{1})|(?:{1})\s*(?:/|\bor\b)\s*(?:{0})"
_DOUBLE = re.compile(
    r"\b(?:" + _PAIR.format("he|him|his|himself", "she|hers|her|herself") + r"|s/he)\b|\(s\)he\b",
    re.IGNORECASE,
)
_LETTERS = re.compile("[a-z]+")


class Found(NamedTuple):
    """A pronoun. form: as written; whose: its referent, "primary", "other" or "plural" (several
    people or things); reference: the word for the referent, or ""."""

    form: str
    begin: int
    value: str
    whose: str
    quoted: bool
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The result for a text's pronouns. pairs: (reference, pronoun); mentions: all pronouns;
    chances: {label: its total probability over the ways to resolve the pronouns}, summing to 1.
    """

    label: str
    pairs: tuple[tuple[str, str], ...]
    mentions: tuple[Found, ...]
    chances: Mapping[str, float]

    @property
    def plural(self) -> int:
        """The number of pronouns for several people."""
        return sum(mention.whose == "plural" for mention in self.mentions)


@cache
def forms() -> Mapping[str, str]:
    """Returns {form: class}; includes contractions written without an apostrophe."""
    table: dict[str, str] = {}
    for value, cases in data()["forms"].items():
        for written in cases.values():
            table.update(dict.fromkeys(written, value))
    table.update({form: table[full] for form, full in data()["contracted"]["bare"].items()})
    return table


@cache
def _bare() -> frozenset[str]:
    """Returns all forms without apostrophes; a text that has no form needs no parsing."""
    return frozenset(form.strip("'") for form in forms())


def _has_form(chunk: str) -> bool:
    return not _bare().isdisjoint(_LETTERS.findall(chunk.lower()))


_with_form = Remembered(_has_form)


def identify(text: str, who: Person, told: Told = NOTHING) -> Reading:
    """Returns the class of the pronouns that a text uses for a person, with (reference, pronoun)
    pairs. told: the facts that the input gives.
    """
    found, chances = _attribute(text, who, told)
    mine = [one for one in found if one.whose == "primary"]
    pairs = tuple(dict.fromkeys((who.noun, one.form.lower()) for one in mine)) or (
        (who.noun, NONE),
    )
    likely: dict[str, float] = {}
    for values, chance in chances.items():
        likely[_label(values)] = likely.get(_label(values), 0.0) + chance
    return Reading(_label({one.value for one in mine}), pairs, tuple(found), likely)


def _label(values: Set[str]) -> str:
    """Returns the label of a set of classes of pronouns: the class, MIXED or NONE."""
    return NONE if not values else next(iter(values)) if len(values) == 1 else MIXED


def mentions(text: str, who: Person, told: Told = NOTHING) -> list[Found]:
    """Lists the third-person pronouns of a text in order, with their referents. told: the facts
    that the text's input gives about its people.
    """
    return _attribute(text, who, told)[0]


def _attribute(
    text: str, who: Person, told: Told
) -> tuple[list[Found], Mapping[frozenset[str], float]]:
    """Returns a text's pronouns with referents, and {set of the person's classes: probability}."""
    marked = marked_of(text)
    if marked is None:
        return [], {frozenset(): 1.0}
    whose, meant, chances = attribute(marked, who, told)
    flat = plain(text) if marked.doubles else ""
    doubles = _doubles(flat)
    attributed = []
    for at, value in marked.places.items():
        token = marked.found[at]
        form = _double_form(flat, token, doubles) if doubles else token.raw
        quoted = any(low < at < high for low, high in marked.spans)
        attributed.append(Found(form, token.begin, value, whose[at], quoted, meant[at]))
    return attributed, chances


def marked_of(text: str) -> Marked | None:
    """Returns a text's tokens with its pronouns and quotations; None if it has no pronoun. A
    pronoun that is only mentioned as a word ("they/them", 'the word "she"') does not count.
    """
    flat = plain(text)
    if not any(map(_with_form.__getitem__, flat.split(" "))):
        return None
    words = tokens(flat)
    table = forms()
    marks = [at for at, token in enumerate(words) if token.word in table]
    values = [table[words[at].word] for at in marks]
    doubles = (
        _doubles(flat)
        if "/" in flat or "(" in flat or (MASCULINE in values and FEMININE in values)
        else []
    )
    may_name = "/" in flat or '"' in flat
    places: dict[int, str] = {}
    for at, value in zip(marks, values, strict=True):
        begin = words[at].begin
        if (
            (value != NEO or _is_neo(words, at))
            and not (doubles and any(low <= begin < high for low, high in doubles))
            and not (may_name and _is_named(words, at))
        ):
            places[at] = value
    for low, _ in doubles:
        at = next(i for i, token in enumerate(words) if token.begin + len(token.raw) > low)
        places[at] = NEUTRAL
    if not places:
        return None
    spans = _quotations(words) if '"' in flat else []
    begins = frozenset(low for low, _ in doubles)
    lines = "\n" in flat and (":" in flat or "|" in flat)
    return Marked(words, dict(sorted(places.items())), spans, begins, lines)


def _is_named(found: Sequence[WordToken], at: int) -> bool:
    """True if a pronoun is only mentioned as a word: alone in quotes, or next to a slash."""
    before = found[at - 1].word if at else ""
    after = found[at + 1].word if at + 1 < len(found) else ""
    return (before == '"' and after == '"') or (
        "/" in (before, after)
        and any(
            found[place].word in forms() for place in (at - 2, at + 2) if 0 <= place < len(found)
        )
    )


def _doubles(text: str) -> list[tuple[int, int]]:
    """Returns the (start, end) offsets of "he or she", "s/he" and the like."""
    return (
        [match.span() for match in _DOUBLE.finditer(text)]
        if "/" in text or " or " in text or "(s)" in text.lower()
        else []
    )


def _double_form(text: str, token: WordToken, doubles: Sequence[tuple[int, int]]) -> str:
    """Returns the words "he or she" if they begin at the token; else the token as written."""
    for low, high in doubles:
        if token.begin <= low < token.begin + len(token.raw):
            return text[low:high]
    return token.raw


def _is_neo(found: Sequence[WordToken], at: int) -> bool:
    """True if a form that also is another word is used as a neopronoun in this text."""
    rules = data()["neo"]
    partners = rules["doubtful"].get(found[at].word)
    if partners is None:
        return True
    if any(token.word in partners for token in found) or found[at].raw.lower() != found[at].word:
        return True
    return found[at].word != "em" and at + 1 < len(found) and found[at + 1].word in rules["verbs"]


def _quotations(found: Sequence[WordToken]) -> list[tuple[int, int]]:
    """Returns the (opening, closing) token indices of double quotation marks."""
    marks = [at for at, token in enumerate(found) if token.word == '"']
    return list(zip(marks[::2], marks[1::2], strict=False))
