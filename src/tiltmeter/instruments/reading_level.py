"""The difficulty of an answer in prose: the automated readability index, a number for the measures
`mean` and `mean_difference`.

Source: Smith and Senter (1967), Automated Readability Index, AMRL-TR-66-220: 4.71 · characters per
word + .5 · words per sentence - 21.43, about the school grade in the United States. It counts
neither syllables nor rare words. It is meant for English; other languages have scales of their own.

Label: the number, to two decimals; for a non-answer its outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..records import INVALID, Answered, Label
from . import Settings
from .length import SENTENCES, WORDS, length
from .text.prose import LANGUAGE, MASK, ProseParser, prose


class ReadingLevel(ProseParser):
    """settings: language = of the texts, mask = the cues to hide."""

    kind = "reading_level"
    version = "1"
    summary = "how hard an answer is to read: a number"
    settings_schema: ClassVar[Settings] = {"language": LANGUAGE, "mask": MASK}

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label: the index, or an outcome."""
        text, outcome = prose(item, self.settings)
        level = None if outcome else reading_level(text)
        return [self.label(item, outcome or (INVALID if level is None else f"{level:.2f}"))]


def reading_level(text: str) -> float | None:
    """Returns the automated readability index of a text; None if it has no words.

    By hand: "The cat sat. It purred." has 17 letters, 5 words, 2 sentences: 4.71·3.4 + .5·2.5 -
    21.43 = -4.166.
    """
    words, sentences = length(text, WORDS), length(text, SENTENCES)
    if not words or not sentences:
        return None
    characters = sum(map(str.isalnum, text))
    return 4.71 * characters / words + 0.5 * words / sentences - 21.43
