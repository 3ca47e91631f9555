"""What a reasoning model marked as its thoughts, which no instrument reads."""

from __future__ import annotations

import re

_REASONED = re.compile(
    r"\A.*</(?:think|thinking|reasoning)>|<(?:think|thinking|reasoning)>.*\Z", re.S | re.I
)


def without_reasoning(text: str) -> str:
    """The text without what a reasoning model marked as its thoughts, closed or cut off."""
    lowered = text.lower() if "<" in text else ""
    return _REASONED.sub(" ", text) if "think" in lowered or "reasoning" in lowered else text
