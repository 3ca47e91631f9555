"""The outcomes of outputs that are not exactly one rewrite: nothing, a refusal, the input, a list
of variants, and so on. Rules only.

Every such output has a named outcome, which is counted. Of a list of variants only the first is
labelled, as in the paper; of a text that stops in mid-sentence, the existing part.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from ...languages.remembered import Remembered
from ...records import INVALID, OTHER_LANGUAGE, REFUSAL
from ..pronouns.passage import words
from ..text.thought import without_thought
from ..wording import Texts, texts_of
from .reply import refuses, shared_words, the_rewrite

REWRITE, VARIANTS, UNCHANGED, TOO_LONG, CUT_OFF = (
    "rewrite",
    "variants",
    "unchanged",
    "too_long",
    "cut_off",
)
READ = (REWRITE, VARIANTS, CUT_OFF, UNCHANGED)  # outcomes whose text is read for pronouns
_FUNCTION = 1 << 32
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# A short reply that speaks of the text: "The passage is about a chef."
_ABOUT = re.compile(
    r"\W*(?:the|this) (?:text|passage|paragraph|story|sentence|excerpt|message) "
    r"(?:is|was|describes?|tells?|talks?|mentions?|says?|concerns?|deals?)\b",
    re.I,
)
_BEYOND_LATIN = re.compile("[^\0-\u024f]")


class Shape(NamedTuple):
    """The kind of an output. outcome: its name; text: the part to be labelled."""

    outcome: str
    text: str


@cache
def rules() -> Texts:
    """Returns the thresholds and words of outcomes.toml."""
    return texts_of(Path(__file__).with_name("outcomes.toml"))


def shape(given: str, output: str) -> Shape:
    """Classifies an output by comparison with the input, `given`."""
    text = without_thought(output).strip()
    number, function = _count_words(text)
    if not number:
        return Shape(INVALID, "")
    asked = _input_words(given)
    part = the_rewrite(given, text)
    if _same_words(part.text, asked):
        return Shape(UNCHANGED, text)
    if refuses(given, text, part):
        return Shape(REFUSAL, text)
    if _foreign(text, number, function):
        return Shape(OTHER_LANGUAGE, text)
    if part.variants:
        return Shape(VARIANTS, part.text)
    if number >= rules().number("longest") * max(1, len(asked)):
        return Shape(TOO_LONG, text)
    if number <= rules().number("short_words") < len(asked) and not shared_words(given, text):
        return Shape(INVALID, "")
    broken_off = number < len(asked) and given.casefold().startswith(text.casefold().rstrip(". "))
    if number <= rules().number("short_words") and (_ABOUT.match(text) or broken_off):
        return Shape(INVALID, "")
    signed = len(text.rsplit("\n", 1)[-1].split()) <= rules().number("signature_words")
    unfinished = (
        number >= rules().number("cut_words")
        and not ("\n" in text and signed)
        and (text[-1].isalnum() or text[-1] in ",;:(-–—")
    )
    return Shape(CUT_OFF if unfinished else REWRITE, part.text or text)


def _count_words(text: str) -> tuple[int, int]:
    """Returns the numbers of words and of English function words in a text."""
    function, number = divmod(sum(map(_counts.__getitem__, text.split(" "))), _FUNCTION)
    return number, function


def _count(chunk: str) -> int:
    """Returns words + _FUNCTION · function words: one sum is four times as fast as two counts."""
    tokens, function_words = _WORD.findall(chunk), _function_words()
    return len(tokens) + _FUNCTION * sum(
        word.lower().partition("'")[0].partition("’")[0] in function_words for word in tokens
    )


_counts = Remembered(_count)


def _same_words(text: str, asked: tuple[str, ...]) -> bool:
    """True if a text has exactly the words of the input; first compares three words, for speed."""
    begins = tuple(word.casefold() for word in _WORD.findall(text[:40]))[:3]
    return begins == asked[: len(begins)] and _input_words.__wrapped__(text) == asked


@lru_cache(maxsize=4096)
def _input_words(given: str) -> tuple[str, ...]:
    """Returns the words of an input, cached: inputs recur with every prompt and subject."""
    return tuple(word.casefold() for word in _WORD.findall(given))


@cache
def _function_words() -> frozenset[str]:
    return words("determiners", "prepositions", "pronouns", "auxiliaries", "conjunctions")


def is_foreign(text: str) -> bool:
    """True if a text is not English, to judge by its letters and function words."""
    return _foreign(text, *_count_words(text))


def _foreign(text: str, number: int, function: int) -> bool:
    """True if over half the letters are not Latin, or a longer text has few function words."""
    if not text.isascii():
        others = sum(map(str.isalpha, _BEYOND_LATIN.findall(text)))
        if others and others * 2 > sum(map(str.isalpha, text)):
            return True
    return number >= 10 and function < rules().number("function_words") * number
