"""How much less an answer is like the answers to the other version of its prompt than like those to
the same version asked again.

The likeness of two texts is the cosine of their character trigrams. By itself it says little: two
answers of one prompt differ too. So the label is a difference, mean likeness within the version
less mean likeness to the other versions; shuffling answers over the versions leaves its mean at 0.
Take the measure `mean` with `null = 0`.

Label: the number, to four decimals; `invalid` without a second answer on both sides, and of a
system whose repeats are all alike: nothing tells then what differs by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import sqrt

from ...records import INVALID, Answered, Label, Output, Trial
from ..text.prose import prose
from . import TextComparer


class Similarity(TextComparer):
    """settings: versions = the factor whose levels are the versions of a prompt."""

    kind = "similarity"
    version = "1"
    summary = "likeness to the same prompt asked again less likeness to its other version: a number"

    def meet(self, outputs: Sequence[tuple[Trial, Output]]) -> None:
        """Takes in all answers of the run, and whether any repeat differs."""
        super().meet(outputs)
        told = chain.from_iterable(versions.values() for versions in self._texts.values())
        self._drawn = any(len(set(one.values())) > 1 for one in told)

    def read(self, item: Answered) -> Sequence[Label]:
        """One label: the difference of likeness, or why there is none."""
        text, outcome = prose(item, self.settings)
        found = None if outcome else self._difference(item, text)
        return [self.label(item, outcome or (INVALID if found is None else f"{found:.4f}"))]

    def _difference(self, item: Answered, text: str) -> float | None:
        own = self.place(item.trial)[1]
        texts = self.same_prompt(item.trial)
        again = [one for sample, one in texts.get(own, {}).items() if sample != item.trial.sample]
        others = list(
            chain.from_iterable(told.values() for name, told in texts.items() if name != own)
        )
        if not again or not others or not self._drawn:
            return None
        within, between = (
            sum(likeness(text, one) for one in side) / len(side) for side in (again, others)
        )
        return within - between


def likeness(first: str, second: str) -> float:
    """The cosine of the character trigrams of two texts, 0 to 1.

    Worked: "abcd" and "abce" share one of two trigrams each: 1/2.
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
