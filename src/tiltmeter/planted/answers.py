"""The base of all planted subjects: the row of the design that a request is about, and the true
share of every outcome in it. A subclass says what can be planted in such answers and writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from .. import registry
from ..errors import Incapable, ModelError, UsageError
from ..protocol import InstrumentSpec, Protocol
from ..protocol.design.tables import SYSTEM, Row
from ..protocol.instrument_kinds import InstrumentKind
from ..records import ANSWER, INVALID, OTHER_LANGUAGE, REFUSAL, Message, Reply, Request
from .settings import OUTCOMES, Settings
from .speech import declines, one_of
from .tilt import divide_rest, outcome_shares

# setting → outcome, of answers that are texts and no choices
TEXT_OUTCOMES = {
    name: outcome
    for name, outcome in OUTCOMES.items()
    if outcome in (REFUSAL, INVALID, OTHER_LANGUAGE)
}
NAME_DIGITS = 32  # of the hash that names a picture


class PlantedAnswers:
    """The answers of one planted model for every cell of its protocol.

    answers: the answers of the instruments that read them (InstrumentKind.answers).
    what:    what they are, for messages ("texts").
    lacks:   settings that such answers do not have; UsageError where one is given.
    planted: setting → the outcome that it plants.
    whole:   the outcome that takes the share that is left.
    alone:   True if one value alone can be given shares.
    """

    answers: ClassVar[str]
    what: ClassVar[str]
    lacks: ClassVar[tuple[str, ...]] = ()
    planted: ClassVar[Mapping[str, str]] = TEXT_OUTCOMES
    whole: ClassVar[str] = ANSWER
    alone: ClassVar[bool] = False

    def __init__(self, settings: Settings) -> None:
        self.settings, self.protocol = settings, registry.protocol(settings.protocol)
        for name in self.lacks:
            if getattr(settings, name) or name in settings.planted:
                raise UsageError(f"planted: {self.what} have no {name}. Leave it out.")

    @classmethod
    def fits(cls, protocol: Protocol) -> bool:
        """True if the answers that a protocol asks for are such answers."""
        return any(kind.answers == cls.answers for _, kind in kinds(protocol))

    @classmethod
    def names(cls, protocol: Protocol) -> Sequence[str]:
        """The settings that plant something in answers to a protocol, beside the outcomes."""
        raise NotImplementedError

    @classmethod
    def highest(cls, name: str) -> float:
        """The highest number that such a setting can have."""
        return 1.0

    @cached_property
    def cells(self) -> Mapping[str, Row]:
        """Prompt → cell of the design."""
        return cells_by_words(self.protocol)

    def cell(self, request: Request) -> Row:
        """The cell of a request's prompt. Raises ModelError if the protocol has no such prompt."""
        for words in texts_of(request, bool(self.protocol.pictures)):
            if words in self.cells:
                return self.cells[words]
        raise ModelError(
            f"planted:{self.settings.text} does not know the prompt '{asked_of(request)[:60]}…': "
            f"it is none of {self.settings.protocol}. Add for instance protocol=roles or "
            "protocol=FILE.toml."
        )

    def outcomes(self, cell: Mapping[str, str]) -> dict[str, float]:
        """The true share of every outcome."""
        none = outcome_shares(self.settings, self.protocol, cell, self.planted)
        if INVALID in none:
            none[INVALID] += self.settings.rest
        return {self.whole: max(0.0, 1 - sum(none.values())), **none}

    def truth(self, cell: Mapping[str, str]) -> dict[str, float]:
        """The numbers that an audit of one cell should find, by their settings."""
        raise NotImplementedError

    def weight(self, cell: Mapping[str, str]) -> float:
        """The weight of a cell in the mean over several."""
        return 1.0

    def reply(self, request: Request, draws: Sequence[float]) -> Reply:
        """A reply to a request. Raises Incapable if a picture is asked for."""
        if request.size:
            raise Incapable(
                f"planted:{self.settings.text} writes and does not draw. Add for instance "
                "protocol=gramvis."
            )
        return Reply(self.write(self.cell(request), draws))

    def write(self, cell: Mapping[str, str], draws: Sequence[float]) -> str:
        """The answer to the prompt of a cell; the first number decides its outcome."""
        raise NotImplementedError

    def meaning(self, task: str, answer: str) -> str:
        """The label of an answer to a prompt, as a planted judge knows it; "" if it knows none."""
        return ""

    def check_labels(self, labels: Sequence[str]) -> None:
        """Raises Incapable if a judge may say no label that answers to the protocol have."""

    def decline(self, language: str, uniform: float) -> str:
        """A refusal in a language, in English where it has none."""
        return one_of(declines(language), uniform, self.settings)


