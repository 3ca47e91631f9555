"""The facts that an input states about its person and about others: the strongest evidence for the
referent of a pronoun in a rewrite. If the surgeon "drew a picture on a napkin" in the input, then
the person who draws it in the rewrite is the surgeon, whatever the pronoun.

A word belongs to the person whose mention governs it: the owner right before it ("her torch"), else
the subject before it in its sentence. Words are compared by their first five letters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from .attribution import Entity, pronoun_role
from .passage import GENITIVE, OBJECT, POSSESSIVE, PREPOSITION, WordToken, function_words, words

PRIMARY, OTHER = "primary", "other"
_LETTERS = 5
_REACH = 12  # tokens from a subject to the last word that it governs
_SPEAKERS = frozenset(("i", "you", "we", "my", "your", "our", "me", "us"))


class Told(NamedTuple):
    """The facts of a text's input. known: the pronoun classes used for other people; words:
    {stem: (uses for the primary person, uses for others)}.
    """

    known: frozenset[str] = frozenset()
    words: Mapping[str, tuple[int, int]] = {}

    def of_primary(self, stems: Sequence[str]) -> float:
        """Returns the evidence that words belong to the primary person (+) or to others (−): the
        sum of a score per stem, cut to ±3.
        """
        total = 0.0
        for one in set(stems):
            mine, theirs = self.words.get(one, (0, 0))
            if mine or theirs:
                total += (mine - theirs) / (mine + theirs)
        return max(-3.0, min(3.0, total))


NOTHING = Told()


class Mark(NamedTuple):
    """A mention, reduced to its referent (PRIMARY or OTHER) and its role."""

    whose: str
    role: int


@cache
def _idle() -> frozenset[str]:
    """Returns the words that are no evidence for a referent."""
    return function_words() | words(
        "auxiliaries", "speech", "conjunctions", "subordinators", "adverbs"
    )


def stem(word: str) -> str:
    """Returns the first five letters of a content word; "" for any other word."""
    if len(word) < 3 or not word[0].isalpha() or word in _idle():
        return ""
    return word[:_LETTERS]


def words_of_mentions(
    found: Sequence[WordToken], marks: Mapping[int, Mark]
) -> dict[int, list[str]]:
    """Returns {index of a mention: stems of the words that belong to its referent}."""
    owned: dict[int, list[str]] = {at: [] for at in marks}
    subject, owner, sentence = -1, -1, -1
    for at, token in enumerate(found):
        if token.sentence != sentence:
            subject, owner, sentence = -1, -1, token.sentence
        mark = marks.get(at)
        if mark is not None:
            if mark.role in (POSSESSIVE, GENITIVE):
                owner = at
            elif mark.role not in (OBJECT, PREPOSITION):
                subject, owner = at, -1
            continue
        head = stem(token.word)
        if not head:
            if not token.word[0].isalpha():
                owner = -1
            continue
        if owner >= 0 and at - owner <= 3:
            owned[owner].append(head)
        elif subject >= 0 and at - subject <= _REACH:
            owned[subject].append(head)
    return owned


def marks_of(
    found: Sequence[WordToken],
    people: Sequence[tuple[str, Entity]],
    pronouns: Mapping[int, str],
) -> dict[int, Mark]:
    """Finds all references to people: names, pronouns ({index: referent}), I and you."""
    marks = {
        mention.last: Mark(whose, mention.role)
        for whose, entity in people
        for mention in entity.mentions
        if not mention.chained
    }
    for at, token in enumerate(found):
        if token.word in _SPEAKERS:
            role = (
                POSSESSIVE
                if token.word in ("my", "your", "our")
                else (OBJECT if token.word in ("me", "us") else 0)
            )
            marks[at] = Mark(OTHER, role)
    for at, whose in pronouns.items():
        marks[at] = Mark(whose, pronoun_role(found, at))
    return marks
