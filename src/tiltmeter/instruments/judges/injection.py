"""Counts attempts in a text to instruct its reader, such as a judge. The phrases are data
(data/injection.toml); the function is pure.

Judges are shown texts between marks and told that they are data; this counts how often a text tries
to instruct nevertheless. Unlisted phrases are missed, so a count is a lower bound; a text that only
mentions instructions is not counted.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import lru_cache

from ...languages.patterns import lazy
from ..wording import DATA

SORTS = ("override", "label", "address", "mark")
LONGEST_CHARACTERS = 20_000  # characters that are looked at
_INVISIBLE = lazy("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_BLANKS = lazy(r"[^\S\n]+")
_SPACED = lazy(r"(?<!\w)\w(?:[ .*_-]\w(?!\w)){2,}")  # i g n o r e
_APART = lazy(r"[ .*_-]")
_TYPOGRAPHIC = str.maketrans({"’": "'", "‐": "-", "‑": "-"})


def attempts(text: str) -> tuple[str, ...]:
    """Returns the kinds of attempts in a text, in the order of SORTS; () if there are none.

    Phrases match despite invisible characters, spaced or full-width letters, any kind of blank, and
    line breaks.
    """
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text[:LONGEST_CHARACTERS]))
    text = _SPACED.sub(lambda match: _APART.sub("", match[0]), text)
    text = _BLANKS.sub(" ", text).translate(_TYPOGRAPHIC)
    folded = text.replace("\n", " ")
    return tuple(
        sort
        for sort, pattern in _patterns().items()
        if pattern.search(text) or pattern.search(folded)
    )


@lru_cache
def _patterns() -> dict[str, re.Pattern[str]]:
    phrases = tomllib.loads((DATA / "injection.toml").read_text("utf-8"))
    return {
        sort: lazy("|".join(f"(?:{_at_word_start(phrase)})" for phrase in phrases[sort]), re.I)
        for sort in SORTS
    }


def _at_word_start(phrase: str) -> str:
    """Returns a phrase as a pattern that matches only at a word's start if it is Latin."""
    return rf"(?<!\w){phrase}" if re.match(r"(?:\(\?:)?[a-z]", phrase) else phrase
