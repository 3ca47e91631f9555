"""Text as servers send it."""

from __future__ import annotations

from typing import Any


def whole(text: Any) -> Any:
    """Text with half surrogate pairs replaced: a reply that is cut within an emoji holds one, and
    no file can.
    """
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if isinstance(text, str)
        else text
    )
