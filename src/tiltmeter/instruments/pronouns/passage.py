"""An English text as tokens with sentences and clauses, for the rules that find a pronoun's
referent. Plain rules, no model.

The closed classes of words are data (data/pronouns.toml). Sentences and clauses are numbered in
order; roles are guessed without a parser from the words before a mention (a preposition, a verb,
the beginning of a clause) and after it (a verb, an auxiliary, 's).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from ...languages.remembered import Remembered
from ...row_files import own_rows
from ..wording import DATA

# 'em, 'im and 'er are words of their own where they follow no letter; an emphasis mark, a dash, a
# bracket is a token.
_TOKEN = re.compile(r"\w+(?:[-']\w+)*'?|'(?<![\w']')(?:em|im|er)\b|\n|[^\w\s]")
_STRAIGHT = {"’": "'", "ʼ": "'", "‘": "'", "“": '"', "”": '"'}
_ENDS = frozenset(".!?…\n")
SUBJECT, OBJECT, PREPOSITION, GENITIVE, POSSESSIVE, OTHER = range(6)


class WordSeen(NamedTuple):
    """The possible meanings of a word without context. name, noun: its gender as a first name or a
    noun for persons; plural; in_s: ends in -s; capital: is capitalised; creature: an animal's
    gender, "t" for a thing that may be "she"; agent: its ending may mean a doer (-er, -ist).
    """

    name: str = ""
    noun: str = ""
    plural: bool = False
    in_s: bool = False
    capital: bool = False
    creature: str = ""
    agent: bool = False


_AGENTS = ("er", "or", "ist", "ian", "man", "woman", "eer")
PLAIN = WordSeen()  # names nobody, unless it is the theme noun


class WordToken(NamedTuple):
    """A token. word: lower case, without 's; raw: as written; begin: its offset; own: ends in a
    genitive or clitic; seen: its possible meanings, None for function words and signs."""

    word: str
    raw: str
    begin: int
    sentence: int
    clause: int
    own: bool
    seen: WordSeen | None


_token = partial(tuple.__new__, WordToken)  # Token(...) costs twice as much


@cache
def data() -> Mapping[str, Any]:
    """Returns data/pronouns.toml: forms of pronouns and closed classes of words."""
    return tomllib.loads((DATA / "pronouns.toml").read_text("utf-8"))


@cache
def words(*kinds: str) -> frozenset[str]:
    """Returns the union of some closed classes of words."""
    return frozenset(word for kind in kinds for word in str(data()["words"][kind]).split())


@cache
def people() -> Mapping[str, Mapping[str, str]]:
    """Returns {kind (noun, plural, title, name): {word: gender (m, f, n, p)}} from data/people.csv,
    and adds the counterparts of gendered nouns and titles.
    """
    kinds: dict[str, dict[str, str]] = {}
    for row in own_rows(DATA / "people.csv"):
        kinds.setdefault(row["kind"], {}).update(dict.fromkeys(row["words"].split(), row["gender"]))
    for kind in ("noun", "title"):
        kinds[kind] = {**_counterparts(kind, kinds[kind]), **kinds[kind]}
    return kinds


def _counterparts(kind: str, known: Mapping[str, str]) -> dict[str, str]:
    """Returns {counterpart of a known word: the counterpart's gender}, from data/opposites.csv and
    by exchanging -man and -woman.
    """
    counterparts: dict[str, str] = {}
    kinds = ("title",) if kind == "title" else ("kin", "occupation")
    for (table, word), (_, others) in opposites().items():
        if table in kinds and known.get(word) in ("m", "f"):
            counterparts |= dict.fromkeys(others, "f" if known[word] == "m" else "m")
    if kind == "noun":
        for word, gender in known.items():
            if gender == "f" and word.endswith("woman"):
                counterparts[word.removesuffix("woman") + "man"] = "m"
            elif gender == "m" and word.endswith("man"):
                counterparts[word.removesuffix("man") + "woman"] = "f"
    return counterparts


def plain(text: str) -> str:
    """Straightens quotes and turns emphasis marks into `*`; offsets stay the same."""
    if not text.isascii():
        for curly, straight in _STRAIGHT.items():  # four times as fast as str.translate
            text = text.replace(curly, straight)
    return text.replace("_", "*")


@cache
def _breaks() -> frozenset[str]:
    return words("boundary") | set(",;:()-–—")


def tokens(text: str) -> list[WordToken]:
    """Splits a text with straight quotes (see `plain`) into tokens."""
    word_tokens: list[WordToken] = []
    add = word_tokens.append
    sentence = clause = begin = 0
    ended = False
    abbreviated = words("abbreviated")
    chunks = text.split(" ")
    for chunk, cut in zip(chunks, map(_pieces.__getitem__, chunks), strict=True):
        for offset, word, raw, own, seen, starts, is_boundary in cut:
            if ended and starts:
                sentence, clause, ended = sentence + 1, clause + 1, False
            if is_boundary:
                if word not in _ENDS:
                    clause += 1
                elif not (
                    word == "."
                    and word_tokens
                    and (word_tokens[-1].word in abbreviated or len(word_tokens[-1].word) == 1)
                ):
                    ended = True
            add(_token((word, raw, begin + offset, sentence, clause, own, seen)))
        begin += len(chunk) + 1
    return word_tokens


_Piece = tuple[int, str, str, bool, WordSeen | None, bool, bool]


def _split(chunk: str) -> tuple[_Piece, ...]:
    """Splits a text without spaces into tokens: offset, word, raw, own, seen, True if the token
    can begin a sentence, True if the token begins a clause or ends a sentence."""
    pieces = []
    for match in _TOKEN.finditer(chunk):
        raw, own = match[0], False
        word = raw.lower()
        if "'" in word and len(word) > 1:
            word, own = _unclitic(word)
        starts, marks = word[0].isalnum() or word[0] in "\"*_'(", word in _breaks() or word in _ENDS
        pieces.append((match.start(), word, raw, own, _look_up(raw, word), starts, marks))
    return tuple(pieces)


_pieces = Remembered(_split)


def _look_up(raw: str, word: str) -> WordSeen | None:
    if word in function_words() or not word[0].isalpha():
        return None
    capital = raw[0].isupper()
    name = people()["name"].get(word, "") if capital else ""
    creature = people()["animal"].get(word, "") or ("t" if word in people()["thing"] else "")
    agent = word.endswith(_AGENTS) and len(word) > 4 and word not in words("not_agents")
    facts = WordSeen(
        name,
        people()["noun"].get(word, ""),
        word in people()["plural"],
        word[-1] == "s",
        capital,
        creature,
        agent,
    )
    return facts if any(facts) else PLAIN


@cache
def function_words() -> frozenset[str]:
    """Returns the function words, without function words that name people."""
    kinds = ("determiners", "pronouns", "boundary", "prepositions", "adverbs", "auxiliaries")
    return words(*kinds) - people()["plural"].keys()


def _unclitic(word: str) -> tuple[str, bool]:
    """Strips 's, 'd, 'll, 've, 're or a final apostrophe from a word; returns the word, and True if
    it ended in 's or s'.
    """
    if word.endswith("'s") and len(word) > 2:
        return word[:-2], True
    if word.endswith(("'d", "'ll", "'ve", "'re")) and word.rindex("'"):
        return word[: word.rindex("'")], False
    if word.endswith("'"):
        return word[:-1], word.endswith("s'")
    return word, False


def verb_like(token: WordToken) -> bool:
    """True if a word has the form of a finite verb: an auxiliary, an irregular past, -ed, or -s."""
    return _verb_form(token.raw, token.word)


@lru_cache(maxsize=1 << 16)
def _verb_form(raw: str, word: str) -> bool:
    if raw[0].isupper() and not (raw.isupper() and len(word) > 1):
        return False
    return (
        word in words("auxiliaries", "past")
        or (word.endswith("ed") and len(word) > 3)
        or (
            word.endswith("s")
            and len(word) > 3
            and not word.endswith(("ss", "us", "ous"))
            and word not in words("determiners")
        )
    )


def follows_as_verb(found: Sequence[WordToken], at: int) -> bool:
    """True if a verb stands at an index, perhaps after adverbs."""
    while at < len(found) and (found[at].word in words("adverbs") or found[at].word.endswith("ly")):
        at += 1
    return at < len(found) and verb_like(found[at])


def role(found: Sequence[WordToken], first: int, last: int) -> int:
    """Returns the role of the name or noun in tokens first to last: one of SUBJECT … OTHER."""
    after = last + 1
    if found[last].own and not (
        after < len(found) and found[after].word in words("determiners", "adverbs")
    ):
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
    if (
        begins
        and after < len(found)
        and (found[after].word in (",", "(", "and", "who", "himself", "herself"))
    ):
        return SUBJECT
    return (
        SUBJECT if begins and steps == 0 and found[first].sentence != found[at].sentence else OTHER
    )


def is_possessive(found: Sequence[WordToken], at: int) -> bool:
    """True if "her" (or "hir") is possessive: the next word cannot follow an object."""
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


@cache
def opposites() -> Mapping[tuple[str, str], tuple[str, frozenset[str]]]:
    """Returns {(kind, word): (the word's gender, its counterparts)} from data/opposites.csv. kind:
    kin, title, occupation.
    """
    table: dict[tuple[str, str], tuple[str, frozenset[str]]] = {}
    for row in own_rows(DATA / "opposites.csv"):
        sides = {"m": row["masculine"].split(), "f": row["feminine"].split()}
        for gender, other in (("m", "f"), ("f", "m")):
            for word in sides[gender]:
                known = table.get((row["kind"], word), (gender, frozenset[str]()))[1]
                table[row["kind"], word] = gender, known | frozenset(sides[other])
    return table
