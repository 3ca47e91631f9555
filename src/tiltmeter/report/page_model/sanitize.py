"""Makes texts from elsewhere (a model, a server, a user's file) safe to look at.

Characters that reorder, hide or overprint other text, or control a terminal, are shown by their
number, ⟨U+202E⟩, so that readers see what is stored. Zero-width joiners stay, as scripts and emoji
need them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from ...display import HIDDEN, visible

__all__ = ["all_visible", "ascii_escapes", "map_texts", "visible"]

T = TypeVar("T")


def ascii_escapes(json_text: str) -> str:
    r"""Escapes a JSON text's hidden characters as \uXXXX: the values stay, and are safe to show."""
    return HIDDEN.sub(lambda match: "".join(_units(ord(match[0]))), json_text)


def _units(code: int) -> list[str]:
    if code in (0x0A, 0x0D, 0x09):
        return [chr(code)]
    if code < 0x10000:
        return [f"\\u{code:04x}"]
    code -= 0x10000
    return [f"\\u{0xD800 + (code >> 10):04x}", f"\\u{0xDC00 + (code & 0x3FF):04x}"]


def all_visible(value: T) -> T:
    """Makes hidden characters visible in every text of a tree of dataclasses and containers."""
    return map_texts(value, visible)


def map_texts(value: T, change: Callable[[str], str]) -> T:
    """Returns a copy of the tree in which `change` was applied to every text."""
    return _walk(value, change)  # type: ignore[no-any-return]


def _walk(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return value if isinstance(value, Enum) else change(value)
    if isinstance(value, tuple):
        return tuple([_walk(part, change) for part in value])
    if isinstance(value, list):
        return [_walk(part, change) for part in value]
    if isinstance(value, dict):
        return {_walk(key, change): _walk(part, change) for key, part in value.items()}
    kind: Any = type(value)
    if names := _field_names(kind):
        return kind(**{name: _walk(getattr(value, name), change) for name in names})
    return value


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """Lists the fields of a dataclass; () for any other type."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
