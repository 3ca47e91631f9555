"""Nouns that describe a person already mentioned and so introduce nobody new: predicates ("Kelly is
a kind person"), appositions ("Kelly, a nurse"), roles ("as a nurse, Kelly"). Rules only.
"""

from __future__ import annotations

from collections.abc import Sequence

from .passage import WordToken, follows_as_verb, words

_INDEFINITE = frozenset(("a", "an", "one"))
_DEFINITE = frozenset(("the", "this", "that", "our", "my"))
_COPULAS = frozenset(
    ("is", "was", "be", "been", "being", "am", "remains", "remained", "became", "becomes", "become")
)
_JOINS = frozenset((",", "and", "but", "or"))
_SIDEWAYS = frozenset(("both", "such", "truly", "indeed", "finally"))
_NEW = frozenset(("there", "here", "it", "this", "that", "what", "which", "who"))
_RELATIVES = frozenset(("who", "whom", "that", "whose"))
_LONGEST = 9  # tokens from an article to its noun


def article_of(found: Sequence[WordToken], at: int) -> int | None:
    """Returns the index of a noun's determiner, skipping adjectives; None without a determiner."""
    closed = words("prepositions", "pronouns", "auxiliaries", "past")
    for back in range(at - 1, max(at - _LONGEST, -1), -1):
        word = found[back].word
        if found[back].sentence != found[at].sentence or found[back].own:
            return None
        if word in _INDEFINITE or word in _DEFINITE:
            return back
        if word in closed or not (word[0].isalnum() or word in (",", "-")):
            return None
        if word in words("boundary") and word not in _JOINS:
            return None
    return None


def is_definite(found: Sequence[WordToken], at: int) -> bool:
    """True if a noun has a definite determiner, and so may mean a person described before."""
    begin = article_of(found, at)
    return begin is not None and found[begin].word in _DEFINITE


def bearer(found: Sequence[WordToken], at: int) -> int | None:
    """Returns the index of the person whom a noun describes; None if it describes nobody."""
    begin = article_of(found, at)
    if begin is None:
        return None
    before = _skip_adverbs(found, begin - 1)
    if before < 0 or found[before].sentence != found[at].sentence:
        return None
    word, indefinite = found[before].word, found[begin].word in _INDEFINITE
    if word in _COPULAS or (found[before].own and found[before].raw.lower().endswith("'s")):
        return _subject_end(found, before)
    if word == "as" and indefinite and not follows_as_verb(found, at + 1):
        return _who_acts_as(found, before, at)
    if word == ",":
        name = _before_brackets(found, before - 1)
        if name >= 0 and found[name].raw[0].isupper() and not _in_list(found, name, at):
            return name
    if word in _JOINS and indefinite:
        return _joined(found, before)
    return None


def _skip_adverbs(found: Sequence[WordToken], at: int) -> int:
    adverbs = words("adverbs") | _SIDEWAYS
    while at >= 0 and (
        found[at].word in adverbs
        or (found[at].word.endswith("ly") and not found[at].raw[0].isupper())
    ):
        at -= 1
    return at


def _subject_end(found: Sequence[WordToken], verb: int) -> int | None:
    """Returns the last index of a copula's subject; None for "there", "it" and the like."""
    at = verb if found[verb].own else verb - 1
    while at >= 0 and not found[verb].own and found[at].word in words("auxiliaries"):
        at -= 1
    at = _skip_adverbs(found, at) if at != verb else at
    if at >= 0 and found[at].word in _RELATIVES:
        at -= 1
        at -= at >= 0 and found[at].word == ","
    if at < 0 or found[at].sentence != found[verb].sentence or found[at].word in _NEW:
        return None
    at = _before_brackets(found, at)
    return at if at >= 0 and found[at].word[0].isalpha() else None


def _who_acts_as(found: Sequence[WordToken], place: int, at: int) -> int | None:
    """Returns the index of the person meant by "as a nurse": the word before the phrase, or the
    first word after the comma that ends it.
    """
    if place and found[place - 1].sentence == found[place].sentence:
        before = found[place - 1]
        return place - 1 if before.word[0].isalpha() else None
    for after in range(at + 1, min(at + _LONGEST, len(found) - 1)):
        if found[after].word == ",":
            return after + 1
    return None


def _before_brackets(found: Sequence[WordToken], at: int) -> int:
    """Returns the index before the brackets that end at `at` ("Joseph [Surname]"); else `at`."""
    if at < 0 or found[at].word not in ")]":
        return at
    while at >= 0 and found[at].word not in ("(", "["):
        at -= 1
    return at - 1


def _in_list(found: Sequence[WordToken], name: int, at: int) -> bool:
    """True if a noun is an item of a list ("Emery, a porter and two guests"), not an apposition."""
    after = next(
        (place for place in range(at + 1, len(found)) if found[place].word in words("determiners")),
        len(found),
    )
    between = [token.word for token in found[at + 1 : after]]
    joined = between[-1:] == ["and"] or between[:1] == ["and"]
    listed = name and found[name - 1].word in (",", "and")
    return bool(joined or listed) and found[min(after, len(found) - 1)].word not in _INDEFINITE


def _joined(found: Sequence[WordToken], at: int) -> int | None:
    """Returns the index of the person whom a second description, after "and", describes."""
    if found[at].word == "and" and at and found[at - 1].word == ",":
        at -= 1
    for back in range(at - 1, max(at - _LONGEST, -1), -1):
        word = found[back].word
        if found[back].sentence != found[at].sentence or word in words("auxiliaries", "past"):
            return None
        if word[0].isalpha() and article_of(found, back) is not None:
            return bearer(found, back)
    return None
