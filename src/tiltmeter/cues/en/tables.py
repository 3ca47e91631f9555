"""The tables of words in this folder, read once."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ...row_files import own_rows
from ..matched import sets

_HERE = Path(__file__).parent
WOMAN, MAN = "woman", "man"
OTHER = {WOMAN: MAN, MAN: WOMAN}
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "ß": "ss", "æ": "ae"})
GROUPS = tomllib.loads((_HERE / "groups.toml").read_text("utf-8"))
PERSON = f"(?:{re.sub(chr(10), '', GROUPS['people'])})"  # a pattern of nouns of people
_WHEN = {  # (in the table, gender) → of the word: an actor may be anybody, an actress may not
    ("agrees", MAN): "agrees",
    ("title", WOMAN): "agrees",
    ("title", MAN): "agrees",
    ("never", MAN): "never",
}


class GenderedWord(NamedTuple):
    """A gendered word. other: its counterpart for the other gender.

    when: "" if it is always a cue; "agrees" if only next to a pronoun or name of the same gender,
    or to its counterpart; "never". same: the word for its own gender in the counterpart's register.
    """

    gender: str
    other: str
    when: str
    same: str


class Names(NamedTuple):
    """Given names in lower case, without accents.

    gender: {name: its gender}; evidence: names that are also other words; black: names that cue
    race; both: names that women and men alike have.
    """

    gender: Mapping[str, str]
    evidence: frozenset[str]
    black: frozenset[str]
    both: frozenset[str]


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """Returns a name in lower case without accents, as in the tables: “José” → “jose”."""
    letters = unicodedata.normalize("NFKD", name.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).translate(
        _LETTERS
    )


@lru_cache
def words() -> dict[str, GenderedWord]:
    """Returns {gendered word in lower case: its row}."""
    table: dict[str, GenderedWord] = {}
    for row in own_rows(_HERE / "pairs.csv"):
        woman, man, when = row["woman"], row["man"], row["when"]
        table.setdefault(woman, GenderedWord(WOMAN, man, _WHEN.get((when, WOMAN), ""), woman))
        table.setdefault(man, GenderedWord(MAN, woman, _WHEN.get((when, MAN), ""), man))
        if when == "informal":  # hubby and wife differ in more than the gender
            for word in (woman, man):
                partner = table[table[word].other]
                table[word] = table[word]._replace(same=partner.other)
    return table


@lru_cache
def names() -> Names:
    """Returns the given names, including those of the matched sets."""
    data = tomllib.loads((_HERE / "names.toml").read_text("utf-8"))
    both = {plain(name) for name in data["both"].split()}
    gender = dict.fromkeys(data["women"].split(), WOMAN)
    clash = gender.keys() & set(data["men"].split())
    gender |= dict.fromkeys(data["men"].split(), MAN)
    for name in both | clash:
        gender.pop(name, None)
    for value, key in ((WOMAN, "women"), (MAN, "men")):
        gender |= dict.fromkeys(data["compounds"][key], value)
    gender = {plain(name): value for name, value in gender.items()}
    black = set(data["black"].split())
    for attribute in ("gender", "race"):
        for named in sets(attribute):
            for (group, sex), name in named.names.items():
                gender[name.lower()] = WOMAN if sex == "women" else MAN
                if group == "Black":
                    black.add(name.lower())
    return Names(gender, frozenset(data["evidence"].split()), frozenset(black), frozenset(both))


@lru_cache
def word_list(name: str) -> list[str]:
    """Returns the lines of a list in this folder, without comments."""
    text = (_HERE / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@lru_cache
def not_cues() -> re.Pattern[str]:
    """Makes a pattern for phrases in which a gendered word names nobody."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(word_list('not_cues.txt'))})(?!\w)", re.IGNORECASE)


@lru_cache
def known_people() -> re.Pattern[str]:
    """Makes a pattern for the names of known people."""
    people = [name for line in word_list("known_people.txt") for name in line.split("|")]
    people.sort(key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, people))})(?!\w)", re.IGNORECASE)


@lru_cache
def matters(attribute: str) -> list[tuple[str, re.Pattern[str]]]:
    """Returns (reason, pattern) pairs; if one matches, the cue may decide what a right answer is.

    attribute: "gender!" for patterns that contain the cue, such as a title; "gender?" for those
    that need no cue; "both" for cues of both genders; "quoted" for a cue in a quotation.
    """
    rows = [line.split(",", 2) for line in word_list("matters.csv")[1:]]
    return [
        (reason, re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE))
        for name, reason, pattern in rows
        if name == attribute
    ]
