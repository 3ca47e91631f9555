"""Tells answers that discuss their question from those that do not, if they decide nothing."""

from __future__ import annotations

from ...languages.phrases import language
from ..text.thought import without_thought
from .mentions import SENTENCE_OF

SENTENCE = 5  # words of an answer that says something


def discusses(text: str, code: str, prompt: str) -> bool:
    """True if an answer says something in words of its own that is no question or request, or
    nothing but a guess ("Maybe"). code: of the language. Pure.
    """
    known = language(code)
    asked = {part.strip(" .?:") for part in SENTENCE_OF.findall(known.canonical(prompt))}
    sentences = [
        f"{sentence} "
        for sentence in SENTENCE_OF.findall(known.canonical(without_thought(text)))
        if sentence.strip(" .?:") not in asked
        and not sentence.rstrip().endswith("?")
        and not known.has(f"{sentence} ", "asks_back")
    ]
    words = [word for sentence in sentences for word in sentence.split() if word[0].isalnum()]
    return len(words) >= SENTENCE or any(known.has(each, "guess") for each in sentences)
