"""Which row of the design a request is about: by its prompt, or by its whole conversation where the
system prompt or earlier turns tell rows apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..protocol import Protocol
from ..protocol.design.tables import SYSTEM, Row
from ..records import Message, Request

NAME_DIGITS = 32  # of the hash that names a picture


def cells_by_words(protocol: Protocol) -> Mapping[str, Row]:
    """The rows of the design by their prompts and, with turns or pictures before them, by all that
    is said and shown.
    """
    found = {protocol.prompt_text(cell): cell for cell in protocol.cells}
    if protocol.system or protocol.turns or protocol.pictures or SYSTEM in protocol.cells[0]:
        for cell in protocol.cells:
            asked = Message("user", protocol.prompt_text(cell), protocol.shown_with(cell))
            found[_join((*protocol.context(cell), asked))] = cell
    return found


def texts_of(request: Request, whole: bool = False) -> Iterable[str]:
    """What a request may be looked up by, the whole conversation first; `whole`: by nothing else,
    since pictures tell rows apart.
    """
    yield _join(request.messages)
    if not whole:
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
    return "\n".join(
        text
        for message in messages
        for text in (*(name[:NAME_DIGITS] for name in message.pictures), message.content)
    )
