"""Other providers, through the package litellm (`litellm:PROVIDER/MODEL`, the extra `litellm`).

litellm translates OpenAI's chat format into each provider's own, so requests and replies are those
of `OpenAIChat`; only, a call of litellm replaces the HTTP request. `Reply.raw` is therefore
litellm's translation and not the provider's own words. The start of an answer is omitted, as its
effect differs from provider to provider.

It is an extra of its own, imported only if it is named and in no other extra, because it takes some
250 MB and seconds to import, and answers 136 calls a second, when our own client answers 1,600. On
import it fetches a price list and reads a `.env` file from the working folder; both are switched
off here (`QUIET`). Versions 1.82.7 and 1.82.8, which were put into the registry on 24 March 2026
with stolen credentials of the maintainers, carry a program that steals keys: the extra excludes
them, and this module refuses them (docs.litellm.ai/blog/security-update-march-2026).

Keys come from the environment, under litellm's name for each provider, and are cut out of every
message.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ...errors import MissingExtra, MissingKey, ModelError, UsageError, install_line
from ...records import Json
from ...records.json_text import whole_text
from ...secret_filter import environment_secrets, without
from .. import FREE
from ..http import HttpModel
from ..http.answer import Answer
from ..http.body import parse
from ..http.connection import Connection
from ..http.provider import on_this_machine
from ..kinds import DoctorFinding, ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions
from ..reasoning import chat_fields
from .openai import OpenAIChat

STOLEN = ("1.82.7", "1.82.8")
# What litellm would fetch when it is imported, and the `.env` file that it would read (any mode but
# DEV reads none).
_LOCAL = (
    *("MODEL_COST_MAP", "ANTHROPIC_BETA_HEADERS", "AUTOROUTER_PRESETS", "BLOG_POSTS"),
    "POLICY_TEMPLATES",
)
QUIET = {f"LITELLM_LOCAL_{what}": "True" for what in _LOCAL} | {"LITELLM_MODE": "PRODUCTION"}
_BEGUN = "continue_final_message"  # OpenAIChat leaves a begun answer out where this is refused


class Chat(OpenAIChat):
    """OpenAI's dialect for litellm."""

    def status(self, status: int, body: Json) -> tuple[int, None]:
        """Returns litellm's status unchanged: its words mean an empty account with one provider and
        a quota per minute with another.
        """
        return status, None


class LitellmConnection(Connection):
    """litellm as a connection. named: PROVIDER/MODEL, for litellm; url: another server, or ""."""

    def __init__(self, named: str, url: str, timeout: float) -> None:
        super().__init__(
            f"litellm:{named}", url or f"litellm ({named.partition('/')[0]})", timeout=timeout
        )
        self._named, self._options = named, {"base_url": url} if url else {}
        self._secrets = environment_secrets()
        self._litellm: Any = None

    async def open(self) -> None:
        """Imports litellm. Raises MissingKey if the environment lacks the provider's key."""
        self._litellm = await asyncio.get_running_loop().run_in_executor(None, _load_module)
        missing = self._litellm.validate_environment(model=self._named)["missing_keys"]
        if missing and self._options:
            # a server of one's own need not have one, and litellm insists on one
            self._options["api_key"] = "none"
        elif missing:
            raise MissingKey(
                f"{self.name} needs {' and '.join(missing)}. Type: export {missing[0]}=…"
            )

    async def close(self) -> None:
        """Closes litellm's own clients, if it was imported."""
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()

    async def send(
        self,
        url: str,
        headers: Mapping[str, str],
        body: Mapping[str, Json] | None = None,
        most: int | None = None,
    ) -> Answer:
        """Calls litellm, without retries, and returns its answer or error as an HTTP answer."""
        try:
            reply = await self._litellm.acompletion(
                **(body or {}), **self._options, timeout=self.timeout, num_retries=0, max_retries=0
            )
        except import_module("openai").OpenAIError as error:  # the base of all that litellm raises
            return self._answer_of_error(error)
        self._met = True
        text = self.clean(json.dumps(reply.model_dump(mode="json"), ensure_ascii=False))
        content = whole_text(text).encode()
        return Answer(200, {}, content, *parse(content))

    def _answer_of_error(self, error: Exception) -> Answer:
        reason = self.clean(str(getattr(error, "message", "") or error))
        # some providers' class is 500
        lost = isinstance(error, self._litellm.APIConnectionError) or "Connection error" in reason
        if lost and not self._met:
            raise ModelError(
                f"{self.name} cannot be reached: {reason[:300]} Check the name, --base-url and the "
                "network."
            ) from None
        policy = isinstance(error, self._litellm.ContentPolicyViolationError)
        body = {"error": {"message": reason, **({"code": "content_filter"} if policy else {})}}
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        return Answer(
            int(getattr(error, "status_code", 0) or 500), headers, json.dumps(body).encode(), body
        )

    def clean(self, text: str) -> str:
        """Replaces each secret in a text by ***."""
        return without(self._secrets, text)


def _load_module() -> Any:
    """Imports litellm so that it fetches nothing and does not drop parameters silently."""
    os.environ.update(QUIET)
    litellm: Any = import_module("litellm")
    litellm.drop_params = False  # what a model refuses is left out by us, and recorded
    litellm.suppress_debug_info = litellm.disable_token_counter = (
        litellm.disable_hf_tokenizer_download
    ) = True
    return litellm


def check_version() -> str:
    """Returns litellm's version. MissingExtra if not installed; UsageError if it steals keys."""
    try:
        installed = version("litellm")
    except PackageNotFoundError:
        raise MissingExtra("Using a litellm: model", "litellm") from None
    if installed in STOLEN:
        raise UsageError(
            f"The installed litellm {installed} steals keys. Remove it (pip uninstall litellm), "
            "regard every key and password of this machine as stolen, and read "
            "docs.litellm.ai/blog/security-update-march-2026."
        )
    return installed


def litellm(named: str, options: ModelOptions = DEFAULTS) -> HttpModel:
    """Makes the model `litellm:PROVIDER/MODEL`; its key is in the variable that litellm names."""
    provider, _slash, model = named.partition("/")
    if not provider or not model:
        raise UsageError(
            "litellm: models are named PROVIDER/MODEL. Type for instance: --model "
            "litellm:mistral/mistral-small-latest"
        )
    check_version()
    asked = chat_fields("openai.com", options.effort or "")  # litellm translates it
    free = options.price is None and on_this_machine(options.base_url)
    return HttpModel(
        LitellmConnection(named, options.base_url, options.timeout),
        Chat(named, "", local=False, read=options.read, fields=asked),
        price=FREE if free else options.price,
        parallel=options.concurrency,
        omitted=(_BEGUN, *options.omitted),
    )


def check_installation() -> Iterator[DoctorFinding]:
    """Yields litellm's version for `doctor`: False if it steals keys, None if not installed."""
    what = "litellm: models of the long tail"
    try:
        yield DoctorFinding("optional", "litellm", True, f"{check_version()} ({what})")
    except MissingExtra:
        command = install_line("litellm")
        yield DoctorFinding("optional", "litellm", None, f"not installed ({what})", command)
    except UsageError as error:
        yield DoctorFinding("optional", "litellm", False, str(error), "pip uninstall litellm")


KIND = ModelKind(
    "litellm",
    "litellm:PROVIDER/MODEL, the long tail (extra litellm)",
    litellm,
    makes=(TEXT,),
    extra="litellm",
    check=check_installation,
)
