"""Letters of all scripts: the characters of words, and one normal form for equivalent spellings.

Python's `\\w` has no combining marks, which would leave लड़का and लड़की the same consonants with
gaps; so `MARKS` are added to every class of letters. In scripts that are written without spaces
each character is a word.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from .patterns import lazy

# Hiragana, katakana, Han: written without spaces.
UNSPACED = (
    "々〇\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
# Unicode 15's categories Mn and Mc of the basic plane, without variation selectors and the marks
# that enclose a character (keycaps).
MARKS = (
    "\u0300-\u034e\u0350-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5"
    "\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8"
    "\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u0819"
    "\u081b-\u0823\u0825-\u0827\u0829-\u082d\u0859-\u085b\u0898-\u089f\u08ca-\u08e1"
    "\u08e3-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962-\u0963\u0981-\u0983\u09bc"
    "\u09be-\u09cd\u09d7\u09e2-\u09e3\u09fe-\u0a03\u0a3c-\u0a51\u0a70-\u0a71\u0a75"
    "\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0ae2-\u0ae3\u0afa-\u0b03\u0b3c\u0b3e-\u0b57"
    "\u0b62-\u0b63\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c\u0c3e-\u0c56\u0c62-\u0c63"
    "\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6\u0ce2-\u0ce3\u0d00-\u0d03\u0d3b-\u0d3c\u0d3e-\u0d4d"
    "\u0d57\u0d62-\u0d63\u0d81-\u0d83\u0dca-\u0ddf\u0df2-\u0df3\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f18-\u0f19\u0f35\u0f37\u0f39"
    "\u0f3e-\u0f3f\u0f71-\u0f84\u0f86-\u0f87\u0f8d-\u0fbc\u0fc6\u102b-\u103e\u1056-\u1059"
    "\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
    "\u135d-\u135f\u1712-\u1715\u1732-\u1734\u1752-\u1753\u1772-\u1773\u17b4-\u17d3\u17dd"
    "\u180b-\u180d\u180f\u1885-\u1886\u18a9\u1920-\u193b\u1a17-\u1a1b\u1a55-\u1a7f"
    "\u1ab0-\u1abd\u1abf-\u1b04\u1b34-\u1b44\u1b6b-\u1b73\u1b80-\u1b82\u1ba1-\u1bad"
    "\u1be6-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce8\u1ced\u1cf4\u1cf7-\u1cf9"
    "\u1dc0-\u1dff\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099-\u309a\ua66f"
    "\ua674-\ua67d\ua69e-\ua69f\ua6f0-\ua6f1\ua802\ua806\ua80b\ua823-\ua827\ua82c"
    "\ua880-\ua881\ua8b4-\ua8c5\ua8e0-\ua8f1\ua8ff\ua926-\ua92d\ua947-\ua953\ua980-\ua983"
    "\ua9b3-\ua9c0\ua9e5\uaa29-\uaa36\uaa43\uaa4c-\uaa4d\uaa7b-\uaa7d\uaab0\uaab2-\uaab4"
    "\uaab7-\uaab8\uaabe-\uaabf\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6\uabe3-\uabea\uabec-\uabed"
    "\ufb1e\ufe20-\ufe2f"
)
NAME = rf"[\w{MARKS}]+"  # of a column
WORD = f"(?:[^\\W_{UNSPACED}]|[{MARKS}])+"
_SLIP = 6  # letters of a word in which one may be a slip
_ALONE = lazy(f"[{UNSPACED}]")
_NO_LETTERS = lazy(f"[^\\w{MARKS}]+|_+")
_ACCENT = lazy("[\u0300-\u0345]")  # of Latin, Greek and Cyrillic letters
_APOSTROPHE = lazy("[’ʼ‘′`´]")
# Left out: what is written or not without changing a word (Arabic vowel signs and the stretched
# line, Hebrew points, the dot that lower-casing İ leaves behind), and what cannot be seen (Unicode
# 15's category Cf, variation selectors, the joiner that is a mark).
_LEFT_OUT = lazy(
    "[\u0307\u0640\u064b-\u0652\u0670\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001-\U000e007f]"
    "(?<!(?<!i)\u0307)"
)
_TURKISH = str.maketrans({"I": "ı", "İ": "i"})


def fold(text: str, turkish: bool = False) -> str:
    """Folds a text to plain lower-case letters; removes optional vowel signs and invisible
    characters. turkish: I is the capital of ı.
    """
    if text.isascii() and not turkish:
        return text.lower()
    text = unicodedata.normalize("NFKC", text.translate(_TURKISH) if turkish else text).casefold()
    if text.isascii():
        return text
    return _LEFT_OUT.sub("", text)


_OTHER_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "œ": "oe", "æ": "ae"})


def without_accents(word: str) -> str:
    """Strips accents from a word: "mężczyzna" becomes "mezczyzna"."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFD", word.translate(_OTHER_LETTERS))
    return unicodedata.normalize("NFC", "".join(c for c in plain if not _ACCENT.match(c)))


def straight(text: str) -> str:
    """Straightens the apostrophes of a text."""
    return text if text.isascii() and "`" not in text else _APOSTROPHE.sub("'", text)


def key(text: str, turkish: bool = False) -> str:
    """Returns the letters, marks and digits of a text in lower case: "Détail-Orienté" and "détail
    orienté" are equal, लड़का and लड़की are not.
    """
    return _NO_LETTERS.sub("", fold(text, turkish))


def is_slip(word: str, meant: str) -> bool:
    """True if a word misspells another: they differ by one letter more or less, or by two
    neighbours swapped, and have the same first and last letter: "abgelehnet" for "abgelehnt".
    """
    if abs(len(word) - len(meant)) > 1 or min(len(word), len(meant)) < _SLIP:
        return False
    if (word[0], word[-1]) != (meant[0], meant[-1]):
        return False
    longer, shorter = sorted((word, meant), key=len, reverse=True)
    if len(longer) == len(shorter) + 1:
        return any(longer[:at] + longer[at + 1 :] == shorter for at in range(1, len(longer) - 1))
    if sorted(word) != sorted(meant):
        return False
    swaps = (f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" for at in range(len(word) - 1))
    return word != meant and meant in swaps


def is_unspaced(character: str) -> bool:
    """True if a character is of a script that is written without spaces."""
    return _ALONE.match(character) is not None


def is_mark(character: str) -> bool:
    """True if a character is a combining mark, a part of the letter before it."""
    return unicodedata.category(character)[0] == "M"


@lru_cache(maxsize=4096)
def script(letter: str) -> str:
    """Returns the script of a letter by its Unicode name (LATIN, CJK, HIRAGANA, …)."""
    return unicodedata.name(letter, "UNKNOWN").replace("-", " ").split()[0]


@lru_cache
def lower_case() -> str:
    """Returns all lower-case letters of the basic plane, as ranges for a character class."""
    ranges: list[list[int]] = []
    for code in range(0x61, 0x10000):
        if not chr(code).islower():
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