class PlantedValues(PlantedAnswers):
    """Planted answers with attributes, each by itself. UsageError for shares above 1."""

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

    @classmethod
    def plantable(cls, protocol: Protocol) -> Mapping[str, Sequence[str]]:
        """Attribute → its values that the instruments give examples of."""
        return {
            name: tuple(values)
            for spec, kind in kinds(protocol)
            if kind.answers == cls.answers
            for name, values in kind.attributes(spec).items()
            if values
        }

    @classmethod
    def names(cls, protocol: Protocol) -> Sequence[str]:
        """The names of all values."""
        named = setting_names(cls.plantable(protocol))
        return [name for names in named.values() for name in names.values()]

    def shares(self, cell: Mapping[str, str]) -> dict[str, dict[str, float]]:
        """Attribute → value → its true share."""
        return {
            attribute: divide_rest(self.settings, self.protocol, cell, attribute, names)
            for attribute, names in setting_names(self.attributes).items()
        }

    def truth(self, cell: Mapping[str, str]) -> dict[str, float]:
        """The share of each value, by its setting's name."""
        named, shares = setting_names(self.attributes), self.shares(cell)
        return {
            name: shares[attribute][value]
            for attribute, names in named.items()
            for value, name in names.items()
        }


def kinds(protocol: Protocol) -> list[tuple[InstrumentSpec, InstrumentKind]]:
    """The instruments of a protocol with their kinds."""
    return [(spec, registry.instrument_kind(spec.kind)) for spec in protocol.instruments]


def setting_names(attributes: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """Maps attribute → value → its setting's name: the value, or ATTRIBUTE/VALUE."""
    alone = len(attributes) == 1
    return {
        attribute: {value: value if alone else f"{attribute}/{value}" for value in values}
        for attribute, values in attributes.items()
    }


# which row of the design a request is about: by its prompt, or by its whole conversation


def cells_by_words(protocol: Protocol) -> Mapping[str, Row]:
    """Maps prompts, with turns or pictures also all that is shown, to rows of the design."""
    cells = {protocol.prompt_text(cell): cell for cell in protocol.cells}
    if protocol.system or protocol.turns or protocol.pictures or SYSTEM in protocol.cells[0]:
        for cell in protocol.cells:
            asked = Message("user", protocol.prompt_text(cell), protocol.shown_with(cell))
            cells[_join((*protocol.context(cell), asked))] = cell
    return cells


def texts_of(request: Request, whole: bool = False) -> Iterable[str]:
    """Yields the texts by which a request may be looked up, the whole conversation first; `whole`:
    only that, since pictures distinguish rows.
    """
    yield _join(request.messages)
    if not whole:
        yield from (message.content for message in reversed(request.messages))


def asked_of(request: Request) -> str:
    """The last that a user says, the prompt of a trial; "" where none does."""
    messages = (message.content for message in reversed(request.messages) if message.role == "user")
    return next(messages, "")


def tails(text: str) -> Iterable[str]:
    """Yields a text and its parts after blank lines: a judge may see the system prompt above."""
    while text:
        yield text
        text = text.partition("\n\n")[2]


def _join(messages: Iterable[Message]) -> str:
    return "\n".join(
        text
        for message in messages
        for text in (*(name[:NAME_DIGITS] for name in message.pictures), message.content)
    )
