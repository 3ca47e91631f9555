"""Objects made from keys: each field of a dataclass gets the key of the same name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Filled = TypeVar("Filled")


def filled(kind: Callable[..., Filled], keys: Mapping[str, object], **others: object) -> Filled:
    """Makes an object of a dataclass or named tuple. others: values that override keys.

    Lists become tuples, inside tables too, so that a frozen object cannot change.
    """
    values = {name: frozen(keys[name]) for name in kind.__annotations__ if name in keys}
    return kind(**values | others)


def frozen(value: object) -> object:
    """Returns the value with its lists as tuples, in copies of its tables."""
    if isinstance(value, Mapping):
        return {key: frozen(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):  # a named tuple stays one
        return tuple(frozen(part) for part in value)
    return value
