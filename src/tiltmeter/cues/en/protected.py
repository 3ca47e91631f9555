"""Spans of a text that are never edited: code, addresses, handles and file names."""

from __future__ import annotations

import re

from .given_names import any_of

_KEPT = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`|https?://\S+|www\.\S+|[\w.+-]+@[\w-]+\.[\w.-]+|@\w+|(?:[\w-]+/){2,}[\w.-]+|"
    r"\b\w+\s*={1,3}\s*(?:'[^'\n]*'|\"[^\"\n]*\")|\b\w+\([^()\n]*\)|\b\w+\.(?:py|js|ts|pdf|docx?|xlsx?|csv|png|jpe?g|com|org|net)\b|#\w+|\\[bdswBDSW]\S*|\S*\(\w+\|\w+\)\S*|"
    r"\b\w+=[\w.-]+|\b[^\W_]*_\w+\b|\b[a-z]{3,}\d+\w*\b|"
    rf"\b(?:{any_of('statements')}) [^;\n]*",
    re.DOTALL,
)


def protected_spans(text: str) -> list[tuple[int, int]]:
    """Returns the (start, end) offsets of code, addresses, handles and file names."""
    return [match.span() for match in _KEPT.finditer(text)]
