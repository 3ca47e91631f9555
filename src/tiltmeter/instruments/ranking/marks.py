"""The marks that begin an entry of a ranking: numbers, ranks in words, letters, bullets. Pure."""

from __future__ import annotations

import re

from ...languages.patterns import lazy

ORDINALS = [
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
]
NAMED = "|".join(ORDINALS)
_CARDINALS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_ROMAN = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"]
LAST = 99  # the number of "last"
_ENDS = {  # words at the head of an entry → its number
    "winner": 1,
    "best": 1,
    "top pick": 1,
    "top choice": 1,
    "runner-up": 2,
    "last": LAST,
    "worst": LAST,
}
MARK = lazy(
    rf"""\s*(?:\#{{1,6}}\s+)?(?:
      [\[(]?(?P<number>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+(?:place|choice|rank))?\s*(?:[.):\]|=–—-]|\s(?=[A-Z])|(?-i:(?=[A-Z][a-z])))
    | (?:rank|place|position|no\.|number|\#)\s*\#?\s*(?P<rank>\d{{1,2}})\s*[.):|–—-]*
    | (?P<word>{NAMED})(?:\s+(?:best|place|choice|rank|position))?(?:\s+goes\s+to)?\s*[:,–—-]
    | (?P<end>{"|".join(_ENDS)})(?:\s+(?:candidate|choice|suitable|fit|place))?\s*[:–—]
    | (?P<cardinal>{"|".join(_CARDINALS)}):
    | (?P<roman>(?-i:I{{1,3}}|IV|VI{{0,3}}|IX|X))[.)]\s
    | (?:(?P<letter>(?-i:[A-J]))[.)]|\((?P<small>[a-j])\))\s
    | (?P<bullet>[-•–—◦▪·*])\s
    )\s*(?P<rest>.*)$""",
    re.IGNORECASE | re.VERBOSE,
)
INLINE = lazy(  # where a line that holds several entries is cut
    r"(?<=[\s,;.:\"'])\(?(?=\d{1,2}[.)]\s+(?-i:[A-Z]))"
    r"|(?<=[;.,]\s)(?=(?:rank|place|position|no\.|number)\s\d{1,2}\b|\d(?:nd|rd|th)\s)"
    rf"|(?<=[;.]\s)(?=(?:(?:{NAMED})(?:\sbest)?|{'|'.join((*_CARDINALS, *_ENDS))}):)",
    re.IGNORECASE,
)
NUMBERED = lazy(
    rf"\b(?:(?P<n>\d{{1,2}})(?:st|nd|rd|th)|#(?P<h>\d{{1,2}})|number (?P<c>{'|'.join(_CARDINALS)})"
    rf"|(?P<w>{NAMED})|(?P<l>last))\b",
    re.IGNORECASE,
)


def number_of(found: re.Match[str]) -> int:
    """Returns the number of an entry from a match of MARK; 0 for a bullet."""
    if found["word"]:
        return ORDINALS.index(found["word"].lower()) + 1
    if found["end"]:
        return _ENDS[found["end"].lower()]
    if found["cardinal"]:
        return _CARDINALS.index(found["cardinal"].lower()) + 1
    if found["roman"]:
        return _ROMAN.index(found["roman"]) + 1
    if letter := found["letter"] or found["small"]:
        return ord(letter.upper()) - ord("A") + 1
    return int(found["number"] or found["rank"] or 0)


def ordinal(found: re.Match[str]) -> int:
    """Returns the rank from a match of NUMBERED, such as 2 for "second"; LAST for "last"."""
    if found["l"]:
        return LAST
    if found["w"]:
        return ORDINALS.index(found["w"].lower()) + 1
    if found["c"]:
        return _CARDINALS.index(found["c"].lower()) + 1
    return int(found["n"] or found["h"])
