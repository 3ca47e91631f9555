"""Finds the listed words that the clauses of an answer name, and those that they deny."""

from __future__ import annotations

import re
from functools import cached_property

from ...languages.letters import WORD, key
from ...languages.phrases import language
from .entries import Entries
from .units import Pick
from .wordlist import WordList

WORDS = re.compile(f"{WORD}(?:['’-]{WORD})*")
_CLAUSE = re.compile(r"([,;:.!?،؛؟।、，；：。！？()（）\n]|\s[–—](?=\s))")
_COMMAS, _TOPIC = (",", "،", "，"), 2  # words beside listed ones that only introduce them


class Clauses:
    """A finder of the listed words that an answer's clauses affirm or deny, for one list."""

    def __init__(self, words: WordList, entries: Entries) -> None:
        self.words, self.entries = words, entries

    def named(self, text: str) -> tuple[list[Pick], set[str]]:
        """Returns (listed words that clauses name without a negation, lexemes of listed words that
        clauses deny): "She is calm, brave and above all honest, not funny".
        """
        phrases, named, denied = language(self.words.code), list[Pick](), set[str]()
        topic = list[Pick]()  # words that are all that the clause before says
        left_out = False  # "I rule out strict, rude and lazy."
        parts = [*_CLAUSE.split(text), ""] if phrases.data else []
        for part, mark in zip(parts[::2], parts[1::2], strict=True):
            clause = self.entries.without_reason(part)
            clause = clause if (picks := self._named_in(clause)) else part
            picks = picks or self._named_in(part)
            beside = self._beside(clause)
            left_out = self.entries.leaves_out(beside) or (
                left_out and len(beside.split()) < _TOPIC and bool(picks)
            )
            if left_out or self.entries.denies(beside):
                about = [] if phrases.role("contrast").begins(phrases.canonical(clause)) else topic
                denied |= {pick.lexeme for pick in picks or about}
                named = named[: len(named) - len(about)] if not picks else named
                topic = []
            else:
                named += picks
                topic = picks if mark in _COMMAS and len(beside.split()) <= _TOPIC else []
            left_out = left_out and mark in _COMMAS
        return named, denied

    def _beside(self, clause: str) -> str:
        """Returns a clause without its picks, as a pick may contain a negation (坚持不懈). In
        languages that put verbs last, returns only the words after the first pick.
        """
        parts = self._parted(clause)[1]
        if language(self.words.code).data.get("verb_last") and "" in parts:
            parts = parts[parts.index("") :]
        beside = " ".join(filter(None, parts))
        return self._joins.sub(" ", beside) if self.words.unspaced else beside

    def _named_in(self, clause: str) -> list[Pick]:
        return self._parted(clause)[0]

    def _parted(self, clause: str) -> tuple[list[Pick], list[str]]:
        """Returns a clause's picks, and the list of the clause's words with "" for each pick."""
        if self.words.unspaced:
            forms = self._forms.findall(text := key(clause))
            parts = [part for each in self._forms.split(text) for part in (each, "")][:-1]
            return [Pick(self.words.forms[form], form) for form in forms], parts
        words, picks, parts, index = WORDS.findall(clause), list[Pick](), list[str](), 0
        while index < len(words):
            sizes = range(min(self.words.most, len(words) - index), 0, -1)
            named = ((size, key("".join(words[index : index + size]))) for size in sizes)
            size, word = next((forms for forms in named if forms[1] in self.words.forms), (1, ""))
            picks += [Pick(self.words.forms[word], word)] if word else []
            parts.append("" if word else words[index])
            index += size
        return picks, parts

    @cached_property
    def _forms(self) -> re.Pattern[str]:
        """The pattern of all listed forms, longest first, for a language without spaces."""
        forms = sorted(self.words.forms, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, forms)))

    @cached_property
    def _joins(self) -> re.Pattern[str]:
        """The pattern of the words for "and" and "above all" in a language without spaces."""
        return re.compile("|".join(map(re.escape, map(key, self.words.data.get("and", ())))))
