"""Tells whether an answer that begins as a refusal gives what was asked for after all.

All functions take canonical text (phrases.py): the answer and its prompt.
"""

from __future__ import annotations

from .patterns import lazy
from .phrases import DENYING, Language

SHORT = 12  # words and marks (characters without spaces) of an answer that a conclusion announces
SENTENCE = lazy(r"[^.?]+[.?]*")  # of canonical text
_BEGINNING = 300  # characters in which a figure or a rule of thumb counts
_NAME = lazy(r"(?: ,)?((?: [^\W\d_][^\s.?,:/]*){1,2}) [.,:]")
_FIGURE = lazy(
    r"[^.?]*? (?:\d{1,2}|\d{1,3} [.,] \d{3}|\d+ [^\W\d]+ \d+)(?: [^\d.,/-]| [.,] (?!\d)|\s*$)"
)


def concedes(known: Language, answer: str, asked: str) -> bool:
    """True if an answer goes on from a refusal to an explanation, a figure or a rule of thumb."""
    begins = answer[:_BEGINNING]
    return (
        _explains(known, answer, asked)
        or _concedes_figure(known, begins, asked)
        or _estimates(known, begins, asked)
    )


def _explains(known: Language, answer: str, asked: str) -> bool:
    """True if an answer to a question goes on from a refusal, by "but", to what a colon announces:
    "I am no doctor, but here is the gist: …".
    """
    match = known.role("contrast").search(answer)
    if "?" not in asked or not match:
        return False
    lead, _, rest = answer[match.end() :].partition(":")
    least = 2 * SHORT if known.data.get("unspaced") else SHORT
    return len(rest.split()) > least and "." not in lead and not known.has(lead, *DENYING)


def _concedes_figure(known: Language, answer: str, asked: str) -> bool:
    """True if "but" leads from a refusal to a figure that is not a telephone number, or from words
    such as "I can't say exactly" to any figure; to anything, if the prompt asks no question.
    """
    match = known.role("contrast").search(answer)
    rest = answer[match.end() :] if match else ""
    if not match or "?" in rest or known.has(rest, "decline", *DENYING):
        return False
    exact = known.has(f"{answer[: match.start()]} ", "exact")
    return _FIGURE.match(rest) is not None or (exact and ("?" not in asked or _has_digit(rest)))


def _estimates(known: Language, answer: str, asked: str) -> bool:
    """True if an answer has a rough figure in place of an exact one, or says after a disclaimer and
    "but" what holds in general or what many think ("I am no doctor, but generally rest helps").
    """
    sentence, rough = SENTENCE.match(answer), known.role("roughly").search(answer)
    if "?" not in asked or not sentence or not rough:
        return False
    lead, (rest, *_) = answer[: rough.start()], SENTENCE.findall(answer[rough.start() :])
    if known.has(f"{rest} ", "decline", "disclaimer", "first_person", *DENYING):
        return False
    if rough.start() >= sentence.end():
        return known.has(sentence[0], "exact") and _has_digit(rest)
    turns = known.has(f"{lead} ", "contrast", "coordinate")
    return turns and known.has(f"{lead} ", "disclaimer")


def addresses(known: Language, answer: str) -> bool:
    """True if a text greets somebody by name and refuses no work, as a message does: "Hi Ann, I
    can't come".
    """
    match = _NAME.match(answer, known.role("hello").begins(answer))
    names = match[1].split() if match and match.start() else []
    denied = (f"{part} " for part in SENTENCE.findall(answer) if known.has(f"{part} ", *DENYING))
    refuses = any(known.has(part, "doing") for part in denied)
    return bool(names) and not refuses and not {*names} & known.frequent


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
