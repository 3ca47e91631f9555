"""Groq (`groq:MODEL`): OpenAI's chat format and batches at an address of its own."""

from __future__ import annotations

from ..batch.format import Bounds
from ..batch.openai import OpenAIBatches
from ..http import HttpModel
from ..http.provider import Provider
from ..kinds import ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions
from .openai import OpenAIChat

GROQ = Provider(
    "groq", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), "llama-3.3-70b-versatile"
)


def groq(model: str, options: ModelOptions = DEFAULTS) -> HttpModel:
    """`groq:MODEL`; the key comes from GROQ_API_KEY."""
    place = GROQ.place(model, options)
    made = place.model(options, OpenAIChat(model, place.key, local=False, read=options.read))
    made.batches = OpenAIBatches(Bounds(50_000, 100 * 10**6, 24))
    return made


KIND = ModelKind(
    "groq",
    "groq:MODEL, open models at Groq",
    groq,
    makes=(TEXT,),
    provider=GROQ,
    own_server=True,
    batches=True,
)
