"""JSON as servers send it, read without trust in its shape.

`at` and its kin follow keys and places into a body and say what is there; what is missing, or is
something else, is None or empty. `needed` is for what a reply cannot be without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Key = str | int


def at(body: Json, *keys: Key) -> Json:
    """What lies under keys and places, or None. By hand: at({"a": [1, 2]}, "a", 1) is 2."""
    for key in keys:
        if isinstance(key, str):
            body = body.get(key) if isinstance(body, Mapping) else None
        else:
            inside = isinstance(body, list) and -len(body) <= key < len(body)
            body = body[key] if inside and isinstance(body, list) else None
    return body


def text_at(body: Json, *keys: Key) -> str:
    """The text under keys; "" where there is none."""
    found = at(body, *keys)
    return found if isinstance(found, str) else ""


def word_at(body: Json, *keys: Key) -> str:
    """A text or a number under keys as text; "" where there is nothing."""
    found = at(body, *keys)
    return str(found or "")


def list_at(body: Json, *keys: Key) -> list[Json]:
    """The list under keys; empty where there is none."""
    found = at(body, *keys)
    return found if isinstance(found, list) else []


def object_at(body: Json, *keys: Key) -> dict[str, Json]:
    """The object under keys; empty where there is none."""
    found = at(body, *keys)
    return found if isinstance(found, dict) else {}


def count_at(body: Json, *keys: Key) -> int | None:
    """The whole number under keys, or None."""
    found = at(body, *keys)
    return found if isinstance(found, int) else None


def needed(body: Json, *keys: Key) -> str:
    """The text or number under keys as text. ValueError where it is missing."""
    found = at(body, *keys)
    if found is None or isinstance(found, (list, dict)):
        raise ValueError(f"there is no '{'.'.join(map(str, keys))}' in the reply")
    return str(found)
