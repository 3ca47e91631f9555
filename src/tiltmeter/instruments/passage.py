"""An English text as tokens with sentences and clauses, for rules that find who a pronoun means. Plain rules, no model.

The closed classes of words are data (data/pronouns.toml). A token's sentence and clause are numbers that grow; roles
are
guessed from the words beside a mention, without a parser: what precedes it (a preposition, a verb, the beginning of a
clause) and what follows (a verb, an auxiliary, 's).
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from .language import DATA

# 'em, 'im and 'er are words of their own where they follow no letter; an emphasis mark, a dash, a bracket is a token.
_TOKEN = re.compile(r"\w+(?:[-']\w+)*'?|'(?<![\w']')(?:em|im|er)\b|\n|[^\w\s]")
_QUOTES = str.maketrans("’ʼ‘“”_", "'''\"\"*")
_ABBREVIATED = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "mx",
        "dr",
        "prof",
        "rev",
        "st",
        "jr",
        "sr",
        "vs",
        "gen",
        "sgt",
        "capt",
        "lt",
        "col",
        "no",
        "vol",
        "etc",
    ]
)
_ENDS = frozenset(".!?…\n")
SUBJECT, OBJECT, PREPOSITION, GENITIVE, POSSESSIVE, OTHER = range(6)


class Token(NamedTuple):
    """word: lower case, without 's; raw: as it stands; begin: offset in the text; own: it ends in a genitive or a
    clitic."""

    word: str
    raw: str
    begin: int
    sentence: int
    clause: int
    own: bool


_token = partial(tuple.__new__, Token)  # Token(...) costs twice as much


@cache
def data() -> Mapping[str, Any]:
    return tomllib.loads((DATA / "pronouns.toml").read_text("utf-8"))


@cache
def words(kind: str) -> frozenset[str]:
    """A closed class of words."""
    return frozenset(str(data()["words"][kind]).split())


@cache
def people() -> Mapping[str, Mapping[str, str]]:
    """kind (noun, plural, title, name) → word → gender (m, f, n, p), from data/people.csv."""
    found: dict[str, dict[str, str]] = {}
    with (DATA / "people.csv").open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            found.setdefault(row["kind"], {}).update(dict.fromkeys(row["words"].split(), row["gender"]))
    return found


def plain(text: str) -> str:
    """The text with straight quotes and `*` for emphasis, offset for offset."""
    return text.replace("_", "*") if text.isascii() else text.translate(_QUOTES)


@cache
def _breaks() -> frozenset[str]:
    return words("boundary") | set(",;:()-–—")


def tokens(text: str) -> list[Token]:
    """The tokens of a text whose quotes are straight."""
    found: list[Token] = []
    add, breaks = found.append, _breaks()
    sentence = clause = 0
    ended = False
    for match in _TOKEN.finditer(text):
        raw = match[0]
        word = raw.lower()
        own = False
        if word.isalpha():
            if ended:
                sentence, clause, ended = sentence + 1, clause + 1, False
            if word in breaks:
                clause += 1
        else:
            if "'" in word and len(word) > 1:
                word, own = _unclitic(word)
            if ended and (word[0].isalnum() or word in "\"*_'("):
                sentence, clause, ended = sentence + 1, clause + 1, False
            if word in breaks:
                clause += 1
            elif word in _ENDS and not (
                word == "." and found and (found[-1].word in _ABBREVIATED or len(found[-1].word) == 1)
            ):
                ended = True
        add(_token((word, raw, match.start(), sentence, clause, own)))
    return found


def _unclitic(word: str) -> tuple[str, bool]:
    """A word without 's, 'd, 'll, 've, 're or a final apostrophe, and whether it was a genitive or 's."""
    if word.endswith("'s") and len(word) > 2:
        return word[:-2], True
    if word.endswith(("'d", "'ll", "'ve", "'re")) and word.rindex("'"):
        return word[: word.rindex("'")], False
    if word.endswith("'"):
        return word[:-1], word.endswith("s'")
    return word, False


def verb_like(token: Token) -> bool:
    """Whether a word could be a finite verb, by its form: an auxiliary, an irregular past, -ed, or -s."""
    word = token.word
    if token.raw[0].isupper() and not (token.raw.isupper() and len(word) > 1):
        return False
    return (
        word in words("auxiliaries")
        or word in words("past")
        or (word.endswith("ed") and len(word) > 3)
        or (
            word.endswith("s")
            and len(word) > 3
            and not word.endswith(("ss", "us", "ous"))
            and word not in words("determiners")
        )
    )


def follows_as_verb(found: Sequence[Token], at: int) -> bool:
    """Whether a verb begins at a place, adverbs and a clitic before it aside."""
    while at < len(found) and (found[at].word in words("adverbs") or found[at].word.endswith("ly")):
        at += 1
    return at < len(found) and verb_like(found[at])


def role(found: Sequence[Token], first: int, last: int) -> int:
    """The role of a name or noun that stands in tokens first … last: one of SUBJECT … OTHER."""
    after = last + 1
    if found[last].own and not (after < len(found) and found[after].word in words("determiners") | words("adverbs")):
        return GENITIVE
    verb = follows_as_verb(found, after)
    at, steps = first - 1, 0
    while at >= 0 and steps < 5:
        word = found[at].word
        if not word[0].isalnum() or word in words("boundary"):
            break
        if word in words("prepositions"):
            return PREPOSITION
        if word not in words("determiners") and verb_like(found[at]) and not verb:
            return OBJECT
        if word in words("auxiliaries"):
            return OBJECT
        at, steps = at - 1, steps + 1
    if verb:
        return SUBJECT
    begins = (
        at < 0
        or found[at].sentence < found[first].sentence
        or found[at].word in words("boundary")
        or found[at].word in ',"('
    )
    if begins and after < len(found) and (found[after].word in (",", "(", "and", "who", "himself", "herself")):
        return SUBJECT
    return SUBJECT if begins and steps == 0 and found[first].sentence != found[at].sentence else OTHER


def is_possessive(found: Sequence[Token], at: int) -> bool:
    """Whether "her" (or "hir") at a place is a possessor: a word follows that no object is followed by."""
    if at + 1 >= len(found):
        return False
    follows = found[at + 1]
    if follows.word in ("*", "_", '"', "'") and at + 2 < len(found):
        follows = found[at + 2]
        return (
            follows.begin - found[at + 1].begin == 1
            and follows.word[0].isalpha()
            and follows.word not in words("after_object")
        )
    return (
        follows.word[0].isalnum()
        and follows.word not in words("after_object")
        and follows.sentence == found[at].sentence
    )
