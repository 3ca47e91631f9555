"""How much less alike the answers to two versions of a prompt are than answers to the same version
asked again.

The likeness of two texts is the cosine of their character trigrams. Alone it says little, as two
answers to one prompt differ too. So the label is a difference: mean likeness within the version
minus mean likeness to the other versions. Shuffling answers over the versions leaves its mean at 0.
Use the measure `mean` with `null = 0`. Identical repeats have a likeness of 1. If all repeats of a
system are identical (temperature 0, a cache), the number is reported without a test: nothing shows
how much its answers differ by chance, so any change of a prompt would look like an effect of the
cue (`analyse/claims/repeats.py`).

Labels: the number, to four decimals, or `neither` if one side has no answer to compare with; and,
as `…_again`, `alike` if all answers to the same version are identical, else `differs`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import sqrt

from ...protocol import InstrumentSpec
from ...records import NEITHER, Answered, Label
from ..text.prose import prose
from . import TextComparer

AGAIN = "_again"  # ends the attribute of repeats
ALIKE, DIFFERS = "alike", "differs"


class Similarity(TextComparer):
    """settings: versions = the factor whose levels are the versions of a prompt."""

    kind = "similarity"
    version = "2"
    summary = "likeness to the same prompt asked again less likeness to its other version: a number"

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        super().__init__(spec, judge)
        self.attributes = (spec.attribute, f"{spec.attribute}{AGAIN}")

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute of the repeats: (alike, differs)}; the difference is any number."""
        return {f"{spec.attribute}{AGAIN}": (ALIKE, DIFFERS)}

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns two labels: the difference of likeness, and `alike` or `differs`."""
        text, outcome = prose(item, self.settings)
        values = (outcome, outcome) if outcome else self._compared(item, text)
        return [
            self.label(item, value, attribute=name)
            for name, value in zip(self.attributes, values, strict=True)
        ]

    def _compared(self, item: Answered, text: str) -> tuple[str, str]:
        version = self.place(item.trial)[1]
        texts = self.same_prompt(item.trial)
        again = [
            one for sample, one in texts.get(version, {}).items() if sample != item.trial.sample
        ]
        others = list(
            chain.from_iterable(
                answers.values() for name, answers in texts.items() if name != version
            )
        )
        repeats = NEITHER if not again else DIFFERS if set(again) - {text} else ALIKE
        if not again or not others:
            return NEITHER, repeats
        within, between = (
            sum(likeness(text, one) for one in side) / len(side) for side in (again, others)
        )
        return f"{within - between:.4f}", repeats


def likeness(first: str, second: str) -> float:
    """Returns the cosine of the character trigrams of two texts, 0 to 1.

    By hand: "abcd" and "abce" have two trigrams each and share one: 1/2.
    """
    a, b = _trigrams(first), _trigrams(second)
    if len(b) < len(a):
        a, b = b, a
    shared = sum(number * b.get(part, 0) for part, number in a.items())
    length = _length(first) * _length(second)
    return shared / length if length else 0.0


@lru_cache(maxsize=1024)
def _trigrams(text: str) -> Mapping[str, int]:
    plain = " ".join(text.casefold().split())
    return Counter(plain[start : start + 3] for start in range(max(1, len(plain) - 2)))


@lru_cache(maxsize=1024)
def _length(text: str) -> float:
    return sqrt(sum(number * number for number in _trigrams(text).values()))
