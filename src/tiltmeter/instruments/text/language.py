"""How an answer is written: the same words in one canonical form, and what words of a language do
in an answer.

Canonical text is words and a few marks, apart from each other by one space, with a space at both
ends. Upper case, width, quotes of all kinds, emphasis, tags, emoji and invisible characters are
gone; contractions are spelled out. The marks are `.` `?` (a sentence ends), `,` (a clause ends;
also brackets and dashes), `:` (an announcement; also `=`) and `/` (also `|` and `&`). A character
of a script without spaces is a word of its own, so a phrase is a run of words in every language.

The phrases are data (data/languages/LANGUAGE.toml, one list for each part that a phrase can play).
A language without a file has no phrases: there a bare answer can still be read, the prompt's own
sentence with its blank filled, and nothing else.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from .thought import without_thought as without_reasoning

__all__ = [
    "DATA",
    "UNSPACED",
    "Language",
    "fold",
    "is_unspaced",
    "language",
    "without_reasoning",
]
DATA = Path(__file__).parents[1] / "data"
# Hiragana, katakana, Han: written without spaces.
UNSPACED = (
    "々〇\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_WORD = f"(?:[^\\W_{UNSPACED}]|[\u0300-\u036f])+"
_ALONE = re.compile(f"[{UNSPACED}]")
_TOKEN = re.compile(f"[{UNSPACED}]|{_WORD}(?:-{_WORD})*|[^\\w\\s]|\n")
_MARKS = {
    mark: kind
    for kind, marks in {
        ".": ".!;。｡\n",
        "?": "?",
        ",": ",、()—–-",
        ":": ":=→",
        "/": "/|&\\+",
    }.items()
    for mark in marks
}
_QUOTES = str.maketrans(dict.fromkeys("’ʼ‘′`´", "'"))
_STRUCK = re.compile(r"~~[^~]*~~")
# HTML that decorates, and the control tokens of chat templates that small models write out.
_TAG = re.compile(
    r"</?(?:answer|b|br|code|div|em|h[1-6]|i|p|s|span|strong|u)\s*/?>|<\|\w{1,30}\|>|\[/?inst\]",
    re.I,
)


def fold(text: str) -> str:
    """Compatibility forms as plain letters, lower case, and nothing invisible (Unicode's Cf,
    variation selectors).
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    if text.isascii():
        return text
    return "".join(
        c
        for c in text
        if unicodedata.category(c) != "Cf" and not "\ufe00" <= c <= "\ufe0f" and c != "\u034f"
    )


def is_unspaced(character: str) -> bool:
    """True if a character is of a script that is written without spaces."""
    return _ALONE.match(character) is not None


class Language:
    """The phrases of one language. `roles` are patterns over canonical text."""

    def __init__(self, code: str, data: Mapping[str, Any]) -> None:
        self.code, self.data = code, data
        self.scripts = frozenset(data.get("scripts", ()))
        self._contractions = [
            (_ending(short), full) for short, full in data.get("contractions", ())
        ]
        self._roles: dict[str, re.Pattern[str]] = {}

    def canonical(self, text: str) -> str:
        """The canonical form of a text: words and marks between single spaces."""
        text = fold(_TAG.sub(" ", _STRUCK.sub(" ", text)).translate(_QUOTES))
        for short, full in self._contractions:
            text = short.sub(full, text)
        words = (_MARKS.get(token, token) for token in _TOKEN.findall(text))
        return f" {' '.join(word for word in words if word[0].isalnum() or word in '.?,:/')} "

    def phrase(self, text: str) -> str:
        """A regular expression for one phrase in canonical text; `@` in it stands for a mention."""
        parts = (re.escape(self.canonical(part).strip()) for part in text.split("@"))
        return " @\\S+ ".join(parts).strip().replace("\\S+  @", "\\S+ @")

    def any_of(self, phrases: Iterable[str]) -> re.Pattern[str]:
        """A pattern that finds the longest of the phrases, as whole words; one that finds nothing
        for no phrases.
        """
        found = sorted({self.phrase(phrase) for phrase in phrases}, key=len, reverse=True)
        return re.compile(f"(?<= )(?:{'|'.join(found)})(?= )" if found else r"(?!)")

    def role(self, name: str) -> re.Pattern[str]:
        """The pattern of one list of the language's file."""
        if name not in self._roles:
            self._roles[name] = self.any_of(self.data.get(name, ()))
        return self._roles[name]

    def has(self, text: str, role: str) -> bool:
        """True if a canonical text holds a phrase of that role."""
        return self.role(role).search(text) is not None

    def foreign(self, canonical: str) -> bool:
        """True if a text is in another language: by its script, or by whose frequent words it has
        more of.
        """
        letters = Counter(_script(c) for c in canonical if c.isalpha())
        total = letters.total()
        if (
            self.scripts
            and sum(n for script, n in letters.items() if script not in self.scripts) * 2 > total
        ):
            return True
        words = [word for word in canonical.split() if word[0].isalpha()]
        own = sum(word in self.data.get("common", ()) for word in words)
        most = max(
            (
                sum(word in common for word in words)
                for code, common in _others().items()
                if code != self.code
            ),
            default=0,
        )
        return bool(self.data) and most > max(own, len(words) / 3)


def _ending(short: str) -> re.Pattern[str]:
    """A contraction: a whole word, or an ending that follows a letter where it is written with an
    apostrophe.
    """
    before = r"(?<=[^\W\d_])" if short.startswith(("'", "n't")) else r"\b"
    return re.compile(before + re.escape(short) + r"\b")


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").replace("-", " ").split()[0]


@lru_cache
def _others() -> Mapping[str, frozenset[str]]:
    lists: dict[str, list[str]] = tomllib.loads((DATA / "others.toml").read_text("utf-8"))
    return {code: frozenset(words) for code, words in lists.items()}


@lru_cache
def language(code: str) -> Language:
    """The language of a code such as "en" or "zh-Hant" (read as "zh"); "" and codes without a file
    have no phrases.
    """
    code = code.partition("-")[0]
    path = DATA / "languages" / f"{code}.toml"
    known = code.isalpha() and path.is_file()
    return Language(code, tomllib.loads(path.read_text("utf-8")) if known else {})
