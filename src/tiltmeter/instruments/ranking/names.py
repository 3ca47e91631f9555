"""Finds where a text names the people of a line-up. Pure.

A name matches in any case, with or without accents and apostrophes (OCONNELL is O'Connell), and
with its parts in either order ("Lu, Tuan"). If a person is never named in full, one capitalised
part of the name that nobody else in the line-up has is enough ("Ms. Charles").
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from ...languages.patterns import lazy

# A name that is written wrongly is a person's if it is this like theirs, and less like all others'.
ALIKE, CLEARLY = 0.75, 0.08
_BETWEEN_LETTERS = lazy(r"(?<=\w)['’‘ʼ`´‐‑-](?=\w)")


class NameMention(NamedTuple):
    """A mention of a person: start and end offset, and the person's index in the line-up."""

    start: int
    end: int
    person: int


def plain(text: str) -> str:
    """Strips accents from a text, and apostrophes and hyphens inside words."""
    if not text.isascii():
        letters = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
        text = "".join(c for c in letters if not unicodedata.combining(c))
        text = text.replace("đ", "d").replace("Đ", "D").replace("ß", "ss")
    return _BETWEEN_LETTERS.sub("", text)


class LineUp:
    """The people to rank, in the prompt's order. The methods expect texts from `plain`."""

    def __init__(self, names: Sequence[str]) -> None:
        self._given = list(names)
        self.names = [" ".join(plain(name).lower().split()) for name in names]
        parts = Counter(part for name in self.names for part in set(name.split()))
        self._parts = [
            [part for part in name.split() if parts[part] == 1 and len(part) > 1]
            for name in self.names
        ]

    def mentions(self, text: str) -> list[NameMention]:
        """Lists mentions in order: full names, and parts of names never given in full."""
        lowered = text.lower()
        if len(lowered) != len(text):  # a letter whose small form is longer
            text = lowered = lowered.lower()
        found = [
            NameMention(start, start + len(form), person)
            for person, name in enumerate(self.names)
            for form in _forms(name)
            for start in _places(lowered, form)
        ]
        named = {mention.person for mention in found}
        for person, parts in enumerate(self._parts):
            for part in parts if person not in named else ():
                for start in _places(lowered, part):
                    inside = any(a.start <= start < a.end for a in found)
                    if not inside and text[start].isupper():
                        found.append(NameMention(start, start + len(part), person))
        return sorted(found)

    def begins(self, text: str) -> bool:
        """True if no letter precedes the first name in a text."""
        return not any(map(str.isalpha, text[: self.mentions(text)[0].start]))

    def nearest(self, written: str, taken: Collection[int]) -> int | None:
        """Returns the person not in `taken` whose name is most like a misspelt name; None if
        unclear.

        "Jaquelin Vu" is JACQUELINE VU; "Jessica Miller" is nobody in a line-up without a Miller."""
        name = plain(written).lower()
        free = [person for person in range(len(self.names)) if person not in taken]
        scores = sorted(
            ((SequenceMatcher(None, name, self.names[p]).ratio(), p) for p in free), reverse=True
        )
        if not scores or scores[0][0] < ALIKE:
            return None
        clear = len(scores) == 1 or scores[0][0] - scores[1][0] >= CLEARLY
        return scores[0][1] if clear else None

    def first_in_full(self, text: str) -> int | None:
        """Returns the person whose full name, as given, comes first in the text, or None."""
        lowered = text.casefold()
        places = ((lowered.find(name.casefold()), p) for p, name in enumerate(self._given))
        return min((at for at in places if at[0] >= 0), default=(0, None))[1]


def masked(text: str, names: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Replaces each person's names in a text by a numbered code; returns the text and {code: name}.
    The text loses its accents, as in every search for names.
    """
    text = plain(text)
    codes: dict[int, str] = {}
    pieces, end = list[str](), 0
    for mention in LineUp(names).mentions(text):
        if mention.start < end:
            continue
        code = codes.setdefault(mention.person, f"PERSON-{len(codes) + 1}")
        pieces += (text[end : mention.start], code)
        end = mention.end
    text = "".join((*pieces, text[end:]))
    return text, {code: names[person] for person, code in reversed(codes.items())}


def _forms(name: str) -> list[str]:
    first, _, last = name.rpartition(" ")
    return [name, f"{last}, {first}"] if first else [name]


def _places(text: str, form: str) -> Iterator[int]:
    """Yields the start offset of each match of a form as a whole word."""
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if not text[start - 1 : start].isalnum() and not text[end : end + 1].isalnum():
            yield start
        start = text.find(form, end)
