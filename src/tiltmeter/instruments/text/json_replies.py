"""Parses JSON inside replies, for all instruments. Pure."""

from __future__ import annotations

import json
import re

from ...languages.patterns import lazy
from ...records import Json

_JSON = lazy(r"\[.*\]|\{.*\}", re.S)


def json_in(text: str) -> Json:
    """Parses the JSON inside a reply, ignoring text around the JSON; None without JSON."""
    match = _JSON.search(text) if "[" in text or "{" in text else None
    try:
        content: Json = json.loads(match[0]) if match else None
    except (ValueError, RecursionError):  # no JSON, or nested beyond reason
        return None
    return content
