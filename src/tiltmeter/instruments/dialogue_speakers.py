"""Patterns for the label before a speech, in any script, and for words that address somebody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from ..languages.letters import MARKS, lower_case
from ..languages.pack import pack, shipped, strings

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3々"
OPEN, CLOSE = '"“„«‹「『', '"”“»›」』'
BRACKETS = "[(（【<"
# A label: up to four words that begin with a capital or a digit (or are listed), or a run of a
# script without capitals.
_ASIDE = r"(?:\s*[(（\[][^)）\]\n]{0,60}[)）\]])?"
_RUN = rf"[{CJK}](?:[{CJK}\w]|[\s·・](?=[{CJK}A-Z\d])){{0,13}}"
_SIGN = r"[^\w\s\"'“”‘’«»「」『』.,;:!?()\[\]{}<>=/\\|&%$#@+*^~`-]{1,8}"
CAPITALS = r"[^\W\d_]{2,}(?: [^\W\d_]+){0,2}"  # a name in a script, if it is in capitals
_COLON = r"\s*[:：]\s*"


@cache
def words(name: str, own: str = "") -> tuple[str, ...]:
    """Returns a list of words from all packs, as answers may be in another language than the
    prompt. own: the code of a language with a protocol's own words, or "".
    """
    listed: dict[str, None] = {}
    for code in (*shipped(), *filter(None, (own,))):
        language_pack = pack(code)
        table = language_pack.words.get("dialogue")
        inside = table.get(name) if isinstance(table, Mapping) else None
        listed |= dict.fromkeys((*strings(inside), *strings(language_pack.people.get(name))))
    return tuple(listed)


class Speakers(NamedTuple):
    """The words about speakers. patterns: regular expressions by kind; silent: labels of no
    speaker; persons: third-person pronouns that cannot address somebody (German *sie* can).
    """

    patterns: Mapping[str, re.Pattern[str]]
    silent: frozenset[str]
    persons: frozenset[str]


@lru_cache
def speakers(own: str = "") -> Speakers:
    """Returns the words about speakers from all packs. own: see `words`."""
    silent, she, he = (map(str.casefold, words(name, own)) for name in ("silent", "she", "he"))
    persons = frozenset((*she, *he)) - {*words("address", own)}
    return Speakers(_patterns(own), frozenset(silent), persons)


def _patterns(own: str) -> Mapping[str, re.Pattern[str]]:
    word = rf"(?:[^\W\d_{CJK}{lower_case()}][\w{MARKS}'’.-]*|#?\d{{1,2}})"
    named = rf"{word}(?:\s+{word}){{0,3}}"
    people = (*words("speakers", own), *words("woman", own), *words("man", own))
    speakers, articles = _either(people), _either(words("articles", own))
    number = r"(?:\s*(?:#?\d{1,2}|[A-ZＡ-Ｚ１-９甲乙])(?!\w))?"
    listed = rf"(?:(?i:(?:{articles})\s*)?(?i:{speakers}){number})"
    label = rf"(?:{listed}(?![^\W\d_{CJK}])(?:\s+[^\W\d_]+){{0,3}}|{named}|{_RUN}|{_SIGN})"
    end = f".!?…。！？؟।{CLOSE}"  # of what the one before said
    return {
        "colon": re.compile(rf"^[{OPEN}]?\s*({label}){_ASIDE}{_COLON}(.*)$"),
        "quote": re.compile(rf"^({label}){_ASIDE}\s*(?:[-–—]\s*|\s*)([{OPEN}].*)$"),
        "dash": re.compile(rf"^({listed}|{named}|{_RUN}){_ASIDE}\s+[-–—]\s+(.*)$"),
        "bracket": re.compile(
            rf"^[{re.escape(BRACKETS)}]\s*({listed})\s*[\])）】>]\s*[:：]?\s*(.+)$"
        ),
        "script": re.compile(rf"^({CAPITALS})(?:\s*\([^()\n]*\))?\.\s+(\S.*)$"),
        "vocative": re.compile(rf"^{listed}\s*[,，、]\s*\S"),
        "alone": re.compile(rf"^{listed}{_ASIDE}$"),
        "again": re.compile(
            rf"([{end}:：])[^\S\n]*(?=(?:{listed}|[{CJK}][{CJK}\w]{{0,7}}){_ASIDE}(?:\s*[:：]|[「『]))"
        ),
        "articled": re.compile(
            rf"^(?i:{articles})(?:(?<=['’])|\s+)([^\W\d_]+(?: [^\W\d_]+)?)(?={_ASIDE}\s*:)", re.M
        ),
        "any": re.compile(rf"(?<=[{end}])\s+(?:[/|]\s+)?(?={named}{_ASIDE}\s*[:：])"),
        "address": re.compile(
            rf"[?!？！]|(?<!\w)(?:{'|'.join(map(re.escape, words('address', own)))})(?!\w)"
            rf"|{'|'.join(words('address_anywhere', own))}"
        ),
    }


def _either(words: Iterable[str]) -> str:
    """Makes a pattern of alternative words, grouped by first letter to match faster."""
    of: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        of.setdefault(word[0], []).append(re.escape(word[1:]))
    parts = (rf"{first}(?:{'|'.join(rest)})" for first, rest in of.items())
    return rf"(?=[{''.join(of)}])(?:{'|'.join(parts)})"
