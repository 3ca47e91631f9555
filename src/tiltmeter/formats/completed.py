"""Documents of an exported folder that people complete: nothing may differ from what the run says
but what stands in the places that are to be filled in.
"""

from __future__ import annotations

import re

from .crate import OPEN

# What stands in a place: no heading, table or list, which could pass for a part of the evidence, no
# tag or comment, which could hide what follows; in a table of settings (.cff) one line.
_BLOCK = r"\n[#|\-*+>=]|\n\d+[.)]|\n\s*\n[#|]|\||```|~~~"
_TAG = r"<(?!https?:|mailto:)[a-zA-Z!/?]"
_FILLED = f"(?:(?!{_BLOCK}|{_TAG}).)*?"
_FILLED_LINE = r"[^\n\"]*?"
_FURTHER_AUTHORS = r"(?:\n[ ]{2,}[^\n]*)*"


def is_completed(original: str, text: str) -> bool:
    """True if a text is the original with its open places filled in, or some of them."""
    return _pattern(original).fullmatch(text) is not None


def _pattern(original: str) -> re.Pattern[str]:
    """Matches an original whose places may be filled in. Authors may be several, a line each."""
    marked = f"**{OPEN}**"
    filled = _FILLED_LINE if original.startswith("cff-version") else _FILLED
    pieces = original.split(f"says {marked}.")  # the sentence that explains the mark
    made = re.escape(f"says {marked}.").join(
        filled.join(re.escape(part) for part in re.split(rf"\*\*{OPEN}\*\*|{OPEN}", piece))
        for piece in pieces
    )
    closing = re.escape('"\nidentifiers:')
    made = made.replace(closing, '"' + _FURTHER_AUTHORS + re.escape("\nidentifiers:"))
    return re.compile(made, re.DOTALL)
