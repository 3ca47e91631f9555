"""The address of a provider and its key, for models and `doctor`."""

from __future__ import annotations

import os
from typing import NamedTuple
from urllib.parse import urlsplit

from ...errors import MissingKey, UsageError
from .. import FREE, Price
from ..options import ModelOptions
from ..reasoning import RESERVE_TOKENS, host_of
from . import Dialect, HttpModel
from .connection import Connection

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Provider(NamedTuple):
    """A way to reach models. keys: environment variables for the key; the first set one is used."""

    kind: str
    url: str
    keys: tuple[str, ...]
    example: str

    def place(self, model: str, options: ModelOptions) -> Place:
        """Returns a model's address and key. Raises UsageError or MissingKey with what to type."""
        if not model:
            raise UsageError(f"Which model? Type for instance: --model {self.kind}:{self.example}")
        url = options.base_url or self.url
        host = self._host(url)
        official = host == urlsplit(self.url).hostname
        key = self.key()
        if official and not key:
            raise MissingKey(
                f"{self.kind}:{model} needs a key. Type: export {self.keys[0]}=…   "
                "(or name your own server with --base-url)"
            )
        price = FREE if options.price is None and host in LOOPBACK else options.price
        return Place(f"{self.kind}:{model}", url, key, self.keys[0], official, price)

    @property
    def domain(self) -> str:
        """The domain that all hosts of the provider share: bfl.ai."""
        return ".".join((urlsplit(self.url).hostname or "").split(".")[-2:])

    def key(self) -> str:
        """Returns the key set in the environment, or "". Raises MissingKey if it is malformed."""
        for name in self.keys:
            key = os.environ.get(name, "").strip()
            if any(not "!" <= character <= "~" for character in key):
                raise MissingKey(
                    f"{name} contains a blank, or a character that keys cannot have. Set it again."
                )
            if key:
                return key
        return ""

    def _host(self, url: str) -> str:
        try:
            parts = urlsplit(url)
            if parts.username or parts.password:
                raise UsageError(
                    "--base-url must not hold a name or a password. Put the key into "
                    f"{self.keys[0]}."
                )
            return parts.hostname or ""
        except ValueError:
            raise UsageError(
                f"'{url}' is not a URL. Type for instance: --base-url http://localhost:8000/v1"
            ) from None


def on_this_machine(url: str) -> bool:
    """True if a base URL is on this machine, where calls cost nothing."""
    return host_of(url) in LOOPBACK


class Place(NamedTuple):
    """A checked address. official: True if it is the provider's, False for a compatible server."""

    name: str
    url: str
    key: str
    key_name: str
    official: bool
    price: Price | None

    def connection(self, timeout: float) -> Connection:
        """Makes a connection that is not open yet. timeout: in seconds."""
        return Connection(
            self.name,
            self.url,
            key=self.key,
            key_name=self.key_name,
            timeout=timeout,
            proxied=self.official,
        )

    def model(
        self, options: ModelOptions, dialect: Dialect | None, drawing: Dialect | None = None
    ) -> HttpModel:
        """Makes a model at this address that replies at once. drawing: the dialect for pictures."""
        connected = HttpModel(
            self.connection(options.timeout),
            dialect,
            drawing=drawing,
            price=self.price,
            parallel=options.concurrency,
            omitted=options.omitted,
        )
        if options.thinks:
            connected.reserve_thought(RESERVE_TOKENS)
        return connected
