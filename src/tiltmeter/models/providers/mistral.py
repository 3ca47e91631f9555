"""Mistral (`mistral:MODEL`): OpenAI's chat format, in which the seed is called `random_seed` and an
error lists what it does not know; no log-probabilities.
"""

from __future__ import annotations

from ...records import Json, Request
from ..batch.mistral import MistralBatches
from ..http import HttpModel, HttpRequest
from ..http.body import list_at, text_at
from ..http.provider import Provider
from ..kinds import ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions
from .openai import OpenAIChat

MISTRAL = Provider(
    "mistral", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), "mistral-small-latest"
)
_SEED = "random_seed"


class MistralChat(OpenAIChat):
    """OpenAI's dialect with another name for the seed."""

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """As OpenAI's, the seed under its name here."""
        sent = super().build(request, omitted)
        body = {_SEED if name == "seed" else name: value for name, value in sent.body.items()}
        return sent._replace(body=body)

    def unwelcome(self, body: Json) -> str:
        """The parameter that the error names, or the first that it says is extra."""
        details = list_at(body, "detail") or list_at(body, "message", "detail")
        named = [text_at(one, "loc", -1) for one in details]
        if named:
            said = " ".join(named).replace(_SEED, "seed")
            return super().unwelcome({"error": {"message": said}})
        return super().unwelcome(body)


def mistral(model: str, options: ModelOptions = DEFAULTS) -> HttpModel:
    """`mistral:MODEL`; the key comes from MISTRAL_API_KEY."""
    place = MISTRAL.place(model, options)
    made = place.model(options, MistralChat(model, place.key, local=False, read=options.read))
    made.batches = MistralBatches()
    return made


KIND = ModelKind(
    "mistral",
    "mistral:MODEL, Mistral's own API",
    mistral,
    makes=(TEXT,),
    provider=MISTRAL,
    own_server=True,
    batches=True,
)
