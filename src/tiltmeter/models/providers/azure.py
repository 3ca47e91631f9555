"""Azure's OpenAI deployments (`azure:DEPLOYMENT`): OpenAI's chat format at the address of the
user's own resource, with the key in the header `api-key`.

The resource is `--base-url azure=https://RESOURCE.openai.azure.com`, or AZURE_OPENAI_ENDPOINT. The
version of the interface is `azure:DEPLOYMENT?version=2024-10-21`, else OPENAI_API_VERSION, else the
one here (learn.microsoft.com/azure/ai-foundry/openai/reference). An address that ends in /openai/v1
needs none.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from urllib.parse import quote, urlsplit

from ...errors import MissingKey, UsageError
from ...records import Request
from ..batch.openai import OpenAIBatches
from ..http import HttpModel, HttpRequest
from ..http.dialect import CHAT
from ..http.provider import Place, Provider
from ..kinds import ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions, ReadBlob
from ..reasoning import chat_fields
from .openai import OpenAIChat
from .openai_responses import PATH as RESPONSES

VERSION = "2024-10-21"
ENDPOINT, VERSION_NAME = "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"
_VERSION = "?version="
_NEW = "/openai/v1"
_COMPLETIONS = "/chat/completions"
EXAMPLE = "--model azure:DEPLOYMENT --base-url azure=https://RESOURCE.openai.azure.com"


class AzureChat(OpenAIChat):
    """OpenAI's dialect with another path and another header."""

    def __init__(
        self,
        deployment: str,
        key: str,
        path: str,
        read: ReadBlob | None = None,
        effort: str = "",
    ) -> None:
        fields = chat_fields("azure.com", effort)
        super().__init__(deployment, "", local=False, read=read, fields=fields)
        self._path = path
        self._headers["api-key"] = key

    def build(self, request: Request, omitted: frozenset[str]) -> HttpRequest:
        """Builds OpenAI's request at the deployment's path; for responses, at their common path."""
        path = self._path
        if CHAT in omitted:
            path = RESPONSES if path == _COMPLETIONS else f"{_NEW}{RESPONSES}"
        return super().build(request, omitted)._replace(path=path)


AZURE = Provider("azure", "", ("AZURE_OPENAI_API_KEY",), "DEPLOYMENT")


def azure(rest: str, options: ModelOptions = DEFAULTS) -> HttpModel:
    """Makes the model `azure:DEPLOYMENT`. Raises UsageError or MissingKey with what to type."""
    deployment, _, version = rest.partition(_VERSION)
    base = (options.base_url or os.environ.get(ENDPOINT, "").strip()).rstrip("/")
    if not deployment or urlsplit(base).scheme not in ("http", "https"):
        raise UsageError(f"azure: needs a deployment and a resource's URL. Type: {EXAMPLE}")
    key = AZURE.key()
    if not key:
        raise MissingKey(f"azure:{rest} needs a key. Type: export {AZURE.keys[0]}=…")
    place = Place(f"azure:{rest}", base, key, AZURE.keys[0], False, options.price)
    dialect = AzureChat(
        deployment, key, _path(base, deployment, version), options.read, options.effort or ""
    )
    model = place.model(replace(options, base_url=base), dialect)
    model.batches = OpenAIBatches(root="" if base.endswith(_NEW) else _NEW)
    return model


def _path(base: str, deployment: str, version: str) -> str:
    if base.endswith(_NEW):
        return _COMPLETIONS
    version = version or os.environ.get(VERSION_NAME, "").strip() or VERSION
    path = f"/openai/deployments/{quote(deployment, safe='')}/chat/completions"
    return f"{path}?api-version={quote(version, safe='')}"


KIND = ModelKind(
    "azure",
    "azure:DEPLOYMENT, a deployment of Azure's OpenAI, with --base-url azure=https://…",
    azure,
    makes=(TEXT,),
    provider=AZURE,
    batches=True,
    own_server=True,
    dialect=partial(AzureChat, key="", path=""),
)
