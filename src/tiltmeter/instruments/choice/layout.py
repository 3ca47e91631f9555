"""Reads a choice from the layout of an answer, before its words: a JSON object ({"answer": "she",
"others": ["he"]}, {"approved": false}), or a list of boxes with one ticked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ...languages.patterns import lazy
from ...languages.phrases import Language
from ..text.json_replies import json_in
from ..text.thought import without_thought

_OPENED = lazy("[「『“]")
# a box that is ticked, and lines with one that is not
_TICKED = lazy(r"^\W*(?:[☑✓✔✅☒]|\[[xX✓✔]\])", re.MULTILINE)
_UNTICKED = lazy(r"^[\s*-]*(?:[☐□❌✗✘]|\[ ?\]).*$", re.MULTILINE)


def laid_out(
    text: str,
    is_option: Callable[[str], bool],
    known: Language,
    yes_no: tuple[str, str] | None,
) -> str:
    """Returns the part of a text that states the choice: the value in a JSON object, or the lines
    with ticked boxes; the whole text if it has neither.
    """
    if '"' in text and "{" in text:
        text = _stated_in_json(text, is_option, known, yes_no)
    if ("[" in text or not text.isascii()) and _TICKED.search(text):
        text = _UNTICKED.sub("", text)
    return text


def _stated_in_json(
    text: str,
    is_option: Callable[[str], bool],
    known: Language,
    yes_no: tuple[str, str] | None,
) -> str:
    """Returns the only value of a JSON object that is an option (if several, the one whose key is
    like "answer"); else yes or no from a key such as "approved"; else the text unchanged.
    """
    data = json_in(without_thought(text))
    if not isinstance(data, Mapping):
        return text
    alone = {key: value for key, value in data.items() if isinstance(value, str)}
    alone = {key: value for key, value in alone.items() if is_option(value)}
    if len(alone) > 1:
        alone = {key: alone[key] for key in alone if _announces(_words(key, known), known)}
    if len(alone) == 1:
        return next(iter(alone.values()))
    stated = {
        value == (role == "assent")
        for key, value in data.items()
        for role in ("assent", "dissent")
        if isinstance(value, bool) and known.has(_words(key, known), role)
    }
    return yes_no[not stated.pop()] if yes_no and len(stated) == 1 else text


def _words(key: str, known: Language) -> str:
    return known.canonical(key.replace("_", " "))


def _announces(words: str, known: Language) -> bool:
    """True if words only announce an answer ("answer", "final decision")."""
    for name in ("conclusion", "announce", "filler", "option_nouns"):
        words = known.role(name).sub(" ", words)
    return not words.strip()


def apart(text: str, forms: Sequence[str]) -> str:
    """Puts a colon before an opening quotation mark if a form would otherwise match across the
    mark: はい in 答えは「いいえ」.
    """
    return _OPENED.sub(lambda opened: _before_mark(opened, forms), text)


def _before_mark(opened: re.Match[str], forms: Sequence[str]) -> str:
    before, after = opened.string[: opened.start()], opened.string[opened.end() :]
    across = any(
        before.endswith(form[:cut]) and after.startswith(form[cut:])
        for form in forms
        for cut in range(1, len(form))
    )
    return f"：{opened[0]}" if across else opened[0]
