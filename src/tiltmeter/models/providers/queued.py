"""The common part of providers that make pictures as tasks, to be polled until they end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from ...records import Json, Reply, Request
from ..http import HttpRequest
from ..http.body import message
from ..http.fetching import Link
from ..http.provider import Provider
from ..http.queue import QueueDialect, QueueModel, queue_model
from ..kinds import ModelKind
from ..options import PICTURES, ModelOptions
from .drawing import leave_out, parameter_named, prompt, split_settings

MOST_WORK = 1_000  # at once, where a provider names no limit


class QueuedPictures:
    """The common part of dialects for queued pictures. optional: parameters that can be omitted;
    key_header: (the header for the key, the word before the key).
    """

    optional: ClassVar[tuple[str, ...]]
    key_header: ClassVar[tuple[str, str]]

    def __init__(self, name: str, key: str) -> None:
        self._model, self._settings = split_settings(name)
        header, before = self.key_header
        self.headers = {header: f"{before}{key}"} if key else {}

    def _post(
        self, path: str, wanted: Mapping[str, Json], omitted: frozenset[str], **always: Json
    ) -> HttpRequest:
        """Builds a task's request. always: fields that override everything, even the settings."""
        body, left_out = leave_out(wanted, omitted, self._settings)
        headers = self.headers | {"Content-Type": "application/json"}
        return HttpRequest(path, headers, body | always, left_out)

    def refused(self, request: Request, body: Json) -> Reply | None:
        """Returns None, as `look` finds a refusal when the work ends."""
        return None

    def unwelcome(self, body: Json) -> str:
        """Returns the optional parameter that the error names, or ""."""
        return parameter_named(message(body), self.optional)


def picture_link(request: Request, used: str, url: str) -> Link:
    """Makes a link to a picture. used: the prompt that the picture was made from, as reported."""
    return Link(Reply("", revised="" if used == prompt(request) else used), url)


def queue_kind(
    provider: Provider,
    summary: str,
    dialect: Callable[[str, str], QueueDialect],
    most: int = MOST_WORK,
) -> ModelKind:
    """Makes a provider's kind. dialect: (name, key) → dialect; most: tasks accepted at once."""

    def make(name: str, options: ModelOptions) -> QueueModel:
        return queue_model(provider, name, options, dialect, most)

    return ModelKind(
        provider.kind, summary, make, makes=(PICTURES,), provider=provider, own_server=True
    )
