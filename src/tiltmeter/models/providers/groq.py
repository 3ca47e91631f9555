"""Groq (`groq:MODEL`): OpenAI's chat format and batches, at Groq's address."""

from __future__ import annotations

from ..batch.format import Bounds
from ..batch.openai import OpenAIBatches
from ..http.provider import Provider
from .openai import OpenAIChat, chat_kind

GROQ = Provider(
    "groq", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), "llama-3.3-70b-versatile"
)

KIND = chat_kind(
    GROQ,
    "groq:MODEL, open models at Groq",
    OpenAIChat,
    OpenAIBatches(Bounds(50_000, 100 * 10**6, 24)),
)
