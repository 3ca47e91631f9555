"""The size of requests: tokens estimated by characters, and their upper bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...languages.patterns import lazy
from ...models import DRAWN_TOKENS, FREE, PICTURE_TOKENS, Price
from ...models.kinds import known_kind
from ...records import Request

MESSAGE_TOKENS = 8  # that a message has beside its text
# Tokens of a picture of 1,024 × 1,024 that is shown. By the providers' guides: width · height ÷ 750
# = 1,398 with Claude (platform.claude.com/docs/en/build-with-claude/vision), 765 with gpt-4o and
# 1,024 · 1.62 = 1,659 with gpt-4.1-mini (platform.openai.com/docs/guides/images-vision). At second
# hand: up to 1,120 with Gemini 3 (of ai.google.dev/gemini-api/docs/media-resolution), 2,833 + 4 ·
# 5,667 = 25,501 with gpt-4o-mini (github.com/autogenhub/autogen/pull/57), which only `most` allows
# for.
SHOWN_PICTURE_TOKENS = 1_500
# Tokens of a picture of 1,024 × 1,024 that is drawn: gpt-image-2's in high quality, as OpenAI's own
# calculator said in April 2026 (community.openai.com/t/1379464); gpt-image-1's largest had 6,240
# (github.com/traceloop/openllmetry-js/pull/623).
DRAWN_PICTURE_TOKENS = 7_024
_ACCENT = lazy("[\u0080-\u024f]")  # the Latin letters beyond ASCII
_BEYOND_LATIN = lazy("[\u0250-\U0010ffff]+")  # Greek, Cyrillic and all that comes after
TEMPLATE_TOKENS = 22.0  # of a chat template, beside those of its messages


class Size(NamedTuple):
    """The size of a call. tokens, size: the prompt's tokens, estimated and at most; limit, longest:
    the tokens of the longest completion, estimated and at most; drawn: number of pictures made.
    """

    tokens: float
    size: float
    limit: float
    longest: float
    drawn: float = 0.0


def tokens(text: str) -> float:
    """Estimates the tokens of a text. Rates, with those of SmolLM2 and Qwen2.5 on real prompts:
    English characters ÷ 4 (÷ 3.9 to 5.1), other Latin ÷ 3 (÷ 2.9 to 3.4), other scripts .75 per
    character (.63 to .76 in Chinese and Japanese).
    """
    if text.isascii():
        return len(text) / 4
    latin = len(_BEYOND_LATIN.sub("", text))
    return latin / (3 if _ACCENT.search(text) else 4) + 0.75 * (len(text) - latin)


def template_tokens(model: str, price: Price | None) -> float:
    """Returns the tokens that a local model's chat template adds to a conversation: turn marks and
    often a system prompt (some 30 in SmolLM2 and Qwen2.5); 0 for providers, which add few.
    """
    kind = known_kind(model)
    is_served = kind is not None and kind.provider is not None and price == FREE
    return TEMPLATE_TOKENS if is_served or (kind is not None and kind.templated) else 0.0


def size(request: Request) -> Size:
    """Estimates the size of one request."""
    texts = [*(message.content for message in request.messages), request.begin, request.schema]
    pictures, limit = (
        sum(len(message.pictures) for message in request.messages),
        request.sampling.max_tokens,
    )
    return Size(
        sum(map(tokens, texts))
        + MESSAGE_TOKENS * len(request.messages)
        + SHOWN_PICTURE_TOKENS * pictures,
        sum(len(text.encode()) for text in texts)
        + 16 * len(request.messages)
        + PICTURE_TOKENS * pictures,
        DRAWN_PICTURE_TOKENS if request.size else limit,
        DRAWN_TOKENS if request.size else limit,
        bool(request.size),
    )


def mean_size(sizes: Sequence[Size]) -> Size:
    """Returns the mean of several sizes; zeros if the list is empty."""
    number = max(1, len(sizes))
    return (
        Size(*(sum(part) / number for part in zip(*sizes, strict=True)))
        if sizes
        else Size(0.0, 0.0, 0.0, 0.0)
    )
