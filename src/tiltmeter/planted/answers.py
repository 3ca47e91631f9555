"""What all planted subjects share: the cells of a protocol and the true share of every outcome in
each. A subclass says what an answer is, which settings such answers cannot have, and writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from .. import registry
from ..errors import UsageError
from ..protocol import Protocol
from ..protocol.design.tables import Row
from ..records import ANSWER, INVALID, OTHER_LANGUAGE, REFUSAL
from .capabilities import setting_names
from .lookup import cells_by_words
from .settings import OUTCOMES, Settings
from .speech import declines, one_of
from .tilt import divide_rest, outcome_shares

# setting → outcome, of answers that are texts and no choices
TEXT_OUTCOMES = {
    name: outcome
    for name, outcome in OUTCOMES.items()
    if outcome in (REFUSAL, INVALID, OTHER_LANGUAGE)
}


class PlantedAnswers:
    """The answers of one planted model for every cell of its protocol.

    what:    what they are, for messages ("texts").
    lacks:   settings that such answers do not have; UsageError where one is given.
    planted: setting → the outcome that it plants.
    whole:   the outcome that takes the share that is left.
    """

    what: ClassVar[str]
    lacks: ClassVar[tuple[str, ...]]
    planted: ClassVar[Mapping[str, str]] = TEXT_OUTCOMES
    whole: ClassVar[str] = ANSWER

    def __init__(self, settings: Settings) -> None:
        self.settings, self.protocol = settings, registry.protocol(settings.protocol)
        for name in self.lacks:
            if getattr(settings, name) or name in settings.planted:
                raise UsageError(f"planted: {self.what} have no {name}. Leave it out.")

    @cached_property
    def cells(self) -> Mapping[str, Row]:
        """Prompt → cell of the design."""
        return cells_by_words(self.protocol)

    def outcomes(self, cell: Mapping[str, str]) -> dict[str, float]:
        """The true share of every outcome."""
        none = outcome_shares(self.settings, self.protocol, cell, self.planted)
        if INVALID in none:
            none[INVALID] += self.settings.rest
        return {self.whole: max(0.0, 1 - sum(none.values())), **none}

    def decline(self, language: str, uniform: float) -> str:
        """A refusal in a language, in English where it has none."""
        return one_of(declines(language), uniform, self.settings)


class PlantedText(PlantedAnswers):
    """Planted answers that are texts."""

    def write(self, cell: Mapping[str, str], draws: Sequence[float]) -> str:
        """The answer to the prompt of a cell; the first number decides its outcome."""
        raise NotImplementedError


class PlantedValues(PlantedAnswers):
    """Planted answers that have values of attributes, each attribute by itself. Raises UsageError
    for shares above 1.
    """

    lacks: ClassVar[tuple[str, ...]] = (
        "both",
        "neither",
        "off",
        "short",
        "long",
        "one",
        "more",
        "spread",
        "order",
        "rest",
    )

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.attributes = self.plantable(self.protocol)
        for cell in self.protocol.cells:
            self.outcomes(cell)
            self.shares(cell)

    @staticmethod
    def plantable(protocol: Protocol) -> Mapping[str, Sequence[str]]:
        """Attribute → values that can be planted."""
        raise NotImplementedError

    def shares(self, cell: Mapping[str, str]) -> dict[str, dict[str, float]]:
        """Attribute → value → its true share."""
        return {
            attribute: divide_rest(self.settings, self.protocol, cell, attribute, names)
            for attribute, names in setting_names(self.attributes).items()
        }
