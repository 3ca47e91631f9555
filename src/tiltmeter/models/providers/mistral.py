"""Mistral (`mistral:MODEL`): OpenAI's chat format, but the seed is called `random_seed`, an error
lists unknown parameters, and there are no log-probabilities.
"""

from __future__ import annotations

from ...records import Json, Request
from ..batch.mistral import MistralBatches
from ..http import HttpRequest
from ..http.body import list_at, text_at
from ..http.provider import Provider
from .openai import OpenAIChat, chat_kind

MISTRAL = Provider(
    "mistral", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), "mistral-small-latest"
)
_SEED = "random_seed"


class MistralChat(OpenAIChat):
    """OpenAI's dialect with another name for the seed."""

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds OpenAI's request, with the seed under Mistral's name."""
        sent = super().build(request, omitted)
        body = {_SEED if name == "seed" else name: value for name, value in sent.body.items()}
        return sent._replace(body=body)

    def unwelcome(self, body: Json) -> str:
        """Returns the parameter that the error names, or the first that it lists as superfluous."""
        details = list_at(body, "detail") or list_at(body, "message", "detail")
        named = [text_at(detail, "loc", -1) for detail in details]
        if named:
            text = " ".join(named).replace(_SEED, "seed")
            return super().unwelcome({"error": {"message": text}})
        return super().unwelcome(body)


KIND = chat_kind(MISTRAL, "mistral:MODEL, Mistral's own API", MistralChat, MistralBatches())
