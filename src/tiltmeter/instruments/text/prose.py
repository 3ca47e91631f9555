"""What is no answer among answers in prose: a letter, an advert, a story, a translation. Pure.

Such an answer is read for the words that it holds, so only what is clearly none is left out:
nothing in letters (or the prompt repeated) is `invalid`; what declines in its first words to do
what was asked is a `refusal` (refusal.py); what is mostly in another script, or has mostly
frequent words of another language, is `other_language`. The last is told where the language is
known (a setting, else the design's column) and is English, Chinese or Japanese.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ...protocol.source.json_schema import Schema
from ...records import INVALID, OTHER_LANGUAGE, REFUSAL, Answered
from ..wording import Json
from . import refusal
from .language import language, without_reasoning

# the setting that all instruments of prose have
LANGUAGE: Schema = {
    "type": "string",
    "minLength": 2,
    "examples": ["en"],
    "description": "The language that answers should be in, where it is not that of the column "
    "`language`.",
}
_LETTER = re.compile(r"[^\W\d_]")


class Prose(NamedTuple):
    """text: what is to be read, without the prompt and without thoughts; outcome: why it is not to
    be, or "".
    """

    text: str
    outcome: str


def prose(item: Answered, settings: Mapping[str, Json]) -> Prose:
    """The text of an output, or why it is no answer."""
    text = without_reasoning(item.trial.begin + item.output.text)
    prompt = item.trial.prompt.strip()
    text = (text.replace(prompt, "\n") if prompt else text).strip()
    code = str(settings.get("language") or item.trial.factors.get("language", ""))
    return Prose(text, outcome(text, code))


def outcome(text: str, code: str = "") -> str:
    """`invalid`, `refusal`, `other_language`, or "" for a text that is to be read. code: its
    language, "" for any.

    Worked: "I'm sorry, but I can't help with that." is a refusal; "I can't help but admire her." is
    none.
    """
    if not _LETTER.search(text):
        return INVALID
    if refusal.begins(text):
        return REFUSAL
    known = language(code)
    return OTHER_LANGUAGE if known.foreign(known.canonical(text)) else ""


def wording() -> Mapping[str, Json]:
    """What a label of prose depends on beside its instrument's own lists."""
    return {"prose": refusal.lists().table}
