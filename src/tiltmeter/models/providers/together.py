"""Together (`together:MODEL`): OpenAI's chat format, with batches almost like OpenAI's."""

from __future__ import annotations

from ..batch.together import TogetherBatches
from ..http.provider import Provider
from .openai import OpenAIChat, chat_kind

TOGETHER = Provider(
    "together", "https://api.together.ai/v1", ("TOGETHER_API_KEY",), "openai/gpt-oss-20b"
)

KIND = chat_kind(TOGETHER, "together:MODEL, open models at Together", OpenAIChat, TogetherBatches())
