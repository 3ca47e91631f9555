"""The paired corpus: one text in versions that differ in the pronoun, and in the noun.

families.jsonl has 144 texts with slots; `rows` expands them to 1,120 texts:

    {they were/was|the kid was} late   left of the bar with a pronoun; right of it without one
    {don't/doesn't}                    agreement alone needs no bar; without a pronoun: singular
    <>  <^>                            the theme noun, as it is and with a capital
    <aunt|uncle|cousin>                a word that goes with the noun: female, male, neutral

In a slot the forms of *they* stand for the version's pronoun, and a/b for the plural and the
singular of a verb. Pronouns outside slots are other people's.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypedDict

from ...instruments.rewrites.neopronouns import pronoun_sets
from .names_of_people import pronouns

GENDERS = ("female", "male", "neutral")
VERSIONS = ("he", "she", "they", "none")
THEY = ("they", "them", "their", "theirs", "themself")
_GENDERED = {
    "they": THEY,
    "he": ("he", "him", "his", "his", "himself"),
    "she": ("she", "her", "her", "hers", "herself"),
}
_SLOT = re.compile(r"\{([^{}|]*)(?:\|([^{}]*))?\}")
_NOUN = re.compile(r"<([^<>]*)>")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*(?:/[^\W\d_]+(?:'[^\W\d_]+)*)?")


class TextFamily(TypedDict, total=False):
    """A line of families.jsonl. nouns: female, male, neutral → the noun (one or three of them);
    category: set if the noun is the same in all versions.
    """

    id: str
    theme: str
    category: str
    nouns: dict[str, str]
    form: str
    styles: list[str]
    length: str
    kin_name: bool
    leaks_ok: list[str]
    template: str


class PairedText(NamedTuple):
    """One version of a text. others: {pronoun form of another person: occurrences}."""

    id: str
    family: str
    theme: str
    category: str
    pronoun: str
    noun: str
    noun_gender: str
    exchanged: bool
    crossed: bool
    length: str
    form: str
    styles: tuple[str, ...]
    leaks_ok: tuple[str, ...]
    others: dict[str, int]
    text: str


def families() -> list[TextFamily]:
    """Reads the shipped families, in their order."""
    source = Path(__file__).with_name("families.jsonl")
    return [json.loads(line) for line in source.read_text("utf-8").splitlines()]


def texts(versions: Iterable[str] = VERSIONS) -> list[PairedText]:
    """Expands all families. versions: the pronouns: he, she, they, none, or a neopronoun."""
    return [text for family in families() for text in expand(family, tuple(versions))]


def rows(versions: Iterable[str] = VERSIONS) -> list[dict[str, str]]:
    """Returns the expanded texts as rows of a protocol's table."""
    answers = {True: "yes", False: "no"}
    return [
        {
            "id": text.id,
            "theme": text.theme,
            "category": text.category,
            "pronoun": text.pronoun,
            "noun": text.noun,
            "text": text.text,
            "family": text.family,
            "noun_gender": text.noun_gender,
            "exchanged": answers[text.exchanged],
            "crossed": answers[text.crossed],
            "length": text.length,
            "second_person": answers[bool(text.others)],
        }
        for text in texts(versions)
    ]


def expand(family: TextFamily, versions: tuple[str, ...] = VERSIONS) -> Iterator[PairedText]:
    """Yields the texts of one family, by noun and version."""
    nouns = family["nouns"]
    for gender, noun in nouns.items():
        category = family.get("category") or gender
        template = with_noun(family["template"], nouns, gender)
        for version in versions:
            yield PairedText(
                f"{family['id']}-{gender}-{version}",
                family["id"],
                family["theme"],
                category,
                version,
                noun,
                gender,
                len(nouns) > 1,
                _is_crossed(version, category if family["theme"] == "name" else gender),
                family["length"],
                family["form"],
                tuple(family["styles"]),
                tuple(family.get("leaks_ok", ())),
                others(template, version),
                render(template, version),
            )


def with_noun(template: str, nouns: dict[str, str], gender: str) -> str:
    """Fills a template with the theme noun of a gender and the words that go with this noun."""
    return _NOUN.sub(partial(_noun, nouns[gender], GENDERS.index(gender)), template)


def _noun(noun: str, gender: int, match: re.Match[str]) -> str:
    if "|" in match[1]:
        return match[1].split("|")[gender]
    return noun[0].upper() + noun[1:] if match[1] == "^" else noun


def render(template: str, pronoun: str) -> str:
    """Fills a template with a pronoun ("none": with the wording that needs no pronoun).

    >>> render("{They were/was|Sam was} late and he saw {them|it}.", "she")
    'She was late and he saw her.'
    """
    return _SLOT.sub(partial(_fill_slot, pronoun), template)


def _fill_slot(pronoun: str, match: re.Match[str]) -> str:
    if pronoun == "none" and match[2] is not None:
        return match[2]
    return _WORD.sub(lambda word: inflect(word[0], pronoun), match[1])


def others(template: str, pronoun: str) -> dict[str, int]:
    """Counts the pronouns of other people in a version: {form: occurrences}.

    >>> others("{They were/was|Sam was} late and he saw {them|it}.", "she")
    {'he': 1}
    """

    def without(match: re.Match[str]) -> str:
        if pronoun == "none" and match[2] is not None:
            return match[2]
        return _WORD.sub(lambda word: "" if _base(word[0]) in THEY else word[0], match[1])

    return dict(sorted(Counter(pronouns(_SLOT.sub(without, template))).items()))


def _base(word: str) -> str:
    return word.partition("'")[0].lower()


def inflect(word: str, pronoun: str) -> str:
    """Inflects a word of a slot: a form of they, or plural/singular; leaves others unchanged."""
    plural, slash, singular = word.partition("/")
    if slash:
        return plural if pronoun == "they" else singular
    base, apostrophe, clitic = word.partition("'")
    if base.lower() not in THEY or pronoun in ("they", "none"):
        return word
    form = forms(pronoun)[THEY.index(base.lower())]
    form = form[0].upper() + form[1:] if base[0].isupper() else form
    return form + apostrophe + ("s" if clitic in ("re", "ve") else clitic)


def forms(pronoun: str) -> tuple[str, ...]:
    """Returns (subject, object, determiner, possessive, reflexive) of a pronoun."""
    if pronoun in _GENDERED:
        return _GENDERED[pronoun]
    pronouns = pronoun_sets()[pronoun]
    return (
        pronouns.subject,
        pronouns.object,
        pronouns.determiner,
        pronouns.possessive,
        pronouns.reflexive,
    )


def _is_crossed(version: str, gender: str) -> bool:
    """True for he with a female noun (or list of names), or she with a male one."""
    return (version, gender) in {("he", "female"), ("she", "male")}
