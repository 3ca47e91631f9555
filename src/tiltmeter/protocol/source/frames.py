"""The keys of a protocol declared in Python, as plain data; polars and pandas frames are tables."""

from __future__ import annotations

import json
from typing import Any

from ...errors import ProtocolError
from .keys import ProtocolKeys


def as_data(keys: ProtocolKeys) -> dict[str, Any]:
    """Returns the keys in the form of a parsed file. ProtocolError if no file can hold a key."""
    try:
        data: dict[str, Any] = json.loads(json.dumps(keys, default=_rows))
    except (TypeError, ValueError) as error:
        raise ProtocolError(
            f"Protocol.declare(…): {error}. Give only texts, numbers, lists and dicts, as in a "
            "file."
        ) from None
    return data


def _rows(value: Any) -> Any:
    """Converts a polars or pandas frame to a table."""
    if hasattr(value, "to_dicts"):
        return {"rows": value.to_dicts()}
    if hasattr(value, "to_dict"):
        return {"rows": value.to_dict("records")}
    raise TypeError(f"a file cannot hold a value of type {type(value).__name__}")
