"""The length of an answer in prose, in words, characters or sentences: a number, for the measures
`mean` and `mean_difference`.

A word is a run of letters, their marks and digits, with the apostrophes and hyphens inside it
("e.g." is two); in a script without spaces (Chinese, Japanese) each character counts as a word, so
such counts cannot be compared with those of other languages. A sentence ends at a full stop, a
question or exclamation mark before a space, or at an empty line; but not at the full stop of a
title (Dr.) or an initial. Characters are counted without blanks.

Label: the number; for a non-answer its outcome and no length, as a refusal is not a short letter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import ClassVar

from ..languages.letters import UNSPACED, WORD
from ..languages.patterns import lazy
from ..protocol import InstrumentSpec
from ..records import Answered, Label
from . import Settings
from .text.prose import LANGUAGE, MASK, ProseParser, prose

WORDS, CHARACTERS, SENTENCES = UNITS = ("words", "characters", "sentences")
_WORD = lazy(rf"[{UNSPACED}]|{WORD}(?:['’-]{WORD})*")
_SHORT = r"(?:mr|mrs|ms|mx|dr|prof|st|jr|sr|vs|e\.g|i\.e|(?-i:[A-Z]))\."
_STOPS = ".!?…؟۔।॥"  # Latin, Arabic and Urdu, Indic
# What ends no sentence is matched first, and has no group.
_ENDS = lazy(
    rf"\b{_SHORT}(?=\s)|([{_STOPS}]+[\"'”’»)\]]*(?=\s|\Z)|[。！？]+[」』”]*|\n\s*\n)", re.IGNORECASE
)


class Length(ProseParser):
    """settings: unit = "words" (default), "characters" or "sentences"."""

    kind = "length"
    version = "2"
    summary = "how long an answer is: a number"
    settings_schema: ClassVar[Settings] = {
        "unit": {"enum": list(UNITS), "default": WORDS, "description": "What is counted."},
        "language": LANGUAGE,
        "mask": MASK,
    }

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        self.unit = str(spec.settings.get("unit", WORDS))
        super().__init__(spec, judge)

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label: the length in the unit of the settings, or an outcome."""
        text, outcome = prose(item, self.settings)
        return [self.label(item, outcome or str(length(text, self.unit)))]


def length(text: str, unit: str = WORDS) -> int:
    """Counts the words, characters or sentences of a text.

    By hand: "Dr. Lee is kind. She leads!" has 6 words, 2 sentences and 22 characters; 她是护士。
    has 4 words and 5 characters.
    """
    text = unicodedata.normalize("NFC", text)
    if unit == CHARACTERS:
        return len("".join(text.split()))
    if unit == WORDS:
        return len(_WORD.findall(text))
    return len([part for part in _sentences(text) if _WORD.search(part)])


def _sentences(text: str) -> list[str]:
    parts, start = [], 0
    for match in _ENDS.finditer(text):
        if match[1]:
            parts.append(text[start : match.end()])
            start = match.end()
    return [*parts, text[start:]]
