"""The base of all planted subjects: finds the design's row for a request, and computes the true
share of each outcome in it. A subclass defines what can be tilted, and writes the answers.
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
    """The answers of one planted model to every cell of its protocol.

    answers: the kind of answers, as instruments name it (InstrumentKind.answers).
    what:    a noun for the answers, for messages ("texts").
    lacks:   settings that do not apply to such answers; giving one raises UsageError.
    planted: {setting: the outcome whose share it plants}.
    whole:   the outcome that gets the remaining share.
    alone:   True if shares can be set for one value only.
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
        """True if an instrument of the protocol labels answers of this kind."""
        return any(kind.answers == cls.answers for _, kind in kinds(protocol))

    @classmethod
    def names(cls, protocol: Protocol) -> Sequence[str]:
        """Lists the settings that tilt answers to a protocol; settings of outcomes are left out."""
        raise NotImplementedError

    @classmethod
    def highest(cls, name: str) -> float:
        """Returns the highest allowed number of a setting."""
        return 1.0

    @cached_property
    def cells(self) -> Mapping[str, Row]:
        """The design's cells: {prompt: cell}."""
        return cells_by_words(self.protocol)

    def cell(self, request: Request) -> Row:
        """Returns the cell of a request's prompt. Raises ModelError if the prompt has no cell."""
        for words in texts_of(request, bool(self.protocol.pictures)):
            if words in self.cells:
                return self.cells[words]
        raise ModelError(
            f"planted:{self.settings.text} does not know the prompt '{asked_of(request)[:60]}…': "
            f"it is not a prompt of {self.settings.protocol}. Name its protocol, for instance "
            "protocol=roles or protocol=FILE.toml."
        )

    def outcomes(self, cell: Mapping[str, str]) -> dict[str, float]:
        """Computes the true share of each outcome in a cell."""
        none = outcome_shares(self.settings, self.protocol, cell, self.planted)
        if INVALID in none:
            none[INVALID] += self.settings.rest
        return {self.whole: max(0.0, 1 - sum(none.values())), **none}

    def truth(self, cell: Mapping[str, str]) -> dict[str, float]:
        """Returns {setting: the true number that an audit of this cell should estimate}."""
        raise NotImplementedError

    def weight(self, cell: Mapping[str, str]) -> float:
        """Returns the weight of a cell in a mean over cells."""
        return 1.0

    def reply(self, request: Request, draws: Sequence[float]) -> Reply:
        """Replies to a request. Raises Incapable if a picture is asked for."""
        if request.size:
            raise Incapable(
                f"planted:{self.settings.text} writes texts, but was asked for a picture. Add for "
                "instance protocol=gramvis."
            )
        return Reply(self.write(self.cell(request), draws))

    def write(self, cell: Mapping[str, str], draws: Sequence[float]) -> str:
        """Writes the answer to a cell's prompt; draws[0] decides the outcome."""
        raise NotImplementedError

    def meaning(self, task: str, answer: str) -> str:
        """Returns the right label of an answer to a prompt; "" if unknown."""
        return ""

    def check_labels(self, labels: Sequence[str]) -> None:
        """Raises Incapable if none of a judge's labels can apply to answers to the protocol."""

    def decline(self, language: str, uniform: float) -> str:
        """Returns a refusal in a language; an English one if the language's pack has none."""
        return one_of(declines(language), uniform, self.settings)


class PlantedValues(PlantedAnswers):
    """Planted answers with independent attributes. Raises UsageError for shares above 1 in sum."""

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
        """Returns {attribute: values of which its instrument has example texts}."""
        return {
            name: tuple(values)
            for spec, kind in kinds(protocol)
            if kind.answers == cls.answers
            for name, values in kind.attributes(spec).items()
            if values
        }

    @classmethod
    def names(cls, protocol: Protocol) -> Sequence[str]:
        """Lists the settings of all values."""
        named = setting_names(cls.plantable(protocol))
        return [name for names in named.values() for name in names.values()]

    def shares(self, cell: Mapping[str, str]) -> dict[str, dict[str, float]]:
        """Returns {attribute: {value: true share}} of a cell."""
        return {
            attribute: divide_rest(self.settings, self.protocol, cell, attribute, names)
            for attribute, names in setting_names(self.attributes).items()
        }

    def truth(self, cell: Mapping[str, str]) -> dict[str, float]:
        """Returns {setting: true share of its value} of a cell."""
        named, shares = setting_names(self.attributes), self.shares(cell)
        return {
            name: shares[attribute][value]
            for attribute, names in named.items()
            for value, name in names.items()
        }


def kinds(protocol: Protocol) -> list[tuple[InstrumentSpec, InstrumentKind]]:
    """Lists (specification, kind) of a protocol's instruments."""
    return [(spec, registry.instrument_kind(spec.kind)) for spec in protocol.instruments]


def setting_names(attributes: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """Returns {attribute: {value: setting}}: VALUE, or ATTRIBUTE/VALUE with several attributes."""
    alone = len(attributes) == 1
    return {
        attribute: {value: value if alone else f"{attribute}/{value}" for value in values}
        for attribute, values in attributes.items()
    }


# which row of the design a request is about: by its prompt, or by its whole conversation


def cells_by_words(protocol: Protocol) -> Mapping[str, Row]:
    """Returns {prompt: row of the design}; a row's whole conversation is a further key."""
    cells = {protocol.prompt_text(cell): cell for cell in protocol.cells}
    if protocol.system or protocol.turns or protocol.pictures or SYSTEM in protocol.cells[0]:
        for cell in protocol.cells:
            asked = Message("user", protocol.prompt_text(cell), protocol.shown_with(cell))
            cells[_join((*protocol.context(cell), asked))] = cell
    return cells


def texts_of(request: Request, whole: bool = False) -> Iterable[str]:
    """Yields the keys under which `cells_by_words` may have a request: the whole conversation, then
    each message, last first. whole: True for the conversation only, as pictures distinguish rows.
    """
    yield _join(request.messages)
    if not whole:
        yield from (message.content for message in reversed(request.messages))


def asked_of(request: Request) -> str:
    """Returns the user's last message, which is the trial's prompt; "" if there is none."""
    messages = (message.content for message in reversed(request.messages) if message.role == "user")
    return next(messages, "")


def tails(text: str) -> Iterable[str]:
    """Yields a text, then the rest after each blank line: a judge may get a system prompt first."""
    while text:
        yield text
        text = text.partition("\n\n")[2]


def _join(messages: Iterable[Message]) -> str:
    return "\n".join(
        text
        for message in messages
        for text in (*(name[:NAME_DIGITS] for name in message.pictures), message.content)
    )
