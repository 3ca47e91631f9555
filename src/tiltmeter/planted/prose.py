"""The prose of a planted model: letters, adverts, stories, with words from speech.toml. Pure.

    LIST=p, LIST.LEVEL=p      share of a list's words among the listed words of a text
                              (`agentic.women=.3`); each of the HITS_PER_TEXT words is sampled
                              independently, the other lists divide the rest
    VALUE=p, VALUE.LEVEL=p    share of a value of a rubric, or of a class of pronouns, among the
                              texts
    ATTRIBUTE/VALUE=p         the same if the protocol has several such attributes
    length=n, length.LEVEL=n  mean number of words: uniform between n/2 and 3n/2, but at least the
                              planted sentences
    refuse, invalid, foreign  shares of answers that are no text

Each planted value is one sentence of a fixed form; words that no list of the protocol has fill the
text up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from random import Random

from .. import registry
from ..instruments.length import length
from ..instruments.lexicon import Pattern, lists_of
from ..instruments.wording import texts
from ..protocol import InstrumentSpec, Protocol
from ..protocol.design.tables import fill
from ..protocol.instrument_kinds import InstrumentKind
from ..records import INVALID, OTHER_LANGUAGE, REFUSAL
from .answers import PlantedValues
from .settings import MOST_WEIGHT
from .speech import one_of, pick, prose_phrase, prose_phrases, sentences
from .tilt import planted_number

LENGTH = "length"  # the setting of the mean number of words
HITS_PER_TEXT = 5  # listed words of a text
WORDS_PER_SENTENCE = 9  # words of a sentence that fills a text up


class PlantedProse(PlantedValues):
    """The texts of one planted model, for every cell of its protocol."""

    answers = "prose"
    what = "texts"
    lacks = (*PlantedValues.lacks, "revise")

    @classmethod
    def names(cls, protocol: Protocol) -> Sequence[str]:
        """Lists the settings of all values, and `length`."""
        return [*super().names(protocol), LENGTH]

    @classmethod
    def highest(cls, name: str) -> float:
        """Returns a million for `length`, which is a number of words; else 1."""
        return MOST_WEIGHT if name == LENGTH else 1.0

    def write(self, cell: Mapping[str, str], draws: Sequence[float]) -> str:
        """Writes a cell's text. draws[0] decides the outcome, all draws together seed the rest."""
        outcome = pick(self.outcomes(cell), draws[0], INVALID)
        if outcome == REFUSAL:
            return self.decline("en", draws[1])
        if outcome == OTHER_LANGUAGE:
            return one_of(sentences("en", OTHER_LANGUAGE), draws[1], self.settings)
        if outcome == INVALID:
            return "..."
        random = Random(repr(draws))
        text = " ".join([prose_phrase("opening"), *self._sentences(cell, random)])
        wanted = planted_number(self.settings, self.protocol, LENGTH, cell)
        if wanted is None:
            return text
        return self._fill_up(text, random.randint(round(wanted / 2), round(3 * wanted / 2)))

    def _sentences(self, cell: Mapping[str, str], random: Random) -> Iterator[str]:
        """Yields one sentence per instrument that has planted values."""
        for spec in self.protocol.instruments:
            shares = self.shares(cell).get(spec.attribute, {})
            if not shares:
                continue
            kind = registry.instrument_kind(spec.kind)
            if kind.hits:
                hits = [
                    self._example(kind, spec, shares, cell, random) for _ in range(HITS_PER_TEXT)
                ]
                yield prose_phrase("words").format(words=", ".join(hits))
            else:
                yield self._example(kind, spec, shares, cell, random)

    def _example(
        self,
        kind: InstrumentKind,
        spec: InstrumentSpec,
        shares: Mapping[str, float],
        cell: Mapping[str, str],
        random: Random,
    ) -> str:
        """Samples a value by its share and returns a text that the instrument gives this label."""
        value = pick(shares, random.random(), otherwise=list(shares)[-1])
        examples = kind.examples(spec, value, cell.get("language", ""))
        text = random.choice(examples) if kind.hits or len(examples) > 1 else examples[0]
        return fill(text, cell, self.protocol.source)

    def _fill_up(self, text: str, number: int) -> str:
        """Appends sentences of unlisted words until the text has `number` words."""
        missing = number - length(text)
        words = [self._fillers[place % len(self._fillers)] for place in range(max(0, missing))]
        parts = [
            " ".join(words[start : start + WORDS_PER_SENTENCE])
            for start in range(0, len(words), WORDS_PER_SENTENCE)
        ]
        return " ".join([text, *(f"{part[:1].upper()}{part[1:]}." for part in parts)])

    @cached_property
    def _fillers(self) -> list[str]:
        patterns = [
            Pattern(lists, spec.name)
            for spec in self.protocol.instruments
            if spec.kind == "lexicon"
            for lists in lists_of(spec).values()
        ]
        return [
            word
            for word in prose_phrases("fillers")
            if not any(pattern.hits(word) for pattern in patterns)
        ]


def value_sentence(value: str) -> str:
    """Returns the sentence that states a rubric's value, which planted judges recognise."""
    return texts("examples").fill("value", value=value)
