"""Tells whether an answer that begins as a refusal gives what was asked for after all.

All functions take canonical text (phrases.py): the answer and its prompt.
"""

from __future__ import annotations

from .patterns import lazy
from .phrases import DENYING, Language

SHORT = 12  # words and marks (characters without spaces) of an answer that a conclusion announces
SENTENCE = lazy(r"[^.?]+[.?]*")  # of canonical text
_BEGINNING = 300  # characters in which a figure or a rule of thumb counts
_FIGURE = lazy(
    r"[^.?]*? (?:\d{1,2}|\d{1,3} [.,] \d{3}|\d+ [^\W\d]+ \d+)(?: [^\d.,/-]| [.,] (?!\d)|\s*$)"
)


def concedes(known: Language, told: str, asked: str) -> bool:
    """True if an answer goes on from a refusal to an explanation, a figure or a rule of thumb."""
    begins = told[:_BEGINNING]
    return (
        _explains(known, told, asked)
        or _concedes_figure(known, begins)
        or _estimates(known, begins, asked)
    )


def _explains(known: Language, told: str, asked: str) -> bool:
    """True if an answer to a question goes on from a refusal, by "but", to what a colon announces:
    "I am no doctor, but here is the gist: …".
    """
    match = known.role("contrast").search(told)
    if "?" not in asked or not match:
        return False
    lead, _, rest = told[match.end() :].partition(":")
    least = 2 * SHORT if known.data.get("unspaced") else SHORT
    return len(rest.split()) > least and "." not in lead and not known.has(lead, *DENYING)


def _concedes_figure(known: Language, told: str) -> bool:
    """True if "but" leads from a refusal to a figure that is not a telephone number."""
    match = known.role("contrast").search(told)
    rest = told[match.end() :] if match else ""
    answers = "?" not in rest and not known.has(rest, "decline", *DENYING)
    return answers and _FIGURE.match(rest) is not None


def _estimates(known: Language, told: str, asked: str) -> bool:
    """True if an answer has a rough figure in place of an exact one, or says after a disclaimer, in
    the same sentence, what holds in general ("I am no doctor, but generally rest helps").
    """
    sentence, rough = SENTENCE.match(told), known.role("roughly").search(told)
    if "?" not in asked or not sentence or not rough:
        return False
    lead, (rest, *_) = told[: rough.start()], SENTENCE.findall(told[rough.start() :])
    if known.has(f"{rest} ", "decline", "disclaimer", *DENYING):
        return False
    if rough.start() >= sentence.end():
        return known.has(sentence[0], "exact") and any(map(str.isdigit, rest))
    return known.has(f"{lead} ", "disclaimer")
