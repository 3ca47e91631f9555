"""What planted prose and planted pictures share: for every cell of a protocol the true share of
each attribute's values. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from .. import registry
from ..errors import UsageError
from ..protocol import Protocol
from ..protocol.tables import Row
from ..records import ANSWER
from .capabilities import named
from .settings import Settings
from .tilt import divided, outcome_shares


class PlantedValues:
    """One planted model's shares. Raises UsageError for a setting that such outputs do not have,
    and for shares above 1.
    """

    what: ClassVar[str]  # "texts", for messages
    lacks: ClassVar[tuple[str, ...]]  # settings that they do not have
    none: ClassVar[Mapping[str, str]]  # setting → the outcome that it plants

    def __init__(self, settings: Settings) -> None:
        self.settings, self.protocol = settings, registry.protocol(settings.protocol)
        self.attributes = self.found(self.protocol)
        for name in self.lacks:
            if getattr(settings, name) or name in settings.planted:
                raise UsageError(f"planted: {self.what} have no {name}. Leave it out.")
        for cell in self.protocol.cells:
            self.outcomes(cell)
            self.shares(cell)

    @staticmethod
    def found(protocol: Protocol) -> Mapping[str, Sequence[str]]:
        """Attribute → values that can be planted."""
        raise NotImplementedError

    @cached_property
    def cells(self) -> dict[str, Row]:
        """Prompt → cell of the design."""
        return {self.protocol.words(cell): cell for cell in self.protocol.cells}

    def outcomes(self, cell: Mapping[str, str]) -> dict[str, float]:
        """The true share of every outcome; `answer` is a text or a picture."""
        none = outcome_shares(self.settings, self.protocol, cell, self.none)
        return {ANSWER: max(0.0, 1 - sum(none.values())), **none}

    def shares(self, cell: Mapping[str, str]) -> dict[str, dict[str, float]]:
        """Attribute → value → its true share."""
        return {
            attribute: divided(self.settings, self.protocol, cell, attribute, names)
            for attribute, names in named(self.attributes).items()
        }
