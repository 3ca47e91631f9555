"""A text with every gender exchanged: pronouns, gendered nouns, titles and first names, by pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from tiltmeter.instruments.pronouns.passage import is_possessive, people, plain, tokens
from tiltmeter.instruments.wording import DATA
from tiltmeter.row_files import own_rows

PRONOUNS = {
    "he": "she",
    "himself": "herself",
    "shes": "hes",
    "hissel": "hersel",
    "hissen": "hersen",
}
NOUNS = {
    "men": "women",
    "gentleman": "lady",
    "gentlemen": "ladies",
    "lad": "lass",
    "chap": "lassie",
    "grandad": "nan",
    "prince": "princess",
    "masculine": "feminine",
    "male": "female",
}
CLASSES = {"masculine": "feminine", "feminine": "masculine", "he": "she", "she": "he"}
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def of_text(text: str) -> str | None:
    """The text mirrored; None where it has a word without a counterpart, or one (`her`, `him`)
    that would not come back as itself.
    """
    once = _exchanged(text)
    return once if once is not None and _exchanged(once) == text else None


def _exchanged(text: str) -> str | None:
    tokens_ = tokens(plain(text))
    found = {token.begin: at for at, token in enumerate(tokens_)}
    made, end = [], 0
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in ("him", "his", "her", "hers"):
            at = found.get(match.start())
            if at is None:
                return None
            other = _case(word, is_possessive(tokens_, at))
        else:
            other = words().get(word, word) if _counts(match[0]) else word
        if other == word and word in _gendered() and _counts(match[0]):
            return None
        made += [text[end : match.start()], _cased(match[0], other) if other != word else match[0]]
        end = match.end()
    return "".join(made) + text[end:]


def _case(word: str, owns: bool) -> str:
    if word == "his":
        return "her" if owns else "hers"
    return {"him": "her", "hers": "his"}.get(word) or ("his" if owns else "him")


def _counts(raw: str) -> bool:
    """A title, and a first name that is a word too, counts with a capital only."""
    return raw[0].isupper() or not (raw in people()["word_name"] or raw in ("miss", "may"))


def _cased(raw: str, word: str) -> str:
    if raw.isupper() and len(raw) > 1:
        return word.upper()
    return word.capitalize() if raw[0].isupper() else word


@cache
def words() -> Mapping[str, str]:
    """Every word that has a counterpart, both ways; the first pair that names a word counts."""
    table: dict[str, str] = {}
    for one, other in _pairs():
        if one not in table and other not in table:
            table[one], table[other] = other, one
    return {**names(), **table}


def _pairs() -> Iterator[tuple[str, str]]:
    yield from PRONOUNS.items()
    yield from NOUNS.items()
    for row in own_rows(DATA / "opposites.csv"):
        for one, other in zip(row["masculine"].split(), row["feminine"].split(), strict=False):
            yield one, other
            yield f"{one}s", f"{other}s"
    for word, gender in people()["noun"].items():
        if gender == "m" and word.endswith("man"):
            yield word, word.removesuffix("man") + "woman"


@cache
def names() -> Mapping[str, str]:
    """First names in pairs: those that are words too with their like."""
    table: dict[str, str] = {}
    for also_word in (False, True):
        sides = [
            [
                word
                for word, gender in people()["name"].items()
                if gender == side
                and (word in people()["word_name"]) == also_word
                and not _elsewhere(word)
            ]
            for side in "mf"
        ]
        for one, other in zip(*sides, strict=False):
            table[one], table[other] = other, one
    return table


def _elsewhere(word: str) -> bool:
    """Whether a name is in another list as well (April is a month)."""
    return any(word in people()[kind] for kind in ("noun", "title", "plural", "not_name", "animal"))


@cache
def _gendered() -> frozenset[str]:
    kinds = ("noun", "title", "name")
    return frozenset(word for kind in kinds for word, one in people()[kind].items() if one in "mf")
