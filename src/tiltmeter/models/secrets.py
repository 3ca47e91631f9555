"""Keys of the environment, which no message and no log may hold."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.I)
SHORTEST_CHARACTERS = 8  # a shorter value is no key, and cutting it out would garble messages
HIDDEN = "***"
_IN_ADDRESS = re.compile(r"(?<=//)[^/@\s]+(?=@)")
_CALLED = r"[\w-]*(?:key|token(?!s)|secret|password)[\w-]*"
# an option or a parameter that is called so, up to the end of its value
_NAMED = re.compile(rf"((?:--{_CALLED} |{_CALLED}=)['\"]?)[^\s&'\"]+", re.I)


def environment_secrets() -> list[str]:
    """The values of variables that are called as keys are, the longest first."""
    values = (value for name, value in os.environ.items() if _SECRET_NAME.search(name))
    return sorted({v for v in values if len(v) >= SHORTEST_CHARACTERS}, key=len, reverse=True)


def without(secrets: Sequence[str], text: str) -> str:
    """A text without these."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def mask(secrets: Sequence[str], text: str) -> str:
    """A text without these, without names and passwords in addresses, and without what follows an
    option or parameter that is called as keys are.
    """
    text = _IN_ADDRESS.sub(HIDDEN, without(secrets, text))
    return _NAMED.sub(rf"\1{HIDDEN}", text)
