"""JSON from a run, read as the records that wrote it: each value by its declared type."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

T = TypeVar("T")
_LEAVES: Mapping[object, set[type]] = {
    str: {str},
    int: {int},
    bool: {bool},
    float: {float, int},
    type(None): {type(None)},
}


def parse_as(kind: type[T], text: str) -> T:
    """Parses JSON as a dataclass, named tuple or tuple of these. ValueError if it does not fit."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
    record: T = _read(kind, value)
    return record


@cache
def _hints(kind: type) -> dict[str, object]:
    return get_type_hints(kind, localns={"Json": object})  # every value is Json


def _read(kind: Any, value: Any) -> Any:
    """Converts a JSON value to a type, lists to tuples. ValueError if it does not fit."""
    if kind is object or type(value) in _LEAVES.get(kind, ()):
        return value
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal and isinstance(value, str) and value in arguments:
        return value
    if origin in (Union, UnionType):
        if value is None and type(None) in arguments:
            return None
        return _read(next(one for one in arguments if one is not type(None)), value)
    if isinstance(value, list) and origin in (tuple, Sequence):
        return tuple(_read_all(arguments[0], value))
    if isinstance(value, dict):
        if origin is Mapping:
            return dict(zip(value, _read_all(arguments[1], value.values()), strict=True))
        if is_dataclass(kind) or is_typeddict(kind) or hasattr(kind, "_fields"):
            hints = _hints(kind)
            needed = hints.keys() - getattr(kind, "__optional_keys__", frozenset())
            if needed <= value.keys() <= hints.keys():
                return kind(**{name: _read(hints[name], part) for name, part in value.items()})
    raise ValueError(f"{str(value)[:60]!r} is not of {kind}")


def _read_all(kind: Any, values: Collection[Any]) -> Iterable[Any]:
    """Converts many values to a type; checks plain values all at once, for speed."""
    if _LEAVES.get(kind, set[type]()) >= set(map(type, values)):
        return values
    return [_read(kind, value) for value in values]
