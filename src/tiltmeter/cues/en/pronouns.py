"""Decides by context whether “her” means him or his, and “his” her or hers, or is unsure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

OBJECT, POSSESSIVE, UNSURE = "object", "possessive", "unsure"
_ENDS = re.compile(r"[.,;:!?)\]\"”\n—–/*|…]|\s-\s")
_LOOKED_AT = 40  # characters behind a pronoun
_NUMBER_ALONE = re.compile(r"\s*[.,;:!?)\n—–]|\s*[$€£]?[\d.,]+[%k]?\s*(?:[.,;:!?)\n]|$)")


@lru_cache
def _grammar() -> dict[str, frozenset[str]]:
    text = (Path(__file__).parent / "grammar.toml").read_text("utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}


def her(text: str, tokens: Sequence[re.Match[str]], index: int) -> str:
    """Returns OBJECT or POSSESSIVE for the “her” at tokens[index]; UNSURE if both fit."""
    words = _grammar()
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    end = tokens[index].end()
    gap = text[end : following.start()] if following else text[end:]
    before = tokens[index - 1].group().lower() if index else ""
    digits = re.search(r"\d", gap)
    if following is None and not digits:
        return OBJECT
    if not digits and _ENDS.search(gap):
        return OBJECT
    if digits:
        if following and following.group().lower() in ("st", "nd", "rd", "th"):
            return POSSESSIVE  # her 18th birthday
        clause = _NUMBER_ALONE.match(text[end : end + _LOOKED_AT])
        return OBJECT if clause or before in words["give"] | words["tell"] else POSSESSIVE
    assert following is not None
    word = following.group().lower()
    after = tokens[index + 2].group().lower() if index + 2 < len(tokens) else ""
    if after and re.search(r"\d", text[following.end() : tokens[index + 2].start()]):
        after = ""
    ends = not after or _ENDS.search(text[following.end() : following.end() + 2])
    if word == "own" or (word in ("all", "will") and ends):
        return POSSESSIVE  # "gave her all.", "see her will."
    if word == "next" and after == "to":
        return OBJECT
    if word in ("last", "next") and after in words["time"]:
        return _when(words, before)
    if word in words["function"] or (word == "first" and ends and before not in ("is", "was")):
        return OBJECT
    if before in words["always_verb"]:
        return POSSESSIVE if word not in words["verb"] and after in words["verb"] else OBJECT
    if word.endswith("ly") and word not in words["not_adverb"]:
        return OBJECT if not after or after in words["function"] else UNSURE
    if before in words["perceive"] and (word in words["verb"] or after in words["article"]):
        return OBJECT
    seen = before in words["keep"] | words["perceive"]
    if word in words["gerund"] and before in words["auxiliary"]:
        return POSSESSIVE  # "Should her being late count?"
    if word in words["gerund"] or (word.endswith("ing") and seen):
        return OBJECT
    if before in words["consider"] and word in words["predicative"]:
        return OBJECT
    if before in words["appoint"] and word in words["role"]:
        return OBJECT if not after or after in words["function"] else UNSURE
    if before in words["give"] | words["tell"]:
        return _given(words, before, word, after)
    return POSSESSIVE


def _when(words: dict[str, frozenset[str]], before: str) -> str:
    """Decides "her" in "her last week" by the word before: OBJECT ("met"), POSSESSIVE, UNSURE."""
    if before in words["meet"] | words["tell"] | words["give"]:
        return OBJECT
    return POSSESSIVE if before in words["before_noun"] else UNSURE


def _given(words: dict[str, frozenset[str]], before: str, word: str, after: str) -> str:
    """Decides "her" in "give her …" by the noun: given to her (OBJECT) or hers (POSSESSIVE)."""
    if word in words["number"]:
        return POSSESSIVE if word in ("last", "next") and before in words["tell"] else OBJECT
    if word in words["given"]:
        return OBJECT
    if word in words["either"] or (before in words["give"] and after == "for"):
        return UNSURE
    return POSSESSIVE


def his(text: str, tokens: Sequence[re.Match[str]], index: int) -> str:
    """Returns POSSESSIVE if a noun follows the “his” at tokens[index], else OBJECT (hers)."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    gap = text[tokens[index].end() : following.start()] if following else ""
    if following is None or _ENDS.search(gap):
        return OBJECT
    word = following.group().lower()
    if word == "will" and _ENDS.match(text[following.end() :]):
        return POSSESSIVE  # "see his will."
    return OBJECT if word in _grammar()["after_his"] else POSSESSIVE
