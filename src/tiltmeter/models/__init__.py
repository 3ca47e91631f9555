"""The only interface to the outside: everything that leaves the process goes through a `Model`.

A model is asked for one reply at a time; the engine does the rest (limits, retries, budget,
resume). For a provider with another wire format one writes a `Dialect`, two pure functions, and
gives it to `HttpModel` (see http/).
"""

from __future__ import annotations

from typing import NamedTuple

from ..errors import Incapable
from ..records import Json, Reply, Request

# The most tokens that one picture is billed as: gpt-4o-mini, 2,833 and 5,667 for each of up to
# eight tiles (OpenAI's guide to vision, as github.com/autogenhub/autogen/pull/57 has it); other
# models have up to 15,000 (huggingface.co/datasets/JOHNISKING/ image-token-cost, 12 megapixels).
PICTURE_TOKENS = 50_000


# The most tokens that a generated picture is billed as: gpt-image-2 in high quality, 7,024 for
# 1024x1024 and 13,342 for 3840x2160 (by the formula of community.openai.com/t/1382699), with room
# for models that think before they draw.
DRAWN_TOKENS = 16_000


class Price(NamedTuple):
    """A price in US dollars per million tokens, and per generated picture.

    reserve: tokens reserved for thinking, beyond the limit of an answer; `worst` adds them.
    """

    prompt: float
    completion: float
    picture: float = 0.0
    reserve: float = 0.0

    def of(self, prompt_tokens: int, completion_tokens: int, pictures: int = 0) -> float:
        """Computes the cost of a number of tokens and pictures, in US dollars."""
        return (
            self.prompt * prompt_tokens + self.completion * completion_tokens
        ) / 1e6 + self.picture * pictures

    def times(self, share: float) -> Price:
        """Returns the price multiplied by a share, as providers charge for batches."""
        return Price(
            self.prompt * share, self.completion * share, self.picture * share, self.reserve
        )

    def worst(self, request: Request) -> float:
        """Returns an upper bound of a request's cost: one token per byte, 16 more per turn."""
        size = sum(len(message.content.encode()) + 16 for message in request.messages) + len(
            request.begin.encode()
        )
        size += PICTURE_TOKENS * sum(len(message.pictures) for message in request.messages)
        return self.of(
            size + len(request.schema),
            DRAWN_TOKENS if request.size else request.sampling.max_tokens + round(self.reserve),
            bool(request.size),
        )

    def cost(self, request: Request, reply: Reply) -> float | None:
        """Computes a reply's cost; None if it depends on tokens that the reply does not report."""
        is_picture = bool(request.size and (reply.picture or reply.blob))
        if reply.usage is None and (self.prompt or self.completion):
            return None
        return self.of(*(reply.usage or (0, 0)), is_picture)


FREE = Price(0.0, 0.0)


class Model:
    """A subject or a judge. price: None if unknown; parallel: the largest number of calls at once.

    makes: the kinds of outputs: "text", "pictures" or both. servers: the number of servers that
    share the calls. sees: False if the model is known not to accept pictures.
    """

    name: str
    price: Price | None = None
    parallel: int = 16
    servers: int = 1
    continues: bool = False  # takes a begun answer
    batch: int = 1  # requests that it works on as one
    reserve: int = 0  # tokens that it may think beside the limit of an answer
    makes: tuple[str, ...] = ("text",)
    sees: bool = True

    @property
    def fingerprint(self) -> str:
        """Identifies an open model's weights, libraries, devices; "" if replies carry their own."""
        return ""

    def allowed_rate(self, tokens: float) -> tuple[float, float] | None:
        """Returns (calls per second that the server's last headers allow, seconds for which this
        holds), or None if the headers say nothing. tokens: the mean number per call.
        """
        return None

    @property
    def progress(self) -> str:
        """The text to show beside a stage's progress, or ""."""
        return ""

    def check(self, request: Request) -> None:
        """Raises Incapable if the model cannot make the output wanted (text or a picture), or would
        be shown a picture that it cannot accept.
        """
        if not self.sees and any(message.pictures for message in request.messages):
            raise Incapable(
                f"{self.name} accepts no pictures, but the prompt has some. Name a vision model, "
                "for instance openai:gpt-4.1-mini"
            )
        if request.size and "pictures" not in self.makes:
            raise Incapable(
                f"{self.name} writes text, but pictures are asked for. Name a model that makes "
                "pictures, for instance --model openai:gpt-image-2"
            )
        if not request.size and "text" not in self.makes:
            raise Incapable(
                f"{self.name} makes pictures, but text is asked for. Name a model that writes, for "
                "instance openai:gpt-4.1-mini"
            )

    def sends_temperature(self, request: Request) -> bool:
        """True if the temperature of a request reaches the model."""
        return True

    @property
    def switched_off(self) -> bool:
        """True if the model is asked not to think."""
        return False

    def reserve_thought(self, tokens: int) -> None:
        """Increases the token limit of requests by `tokens`, for the model's thinking."""
        self.reserve = tokens
        if self.price is not None:
            self.price = self.price._replace(reserve=tokens)

    async def describe(self) -> dict[str, Json]:
        """Describes an open model's server and settings, for the record of a run."""
        return {}

    async def open(self) -> None:
        """Prepares the model; called once before the first request, in the asking event loop."""

    async def close(self) -> None:
        """Frees resources; called once after the last request, also after an error."""

    async def ask(self, request: Request) -> Reply:
        """Returns a reply. Raises TransientError (to be retried) or ModelError (ends the run)."""
        raise NotImplementedError


class Queued(Model):
    """A model to which work is submitted and fetched later; the work's id is stored in between."""

    async def submit(self, request: Request) -> str | Reply:
        """Submits the request, once; returns the work's id, or a refusal. Raises as `ask` does."""
        raise NotImplementedError

    async def fetch(self, request: Request, remote: str) -> Reply:
        """Waits for submitted work; never submits it again, as it is paid for.

        Raises Unanswered if the work has not ended in time; the same command then waits further.
        Failed work, or work whose result is gone, is a reply with the outcome `error`.
        """
        raise NotImplementedError
