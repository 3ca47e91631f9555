"""What a subject returned in place of one rewrite: nothing, a refusal, the input, a list of variants, and so on.
Rules only.

Everything is an outcome with a name and a count. Of a list of variants only the first is read, as in the paper.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ...instruments.language import without_reasoning
from ...instruments.passage import words
from ...records import INVALID, OTHER_LANGUAGE, REFUSAL

REWRITE, VARIANTS, UNCHANGED, TOO_LONG = "rewrite", "variants", "unchanged", "too_long"
_HEADS = re.compile(
    r"^[ \t>*_#]*(?:(?:option|version|variant|alternative|rewrite)[ \t]*#?(?:\d+|[a-e]|one|two|three)\b|\(?\d[.):])"
    r"[^\n]{0,60}?(?:[:.)*]+|$)",
    re.IGNORECASE | re.MULTILINE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class Shape(NamedTuple):
    """outcome: what an output is; text: what is to be read of it."""

    outcome: str
    text: str


@cache
def _rules() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("outcomes.toml").read_text("utf-8"))


def shape(given: str, output: str) -> Shape:
    """What an output is, against the text that was given."""
    text = without_reasoning(output).strip()
    found = _WORD.findall(text)
    if not found:
        return Shape(INVALID, "")
    if _same(given, text):
        return Shape(UNCHANGED, text)
    if _refuses(text):
        return Shape(REFUSAL, text)
    if _foreign(text, found):
        return Shape(OTHER_LANGUAGE, text)
    first = first_variant(text)
    if first is not None:
        return Shape(VARIANTS, first)
    if len(found) >= _rules()["longest"] * max(1, len(_WORD.findall(given))):
        return Shape(TOO_LONG, text)
    return Shape(REWRITE, text)


def first_variant(text: str) -> str | None:
    """The first of several variants; None where there is no list of at least two."""
    heads = list(_HEADS.finditer(text))
    if len(heads) < 2:
        return None
    labelled = [head for head in heads if not head[0].strip(" \t>*_#(")[0].isdigit()]
    heads = labelled if len(labelled) > 1 else heads
    head = heads[0]
    start = head.end() if head in labelled else re.compile(r"[ \t>*_#(]*\d[.):]\s*").match(text, head.start()).end()  # type: ignore[union-attr]
    first = text[start : heads[1].start()].strip(" \t\n*_:#-")
    return first or None


def _same(given: str, text: str) -> bool:
    return _WORD.findall(given.casefold()) == _WORD.findall(text.casefold())


def _refuses(text: str) -> bool:
    head = text[:200].lower().replace("’", "'")
    return any(head.lstrip('"*_ ').startswith(phrase) for phrase in _rules()["refusals"]) and any(
        phrase in head for phrase in _rules()["refused_task"]
    )


@cache
def _function_words() -> frozenset[str]:
    kinds = ("determiners", "prepositions", "pronouns", "auxiliaries", "conjunctions")
    return frozenset().union(*map(words, kinds))


def _foreign(text: str, found: list[str]) -> bool:
    """Whether a text is not English: other letters for the most part, or hardly a function word."""
    if not text.isascii():
        letters = [letter for letter in text if letter.isalpha()]
        if sum(ord(letter) > 0x24F for letter in letters) * 2 > len(letters):
            return True
    if len(found) < 10:
        return False
    known = _function_words()
    least = float(_rules()["function_words"]) * len(found)
    return sum(word.lower().partition("'")[0].partition("’")[0] in known for word in found) < least
