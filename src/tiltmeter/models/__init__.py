"""The one seam to the outside: everything that leaves the process goes through a `Model`.

A model is asked for one reply at a time; the engine does the rest (limits, retries, budget, resume). A provider of
another wire format is a `Dialect`, two pure functions, given to `HttpModel` (see http.py).
"""

from __future__ import annotations

from typing import NamedTuple

from ..records import Reply, Request

# The most tokens that one picture is billed as: gpt-4o-mini, 2,833 and 5,667 for each of up to eight tiles (OpenAI's guide to
# vision, 2026); the other models that are known here stay below 5,000.
PICTURE_TOKENS = 50_000


class Price(NamedTuple):
    """US dollars for a million tokens."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1e6

    def worst(self, request: Request) -> float:
        """The most that a request can cost: a token is at least one byte, and each turn has a few of its own."""
        size = sum(len(message.content.encode()) + 16 for message in request.messages) + len(request.begin.encode())
        size += PICTURE_TOKENS * sum(len(message.pictures) for message in request.messages)
        return self.of(size + len(request.schema), request.sampling.max_tokens)


FREE = Price(0.0, 0.0)


class Model:
    """A subject or a judge. `price` None means unknown; `parallel` is how many calls it takes at once."""

    name: str
    price: Price | None = None
    parallel: int = 16
    continues: bool = False  # takes a begun answer

    async def open(self) -> None:
        """Called once before the first request, in the loop that asks."""

    async def close(self) -> None:
        """Called once after the last request, also after an error."""

    async def ask(self, request: Request) -> Reply:
        """One reply. Raises TransientError (worth another try) or ModelError (the run stops)."""
        raise NotImplementedError
