"""Tells whether an answer that decides nothing at least discusses its question."""

from __future__ import annotations

from ...languages.phrases import DENYING, Language, language
from ...languages.refusals import shares_word
from ..text.thought import without_thought
from .mentions import SENTENCE_OF

SENTENCE = 5  # words of an answer that says something
# roles whose words weigh, doubt or decide
_WEIGHING = (
    *("both", "neither", "depends", "possible", "condition", "likely", "lacking", "grounds"),
    *("assent", "dissent", "modal", "advise", "worthwhile"),
    *("contrast", "subordinate", "coordinate", *DENYING),
)


def discusses(text: str, code: str, prompt: str) -> bool:
    """True if an answer, without its questions and requests, adds words that concern the prompt, or
    is only a guess ("Maybe"). code: the language. Pure.
    """
    known = language(code)
    question = known.canonical(prompt)
    asked = {part.strip(" .?:") for part in SENTENCE_OF.findall(question)}
    sentences = [
        f"{sentence} "
        for sentence in SENTENCE_OF.findall(known.canonical(without_thought(text)))
        if sentence.strip(" .?:") not in asked
        and not sentence.rstrip().endswith("?")
        and not known.has(f"{sentence} ", "asks_back")
    ]
    words = [word for sentence in sentences for word in sentence.split() if word[0].isalnum()]
    if any(known.has(each, "guess") for each in sentences):
        return True
    questions = "".join(part for part in SENTENCE_OF.findall(question) if part.endswith("?"))
    statements = "".join(sentences)
    return len(words) >= SENTENCE and _goes_into(statements, questions or question, known)


def _goes_into(statements: str, question: str, known: Language) -> bool:
    """True if a text weighs something, mentions the person, or shares a word with the question;
    "The fire brigade responds to fires" does none of these.
    """
    if known.has(statements, *_WEIGHING) or shares_word(statements, question, known):
        return True
    people = {*known.pack.list_of("she"), *known.pack.list_of("he"), *known.pack.list_of("third")}
    return not known.data or bool(people & {*statements.split()})
