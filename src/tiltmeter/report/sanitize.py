"""Text that came from elsewhere (a model, a server, a user's file), made safe to look at.

Characters that reorder, hide or overprint other text, or steer a terminal, are shown as their
number: ⟨U+202E⟩. So what is read is what is stored. Zero-width joiners stay: scripts and emoji need
them.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and newline
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"  # soft hyphen and fillers
    # direction, separators, isolates
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e0fff]"  # lone surrogates, non-characters, tags
)
T = TypeVar("T")


def visible(text: str) -> str:
    """The text with every hidden character written out; line ends are newlines."""
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text.replace("\r\n", "\n"))


def ascii_escapes(json_text: str) -> str:
    """JSON text with every hidden character as \\uXXXX: the same values, harmless in a terminal or
    an editor.
    """
    return _HIDDEN.sub(lambda match: "".join(_units(ord(match[0]))), json_text)


def _units(code: int) -> list[str]:
    if code in (0x0A, 0x0D, 0x09):
        return [chr(code)]
    if code < 0x10000:
        return [f"\\u{code:04x}"]
    code -= 0x10000
    return [f"\\u{0xD800 + (code >> 10):04x}", f"\\u{0xDC00 + (code & 0x3FF):04x}"]


def all_visible(value: T) -> T:
    """A tree of frozen dataclasses, tuples and dicts with all of its texts made visible."""
    return _walk(value)  # type: ignore[no-any-return]


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, tuple):
        return tuple(_walk(part) for part in value)
    if isinstance(value, dict):
        return {_walk(key): _walk(part) for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _walk(getattr(value, f.name)) for f in fields(value)})
    return value
