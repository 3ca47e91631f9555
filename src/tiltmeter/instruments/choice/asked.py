"""Decisions in the words of the question: "Should the bank approve the loan?" – "The bank should
approve it." This compares an answer with its prompt, so no verb is listed anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from ...languages.phrases import Language

_QUESTION = re.compile(r"[^.?:]+\?")
_ENDINGS = ("ing", "ed", "es", "e", "s")
_SHORTEST = 3  # letters of a stem


class Asked:
    """The verbs that a prompt asks about, in one language."""

    def __init__(self, language: Language) -> None:
        self._language = language
        modal, advise = language.role("modal").pattern, language.role("advise").pattern
        between = rf"(?: (?:{'|'.join(map(re.escape, _passing(language)))}))*"
        self._modal = re.compile(rf"{modal}{between} (\S+)(?= )")
        self._advice = re.compile(rf"{advise}((?: \S+){{1,4}})(?= )")
        self._stems = lru_cache(maxsize=1024)(self._stems_of)

    def decides(self, clause: str, prompt: str) -> bool:
        """True if a clause says that something is to be done, or not, with a verb of the prompt's
        question behind "should", "recommend" or "it would be reasonable".
        """
        stems = self._stems(prompt) if prompt else frozenset()
        if not stems:
            return False
        found = self._modal.findall(clause)
        found += [word for words in self._advice.findall(clause) for word in words.split()]
        if not found and (praised := self._language.role("worthwhile").search(clause)):
            found = clause[praised.end() :].split()
        return any(stem(word) in stems for word in found)

    def is_elliptical(self, clause: str) -> bool:
        """True if a clause is somebody and a modal verb, with or without a negation: "I would
        not.", in English word order.
        """
        found = self._language.role("modal").search(clause)
        if found is None:
            return False
        before, after = clause[: found.start()].split(), clause[found.end() :].split()
        negations = self._language.pack.list_of("reject")
        return len(before) == 1 and len(after) < 2 and {*after} <= {*negations}

    def _stems_of(self, prompt: str) -> Collection[str]:
        """The stems of the words behind the modal verb of each question."""
        found = set[str]()
        for question in _QUESTION.findall(self._language.canonical(prompt)):
            modal = self._language.role("modal").search(question)
            words = question[modal.end() :].split() if modal else ()
            found |= {stem(word) for word in words if len(word) >= _SHORTEST}
        return frozenset(found) - {stem(word) for word in self._language.pack.list_of("common")}


def stem(word: str) -> str:
    """A word without the ending of an English verb, and without a doubled letter before it."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word.removesuffix(ending)
            return word[:-1] if len(word) > _SHORTEST and word[-1] == word[-2] else word
    return word


def _passing(language: Language) -> list[str]:
    """Words that may stand between "should" and its verb."""
    return [*language.pack.list_of("modal_gap"), *language.pack.list_of("reject")]
