"""The words of the answers, without a given list: every word that occurs for enough prompts.

The counted words are chosen from all answers, regardless of version: those that occur in answers to
at least `fewest` prompts, and among them the `most` whose share of prompts is nearest to one half.
Use the measure `difference` with `values = ["*"]` and `per = "outputs"`: each word then has a row
with the difference of the shares of answers that contain it, paired over prompts;
Benjamini–Hochberg adjusts over the words.

Labels: each counted word of an answer, once; `neither` if it has none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from ...cues import PLACEHOLDER
from ...languages.letters import WORD, fold
from ...records import NEITHER, OUTCOMES, Answered, Label, Output, Trial
from .. import Settings
from ..text.prose import prose
from . import TextComparer

FEWEST, MOST = 10, 200
_WORD = re.compile(rf"{WORD}(?:['’-]{WORD})*")


class Vocabulary(TextComparer):
    """settings: versions, fewest = prompts that a word must occur in, most = words counted."""

    kind = "vocabulary"
    version = "1"
    summary = "each word that the answers to enough prompts have: a label for each"
    settings_schema: ClassVar[Settings] = {
        **TextComparer.settings_schema,
        "fewest": {
            "type": "integer",
            "minimum": 2,
            "default": FEWEST,
            "description": "Prompts whose answers a word must occur in to be counted.",
        },
        "most": {
            "type": "integer",
            "minimum": 1,
            "default": MOST,
            "description": "Words that are counted at most.",
        },
    }

    def meet(self, outputs: Sequence[tuple[Trial, Output]]) -> None:
        """Stores all answers of the run, and chooses the words to count."""
        super().meet(outputs)
        prompts = Counter[str]()
        for versions in self._texts.values():
            texts = [text for answers in versions.values() for text in answers.values()]
            prompts.update(set().union(*map(words_of, texts)))
        fewest = int(str(self.settings.get("fewest", FEWEST)))
        most = int(str(self.settings.get("most", MOST)))
        half = len(self._texts) / 2
        enough = [word for word, number in prompts.items() if number >= fewest]
        enough.sort(key=lambda word: (abs(prompts[word] - half), word))
        self._counted = frozenset(enough[:most])

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label per counted word; if there is none, `neither` or an outcome."""
        text, outcome = prose(item, self.settings)
        words = [] if outcome else sorted(words_of(text) & self._counted)
        labels = [self.label(item, word, rank) for rank, word in enumerate(words)]
        return labels or [self.label(item, outcome or NEITHER)]


def words_of(text: str) -> frozenset[str]:
    """Returns the words of a text in lower case, without masked cues."""
    words = (match.group() for match in _WORD.finditer(fold(text)))
    return frozenset(word for word in words if word != PLACEHOLDER and word not in OUTCOMES)
