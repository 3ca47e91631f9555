"""Nouns that "they" could mean: plural nouns, and people joined by "and". Rules only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .attribution import Entity, Mention
from .passage import SUBJECT, WordToken, people, verb_like, words

PLURAL = "p"
_MODIFIERS = 3  # words between a determiner and its noun


def is_plural(found: Sequence[WordToken], at: int) -> bool:
    """True if a word in -s is a plural noun, to judge by the words before it."""
    token = found[at]
    word = token.word
    if (
        len(word) < 4
        or token.own
        or word.endswith(("ss", "us", "is", "'s"))
        or word in people()["not_plural"]
    ):
        return False
    if token.raw[0].isupper():
        return at > 0 and found[at - 1].word == "the"
    if not at or found[at - 1].sentence < token.sentence:
        return at + 1 < len(found) and found[at + 1].word != ","
    before = found[at - 1]
    if (
        before.word
        in ("a", "an", "this", "each", "every", "that", "it", "he", "she", "who", "what", "which")
        or before.own
    ):
        return before.own
    if before.word in words("determiners", "prepositions") or before.word.isdigit():
        return True
    if not before.word[0].isalnum() or before.word in ("and", "or"):
        return at + 1 < len(found) and found[at + 1].word not in words(
            "determiners", "prepositions"
        )
    if before.raw[0].isupper() or before.word in words("pronouns", "adverbs"):
        return False
    return (
        verb_like(before)
        or (
            at > 1
            and found[at - 2].word in words("determiners")
            and found[at - 2].word not in ("a", "an", "this", "that")
            and not _verb_next(found, at)
        )
        or _after_preposition(found, at)
    )


def _after_preposition(found: Sequence[WordToken], at: int) -> bool:
    """True if only adjectives and nouns stand between a preposition and the word in -s ("of new
    business ventures").
    """
    for back in range(at - 2, max(at - 2 - _MODIFIERS, -1), -1):
        word = found[back].word
        if word in words("prepositions"):
            return True
        if not word[0].isalpha() or found[back].own or word in words("determiners", "pronouns"):
            return False
        if word in words("boundary", "auxiliaries"):
            return False
    return False


def _verb_next(found: Sequence[WordToken], at: int) -> bool:
    return at + 1 < len(found) and found[at + 1].word in words("determiners", "prepositions")


def together(
    found: Sequence[WordToken], primary: Entity, others: Mapping[str, Entity]
) -> list[Entity]:
    """Makes plural entities such as "Taylor and Sam"; each is located at its second person."""
    places = {
        mention.last
        for entity in (primary, *others.values())
        for mention in entity.mentions
        if entity.gender != PLURAL
    }
    pairs = [
        at
        for at in places
        if any(
            at - back in places
            and any(found[i].word in ("and", "&") for i in range(at - back + 1, at))
            and not any(
                verb_like(found[i]) or (not found[i].word[0].isalnum() and found[i].word != "&")
                for i in range(at - back + 1, at)
            )
            for back in (2, 3, 4)
        )
    ]
    if not pairs:
        return []
    mentions = [
        Mention(at, at, SUBJECT, found[at].sentence, found[at].clause) for at in sorted(pairs)
    ]
    return [Entity(frozenset(("together",)), PLURAL, mentions, 99)]
