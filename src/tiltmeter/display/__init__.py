"""Text for people: hidden characters written out, long names cut in the middle."""

from __future__ import annotations

import re

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and newline
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"  # soft hyphen and fillers
    # direction, separators, isolates
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e0fff]"  # lone surrogates, non-characters, tags
)


def visible(text: str) -> str:
    """Returns the text with hidden characters written out, and every line end as a newline."""
    if text.isascii() and text.isprintable():  # as most are: a tenth of the time
        return text
    return HIDDEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text.replace("\r\n", "\n"))


def shorten(text: str, most: int) -> str:
    """Cuts a text in the middle, to at most `most` characters, as its ends tell names apart."""
    if len(text) <= most:
        return text
    end_length = (most - 1) // 2
    return f"{text[: most - 1 - end_length]}…{text[len(text) - end_length :]}"
