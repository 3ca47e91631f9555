"""Parses JSON from servers, without trust in its form.

`at` and the functions like it follow keys and indices into a body and return the value there; None
or an empty value if it is missing or of another type. `needed` reads required values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from ...records import Json

Key = str | int
MOST_NESTED = 100  # arrays and objects inside one another; replies of providers have about ten
_decode = json.JSONDecoder().decode
_FEW_BRACKETS = 2 * MOST_NESTED  # a body with fewer is not looked at again


class Parsed(NamedTuple):
    """The result of parsing JSON. fault: why it failed, as the end of a sentence, or "";
    breaks_off: True if the JSON was truncated, so that another request may succeed.
    """

    body: Json
    fault: str = ""
    breaks_off: bool = False


def parse(content: bytes) -> Parsed:
    """Parses the JSON of a reply; raises nothing, but reports a failure in `fault`."""
    try:
        if content[:1] == b"{" and content[1:2] != b"\0":  # UTF-8, as json.loads finds by looking
            body: Json = _decode(content.decode("utf-8", "surrogatepass"))
        else:
            body = json.loads(content)
    except json.JSONDecodeError:
        return Parsed(None, "JSON that breaks off", breaks_off=True)
    except (ValueError, RecursionError) as error:
        nested = isinstance(error, RecursionError)
        return Parsed(None, _NESTED if nested else f"what is no JSON in UTF-8 ({error})")
    brackets = content.count(b"[") + content.count(b"{")
    if brackets > _FEW_BRACKETS and _depth(body) > MOST_NESTED:
        return Parsed(None, _NESTED)
    return Parsed(body)


_NESTED = f"JSON that is nested more than {MOST_NESTED} deep"


def _depth(body: Json) -> int:
    """Returns how deep arrays and objects are nested, at most MOST_NESTED + 1."""
    level: list[Json] = [body]
    for depth in range(MOST_NESTED + 1):
        inner: list[Json] = []
        for value in level:
            if isinstance(value, Mapping):
                inner += value.values()
            elif isinstance(value, list):
                inner += value
        level = [value for value in inner if isinstance(value, (Mapping, list))]
        if not level:
            return depth + 1
    return MOST_NESTED + 1


def at(body: Json, *keys: Key) -> Json:
    """Returns the value under keys and indices, or None: at({"a": [1, 2]}, "a", 1) is 2."""
    for key in keys:
        if isinstance(key, str):
            body = body.get(key) if isinstance(body, dict) else None
        else:
            inside = isinstance(body, list) and -len(body) <= key < len(body)
            body = body[key] if inside and isinstance(body, list) else None
    return body


def text_at(body: Json, *keys: Key) -> str:
    """Returns the text under keys, or ""."""
    value = at(body, *keys)
    return value if isinstance(value, str) else ""


def word_at(body: Json, *keys: Key) -> str:
    """Returns the text or number under keys as text, or ""."""
    value = at(body, *keys)
    return str(value or "")


def list_at(body: Json, *keys: Key) -> list[Json]:
    """Returns the list under keys, or []."""
    value = at(body, *keys)
    return value if isinstance(value, list) else []


def object_at(body: Json, *keys: Key) -> dict[str, Json]:
    """Returns the object under keys, or {}."""
    value = at(body, *keys)
    return value if isinstance(value, dict) else {}


def count_at(body: Json, *keys: Key) -> int | None:
    """Returns the whole number under keys, or None."""
    value = at(body, *keys)
    return value if isinstance(value, int) else None


def needed(body: Json, *keys: Key) -> str:
    """Returns the text or number under keys as text. Raises ValueError if it is missing."""
    value = at(body, *keys)
    if value is None or isinstance(value, (list, dict)):
        raise ValueError(f"there is no '{'.'.join(map(str, keys))}' in the reply")
    return str(value)


def has_key(body: Json, key: str) -> bool:
    """True if any object in the body has this key."""
    if isinstance(body, Mapping):
        return key in body or any(has_key(value, key) for value in body.values())
    return isinstance(body, list) and any(has_key(value, key) for value in body)


def message(body: Json) -> str:
    """Returns the text of an error body, in any of the forms that servers use."""
    if not isinstance(body, dict):
        return ""
    error = body.get("error", body)
    if isinstance(error, dict):
        parts = [str(at(error, name) or "") for name in ("code", "type", "message", "detail")]
        return " ".join(dict.fromkeys(filter(None, parts)))
    return str(error)
