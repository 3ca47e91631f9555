"""Which row of the design a request is about: by its prompt, or by its whole conversation where the
system prompt or earlier turns tell rows apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..protocol import Protocol
from ..protocol.design.tables import Row
from ..records import Message, Request


def cells_by_words(protocol: Protocol) -> Mapping[str, Row]:
    """The rows of the design by their prompts and, with turns before them, by all that is said."""
    found = {protocol.prompt_text(cell): cell for cell in protocol.cells}
    if protocol.system or protocol.turns:
        for cell in protocol.cells:
            asked = (*protocol.context(cell), Message("user", protocol.prompt_text(cell)))
            found[_join(asked)] = cell
    return found


def texts_of(request: Request) -> Iterable[str]:
    """What a request may be looked up by, the whole conversation first."""
    yield _join(request.messages)
    yield from (message.content for message in reversed(request.messages))


def asked_of(request: Request) -> str:
    """The last that a user says, the prompt of a trial; "" where none does."""
    said = (message.content for message in reversed(request.messages) if message.role == "user")
    return next(said, "")


def tails(text: str) -> Iterable[str]:
    """A text, then what follows each of its blank lines: a judge may be shown the system prompt
    above the prompt.
    """
    while text:
        yield text
        text = text.partition("\n\n")[2]


def _join(messages: Iterable[Message]) -> str:
    return "\n".join(message.content for message in messages)
