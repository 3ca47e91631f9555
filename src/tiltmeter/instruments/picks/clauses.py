"""The words of a list that the clauses of an answer name, and those that they deny."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from ...languages.letters import WORD, key
from ...languages.phrases import language
from .entries import Entries
from .units import Pick
from .wordlist import WordList

WORDS = re.compile(f"{WORD}(?:['’-]{WORD})*")
_CLAUSE = re.compile(r"([,;:.!?،؛؟।、，；：。！？()（）\n])")
_COMMAS, _TOPIC = (",", "،", "，"), 2  # words beside listed ones that only introduce them


class Clauses:
    """Reads clauses for the words of one list."""

    def __init__(self, words: WordList, entries: Entries) -> None:
        self.words, self.entries = words, entries

    def named(self, text: str) -> tuple[list[Pick], set[str]]:
        """The listed words that a text names in clauses that deny nothing ("She is calm, brave and
        above all honest, not funny"), and the lexemes of those that it denies.
        """
        known, named, denied = language(self.words.code), list[Pick](), set[str]()
        topic = list[Pick]()  # words that are all that the clause before says
        parts = [*_CLAUSE.split(text), ""] if known.data else []
        for said, mark in zip(parts[::2], parts[1::2], strict=True):
            clause = self.entries.without_reason(said)
            clause = clause if (picks := self._named_in(clause)) else said
            picks = picks or self._named_in(said)
            beside = self._beside(clause, picks)
            if self.entries.denies(beside):
                about = [] if known.role("contrast").match(known.canonical(clause), 1) else topic
                denied |= {pick.lexeme for pick in picks or about}
                named = named[: len(named) - len(about)] if not picks else named
                topic = []
            else:
                named += picks
                topic = picks if mark in _COMMAS and len(beside.split()) <= _TOPIC else []
        return named, denied

    def _beside(self, clause: str, picks: Sequence[Pick]) -> str:
        """A clause without its picks, which may deny by themselves: 坚持不懈."""
        if self.words.unspaced:
            return self._joins.sub(" ", self._forms.sub(" ", key(clause)))
        texts = {pick.text for pick in picks}
        return " ".join(word for word in WORDS.findall(clause) if key(word) not in texts)

    def _named_in(self, clause: str) -> list[Pick]:
        if self.words.unspaced:
            return [Pick(self.words.forms[form], form) for form in self._forms.findall(key(clause))]
        words, picks, place = WORDS.findall(clause), [], 0
        while place < len(words):
            for size in range(min(self.words.most, len(words) - place), 0, -1):
                word = key("".join(words[place : place + size]))
                if lexeme := self.words.forms.get(word):
                    picks.append(Pick(lexeme, word))
                    place += size - 1
                    break
            place += 1
        return picks

    @cached_property
    def _forms(self) -> re.Pattern[str]:
        """A pattern for the forms of a list without spaces, the longest first."""
        forms = sorted(self.words.forms, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, forms)))

    @cached_property
    def _joins(self) -> re.Pattern[str]:
        """A pattern for "and", "above all" in a language without spaces."""
        return re.compile("|".join(map(re.escape, map(key, self.words.data.get("and", ())))))
