"""Together (`together:MODEL`): OpenAI's chat format, and batches that are nearly OpenAI's."""

from __future__ import annotations

from ..batch.together import TogetherBatches
from ..http import HttpModel
from ..http.provider import Provider
from ..kinds import ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions
from .openai import OpenAIChat

TOGETHER = Provider(
    "together", "https://api.together.ai/v1", ("TOGETHER_API_KEY",), "openai/gpt-oss-20b"
)


def together(model: str, options: ModelOptions = DEFAULTS) -> HttpModel:
    """`together:MODEL`; the key comes from TOGETHER_API_KEY."""
    place = TOGETHER.place(model, options)
    made = place.model(options, OpenAIChat(model, place.key, local=False, read=options.read))
    made.batches = TogetherBatches()
    return made


KIND = ModelKind(
    "together",
    "together:MODEL, open models at Together",
    together,
    makes=(TEXT,),
    provider=TOGETHER,
    own_server=True,
    batches=True,
)
