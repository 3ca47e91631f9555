"""Marks that prove that this user made a run: another person's run cannot have them.

A mark is an HMAC of a name in the run (the protocol's file, a batch), keyed with random bytes from
the user's cache. A file or batch without a mark is not used until the user trusts it.
"""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from ..system import NO_LINK, READ_FLAGS
from ..system.cache import cache

KEY_FILE = "origin.key"
_KEY_BYTES = 32
MARK_CHARACTERS = 16  # hexadecimal: 64 bits


def mark(kind: str, name: str) -> str:
    """Returns this user's mark for a name of a kind; "" if no key can be stored."""
    key = _key()
    if not key:
        return ""
    return hmac.digest(key, f"{kind}\0{name}".encode("utf-8", "surrogatepass"), "sha256").hex()[
        :MARK_CHARACTERS
    ]


def is_own(kind: str, name: str, given: str) -> bool:
    """True if `given` is this user's mark for that name."""
    right = mark(kind, name)
    return bool(right) and hmac.compare_digest(right.encode(), given.encode("utf-8", "replace"))


def _key() -> bytes:
    path = cache() / KEY_FILE
    key = _read(path)
    if key:
        return key
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{KEY_FILE}.{secrets.token_hex(8)}")
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o600)
        with os.fdopen(file, "wb") as content:
            content.write(secrets.token_bytes(_KEY_BYTES))
        try:
            os.link(part, path)  # whoever is second takes the key of the first
        finally:
            part.unlink()
    return _read(path)


def _read(path: Path) -> bytes:
    try:
        with os.fdopen(os.open(path, READ_FLAGS | NO_LINK), "rb") as content:
            key = content.read(_KEY_BYTES + 1)
    except OSError:
        return b""
    return key if len(key) == _KEY_BYTES else b""
