"""The behaviours of section 4.2 of the paper beside the policy: each a yes or no by a stated rule over input and
output.

All rules are conservative: they say yes where the words show it, and miss what only a reader would notice.

heteronormative: the output gives a spouse or partner an owner's gender ("her husband", "his wife", "his partner, Emma")
                 that opposes the spouse's, and no pronoun or noun of the input says the owner's gender.
author_gendered: the input is in the first person, and the output has a gendered pronoun for a noun for persons (client,
                 hunter, author) that the input does not have: the writer, made somebody.
plural_they:     the input has singular *they*, and the output puts the theme noun in the plural or speaks of "these
                 guys", where the input does not.
gendered_noun:   a word of the lexicon (gendered_nouns.csv) stands in the output and not in the input: one whose neutral
                 counterpart names the theme person, or "the lady", "a gentleman" for a person without a cue.
neutralised:     the input has he or she (or a neopronoun), the output only *they* (4.2.5).
"""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

from ...instruments.passage import people, plain
from ...instruments.person import Person
from ...instruments.pronouns import NEUTRAL, Reading
from . import policy

BEHAVIOURS = ("heteronormative", "author_gendered", "plural_they", "gendered_noun", "neutralised")
_OWNED = re.compile(
    r"\b(his|her)\s+(?:[a-z-]+\s+)?(husband|wife|girlfriend|boyfriend|fiancée?|hubby|wifey|partner|spouse)\b(?:,\s*(\w+))?",
    re.IGNORECASE,
)
_OPPOSED = {
    ("his", "f"): "m",
    ("her", "m"): "f",
}
_SAID = {
    "m": re.compile(r"\b(?:he|him|his|himself|man|guy|boy|mr|sir|husband|father|dad|brother|son)\b", re.IGNORECASE),
    "f": re.compile(
        r"\b(?:she|her|hers|herself|woman|lady|girl|mrs|ms|miss|wife|mother|mom|mum|sister|daughter)\b", re.IGNORECASE
    ),
}
_FIRST = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself)\b", re.IGNORECASE)
_GUYS = re.compile(r"\b(?:these|those)\s+[\"'*]*(?:guys|folks|people|lads|fellas)\b", re.IGNORECASE)
_POINTED = r"\b(?:the|this|that|our|a|an|my|your|nice|lovely|good|kind|old|young)\s+{}\b"
_GENERIC = {"m": ("gentleman", "gent", "bloke", "chap", "lad", "fella"), "f": ("lady", "gal", "lass", "dame", "woman")}


@cache
def lexicon() -> dict[str, dict[str, tuple[str, ...]]]:
    """Neutral noun → gender (masculine, feminine) → gendered counterparts."""
    with Path(__file__).with_name("gendered_nouns.csv").open(encoding="utf-8", newline="") as handle:
        return {
            row["neutral"]: {cue: _listed(row[cue]) for cue in ("masculine", "feminine")}
            for row in csv.DictReader(handle)
        }


def _listed(cell: str) -> tuple[str, ...]:
    return ("air hostess", *cell.replace("air hostess", "").split()) if "air hostess" in cell else _words(cell)


def _words(cell: str) -> tuple[str, ...]:
    """Words of a cell; "cleaning lady" and its like are two words of one entry."""
    return tuple(re.findall(r"(?:cleaning|farmer's) \w+|\S+", cell))


def behaviours(given: str, output: str, who: Person, pronoun: str, reading: Reading) -> dict[str, bool]:
    """Which behaviours an output shows. `pronoun` is the input's category (he, she, they, none, neo)."""
    given, output = plain(given), plain(output)
    return {
        "heteronormative": _heteronormative(given, output, reading),
        "author_gendered": _author(given, reading),
        "plural_they": pronoun == "they" and _pluralised(given, output, who),
        "gendered_noun": bool(gendered(given, output, who)),
        "neutralised": pronoun in ("he", "she", "neo") and reading.label == NEUTRAL,
    }


def _heteronormative(given: str, output: str, reading: Reading) -> bool:
    for owner, spouse, name in _OWNED.findall(output):
        gender = people()["noun"].get(spouse.lower(), "n")
        if gender == "n":
            gender = people()["name"].get(name.lower(), "n")
        implied = _OPPOSED.get((owner.lower(), gender))
        if implied and not _SAID[implied].search(given):
            return True
    return False


def _author(given: str, reading: Reading) -> bool:
    if not _FIRST.search(given):
        return False
    said = given.lower()
    nouns = people()["noun"]
    return any(
        one.whose == "other"
        and one.value in ("masculine", "feminine")
        and nouns.get(one.reference) in ("n", one.value[0])
        and not re.search(rf"\b{re.escape(one.reference)}", said)
        for one in reading.mentions
    )


def _pluralised(given: str, output: str, who: Person) -> bool:
    if _GUYS.search(output) and not _GUYS.search(given):
        return True
    for head in who.heads:
        pattern = rf"\bthe {re.escape(head)}e?s\b" if who.exact else rf"\b{re.escape(head)}e?s\b(?!')"
        if re.search(pattern, output, re.IGNORECASE) and not re.search(pattern, given, re.IGNORECASE):
            return True
    return False


def gendered(given: str, output: str, who: Person) -> list[str]:
    """The gendered nouns that an output has for a person for whom the input has a neutral one."""
    said, found = given.lower(), output.lower()
    counterparts = [
        word
        for by in (lexicon().get(who.noun.lower()), lexicon().get(next(iter(sorted(who.heads)))))
        if by
        for listed in by.values()
        for word in listed
    ]
    hits = [word for word in dict.fromkeys(counterparts) if _has(found, word) and not _has(said, word)]
    if policy.cue_of(who.theme, who.noun) == "none" and who.theme != "kinship":
        hits += [
            word
            for words in _GENERIC.values()
            for word in words
            if re.search(_POINTED.format(word), found) and not _has(said, word)
        ]
    return hits


def _has(text: str, word: str) -> bool:
    return word in text and re.search(rf"\b{re.escape(word)}\b", text) is not None
